"""What every retriever promises, tried on every one that is available here."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from biasret.errors import InputError, RetrieverError
from biasret.precomputed import default_folder
from biasret.retrievers import RETRIEVERS, Retriever, available, load
from biasret.retrievers.base import Ranking, RetrieverRecord, mask, rank_all
from biasret.retrievers.dense import Dense

# Models made on first use are kept where `build` keeps them, so that they are made once.
MODELS = default_folder() / "models"

TEXTS = {
    "https://x/y?a=1&b=2#c": "The senate passed a tax bill after a long night of votes.",
    "a/b": "A doctor explains why rest and water help with a common cold.",
    "a b": "Smoke from the wildfire drifted over the valley for a third day.",
    "ä": "The museum reopened its hall of dinosaurs to school classes.",
    "Z": "Farmers worry that the drought will ruin the wheat harvest.",
    "z": "The court will hear the case on voting maps in the spring.",
    "007": "A new train line links the airport with the old harbour.",
    "NA": "Engineers tested the rocket engine at full power for a minute.",
    "=1+1": "The bakery on the corner sells out of rye bread by nine.",
    "--": "Researchers mapped the genome of a deep sea squid.",
    "blank": "   ",
    "empty": "",
}
QUERIES = [
    "senate tax bill vote",
    "what helps against a cold?",
    "wildfire smoke in the valley",
    "dinosaurs at the museum for school classes",
]
HOSTILE = {
    "empty": "",
    "blank": " \t\n ",
    "unknown word": "qzxjvwq",
    "stop words": "the of and to a",
    "10,000 characters": "why does it hurt " * 600,
    "one long word": "x" * 10_000,
    "emoji": "😀🇩🇪👩‍👩‍👧",
    "right to left": "\u202eمرحبا بالعالم",
    "lone surrogate": "tax \ud800 bill",
    "NUL": "tax\0bill",
    "combining": "e" + "\u0301" * 500,
}


def documents_of(texts: dict[str, str]) -> pd.DataFrame:
    # Columns of objects: pandas' own text columns cannot hold a lone surrogate.
    return pd.DataFrame({"doc_id": list(texts), "text": list(texts.values())}, dtype=object)


#: Those that work offline, and those whose weights happen to lie in the hub's cache. A paid
#: service is never asked.
TRIED = [
    name
    for name, record in RETRIEVERS.items()
    if record.is_offline or (record.in_hub and available(record).is_available)
]


@pytest.fixture(scope="module", params=TRIED)
def made(request: pytest.FixtureRequest) -> Retriever:
    """One of the catalogue, its model loaded; each test indexes its own documents."""
    state = available(RETRIEVERS[request.param])
    if not state.is_available:
        pytest.skip(state.reason)
    return load(request.param, models=MODELS)


VECTORS: dict[str, np.ndarray] = {}


@pytest.fixture
def retriever(made: Retriever) -> Retriever:
    """With `TEXTS` indexed; their vectors are computed once."""
    if isinstance(made, Dense):
        name = made.record.name
        if name not in VECTORS:
            VECTORS[name] = made.encode_documents(list(TEXTS.values()))
        made.index(documents_of(TEXTS), vectors=VECTORS[name])
    else:
        made.index(documents_of(TEXTS))
    return made


def check(ranking: Ranking, retriever: Retriever, k: int) -> None:
    """What holds of every ranking, whatever was asked."""
    known = retriever.doc_ids.tolist()
    assert len(ranking.doc_ids) == len(ranking.scores) <= k
    assert set(ranking.doc_ids) <= set(known)
    assert len(set(ranking.doc_ids)) == len(ranking.doc_ids)
    assert ranking.scores.dtype == np.float32
    assert np.isfinite(ranking.scores).all()
    keys = [(-s, d) for s, d in zip(ranking.scores.tolist(), ranking.doc_ids, strict=True)]
    assert keys == sorted(keys)


def test_the_right_document_comes_first(retriever: Retriever) -> None:
    found = [ranking.doc_ids[0] for ranking in retriever.search(QUERIES, k=3)]
    assert found == ["https://x/y?a=1&b=2#c", "a/b", "a b", "ä"]


@pytest.mark.parametrize("name", list(HOSTILE))
def test_any_text_can_be_asked(retriever: Retriever, name: str) -> None:
    text = HOSTILE[name]
    check(retriever.search([text], k=5)[0], retriever, 5)
    row = retriever.scores([text])[0]
    assert np.isfinite(row).all()
    floor = 0.0 if retriever.record.is_lexical else -np.inf
    check(rank_all(row, retriever.doc_ids, k=100, floor=floor), retriever, 100)
    assert retriever.count_tokens([text])[0] >= 0


def test_hostile_texts_can_be_indexed(made: Retriever) -> None:
    texts = {**HOSTILE, "plain": "The senate passed a tax bill after a long night of votes."}
    texts["10,000 characters"] = texts["10,000 characters"][:2_000]
    made.index(documents_of(texts))
    ranking = made.search(["senate votes on a tax bill"], k=20)[0]
    check(ranking, made, 20)
    assert "plain" in ranking.doc_ids[:3]


def test_k_above_the_corpus_gives_what_there_is(retriever: Retriever) -> None:
    ranking = retriever.search([QUERIES[0]], k=10_000)[0]
    check(ranking, retriever, len(TEXTS))
    assert not ranking.is_tied_at_cut
    if not retriever.record.is_lexical:
        assert len(ranking.doc_ids) == len(TEXTS)


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(retriever: Retriever, k: int) -> None:
    with pytest.raises(InputError, match=f"k must be at least 1; found {k}"):
        retriever.search(QUERIES, k=k)


def test_no_query_gives_no_ranking(retriever: Retriever) -> None:
    assert retriever.search([], k=3) == []
    assert retriever.count_tokens([]).shape == (0,)


def test_an_empty_corpus_is_refused(made: Retriever) -> None:
    with pytest.raises(InputError, match="no documents"):
        made.index(documents_of({}))
    with pytest.raises(InputError, match="blank"):
        made.index(documents_of({"a": "", "b": "  "}))


def test_one_document(made: Retriever) -> None:
    made.index(documents_of({"only": "The senate passed a tax bill."}))
    ranking = made.search(["tax bill"], k=10)[0]
    check(ranking, made, 1)
    # In rank_bm25's Okapi every word of a one-document corpus weighs less than nothing.
    weighs_nothing = ("method", "okapi") in made.record.options
    assert ranking.doc_ids == ([] if weighs_nothing else ["only"])


def test_duplicate_ids_are_refused(made: Retriever) -> None:
    frame = pd.DataFrame({"doc_id": ["a", "a"], "text": ["tax", "bill"]})
    with pytest.raises(InputError, match="more than once"):
        made.index(frame)


def test_equal_documents_are_ranked_by_id_and_the_tie_is_told(made: Retriever) -> None:
    ids = [f"d{i:02d}" for i in range(12)]
    random.Random(5).shuffle(ids)
    others = {f"x{i:02d}": f"Bread {i}." for i in range(30)}
    same = dict.fromkeys(ids, "The senate passed a tax bill.")
    made.index(documents_of({**others, **same}))
    for k in (1, 5, 11):
        ranking = made.search(["senate tax bill"], k=k)[0]
        assert ranking.doc_ids == sorted(ids)[:k]
        assert ranking.is_tied_at_cut
    ranking = made.search(["senate tax bill"], k=12)[0]
    assert ranking.doc_ids == sorted(ids)
    assert not ranking.is_tied_at_cut


def test_the_order_of_documents_does_not_matter(made: Retriever) -> None:
    rows = documents_of(dict(list(TEXTS.items())[:6]))
    made.index(rows)
    first = made.search(QUERIES, k=6)
    for seed in range(2):
        made.index(rows.sample(frac=1, random_state=seed))
        again = made.search(QUERIES, k=6)
        assert [r.doc_ids for r in again] == [r.doc_ids for r in first]
        for a, b in zip(first, again, strict=True):
            np.testing.assert_allclose(a.scores, b.scores, atol=2e-6)


def test_search_equals_the_full_score_matrix(retriever: Retriever) -> None:
    floor = 0.0 if retriever.record.is_lexical else -np.inf
    out = ["a/b", "z", "not there"]
    for query, row in zip(QUERIES, retriever.scores(QUERIES), strict=True):
        for k in (1, 4, 50):
            searched = retriever.search([query], k=k, exclude=[out])[0]
            ranked = rank_all(row, retriever.doc_ids, k=k, exclude=out, floor=floor)
            assert searched.doc_ids == ranked.doc_ids
            assert searched.is_tied_at_cut == ranked.is_tied_at_cut
            np.testing.assert_allclose(searched.scores, ranked.scores, atol=2e-6)
            assert set(out).isdisjoint(searched.doc_ids)


def test_everything_can_be_excluded(retriever: Retriever) -> None:
    assert retriever.search([QUERIES[0]], k=3, exclude=[list(TEXTS)])[0].is_empty
    with pytest.raises(InputError, match="1 lists"):
        retriever.search(QUERIES, k=3, exclude=[[]])
    row = retriever.scores([QUERIES[0]])[0]
    assert (mask(row, retriever.doc_ids, list(TEXTS)) == -np.inf).all()


def test_a_query_alone_and_among_others_ranks_alike(retriever: Retriever) -> None:
    many = [*QUERIES, *(f"{query} " * 12 for query in QUERIES), "a", "b"]
    together = retriever.search(many, k=5)
    for query, ranking in list(zip(many, together, strict=True))[::3]:
        alone = retriever.search([query], k=5)[0]
        assert alone.doc_ids == ranking.doc_ids
        np.testing.assert_allclose(alone.scores, ranking.scores, atol=5e-6)


def test_sixteen_threads_find_what_one_finds(retriever: Retriever) -> None:
    asked = [f"{query} {i}" for i in range(4) for query in QUERIES]
    one_by_one = [retriever.search([query], k=5)[0] for query in asked]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda query: retriever.search([query], k=5)[0], asked))
    for expected, ranking in zip(one_by_one, found, strict=True):
        assert ranking.doc_ids == expected.doc_ids
        np.testing.assert_allclose(ranking.scores, expected.scores, atol=2e-6)


def test_sixteen_threads_load_a_model_once(made: Retriever) -> None:
    if not isinstance(made, Dense):
        pytest.skip("a lexical retriever loads no model")
    fresh = Dense(made.record, made._make_encoder)
    calls: list[int] = []

    def make() -> object:
        calls.append(1)
        return made._loaded()

    fresh._make_encoder = make  # type: ignore[assignment]
    with ThreadPoolExecutor(16) as pool:
        vectors = list(pool.map(lambda _: fresh.encode_queries(["tax bill"]), range(16)))
    assert calls == [1]
    assert all(np.allclose(v, vectors[0], atol=1e-6) for v in vectors)


def test_truncation_is_told(retriever: Retriever) -> None:
    limit = retriever.record.max_tokens
    long = "word " * 1_500
    if not isinstance(retriever, Dense) or limit is None:
        assert retriever.count_tokens([long])[0] >= 1_500
        return
    n = int(retriever.count_tokens([long])[0])
    assert n >= 1_500
    assert retriever.truncated(["short", long]).tolist() == [False, True]
    assert retriever.cuts(["short", long]) == ["", f"cut at {limit} of {n:,} tokens"]
    # What stands beyond the limit is not read.
    vectors = retriever.encode_documents([long + "tax", long + "smoke smoke"])
    assert float(vectors[0] @ vectors[1]) > 0.9999


def test_vectors_are_of_unit_length(retriever: Retriever) -> None:
    if not isinstance(retriever, Dense):
        pytest.skip("a lexical retriever has no vectors")
    assert retriever.matrix.shape == (len(TEXTS), retriever.record.dimension)
    norms = np.linalg.norm(retriever.matrix, axis=1)
    assert ((np.abs(norms - 1) < 1e-5) | (norms == 0)).all()


# -- with made-up encoders: what no real model does on demand -----------------------------


class Made:
    """Gives the vectors it was made with, in turn, whatever the text."""

    def __init__(self, vector: list[float]) -> None:
        self.vector = vector

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        return np.tile(np.array(self.vector, dtype=np.float64), (len(texts), 1))

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        return np.array([len(prefix + text) for text in texts])

    def prompts(self) -> dict[str, str]:
        return {"query": "Find: "}


RECORD = RetrieverRecord(
    name="made",
    label="Made",
    kind="made",
    about="",
    checkpoint="made",
    revision="1",
    licence="",
    requires=(),
    install="",
    dimension=2,
)


def test_all_equal_scores_are_a_tie_on_every_run() -> None:
    ids = [f"{i:03d}" for i in range(200)]
    for seed in range(4):
        shuffled = ids[:]
        random.Random(seed).shuffle(shuffled)
        retriever = Dense(RECORD, lambda: Made([1.0, 0.0]))
        retriever.index(documents_of(dict.fromkeys(shuffled, "same")))
        ranking = retriever.search(["x"], k=10)[0]
        assert ranking.doc_ids == ids[:10]
        assert ranking.is_tied_at_cut


@pytest.mark.parametrize("bad", [[float("nan"), 1.0], [float("inf"), 0.0]])
def test_vectors_that_are_not_finite_are_refused(bad: list[float]) -> None:
    retriever = Dense(RECORD, lambda: Made(bad))
    with pytest.raises(RetrieverError, match="not finite"):
        retriever.index(documents_of({"a": "x"}))


def test_vectors_of_another_length_are_refused() -> None:
    retriever = Dense(RECORD, lambda: Made([1.0, 0.0, 0.0]))
    with pytest.raises(InputError, match=r"2 numbers.*\(1, 3\)"):
        retriever.encode_queries(["x"])


def test_a_query_of_unknown_words_alone_matches_nothing() -> None:
    retriever = Dense(RECORD, lambda: Made([0.0, 0.0]))
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    retriever.index(documents_of({"a": "x", "b": "y"}), vectors=vectors)
    assert retriever.search(["?"], k=2)[0].is_empty
    row = retriever.scores(["?"])[0]
    assert rank_all(row, retriever.doc_ids, k=2).is_empty


def test_rows_and_vectors_must_agree() -> None:
    retriever = Dense(RECORD, lambda: Made([1.0, 0.0]))
    with pytest.raises(InputError, match="2 documents came with 1 vectors"):
        retriever.index(documents_of({"a": "x", "b": "y"}), vectors=np.ones((1, 2), np.float32))


@pytest.fixture
def crowded() -> Dense:
    """5,000 documents in 40 groups of near and exact ties."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((40, 16))
    matrix = np.repeat(centres, 125, axis=0)
    matrix[::2] += rng.standard_normal((2500, 16)) * 1e-6
    record = RetrieverRecord(**{**RECORD.__dict__, "dimension": 16})
    retriever = Dense(record, lambda: Made([1.0] * 16))
    ids = {f"{i:05d}": "x" for i in rng.permutation(5000)}
    retriever.index(documents_of(ids), vectors=matrix.astype(np.float32))
    return retriever


def test_ties_and_near_ties_rank_alike_by_index_and_by_matrix(crowded: Dense) -> None:
    vectors = np.random.default_rng(1).standard_normal((20, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = crowded.scores_of(vectors)
    for k in (1, 10, 125, 126, 400):
        for row, ranking in zip(scores, crowded.search_vectors(vectors, k=k), strict=True):
            expected = rank_all(row, crowded.doc_ids, k=k)
            assert ranking.doc_ids == expected.doc_ids
            assert ranking.is_tied_at_cut == expected.is_tied_at_cut
