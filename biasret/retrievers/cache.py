"""Vectors on disk, by model and by the SHA-256 of the text that was encoded."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from biasret.retrievers.base import RetrieverRecord

__all__ = ["DiskCache", "GivenFirst"]


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
        self._known: dict[str, np.ndarray] = {}
        self._read: set[str] = set()
        self._lock = threading.Lock()

    def get(self, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """The float32 vectors the cache has among `keys`."""
        with self._lock:
            self._refresh()
            return {key: self._known[key] for key in keys if key in self._known}

    def _refresh(self) -> None:
        for path in sorted(self.folder.glob("*.parquet")):
            if path.name in self._read:
                continue
            try:
                data = pq.ParquetFile(path).read().combine_chunks()
            except (OSError, pa.ArrowException):
                # A damaged file is worth no more than a missing one: its texts are encoded again.
                path.unlink(missing_ok=True)
                continue
            flat = data["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
            matrix = flat.reshape(data.num_rows, -1).astype(np.float32, copy=False)
            if matrix.shape[1] == self._dimension:
                self._known.update(zip(data["key"].to_pylist(), matrix, strict=True))
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

    def put(self, vectors: dict[str, np.ndarray]) -> None:
        """Keep vectors by key; written when this returns."""
        if not vectors:
            return
        keys = list(vectors)
        matrix = np.ascontiguousarray(np.stack([vectors[key] for key in keys]), dtype=np.float32)
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
            self._known.update(zip(keys, matrix, strict=True))
            self._read.add(name)


class GivenFirst:
    """Vectors that were brought for one dataset, before those computed for all.

    What somebody brought must not answer for the same text in another dataset.
    """

    def __init__(self, given: DiskCache, shared: DiskCache) -> None:
        self._given = given
        self._shared = shared

    def get(self, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """The vectors there are among `keys`."""
        found = self._given.get(keys)
        return {**self._shared.get([key for key in keys if key not in found]), **found}

    def put(self, vectors: dict[str, np.ndarray]) -> None:
        """Keep computed vectors, for all datasets."""
        self._shared.put(vectors)
