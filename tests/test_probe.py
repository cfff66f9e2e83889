"""Two wordings side by side: every state, every movement, and the overlap of two lists."""

from __future__ import annotations

import math
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from conftest import HandScored, toy_dataset, word_retriever
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import probe
from biasret.errors import StoreError
from biasret.precomputed import Vectors, text_sha256
from biasret.probe import Comparison, compare, movement, rank_biased_overlap
from biasret.retrievers.dense import Dense

#: Rankings by hand, best first, by text.
LISTS = {
    "abc": "abc",
    "acb": "acb",
    "abd": "abd",
    "xyz": "xyz",
    "a": "a",
    "nothing": "",
    "abcdefghij": "abcdefghij",
    "jihgfedcba": "jihgfedcba",
}
STANCES = pd.Series({"a": "right", "b": "right", "c": "left", "d": "center"})


def retriever(lists: dict[str, str] = LISTS) -> HandScored:
    ids = sorted(set("".join(lists.values())))
    made = HandScored(
        {
            text: {doc_id: 1.0 - rank / 100 for rank, doc_id in enumerate(ranking)}
            for text, ranking in lists.items()
        }
    )
    made.index(pd.DataFrame({"doc_id": ids, "text": "x"}))
    return made


def asked(a: str, b: str, **options: object) -> Comparison:
    return compare(retriever(), a, b, **{"k": 10, **options})


# --- states ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "state", "counts"),
    [
        ("nothing", "unknown", "empty", (0, 0, 0)),
        ("abc", "nothing", "one empty", (0, 3, 0)),
        ("nothing", "abc", "one empty", (0, 0, 3)),
        ("abc", "abc", "identical", (3, 0, 0)),
        ("abc", "acb", "reordered", (3, 0, 0)),
        ("abc", "abd", "changed", (2, 1, 1)),
        ("abc", "xyz", "changed", (0, 3, 3)),
        ("abc", "a", "changed", (1, 2, 0)),
        ("", "", "empty", (0, 0, 0)),
        ("abc", "", "one empty", (0, 3, 0)),
        ("abc", " \n\t", "one empty", (0, 3, 0)),
    ],
)
def test_every_state(a, b, state, counts):
    found = asked(a, b)
    assert found.state == state
    assert (found.n_shared, found.n_lost, found.n_new) == counts
    n_a, n_b = (len(side.ranking.doc_ids) for side in (found.a, found.b))
    assert found.n_shared + found.n_lost == n_a
    assert found.n_shared + found.n_new == n_b
    if state == "empty":
        # C1: nothing on either side is no overlap, not a full one.
        assert found.overlap is None
    else:
        assert found.overlap == counts[0] / max(n_a, n_b)
    assert (found.rbo is None) == (state in ("empty", "one empty"))
    assert len(found.documents) == sum(counts)


def test_equal_lists_of_two_wordings_are_identical():
    found = compare(retriever({"one": "abc", "other": "abc"}), "one", "other", k=10)
    assert found.state == "identical"


def test_the_same_text_twice_changes_exactly_nothing():
    # C29: a tie once made a change appear between identical runs.
    dense = word_retriever()
    dense.index(toy_dataset().documents)
    tied = HandScored({"t": dict.fromkeys("abcdefgh", 1.0)})
    tied.index(pd.DataFrame({"doc_id": list("abcdefgh"), "text": "x"}))
    for made, text in ((retriever(), "abc"), (dense, "tax school"), (tied, "t")):
        for k in (1, 3, 10):
            ids = made.doc_ids.tolist()
            stances = pd.Series(["left", "right"] * len(ids), index=[*ids, *ids])
            stances = stances[~stances.index.duplicated()]
            found = compare(made, text, text, k=k, stances=stances, gold=ids[-1:])
            assert found.state == "identical"
            assert found.lean_difference == 0.0
            assert found.rbo == 1.0
            assert found.overlap == 1.0
            assert found.a.gold_rank == found.b.gold_rank
            assert set(found.documents["movement"]) == {"same"}


# --- movement ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rank_a", "rank_b", "words"),
    [
        (5, 2, "up 3"),
        (2, 5, "down 3"),
        (2, 1, "up 1"),
        (7, 7, "same"),
        (None, 1, "new"),
        (1, None, "lost"),
        (100, 1, "up 99"),
    ],
)
def test_movement_in_words(rank_a, rank_b, words):
    assert movement(rank_a, rank_b) == words


def test_documents_of_both_sides_in_order_of_the_better_rank():
    found = asked("abc", "abd").documents
    assert found["doc_id"].tolist() == ["a", "b", "c", "d"]
    assert found["rank_a"].tolist() == [1, 2, 3, pd.NA]
    assert found["rank_b"].tolist() == [1, 2, pd.NA, 3]
    assert found["movement"].tolist() == ["same", "same", "lost", "new"]
    found = asked("abc", "acb").documents
    assert found["movement"].tolist() == ["same", "down 1", "up 1"]


def test_no_documents_make_an_empty_table_with_its_columns():
    found = asked("nothing", "nothing").documents
    assert list(found.columns) == ["doc_id", "rank_a", "rank_b", "movement"]
    assert len(found) == 0


# --- numbers -----------------------------------------------------------------------------------


def test_lean_by_hand():
    found = asked("abc", "abd", stances=STANCES)
    assert found.a.lean == pytest.approx(1 / 3)  # right, right, left
    assert found.b.lean == pytest.approx(2 / 3)  # right, right, center
    assert found.lean_difference == pytest.approx(1 / 3)  # B minus A
    assert asked("abd", "abc", stances=STANCES).lean_difference == pytest.approx(-1 / 3)
    # A document without a stance counts below the line.
    assert asked("abc", "xyz", stances=STANCES).b.lean == 0.0
    assert asked("abc", "abd", stances=STANCES, k=2).lean_difference == 0.0


def test_there_is_no_lean_without_stances_or_documents():
    assert asked("abc", "abd").a.lean is None
    assert asked("abc", "abd").lean_difference is None
    half = asked("abc", "nothing", stances=STANCES)
    assert half.a.lean is not None
    assert half.b.lean is None
    assert half.lean_difference is None


def test_the_rank_of_gold_is_in_the_full_ranking():
    ten, back = "abcdefghij", "jihgfedcba"
    found = asked(ten, back, k=3, gold=["i"])
    assert (found.a.gold_rank, found.b.gold_rank) == (9, 2)
    found = asked(ten, back, k=3, gold=["i", "b"])
    assert (found.a.gold_rank, found.b.gold_rank) == (2, 2)
    found = asked(ten, back, k=3, gold=["i"], exclude=["a", "j"])
    assert (found.a.gold_rank, found.b.gold_rank) == (8, 1)
    assert asked(ten, back, gold=["i"], exclude=["i"]).a.gold_rank is None
    assert asked(ten, back, gold=["gone"]).a.gold_rank is None
    assert asked(ten, back).a.gold_rank is None


def test_excluded_documents_are_on_neither_side():
    found = asked("abc", "abd", exclude={"b", "gone"})
    assert found.a.ranking.doc_ids == ["a", "c"]
    assert found.b.ranking.doc_ids == ["a", "d"]
    assert "b" not in found.documents["doc_id"].tolist()


def test_a_blank_side_is_empty_even_where_a_model_would_answer():
    # C2: with B left blank A is shown and nothing is compared.
    class Answers:
        """Gives every text a vector, the empty one too."""

        def encode(self, texts, *, prefix=""):
            return np.ones((len(texts), 4), dtype=np.float32)

        def count_tokens(self, texts, *, prefix=""):
            return np.array([2] * len(texts))

        def prompts(self):
            return {}

    made = Dense(word_retriever().record, Answers)
    made.index(toy_dataset().documents)
    for blank in ("", "  \n"):
        found = compare(made, "tax", blank, k=5, stances=STANCES, gold=["d01"])
        assert len(found.a.ranking.doc_ids) == 5
        assert found.a.gold_rank == 1
        assert found.b.ranking.is_empty
        assert found.b.gold_rank is None
        assert found.b.lean is None
        assert found.lean_difference is None
        assert found.rbo is None
        assert found.state == "one empty"


def test_a_cut_text_is_said_to_be_cut():
    dense = word_retriever()  # reads three tokens
    dense.index(toy_dataset().documents)
    found = compare(dense, "tax school border", "tax school border court", k=3)
    assert (found.a.n_tokens, found.a.max_tokens, found.a.is_truncated) == (3, 3, False)
    assert (found.b.n_tokens, found.b.is_truncated) == (4, True)
    assert not asked("abc", "abd").b.is_truncated


def test_a_hundred_rows_a_side():
    # C6
    ids = [f"d{i:03d}" for i in range(150)]
    lists = {
        "a": {doc_id: 1 - i / 1000 for i, doc_id in enumerate(ids[:100])},
        "b": {doc_id: 1 - i / 1000 for i, doc_id in enumerate(ids[30:140])},
    }
    made = HandScored(lists)
    made.index(pd.DataFrame({"doc_id": ids, "text": "x"}))
    found = compare(made, "a", "b", k=100)
    assert len(found.a.ranking.doc_ids) == len(found.b.ranking.doc_ids) == 100
    assert (found.n_shared, found.n_lost, found.n_new) == (70, 30, 30)
    assert found.overlap == 0.7
    assert len(found.documents) == 130
    moved = found.documents.set_index("doc_id")["movement"]
    assert moved["d030"] == "up 30"
    assert moved["d129"] == "new"


def test_k_above_the_corpus():
    # C38
    found = asked("abc", "abd", k=1_000)
    assert len(found.a.ranking.doc_ids) == 3
    assert found.k == 1_000


ODD_IDS = [
    "https://x/y?a=1&b=2#c",
    "a/b",
    "a b",
    " a b ",
    "a,b;c\t",
    "007",
    "7",
    "7.0",
    "nan",
    "NA",
    "<b>",
    "🩺",
    "\u00c9",
    "E\u0301",
]


def test_odd_ids_join():
    # C9
    made = HandScored(
        {
            "a": {doc_id: 1 - i / 100 for i, doc_id in enumerate(ODD_IDS)},
            "b": {doc_id: 1 - i / 100 for i, doc_id in enumerate(reversed(ODD_IDS))},
        }
    )
    made.index(pd.DataFrame({"doc_id": ODD_IDS, "text": "x"}))
    stances = pd.Series(["left"] * len(ODD_IDS), index=ODD_IDS)
    for odd in ODD_IDS:
        found = compare(made, "a", "b", k=20, stances=stances, gold=[odd])
        assert found.a.gold_rank == ODD_IDS.index(odd) + 1
        without = compare(made, "a", "b", k=20, exclude=[odd])
        assert without.n_shared == len(ODD_IDS) - 1
    assert found.n_shared == len(ODD_IDS)
    assert found.a.lean == found.b.lean == -1.0
    ranks = found.documents.set_index("doc_id")
    for i, odd in enumerate(ODD_IDS, start=1):
        assert ranks.loc[odd, "rank_a"] == i
        assert ranks.loc[odd, "rank_b"] == len(ODD_IDS) + 1 - i


def test_stored_vectors_in_any_order_index_the_same_documents(monkeypatch):
    toy = toy_dataset()
    straight = word_retriever()
    straight.index(toy.documents)
    shuffled = np.random.default_rng(3).permutation(10)
    ids = sorted(toy.documents["doc_id"])
    hashes = {row.doc_id: text_sha256(row.text) for row in toy.documents.itertuples()}
    vectors = Vectors(
        ids=[ids[i] for i in shuffled],
        matrix=straight.matrix[shuffled],
        text_sha256=[hashes[ids[i]] for i in shuffled],
        truncated=np.zeros(10, dtype=bool),
    )
    monkeypatch.setattr(
        sys.modules["biasret.probe.indexing"], "load", lambda name, models=None: word_retriever()
    )
    made = probe.ready("words", toy.documents.iloc[::-1], vectors=vectors)
    for text in ("tax school", "border"):
        mine, theirs = made.search([text], k=10)[0], straight.search([text], k=10)[0]
        assert mine.doc_ids == theirs.doc_ids
        assert (mine.scores == theirs.scores).all()


@pytest.mark.parametrize("fault", ["a document without a vector", "a text that has changed"])
def test_vectors_that_do_not_fit_the_documents_are_refused(monkeypatch, fault):
    documents = toy_dataset().documents
    ids = documents["doc_id"].tolist()
    hashes = [text_sha256(text) for text in documents["text"]]
    if fault == "a document without a vector":
        ids[0] = "another"
    else:
        hashes[0] = text_sha256("what it said before")
    vectors = Vectors(ids, np.eye(10, 4, dtype=np.float32), hashes, np.zeros(10, dtype=bool))
    monkeypatch.setattr(
        sys.modules["biasret.probe.indexing"], "load", lambda name, models=None: word_retriever()
    )
    with pytest.raises(StoreError, match=r"1 of 10 documents .* run `python -m biasret build`"):
        probe.ready("words", documents, vectors=vectors)


# --- typicality ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "rest", "stored", "n_less", "n_equal"),
    [
        (0.3, 0.0, [0.1, -0.2, 0.3, -0.3, 0.4], 2, 2),  # by size, whatever the direction
        (-0.3, 0.0, [0.1, -0.2, 0.3, -0.3, 0.4], 2, 2),
        (0.0, 0.0, [0.0, 0.0, 0.1], 0, 2),
        (0.1 + 0.2, 0.0, [0.3], 0, 1),  # the same ratio, summed in another way
        (0.4, 1.0, [1.0, 0.5, 0.4, 0.0], 2, 1),  # an overlap: 1 is no change
    ],
)
def test_how_typical_a_change_is(value, rest, stored, n_less, n_equal):
    found = probe.typicality("lean", value, np.array(stored), rest=rest)
    assert (found.n_less, found.n_equal) == (n_less, n_equal)
    assert found.share_less == n_less / len(stored)


def test_without_stored_pairs_nothing_is_typical():
    assert probe.typicality("lean", 0.5, np.array([])) is None


# --- rank-biased overlap -----------------------------------------------------------------------


def direct(first: str, second: str, p: float) -> float:
    """Agreement at every depth, weighted and summed to a depth where nothing is left to add.

    Webber et al., section 4: beyond the shorter list its agreement is taken to go on, beyond
    the longer the agreement stays as it is.
    """
    short, long = sorted([first, second], key=len)
    s, ell = len(short), len(long)

    def shared(d: int) -> int:
        return len(set(short[:d]) & set(long[:d]))

    def agreement(d: int) -> float:
        if d <= s:
            return shared(d) / d
        if d <= ell:
            return (shared(d) + shared(s) * (d - s) / s) / d
        return agreement(ell)

    return (1 - p) * sum(p ** (d - 1) * agreement(d) for d in range(1, 1500))


PERMUTED = st.permutations("abcdefghij").map("".join)


@settings(max_examples=60, deadline=None)
@given(
    PERMUTED, PERMUTED, st.integers(1, 10), st.integers(1, 10), st.sampled_from([0.5, 0.9, 0.98])
)
def test_rank_biased_overlap_is_its_definition(first, second, n, m, p):
    a, b = first[:n], second[:m]
    found = rank_biased_overlap(a, b, p=p)
    assert found == pytest.approx(direct(a, b, p), abs=1e-9)
    assert 0.0 <= found <= 1.0
    assert rank_biased_overlap(b, a, p=p) == found
    assert rank_biased_overlap(a, a, p=p) == 1.0


@pytest.mark.parametrize(
    ("first", "second", "p", "expected"),
    [
        ("abc", "abc", 0.9, 1.0),
        ("abc", "xyz", 0.9, 0.0),
        # Agreement 0 at depth 1 and 1 from depth 2 on: all weight but that of depth 1.
        ("ab", "ba", 0.9, 0.9),
        ("ab", "ba", 0.5, 0.5),
        # Agreement 1 at depth 1 and 1/2 from depth 2 on: (1 - p) + p / 2.
        ("ab", "ax", 0.9, 0.55),
        # 0, 1/2, then 2/3 for ever: 0.1 * 0.9 / 2 + 0.81 * 2 / 3.
        ("abc", "xab", 0.9, 0.585),
        # The shorter list agreed wholly and is taken to go on so.
        ("a", "abc", 0.9, 1.0),
    ],
)
def test_known_values(first, second, p, expected):
    assert rank_biased_overlap(first, second, p=p) == pytest.approx(expected, abs=1e-12)


def test_the_top_weighs_most():
    straight = "abcdefghij"
    swapped = [
        rank_biased_overlap(
            straight, straight[:i] + straight[i + 1] + straight[i] + straight[i + 2 :]
        )
        for i in range(9)
    ]
    assert all(one < other for one, other in pairwise(swapped))
    # The first ten ranks carry 86% of the weight (Webber et al., eq. 21).
    p, d = probe.RBO_P, 10
    tail = sum(p**i / i for i in range(1, d))
    weight = 1 - p ** (d - 1) + (1 - p) / p * d * (math.log(1 / (1 - p)) - tail)
    assert weight == pytest.approx(0.86, abs=0.005)
