"""Rankings and gold ranks against a plain full sort."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import TOY_SCORES, HandScored, record_of, toy_dataset, word_retriever
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import runs
from biasret.retrievers.base import ranks_of

#: Few values, so that ties are the rule; a negative score is a score.
VALUES = st.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.75])


@st.composite
def problems(draw):
    n = draw(st.integers(1, 12))
    ids = [f"d{i:02d}" for i in draw(st.permutations(range(n)))]
    scores = draw(st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=5))
    some = st.lists(st.sampled_from([*ids, "gone"]), unique=True, max_size=n)
    masks = draw(st.lists(st.none() | some, min_size=len(scores), max_size=len(scores)))
    gold = draw(st.lists(some, min_size=len(scores), max_size=len(scores)))
    return ids, scores, masks, gold


def naive(ids, row, masked, gold, *, floor):
    """The whole ranking by a plain sort, and the rank of the best gold document in it."""
    allowed = [i for i in range(len(ids)) if ids[i] not in (masked or ())]
    full = [ids[i] for i in sorted(allowed, key=lambda i: (-row[i], ids[i]))]
    shown = [d for d in full if row[ids.index(d)] > floor] if any(row) else []
    ranks = [full.index(d) + 1 for d in gold if d in full]
    return shown, min(ranks, default=None)


def made(ids, scores, masks, gold, *, lexical):
    documents = pd.DataFrame({"doc_id": ids, "text": "x"})
    names = [f"q{i}" for i in range(len(scores))]
    queries = pd.DataFrame(
        {"query_id": names, "text": names, "source_doc_ids": pd.Series(masks, dtype="object")}
    )
    pairs = [(q, d, 1) for q, out in zip(names, gold, strict=True) for d in out]
    qrels = pd.DataFrame(pairs, columns=["query_id", "doc_id", "grade"])
    written = {q: dict(zip(ids, row, strict=True)) for q, row in zip(names, scores, strict=True)}
    record = record_of("r") if lexical else record_of("r", dimension=2)
    retriever = HandScored(written, record=record)
    retriever.index(documents)
    return retriever, queries, qrels


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans(), st.integers(1, 14))
def test_runs_and_gold_ranks_are_those_of_a_full_sort(problem, lexical, depth):
    ids, scores, masks, gold = problem
    retriever, queries, qrels = made(*problem, lexical=lexical)
    found = runs.retrieve(retriever, queries, qrels, dataset="x", depth=depth)
    ranks = found.gold_ranks.set_index("query_id")["rank"]
    n_gold = found.gold_ranks.set_index("query_id")["n_gold"]
    empty = 0
    for i, row in enumerate(scores):
        shown, rank = naive(ids, row, masks[i], gold[i], floor=0.0 if lexical else -np.inf)
        mine = found.runs[found.runs["query_id"] == f"q{i}"]
        assert mine["doc_id"].tolist() == shown[:depth]
        assert mine["rank"].tolist() == list(range(1, len(mine) + 1))
        assert mine["score"].tolist() == [row[ids.index(d)] for d in mine["doc_id"]]
        # What nothing matched has no rank: it would only repeat the order of the ids.
        wanted = rank if shown else None
        assert (None if pd.isna(ranks[f"q{i}"]) else ranks[f"q{i}"]) == wanted
        out = set(masks[i] or ())
        assert n_gold[f"q{i}"] == sum(doc in ids and doc not in out for doc in gold[i])
        empty += not shown
    assert found.n_unmatched == empty


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0]), min_size=1, max_size=30), st.data()
)
def test_ranks_of_agrees_with_a_full_sort(row, data):
    scores = np.array(row)
    gold = np.array(sorted(data.draw(st.sets(st.integers(0, len(row) - 1)))), dtype=np.int64)
    full = sorted(range(len(row)), key=lambda i: (-row[i], i))
    ranks = [full.index(i) + 1 for i in gold if row[i] > -np.inf]
    assert ranks_of(scores, gold) == min(ranks, default=None)


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(1, 40))
def test_the_size_of_blocks_changes_nothing(problem, size):
    whole = runs.retrieve(*made(*problem, lexical=False), dataset="x")
    steps = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_SCORES", size)
        parts = runs.retrieve(*made(*problem, lexical=False), dataset="x", progress=steps.append)
    pd.testing.assert_frame_equal(whole.runs, parts.runs)
    pd.testing.assert_frame_equal(whole.gold_ranks, parts.gold_ranks)
    assert sum(steps) == len(problem[1])
    assert max(steps) <= max(1, size // len(problem[0]))


def test_source_documents_are_masked_by_hand():
    toy = toy_dataset()
    retriever = HandScored(TOY_SCORES)
    retriever.index(toy.documents)
    found = runs.retrieve(retriever, toy.queries, toy.qrels, dataset="toy")
    listed = found.runs.groupby("query_id")["doc_id"].agg(list).to_dict()
    assert listed == {
        "c1/left": ["d01", "d10", "d02"],  # d03, the source, scored highest
        "c1/neutral": ["d01", "d02"],  # tied: lower id first
        "c1/right": ["d02", "d05", "d08", "d01"],
        "c2/left": ["d04", "d07", "d05"],
        "c2/right": ["d04", "d05"],
        "c3/left": ["d07", "d08"],
        "c3/neutral": ["d08"],
        "c3/right": ["d05", "d02"],
    }
    # Nothing was written for "school": no row, and it is counted.
    assert found.n_unmatched == 1
    ranks = found.gold_ranks.set_index("query_id")["rank"]
    assert ranks["c1/left"] == 1
    assert ranks["c1/right"] == 4
    # In the full ranking documents that score 0 follow by id, the source left out:
    # d05, d02, then d01, d03, d04, d06 and d07.
    assert ranks["c3/right"] == 7
    assert ranks["c3/neutral"] == 8  # d08, then d01 to d07
    # Without a match there is no ranking; the query has gold all the same.
    assert pd.isna(ranks["c2/neutral"])
    assert found.gold_ranks["n_gold"].tolist() == [1] * 9
    assert found.gold_ranks["retriever"].eq("by-hand").all()


def test_the_dense_fake_by_hand():
    toy = toy_dataset()
    retriever = word_retriever()
    retriever.index(toy.documents)
    found = runs.retrieve(retriever, toy.queries, toy.qrels, dataset="toy", depth=3)
    top = found.runs[found.runs["query_id"] == "c1/left"]
    # "tax school" is (1, 1, 0, 0): with d01 (2, 1, 0, 0) the cosine is 3 / sqrt(10).
    assert top["doc_id"].tolist() == ["d01", "d06", "d10"]
    assert top["score"].tolist() == pytest.approx([3 / 10**0.5, 0.5**0.5, 0.5**0.5], abs=1e-6)
    assert top["rank"].tolist() == [1, 2, 3]


def test_an_unmatched_query_gets_no_class_rank_either():
    retriever, queries, qrels = made(
        ["a", "b"], [[0, 0], [0, 1]], [None] * 2, [["a"]] * 2, lexical=True
    )
    texts_of = pd.Series({"a": "same", "b": "same"})
    found = runs.retrieve(retriever, queries, qrels, dataset="x", texts_of=texts_of)
    table = found.gold_ranks.astype("object").where(found.gold_ranks.notna(), None)
    columns = ["rank", "class_rank", "n_gold"]
    assert table[columns].to_numpy().tolist() == [[None, None, 1], [2, 1, 1]]


def test_given_scores_are_used_instead_of_texts():
    retriever, queries, qrels = made(["a", "b"], [[0.1, 0.2]], [None], [["a"]], lexical=False)
    asked = []

    def scores(query_ids):
        asked.extend(query_ids)
        return np.array([[0.9, 0.2]], dtype=np.float32)

    found = runs.retrieve(retriever, queries, qrels, dataset="x", scores=scores)
    assert asked == ["q0"]
    assert found.runs["doc_id"].tolist() == ["a", "b"]
    assert found.gold_ranks["rank"].tolist() == [1]


def test_a_corpus_smaller_than_the_depth():
    # C38
    retriever, queries, qrels = made(["a", "b", "c"], [[3, 1, 2]], [None], [[]], lexical=True)
    found = runs.retrieve(retriever, queries, qrels, dataset="x", depth=10)
    assert found.runs["doc_id"].tolist() == ["a", "c", "b"]


def test_nothing_asked_gives_two_empty_tables():
    retriever, queries, qrels = made(["a"], [[1.0]], [None], [[]], lexical=True)
    found = runs.retrieve(retriever, queries.iloc[:0], qrels, dataset="x")
    assert len(found.runs) == len(found.gold_ranks) == found.n_unmatched == 0


def test_only_grades_of_one_or_more_are_gold():
    qrels = pd.DataFrame(
        [("q", "a", 0), ("q", "b", 1), ("q", "b", 2), ("q", "c", -1), ("p", "d", 3)],
        columns=["query_id", "doc_id", "grade"],
    )
    assert runs.gold_documents(qrels) == {"q": ["b"], "p": ["d"]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", "b"], ("a", "b")),
        (np.array(["a"], dtype=object), ("a",)),
        ((), ()),
        (None, ()),
        (np.nan, ()),
        (pd.NA, ()),
    ],
)
def test_masks_in_every_form_tables_have_them(value, expected):
    queries = pd.DataFrame({"source_doc_ids": pd.Series([value], dtype="object")})
    assert runs.excluded(queries) == [expected]
