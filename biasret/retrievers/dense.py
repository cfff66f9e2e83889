"""Dense retrieval: an encoder, its vectors, and an inner-product index."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np
import pandas as pd

from biasret.errors import InputError, RetrieverError
from biasret.precomputed import Vectors, text_sha256
from biasret.retrievers.base import (
    Ranking,
    RetrieverRecord,
    checked_documents,
    checked_queries,
    positions,
    rounded,
)

__all__ = ["Dense", "Encoder", "embed"]

#: Texts encoded between two reports of progress, and at most lost when a build is killed.
CHUNK = 1_024


class Encoder(Protocol):
    """Turns texts into vectors. `Dense` calls it from one thread at a time."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Vectors, shape (n, dimension), any float type, finite."""

    def count_tokens(self, texts: list[str]) -> np.ndarray:
        """Tokens of each text with special ones, before any cut; int64, shape (n,)."""


class VectorCache(Protocol):
    """Keeps vectors by the SHA-256 of the text that was encoded, prefix included."""

    def get(self, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """The vectors it has among `keys`."""

    def put(self, vectors: dict[str, np.ndarray]) -> None:
        """Keep these for good before returning."""


class Dense:
    """Exact inner-product search over L2-normalised vectors.

    Parameters
    ----------
    record
        Names prefixes, dimension and the longest text read.
    make_encoder
        Called once, when the first text must be encoded: searching stored vectors with
        stored queries loads no model.
    """

    def __init__(self, record: RetrieverRecord, make_encoder: Callable[[], Encoder]) -> None:
        self.record = record
        self.doc_ids = np.array([], dtype=object)
        self._make_encoder = make_encoder
        self._encoder: Encoder | None = None
        # Fast tokenizers are not safe to share: two threads at once raise "already borrowed".
        self._lock = threading.Lock()

    # -- encoding ------------------------------------------------------------------------

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = self._make_encoder()
        return self._encoder

    def load(self) -> None:
        """Load the model now instead of at the first text."""
        with self._lock:
            self._loaded()

    def encode(self, texts: Sequence[str], *, prefix: str) -> np.ndarray:
        """Unit vectors of texts, float32, shape (n, dimension).

        Equal texts are encoded once, and texts of like length together, so that little of
        a batch is padding.
        """
        if not len(texts):
            return np.zeros((0, self.record.dimension or 0), dtype=np.float32)
        distinct = sorted(set(texts), key=lambda text: (len(text), text))
        with self._lock:
            matrix = self._loaded().encode([prefix + _readable(text) for text in distinct])
        at = {text: i for i, text in enumerate(distinct)}
        return _unit(matrix, self.record)[[at[text] for text in texts]]

    def encode_queries(self, queries: Sequence[str]) -> np.ndarray:
        """Unit vectors of queries, with the query prefix."""
        return self.encode(queries, prefix=self.record.query_prefix)

    def count_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text with special ones, before any cut."""
        with self._lock:
            return self._loaded().count_tokens([_readable(text) for text in texts])

    def truncated(self, texts: Sequence[str]) -> np.ndarray:
        """Whether each text is longer than the model reads; bool, shape (n,)."""
        limit = self.record.max_tokens
        if limit is None or not len(texts):
            return np.zeros(len(texts), dtype=bool)
        return self.count_tokens(texts) > limit

    # -- index and search ----------------------------------------------------------------

    def index(self, documents: pd.DataFrame, *, vectors: np.ndarray | None = None) -> None:
        """Index the documents, encoding them unless their vectors are given.

        Parameters
        ----------
        vectors : float32, shape (n_documents, dimension), optional
            Unit vectors, row for row of `documents`.
        """
        import faiss

        rows = documents.assign(_row=np.arange(len(documents)))
        ordered = checked_documents(rows)
        if vectors is None:
            vectors = self.encode(ordered["text"].tolist(), prefix=self.record.document_prefix)
        else:
            vectors = _unit(vectors[ordered["_row"].to_numpy()], self.record)
        self.doc_ids = ordered["doc_id"].to_numpy(dtype=object)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    @property
    def matrix(self) -> np.ndarray:
        """The indexed vectors, float32, shape (n_documents, dimension), in order of `doc_ids`."""
        import faiss

        n, dimension = self._index.ntotal, self._index.d
        return faiss.rev_swig_ptr(self._index.get_xb(), n * dimension).reshape(n, dimension)

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """Rounded cosines, shape (n_queries, n_documents)."""
        return self.scores_of(self.encode_queries(queries))

    def scores_of(self, vectors: np.ndarray) -> np.ndarray:
        """Rounded cosines of unit query vectors, shape (n_queries, n_documents)."""
        return rounded(vectors @ self.matrix.T)

    def search(
        self,
        queries: Sequence[str],
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        """The best `k` documents of each query."""
        checked_queries(queries, k=k, exclude=exclude)
        return self.search_vectors(self.encode_queries(queries), k=k, exclude=exclude)

    def search_vectors(
        self,
        vectors: np.ndarray,
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        """The best `k` documents of each unit query vector."""
        left_out = exclude or [()] * len(vectors)
        spare = max((len(ids) for ids in left_out), default=0)
        return [
            self._search_one(vectors[i : i + 1], k=k, exclude=left_out[i], depth=k + spare + 1)
            for i in range(len(vectors))
        ]

    def _search_one(
        self, vector: np.ndarray, *, k: int, exclude: Collection[str], depth: int
    ) -> Ranking:
        n = len(self.doc_ids)
        out = set(positions(self.doc_ids, exclude).tolist())
        while True:
            depth = min(depth, n)
            found, at = self._index.search(np.ascontiguousarray(vector), depth)
            scores = rounded(found[0])
            kept = np.array([p not in out for p in at[0]]) & (at[0] >= 0)
            scores, at = scores[kept], at[0][kept]
            # FAISS breaks ties its own way, so every document tied with the k-th must be seen.
            is_complete = depth == n or (len(scores) > k and scores[k - 1] > scores[-1])
            if is_complete:
                break
            depth *= 2
        best = np.lexsort((at, -scores))
        is_tied = len(best) > k and bool(scores[best[k]] == scores[best[k - 1]])
        best = best[:k]
        return Ranking(self.doc_ids[at[best]].tolist(), scores[best], is_tied)


def embed(
    retriever: Dense,
    texts: Sequence[str],
    ids: Sequence[str],
    *,
    prefix: str,
    cache: VectorCache | None = None,
    progress: Callable[[int], None] | None = None,
) -> Vectors:
    """Vectors of many texts, taken from the cache where it has them.

    Parameters
    ----------
    progress
        Called with the number of texts just finished.
    """
    keys = [text_sha256(prefix + text) for text in texts]
    known: dict[str, np.ndarray] = cache.get(keys) if cache else {}
    wanted: dict[str, str] = {}
    for key, text in zip(keys, texts, strict=True):
        if key not in known:
            wanted[key] = text
    uses = Counter(keys)
    if progress:
        progress(len(texts) - sum(uses[key] for key in wanted))
    waiting = sorted(wanted, key=lambda key: (len(wanted[key]), key))
    for start in range(0, len(waiting), CHUNK):
        part = waiting[start : start + CHUNK]
        matrix = retriever.encode([wanted[key] for key in part], prefix=prefix)
        fresh = dict(zip(part, matrix, strict=True))
        if cache:
            cache.put(fresh)
        known.update(fresh)
        if progress:
            progress(sum(uses[key] for key in part))
    dimension = retriever.record.dimension or 0
    matrix = np.stack([known[key] for key in keys]) if keys else np.zeros((0, dimension))
    return Vectors(
        ids=list(ids),
        matrix=np.asarray(matrix, dtype=np.float32),
        text_sha256=[text_sha256(text) for text in texts],
        truncated=retriever.truncated([prefix + text for text in texts]),
    )


def _readable(text: str) -> str:
    # A lone surrogate cannot be encoded for the tokenizer; U+FFFD stands for what was lost.
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _unit(matrix: np.ndarray, record: RetrieverRecord) -> np.ndarray:
    matrix = np.asarray(matrix, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != record.dimension:
        raise InputError(
            f"{record.label} has vectors of {record.dimension} numbers; found an array of shape "
            f"{matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise RetrieverError(f"{record.label} gave vectors that are not finite.")
    # Tang et al., section 2: the norm is clipped at 1e-12.
    norms = np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return np.ascontiguousarray(matrix / norms)
