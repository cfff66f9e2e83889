"""Commands that make what the pages show."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from biasret import __version__
from biasret.commands.shared import emit, progress_bar, say
from biasret.errors import InputError

if TYPE_CHECKING:
    from biasret.datasets.base import Given, Loaded
    from biasret.precomputed import Folder

__all__ = ["bring_in", "build", "derive"]


def build(arguments: argparse.Namespace) -> int:
    """``build``: everything that is missing or out of date."""
    from biasret.build import build_dataset, read_dataset, retrievers_of, save_dataset
    from biasret.datasets import SHIPPED
    from biasret.errors import UnknownName
    from biasret.precomputed import Folder
    from biasret.retrievers import available, prepare, record_for
    from biasret.store import make_database

    folder = Folder()
    models = folder.path / "models"
    for name in arguments.retriever or ():
        if not any(name in folder.given(dataset) for dataset in folder.datasets()):
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
            retrievers = arguments.retriever or retrievers_of(folder, name)
            imported = folder.given(name)
            for one in retrievers:
                if one not in imported and available(record_for(one, models=models)).is_available:
                    prepare(one, models=models)
            changed = build_dataset(
                folder, dataset, retrievers, force=arguments.force, progress=progress_bar
            )
            done.append({"dataset": name, "retrievers": retrievers, "changed": changed})
            say(arguments, f"{name}: {'built' if changed else 'up to date'}")
        folder.write_manifest(command="python -m biasret build")
        path = make_database(folder)
    emit(arguments, {"built": done, "store": str(path)}, f"store: {path}")
    return 0


def bring_in(arguments: argparse.Namespace) -> int:
    """``import``: datasets, or results for one, from files."""
    from biasret.build import read_dataset, save_dataset
    from biasret.datasets import SHIPPED
    from biasret.errors import UnknownName
    from biasret.kinds import KINDS, Request, options
    from biasret.precomputed import GIVEN, SHIPPED_PREFIX, Folder
    from biasret.store import make_database

    kind = KINDS[arguments.kind]
    name = arguments.name or ""
    if bool(name) != bool(kind.endings):
        needs = "needs --name, what the dataset is called here" if kind.endings else "takes no name"
        raise InputError(f"Importing {kind.name} {needs}.")
    given_options = kind.given({o.name: getattr(arguments, o.name) for o in options().values()})
    if name in SHIPPED or name.startswith(SHIPPED_PREFIX):
        raise InputError(
            f"Names that begin with {SHIPPED_PREFIX!r} belong to the shipped datasets, which each "
            f"build puts back; found {name!r}. "
            + (
                "`audit --run` measures a run of it without storing anything."
                if kind.adds_to
                else "Choose another name."
            )
        )
    folder = Folder()
    there = folder.datasets()
    if kind.adds_to and name not in there:
        raise UnknownName("dataset", name, there)
    taken = [name + ending for ending in kind.endings if name + ending in there]
    if taken and not (kind.adds_to or arguments.replace):
        raise InputError(f"A dataset {taken[0]!r} is already there; add --replace to replace it.")
    imported = kind.load(
        Request(
            path=arguments.path,
            name=name,
            options=given_options,
            progress=progress_bar,
            into=read_dataset(folder, name) if kind.adds_to else None,
            runs=_given_runs(folder, name) if kind.adds_to else {},
            replace=arguments.replace,
        )
    )
    first = imported.parts[0].dataset if imported.parts else None
    texts = [] if first is None else first.documents["text"].tolist()
    vectors = [_vectors(item, texts) for item in arguments.vectors]
    inputs = {"path": arguments.path.name, "kind": kind.name}
    with folder.lock():
        before = folder.fingerprint()
        renewed = [folder.write_resource(*item) for item in imported.resources.items()]
        with folder.staged() as stage:
            for part in imported.parts:
                if not kind.adds_to:
                    save_dataset(stage, part.dataset, inputs=inputs)
                for given in part.given:
                    stage.write(
                        given.table,
                        given.frame,
                        dataset=part.dataset.record.name,
                        retriever=given.retriever,
                        inputs={GIVEN: kind.name, "path": arguments.path.name},
                    )
                    if kind.adds_to and given.table == "qrels":
                        _refuse_judges(folder, given, part.dataset.record.name)
                    if kind.adds_to and given.table == "runs" and not arguments.replace:
                        _refuse_another(folder, stage, given, part.dataset.record.name)
        # After the dataset, which takes the vectors of an earlier one away.
        for record, keys, matrix in vectors:
            renewed.append(_keep_vectors(folder, name, record, keys, matrix))
        folder.write_manifest(command="python -m biasret import")
        make_database(folder)
    has_changed = folder.fingerprint() != before or any(renewed)
    told = [_told(arguments, part) for part in imported.parts]
    for note in imported.notes:
        say(arguments, f"note: {note}")
    names = " ".join(f"--dataset {one['dataset']!r}" for one in told)
    line = f"Next: python -m biasret build {names}" if told else "Imported."
    line = line if has_changed else "Nothing has changed."
    document = {"imported": told, "notes": list(imported.notes), "changed": has_changed}
    emit(arguments, document, line)
    return 0


def _given_runs(folder: Folder, name: str) -> dict[str, Any]:
    """Runs that were imported for a dataset, so that new judgements can be looked up in them."""
    from biasret.precomputed import GIVEN

    found = {}
    for retriever in folder.given(name, "runs"):
        footer = folder.footer(folder.file("runs", name, retriever))
        if footer and footer["inputs"].get(GIVEN) == "trec-run":
            found[retriever] = folder.read("runs", name, retriever)
    return found


def _refuse_another(folder: Folder, stage: Folder, given: Given, dataset: str) -> None:
    """Raise if results of the same name are there, and are others."""
    retriever = given.retriever
    if retriever is None or retriever not in folder.retrievers("runs", dataset):
        return
    if retriever not in folder.given(dataset, "runs"):
        raise InputError(
            f"{retriever!r} has been computed on {dataset!r} here; give the run another name with "
            "--tag."
        )
    if stage.content("runs", dataset, retriever) != folder.content("runs", dataset, retriever):
        raise InputError(
            f"{dataset!r} holds another run by {retriever!r}; name this one with --tag, or add "
            "--replace to replace that."
        )


def _refuse_judges(folder: Folder, given: Given, dataset: str) -> None:
    """Raise if a judge of the pooled lists is called as one of these."""
    there = set(folder.retrievers("qrels", dataset)) & set(given.frame["judge"])
    if there:
        raise InputError(
            f"{min(there)!r} has judged the pooled lists of {dataset!r} here; name another with "
            "--judge."
        )


def _told(arguments: argparse.Namespace, part: Loaded) -> dict[str, Any]:
    """Say what was brought in, and return it."""
    dataset = part.dataset
    name = dataset.record.name
    counts = {
        "documents": len(dataset.documents),
        "queries": len(dataset.queries),
        "qrels": len(dataset.qrels),
    }
    results: dict[str, int] = {}
    for given in part.given:
        results[given.table] = results.get(given.table, 0) + len(given.frame)
    for note in part.notes:
        say(arguments, f"note: {name}: {note}")
    for reason, n in part.left_out.items():
        say(arguments, f"left out: {name}: {n:,} {reason}")
    shown = ", ".join(f"{n:,} {what}" for what, n in {**counts, **results}.items())
    say(arguments, f"{name}: {shown}")
    return {
        "dataset": name,
        **counts,
        "results": results,
        "notes": part.notes,
        "left_out": part.left_out,
    }


def _vectors(item: str, texts: list[str]) -> tuple[Any, list[str], Any]:
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
    return record, [text_sha256(prefix + text) for text in texts], matrix


def _keep_vectors(folder: Folder, name: str, record: Any, keys: list[str], matrix: Any) -> bool:
    """Keep vectors for this dataset alone; False where they are there already."""
    from biasret.retrievers.cache import DiskCache

    cache = DiskCache(folder.given_vectors(name), record)
    before = cache.content()
    cache.put(keys, matrix)
    return cache.content() != before


def derive(arguments: argparse.Namespace) -> int:
    """``derive``: a dataset of generated wordings over the documents of another."""
    from biasret.build import read_dataset, save_dataset
    from biasret.derive import derive_dialect, derive_framing
    from biasret.errors import UnknownName
    from biasret.precomputed import SHIPPED_PREFIX, Folder
    from biasret.store import make_database

    folder = Folder()
    known = folder.datasets()
    if arguments.dataset not in known:
        raise UnknownName("dataset", arguments.dataset, known)
    if arguments.name in known or arguments.name.startswith(SHIPPED_PREFIX):
        raise InputError(
            f"A dataset {arguments.name!r} is already there or its name is kept for a shipped "
            "one; choose another name."
        )
    with folder.lock():
        dataset = read_dataset(folder, arguments.dataset)
        if arguments.signal == "framing":
            made = derive_framing(
                dataset,
                name=arguments.name,
                texts=arguments.texts,
                mode=arguments.mode or "lexical",
                intensity=arguments.intensity or 1,
                seed=arguments.seed or 0,
                is_one_sided_kept=not arguments.strict,
                is_neutralised=arguments.neutralised,
            )
        else:
            first = arguments.seed or 0
            made = derive_dialect(
                dataset,
                name=arguments.name,
                densities=(arguments.density or 0.4,),
                seeds=(first, first + 1, first + 2),
            )
        save_dataset(folder, made, inputs={"derived from": arguments.dataset})
        folder.write_manifest(command="python -m biasret derive")
        make_database(folder)
    n = {"queries": len(made.queries), "cells": int(made.queries["cell_id"].nunique())}
    line = f"{arguments.name}: {n['queries']:,} queries in {n['cells']:,} cells"
    emit(arguments, {"dataset": arguments.name, **n}, line)
    return 0
