"""Embeddings, rankings and gold ranks of one retriever on a dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from biasret import runs
from biasret.build.measuring import measure
from biasret.build.steps import STEPS
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder, Vectors, text_sha256
from biasret.progress import Progress, silent
from biasret.retrievers import Retriever, load
from biasret.retrievers.base import SCORE_DECIMALS, RetrieverRecord
from biasret.retrievers.cache import DiskCache, GivenFirst, Kept
from biasret.retrievers.dense import Dense
from biasret.retrievers.embedding import embed

__all__ = ["build_retriever"]


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
        return measure(folder, dataset, name, force=force, is_given=True)
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
    did |= measure(folder, dataset, retriever.record.name, force=force)
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
