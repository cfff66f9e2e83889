"""Gaps and levels: equal to direct computation, mirrored when swapped, and honest when empty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, TOY

from biasret import audit
from biasret.statistics import (
    benjamini_hochberg,
    cluster_bootstrap_mean,
    holm,
    mann_whitney,
    minimum_detectable_effect,
    sign_flip_exact,
    two_group_bootstrap,
    wilcoxon,
)

PAIRED = TOY
UNPAIRED = replace(TOY, is_paired=False)


def table(
    values: dict[str, list[tuple[float | None, float | None]]], *, k: int | None = 10
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measurements and queries: for each retriever the (left, right) values of each cell."""
    n_cells = max(map(len, values.values()))
    asked = pd.DataFrame(
        [
            {
                "query_id": f"c{i:03d}/{group}",
                "group": group,
                "cell_id": f"c{i:03d}",
                "cluster_id": f"s{i // 2:03d}",
            }
            for i in range(n_cells)
            for group in ("left", "right")
        ]
    )
    rows = [
        {
            "dataset": "toy",
            "retriever": retriever,
            "query_id": f"c{i:03d}/{group}",
            "metric": "lean",
            "k": k,
            "filter": "raw",
            "value": value,
        }
        for retriever, cells in values.items()
        for i, pair in enumerate(cells)
        for group, value in zip(("left", "right"), pair, strict=True)
        if value is not None
    ]
    measured = pd.DataFrame(
        rows, columns=["dataset", "retriever", "query_id", "metric", "k", "filter", "value"]
    )
    return measured.assign(k=pd.array(measured["k"].tolist(), dtype="Int64")), asked


def sample(n: int = 40, shift: float = 0.1, seed: int = 1) -> list[tuple[float, float]]:
    rng = np.random.default_rng(seed)
    left = rng.normal(0, 0.3, n).round(2)
    right = left + rng.normal(shift, 0.2, n).round(2)
    return list(zip(left.tolist(), right.tolist(), strict=True))


def one(values: list, record=PAIRED, settings=QUICK) -> pd.Series:
    measured, asked = table({"r": values})
    found = audit.gaps(measured, asked, record, settings=settings)
    assert len(found) == 1
    return found.iloc[0]


def test_a_gap_by_hand():
    row = one([(0.0, 0.5), (0.25, 0.25), (-0.5, 0.5), (0.0, -0.25)])
    # Differences 0.5, 0, 1, -0.25: their mean is 1.25 / 4.
    assert row["estimate"] == 0.3125
    assert row["mean_minuend"] == 0.25  # (0.5 + 0.25 + 0.5 - 0.25) / 4
    assert row["mean_subtrahend"] == -0.0625
    assert row["estimate"] == row["mean_minuend"] - row["mean_subtrahend"]
    assert row[["n_pairs", "n_clusters", "n_minuend", "n_subtrahend", "n_dropped"]].tolist() == [
        4,
        2,
        4,
        4,
        0,
    ]
    assert row["design"] == "paired"
    assert row["test"] == "Wilcoxon"
    assert row["minuend"] == "right"
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]


def test_a_paired_gap_equals_a_direct_computation():
    cells = sample()
    row = one(cells)
    left, right = np.array(cells).T
    clusters = [f"s{i // 2:03d}" for i in range(len(cells))]
    options = {"clusters": clusters, "resamples": 200, "rng": 42, "level": 0.95}
    for values, names in (
        (right - left, ("estimate", "ci_low", "ci_high")),
        (right, ("mean_minuend", "low_minuend", "high_minuend")),
        (left, ("mean_subtrahend", "low_subtrahend", "high_subtrahend")),
    ):
        direct = cluster_bootstrap_mean(values, **options)
        assert row[list(names)].tolist() == [direct.estimate, direct.low, direct.high]
    assert row["p_value"] == wilcoxon(right - left).p_value
    assert row["p_permutation"] == sign_flip_exact(right - left).p_value
    assert row["p_holm"] == row["p_value"]
    half = (row["ci_high"] - row["ci_low"]) / 2
    assert row["detectable"] == pytest.approx(minimum_detectable_effect(half / 1.959963984540054))


def test_an_unpaired_gap_equals_a_direct_computation():
    cells = sample()
    row = one(cells, UNPAIRED)
    left, right = np.array(cells).T
    clusters = [f"s{i // 2:03d}" for i in range(len(cells))]
    direct = two_group_bootstrap(
        right, left, minuend_clusters=clusters, subtrahend_clusters=clusters, resamples=200, rng=42
    )
    assert row[["estimate", "ci_low", "ci_high"]].tolist() == [
        direct.estimate,
        direct.low,
        direct.high,
    ]
    assert row["p_value"] == mann_whitney(right, left).p_value
    assert (row["design"], row["test"]) == ("unpaired", "Mann-Whitney")
    assert np.isnan(row["p_permutation"])
    assert row["n_pairs"] == 0
    assert row[["n_minuend", "n_subtrahend", "n_clusters"]].tolist() == [40, 40, 20]


@pytest.mark.parametrize("record", [PAIRED, UNPAIRED], ids=["paired", "unpaired"])
def test_swapping_the_groups_negates_the_gap_and_mirrors_its_interval(record):
    cells = [*sample(), (0.1, None), (None, 0.2)]
    straight = one(cells, record)
    swapped = one(cells, replace(record, minuend="left", subtrahend="right"))
    assert swapped["estimate"] == -straight["estimate"]
    assert swapped["ci_low"] == pytest.approx(-straight["ci_high"], abs=1e-12)
    assert swapped["ci_high"] == pytest.approx(-straight["ci_low"], abs=1e-12)
    assert swapped["p_value"] == pytest.approx(straight["p_value"], rel=1e-12)
    for side, other in (("minuend", "subtrahend"), ("subtrahend", "minuend")):
        for name in ("mean", "low", "high", "n"):
            assert swapped[f"{name}_{side}"] == straight[f"{name}_{other}"]
    assert swapped["n_dropped"] == straight["n_dropped"] == 2


def test_holm_is_over_the_retrievers_that_share_all_else():
    at_10, asked = table({name: sample(seed=i) for i, name in enumerate("abc")})
    at_5, _ = table({name: sample(seed=9 + i) for i, name in enumerate("ab")}, k=5)
    found = audit.gaps(pd.concat([at_10, at_5]), asked, PAIRED, settings=QUICK)
    assert len(found) == 5
    for k, n in ((10, 3), (5, 2)):
        rows = found[found["k"] == k]
        assert len(rows) == n
        assert rows["p_holm"].tolist() == holm(rows["p_value"].to_numpy()).tolist()
        assert (rows["p_holm"] >= rows["p_value"]).all()
        corrected = benjamini_hochberg(rows["p_value"].to_numpy())
        assert rows["p_bh"].tolist() == corrected.tolist()
        assert (rows["p_bh"] <= rows["p_holm"]).all()
    assert (found["p_holm"] > found["p_value"]).any()


def test_a_retriever_without_a_p_does_not_count_in_the_correction():
    measured, asked = table({"a": sample(), "b": [(0.5, 0.5)] * 40, "c": sample(seed=2)})
    found = audit.gaps(measured, asked, PAIRED, settings=QUICK).set_index("retriever")
    assert np.isnan(found.loc["b", "p_holm"])
    two = holm(found.loc[["a", "c"], "p_value"].to_numpy())
    assert found.loc[["a", "c"], "p_holm"].tolist() == two.tolist()


NO_INTERVAL = ["ci_low", "ci_high", "detectable"]


def test_all_pairs_tied():
    # C29, C48: the same list on both sides.
    row = one([(0.25, 0.25), (-0.5, -0.5), (0.0, 0.0)])
    assert row["estimate"] == 0.0
    assert row[[*NO_INTERVAL, "p_value", "p_holm", "p_bh"]].isna().all()
    assert row["p_permutation"] == 1.0
    assert "all pairs tied" in row["note"]
    assert "all values equal" in row["note"]


def test_all_values_tied_in_two_groups():
    row = one([(0.25, 0.25)] * 5, UNPAIRED)
    assert row["estimate"] == 0.0
    assert row[[*NO_INTERVAL, "p_value"]].isna().all()
    assert "all values tied" in row["note"]


@pytest.mark.parametrize("record", [PAIRED, UNPAIRED], ids=["paired", "unpaired"])
def test_one_observation_has_no_interval(record):
    row = one([(0.25, 0.75)], record)
    assert row["estimate"] == 0.5
    assert row[NO_INTERVAL].isna().all()
    assert "no interval" in row["note"]
    assert row["n_minuend"] == row["n_subtrahend"] == 1


@pytest.mark.parametrize(
    ("record", "note", "dropped", "why"),
    [
        (PAIRED, "no pairs", 3, "3 no value for right"),
        (UNPAIRED, "a group is empty", 3, "3 right without a value"),
    ],
    ids=["paired", "unpaired"],
)
def test_an_empty_group_gives_a_reason_and_no_number(record, note, dropped, why):
    row = one([(0.25, None), (0.5, None), (0.1, None)], record)
    assert row[["estimate", *NO_INTERVAL, "p_value", "p_holm", "p_bh", "mean_minuend"]].isna().all()
    assert note in row["note"]
    assert row["n_dropped"] == dropped
    assert row["dropped_why"] == why
    assert row["n_minuend"] == 0


def test_wherever_a_number_is_missing_a_note_says_why():
    cases = {
        "tied": [(0.5, 0.5)] * 6,
        "single": [(0.5, 0.7)],
        "empty": [(0.5, None)] * 6,
        "fine": sample(6),
    }
    for record in (PAIRED, UNPAIRED):
        measured, asked = table(cases)
        found = audit.gaps(measured, asked, record, settings=QUICK)
        assert len(found) == 4
        numbers = ["estimate", "ci_low", "ci_high", "p_value"]
        for _, row in found.iterrows():
            assert row[numbers].isna().any() == isinstance(row["note"], str), row["retriever"]


def test_cells_with_one_side_are_named_in_the_table():
    row = one([(0.1, 0.2), (0.3, None), (None, 0.4), (None, None), (0.5, 0.6)])
    assert row["n_pairs"] == 2
    assert row["n_dropped"] == 3
    assert row["dropped_why"] == (
        "1 no value for right; 1 no value for left; 1 no value for either"
    )


def test_the_seed_decides_and_nothing_else():
    cells = sample()
    first, again = one(cells), one(cells)
    pd.testing.assert_series_equal(first, again)
    other = one(cells, settings=replace(QUICK, seed=7))
    assert other["ci_low"] != first["ci_low"]
    assert other["estimate"] == first["estimate"]


def test_the_level_is_that_of_every_interval():
    cells = sample(200)
    wide = one(cells, settings=replace(QUICK, resamples=2000, level=0.99))
    usual = one(cells, settings=replace(QUICK, resamples=2000))
    for low, high in (("ci_low", "ci_high"), ("low_minuend", "high_minuend")):
        assert wide[high] - wide[low] > 1.1 * (usual[high] - usual[low])
    # What the test could have found does not depend on how wide an interval is drawn.
    assert wide["detectable"] == pytest.approx(usual["detectable"], rel=0.1)


def test_metrics_without_a_depth_keep_none():
    measured, asked = table({"r": sample()}, k=None)
    found = audit.gaps(measured, asked, PAIRED, settings=QUICK)
    assert found["k"].isna().tolist() == [True]
    assert audit.levels(measured, asked, settings=QUICK)["k"].isna().all()


def test_a_dataset_without_groups_has_levels_and_no_gaps():
    measured, asked = table({"r": sample()})
    ungrouped = replace(TOY, minuend=None, subtrahend=None)
    assert len(audit.gaps(measured, asked, ungrouped, settings=QUICK)) == 0
    found = audit.levels(measured, asked.assign(group=None), settings=QUICK)
    assert found["group"].tolist() == [audit.ALL]
    assert found.loc[0, "n"] == 80
    assert found.loc[0, "n_clusters"] == 20
    assert found.loc[0, "mean"] == pytest.approx(measured["value"].mean(), abs=1e-12)


def test_levels_are_over_every_query_measured():
    cells = [*sample(), (0.9, None)]
    measured, asked = table({"r": cells})
    found = audit.levels(measured, asked, settings=QUICK).set_index("group")
    assert found.loc[["left", "right"], "n"].tolist() == [41, 40]
    left = np.array([pair[0] for pair in cells])
    direct = cluster_bootstrap_mean(
        left, clusters=[f"s{i // 2:03d}" for i in range(41)], resamples=200, rng=42
    )
    assert found.loc["left", ["mean", "ci_low", "ci_high"]].tolist() == [
        direct.estimate,
        direct.low,
        direct.high,
    ]


def test_nothing_measured_gives_empty_tables():
    measured, asked = table({"r": [(None, None)]})
    assert len(audit.gaps(measured, asked, PAIRED, settings=QUICK)) == 0
    assert len(audit.levels(measured, asked, settings=QUICK)) == 0


def test_the_settings_are_the_papers():
    assert audit.PAPER.as_dict() == {
        "resamples": 5_000,
        "seed": 42,
        "level": 0.95,
    }
