"""Judges, retention and identical answers, on hand-worked rankings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import HandScored

from biasret import runs
from biasret.errors import UnknownName
from biasret.filters import Inputs, filter_named, filters_for, judged_depth
from biasret.metrics import lean_at_k, measure, rr

#: Two queries; the stances of their first four documents, and which judge holds which relevant.
STANCES = {"a": ["right", "left", "right", "center"], "b": ["left", "left", "right", "right"]}
RELEVANT = {"one": ["a1", "a2", "a3", "b3"], "two": ["a1", "a4", "b1"]}


@pytest.fixture
def inputs():
    rows = [
        (query, rank, f"{query}{rank}", stance)
        for query, stances in STANCES.items()
        for rank, stance in enumerate(stances, start=1)
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "rank", "doc_id", "stance"])
    qrels = pd.DataFrame(
        [
            {"query_id": doc_id[0], "doc_id": doc_id, "judge": judge, "grade": 1}
            for judge, relevant in RELEVANT.items()
            for doc_id in relevant
        ]
        + [{"query_id": "b", "doc_id": "b2", "judge": "two", "grade": 0}]
    )
    queries = pd.DataFrame({"query_id": ["a", "b"], "source_doc_ids": [None, None]})
    gold = pd.DataFrame({"query_id": ["a", "b"], "rank": [None, None], "class_rank": [None, None]})
    documents = frame[["doc_id", "stance"]].assign(story_id=None)
    return Inputs(queries, documents, frame[["query_id", "rank", "doc_id"]], gold, qrels)


def lean(inputs: Inputs, name: str, k: int) -> dict[str, float]:
    rule = next(one for one in filters_for(inputs, "lean") if one.name == name)
    counted, keep = rule.apply(inputs, k)
    return lean_at_k(counted, k)[keep.to_numpy()].to_dict()


def test_the_filters_are_those_the_judges_make(inputs):
    names = [rule.name for rule in filters_for(inputs, "lean")]
    assert names == ["raw", "judge:one", "judge:two", "judges", "retained"]


def test_lean_over_what_a_judge_holds_relevant(inputs):
    # a: right, left, right -> 1/3; b: right -> 1.
    assert lean(inputs, "judge:one", 4) == pytest.approx({"a": 1 / 3, "b": 1.0})
    # a: right, center -> 1/2; b: left -> -1.
    assert lean(inputs, "judge:two", 4) == {"a": 0.5, "b": -1.0}


def test_queries_without_a_relevant_document_drop_out(inputs):
    # Among the first two of b, judge one holds nothing relevant.
    assert lean(inputs, "judge:one", 2) == {"a": 0.0}
    # Both judges agree on a1 alone.
    assert lean(inputs, "judges", 4) == {"a": 1.0}


def test_retention_keeps_the_query_and_all_its_documents(inputs):
    # a is kept for a1; its first four are right, left, right, center.
    assert lean(inputs, "retained", 4) == {"a": 0.25}


def test_one_judge_makes_no_filter_of_several(inputs):
    alone = inputs.qrels[inputs.qrels["judge"] == "one"]
    names = [
        rule.name
        for rule in filters_for(
            Inputs(inputs.queries, inputs.documents, inputs.runs, inputs.gold_ranks, alone), "lean"
        )
    ]
    assert names == ["raw", "judge:one", "retained"]


def test_measurements_carry_the_filters_name(inputs):
    table = measure(inputs, dataset="d", retriever="r", metrics=("lean",))
    at_5 = table[(table["k"] == 5) & (table["filter"] == "judge:two")]
    assert at_5.set_index("query_id")["value"].to_dict() == {"a": 0.5, "b": -1.0}


class TestDepthOfAPool:
    """Twenty queries, whose lists of thirty were graded down to ten."""

    @staticmethod
    def made(depth: int = 10, *, n: int = 20, extra: float = 0.0, lost: float = 0.0) -> Inputs:
        """Graded to a depth, and a share of what is below; a share of answers is missing."""
        rng = np.random.default_rng(4)
        runs = pd.DataFrame(
            [(f"q{q}", r, f"d{r}", "left") for q in range(n) for r in range(1, 31)],
            columns=["query_id", "rank", "doc_id", "stance"],
        )
        chance = np.where(runs["rank"] <= depth, 1 - lost, extra)
        graded = runs[rng.random(len(runs)) < chance]
        qrels = graded[["query_id", "doc_id"]].assign(judge="one", grade=1)
        queries = pd.DataFrame({"query_id": [f"q{q}" for q in range(n)], "source_doc_ids": None})
        gold = queries[["query_id"]].assign(rank=None, class_rank=None)
        documents = runs[["doc_id", "stance"]].drop_duplicates().assign(story_id=None)
        return Inputs(queries, documents, runs[["query_id", "rank", "doc_id"]], gold, qrels)

    @pytest.mark.parametrize("name", ["judge:one", "retained"])
    def test_nothing_is_measured_below_it(self, name):
        table = measure(self.made(extra=0.4), dataset="d", retriever="r", metrics=("lean",))
        assert sorted(set(table.loc[table["filter"] == name, "k"])) == [5, 10]
        assert sorted(set(table.loc[table["filter"] == "raw", "k"])) == [5, 10, 20, 50, 100]

    def reached(self, found: Inputs) -> list[int]:
        (rule,) = [one for one in filters_for(found, "lean") if one.name == "judge:one"]
        return rule.within_reach(found, (5, 10, 20, 50))

    @pytest.mark.parametrize("n", [6, 20, 200])
    @pytest.mark.parametrize("lost", [0.02, 0.1, 0.2])
    def test_answers_that_could_not_be_read_do_not_end_it(self, n, lost):
        assert self.reached(self.made(n=n, lost=lost, extra=0.3)) == [5, 10]

    @pytest.mark.parametrize("lost", [0.1, 0.2, 0.4])
    def test_a_retriever_that_was_not_pooled_goes_no_deeper(self, lost):
        """What others returned is graded, so less than all at the top and still less below."""
        assert self.reached(self.made(n=400, lost=lost, extra=(1 - lost) * 0.6)) == [5, 10]

    def test_one_lost_answer_of_few_queries_does_not_end_it(self):
        found = self.made(n=8)
        at_7 = (found.qrels["query_id"] == "q2") & (found.qrels["doc_id"] == "d7")
        assert self.reached(replace(found, qrels=found.qrels[~at_7])) == [5, 10]

    def test_ranks_are_counted_and_not_rows(self):
        found = self.made()
        runs = found.runs[found.runs["rank"] != 4]
        assert self.reached(replace(found, runs=runs)) == [5, 10]

    @pytest.mark.parametrize(
        ("depth", "expected"),
        [
            (0, [5, 10, 20, 50]),
            (2, [5, 10, 20, 50]),
            (5, [5]),
            (20, [5, 10, 20]),
            (30, [5, 10, 20, 50]),
        ],
    )
    def test_only_a_pool_ends(self, depth, expected):
        found = self.made(depth)
        if depth:
            assert self.reached(found) == expected
        assert (judged_depth(found.runs, found.qrels, "one") is None) == (expected[-1] == 50)

    def test_queries_nobody_judged_do_not_count(self):
        found = self.made()
        some = found.qrels[found.qrels["query_id"].isin(["q3", "q4"])]
        assert self.reached(replace(found, qrels=some)) == [5, 10]

    def test_several_judges_reach_as_deep_as_the_shallowest(self):
        found = self.made(20)
        other = self.made(10).qrels.assign(judge="two")
        both = replace(found, qrels=pd.concat([found.qrels, other]))
        rules = {rule.name: rule for rule in filters_for(both, "lean")}
        assert rules["judge:one"].within_reach(both, (5, 10, 20, 50)) == [5, 10, 20]
        assert rules["judges"].within_reach(both, (5, 10, 20, 50)) == [5, 10]


@pytest.mark.parametrize("name", ["raw", "judge:someone", "judges", "retained", "identical"])
def test_every_filter_has_words_of_its_own(name):
    rule = filter_named(name)
    assert rule.name == name
    assert rule.label
    assert rule.about


def test_an_unknown_filter_names_those_there_are():
    with pytest.raises(UnknownName, match="same-story"):
        filter_named("same story")


class TestIdenticalAnswers:
    """Three documents: x and z have one text, y another; the gold of the query is z."""

    def ranked(self, texts):
        retriever = HandScored({"q": {"x": 0.9, "y": 0.5, "z": 0.1}})
        documents = pd.DataFrame({"doc_id": ["x", "y", "z"], "text": texts})
        retriever.index(documents)
        queries = pd.DataFrame({"query_id": ["q"], "text": ["q"], "source_doc_ids": [None]})
        qrels = pd.DataFrame({"query_id": ["q"], "doc_id": ["z"], "judge": ["j"], "grade": [1]})
        found = runs.retrieve(
            retriever,
            queries,
            qrels,
            dataset="d",
            texts_of=documents.set_index("doc_id")["text"],
        )
        empty = documents.assign(stance=None, story_id=None)
        return Inputs(queries, empty, found.runs, found.gold_ranks, qrels)

    def test_one_document_is_credited_or_the_whole_class(self):
        tables = self.ranked(["same", "other", "same"])
        assert tables.gold_ranks[["rank", "class_rank"]].values.tolist() == [[3, 1]]
        rule = next(r for r in filters_for(tables, "rr") if r.name == "identical")
        counted, keep = rule.apply(tables, None)
        assert keep.all()
        assert rr(counted).tolist() == [1.0]
        assert rr(tables).tolist() == [1 / 3]

    def test_without_twins_there_is_no_such_filter(self):
        tables = self.ranked(["one", "other", "third"])
        assert tables.gold_ranks[["rank", "class_rank"]].values.tolist() == [[3, 3]]
        assert [rule.name for rule in filters_for(tables, "rr")] == ["raw"]
        assert np.isfinite(rr(tables)).all()
