"""What is in a figure: intervals, shapes, and nothing a reader of JSON would choke on."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, toy_dataset

from biasret import audit
from biasret.charts import (
    GROUP_STYLES,
    forest,
    forest_alt,
    gap_by,
    gap_forest,
    headline,
    k_sweep,
    levels_chart,
    plain,
)
from biasret.tables import check


def measured(retrievers: tuple[str, ...] = ("bm25", "minilm-l6"), n: int = 30) -> pd.DataFrame:
    """A ``gaps`` table of random lean values at three depths."""
    rng = np.random.default_rng(0)
    asked = pd.DataFrame(
        [
            {"query_id": f"{i}/{g}", "group": g, "cell_id": f"c{i}", "cluster_id": f"s{i // 2}"}
            for i in range(n)
            for g in ("left", "right")
        ]
    )
    rows = [
        {
            "dataset": "toy",
            "retriever": retriever,
            "query_id": query_id,
            "metric": "lean",
            "k": k,
            "filter": "raw",
            "value": rng.normal(),
        }
        for retriever in retrievers
        for k in (5, 10, 20)
        for query_id in asked["query_id"]
    ]
    return audit.gaps(pd.DataFrame(rows), asked, toy_dataset().record, settings=QUICK)


@pytest.fixture(scope="module")
def gaps() -> pd.DataFrame:
    return measured()


@pytest.fixture(scope="module")
def levels() -> pd.DataFrame:
    rows = [
        {
            "dataset": "toy",
            "retriever": name,
            "metric": "rr",
            "k": None,
            "filter": "raw",
            "group": "all",
            "n": n,
            "n_clusters": n,
            "mean": mean,
            "ci_low": low,
            "ci_high": high,
        }
        for name, n, mean, low, high in (
            ("bm25", 1200, 0.4, 0.3, 0.5),
            ("minilm-l6", 1, 0.5, None, None),
        )
    ]
    return check(pd.DataFrame(rows), "levels")


def at_10(gaps: pd.DataFrame) -> pd.DataFrame:
    return gaps[gaps["k"] == 10].reset_index(drop=True)


def spec(figure: object) -> dict:
    """The figure as a plain reader of JSON gets it: NaN and Infinity are refused (C73)."""

    def refuse(name: str) -> None:
        pytest.fail(f"{name} in the figure")

    return json.loads(figure.to_json(), parse_constant=refuse)


def leaves(node: object) -> Iterator[object]:
    if isinstance(node, dict):
        if set(node) >= {"dtype", "bdata"}:
            array = np.frombuffer(base64.b64decode(node["bdata"]), dtype=node["dtype"])
            yield from array.tolist()
            return
        for value in node.values():
            yield from leaves(value)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value)
    else:
        yield node


def shown(document: dict) -> list[str]:
    """Every text of a figure but its template."""
    layout = {key: value for key, value in document["layout"].items() if key != "template"}
    found = [leaf for leaf in leaves([document["data"], layout]) if isinstance(leaf, str)]
    # The empty second box of a hover label is plotly's own.
    return [text.replace("<extra>", "").replace("</extra>", "") for text in found]


def every_chart(gaps: pd.DataFrame, levels: pd.DataFrame) -> list[dict]:
    return [spec(forest(at_10(gaps))), spec(k_sweep(gaps)), spec(levels_chart(levels))]


def test_every_group_chart_has_intervals(gaps, levels):
    # C52
    for document in every_chart(gaps, levels):
        traces = [trace for trace in document["data"] if trace["type"] == "scatter"]
        assert traces
        for trace in traces:
            error = trace.get("error_x") or trace.get("error_y")
            assert error["symmetric"] is False
            n = len(trace["x"])
            assert len(error["array"]) == len(error["arrayminus"]) == n > 0
            assert all(v is None or v > 0 for v in [*error["array"], *error["arrayminus"]])


def test_the_bars_of_the_forest_are_the_intervals_of_the_table(gaps):
    rows = at_10(gaps)
    left, right = spec(forest(rows))["data"]
    assert (left["name"], right["name"]) == ("left", "right")
    for trace, side in ((left, "subtrahend"), (right, "minuend")):
        means = rows[f"mean_{side}"].tolist()
        assert trace["x"] == means
        high = np.add(means, trace["error_x"]["array"])
        low = np.subtract(means, trace["error_x"]["arrayminus"])
        assert high == pytest.approx(rows[f"high_{side}"].to_numpy())
        assert low == pytest.approx(rows[f"low_{side}"].to_numpy())
    # One row a retriever, its two markers apart.
    assert [round(y) for y in left["y"]] == [round(y) for y in right["y"]] == [0, 1]
    assert all(a != b for a, b in zip(left["y"], right["y"], strict=True))


def test_the_sweep_has_every_depth_of_every_retriever(gaps):
    document = spec(k_sweep(gaps))
    assert len(document["data"]) == 2 * 2
    for trace in document["data"]:
        assert trace["x"] == [5, 10, 20]
    bm25 = gaps[gaps["retriever"] == "bm25"].sort_values("k")
    assert document["data"][0]["y"] == bm25["mean_subtrahend"].tolist()
    assert document["data"][1]["y"] == bm25["mean_minuend"].tolist()
    # The legend names each group once.
    assert [trace["showlegend"] for trace in document["data"]] == [True, True, False, False]
    axes = [v for k, v in document["layout"].items() if k.startswith("xaxis")]
    assert all(axis["type"] == "log" and axis["tickvals"] == [5, 10, 20] for axis in axes)


@pytest.mark.parametrize("n_retrievers", [1, 2, 3, 4, 7])
def test_any_number_of_retrievers(n_retrievers):
    found = measured(tuple(f"r{i}" for i in range(n_retrievers)), n=4)
    assert len(spec(k_sweep(found))["data"]) == 2 * n_retrievers
    document = spec(forest(at_10(found)))
    assert len(document["layout"]["yaxis"]["ticktext"]) == n_retrievers
    assert len(document["layout"]["annotations"]) == n_retrievers


def damaged(gaps: pd.DataFrame, value: float) -> pd.DataFrame:
    """Gaps in which one retriever has no mean and another no interval."""
    found = gaps.copy()
    found.loc[found["retriever"] == "bm25", "mean_minuend"] = value
    for name in ("low_subtrahend", "high_subtrahend"):
        found.loc[found["retriever"] == "minilm-l6", name] = value
    found.loc[found["retriever"] == "bm25", ["estimate", "ci_low", "p_value", "p_holm"]] = np.nan
    return found


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_left_out(gaps, value):
    # P8
    found = damaged(gaps, value)
    for document in (spec(forest(at_10(found))), spec(k_sweep(found))):
        numbers = [leaf for leaf in leaves(document["data"]) if isinstance(leaf, float)]
        assert np.isfinite(numbers).all()
    left, right = spec(forest(at_10(found)))["data"]
    # The retriever without a mean keeps its row, without that marker.
    assert [round(y) for y in right["y"]] == [1]
    assert [round(y) for y in left["y"]] == [0, 1]
    # A mean without an interval has no bar: one of no width would read as certainty.
    assert left["error_x"]["array"][1] is None
    assert left["error_x"]["arrayminus"][1] is None
    assert left["error_x"]["array"][0] > 0


def test_a_level_without_an_interval_has_no_bar(levels):
    (trace,) = spec(levels_chart(levels))["data"]
    assert trace["x"] == [0.4, 0.5]
    assert trace["error_x"]["array"] == [pytest.approx(0.1), None]
    texts = [note["text"] for note in spec(levels_chart(levels))["layout"]["annotations"]]
    assert texts == ["1,200 queries", "1 query"]


@pytest.mark.parametrize("name", ["<b>x</b>", "a<br>b", "<script>", "1 < 2 > 0"])
def test_labels_hold_no_tags(gaps, levels, name):
    # P10
    hostile = gaps.replace({"retriever": {"bm25": name}}).assign(minuend=name)
    for document in every_chart(hostile, levels.replace({"retriever": {"bm25": name}})):
        texts = shown(document)
        assert not [text for text in texts if "<" in text or ">" in text]
        assert any(plain(name) in text for text in texts)
    alt = forest_alt(at_10(hostile), f"About {name}.")
    assert "<" not in alt
    assert ">" not in alt


def test_groups_differ_in_colour_and_shape():
    # Colour is never the only cue.
    for one, other in (("left", "right"), ("liberal", "conservative"), ("WME", "AAL")):
        assert GROUP_STYLES[one][0] != GROUP_STYLES[other][0]
        assert GROUP_STYLES[one][1] != GROUP_STYLES[other][1]
    assert GROUP_STYLES["left"] == GROUP_STYLES["liberal"] == ("#4477AA", "circle")
    assert GROUP_STYLES["right"] == GROUP_STYLES["conservative"] == ("#E60000", "square")
    assert GROUP_STYLES["WME"] == ("#EE7733", "circle")
    assert GROUP_STYLES["AAL"] == ("#AA3377", "diamond")


@pytest.mark.parametrize("groups", [("left", "right"), ("AAL", "WME"), ("liberal", "conservative")])
def test_each_group_has_its_own_style_in_every_chart(gaps, groups):
    subtrahend, minuend = groups
    found = gaps.assign(minuend=minuend, subtrahend=subtrahend)
    for document in (spec(forest(at_10(found))), spec(k_sweep(found))):
        for trace in document["data"]:
            colour, symbol = GROUP_STYLES[trace["name"]]
            assert trace["marker"]["color"] == colour
            assert trace["marker"]["symbol"] == symbol
        assert {trace["name"] for trace in document["data"]} == set(groups)


def test_stars_and_n_stand_in_text(gaps):
    rows = at_10(gaps).assign(p_holm=[0.0004, 0.3], p_value=[0.0004, 0.0001])
    document = spec(forest(rows))
    # Stars are those of the corrected p.
    assert document["layout"]["yaxis"]["ticktext"] == ["BM25 ***", "MiniLM-L6"]
    assert [note["text"] for note in document["layout"]["annotations"]] == ["30 pairs"] * 2
    one = spec(forest(rows.assign(n_pairs=[1, 0])))["layout"]["annotations"]
    assert [note["text"] for note in one] == ["1 pair", "30 / 30"]


def test_axes_say_what_they_measure(gaps, levels):
    assert "mean lean@10 (share right minus share left)" in shown(spec(forest(at_10(gaps))))
    assert "mean RR (reciprocal rank)" in shown(spec(levels_chart(levels)))
    assert "mean lean@k" in shown(spec(k_sweep(gaps)))


def test_a_signed_metric_has_a_line_at_zero(gaps):
    shapes = spec(forest(at_10(gaps)))["layout"]["shapes"]
    assert [(s["x0"], s["x1"]) for s in shapes] == [(0, 0)]
    unsigned = at_10(gaps).assign(metric="recall")
    assert not spec(forest(unsigned))["layout"].get("shapes")


def test_backgrounds_are_the_pages(gaps, levels):
    for document in every_chart(gaps, levels):
        assert document["layout"]["paper_bgcolor"] == "rgba(0,0,0,0)"
        assert document["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"


def test_the_alternative_text_tells_every_gap(gaps):
    rows = damaged(at_10(gaps), np.nan)
    alt = forest_alt(rows, "The finding.")
    assert alt.startswith("The finding. BM25: no gap.")
    estimate = rows.loc[1, "estimate"]
    assert f"MiniLM-L6: gap {estimate:+.3f}, corrected p" in alt
    assert "nan" not in alt


def test_a_small_group_is_drawn_pale_and_called_few(gaps):
    rows = at_10(gaps).assign(n_minuend=[30, 9], n_subtrahend=[30, 30], n_pairs=[30, 9])
    left, right = spec(forest(rows))["data"]
    assert right["marker"]["opacity"] == [1.0, 0.4]
    assert left["marker"]["opacity"] == [1.0, 1.0]
    assert [note["text"] for note in spec(forest(rows))["layout"]["annotations"]] == [
        "30 pairs",
        "9 pairs (few)",
    ]
    (trace,) = spec(gap_forest(rows))["data"]
    assert trace["marker"]["opacity"] == [1.0, 0.4]


def test_each_filter_has_its_own_marker_and_is_filled_where_a_gap_is_found(gaps):
    rows = pd.concat([at_10(gaps), at_10(gaps).assign(filter="judges", estimate=0.5)])
    rows["p_holm"] = [0.01, 0.2, 0.2, 0.01]
    document = spec(gap_by(rows, "filter", {"raw": "all <b>", "judges": "judged"}))
    raw, judged = document["data"]
    assert raw["x"] == at_10(gaps)["estimate"].tolist()
    assert judged["x"] == [0.5, 0.5]
    assert raw["marker"]["symbol"] == ["circle", "circle-open"]
    assert judged["marker"]["symbol"] == ["triangle-up-open", "triangle-up"]
    assert [round(y) for y in raw["y"]] == [round(y) for y in judged["y"]] == [0, 1]
    assert raw["name"] == "all ‹b›"


@pytest.mark.parametrize(("n_retrievers", "columns"), [(1, 1), (3, 3), (4, 2), (7, 2)])
def test_panels_stand_in_two_columns_above_three_retrievers(n_retrievers, columns):
    document = spec(k_sweep(measured(tuple(f"r{i}" for i in range(n_retrievers)), n=4)))
    places = {tuple(v["domain"]) for k, v in document["layout"].items() if k.startswith("xaxis")}
    assert len(places) == columns
    titles = [v.get("title", {}).get("text") for k, v in document["layout"].items()
              if k.startswith("xaxis")]  # fmt: skip
    # The axis is named once in each column, below its last panel.
    assert titles.count("k") == columns


def test_the_headline_has_a_panel_for_each_signal(gaps):
    rows = at_10(gaps).assign(p_holm=[0.01, 0.2])
    figure = headline({"One": rows, "Two": rows.assign(metric="rr", k=pd.NA)})
    first, second = spec(figure)["data"]
    assert first["x"] == second["x"] == rows["estimate"].tolist()
    assert first["marker"]["symbol"] == ["circle", "circle-open"]
    assert (first["yaxis"], second["yaxis"]) == ("y", "y2")
