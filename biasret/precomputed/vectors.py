"""Embeddings of one dataset and retriever: in memory one matrix, at rest one row for each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from biasret.errors import StoreError
from biasret.precomputed import parquet
from biasret.tables import TABLES

__all__ = ["Vectors", "arrow", "read_vectors", "text_sha256"]

#: Vectors read from a file at a time.
_AT_A_TIME = 8_192


def text_sha256(text: str) -> str:
    """Hex SHA-256 of a text's UTF-8 bytes; lone surrogates count as themselves."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Vectors:
    """Embeddings of the documents or queries of a dataset.

    Kept as one matrix and not as a frame: a frame of 37,463 lists is slow and large.

    Attributes
    ----------
    ids : list of str, length n
    matrix : float32, shape (n, dimension), rows of unit length
    text_sha256 : list of str, length n
    truncated : bool, shape (n,)
        Whether the text was longer than the model reads.
    """

    ids: list[str]
    matrix: np.ndarray
    text_sha256: list[str]
    truncated: np.ndarray

    def fitting(
        self, ids: Sequence[str], texts: Sequence[str], *, what: str = "documents"
    ) -> np.ndarray:
        """The vectors of these texts, row for row; the matrix itself where that is in order.

        Parameters
        ----------
        ids, texts
            Of the same length.
        what
            What the texts are, for the error.

        Raises
        ------
        StoreError
            A text has no vector, or is not the one that was encoded.
        """
        order = pd.Index(self.ids).get_indexer(pd.Index(ids))
        known = np.array([*self.text_sha256, ""], dtype=object)[order]
        found = np.array([text_sha256(text) for text in texts], dtype=object)
        n_wrong = int(((order < 0) | (known != found)).sum())
        if n_wrong:
            raise StoreError(
                f"{n_wrong:,} of {len(found):,} {what} have no vector or have changed since they "
                "were encoded; run `python -m biasret build`."
            )
        if len(order) == len(self.ids) and (order == np.arange(len(order))).all():
            return self.matrix
        return self.matrix[order]


def arrow(kinds: Mapping[str, Vectors], *, dataset: str, retriever: str) -> pa.Table:
    """Rows of ``embeddings`` from vectors by kind."""
    parts = []
    for kind, vectors in kinds.items():
        n, dimension = vectors.matrix.shape
        flat = pa.array(np.ascontiguousarray(vectors.matrix, dtype=np.float32).ravel())
        offsets = pa.array(np.arange(n + 1, dtype=np.int32) * dimension)
        parts.append(
            pa.table(
                {
                    "dataset": pa.array([dataset] * n, pa.string()),
                    "retriever": pa.array([retriever] * n, pa.string()),
                    "kind": pa.array([kind] * n, pa.string()),
                    "id": pa.array(vectors.ids, pa.string()),
                    "vector": pa.ListArray.from_arrays(offsets, flat),
                    "text_sha256": pa.array(vectors.text_sha256, pa.string()),
                    "truncated": pa.array(vectors.truncated, pa.bool_()),
                }
            )
        )
    schema = parquet.schema(TABLES["embeddings"])
    return pa.concat_tables(part.cast(schema) for part in parts)


def read_vectors(path: Path, kind: str) -> Vectors:
    """The vectors of one kind in a file of ``embeddings``."""
    with parquet.reading(path):
        file = pq.ParquetFile(path)
        kinds = file.read(columns=["kind"])["kind"]
        n = pa.compute.sum(pa.compute.equal(kinds, kind)).as_py() or 0
        parts: dict[str, list[Any]] = {"id": [], "text_sha256": [], "truncated": []}
        matrix = np.zeros((0, 0), dtype=np.float32)
        at = 0
        # Part by part into one matrix: the whole table beside it would double the memory.
        for batch in file.iter_batches(_AT_A_TIME, columns=["kind", "vector", *parts]):
            part = batch.filter(pa.compute.equal(batch["kind"], kind))
            if part.num_rows == 0:
                continue
            flat = part["vector"].flatten().to_numpy(zero_copy_only=False)
            rows = flat.reshape(part.num_rows, -1)
            if at == 0:
                matrix = np.empty((n, rows.shape[1]), dtype=np.float32)
            matrix[at : at + len(rows)] = rows
            at += len(rows)
            for name, values in parts.items():
                values.extend(part[name].to_pylist())
    return Vectors(
        ids=parts["id"],
        matrix=matrix,
        text_sha256=parts["text_sha256"],
        truncated=np.array(parts["truncated"], dtype=bool),
    )
