"""How alike two retrievers rank: by hand, against the list-by-list function, and in the store."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import overlap
from biasret.probe import rank_biased_overlap
from biasret.tables import check


def run(lists: dict[str, list[str]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"query_id": query, "rank": rank, "doc_id": doc}
            for query, docs in lists.items()
            for rank, doc in enumerate(docs, start=1)
        ],
        columns=["query_id", "rank", "doc_id"],
    )


def asked(names: list[str]) -> pd.DataFrame:
    rows = [
        {"dataset": "toy", "query_id": q, "cluster_id": f"s{i // 2}"} for i, q in enumerate(names)
    ]
    return pd.DataFrame(rows)


def test_overlap_by_hand():
    one = run({"q1": list("abcd"), "q2": list("ab"), "q3": list("a")})
    other = run({"q1": list("cxyz"), "q2": list("bcd"), "q4": list("a")})
    found = overlap.per_query(one, other, k=3)
    # q1: a b c against c x y, one of three; q2: one of three; q3 and q4 have one list alone.
    assert found["query_id"].tolist() == ["q1", "q2"]
    assert found["overlap"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert overlap.per_query(one, other, k=2)["overlap"].tolist() == [0.0, 0.5]


lists = st.lists(st.sampled_from("abcdefghijkl"), min_size=1, max_size=12, unique=True)


@settings(deadline=None, max_examples=150)
@given(lists, lists, st.integers(1, 12))
def test_it_is_the_list_by_list_overlap(first, second, k):
    found = overlap.per_query(run({"q": first}), run({"q": second}), k=k).iloc[0]
    assert found["rbo"] == pytest.approx(rank_biased_overlap(first[:k], second[:k]), abs=1e-9)
    longest = max(len(first[:k]), len(second[:k]))
    assert found["overlap"] == pytest.approx(len(set(first[:k]) & set(second[:k])) / longest)


@settings(deadline=None, max_examples=50)
@given(lists, lists)
def test_swapping_the_retrievers_or_renaming_documents_changes_nothing(first, second):
    one, other = run({"q": first}), run({"q": second})
    found = overlap.per_query(one, other, k=10)
    pd.testing.assert_frame_equal(found, overlap.per_query(other, one, k=10))
    renamed = [r.assign(doc_id=r["doc_id"].map(lambda d: f"{ord(d):x}")) for r in (one, other)]
    pd.testing.assert_frame_equal(found, overlap.per_query(*renamed, k=10))


def many(seed: int, n: int = 12, depth: int = 20) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return run({f"q{i:02d}": [f"d{j}" for j in rng.permutation(30)[:depth]] for i in range(n)})


class TestTable:
    names = tuple(f"q{i:02d}" for i in range(12))

    def test_every_pair_at_every_depth_reached(self):
        runs = {"a": many(1), "b": many(2), "c": many(3, depth=7), "none": run({})}
        table = overlap.retriever_overlaps(
            runs, asked(list(self.names)), depths={"c": 7}, settings=QUICK
        )
        pairs = table.groupby(["retriever", "other"])["k"].agg(list).to_dict()
        assert pairs["a", "b"] == pairs["a", "none"] == list(overlap.KS)
        # A run cut at 7 says nothing of a depth of 10.
        assert pairs["a", "c"] == pairs["b", "c"] == [5]
        row = table.iloc[1]
        by_query = overlap.per_query(runs["a"], runs["b"], k=10)
        assert row["overlap"] == pytest.approx(by_query["overlap"].mean())
        assert row["rbo"] == pytest.approx(by_query["rbo"].mean())
        assert row["ci_low"] <= row["overlap"] <= row["ci_high"]
        assert (row["n"], row["n_clusters"]) == (12, 6)
        nothing = table[table["other"] == "none"]
        assert (nothing["n"] == 0).all()
        assert nothing[["overlap", "rbo"]].isna().all(axis=None)

    def test_a_retriever_beside_itself_is_the_same(self):
        table = overlap.retriever_overlaps(
            {"a": many(1), "b": many(1)}, asked(list(self.names)), settings=QUICK
        )
        assert (table["overlap"] == 1).all()
        assert (table["rbo"] == 1).all()
        assert table["ci_low"].isna().all()
        assert table["note"].str.contains("all values equal").all()

    def test_one_retriever_has_no_pair(self):
        table = overlap.retriever_overlaps({"a": many(1)}, asked(list(self.names)))
        assert table.empty
        pd.testing.assert_frame_equal(table, check(table, "retriever_overlaps"))


def test_the_build_makes_it_once(stored):
    from biasret.build import read_dataset

    toy = read_dataset(stored.folder, "toy")
    assert overlap.build_overlaps(stored.folder, toy, ["by-hand", "words", "unknown"])
    assert not overlap.build_overlaps(stored.folder, toy, ["by-hand", "words", "unknown"])
    assert overlap.build_overlaps(stored.folder, toy, ["by-hand", "words"], force=True)
    table = stored.folder.read("retriever_overlaps", "toy")
    # One retriever has nothing to be compared with, and leaves nothing stale behind.
    assert not overlap.build_overlaps(stored.folder, toy, ["by-hand"])
    assert not stored.folder.files("retriever_overlaps")
    runs = [stored.folder.read("runs", "toy", name) for name in ("by-hand", "words")]
    expected = overlap.per_query(*runs, k=5)
    assert table.loc[table["k"] == 5, "overlap"].item() == pytest.approx(expected["overlap"].mean())
