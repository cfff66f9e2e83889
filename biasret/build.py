"""Datasets and retrievers -> every file of the store, redoing only what is out of date.

Each step writes its own file by rename and records in it what it was made from, so that a
build that was killed goes on where it stopped.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from biasret import (
    audit,
    contrasts,
    filters,
    judging,
    metrics,
    mitigation,
    overlap,
    pairing,
    runs,
)
from biasret.datasets.base import SIGNALS, Dataset, DatasetRecord
from biasret.precomputed import Folder, Vectors, text_sha256
from biasret.progress import Progress, silent
from biasret.reproduction.stored import store_reproduced
from biasret.residuals import store_residuals
from biasret.retrievers import Retriever, built_by_default, load
from biasret.retrievers.base import SCORE_DECIMALS, RetrieverRecord
from biasret.retrievers.cache import DiskCache, GivenFirst, Kept
from biasret.retrievers.dense import Dense, embed
from biasret.statistics import flips, rank_tests, resampling
from biasret.tables import empty

__all__ = [
    "Progress",
    "build_dataset",
    "build_retriever",
    "given_inputs",
    "read_dataset",
    "retrievers_of",
    "save_dataset",
]

#: Raised when the same inputs would give another file.
STEPS = {
    "embeddings": 1,
    "runs": 2,
    "gold_ranks": 3,
    "measurements": 1,
    "gaps": 1,
    "mitigations": 1,
    "token_scores": 1,
    "residuals": 1,
}


def save_dataset(folder: Folder, dataset: Dataset, *, inputs: dict[str, Any]) -> None:
    """Put a dataset's tables in place; its record comes last, so that it is there whole."""
    name = dataset.record.name
    folder.write("documents", dataset.documents, dataset=name, inputs=inputs)
    folder.write("queries", dataset.queries, dataset=name, inputs=inputs)
    folder.write("qrels", dataset.qrels, dataset=name, inputs=inputs)
    folder.write("datasets", dataset.record.frame(), dataset=name, inputs=inputs)


def read_dataset(folder: Folder, name: str) -> Dataset:
    """The dataset of this name from its files."""
    row = folder.read("datasets", name).iloc[0].to_dict()
    return Dataset(
        record=DatasetRecord.from_row(row),
        documents=folder.read("documents", name),
        queries=folder.read("queries", name),
        qrels=folder.read("qrels", name),
    )


def build_retriever(
    folder: Folder,
    dataset: Dataset,
    name: str,
    *,
    force: bool = False,
    progress: Progress = silent,
) -> bool:
    """Embeddings, run, gold ranks and measurements of one retriever.

    What was imported is measured as it is: the retriever is not loaded and need not be known.

    Returns
    -------
    bool
        Whether anything was redone.
    """
    if name in folder.given(dataset.record.name):
        return _measure(folder, dataset, name, force=force, is_given=True)
    retriever = load(name, models=folder.path / "models")
    fingerprint = retriever.record.fingerprint
    texts = {t: folder.content(t, dataset.record.name) for t in ("documents", "queries")}
    brought = DiskCache(folder.given_vectors(dataset.record.name), retriever.record).content()
    if brought:
        texts["given_vectors"] = brought
    did = False
    inputs: dict[str, Any] = {"step": STEPS["embeddings"], "retriever": fingerprint, **texts}
    if isinstance(retriever, Dense):
        did |= _embed(folder, dataset, retriever, inputs, force=force, progress=progress)
    inputs = {
        "retriever": fingerprint,
        **texts,
        "qrels": folder.content("qrels", dataset.record.name),
        "depth": runs.DEPTH,
        "decimals": SCORE_DECIMALS,
    }
    did |= _retrieve(folder, dataset, retriever, inputs, force=force, progress=progress)
    did |= _measure(folder, dataset, retriever.record.name, force=force)
    return did


def _embed(
    folder: Folder,
    dataset: Dataset,
    retriever: Dense,
    inputs: dict[str, Any],
    *,
    force: bool,
    progress: Progress,
) -> bool:
    record = retriever.record
    name = dataset.record.name
    if not force and folder.is_current("embeddings", name, record.name, inputs=inputs):
        return False
    shared = DiskCache(folder.path / "vectors", record)
    brought = DiskCache(folder.given_vectors(name), record)
    kinds: dict[str, Vectors] = {}
    for kind, frame, key, prefix in (
        ("document", dataset.documents, "doc_id", retriever.document_prefix()),
        ("query", dataset.queries, "query_id", retriever.query_prefix()),
    ):
        stored = _stored(folder, name, record, kind, frame["text"], prefix, force=force)
        cache = GivenFirst(brought, GivenFirst(stored, shared))
        with progress(f"{name}: {kind} vectors, {record.label}", len(frame)) as advance:
            kinds[kind] = embed(
                retriever,
                frame["text"].tolist(),
                frame[key].tolist(),
                prefix=prefix,
                cache=cache,
                progress=advance,
            )
    folder.write_vectors(kinds, dataset=name, retriever=record.name, inputs=inputs)
    return True


def _stored(
    folder: Folder,
    dataset: str,
    record: RetrieverRecord,
    kind: str,
    texts: pd.Series,
    prefix: str,
    *,
    force: bool,
) -> Kept:
    """Vectors of texts that a dataset had before, as where one of its questions was edited."""
    nothing = Kept({}, np.empty((0, record.dimension or 0), dtype=np.float32))
    footer = folder.footer(folder.file("embeddings", dataset, record.name))
    made = footer["inputs"] if footer else {}
    # Those of another checkpoint, or brought from elsewhere, are not what would be encoded now.
    is_own = made.get("retriever") == record.fingerprint and "given_vectors" not in made
    if force or not is_own or made.get("step") != STEPS["embeddings"]:
        return nothing
    vectors = folder.vectors(dataset, record.name, kind)
    row_of = {digest: row for row, digest in enumerate(vectors.text_sha256)}
    rows = {
        text_sha256(prefix + text): row_of[digest]
        for text in texts
        if (digest := text_sha256(text)) in row_of
    }
    return Kept(rows, vectors.matrix)


def _retrieve(
    folder: Folder,
    dataset: Dataset,
    retriever: Retriever,
    inputs: dict[str, Any],
    *,
    force: bool,
    progress: Progress,
) -> bool:
    name = dataset.record.name
    label = retriever.record.name
    of_each = {table: {**inputs, "step": STEPS[table]} for table in ("runs", "gold_ranks")}
    if not force and all(
        folder.is_current(table, name, label, inputs=made) for table, made in of_each.items()
    ):
        return False
    scores: Callable[[Sequence[str]], np.ndarray] | None = None
    if isinstance(retriever, Dense):
        texts, asked = dataset.documents, dataset.queries
        vectors = folder.vectors(name, label, "document")
        retriever.index(texts, vectors=vectors.fitting(texts["doc_id"], texts["text"]))
        vectors = folder.vectors(name, label, "query")
        fitting = vectors.fitting(asked["query_id"], asked["text"], what="queries")
        scores = _stored_scores(retriever, asked["query_id"].tolist(), fitting)
    else:
        retriever.index(dataset.documents)
    title = f"{name}: rankings, {retriever.record.label}"
    with progress(title, len(dataset.queries)) as advance:
        found = runs.retrieve(
            retriever,
            dataset.queries,
            dataset.qrels,
            dataset=name,
            texts_of=dataset.documents.set_index("doc_id")["text"],
            scores=scores,
            progress=advance,
        )
    for table, frame in (("runs", found.runs), ("gold_ranks", found.gold_ranks)):
        folder.write(table, frame, dataset=name, retriever=label, inputs=of_each[table])
    return True


def _stored_scores(
    retriever: Dense, ids: list[str], vectors: np.ndarray
) -> Callable[[Sequence[str]], np.ndarray]:
    at = {query_id: row for row, query_id in enumerate(ids)}

    def scores(query_ids: Sequence[str]) -> np.ndarray:
        return retriever.scores_of(vectors[[at[query_id] for query_id in query_ids]])

    return scores


def _measure(
    folder: Folder, dataset: Dataset, retriever: str, *, force: bool, is_given: bool = False
) -> bool:
    name = dataset.record.name
    signal = SIGNALS[dataset.record.signal]
    tables = ["runs", "gold_ranks"]
    if is_given:
        present = [t for t in (*tables, "given_values") if retriever in folder.given(name, t)]
        tables = present
    inputs = {
        "step": STEPS["measurements"],
        "metrics": {m: list(metrics.METRICS[m].ks) for m in signal.metrics},
        "code": [_source(metrics), _source(filters)],
        "documents": folder.content("documents", name),
        "queries": folder.content("queries", name),
        "qrels": folder.content("qrels", name),
        **{table: folder.content(table, name, retriever) for table in tables},
        **_judgments(folder, name),
    }
    if not force and folder.is_current("measurements", name, retriever, inputs=inputs):
        return False
    found = {table: folder.read(table, name, retriever) for table in tables}
    qrels = pd.concat([dataset.qrels, judging.judgments(folder, name)], ignore_index=True)
    measured = metrics.measure(
        given_inputs(dataset, found, qrels)
        if is_given
        else filters.Inputs(
            queries=dataset.queries,
            documents=dataset.documents,
            runs=found["runs"],
            gold_ranks=found["gold_ranks"],
            qrels=qrels,
        ),
        dataset=name,
        retriever=retriever,
        metrics=signal.metrics,
    )
    folder.write("measurements", measured, dataset=name, retriever=retriever, inputs=inputs)
    return True


def given_inputs(
    dataset: Dataset, found: dict[str, pd.DataFrame], qrels: pd.DataFrame
) -> filters.Inputs:
    """Imported results as a metric reads them; `qrels` with those of judges.

    Only queries with a row in ``gold_ranks`` were asked. A gold document below an imported run
    has no rank there; it counts as infinitely far down, and what is read deeper than the run
    is not measured.
    """
    ranking = found.get("runs", empty("runs"))
    asked = found["gold_ranks"]
    has_gold = asked["query_id"].isin(runs.gold_documents(dataset.qrels))
    rank = asked["rank"].astype("float64")
    # Ranks that came without a ranking are of the full one.
    depth = int(ranking["rank"].max()) if len(ranking) else None
    if depth is not None:
        asked = asked.assign(rank=rank.mask(rank.isna() & has_gold, np.inf))
    return filters.Inputs(
        queries=dataset.queries[dataset.queries["query_id"].isin(asked["query_id"])],
        documents=dataset.documents,
        runs=ranking,
        gold_ranks=asked,
        qrels=qrels,
        depth=depth or 0,
        rank_depth=depth,
        given=found.get("given_values", empty("given_values")),
    )


def _judgments(folder: Folder, dataset: str) -> dict[str, Any]:
    """What measurements owe to judges; nothing where nobody has judged."""
    judges = {j: folder.content("qrels", dataset, j) for j in folder.retrievers("qrels", dataset)}
    return {"judgments": judges} if judges else {}


def _measure_rest(folder: Folder, dataset: Dataset) -> bool:
    """Measure anew what retrievers that were not asked for had found, where that still holds.

    Measuring needs no model, so that new judgements cost no retriever its results.
    """
    name = dataset.record.name
    present = {t: folder.content(t, name) for t in ("documents", "queries", "qrels")}
    did = False
    for retriever in folder.retrievers("measurements", name):
        footers = [
            folder.footer(folder.file(table, name, retriever)) for table in ("runs", "gold_ranks")
        ]
        made = [footer["inputs"] if footer else {} for footer in footers]
        if all(
            inputs.get(table) == content for inputs in made for table, content in present.items()
        ):
            did |= _measure(folder, dataset, retriever, force=False)
    return did


def _current(folder: Folder, dataset: str) -> list[str]:
    """Retrievers whose measurements were made from the dataset as it is now.

    Results of what a dataset was before are deleted: they must not stand in one table, and
    under one correction, with new ones.
    """
    present = {t: folder.content(t, dataset) for t in ("documents", "queries", "qrels")}
    judged = _judgments(folder, dataset).get("judgments")
    current = []
    for retriever in folder.retrievers("measurements", dataset):
        footer = folder.footer(folder.file("measurements", dataset, retriever)) or {"inputs": {}}
        made = footer["inputs"]
        is_same = all(made.get(table) == content for table, content in present.items())
        if is_same and made.get("judgments") == judged:
            current.append(retriever)
        else:
            folder.remove_results(dataset, retriever)
    return current


def build_gaps(
    folder: Folder, dataset: Dataset, *, force: bool = False, progress: Progress = silent
) -> bool:
    """Levels of each retriever, and the gaps of all retrievers of a dataset together."""
    name = dataset.record.name
    settings = audit.PAPER
    retrievers = _current(folder, name)
    contents = {r: folder.content("measurements", name, r) for r in retrievers}
    inputs: dict[str, Any] = {
        "step": STEPS["gaps"],
        "settings": settings.as_dict(),
        "code": [_source(module) for module in (audit, contrasts, flips, rank_tests, resampling)],
        "queries": folder.content("queries", name),
        "groups": [dataset.record.minuend, dataset.record.subtrahend, dataset.record.is_paired],
        "measurements": contents,
    }
    of_each = {r: {**inputs, "measurements": contents[r]} for r in retrievers}
    is_current = folder.is_current("gaps", name, inputs=inputs) and all(
        folder.is_current("levels", name, r, inputs=of_each[r]) for r in retrievers
    )
    if not retrievers or (is_current and not force):
        return False
    tables = []
    with progress(f"{name}: gaps and intervals", len(retrievers) + 1) as advance:
        for retriever in retrievers:
            measured = folder.read("measurements", name, retriever)
            tables.append(measured)
            folder.write(
                "levels",
                audit.levels(measured, dataset.queries, settings=settings),
                dataset=name,
                retriever=retriever,
                inputs=of_each[retriever],
            )
            advance(1)
        found = audit.gaps(
            pd.concat(tables, ignore_index=True), dataset.queries, dataset.record, settings=settings
        )
        folder.write("gaps", found, dataset=name, inputs=inputs)
        advance(1)
    return True


def retrievers_of(folder: Folder, dataset: str) -> list[str]:
    """The retrievers that a build without further words covers for a dataset.

    A dataset that came with results is built from those, and from what was computed on it
    before: its documents may be too many, or its texts withheld.
    """
    imported = folder.given(dataset)
    if not imported:
        return built_by_default()
    return list(dict.fromkeys([*imported, *folder.retrievers("gold_ranks", dataset)]))


def build_mitigations(
    folder: Folder, dataset: Dataset, *, force: bool = False, progress: Progress = silent
) -> bool:
    """What mitigated wordings change, where the dataset holds any."""
    name = dataset.record.name
    retrievers = _current(folder, name)
    if not retrievers or not mitigation.mitigations_for(dataset.queries):
        return False
    # Imported values may come without the lists they were made from.
    with_lists = [r for r in retrievers if r in folder.retrievers("runs", name)]
    inputs: dict[str, Any] = {
        "step": STEPS["mitigations"],
        "settings": audit.PAPER.as_dict(),
        "code": [
            _source(module) for module in (mitigation, filters, flips, rank_tests, resampling)
        ],
        "documents": folder.content("documents", name),
        "queries": folder.content("queries", name),
        "groups": [dataset.record.minuend, dataset.record.subtrahend, dataset.record.is_paired],
        "measurements": {r: folder.content("measurements", name, r) for r in retrievers},
        "runs": {r: folder.content("runs", name, r) for r in with_lists},
    }
    if not force and folder.is_current("mitigations", name, inputs=inputs):
        return False
    tables = []
    with progress(f"{name}: mitigations", len(retrievers) + 1) as advance:
        for retriever in retrievers:
            tables.append(folder.read("measurements", name, retriever))
            if retriever in with_lists:
                gold_ranks = folder.read("gold_ranks", name, retriever)
                asked = dataset.queries["query_id"].isin(gold_ranks["query_id"])
                found = filters.Inputs(
                    dataset.queries[asked],
                    dataset.documents,
                    folder.read("runs", name, retriever),
                    gold_ranks,
                )
                tables.append(mitigation.story_measurements(found, name, retriever))
            advance(1)
        measured = pd.concat(tables, ignore_index=True)
        changed = mitigation.mitigations(measured, dataset.queries, dataset.record)
        folder.write("mitigations", changed, dataset=name, inputs=inputs)
        advance(1)
    return True


def build_dataset(
    folder: Folder,
    dataset: Dataset,
    retrievers: Sequence[str],
    *,
    force: bool = False,
    progress: Progress = silent,
) -> bool:
    """Everything a dataset's pages show; True if anything was redone.

    Parameters
    ----------
    retrievers
        Results that were imported are measured whether or not they are named.
    """
    imported = folder.given(dataset.record.name)
    did = [
        build_retriever(folder, dataset, name, force=force, progress=progress)
        for name in dict.fromkeys([*imported, *retrievers])
    ]
    did.append(_measure_rest(folder, dataset))
    did.append(build_gaps(folder, dataset, force=force, progress=progress))
    did.append(build_mitigations(folder, dataset, force=force, progress=progress))
    current = _current(folder, dataset.record.name)
    options: Any = {"steps": STEPS, "source": _source, "force": force, "progress": progress}
    did.append(store_residuals(folder, dataset, current, **options))
    did.append(pairing.build_pairing(folder, dataset, force=force, progress=progress))
    did.append(overlap.build_overlaps(folder, dataset, current, force=force, progress=progress))
    name = dataset.record.name
    did.append(store_reproduced(folder, name, source=_source, force=force, progress=progress))
    return any(did)


def _source(module: Any) -> str:
    """A module's code, so that a change to a metric makes its measurements anew."""
    return _digest(inspect.getsource(module))


def _digest(code: str) -> str:
    """Of what code does: comments, layout and docstrings change nothing."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]
