"""What a dataset holds, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from conftest import TOY, toy_dataset

from biasret import inventory


def queries(texts: dict[str, list[str]]) -> pd.DataFrame:
    rows = [
        {"query_id": f"{group}{i}", "group": group or None, "text": text, "origin": "written"}
        for group, several in texts.items()
        for i, text in enumerate(several)
    ]
    return pd.DataFrame(rows).assign(
        cell_id=lambda f: f["query_id"], cluster_id=lambda f: f["query_id"]
    )


def test_lengths_by_hand():
    table = inventory.lengths(queries({"right": ["abcd", "ab"], "left": ["é" * 3]}), TOY)
    assert table["group"].tolist() == ["left", "right"]  # subtrahend first, as everywhere
    right = table.set_index("group").loc["right"]
    assert (right["mean"], right["median"], right["min"], right["max"]) == (3.0, 3.0, 2, 4)
    assert right["sd"] == pytest.approx(2**0.5)
    left = table.set_index("group").loc["left"]
    assert left["mean"] == 3.0  # characters, not bytes
    assert pd.isna(left["sd"])  # one query has no spread


def test_white_space_and_emoji_count_as_they_are_stored():
    table = inventory.lengths(queries({"left": [" a\n", "👩🏾"]}), TOY)
    assert (table["min"].item(), table["max"].item()) == (2, 3)


def test_the_histogram_holds_every_query_once_in_bins_of_whole_characters():
    frame = queries({"left": ["x" * n for n in range(1, 200)], "right": ["y" * 200] * 7})
    table = inventory.length_counts(frame, TOY, bins=30)
    assert table.groupby("group")["n_queries"].sum().to_dict() == {"left": 199, "right": 7}
    assert table.groupby("group")["share"].sum().tolist() == pytest.approx([1.0, 1.0])
    assert (table["high"] - table["low"]).nunique() == 1
    left = table[table["group"] == "left"]
    assert left["n_queries"].iloc[:-1].nunique() == 1  # every length occurs once: no comb
    assert left["low"].tolist() == table.loc[table["group"] == "right", "low"].tolist()


def test_a_histogram_of_equal_lengths_has_one_bin():
    table = inventory.length_counts(queries({"left": ["abc", "abd"]}), TOY)
    assert table[["low", "high", "n_queries"]].to_numpy().tolist() == [[3, 4, 2]]


def test_queries_without_a_group_are_shown():
    table = inventory.groups(queries({"": ["a", "b"]}), replace(TOY, minuend=None, subtrahend=None))
    assert table["group"].tolist() == [inventory.NO_GROUP]
    assert table["n_queries"].tolist() == [2]


def test_groups_and_stances_of_the_toy():
    toy = toy_dataset()
    table = inventory.groups(toy.queries, toy.record)
    assert table["group"].tolist() == ["left", "right", "neutral"]
    assert table["n_cells"].tolist() == [3, 3, 3]
    stances = inventory.stances(toy.documents)
    assert dict(zip(stances["stance"], stances["n_documents"], strict=True)) == {
        "left": 3,
        "center": 3,
        "right": 3,
        "no stance": 1,
    }
    assert stances["share"].sum() == pytest.approx(1.0)


def test_the_sentence_swaps_with_the_groups():
    lengths = inventory.lengths(queries({"right": ["abcd"], "left": ["ab"]}), TOY)
    assert "right are 2.0 characters longer" in inventory.length_sentence(lengths, TOY)
    swapped = replace(TOY, minuend="left", subtrahend="right")
    assert "left are 2.0 characters shorter" in inventory.length_sentence(lengths, swapped)
    nobody = replace(TOY, minuend=None, subtrahend=None)
    assert "3.0 characters on average" in inventory.length_sentence(lengths, nobody)
    same = inventory.lengths(queries({"right": ["ab"], "left": ["cd"]}), TOY)
    assert "equally long" in inventory.length_sentence(same, TOY)


def test_shares_keep_counts_and_order():
    counts = pd.DataFrame({"group": ["right", None, "left"], "n": [4, 2, 5], "n_cut": [1, 0, 5]})
    table = inventory.share_of(counts, "n_cut", record=TOY)
    assert table["group"].tolist() == ["left", "right", "no group"]
    assert table["share"].tolist() == [1.0, 0.25, 0.0]


def test_the_store_counts_cut_texts_and_empty_rankings(stored):
    cut = stored.store.cut("toy")
    # The word encoder reads three words; only d10 has four.
    by = cut.set_index(["kind", "group"])["n_cut"].to_dict()
    assert sum(n for (kind, _), n in by.items() if kind == "document") == 1
    assert sum(n for (kind, _), n in by.items() if kind == "query") == 0
    assert cut["n"].sum() == 10 + 9
    unmatched = stored.store.unmatched("toy")
    by_hand = unmatched[unmatched["retriever"] == "by-hand"].set_index("group")
    # "school", the neutral wording of c2, scores nothing by hand.
    assert by_hand["n_unmatched"].to_dict() == {"left": 0, "neutral": 1, "right": 0}
    assert by_hand["n"].tolist() == [3, 3, 3]
    top = stored.store.top("toy", 2)
    assert top["rank"].max() == 2
    assert top.groupby(["retriever", "query_id"]).size().max() == 2
