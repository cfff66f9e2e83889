"""Published comparisons, recall curves and number lists, against the shipped numbers themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from biasret import published
from biasret.filters import filter_named
from biasret.published import EXHIBITS
from biasret.reproduction import (
    DISAGREEMENTS,
    PUBLISHED_GAPS,
    disagreements,
    exhibit_numbers,
    published_gaps,
    published_means,
    published_recall,
    recomputed,
)
from biasret.statistics import holm


@pytest.mark.parametrize("name", PUBLISHED_GAPS)
def test_every_gap_is_the_released_one_to_the_last_digit(name):
    exhibit = PUBLISHED_GAPS[name]
    rows = published_gaps(name)
    numbers = published.load()
    of = numbers[(numbers["exhibit"] == name) & (numbers["source"] == "release")]
    assert len(rows) == 6 * len(exhibit.rules)
    for item, rule in exhibit.rules:
        filter_named(rule)
        part = rows[rows["filter"] == rule].set_index("retriever")
        gaps = of[(of["quantity"] == "gap") & (of["item"].fillna("") == item)]
        assert (
            dict(zip(gaps["retriever"], gaps["value"], strict=True)) == part["estimate"].to_dict()
        )
        if exhibit.p_quantity is not None:
            assert part["p_holm"].tolist() == holm(part["p_value"].to_numpy()).tolist()
            assert part["p_value"].notna().all()
    assert (rows["n_pairs"] > 0).all() == exhibit.is_paired
    assert (rows["n_minuend"] > 0).all()
    assert (rows["n_subtrahend"] > 0).all()


def test_group_sizes_borrowed_from_another_table_add_up_to_the_figures_own_n():
    for name in ("fig09b", "fig11"):
        rows = published_gaps(name).set_index("retriever")
        numbers = exhibit_numbers(name)
        n = numbers[numbers["quantity"] == "n"].set_index("retriever")["released"]
        assert (rows["n_minuend"] + rows["n_subtrahend"]).to_dict() == n.to_dict()


def test_judges_of_table_6_are_told_apart():
    rows = published_gaps("table06").set_index(["filter", "retriever"])["estimate"]
    assert rows["judge:gpt-5-mini", "octen-embedding-8b"] == 0.04300990796071161
    assert rows["judges", "octen-embedding-8b"] == 0.10346457313282487
    assert rows["raw", "bm25"] == 0.009230764498715838


@pytest.mark.parametrize("name", ["table12", "table13"])
def test_intervals_of_group_means_hold_the_released_means(name):
    rows = published_means(name)
    for side in ("minuend", "subtrahend"):
        assert (rows[f"low_{side}"] < rows[f"mean_{side}"]).all()
        assert (rows[f"mean_{side}"] < rows[f"high_{side}"]).all()


@pytest.mark.parametrize("contrast", ["natural", "translation"])
def test_recall_curves_count_ranks(contrast):
    ranks = published.load("ranks")
    rows = published_recall(contrast)
    assert len(rows) == 6 * 6
    row = rows[(rows["retriever"] == "bm25") & (rows["k"] == 10)].iloc[0]
    variant = {"natural": "wme_real", "translation": "trans_aal"}[contrast]
    of = ranks[(ranks["retriever"] == "bm25") & (ranks["variant"] == variant)]["rank"]
    hits = int((of <= 10).sum())
    assert row["mean_minuend"] == hits / len(of)
    wilson = binomtest(hits, len(of)).proportion_ci(method="wilson")
    assert (row["low_minuend"], row["high_minuend"]) == pytest.approx((wilson.low, wilson.high))
    assert row["estimate"] == row["mean_minuend"] - row["mean_subtrahend"]
    for _, of_one in rows.sort_values("k").groupby("retriever"):
        assert (np.diff(of_one["mean_minuend"]) >= 0).all()


def test_recall_does_not_depend_on_the_order_of_rows():
    ranks = published.load("ranks")
    key = ["retriever", "variant", "k"]
    one = recomputed.recall_intervals(ranks).sort_values(key, ignore_index=True)
    mixed = ranks.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(
        one, recomputed.recall_intervals(mixed).sort_values(key, ignore_index=True)
    )


@pytest.mark.parametrize("name", EXHIBITS)
def test_every_number_of_an_exhibit_is_listed(name):
    numbers = exhibit_numbers(name)
    table = published.load(EXHIBITS[name].table)
    if EXHIBITS[name].table != "published":
        pd.testing.assert_frame_equal(numbers, table)
        return
    of = table[table["exhibit"] == name]
    assert (
        numbers.get("printed", pd.Series(dtype="str")).notna().sum()
        == (of["source"] == "paper").sum()
    )
    released = of[of["source"] == "release"]
    assert (
        numbers.get("released", pd.Series(dtype=float)).notna().sum()
        == released["value"].notna().sum()
    )
    assert sorted(numbers.get("released", pd.Series(dtype=float)).dropna()) == sorted(
        released["value"].dropna()
    )


def test_printed_and_released_stand_in_one_row():
    rows = exhibit_numbers("table06").set_index(["retriever", "item", "quantity"])
    row = rows.loc[("octen-embedding-8b", "gold", "gap")]
    assert (row["printed"], row["released"]) == ("0.104", 0.10346457313282487)
    assert row["sign"] == "conservative - liberal"


def test_disagreements_name_exhibits_and_are_said_once():
    for one in DISAGREEMENTS:
        assert one.exhibits
        assert all(name in EXHIBITS for name in one.exhibits)
    assert len(disagreements("table07", "table13")) == 2
    assert disagreements("table11") == []
