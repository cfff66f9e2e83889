"""The cells that move most, against measurements worked through in pandas."""

from __future__ import annotations

import pytest

from biasret.contrasts import paired
from biasret.store import ORDERS, Cells

CELLS = Cells("toy", "by-hand", "lean", 5, "raw", "right", "left", 5)


def expected(stored, retriever: str = "by-hand", k: int = 5):
    rows = stored.store.measurements("toy", retriever=retriever, metric="lean", k=k, filter="raw")
    queries = stored.store.queries("toy")
    return paired(rows, queries, minuend="right", subtrahend="left").cells


@pytest.mark.parametrize("retriever", ["by-hand", "words"])
def test_differences_are_those_of_the_gap(stored, retriever):
    from dataclasses import replace

    found = stored.store.moved(replace(CELLS, retriever=retriever), order="difference", limit=10)
    by_cell = found.set_index("cell_id").sort_index()
    want = expected(stored, retriever).set_index("cell_id")
    assert by_cell["difference"].tolist() == want["difference"].tolist()
    assert by_cell["minuend"].tolist() == want["minuend"].tolist()
    assert found["n_cells"].tolist() == [3, 3, 3]
    sizes = found["difference"].abs().tolist()
    assert sizes == sorted(sizes, reverse=True)


def test_swapping_groups_negates_the_difference(stored):
    from dataclasses import replace

    one = stored.store.moved(CELLS, order="difference", limit=10).set_index("cell_id")
    swapped = replace(CELLS, minuend="left", subtrahend="right")
    other = stored.store.moved(swapped, order="difference", limit=10).set_index("cell_id")
    assert (one["difference"] == -other["difference"].reindex(one.index)).all()
    assert (one["overlap"] == other["overlap"].reindex(one.index)).all()


def test_overlap_by_hand(stored):
    found = stored.store.moved(CELLS, order="overlap", limit=10).set_index("cell_id")
    for cell_id, row in found.iterrows():
        lists = [
            set(stored.store.run("toy", "by-hand", row[f"{side}_id"]).query("rank <= 5")["doc_id"])
            for side in ("minuend", "subtrahend")
        ]
        longest = max(map(len, lists))
        want = len(lists[0] & lists[1]) / longest
        assert row["overlap"] == pytest.approx(want), cell_id
    assert found["overlap"].tolist() == sorted(found["overlap"])


def test_orders_look_for_either_side(stored):
    up = stored.store.moved(CELLS, order="up", limit=10)["difference"].tolist()
    down = stored.store.moved(CELLS, order="down", limit=10)["difference"].tolist()
    assert up == sorted(up, reverse=True)
    assert down == sorted(down)
    assert set(ORDERS) == {"difference", "up", "down", "overlap"}


def test_a_page_is_a_part_of_the_whole(stored):
    whole = stored.store.moved(CELLS, order="difference", limit=10)["cell_id"].tolist()
    pages = [
        stored.store.moved(CELLS, order="difference", limit=1, offset=i)["cell_id"].item()
        for i in range(3)
    ]
    assert pages == whole
    assert stored.store.moved(CELLS, order="difference", limit=5, offset=3).empty


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"words": "TAX"}, {"c1"}),
        ({"words": "school court"}, {"c2"}),
        ({"words": "tax zebra"}, set()),
        ({"words": "%"}, set()),
        ({"words": "'; DROP TABLE x; --"}, set()),
        ({"words": "\ud800"}, set()),
        ({"frame": "economic"}, {"c1", "c2", "c3"}),
        ({"frame": "morality"}, set()),
        ({"topic": "guns"}, set()),
        ({"rule": "same-story"}, None),
        ({"retriever": "nobody"}, set()),
        ({"dataset": "none"}, set()),
    ],
)
def test_filters(stored, changes, wanted):
    from dataclasses import replace

    found = stored.store.moved(replace(CELLS, **changes), order="difference", limit=10)
    if wanted is None:
        rows = stored.store.measurements(
            "toy", retriever="by-hand", metric="lean", k=5, filter="same-story"
        )
        queries = stored.store.queries("toy")
        wanted = set(paired(rows, queries, minuend="right", subtrahend="left").cells["cell_id"])
    assert set(found["cell_id"]) == wanted


def test_gold_in_the_first_k(stored):
    from dataclasses import replace

    ranks = stored.store.rows("gold_ranks", "toy", retriever="by-hand").set_index("query_id")
    for depth in (1, 2, 5):
        found = stored.store.moved(
            replace(CELLS, depth=depth, needs_gold=True), order="difference", limit=10
        )
        want = {
            cell
            for cell in ("c1", "c2", "c3")
            if any(
                ranks.loc[f"{cell}/{g}", "rank"] is not None
                and ranks["rank"].fillna(99)[f"{cell}/{g}"] <= depth
                for g in ("left", "right")
            )
        }
        assert set(found["cell_id"]) == want
