"""Vectors on disk, by model and by the SHA-256 of the text that was encoded."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from biasret.retrievers.base import RetrieverRecord

__all__ = ["Cache", "DiskCache", "Filling", "GivenFirst", "Kept"]


class Filling(Protocol):
    """Vectors by key, of which rows of a matrix are filled."""

    def fill(self, keys: Sequence[str], out: np.ndarray) -> np.ndarray:
        """Copy the vectors it has into rows of `out`; bool by row, whether it was filled."""


class Cache(Filling, Protocol):
    """One that keeps vectors, too; keys are the SHA-256 of what was encoded, prefix included."""

    def put(self, keys: Sequence[str], vectors: np.ndarray) -> None:
        """Keep these, row for row, for good before returning."""


class DiskCache:
    """Vectors of one model, in Parquet files that are only ever added.

    Each `put` is one file, written beside and renamed, so that a build that is killed
    loses at most what it was encoding. Two processes may add at once.

    Parameters
    ----------
    root
        Folder of all caches.
    record
        Checkpoint, revision, pooling, length and type of the model name the cache; the
        prefix is part of the text that is hashed.
    """

    def __init__(self, root: Path, record: RetrieverRecord) -> None:
        named = json.dumps(
            [
                record.kind,
                record.checkpoint,
                record.revision,
                record.pooling,
                record.max_tokens,
                record.dtype,
                record.dimension,
                [list(option) for option in record.options],
            ]
        )
        digest = hashlib.sha256(named.encode()).hexdigest()[:16]
        self.folder = root / f"{record.cache_name or record.name}-{digest}"
        self._dimension = record.dimension
        # Where each vector lies: its file and its row there. The vectors stay on disk.
        self._places: dict[str, tuple[str, int]] = {}
        self._read: set[str] = set()
        self._lock = threading.Lock()

    def fill(self, keys: Sequence[str], out: np.ndarray) -> np.ndarray:
        """Copy the vectors the cache has into rows of a matrix.

        Parameters
        ----------
        out : float32, shape (n, dimension)
            Row for row of `keys`; rows whose vector is not there are left as they are.

        Returns
        -------
        bool, shape (n,)
            Which rows were filled.
        """
        filled = np.zeros(len(keys), dtype=bool)
        with self._lock:
            self._refresh()
            wanted: dict[str, list[tuple[int, int]]] = {}
            for row, key in enumerate(keys):
                if key in self._places:
                    name, at = self._places[key]
                    wanted.setdefault(name, []).append((row, at))
            for name, pairs in wanted.items():
                matrix = self._matrix(self.folder / name)
                if matrix is None:
                    continue
                rows, at_rows = (list(part) for part in zip(*pairs, strict=True))
                out[rows] = matrix[at_rows]
                filled[rows] = True
        return filled

    def _refresh(self) -> None:
        for path in sorted(self.folder.glob("*.parquet")):
            if path.name in self._read:
                continue
            try:
                keys = pq.ParquetFile(path).read(columns=["key"])["key"].to_pylist()
            except (OSError, pa.ArrowException):
                self._forget(path)
                continue
            self._places.update((key, (path.name, row)) for row, key in enumerate(keys))
            self._read.add(path.name)

    def content(self) -> str | None:
        """SHA-256 of all that is kept; None where nothing is."""
        files = sorted(self.folder.glob("*.parquet"))
        if not files:
            return None
        seen = hashlib.sha256()
        for path in files:
            seen.update(path.name.encode())
            seen.update(path.read_bytes())
        return seen.hexdigest()

    def _matrix(self, path: Path) -> np.ndarray | None:
        """The vectors of one file; None where it is damaged or holds others."""
        try:
            vectors = pq.ParquetFile(path).read(columns=["vector"])["vector"].combine_chunks()
        except (OSError, pa.ArrowException):
            self._forget(path)
            return None
        matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(len(vectors), -1)
        return matrix if matrix.shape[1] == self._dimension else None

    def _forget(self, path: Path) -> None:
        # A damaged file is worth no more than a missing one: its texts are encoded again.
        path.unlink(missing_ok=True)
        self._read.discard(path.name)
        self._places = {k: place for k, place in self._places.items() if place[0] != path.name}

    def put(self, keys: Sequence[str], vectors: np.ndarray) -> None:
        """Keep vectors by key, row for row; written when this returns."""
        if not len(keys):
            return
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        offsets = pa.array(np.arange(len(keys) + 1, dtype=np.int32) * matrix.shape[1])
        data = pa.table(
            {
                "key": pa.array(keys, pa.string()),
                "vector": pa.ListArray.from_arrays(offsets, pa.array(matrix.ravel())),
            }
        )
        name = hashlib.sha256("".join(keys).encode()).hexdigest()[:24] + ".parquet"
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.folder / f".{name}.{os.getpid()}.part"
        pq.write_table(data, beside, compression="zstd")
        beside.replace(self.folder / name)
        with self._lock:
            self._places.update((key, (name, row)) for row, key in enumerate(keys))
            self._read.add(name)


class Kept:
    """Vectors in memory, such as those a dataset has already."""

    def __init__(self, rows: dict[str, int], matrix: np.ndarray) -> None:
        self._rows, self._matrix = rows, matrix

    def fill(self, keys: Sequence[str], out: np.ndarray) -> np.ndarray:
        """As in `DiskCache`."""
        filled = np.array([key in self._rows for key in keys], dtype=bool)
        if not filled.any():
            return filled
        out[filled] = self._matrix[[self._rows[key] for key in keys if key in self._rows]]
        return filled


class GivenFirst:
    """Vectors of one dataset, before those computed for all.

    What somebody brought must not answer for the same text in another dataset.
    """

    def __init__(self, given: Filling, shared: Cache) -> None:
        self._given = given
        self._shared = shared

    def fill(self, keys: Sequence[str], out: np.ndarray) -> np.ndarray:
        """As in `DiskCache`; the dataset's own replace the others."""
        filled = self._shared.fill(keys, out)
        return filled | self._given.fill(keys, out)

    def put(self, keys: Sequence[str], vectors: np.ndarray) -> None:
        """Keep computed vectors, for all datasets."""
        self._shared.put(keys, vectors)
