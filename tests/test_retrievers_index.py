"""Indexes: exact and approximate, kept on disk, and checked when read."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret.errors import InputError, StoreError
from biasret.precomputed import Folder
from biasret.retrievers import RETRIEVERS
from biasret.retrievers.dense import Dense
from biasret.retrievers.index import INDEX_KINDS, make_index, recall

N = 12_000
RECORD = dataclasses.replace(RETRIEVERS["minilm-l6"], dimension=32)


def no_model() -> object:
    raise AssertionError("no text is encoded here")


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((200, 32))
    rows = centres[rng.integers(0, 200, N)] + 0.6 * rng.standard_normal((N, 32))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def queries(matrix: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(4)
    rows = matrix[rng.integers(0, N, 50)] + 0.1 * rng.standard_normal((50, 32))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def documents() -> pd.DataFrame:
    return pd.DataFrame({"doc_id": [f"{i:05d}" for i in range(N)], "text": "x"})


@pytest.fixture(scope="module", params=list(INDEX_KINDS))
def indexed(request: pytest.FixtureRequest, matrix: np.ndarray, documents: pd.DataFrame) -> Dense:
    retriever = Dense(RECORD, no_model)  # type: ignore[arg-type]
    retriever.index(documents, vectors=matrix, kind=request.param)
    return retriever


#: Least recall@10 against flat on these vectors. IVF-PQ stores 4 bytes for 32 numbers.
LEAST = {"flat": 1.0, "hnsw": 0.95, "ivfpq": 0.8}


def test_recall_against_flat_is_measured(indexed: Dense, queries: np.ndarray) -> None:
    found = recall(indexed.vector_index, queries, k=10)
    assert LEAST[found.kind] <= found.recall <= 1.0
    assert (found.n_queries, found.n_documents, found.k) == (50, N, 10)
    assert f"recall@10 {found.recall:.3f} against flat (50 queries, 12,000 documents" in str(found)


def test_recall_is_worked_out_by_hand() -> None:
    matrix = np.eye(4, dtype=np.float32)

    class Half:
        kind, is_exact, candidates = "half", False, 1

        def __init__(self) -> None:
            self.matrix = matrix

        def nearest(self, vectors: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros((1, 2)), np.array([[0, -1]])

        def write(self, folder: Path) -> None:
            raise AssertionError

    query = np.array([[0.9, 0.4, 0.1, 0.0]], dtype=np.float32)
    assert recall(Half(), query, k=2).recall == 0.5


def test_scores_are_exact_whatever_the_index(indexed: Dense, queries: np.ndarray) -> None:
    full = indexed.scores_of(queries[:8])
    at = {doc_id: i for i, doc_id in enumerate(indexed.doc_ids)}
    for row, ranking in zip(full, indexed.search_vectors(queries[:8], k=10), strict=True):
        assert len(ranking.doc_ids) == 10
        assert ranking.scores.tolist() == [row[at[doc_id]] for doc_id in ranking.doc_ids]
        assert sorted(ranking.scores, reverse=True) == ranking.scores.tolist()


def test_exclusion_still_fills_k(indexed: Dense, queries: np.ndarray) -> None:
    first = indexed.search_vectors(queries[:1], k=30)[0].doc_ids
    without = indexed.search_vectors(queries[:1], k=10, exclude=[first])[0]
    assert len(without.doc_ids) == 10
    assert set(without.doc_ids).isdisjoint(first)


def test_an_index_survives_the_disk_and_is_mapped(
    indexed: Dense, queries: np.ndarray, tmp_path: Path
) -> None:
    before = indexed.search_vectors(queries, k=10)
    indexed.save_index(tmp_path / "index")
    again = Dense(RECORD, no_model)  # type: ignore[arg-type]
    again.open_index(tmp_path / "index", doc_ids=indexed.doc_ids[::-1].tolist())
    assert isinstance(again.matrix, np.memmap)
    assert again.vector_index.kind == indexed.vector_index.kind
    after = again.search_vectors(queries, k=10)
    assert [r.doc_ids for r in after] == [r.doc_ids for r in before]
    # Saving once more replaces it, and leaves nothing beside it.
    again.save_index(tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_odd_ids_survive_the_disk(tmp_path: Path) -> None:
    ids = ["https://x/y?a=1&b=2#c", "a/b", "a b", "ä😀", "007", ""]
    retriever = Dense(RECORD, no_model)  # type: ignore[arg-type]
    vectors = np.random.default_rng(0).standard_normal((6, 32)).astype(np.float32)
    frame = pd.DataFrame({"doc_id": ids, "text": "x"})
    retriever.index(frame, vectors=vectors)
    retriever.save_index(tmp_path / "i")
    again = Dense(RECORD, no_model)  # type: ignore[arg-type]
    again.open_index(tmp_path / "i", doc_ids=ids)
    assert again.doc_ids.tolist() == sorted(ids)


def edited(folder: Path, **changes: object) -> None:
    path = folder / "index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    retriever = Dense(RECORD, no_model)  # type: ignore[arg-type]
    frame = pd.DataFrame({"doc_id": ["a", "b", "c"], "text": "x"})
    retriever.index(frame, vectors=np.eye(3, 32, dtype=np.float32))
    retriever.save_index(tmp_path / "kept")
    return tmp_path / "kept"


def open_with(folder: Path, doc_ids: list[str] | None = None, **changes: object) -> None:
    record = dataclasses.replace(RECORD, **changes)  # type: ignore[arg-type]
    Dense(record, no_model).open_index(folder, doc_ids=doc_ids)  # type: ignore[arg-type]


def test_an_index_of_something_else_is_refused(kept: Path) -> None:
    open_with(kept, ["c", "a", "b"])
    with pytest.raises(StoreError, match=r"was made with .*MiniLM.*, or other settings"):
        open_with(kept, checkpoint="other")
    with pytest.raises(StoreError, match="was made with"):
        open_with(kept, document_prefix="passage: ")
    with pytest.raises(StoreError, match="vectors of 32 numbers; MiniLM-L6 has 64"):
        open_with(kept, dimension=64)
    with pytest.raises(StoreError, match="3 documents that are not the 2 of this corpus"):
        open_with(kept, ["a", "b"])
    with pytest.raises(StoreError, match="not the 3 of this corpus"):
        open_with(kept, ["a", "b", "d"])


def test_a_damaged_index_is_refused(kept: Path) -> None:
    np.save(kept / "vectors.npy", np.eye(2, 32, dtype=np.float32))
    with pytest.raises(StoreError, match="says 3 documents but holds 2 vectors and 3 ids"):
        open_with(kept)
    np.save(kept / "vectors.npy", np.eye(3, 32))
    with pytest.raises(StoreError, match="float64, not float32"):
        open_with(kept)
    (kept / "vectors.npy").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be read"):
        open_with(kept)
    edited(kept, format=99)
    with pytest.raises(StoreError, match=r"cannot be read|another format"):
        open_with(kept)
    with pytest.raises(StoreError, match="cannot be read"):
        open_with(kept.parent / "none")


def test_ids_that_were_changed_are_noticed(kept: Path) -> None:
    (kept / "ids.json").write_text('["a", "b", "z"]')
    with pytest.raises(StoreError, match="3 ids"):
        open_with(kept)


def test_ivfpq_says_when_there_are_too_few_documents(matrix: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"at least 9,984 documents.*found 500"):
        make_index(matrix[:500], kind="ivfpq")
    with pytest.raises(InputError, match="Unknown kind of index 'tree'; there are flat, hnsw"):
        make_index(matrix, kind="tree")


@pytest.mark.parametrize("kind", list(INDEX_KINDS))
def test_a_kept_index_is_used_while_it_is_theirs(
    kind: str, matrix: np.ndarray, queries: np.ndarray, documents: pd.DataFrame, tmp_path: Path
) -> None:
    def made(vectors: np.ndarray, frame: pd.DataFrame = documents, **changes: object) -> Dense:
        record = dataclasses.replace(RECORD, **changes)  # type: ignore[arg-type]
        retriever = Dense(record, no_model)  # type: ignore[arg-type]
        retriever.index_kept(frame, vectors=vectors, kind=kind, folder=tmp_path / "kept")
        assert retriever.vector_index.kind == kind
        return retriever

    def written() -> int | None:
        path = tmp_path / "kept" / "index.json"
        return path.stat().st_ino if path.exists() else None

    first = made(matrix)
    before = written()
    assert (before is None) == (kind == "flat")
    again = made(matrix)
    assert written() == before
    found, expected = (r.search_vectors(queries, k=10) for r in (again, first))
    assert [r.doc_ids for r in found] == [r.doc_ids for r in expected]
    if kind == "flat":
        return
    # Other vectors of the same documents, other documents, another checkpoint, damage.
    turned = made(matrix[::-1])
    assert written() != before
    assert turned.matrix == pytest.approx(matrix[::-1], abs=1e-6)
    for change in (
        lambda: made(matrix[1:], documents.iloc[1:]),
        lambda: made(matrix, checkpoint="another"),
        lambda: (tmp_path / "kept" / "vectors.npy").write_bytes(b"x") and made(matrix),
    ):
        before = written()
        change()
        assert written() != before


def test_indexes_go_with_their_dataset(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    kept = [folder.index_folder(name, "words", "hnsw") for name in ("a", "a-b", "[a]")]
    for path in kept:
        path.mkdir(parents=True)
    folder.remove("a")
    assert [path.exists() for path in kept] == [False, True, True]
