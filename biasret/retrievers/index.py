"""Vector indexes: exact by default, approximate by choice, kept on disk and memory-mapped.

An index only proposes candidates. `Dense` scores them again from the vectors themselves,
so that scores and their order do not depend on the kind of index or on how a library
splits a matrix product.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from biasret.errors import InputError, StoreError
from biasret.retrievers.base import RetrieverRecord
from biasret.runtime import cpu_count, prepare

__all__ = [
    "INDEX_KINDS",
    "Index",
    "IndexRecall",
    "StoredIndex",
    "make_index",
    "open_index",
    "recall",
    "save_index",
]

#: Changes when files written earlier can no longer be read.
FORMAT = 1


class Index(Protocol):
    """Proposes the vectors nearest to a query."""

    kind: str
    is_exact: bool
    #: Candidates to ask for, for each document wanted: they are scored again exactly.
    candidates: int
    matrix: np.ndarray

    def nearest(self, vectors: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """Inner products and positions, each of shape (n_queries, depth), best first.

        A position of -1 means that fewer than `depth` were found.
        """

    def write(self, folder: Path) -> None:
        """Keep what is not in the vectors themselves."""


class Flat:
    """Exact search with FAISS over the vectors as they lie, in memory or in a file."""

    kind = "flat"
    is_exact = True
    candidates = 1

    def __init__(self, matrix: np.ndarray, _folder: Path | None = None) -> None:
        prepare()
        self.matrix = matrix

    def nearest(self, vectors: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """As in `Index`; complete."""
        import faiss

        return faiss.knn(vectors, self.matrix, depth, metric=faiss.METRIC_INNER_PRODUCT)

    def write(self, folder: Path) -> None:
        """Nothing but the vectors is needed."""


class _Approximate:
    """What the FAISS indexes that may miss a neighbour have in common."""

    kind = ""
    is_exact = False
    candidates = 2

    def __init__(self, matrix: np.ndarray, folder: Path | None = None) -> None:
        prepare()
        import faiss

        self.matrix = matrix
        faiss.omp_set_num_threads(cpu_count())
        if folder is None:
            self._index = self._built(matrix)
        else:
            path = folder / "index.faiss"
            try:
                # Mapped where FAISS can map this kind; read whole where it cannot.
                self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
            except RuntimeError as error:
                raise StoreError(
                    f"The index {path} cannot be read; delete {folder} and make it again."
                ) from error

    def _built(self, matrix: np.ndarray) -> Any:
        raise NotImplementedError

    def nearest(self, vectors: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """As in `Index`; a neighbour may be missing."""
        return self._index.search(vectors, depth, params=self._parameters(depth))

    def _parameters(self, depth: int) -> Any:
        raise NotImplementedError

    def write(self, folder: Path) -> None:
        """Keep the graph or the codes."""
        import faiss

        faiss.write_index(self._index, str(folder / "index.faiss"))


class HNSW(_Approximate):
    """A graph of neighbours: fast, more memory, high recall; for some 100,000 and more."""

    kind = "hnsw"
    n_links = 32

    def _built(self, matrix: np.ndarray) -> Any:
        import faiss

        index = faiss.IndexHNSWFlat(matrix.shape[1], self.n_links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 200
        index.add(matrix)
        return index

    def _parameters(self, depth: int) -> Any:
        import faiss

        library: Any = faiss  # its type stubs do not know all parameters
        return library.SearchParametersHNSW(efSearch=max(128, 2 * depth))


class IVFPQ(_Approximate):
    """Clusters with compressed vectors: least memory, lower recall; for millions."""

    kind = "ivfpq"
    candidates = 16
    #: FAISS asks for this many training vectors per centroid.
    per_centroid = 39
    n_bits = 8

    def _built(self, matrix: np.ndarray) -> Any:
        import faiss

        n, dimension = matrix.shape
        least = self.per_centroid * 2**self.n_bits
        if n < least:
            raise InputError(
                f"An IVF-PQ index needs at least {least:,} documents to learn its codes; found "
                f"{n:,}. Use the kind 'flat' or 'hnsw'."
            )
        n_lists = int(min(4 * np.sqrt(n), n / self.per_centroid))
        # "np": no polysemous training, which would take most of the time and is not used.
        # Codes of about 8 dimensions each; the number must divide the dimension.
        n_codes = next(m for m in range(max(1, dimension // 8), 0, -1) if dimension % m == 0)
        index = faiss.index_factory(
            dimension, f"IVF{n_lists},PQ{n_codes}x{self.n_bits}np", faiss.METRIC_INNER_PRODUCT
        )
        index.train(matrix)
        index.add(matrix)
        return index

    def _parameters(self, depth: int) -> Any:
        import faiss

        library: Any = faiss
        return library.SearchParametersIVF(nprobe=max(16, self._index.nlist // 8))


INDEX_KINDS: dict[str, Callable[[np.ndarray, Path | None], Index]] = {
    "flat": Flat,
    "hnsw": HNSW,
    "ivfpq": IVFPQ,
}


def make_index(matrix: np.ndarray, *, kind: str = "flat") -> Index:
    """An index over unit vectors.

    Parameters
    ----------
    matrix : float32, shape (n, dimension), n at least 1
    kind
        ``"flat"`` (exact), ``"hnsw"`` or ``"ivfpq"``.
    """
    return _kind(kind)(matrix, None)


def _kind(kind: str) -> Callable[[np.ndarray, Path | None], Index]:
    if kind not in INDEX_KINDS:
        raise InputError(f"Unknown kind of index {kind!r}; there are {', '.join(INDEX_KINDS)}.")
    return INDEX_KINDS[kind]


# -- recall ------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndexRecall:
    """How much of the exact result an approximate index finds.

    Attributes
    ----------
    recall : mean over queries of the share of the exact first `k` among the candidates that
        a search for `k` scores again, 0 to 1
    n_queries, n_documents : what it was measured on
    milliseconds, milliseconds_exact : per query, wall time
    """

    kind: str
    k: int
    recall: float
    n_queries: int
    n_documents: int
    milliseconds: float
    milliseconds_exact: float

    def __str__(self) -> str:
        return (
            f"{self.kind}: recall@{self.k} {self.recall:.3f} against flat "
            f"({self.n_queries:,} queries, {self.n_documents:,} documents; "
            f"{self.milliseconds:.2f} ms a query instead of {self.milliseconds_exact:.2f} ms)"
        )


def recall(index: Index, queries: np.ndarray, *, k: int = 10) -> IndexRecall:
    """Recall@k of an index against exact search over the same vectors.

    Parameters
    ----------
    queries : float32, shape (n, dimension), n at least 1
    """
    k = min(k, len(index.matrix))
    started = perf_counter()
    _, exact = Flat(index.matrix).nearest(queries, k)
    between = perf_counter()
    _, found = index.nearest(queries, min(index.candidates * k, len(index.matrix)))
    ended = perf_counter()
    shared = [len(np.intersect1d(a, b)) for a, b in zip(exact, found, strict=True)]
    n = len(queries)
    return IndexRecall(
        kind=index.kind,
        k=k,
        recall=float(np.mean(shared)) / k,
        n_queries=n,
        n_documents=len(index.matrix),
        milliseconds=(ended - between) * 1000 / n,
        milliseconds_exact=(between - started) * 1000 / n,
    )


# -- at rest -----------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredIndex:
    """An index read from a folder, and the documents its positions stand for."""

    index: Index
    doc_ids: np.ndarray


def save_index(
    folder: Path, index: Index, *, record: RetrieverRecord, doc_ids: Sequence[str]
) -> None:
    """Write an index beside and put it in place in one step, replacing an older one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".part", dir=folder.parent))
    try:
        np.save(beside / "vectors.npy", index.matrix, allow_pickle=False)
        index.write(beside)
        ids = json.dumps(list(doc_ids))
        (beside / "ids.json").write_text(ids, encoding="utf-8")
        described = {
            "format": FORMAT,
            "kind": index.kind,
            "n": len(index.matrix),
            "dimension": int(index.matrix.shape[1]),
            "checkpoint": _checkpoint(record),
            "ids_sha256": hashlib.sha256(ids.encode()).hexdigest(),
        }
        (beside / "index.json").write_text(json.dumps(described, indent=1), encoding="utf-8")
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        if folder.exists():
            folder.replace(old)
        beside.chmod(0o755)  # a temporary folder is its maker's alone
        beside.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def open_index(
    folder: Path, *, record: RetrieverRecord, doc_ids: Sequence[str] | None = None
) -> StoredIndex:
    """Read an index; its vectors are mapped into memory, not copied.

    Parameters
    ----------
    doc_ids
        Ids of the documents it should hold, in order of doc_id; not compared when None.

    Raises
    ------
    StoreError
        It is missing or damaged, or was made from another checkpoint, dimension or corpus.
    """
    again = f"delete {folder} and make it again"
    try:
        described = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        raw_ids = (folder / "ids.json").read_text(encoding="utf-8")
        matrix = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        ids = json.loads(raw_ids)
    except (OSError, ValueError, EOFError) as error:
        raise StoreError(f"The index in {folder} cannot be read ({error}); {again}.") from error
    if described.get("format") != FORMAT:
        raise StoreError(f"The index in {folder} has another format; {again}.")
    if described["checkpoint"] != _checkpoint(record):
        raise StoreError(
            f"The index in {folder} was made with {described['checkpoint'][0]!r}, revision "
            f"{described['checkpoint'][1]!r}, or other settings of it, not with those of "
            f"{record.label}; {again}."
        )
    if described["dimension"] != record.dimension or matrix.shape[1] != record.dimension:
        raise StoreError(
            f"The index in {folder} has vectors of {matrix.shape[1]} numbers; {record.label} has "
            f"{record.dimension}. Please {again}."
        )
    if matrix.dtype != np.float32:
        raise StoreError(f"The vectors in {folder} are {matrix.dtype}, not float32; {again}.")
    is_whole = hashlib.sha256(raw_ids.encode()).hexdigest() == described["ids_sha256"]
    if not is_whole or not len(matrix) == len(ids) == described["n"]:
        raise StoreError(
            f"The index in {folder} says {described['n']:,} documents but holds {len(matrix):,} "
            f"vectors and {len(ids):,} ids; {again}."
        )
    if doc_ids is not None and list(doc_ids) != ids:
        raise StoreError(
            f"The index in {folder} holds {len(ids):,} documents that are not the "
            f"{len(doc_ids):,} of this corpus; {again}."
        )
    index = _kind(described["kind"])(matrix, folder)
    return StoredIndex(index, np.array(ids, dtype=object))


def _checkpoint(record: RetrieverRecord) -> list[object]:
    return [
        record.checkpoint,
        record.revision,
        record.document_prompt or record.document_prefix,
        record.pooling,
        record.max_tokens,
        record.dtype,
    ]
