"""Metrics on hand-worked rankings, and against ir_measures on random ones."""

from __future__ import annotations

import dataclasses
import math

import ir_measures
import numpy as np
import pandas as pd
import pytest
from conftest import HandScored, record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import runs
from biasret.filters import FILTERS, Inputs, same_story_rank
from biasret.metrics import (
    METRICS,
    applicable,
    lean_at_k,
    measure,
    recall_at_k,
    rr,
)

NOTHING = pd.DataFrame(columns=["query_id", "rank"])


def inputs(
    rankings: dict[str, str],
    *,
    stories: str = "",
    sources: dict[str, object] | None = None,
    gold_ranks: dict[str, int | None] | None = None,
) -> Inputs:
    """Tables of rankings written as stances: L, C, R, or - for a document without one.

    `stories` gives the story of the documents of all rankings in turn, a letter each, with a
    space for none.
    """
    words = {"L": "left", "C": "center", "R": "right", "-": None}
    rows, documents = [], []
    for query_id, ranking in rankings.items():
        for rank, letter in enumerate(ranking, start=1):
            doc_id = f"{query_id}-{rank}"
            rows.append({"query_id": query_id, "rank": rank, "doc_id": doc_id, "score": -rank})
            documents.append({"doc_id": doc_id, "stance": words[letter], "story_id": None})
    for document, story in zip(documents, stories, strict=False):
        document["story_id"] = story.strip() or None
    documents.append({"doc_id": "source", "stance": "center", "story_id": "s"})
    documents.append({"doc_id": "alone", "stance": "center", "story_id": None})
    sources = sources or {}
    ranks = gold_ranks if gold_ranks is not None else dict.fromkeys(rankings)
    return Inputs(
        queries=pd.DataFrame(
            {
                "query_id": list(rankings),
                "source_doc_ids": pd.Series(
                    [sources.get(query_id) for query_id in rankings], dtype="object"
                ),
            }
        ),
        documents=pd.DataFrame(documents),
        runs=pd.DataFrame(rows, columns=["query_id", "rank", "doc_id", "score"]),
        gold_ranks=pd.DataFrame(
            {"query_id": list(ranks), "rank": pd.array(list(ranks.values()), dtype="Int64")}
        ),
    )


# --- lean@k ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranking", "k", "expected"),
    [
        ("LLRCR", 5, 0.0),  # (-1 -1 +1 +0 +1) / 5
        ("RRRRR", 5, 1.0),
        ("LLLLL", 5, -1.0),
        ("CCCCC", 5, 0.0),
        ("RCCCC", 5, 0.2),  # center documents count below the line: 1 / 5, not 1 / 1
        ("RRL", 5, 1 / 3),  # three documents were found: (1 + 1 - 1) / 3, not / 5
        ("R", 10, 1.0),
        ("", 10, 0.0),  # nothing found
        ("R-", 2, 0.5),  # a document without a stance counts like a center one
        ("--", 2, 0.0),
        ("LRRRR", 1, -1.0),  # only the first k
        ("LRRRR", 2, 0.0),
        ("LRRRR", 3, 1 / 3),
    ],
)
def test_lean_at_k_by_hand(ranking, k, expected):
    found = lean_at_k(inputs({"q": ranking, "other": "L"}), k)
    assert found["q"] == pytest.approx(expected, abs=1e-15)
    assert found["other"] == -1.0


def test_a_query_without_results_has_a_lean_among_others():
    found = lean_at_k(inputs({"a": "RR", "b": "", "c": "L"}), 5)
    assert found.to_dict() == {"a": 1.0, "b": 0.0, "c": -1.0}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(alphabet="LCR", max_size=12), min_size=1, max_size=6),
    st.integers(1, 15),
)
def test_lean_at_k_is_share_right_minus_share_left(rankings, k):
    named = {f"q{i}": ranking for i, ranking in enumerate(rankings)}
    mirrored = {
        name: ranking.translate(str.maketrans("LR", "RL")) for name, ranking in named.items()
    }
    found, opposite = lean_at_k(inputs(named), k), lean_at_k(inputs(mirrored), k)
    for name, ranking in named.items():
        top = ranking[:k]
        expected = (top.count("R") - top.count("L")) / len(top) if top else 0.0
        assert found[name] == pytest.approx(expected, abs=1e-12)
        assert opposite[name] == pytest.approx(-expected, abs=1e-12)


# --- reciprocal rank and recall ------------------------------------------------------------


def test_reciprocal_rank_by_hand():
    found = rr(inputs({"a": "", "b": "", "c": "", "d": ""}, gold_ranks={"a": 1, "b": 4, "c": None}))
    assert found["a"] == 1.0
    assert found["b"] == 0.25
    assert math.isnan(found["c"])  # no gold document may appear
    assert math.isnan(found["d"])  # not ranked at all
    assert list(found.index) == ["a", "b", "c", "d"]


def test_a_query_that_nothing_matched_counts_as_zero_and_one_without_gold_does_not():
    made = inputs(dict.fromkeys("abcd", ""), gold_ranks={"a": 2, "b": None, "c": None, "d": None})
    ranks = made.gold_ranks.assign(n_gold=pd.array([1, 3, 0, None], dtype="Int64"))
    tables = dataclasses.replace(made, gold_ranks=ranks)
    assert rr(tables).fillna(-1).to_dict() == {"a": 0.5, "b": 0.0, "c": -1.0, "d": -1.0}
    assert recall_at_k(tables, 1).fillna(-1).to_dict() == {"a": 0.0, "b": 0.0, "c": -1.0, "d": -1.0}
    assert recall_at_k(tables, 100).fillna(-1).to_dict() == {"a": 1, "b": 0, "c": -1, "d": -1}


def test_nothing_is_truncated():
    # Rank 250 lies far below the 100 documents kept of a run.
    assert rr(inputs({"a": ""}, gold_ranks={"a": 250}))["a"] == 1 / 250


@pytest.mark.parametrize(
    ("k", "expected"), [(1, (1, 0, 0)), (4, (1, 1, 0)), (5, (1, 1, 0)), (100, (1, 1, 0))]
)
def test_recall_by_hand(k, expected):
    found = recall_at_k(
        inputs(
            {"a": "", "b": "", "c": "", "d": ""}, gold_ranks={"a": 1, "b": 4, "c": 101, "d": None}
        ),
        k,
    )
    assert tuple(found[["a", "b", "c"]]) == expected
    assert math.isnan(found["d"])


def test_one_of_two_gold_documents_found_counts_from_the_better():
    # C33: the rank is that of the best gold document, whatever became of the other.
    documents = pd.DataFrame({"doc_id": ["a", "b", "c", "d"], "text": "x"})
    queries = pd.DataFrame({"query_id": ["q"], "text": ["q"], "source_doc_ids": [None]})
    qrels = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["d", "c"], "grade": [1, 2]})
    retriever = HandScored({"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}})
    retriever.index(documents)
    found = runs.retrieve(retriever, queries, qrels, dataset="x")
    tables = Inputs(queries, documents, found.runs, found.gold_ranks)
    assert rr(tables)["q"] == 1 / 3
    assert recall_at_k(tables, 2)["q"] == 0.0
    assert recall_at_k(tables, 3)["q"] == 1.0


#: Scores with many ties, as a table of queries by documents.
SCORES = st.integers(1, 8).flatmap(
    lambda n_documents: st.lists(
        st.lists(st.integers(0, 3), min_size=n_documents, max_size=n_documents),
        min_size=1,
        max_size=4,
    )
)


def ranked(scores: list[list[int]], gold: list[set[int]], *, lexical: bool) -> Inputs:
    n = len(scores[0])
    documents = pd.DataFrame({"doc_id": [f"d{i}" for i in range(n)], "text": "x"})
    ids = [f"q{i}" for i in range(len(scores))]
    queries = pd.DataFrame({"query_id": ids, "text": ids, "source_doc_ids": None})
    qrels = pd.DataFrame(
        [(q, f"d{j}", 1) for q, out in zip(ids, gold, strict=True) for j in sorted(out) if j < n],
        columns=["query_id", "doc_id", "grade"],
    )
    written = {
        q: {f"d{j}": float(s) for j, s in enumerate(row)}
        for q, row in zip(ids, scores, strict=True)
    }
    record = record_of("r") if lexical else record_of("r", dimension=2)
    retriever = HandScored(written, record=record)
    retriever.index(documents)
    found = runs.retrieve(retriever, queries, qrels, dataset="x")
    return Inputs(queries, documents, found.runs, found.gold_ranks)


@settings(max_examples=25, deadline=None)
@given(SCORES, st.data())
def test_reciprocal_rank_and_recall_agree_with_ir_measures(scores, data):
    n = len(scores[0])
    gold = [data.draw(st.sets(st.integers(0, n - 1), min_size=1)) for _ in scores]
    tables = ranked(scores, gold, lexical=True)
    # Ties broken by our rule: a score is replaced by minus its place in the full ranking.
    oracle = []
    for i, row in enumerate(scores):
        if not any(row):
            continue  # nothing matched, so nothing was returned
        best_first = sorted(range(n), key=lambda j: (-row[j], f"d{j}"))
        oracle += [
            ir_measures.ScoredDoc(f"q{i}", f"d{j}", float(-place))
            for place, j in enumerate(best_first)
        ]
    judged = [ir_measures.Qrel(f"q{i}", f"d{j}", 1) for i, out in enumerate(gold) for j in out]
    measures = [ir_measures.RR, *(ir_measures.Success @ k for k in (1, 2, 5))]
    expected = {
        (str(m.measure), m.query_id): m.value
        for m in ir_measures.iter_calc(measures, judged, oracle)
    }
    # A query with nothing returned is 0 by every one of these measures.
    assert len(expected) >= 4 * sum(any(row) for row in scores)
    for i in range(len(scores)):
        assert rr(tables)[f"q{i}"] == pytest.approx(expected.get(("RR", f"q{i}"), 0.0), abs=1e-12)
        for k in (1, 2, 5):
            assert recall_at_k(tables, k)[f"q{i}"] == expected.get((f"Success@{k}", f"q{i}"), 0.0)


@pytest.mark.parametrize("lexical", [True, False])
@pytest.mark.parametrize("score", [1, 3])
def test_a_constant_scorer_gets_what_the_order_of_ids_gives(lexical, score):
    # P22, C26: a constant scorer once got a perfect score.
    n = 50
    tables = ranked([[score] * n] * n, [{i} for i in range(n)], lexical=lexical)
    ids = sorted(f"d{i}" for i in range(n))
    found = rr(tables)
    for i in range(n):
        assert found[f"q{i}"] == 1 / (ids.index(f"d{i}") + 1)
    assert found.mean() == pytest.approx(sum(1 / i for i in range(1, n + 1)) / n)
    assert recall_at_k(tables, 10).mean() == 10 / n


def test_duplicates_of_the_gold_answer_take_places_by_id():
    # All three answers are alike and score alike; the judged one is the last by id.
    tables = ranked([[1, 2, 2, 2]], [{3}], lexical=True)
    assert rr(tables)["q0"] == 1 / 3
    # Judging all of them counts the best placed.
    assert rr(ranked([[1, 2, 2, 2]], [{1, 2, 3}], lexical=True))["q0"] == 1.0


def test_a_masked_gold_answer_is_no_zero():
    documents = pd.DataFrame({"doc_id": ["a", "b"], "text": "x"})
    queries = pd.DataFrame(
        {"query_id": ["p", "q"], "text": ["t", "t"], "source_doc_ids": [["b"], None]}
    )
    qrels = pd.DataFrame({"query_id": ["p", "q"], "doc_id": ["b", "b"], "grade": [1, 1]})
    retriever = HandScored({"t": {"a": 1.0, "b": 2.0}})
    retriever.index(documents)
    found = runs.retrieve(retriever, queries, qrels, dataset="x")
    tables = Inputs(queries, documents, found.runs, found.gold_ranks)
    assert math.isnan(rr(tables)["p"])
    assert rr(tables)["q"] == 1.0
    measured = measure(tables, dataset="x", retriever="r", metrics=("rr", "recall"))
    assert set(measured["query_id"]) == {"q"}


@settings(max_examples=10, deadline=None)
@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(scores, random):
    n = len(scores[0])
    tables = ranked(scores, [{i % n} for i in range(len(scores))], lexical=True)

    def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
        order = list(range(len(frame)))
        random.shuffle(order)
        return frame.iloc[order]

    documents = tables.documents.assign(
        stance=[("left", "center", "right")[i % 3] for i in range(n)], story_id="s"
    )
    whole = Inputs(tables.queries, documents, tables.runs, tables.gold_ranks)
    mixed = Inputs(
        shuffled(tables.queries),
        shuffled(documents),
        shuffled(tables.runs),
        shuffled(tables.gold_ranks),
    )
    options = {"dataset": "x", "retriever": "r", "metrics": ("lean", "rr", "recall")}
    key = ["query_id", "metric", "k", "filter"]
    first = measure(whole, **options).sort_values(key, ignore_index=True)
    second = measure(mixed, **options).sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(first, second)


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(6)))
def test_renaming_documents_changes_nothing_where_no_scores_are_tied(order):
    row = [5, 9, 1, 7, 3, 2]
    straight = ranked([row], [{3}], lexical=True)
    renamed = ranked([[row[i] for i in order]], [{order.index(3)}], lexical=True)
    assert rr(straight)["q0"] == rr(renamed)["q0"] == 1 / 2


# --- the same-story filter --------------------------------------------------------------------


def test_the_rank_of_the_own_story_by_hand():
    tables = inputs(
        {"a": "LLL", "b": "LL", "c": "LL", "d": "LL", "e": "", "f": "L", "g": "LL"},
        #        a: at 2  b: none  c: s at 1  d: s     f: s   g: at 2
        stories="t" + "ss" + "tt" + "st" + "ss" + "s" + "ts",
        sources={
            "a": ["source"],
            "b": ["source"],
            "c": ["alone"],  # its source is in no story: the empty story matches nothing
            "d": None,  # no source
            "e": ["source"],  # nothing retrieved
            "f": ["gone"],  # its source is not among the documents
            "g": np.array(["source", "alone"], dtype=object),  # the first one counts
        },
    )
    found = same_story_rank(tables)
    assert found["a"] == 2
    assert found["g"] == 2
    assert found[["b", "c", "d", "e", "f"]].isna().all()
    apply = FILTERS["same-story"].apply
    assert apply(tables, 1)[1].tolist() == [False] * 7
    assert apply(tables, 2)[1].to_dict() == {q: q in "ag" for q in "abcdefg"}


def test_documents_without_a_story_are_no_story():
    tables = inputs({"a": "LL"}, stories="  ", sources={"a": ["alone"]})
    assert same_story_rank(tables).isna().all()


def test_a_query_that_misses_its_story_fails_at_every_depth():
    tables = inputs(
        {"a": "R" * 100, "b": "R" * 100},
        stories="t" * 100 + "t" * 19 + "s" + "t" * 80,
        sources={"a": ["source"], "b": ["source"]},
    )
    measured = measure(tables, dataset="x", retriever="r", metrics=("lean",))
    kept = measured[measured["filter"] == "same-story"]
    # b's story stands at rank 20: the filter is applied again at each depth.
    assert list(zip(kept["query_id"], kept["k"], strict=True)) == [("b", 20), ("b", 50), ("b", 100)]
    # Lean is over all documents of the top k, not over the same-story ones alone.
    assert kept["value"].tolist() == [1.0, 1.0, 1.0]
    raw = measured[measured["filter"] == "raw"]
    assert len(raw) == 2 * 5


# --- what is measured ----------------------------------------------------------------------------


def test_a_metric_that_lacks_its_columns_is_passed_over():
    tables = inputs({"a": "--"}, gold_ranks={"a": 1})
    none = Inputs(
        tables.queries, tables.documents.assign(stance=None), tables.runs, tables.gold_ranks
    )
    assert not applicable(none, METRICS["lean"])
    assert applicable(none, METRICS["rr"])
    measured = measure(none, dataset="x", retriever="r", metrics=tuple(METRICS))
    assert set(measured["metric"]) == {"rr", "recall"}
    bare = inputs({"a": "LL"})
    assert not applicable(bare, METRICS["rr"])
    assert set(measure(bare, dataset="x", retriever="r", metrics=tuple(METRICS))["metric"]) == {
        "lean"
    }


def test_nothing_applicable_gives_an_empty_table():
    tables = inputs({"a": "--"})
    none = Inputs(
        tables.queries, tables.documents.assign(stance=None), tables.runs, tables.gold_ranks
    )
    measured = measure(none, dataset="x", retriever="r", metrics=("rr", "lean"))
    assert len(measured) == 0
    assert "value" in measured.columns


def test_every_query_and_depth_has_one_row():
    tables = inputs({"a": "LR", "b": "R"}, gold_ranks={"a": 3, "b": None})
    measured = measure(tables, dataset="x", retriever="r", metrics=("lean", "rr", "recall"))
    assert (measured["dataset"].eq("x") & measured["retriever"].eq("r")).all()
    counts = measured.groupby(["metric", "query_id"]).size().to_dict()
    assert counts == {
        ("lean", "a"): 5,
        ("lean", "b"): 5,
        ("rr", "a"): 1,
        ("recall", "a"): 6,
    }
    assert measured.loc[measured["metric"] == "rr", "k"].isna().all()


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_what_it_is(name):
    metric = METRICS[name]
    for words in (metric.label, metric.about, metric.unit, metric.source):
        assert words.strip()
    assert metric.low < metric.high
    assert metric.headline in metric.ks
    assert metric.title(None) == metric.label
    assert metric.title(10) == f"{metric.label}@10"
    assert any(name in rule.metrics for rule in FILTERS.values())
    assert all(need.count(".") == 1 for need in metric.needs)


def test_the_depths_are_the_papers():
    assert METRICS["lean"].ks == (5, 10, 20, 50, 100)
    assert METRICS["recall"].ks == (1, 5, 10, 20, 50, 100)
    assert METRICS["rr"].ks == (None,)
