"""Agreement of judges, against counts worked by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import TOY, toy_dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biasret import agreement
from biasret.reproduction import data

BOTH = arrays(bool, st.integers(1, 60).map(lambda n: (2, n)))


def flags(text: str) -> np.ndarray:
    return np.array([mark == "1" for mark in text], dtype=bool)


def test_kappa_by_hand():
    # 10 pairs: both 3, first only 2, second only 1, neither 4. po = 0.7,
    # pe = 0.5 * 0.4 + 0.5 * 0.6 = 0.5, kappa = 0.4.
    found = agreement.agree(flags("1111100000"), flags("1110010000"))
    assert (found.n_both, found.n_first, found.n_second, found.n_neither) == (3, 2, 1, 4)
    assert found.kappa == pytest.approx(0.4, abs=1e-15)
    assert (found.raw_agreement, found.rate_first, found.rate_second) == (0.7, 0.5, 0.4)
    assert (found.rate_both, found.recall_first, found.recall_second) == (0.3, 0.75, 0.6)
    assert found.note is None


def test_perfect_and_opposite_judges():
    mixed = flags("1010")
    assert agreement.agree(mixed, mixed).kappa == 1.0
    assert agreement.agree(mixed, ~mixed).kappa == -1.0


def test_constant_judges_have_no_kappa_and_say_why():
    found = agreement.agree(flags("000"), flags("000"))
    assert found.kappa is None
    assert found.raw_agreement == 1.0
    assert (found.recall_first, found.recall_second) == (None, None)
    assert "same grade" in str(found.note)
    one_sided = agreement.agree(flags("111"), flags("110"))
    assert one_sided.kappa == 0.0


def test_no_pair():
    found = agreement.agree(flags(""), flags(""))
    assert (found.n_pairs, found.kappa, found.raw_agreement) == (0, None, None)
    assert "No pair" in str(found.note)


@settings(deadline=None)  # the first call imports scikit-learn
@given(BOTH)
def test_kappa_is_that_of_scikit_learn(pair):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    found = agreement.agree(*pair)
    if found.kappa is not None:
        expected = metrics.cohen_kappa_score(pair[0], pair[1])
        assert found.kappa == pytest.approx(expected, abs=1e-12)
    else:
        assert (pair == pair[0, 0]).all()


@given(BOTH, st.randoms())
def test_swapping_judges_and_permuting_pairs_change_nothing(pair, random):
    one, other = agreement.agree(*pair), agreement.agree(pair[1], pair[0])
    assert one.kappa == other.kappa
    assert (one.recall_first, one.rate_first) == (other.recall_second, other.rate_second)
    order = list(range(pair.shape[1]))
    random.shuffle(order)
    assert agreement.agree(pair[0][order], pair[1][order]) == one


def test_the_papers_kappa_follows_from_its_counts():
    both, gpt, qwen, neither = data.published_confusion()
    first = np.repeat([True, True, False, False], [both, gpt, qwen, neither])
    second = np.repeat([True, False, True, False], [both, gpt, qwen, neither])
    found = agreement.agree(first, second)
    paper = data.published_agreement().iloc[0]
    assert found.n_pairs == paper["n_pairs"] == 102_637
    assert found.kappa == pytest.approx(paper["kappa"], abs=1e-12)
    assert found.raw_agreement == pytest.approx(paper["raw_agreement"], abs=1e-15)
    assert found.recall_first == pytest.approx(paper["recall_gpt"], abs=1e-15)
    assert found.recall_second == pytest.approx(paper["recall_qwen"], abs=1e-15)
    assert found.rate_both == pytest.approx(paper["relevant_rate_both"], abs=1e-15)


def test_the_interval_holds_the_estimate_and_is_reproducible():
    rng = np.random.default_rng(1)
    first = rng.random(400) < 0.3
    second = np.where(rng.random(400) < 0.8, first, ~first)
    clusters = np.repeat(np.arange(40), 10)
    low, high = agreement.kappa_interval(first, second, clusters=clusters)
    kappa = agreement.agree(first, second).kappa
    assert low < kappa < high
    assert (low, high) == agreement.kappa_interval(first, second, clusters=clusters)
    other = agreement.kappa_interval(first, second, clusters=clusters, rng=1)
    assert other == pytest.approx((low, high), abs=0.02)


def test_the_interval_has_its_coverage():
    """Of 200 samples with independent pairs, about 95% of intervals hold the true kappa."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        first = rng.random(300) < 0.5
        second = np.where(rng.random(300) < 0.75, first, ~first)  # true kappa: 0.5
        found = agreement.kappa_interval(first, second, clusters=np.arange(300), resamples=400)
        hits += found[0] <= 0.5 <= found[1]
    assert 180 <= hits <= 199


def test_one_query_or_constant_judges_give_no_interval():
    mixed = flags("1010")
    assert agreement.kappa_interval(mixed, mixed, clusters=np.zeros(4)) is None
    rare = flags("1000")
    assert agreement.kappa_interval(rare, rare, clusters=np.arange(4)) is None


QRELS = pd.DataFrame(
    [
        ("c1/left", "d01", "a", 1),
        ("c1/left", "d02", "a", 0),
        ("c1/right", "d02", "a", 2),
        ("c2/left", "d04", "a", 1),
        ("c1/left", "d01", "b", 1),
        ("c1/left", "d02", "b", 1),
        ("c1/right", "d02", "b", 0),
        ("c3/left", "d08", "b", 0),
        ("c1/left", "d01", "author", 1),
    ],
    columns=["query_id", "doc_id", "judge", "grade"],
)


def test_who_only_lists_gold_is_no_judge():
    assert agreement.judges(QRELS) == ["a", "b"]
    assert agreement.judges(QRELS.iloc[:0]) == []


def test_agreement_is_over_pairs_that_both_graded():
    toy = toy_dataset()
    top = pd.DataFrame(
        {
            "retriever": ["x", "x", "y"],
            "query_id": ["c1/left", "c1/left", "c1/right"],
            "doc_id": ["d01", "d02", "d02"],
        }
    )
    table = agreement.agreements(
        agreement.grades(QRELS, "a"),
        agreement.grades(QRELS, "b"),
        queries=toy.queries,
        top=top,
        record=TOY,
    ).set_index("of")
    # Graded by both: (c1/left, d01) yes yes; (c1/left, d02) no yes; (c1/right, d02) yes no.
    assert table.loc["all pairs", ["n_pairs", "n_both", "n_first", "n_second"]].tolist() == [
        3,
        1,
        1,
        1,
    ]
    assert table.loc["all pairs", "kappa"] == pytest.approx(-0.5)
    assert table.loc["left", "n_pairs"] == 2
    assert table.loc["right", "n_pairs"] == 1
    assert table.loc["x", "n_pairs"] == 2
    assert table.loc["y", "n_first"] == 1


def test_same_story_needs_a_story_on_both_sides():
    toy = toy_dataset()
    pairs = pd.DataFrame(
        [("c1/left", "d01"), ("c1/left", "d04"), ("c1/left", "d10"), ("c3/left", "d07")],
        columns=["query_id", "doc_id"],
    )
    found = agreement.same_story(pairs, toy.queries, toy.documents)
    assert found.tolist() == [True, False, False, True]
    blank = toy.documents.assign(story_id="")
    assert not agreement.same_story(pairs, toy.queries, blank).any()
    assert agreement.reference(pairs, toy.queries, toy.documents, QRELS)[0] == "same story"
    name, gold = agreement.reference(pairs, toy.queries, blank, QRELS)
    assert name == "gold answer"
    assert gold.tolist() == [True, False, False, False]
    assert agreement.reference(pairs, toy.queries, blank, QRELS.iloc[:0]) is None


def test_relevant_documents_per_list_by_hand():
    queries = pd.DataFrame({"query_id": ["q1", "q2", "q3"]})
    top = pd.DataFrame(
        [("x", "q1", "d1"), ("x", "q1", "d2"), ("x", "q2", "d1"), ("y", "q1", "d2")],
        columns=["retriever", "query_id", "doc_id"],
    )
    index = pd.MultiIndex.from_tuples([("q1", "d1"), ("q1", "d2"), ("q2", "d1")])
    relevant = pd.Series([True, True, False], index=index)
    table = agreement.per_list(top, relevant, queries, k=2)
    # Six lists: x/q1 has 2, y/q1 has 1; x/q2 none, and x/q3, y/q2, y/q3 hold no document.
    assert table["n_lists"].tolist() == [4, 1, 1]
    assert table["share"].tolist()[1:] == [0.5, 0.5]
    assert np.isnan(table["share"].iloc[0])
    assert agreement.median_relevant(table) == 1.5
    none = agreement.per_list(top, relevant & False, queries, k=2)
    assert none["n_lists"].tolist() == [6, 0, 0]
    assert none["share"].isna().all()
    assert agreement.median_relevant(none) is None


def test_coverage_counts_what_each_judge_saw():
    queries = pd.DataFrame({"query_id": ["c1/left"]})
    top = pd.DataFrame(
        [("x", "c1/left", "d01"), ("x", "c1/left", "d09"), ("x", "c2/left", "d04")],
        columns=["retriever", "query_id", "doc_id"],
    )
    table = agreement.coverage(top, QRELS, queries)
    assert table["judge"].tolist() == ["a", "b"]
    assert table["share"].tolist() == [0.5, 0.5]
    assert agreement.coverage(top, QRELS.iloc[:0], queries).empty
