"""Texts to vectors: what is asked of an encoder, and the vectors of many texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from biasret.errors import InputError, RetrieverError
from biasret.precomputed import Vectors, text_sha256
from biasret.retrievers.base import RetrieverRecord
from biasret.retrievers.cache import Cache

__all__ = ["Embedder", "Encoder", "Layered", "embed", "readable", "unit"]

#: Vectors scaled at a time: the block and its squares stay in the processor's cache.
_SCALED = 512


class Encoder(Protocol):
    """Turns texts into vectors; a dense retriever calls it from one thread at a time."""

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors of `prefix` + text, shape (n, dimension), any float type, finite."""

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of `prefix` + text with special ones, before any cut; int64, shape (n,)."""

    def prompts(self) -> Mapping[str, str]:
        """The prompts that the model itself brings, by name."""


@runtime_checkable
class Layered(Protocol):
    """An encoder that also shows what its layers hold."""

    def layers(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Mean hidden states by layer, as `Dense.layers` describes them; one batch."""


class Embedder(Protocol):
    """A retriever as far as it makes vectors, such as `biasret.retrievers.dense.Dense`."""

    record: RetrieverRecord

    def encode(self, texts: Sequence[str], *, prefix: str) -> np.ndarray:
        """Unit vectors of `prefix` + text, float32, shape (n, dimension)."""

    def truncated(self, texts: Sequence[str], *, prefix: str | None = None) -> np.ndarray:
        """Whether each text is longer than the model reads; bool, shape (n,)."""


def embed(
    retriever: Embedder,
    texts: Sequence[str],
    ids: Sequence[str],
    *,
    prefix: str,
    cache: Cache | None = None,
    progress: Callable[[int], None] | None = None,
) -> Vectors:
    """Vectors of many texts, taken from the cache where it has them.

    Parameters
    ----------
    progress
        Called with the number of texts just finished.
    """
    keys = [text_sha256(prefix + text) for text in texts]
    # One matrix from the start: a row of its own for each vector would take twice the memory.
    matrix = np.empty((len(texts), retriever.record.dimension or 0), dtype=np.float32)
    filled = cache.fill(keys, matrix) if cache else np.zeros(len(texts), dtype=bool)
    if progress:
        progress(int(filled.sum()))
    rows: dict[str, list[int]] = {}
    for row in np.flatnonzero(~filled):
        rows.setdefault(keys[row], []).append(int(row))
    waiting = sorted(rows, key=lambda key: (len(texts[rows[key][0]]), key))
    chunk = retriever.record.chunk
    for start in range(0, len(waiting), chunk):
        part = waiting[start : start + chunk]
        fresh = retriever.encode([texts[rows[key][0]] for key in part], prefix=prefix)
        if cache:
            cache.put(part, fresh)
        for key, vector in zip(part, fresh, strict=True):
            matrix[rows[key]] = vector
        if progress:
            progress(sum(len(rows[key]) for key in part))
    return Vectors(
        ids=list(ids),
        matrix=matrix,
        text_sha256=[text_sha256(text) for text in texts],
        truncated=retriever.truncated(texts, prefix=prefix),
    )


def readable(text: str) -> str:
    """A text as a tokenizer can take it."""
    # A lone surrogate cannot be encoded for the tokenizer; "?" stands for what was lost.
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def unit(matrix: np.ndarray, record: RetrieverRecord) -> np.ndarray:
    """The same vectors at unit length, float32; zeros stay zeros.

    Raises
    ------
    InputError
        They are not of the record's dimension.
    RetrieverError
        A number is not finite.
    """
    matrix = np.asarray(matrix, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != record.dimension:
        raise InputError(
            f"{record.label} has vectors of {record.dimension} numbers; found an array of shape "
            f"{matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise RetrieverError(f"{record.label} gave vectors that are not finite.")
    # Tang et al., section 2: the norm is clipped at 1e-12.
    result = np.empty_like(matrix, order="C")
    for start in range(0, len(matrix), _SCALED):
        part = slice(start, start + _SCALED)
        norms = np.linalg.norm(matrix[part], axis=1, keepdims=True)
        np.divide(matrix[part], np.maximum(norms, 1e-12), out=result[part])
    return result
