"""Charts of residuals and of words: what is drawn is what the table holds."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from biasret import charts, lexical
from biasret.residuals import is_small
from biasret.tables import check


def rows(**columns: object) -> pd.DataFrame:
    plain = {
        "dataset": "made",
        "retriever": ["one", "two", "three"],
        "metric": "lean",
        "k": pd.array([10] * 3, dtype="Int64"),
        "filter": "raw",
        "minuend": "right",
        "subtrahend": "left",
        "design": "paired",
        "covariance": "HC1",
        "interval": "normal",
        "n": 100,
        "n_minuend": 100,
        "n_subtrahend": 100,
        "n_clusters": 100,
        "gap": [0.2, 0.1, -0.1],
        "gap_low": [0.1, -0.1, -0.2],
        "gap_high": [0.3, 0.3, np.nan],
        "gap_p_holm": [0.001, 0.4, 0.02],
        "residual": [0.15, 0.02, np.nan],
        "residual_low": [0.05, np.nan, np.nan],
        "residual_high": [0.25, np.nan, np.nan],
        "p_value": [0.01, 0.4, np.nan],
        "p_holm": [0.02, 0.4, np.nan],
        "note": [None, None, "no line"],
    }
    return check(pd.DataFrame(plain | columns), "residuals")


def test_markers_stand_at_the_numbers_and_tell_the_two_apart_by_shape():
    figure = charts.residual_forest(rows())
    before, after = figure.data
    assert list(before.x) == [0.2, 0.1, -0.1]
    assert list(after.x) == [0.15, 0.02]
    assert list(before.marker.symbol) == ["circle", "circle-open", "circle"]
    assert list(after.marker.symbol) == ["diamond", "diamond-open"]
    # Before stands above after, in the row of its retriever.
    assert [round(y) for y in (*before.y, *after.y)] == [0, 1, 2, 0, 1]
    assert all(a < b for a, b in zip(before.y[:2], after.y, strict=True))
    assert after.error_x.array[0] == pytest.approx(0.1)
    assert after.error_x.array[1] is None


def test_a_row_without_a_residual_keeps_its_gap_and_its_place():
    figure = charts.residual_forest(rows())
    assert list(figure.layout.yaxis.ticktext) == ["one", "two", "three"]
    assert len(figure.data[1].x) == 2


def test_without_any_interval_there_are_no_bars():
    figure = charts.residual_forest(rows(gap_low=np.nan, gap_high=np.nan))
    assert figure.data[0].error_x.array is None
    assert figure.data[1].error_x.array is not None


def test_few_queries_are_pale_and_not_hidden():
    table = rows(n_minuend=[100, 12, 100], n_subtrahend=[100, 100, 100])
    assert is_small(table).tolist() == [False, True, False]
    figure = charts.residual_forest(table)
    assert list(figure.data[0].marker.opacity) == [1.0, 0.4, 1.0]
    assert len(figure.data[0].x) == 3


def test_an_unknown_number_of_clusters_is_not_a_small_one():
    assert not is_small(rows(n_clusters=0)).any()
    assert is_small(rows(n_clusters=5)).all()


def test_sizes_stand_once_where_they_are_one():
    figure = charts.residual_forest(rows())
    assert figure.layout.xaxis.title.text.endswith("<br>100 pairs")
    assert not figure.layout.annotations
    figure = charts.residual_forest(rows(n=[100, 1, 100]))
    assert [a.text for a in figure.layout.annotations] == ["100 pairs", "1 pair", "100 pairs"]
    figure = charts.residual_forest(rows(design="unpaired", n_subtrahend=1200))
    assert figure.layout.xaxis.title.text.endswith("<br>100 / 1,200")


def test_panels_have_one_scale_each_and_one_legend():
    both = pd.concat([rows(), rows(dataset="other")], ignore_index=True)
    figure = charts.residual_panels(both, {"made": "First <b>", "other": "Second"})
    assert [trace.showlegend for trace in figure.data] == [True, True, False, False]
    assert [a.text for a in figure.layout.annotations] == ["First ‹b›", "Second"]
    assert len(figure.data) == 4


def test_hostile_names_are_plain():
    figure = charts.residual_forest(rows(minuend="<i>x</i>", retriever=["<b>", "two", "three"]))
    spec = json.loads(figure.to_json())
    assert "<b>" not in str(spec["layout"]["yaxis"])
    assert "<i>" not in str(spec["layout"]["xaxis"])


def tokens() -> pd.DataFrame:
    queries = pd.DataFrame(
        {
            "dataset": "made",
            "group": ["right"] * 3 + ["left"] * 3,
            "text": ["tax tax costs"] * 3 + ["school tax people"] * 3,
        }
    )
    return lexical.token_scores(queries, minuend="right", subtrahend="left")


def test_words_point_to_their_group_and_carry_their_counts():
    top = lexical.strongest(tokens())
    figure = charts.token_bars(top)
    right, left = figure.data
    assert min(right.x) > 0 > max(left.x)
    assert right.customdata[0][0] == "tax"
    assert [int(n) for n in right.customdata[0][1:]] == [6, 3]
    assert (right.marker.pattern.shape, left.marker.pattern.shape) == ("", "/")
    assert list(figure.layout.yaxis.ticktext) == top["token"].tolist()


def test_the_strongest_words_are_sorted_whatever_the_order_given():
    table = tokens()
    top = lexical.strongest(table.sample(frac=1, random_state=3), n=1)
    assert top["zeta"].tolist() == [table["zeta"].max(), table["zeta"].min()]
    assert lexical.strongest(table.head(0)).empty


def test_alt_says_what_is_missing():
    alt = charts.residual_alt(rows(), "A finding.")
    assert alt.startswith("A finding. one: gap +0.200, beyond vocabulary +0.150, corrected p 0.02.")
    assert "three: gap -0.100, no residual." in alt
