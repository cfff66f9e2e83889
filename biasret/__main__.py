"""``python -m biasret``: argument parsing, progress and exit codes.

Exit 0: done. 1: a check failed or something could not be done. 2: the input was wrong.
"""

from __future__ import annotations

import argparse
import io
import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from biasret import __version__
from biasret.errors import BiasretError, InputError

#: What can be measured, and the module that does it.
BENCHES = {
    "statistics": "biasret.bench_statistics",
    "embed": "biasret.bench_embed",
    "store": "biasret.bench_store",
    "probe": "biasret.bench_probe",
}

DEFAULT_RETRIEVERS_HELP = (
    "a retriever's name, or st:PATH or m2v:PATH for a model of your own; may be given several "
    "times (default: those that work here without a network)"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its code instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return int(arguments.run(arguments) or 0)
    except BiasretError as error:
        print(f"biasret: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        print("biasret: stopped; what was finished is kept.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; closing stderr keeps Python from saying so twice.
        sys.stderr.close()
        return 1
    except OSError as error:
        # A folder that may not be written, a full disk: the system's own words say enough.
        print(f"biasret: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m biasret",
        description="How much search changes when only the person in the question changes.",
    )
    parser.add_argument("--version", action="version", version=f"biasret {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    build = _command(commands, "build", _build, "make what the pages show")
    build.add_argument("--dataset", action="append", metavar="D", help="default: every dataset")
    build.add_argument("--retriever", action="append", metavar="R", help=DEFAULT_RETRIEVERS_HELP)
    build.add_argument("--force", action="store_true", help="make it again, changed or not")

    bring = _command(commands, "import", _import, "bring in documents, queries and qrels")
    bring.add_argument("kind", choices=["articles"], help="what kind of source PATH is")
    bring.add_argument("path", type=Path, metavar="PATH", help="a folder or a mapping file")
    bring.add_argument("--name", required=True, help="what the dataset is called here")
    bring.add_argument("--mapping", type=Path, metavar="FILE", help="a mapping file (TOML)")
    bring.add_argument("--column", action="append", default=[], metavar="TABLE.FIELD=COLUMN")
    bring.add_argument("--folder", type=Path, help="where the files of the mapping are")
    bring.add_argument("--signal", choices=["lean", "dialect"])
    bring.add_argument("--encoding", help="of text files, if not UTF-8")
    bring.add_argument(
        "--vectors",
        action="append",
        default=[],
        metavar="R=FILE.npy",
        help="vectors of the documents by a retriever, row for row of the documents file",
    )
    bring.add_argument("--replace", action="store_true", help="replace a dataset of this name")

    search = _command(commands, "search", _search, "ask one retriever one question")
    search.add_argument("query")
    search.add_argument("--dataset", required=True, metavar="D")
    search.add_argument("--retriever", required=True, metavar="R")
    search.add_argument("-k", type=int, default=10, help="documents to show (default 10)")

    variant = _command(commands, "variant", _variant, "write a counterpart of a question")
    variant.add_argument("text")
    _flip_arguments(variant)
    variant.add_argument("--to", required=True, choices=["AAL", "WME", "left", "neutral", "right"])

    probe = _command(commands, "probe", _probe, "flip a question and see what moves")
    probe.add_argument("text")
    probe.add_argument("--dataset", required=True, metavar="D")
    probe.add_argument("--retriever", action="append", metavar="R", help=DEFAULT_RETRIEVERS_HELP)
    probe.add_argument("-k", type=int, default=10, help="documents compared (default 10)")
    _flip_arguments(probe)

    gaps = _command(commands, "gaps", _gaps, "print measured gaps")
    gaps.add_argument("--dataset", metavar="D")
    gaps.add_argument("--metric", metavar="M")
    gaps.add_argument("--k", type=int, metavar="K")
    gaps.add_argument("--filter", metavar="F")

    paper = _command(commands, "published", _published, "check the paper's own numbers")
    paper.add_argument(
        "--check",
        action="store_true",
        required=True,
        help="recompute what the per-query numbers allow, and test the rest for consistency",
    )

    bench = _command(commands, "bench", _bench, "measure speed, as ratios within one run")
    bench.add_argument("what", choices=list(BENCHES))

    _command(commands, "doctor", _doctor, "say what is installed, stored and missing")
    return parser


def _flip_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--signal", required=True, choices=["dialect", "framing"])
    parser.add_argument("--density", type=float, help="of AAL features, above 0 to 1 (default 0.4)")
    parser.add_argument("--seed", type=int, help="another draw (default 0)")
    parser.add_argument("--mode", choices=["lexical", "tail", "framed"], help="of framing")
    parser.add_argument("--intensity", type=int, choices=[1, 2], help="2: loaded words too")


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int | None], about: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="print one JSON document, no more")
    parser.set_defaults(run=run)
    return parser


# -- commands ----------------------------------------------------------------------------


def _build(arguments: argparse.Namespace) -> int:
    from biasret.build import build_dataset, read_dataset, save_dataset
    from biasret.datasets import SHIPPED
    from biasret.errors import UnknownName
    from biasret.precomputed import Folder
    from biasret.retrievers import built_by_default, record_for
    from biasret.store import make_database

    folder = Folder()
    models = folder.path / "models"
    retrievers = arguments.retriever or built_by_default()
    for name in retrievers:
        record_for(name, models=models)
    done = []
    with folder.lock():
        known = list(dict.fromkeys([*SHIPPED, *folder.datasets()]))
        for name in arguments.dataset or known:
            if name not in known:
                raise UnknownName("dataset", name, known)
            if name in SHIPPED:
                dataset = SHIPPED[name].load()
                save_dataset(folder, dataset, inputs={"shipped": __version__})
            else:
                dataset = read_dataset(folder, name)
            changed = build_dataset(
                folder, dataset, retrievers, force=arguments.force, progress=_progress
            )
            done.append({"dataset": name, "retrievers": retrievers, "changed": changed})
            _say(arguments, f"{name}: {'built' if changed else 'up to date'}")
        folder.write_manifest(command="python -m biasret build")
        path = make_database(folder)
    _print(arguments, {"built": done, "store": str(path)}, f"store: {path}")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from biasret.build import save_dataset
    from biasret.datasets import SHIPPED, articles
    from biasret.precomputed import SHIPPED_PREFIX, Folder
    from biasret.store import make_database

    name = arguments.name
    if name in SHIPPED or name.startswith(SHIPPED_PREFIX):
        raise InputError(
            f"Names that begin with {SHIPPED_PREFIX!r} belong to the shipped datasets; "
            f"found {name!r}. Choose another name."
        )
    folder = Folder()
    if name in folder.datasets() and not arguments.replace:
        raise InputError(f"A dataset {name!r} is already there; add --replace to replace it.")
    loaded = articles.load(
        arguments.path,
        name=name,
        mapping=arguments.mapping,
        columns=arguments.column,
        folder=arguments.folder,
        signal=arguments.signal,
        encoding=arguments.encoding,
    )
    dataset = loaded.dataset
    given = [_vectors(item, dataset.documents["text"].tolist()) for item in arguments.vectors]
    with folder.lock():
        for record, vectors in given:
            _keep_vectors(folder, record, vectors)
        # Results of the texts that were here before must not be shown for these.
        folder.remove(name)
        save_dataset(folder, dataset, inputs={"path": arguments.path.name})
        folder.write_manifest(command="python -m biasret import")
        make_database(folder)
    counts = {
        "documents": len(dataset.documents),
        "queries": len(dataset.queries),
        "qrels": len(dataset.qrels),
    }
    for note in loaded.notes:
        _say(arguments, f"note: {note}")
    for reason, n in loaded.left_out.items():
        _say(arguments, f"left out: {n:,} {reason}")
    shown = ", ".join(f"{n:,} {what}" for what, n in counts.items())
    _print(
        arguments,
        {"dataset": name, **counts, "notes": loaded.notes, "left_out": loaded.left_out},
        f"{name}: {shown}. Next: python -m biasret build --dataset {name!r}",
    )
    return 0


def _vectors(item: str, texts: list[str]) -> tuple[Any, dict[str, Any]]:
    import numpy as np

    from biasret.precomputed import text_sha256
    from biasret.retrievers import load, record_for
    from biasret.retrievers.dense import Dense

    name, separator, file = item.partition("=")
    if not separator:
        raise InputError(f"--vectors takes RETRIEVER=FILE.npy; found {item!r}.")
    record = record_for(name)
    if record.is_lexical:
        raise InputError(f"{record.label} uses no vectors; leave out --vectors {item}.")
    try:
        matrix = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"The vectors {file} cannot be read ({error}).") from error
    if matrix.shape != (len(texts), record.dimension):
        raise InputError(
            f"{file} has shape {matrix.shape}; {record.label} of these documents needs "
            f"({len(texts)}, {record.dimension})."
        )
    matrix = matrix.astype(np.float32)
    if not np.isfinite(matrix).all():
        raise InputError(f"{file} holds numbers that are not finite.")
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    retriever = load(name)
    assert isinstance(retriever, Dense)
    prefix = retriever.document_prefix()
    keys = [text_sha256(prefix + text) for text in texts]
    return record, dict(zip(keys, matrix, strict=True))


def _keep_vectors(folder: Any, record: Any, vectors: dict[str, Any]) -> None:
    from biasret.retrievers.cache import DiskCache

    DiskCache(folder.path / "vectors", record).put(vectors)


def _search(arguments: argparse.Namespace) -> int:
    from biasret.errors import NothingStored
    from biasret.probe import ready
    from biasret.retrievers import record_for

    record = record_for(arguments.retriever)
    if not arguments.query.strip():
        raise InputError("The query is empty; type a question.")
    store = _store()
    dataset = _known_dataset(store, arguments.dataset)
    documents = store.documents(dataset)
    vectors = None
    if not record.is_lexical:
        try:
            vectors = store.vectors(dataset, record.name, "document")
        except NothingStored as error:
            raise NothingStored(str(error)) from None
    models = store.path.parent / "models"
    retriever = ready(arguments.retriever, documents, vectors=vectors, models=models)
    ranking = retriever.search([arguments.query], k=arguments.k)[0]
    rows = documents.set_index("doc_id").loc[ranking.doc_ids]
    found = [
        {"rank": rank, "doc_id": doc_id, "score": float(score), **_described(row)}
        for rank, (doc_id, score, (_, row)) in enumerate(
            zip(ranking.doc_ids, ranking.scores, rows.iterrows(), strict=True), start=1
        )
    ]
    if arguments.json:
        _print(arguments, {"dataset": dataset, "retriever": record.name, "results": found}, "")
        return 0
    if not found:
        print("No document matched.")
    for row in found:
        stance = f" [{row['stance']}]" if row["stance"] else ""
        print(f"{row['rank']:>3}  {row['score']:.4f}  {row['title']}{stance}  ({row['doc_id']})")
    return 0


def _described(row: Any) -> dict[str, str | None]:
    title = row["title"] if isinstance(row["title"], str) else row["text"][:80]
    stance = row["stance"] if isinstance(row["stance"], str) else None
    return {"title": title, "stance": stance}


def _flipped(arguments: argparse.Namespace, text: str, to: str) -> Any:
    from biasret.flip import FLIPS, flip

    if FLIPS[to].signal != arguments.signal:
        fits = ", ".join(name for name, one in FLIPS.items() if one.signal == arguments.signal)
        raise InputError(f"--signal {arguments.signal} goes with --to {fits}; found {to}.")
    own = ("density", "seed") if to == "AAL" else ("mode", "intensity", "seed")
    allowed = () if to == "WME" else own
    given = {
        name: value
        for name in ("density", "seed", "mode", "intensity")
        if (value := getattr(arguments, name)) is not None
    }
    wrong = [name for name in given if name not in allowed]
    if wrong:
        raise InputError(f"--{wrong[0]} has no meaning for --to {to}; leave it out.")
    return flip(text, to=to, **given)


def _variant(arguments: argparse.Namespace) -> int:
    made = _flipped(arguments, arguments.text, arguments.to)
    if arguments.json:
        _print(arguments, made.as_dict(), "")
        return 0
    print(made.target)
    print(f"  {made.label} ({made.engine})")
    for mark in made.marks:
        print(f"  {mark.original!r} -> {mark.replacement!r}  {mark.name}: {mark.why}")
    for notice in made.notices:
        print(f"  note: {notice}")
    return 0


def _probe(arguments: argparse.Namespace) -> int:
    from biasret import sentences
    from biasret.errors import RetrieverError, StoreError
    from biasret.probe import compare, ready, typicality
    from biasret.retrievers import record_for

    store = _store()
    dataset = _known_dataset(store, arguments.dataset)
    row = store.datasets().set_index("dataset").loc[dataset]
    if arguments.signal == "dialect":
        sides = [arguments.text, _flipped(arguments, arguments.text, "AAL").target]
        groups = ("WME", "AAL")
    else:
        sides = [_flipped(arguments, arguments.text, to).target for to in ("left", "right")]
        groups = ("left", "right")
    documents = store.documents(dataset)
    stances = documents.set_index("doc_id")["stance"].dropna()
    results: list[dict[str, Any]] = []
    for name in arguments.retriever or store.retrievers(dataset):
        record = record_for(name)
        try:
            vectors = None if record.is_lexical else store.vectors(dataset, record.name, "document")
            retriever = ready(name, documents, vectors=vectors, models=store.path.parent / "models")
            found = compare(
                retriever,
                sides[0],
                sides[1],
                k=arguments.k,
                stances=stances if len(stances) else None,
            )
        except (RetrieverError, StoreError) as error:
            results.append({"retriever": record.name, "failed": str(error)})
            continue
        placed = None
        if found.overlap is not None and isinstance(row["minuend"], str):
            stored = store.overlaps(
                dataset,
                record.name,
                k=arguments.k,
                minuend=row["minuend"],
                subtrahend=row["subtrahend"],
            )
            placed = typicality(f"overlap@{arguments.k}", found.overlap, stored, rest=1.0)
        results.append(
            {
                "retriever": record.name,
                "sentence": sentences.comparison(found),
                f"lean@{arguments.k}": [found.a.lean, found.b.lean],
                "difference": found.lean_difference,
                f"overlap@{arguments.k}": found.overlap,
                "rank_biased_overlap": found.rbo,
                "truncated": [found.a.is_truncated, found.b.is_truncated],
                "milliseconds": round(found.milliseconds, 1),
                "typicality": sentences.typical(placed),
                "documents": _records_of(found.documents),
            }
        )
    if arguments.json:
        document = {"dataset": dataset, "groups": groups, "texts": sides, "results": results}
        _print(arguments, document, "")
    else:
        for group, text in zip(groups, sides, strict=True):
            print(f"{group:>5}: {text}")
        for one in results:
            print(f"{one['retriever']}: {one.get('failed') or one['sentence']}")
            if "typicality" in one:
                print(f"  {one['typicality']}")
    return 1 if results and all("failed" in one for one in results) else 0


def _records_of(frame: Any) -> list[dict[str, Any]]:
    rows = frame.astype("object")
    records: list[dict[str, Any]] = rows.where(rows.notna(), None).to_dict(orient="records")
    return records


def _gaps(arguments: argparse.Namespace) -> int:
    from biasret.metrics import FILTERS, METRICS

    if arguments.metric is not None:
        METRICS[arguments.metric]
    if arguments.filter is not None:
        FILTERS[arguments.filter]
    store = _store()
    dataset = None if arguments.dataset is None else _known_dataset(store, arguments.dataset)
    found = store.gaps(dataset, metric=arguments.metric, k=arguments.k, filter=arguments.filter)
    if arguments.json:
        _print(arguments, _records(found), "")
        return 1 if found.empty else 0
    if found.empty:
        print("No gaps are stored for this choice; run `python -m biasret build`.")
        return 1
    for row in found.itertuples(index=False):
        print(gap_line(row._asdict()))
    return 0


def _records(frame: Any) -> list[dict[str, Any]]:
    """Rows with every digit that is stored; missing values are None, whole numbers ints."""
    from biasret.tables import check

    return _records_of(check(frame, "gaps"))


def gap_line(row: dict[str, Any]) -> str:
    """One gap as a line of text."""
    import pandas as pd

    from biasret.metrics import METRICS
    from biasret.statistics import stars

    k = None if pd.isna(row["k"]) else int(row["k"])
    name = METRICS[row["metric"]].title(k)
    head = f"{row['dataset']}  {row['retriever']:<14} {name:<10} {row['filter']:<11}"
    if pd.isna(row["estimate"]):
        return f"{head} no estimate: {row['note']}"
    interval = (
        "no interval"
        if pd.isna(row["ci_low"])
        else f"[{row['ci_low']:+.4f}, {row['ci_high']:+.4f}]"
    )
    p = f"no p ({row['test']})"
    if not pd.isna(row["p_value"]):
        # Stars stand for the corrected p, here as on the pages.
        corrected = f"{row['p_holm']:.2g}{stars(row['p_holm'])}"
        p = f"p {row['p_value']:.2g} ({row['test']}; {corrected} after Holm)"
    n = row["n_pairs"] or f"{row['n_minuend']}/{row['n_subtrahend']}"
    return (
        f"{head} {row['minuend']} minus {row['subtrahend']} {row['estimate']:+.4f} {interval}"
        f"  n {n}  {p}"
    )


def _published(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from biasret import reproduction

    made = reproduction.check()
    failed = [one for one in made if not one.passed]
    if arguments.json:
        _print(arguments, {"checks": [asdict(one) for one in made], "failed": len(failed)}, "")
        return 1 if failed else 0
    for one in made:
        worst = "" if one.worst is None else f", worst deviation {one.worst:.2g}"
        note = f" ({one.note})" if one.note else ""
        state = "ok  " if one.passed else "FAIL"
        print(f"{state}  {one.exhibit:<10} {one.what}: {one.n_cells:,} cells{worst}{note}")
    print(f"{len(made)} checks, {len(failed)} failed")
    return 1 if failed else 0


def _bench(arguments: argparse.Namespace) -> int:
    from importlib import import_module

    report = import_module(BENCHES[arguments.what]).run()
    if arguments.json:
        _print(arguments, report, "")
    else:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from biasret.precomputed import Folder
    from biasret.retrievers import RETRIEVERS, available
    from biasret.runtime import cpu_count
    from biasret.store import Store, make_database

    folder = Folder()
    packages = {}
    for package in ("duckdb", "faiss-cpu", "numpy", "pandas", "plotly", "streamlit", "torch"):
        try:
            packages[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            packages[package] = "missing"
    retrievers = {
        name: (state.reason or "ready")
        for name, record in RETRIEVERS.items()
        for state in [available(record)]
    }
    problems = [f"{name} is missing" for name, found in packages.items() if found == "missing"]
    datasets: dict[str, Any] = {}
    try:
        store = Store(make_database(folder))
        for name in store.datasets()["dataset"]:
            datasets[name] = {**store.counts(name), "retrievers": store.retrievers(name)}
        store.close()
    except BiasretError as error:
        problems.append(str(error))
    if not datasets:
        problems.append("The store holds no dataset; run `python -m biasret build`.")
    report = {
        "biasret": __version__,
        "python": platform.python_version(),
        "processors": cpu_count(),
        "packages": packages,
        "retrievers": retrievers,
        "store": str(folder.path),
        "datasets": datasets,
        "problems": problems,
    }
    if arguments.json:
        _print(arguments, report, "")
    else:
        print(f"biasret {__version__}, Python {report['python']}, {cpu_count()} processors")
        print(f"store    {folder.path}")
        for name, found in packages.items():
            print(f"package  {name} {found}")
        for name, state in retrievers.items():
            print(f"ranks    {name}: {state}")
        for name, held in datasets.items():
            print(
                f"data     {name}: {held['documents']:,} documents, {held['queries']:,} queries; "
                f"results of {', '.join(held['retrievers']) or 'no retriever yet'}"
            )
        for problem in problems:
            print(f"problem  {problem}")
    return 1 if problems else 0


# -- shared ------------------------------------------------------------------------------


def _store() -> Any:
    from biasret.precomputed import Folder
    from biasret.store import Store, make_database

    return Store(make_database(Folder()))


def _known_dataset(store: Any, name: str) -> str:
    from biasret.errors import UnknownName

    known = store.datasets()["dataset"].tolist()
    if name not in known:
        raise UnknownName("dataset", name, known)
    return name


def _say(arguments: argparse.Namespace, line: str) -> None:
    if not arguments.json:
        print(line, flush=True)


def _print(arguments: argparse.Namespace, document: Any, line: str) -> None:
    if arguments.json:
        # Escaped, so that it is the same document whatever the encoding of the output.
        print(json.dumps(document, allow_nan=False))
    else:
        print(line, flush=True)


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    from tqdm import tqdm

    # Short steps show nothing: a bar that flashes by tells nobody anything.
    with tqdm(total=total, desc=title, unit="", file=sys.stderr, delay=1.0, leave=True) as bar:
        yield lambda n: bar.update(n) and None


if __name__ == "__main__":
    raise SystemExit(main())
