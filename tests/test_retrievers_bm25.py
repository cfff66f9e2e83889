"""BM25 against the published formulas, worked out in plain Python."""

import math
import random

import bm25s
import numpy as np
import pandas as pd
import pytest

from biasret.retrievers import RETRIEVERS, load
from biasret.retrievers.bm25 import Lucene, Okapi
from biasret.tokens import tokenise

WORDS = ["tax", "bill", "senate", "the", "a", "vote", "doctor", "cold", "rest", "smoke", "don't"]


def corpus_of(n: int, *, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    weights = [1 / (i + 1) for i in range(len(WORDS))]
    return [rng.choices(WORDS, weights, k=rng.randint(1, 30)) for _ in range(n)]


def okapi_reference(corpus: list[list[str]], query: list[str]) -> list[float]:
    """k1 1.5, b 0.75; an idf below 0 becomes 0.25 times the mean idf (Trotman et al., 2014)."""
    n = len(corpus)
    mean_length = sum(map(len, corpus)) / n
    words = list(dict.fromkeys(word for document in corpus for word in document))
    found = {word: sum(word in document for document in corpus) for word in words}
    idf = {w: math.log(n - found[w] + 0.5) - math.log(found[w] + 0.5) for w in words}
    total = 0.0
    for value in idf.values():
        total += value
    floor = 0.25 * (total / len(words))
    idf = {w: floor if value < 0 else value for w, value in idf.items()}
    scores = []
    for document in corpus:
        score = 0.0
        for word in query:
            f = document.count(word)
            length = 1.5 * (1 - 0.75 + 0.75 * len(document) / mean_length)
            score += idf.get(word, 0.0) * (f * (1.5 + 1) / (f + length))
        scores.append(score)
    return scores


def lucene_reference(corpus: list[list[str]], query: list[str]) -> list[float]:
    n = len(corpus)
    mean_length = sum(map(len, corpus)) / n
    scores = []
    for document in corpus:
        score = 0.0
        for word in query:
            holding = sum(word in other for other in corpus)
            idf = math.log(1 + (n - holding + 0.5) / (holding + 0.5))
            f = document.count(word)
            score += idf * f / (f + 1.5 * (1 - 0.75 + 0.75 * len(document) / mean_length))
        scores.append(score)
    return scores


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_okapi_equals_the_formula_to_the_last_digit(n: int, seed: int) -> None:
    corpus = corpus_of(n, seed=seed)
    model = Okapi(corpus)
    for query in (["tax"], ["the", "the", "vote"], ["nowhere"], [], WORDS):
        assert model.scores(query).tolist() == okapi_reference(corpus, query)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [1, 2, 10, 60])
def test_okapi_equals_rank_bm25_to_the_last_digit(n: int, seed: int) -> None:
    rank_bm25 = pytest.importorskip(
        "rank_bm25", reason="rank_bm25 is not installed: pip install rank-bm25==0.2.2"
    )
    corpus = corpus_of(n, seed=seed)
    theirs = rank_bm25.BM25Okapi(corpus)
    ours = Okapi(corpus)
    for query in (["tax", "bill"], ["the", "a", "a", "nowhere"], WORDS * 3):
        assert ours.scores(query).tolist() == theirs.get_scores(query).tolist()


def test_okapi_floor_is_in_use() -> None:
    # "the" stands in 3 of 4 documents, so its idf is negative and replaced by the floor.
    corpus = [["the", "tax"], ["the", "bill"], ["the", "vote"], ["smoke", "rest", "cold"]]
    raw = {1: math.log(3.5) - math.log(1.5), 3: math.log(1.5) - math.log(3.5)}
    floor = 0.25 * ((raw[3] + 6 * raw[1]) / 7)
    assert floor > 0
    expected = floor * (2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 2.25)))
    assert Okapi(corpus).scores(["the"])[0] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [1, 2, 10, 60])
def test_lucene_equals_the_formula(n: int, seed: int) -> None:
    corpus = corpus_of(n, seed=seed)
    model = Lucene(corpus)
    for query in (["tax"], ["the", "the", "vote"], ["nowhere"], [], WORDS):
        np.testing.assert_allclose(
            model.scores(query), lucene_reference(corpus, query), rtol=2e-6, atol=1e-7
        )


def test_lucene_is_what_bm25s_does_by_default() -> None:
    corpus = corpus_of(40, seed=3)
    plain = bm25s.BM25()
    plain.index(corpus, show_progress=False)
    known = [word for word in WORDS if word in plain.vocab_dict]
    assert Lucene(corpus).scores(known).tolist() == plain.get_scores(known).tolist()


@pytest.mark.parametrize("name", ["bm25", "bm25-okapi"])
def test_a_document_that_shares_no_word_is_no_hit(name: str) -> None:
    texts = ["tax bill", "smoke", "rest", "cold", "vote", "senate"]
    retriever = load(name)
    retriever.index(pd.DataFrame({"doc_id": [f"d{i}" for i in range(6)], "text": texts}))
    ranking = retriever.search(["the TAX of smoke"], k=10)[0]
    assert sorted(ranking.doc_ids) == ["d0", "d1"]
    assert (ranking.scores > 0).all()
    assert retriever.search(["nowhere"], k=10)[0].is_empty


@pytest.mark.parametrize("name", ["bm25", "bm25-okapi"])
def test_a_corpus_without_tokens_matches_nothing(name: str) -> None:
    retriever = load(name)
    retriever.index(pd.DataFrame({"doc_id": ["a", "b"], "text": ["😀😀", "مرحبا"]}))
    assert retriever.search(["tax", "😀"], k=3)[1].is_empty
    assert retriever.scores(["tax"]).tolist() == [[0.0, 0.0]]


def test_both_variants_are_records_with_their_own_fingerprint() -> None:
    assert RETRIEVERS["bm25"].fingerprint != RETRIEVERS["bm25-okapi"].fingerprint
    assert RETRIEVERS["bm25"].is_lexical
    assert RETRIEVERS["bm25-okapi"].is_lexical


def test_tokens_are_the_papers() -> None:
    assert tokenise("O'Neil's 2nd TAX-cut, ain't it? é") == [
        "o'neil",
        "s",
        "2nd",
        "tax",
        "cut",
        "ain't",
        "it",
    ]
