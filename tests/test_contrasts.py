"""Pairs and groups by hand, and the count of what could not be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.contrasts import paired, two_groups


def queries(*rows: tuple[str, str | None, str, str]) -> pd.DataFrame:
    columns = ["query_id", "group", "cell_id", "cluster_id"]
    return pd.DataFrame(rows, columns=columns).astype("str")


def values(**found: float | None) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": pd.Series(list(found), dtype="str"),
            "value": pd.Series(list(found.values()), dtype="float64"),
        }
    )


SIX = queries(
    ("a1", "left", "c2", "s2"),
    ("a2", "right", "c2", "s2"),
    ("b1", "left", "c1", "s1"),
    ("b2", "right", "c1", "s1"),
    ("b3", "neutral", "c1", "s1"),
    ("x", None, "c1", "s1"),
)


def test_right_minus_left_by_hand():
    found = paired(
        values(a1=0.2, a2=0.5, b1=-0.4, b2=0.4, b3=9.0, x=9.0),
        SIX,
        minuend="right",
        subtrahend="left",
    )
    # In order of cell: c1 0.4 - -0.4, c2 0.5 - 0.2. Neutral and ungrouped queries do not enter.
    assert found.cells.to_dict("list") == {
        "cell_id": ["c1", "c2"],
        "cluster_id": ["s1", "s2"],
        "minuend": [0.4, 0.5],
        "subtrahend": [-0.4, 0.2],
        "difference": [0.8, pytest.approx(0.3)],
    }
    assert found.dropped == {}


def test_several_variants_of_a_group_are_averaged_first():
    asked = queries(
        ("w", "WME", "c1", "c1"),
        ("a1", "AAL", "c1", "c1"),
        ("a2", "AAL", "c1", "c1"),
        ("a3", "AAL", "c1", "c1"),
    )
    found = paired(values(w=1.0, a1=0.5, a2=0.25, a3=0.0), asked, minuend="WME", subtrahend="AAL")
    assert found.cells.loc[0, ["minuend", "subtrahend", "difference"]].tolist() == [1.0, 0.25, 0.75]
    # A variant without a value leaves the mean to the others.
    found = paired(values(w=1.0, a1=0.5, a3=0.0), asked, minuend="WME", subtrahend="AAL")
    assert found.cells["difference"].tolist() == [0.75]
    assert found.dropped == {}


def test_cells_with_one_side_are_counted_and_named():
    asked = queries(
        ("a1", "left", "c1", "s"),
        ("a2", "right", "c1", "s"),
        ("b1", "left", "c2", "s"),
        ("b2", "right", "c2", "s"),
        ("c1", "left", "c3", "s"),
        ("c2", "right", "c3", "s"),
        ("d1", "left", "c4", "s"),  # never asked as right
        ("e2", "right", "c5", "s"),  # never asked as left
        ("f1", "neutral", "c6", "s"),  # not part of the contrast at all
    )
    found = paired(
        values(a1=0.0, a2=1.0, b1=0.5, c2=0.5, d1=0.5, f1=0.5),
        asked,
        minuend="right",
        subtrahend="left",
    )
    assert found.cells["cell_id"].tolist() == ["c1"]
    assert found.dropped == {
        "no value for right": 2,  # c2, c4
        "no value for left": 1,  # c3
        "no value for either": 1,  # c5
    }


def test_a_missing_value_is_no_zero():
    found = paired(
        values(a1=0.2, a2=np.nan, b1=0.0, b2=0.0), SIX, minuend="right", subtrahend="left"
    )
    assert found.cells["cell_id"].tolist() == ["c1"]
    assert found.cells["difference"].tolist() == [0.0]
    assert found.dropped == {"no value for right": 1}


@pytest.mark.parametrize("groups", [("right", "left"), ("no", "such")])
def test_nothing_to_compare(groups):
    found = paired(values(), SIX, minuend=groups[0], subtrahend=groups[1])
    assert len(found.cells) == 0
    assert found.cells["difference"].dtype == np.float64
    assert sum(found.dropped.values()) == (2 if groups[0] == "right" else 0)
    split = two_groups(values(), SIX, minuend=groups[0], subtrahend=groups[1])
    assert split.minuend.size == split.subtrahend.size == 0


CELLS = st.lists(
    st.tuples(
        st.lists(st.floats(-1, 1, width=16) | st.none(), max_size=3),
        st.lists(st.floats(-1, 1, width=16) | st.none(), max_size=3),
    ),
    max_size=6,
)


def drawn(cells: list) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows, found = [], {}
    for i, sides in enumerate(cells):
        for group, wordings in zip(("left", "right"), sides, strict=True):
            for j, value in enumerate(wordings):
                rows.append((f"{i}{group}{j}", group, f"c{i}", f"s{i // 2}"))
                if value is not None:
                    found[f"{i}{group}{j}"] = value
    return queries(*rows), values(**found)


@settings(max_examples=40, deadline=None)
@given(CELLS)
def test_every_cell_is_compared_or_counted(cells):
    asked, found = drawn(cells)
    straight = paired(found, asked, minuend="right", subtrahend="left")
    swapped = paired(found, asked, minuend="left", subtrahend="right")
    expected = {}
    for i, (left, right) in enumerate(cells):
        kept = [[v for v in side if v is not None] for side in (left, right)]
        if all(kept):
            expected[f"c{i}"] = float(np.mean(kept[1]) - np.mean(kept[0]))
    mine = dict(zip(straight.cells["cell_id"], straight.cells["difference"], strict=True))
    assert mine.keys() == expected.keys()
    for cell, difference in expected.items():
        assert mine[cell] == pytest.approx(difference, abs=1e-6)
    n_asked = sum(bool(left or right) for left, right in cells)
    assert len(mine) + sum(straight.dropped.values()) == n_asked
    # Swapping the groups negates every difference and renames what was dropped.
    assert (swapped.cells["difference"] == -straight.cells["difference"]).all()
    assert sum(swapped.dropped.values()) == sum(straight.dropped.values())


@settings(max_examples=25, deadline=None)
@given(CELLS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(cells, random):
    asked, found = drawn(cells)
    order = list(range(len(asked)))
    random.shuffle(order)
    mixed = asked.iloc[order]
    first = paired(found, asked, minuend="right", subtrahend="left")
    second = paired(found.iloc[::-1], mixed, minuend="right", subtrahend="left")
    pd.testing.assert_frame_equal(first.cells, second.cells, rtol=1e-12)
    one = two_groups(found, asked, minuend="right", subtrahend="left")
    other = two_groups(found.iloc[::-1], mixed, minuend="right", subtrahend="left")
    assert (one.minuend == other.minuend).all()
    assert (one.subtrahend_clusters == other.subtrahend_clusters).all()


def test_two_groups_by_hand():
    found = two_groups(
        values(a1=0.2, b1=-0.4, b2=0.4, b3=9.0, x=9.0), SIX, minuend="right", subtrahend="left"
    )
    # In order of query_id; a2 has no value, neutral and ungrouped queries do not enter.
    assert found.minuend.tolist() == [0.4]
    assert found.subtrahend.tolist() == [0.2, -0.4]
    assert found.minuend_clusters.tolist() == ["s1"]
    assert found.subtrahend_clusters.tolist() == ["s2", "s1"]
    assert found.dropped == {"right without a value": 1}
