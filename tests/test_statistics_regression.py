"""Regressions: hand-worked lines, statsmodels and plain loops as oracles, edges."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.errors import InputError
from biasret.statistics import adjusted_paired, adjusted_two_groups
from biasret.statistics.regression import NO_COEFFICIENT


def pairs(seed: int = 0, n: int = 120, n_clusters: int = 30):
    rng = np.random.default_rng(seed)
    clusters = np.array([f"s{c:02}" for c in rng.integers(0, n_clusters, n)], dtype=object)
    x = rng.normal(40, 25, n)
    shift = dict(zip(sorted(set(clusters)), rng.normal(0, 0.2, n_clusters), strict=False))
    y = 0.05 + 0.001 * x + rng.normal(0, 0.3, n) + np.array([shift[c] for c in clusters])
    return y, x, clusters


def sides(seed: int = 0, n: int = 90, m: int = 70):
    rng = np.random.default_rng(seed)
    x1, x0 = rng.normal(20, 30, n), rng.normal(-10, 25, m)
    return (
        (0.2 + 0.002 * x1 + rng.normal(0, 0.3, n), 0.1 + 0.002 * x0 + rng.normal(0, 0.2, m)),
        {"minuend_regressor": x1, "subtrahend_regressor": x0},
    )


def paper_bootstrap(y, x, clusters, *, resamples, seed):
    """The released recipe, one least-squares fit a replicate."""
    rng = np.random.default_rng(seed)
    unique = np.unique(clusters)
    members = {name: np.flatnonzero(clusters == name) for name in unique}
    alphas = []
    for _ in range(resamples):
        rows = np.concatenate([members[c] for c in rng.choice(unique, len(unique), replace=True)])
        design = np.column_stack([np.ones(rows.size), x[rows]])
        alphas.append(np.linalg.lstsq(design, y[rows], rcond=None)[0][0])
    return np.percentile(alphas, [2.5, 97.5])


def test_importing_is_cheap():
    code = (
        "import sys; import biasret.statistics.regression;"
        " sys.exit(any(m in sys.modules for m in ('pandas', 'scipy', 'statsmodels')))"
    )
    project = Path(__file__).resolve().parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=project, check=False).returncode == 0


class TestPaired:
    def test_a_line_by_hand(self):
        # y = 1 + 2 x, off by +-0.3 at the ends: the slope stays 2, the intercept 1.
        found = adjusted_paired([1.3, 2.7, 5.3, 6.7], [0.0, 1.0, 2.0, 3.0])
        # Centre (1.5, 4); sum xy = 1.5 * 2.7 + 0.5 * 1.3 + 0.5 * 1.3 + 1.5 * 2.7 = 9.4; xx = 5.
        assert found.slope.estimate == pytest.approx(1.88)
        assert found.residual.estimate == pytest.approx(4.0 - 1.88 * 1.5)
        assert found.gap == 4.0
        assert found.regressor == 1.5
        assert found.contribution == pytest.approx(2.82)
        assert (found.n, found.n_clusters) == (4, 4)
        assert (found.covariance, found.interval, found.note) == ("HC1", "normal", None)

    def test_hc1_by_hand(self):
        x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.3, 2.7, 5.3, 6.7])
        found = adjusted_paired(y, x)
        left = y - (found.residual.estimate + found.slope.estimate * x)
        # The sandwich of White, times n / (n - 2).
        centred = x - x.mean()
        variance = (centred**2 * left**2).sum() / 5.0**2 * 4 / 2
        assert found.slope.standard_error == pytest.approx(variance**0.5)

    def test_statsmodels_is_the_oracle_for_clusters(self):
        y, x, clusters = pairs()
        found = adjusted_paired(y, x, clusters=clusters, resamples=50)
        _, codes = np.unique(clusters, return_inverse=True)
        fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": codes})
        assert found.residual.estimate == pytest.approx(fit.params[0], abs=1e-12)
        assert found.residual.standard_error == pytest.approx(fit.bse[0], rel=1e-10)
        assert found.residual.p_value == pytest.approx(fit.pvalues[0], rel=1e-9)
        assert found.slope.p_value == pytest.approx(fit.pvalues[1], rel=1e-9)
        assert (found.slope.low, found.slope.high) == pytest.approx(fit.conf_int()[1], rel=1e-9)
        assert found.r_squared == pytest.approx(fit.rsquared)
        assert (found.covariance, found.interval) == ("cluster", "cluster bootstrap")

    def test_the_bootstrap_is_the_papers_replicate_for_replicate(self):
        y, x, clusters = pairs(3)
        found = adjusted_paired(y, x, clusters=clusters, resamples=300, rng=1234)
        expected = paper_bootstrap(y, x, clusters, resamples=300, seed=1234)
        assert (found.residual.low, found.residual.high) == pytest.approx(expected, abs=1e-11)

    def test_clusters_of_one_are_no_clusters(self):
        y, x, _ = pairs()
        alone = adjusted_paired(y, x, clusters=[f"c{i}" for i in range(y.size)])
        assert alone == adjusted_paired(y, x)
        assert alone.covariance == "HC1"

    def test_it_is_fast(self):
        y, x, clusters = pairs(n=2500, n_clusters=900)
        start = time.perf_counter()
        paper_bootstrap(y, x, clusters, resamples=20, seed=1)
        loop = (time.perf_counter() - start) * 250
        adjusted_paired(y, x, clusters=clusters, resamples=10)
        start = time.perf_counter()
        adjusted_paired(y, x, clusters=clusters, resamples=5000)
        assert time.perf_counter() - start < loop / 5


class TestTwoGroups:
    def test_by_hand_with_one_slope_in_both_groups(self):
        found = adjusted_two_groups(
            [3.0, 5.0, 4.0],
            [1.0, 2.0, 3.0],
            minuend_regressor=[1.0, 3.0, 2.0],
            subtrahend_regressor=[0.0, 1.0, 2.0],
        )
        # Inside each group y rises by 1 with x; at equal x the minuend is 1 higher.
        assert found.slope.estimate == pytest.approx(1.0)
        assert found.residual.estimate == pytest.approx(1.0)
        assert found.gap == 2.0
        assert found.regressor == 1.0
        assert found.note == "every outcome lies on the line: the fit cannot show the uncertainty"
        assert found.residual.p_value is None

    def test_statsmodels_is_the_oracle(self):
        values, regressors = sides()
        found = adjusted_two_groups(*values, **regressors)
        design = np.column_stack(
            [
                np.ones(160),
                np.concatenate(list(regressors.values())),
                np.repeat([1.0, 0.0], [90, 70]),
            ]
        )
        fit = sm.OLS(np.concatenate(values), design).fit(cov_type="HC1")
        assert found.residual.estimate == pytest.approx(fit.params[2], abs=1e-12)
        assert found.residual.p_value == pytest.approx(fit.pvalues[2], rel=1e-9)
        assert (found.residual.low, found.residual.high) == pytest.approx(fit.conf_int()[2])
        assert found.slope.estimate == pytest.approx(fit.params[1], abs=1e-12)
        assert found.covariance == "HC1"

    def test_the_bootstrap_agrees_with_a_fit_in_each_replicate(self):
        values, regressors = sides(1)
        rng = np.random.default_rng(5)
        owners = [rng.integers(0, 25, one.size) for one in values]
        found = adjusted_two_groups(
            *values,
            **regressors,
            minuend_clusters=owners[0],
            subtrahend_clusters=owners[1],
            resamples=200,
            rng=9,
        )
        y, x = np.concatenate(values), np.concatenate(list(regressors.values()))
        group, owner = np.repeat([1.0, 0.0], [90, 70]), np.concatenate(owners)
        unique, rng = np.unique(owner), np.random.default_rng(9)
        gammas = []
        for _ in range(200):
            drawn = rng.choice(unique, unique.size, replace=True)
            rows = np.concatenate([np.flatnonzero(owner == name) for name in drawn])
            design = np.column_stack([np.ones(rows.size), x[rows], group[rows]])
            gammas.append(np.linalg.lstsq(design, y[rows], rcond=None)[0][2])
        expected = np.percentile(gammas, [2.5, 97.5])
        assert (found.residual.low, found.residual.high) == pytest.approx(expected, abs=1e-11)
        assert (found.covariance, found.n_clusters) == ("cluster", unique.size)

    def test_resamples_without_a_group_are_left_out_and_counted(self):
        found = adjusted_two_groups(
            [1.0, 2.0, 1.5, 0.5],
            [0.0, 1.0, 0.2, 0.7],
            minuend_regressor=[1.0, 2.0, 0.0, 1.0],
            subtrahend_regressor=[0.0, 1.0, 2.0, 3.0],
            minuend_clusters=["a", "a", "b", "b"],
            subtrahend_clusters=["c", "c", "d", "d"],
            resamples=400,
        )
        assert "of 400 resamples could not be fitted and were left out" in found.note
        assert found.residual.low < found.residual.high


EDGES = {
    "no values": ([], [], "no values"),
    "two rows": ([1.0, 2.0], [0.0, 1.0], "2 rows are too few to fit 2 coefficients"),
    "constant regressor": ([0.1, 0.2, 0.3], [5.0] * 3, "the regressor is the same in every row"),
    "regressor of zeros": ([0.1, 0.2, 0.3], [0.0] * 3, "the regressor is the same in every row"),
    "equal outcomes": ([0.2] * 4, [0.0, 1.0, 2.0, 3.0], "all outcomes equal"),
    "zeros": ([0.0] * 4, [0.0, 1.0, 2.0, 3.0], "all outcomes equal"),
    "a perfect line": ([0.1, 0.2, 0.3, 0.4], [0.0, 1.0, 2.0, 3.0], "every outcome lies on"),
}


@pytest.mark.parametrize("name", EDGES)
def test_degenerate_pairs_say_why(name):
    y, x, note = EDGES[name]
    found = adjusted_paired(y, x)
    assert note in found.note
    assert found.residual.p_value is None
    assert found.residual.low is None
    if y:
        assert found.gap == pytest.approx(np.mean(y))
    if "same" in note or "few" in note or not y:
        assert found.residual == found.slope == NO_COEFFICIENT
        assert found.contribution is None
    else:
        assert found.residual.estimate + found.contribution == pytest.approx(found.gap, abs=1e-12)


@pytest.mark.parametrize(
    ("upper", "lower", "x1", "x0", "note"),
    [
        ([], [1.0, 2.0], [], [0.0, 1.0], "one group has no values"),
        ([1.0], [2.0, 3.0], [0.0], [1.0, 2.0], "3 rows are too few to fit 3 coefficients"),
        ([1.0, 2.0], [2.0, 3.5], [4.0, 4.0], [1.0, 1.0], "cannot be told from the group"),
        ([1.0], [2.0, 3.0, 2.2, 2.9], [0.0], [1.0, 2.0, 3.0, 4.0], "a single cluster or row"),
    ],
    ids=["empty", "few", "collinear", "one of a kind"],
)
def test_degenerate_groups_say_why(upper, lower, x1, x0, note):
    found = adjusted_two_groups(upper, lower, minuend_regressor=x1, subtrahend_regressor=x0)
    assert note in found.note
    assert found.residual.p_value is None


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_too_few_clusters_say_so(n_clusters):
    y, x, _ = pairs(n=8)
    found = adjusted_paired(y, x, clusters=[i % n_clusters for i in range(8)])
    assert "standard errors of 2 coefficients" in found.note
    assert found.residual.estimate is not None
    assert found.residual.low is None


def test_wrong_input_is_refused_in_words():
    with pytest.raises(InputError, match="one regressor value per outcome: 2; found 3"):
        adjusted_paired([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="1 of 2 regressor values are missing"):
        adjusted_paired([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(InputError, match="one cluster per value"):
        adjusted_paired([1.0, 2.0], [1.0, 2.0], clusters=["a"])
    with pytest.raises(InputError, match="both groups or for neither"):
        adjusted_two_groups(
            [1.0],
            [1.0],
            minuend_regressor=[1.0],
            subtrahend_regressor=[1.0],
            minuend_clusters=["a"],
        )
    with pytest.raises(InputError, match="at least one resample"):
        adjusted_paired([1.0, 2.0], [1.0, 2.0], resamples=0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_gap_is_what_remains_plus_what_the_regressor_accounts_for(seed, is_clustered):
    y, x, clusters = pairs(seed, n=40, n_clusters=12)
    found = adjusted_paired(y, x, clusters=clusters if is_clustered else None, resamples=20)
    assert found.residual.estimate + found.contribution == pytest.approx(y.mean(), abs=1e-12)
    values, regressors = sides(seed, n=20, m=15)
    groups = adjusted_two_groups(*values, **regressors)
    gap = values[0].mean() - values[1].mean()
    assert groups.residual.estimate + groups.contribution == pytest.approx(gap, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_swapping_groups_negates_and_order_changes_nothing(seed):
    y, x, clusters = pairs(seed, n=30, n_clusters=8)
    there = adjusted_paired(y, x, clusters=clusters, resamples=40)
    back = adjusted_paired(-y, -x, clusters=clusters, resamples=40)
    assert back.residual.estimate == pytest.approx(-there.residual.estimate, abs=1e-12)
    assert back.residual.low == pytest.approx(-there.residual.high, abs=1e-11)
    assert back.slope.estimate == pytest.approx(there.slope.estimate, abs=1e-12)
    assert back.residual.p_value == pytest.approx(there.residual.p_value, rel=1e-6)
    mixed = np.random.default_rng(seed).permutation(30)
    again = adjusted_paired(y[mixed], x[mixed], clusters=clusters[mixed], resamples=40)
    assert again == there
    alone = adjusted_paired(y[mixed], x[mixed])
    assert alone == adjusted_paired(y, x)
    values, regressors = sides(seed, n=12, m=9)
    one = adjusted_two_groups(*values, **regressors)
    other = adjusted_two_groups(
        values[1],
        values[0],
        minuend_regressor=regressors["subtrahend_regressor"],
        subtrahend_regressor=regressors["minuend_regressor"],
    )
    assert other.residual.estimate == pytest.approx(-one.residual.estimate, abs=1e-12)
    assert other.slope.estimate == pytest.approx(one.slope.estimate, abs=1e-12)


def test_a_regressor_that_means_nothing_leaves_the_gap():
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y, x = 0.1 + rng.normal(0, 0.3, 80), rng.normal(0, 5, 80)
        clusters = np.repeat(np.arange(40), 2)
        found = adjusted_paired(y, x, clusters=clusters, resamples=300, rng=seed)
        covered += found.residual.low <= 0.1 <= found.residual.high
    assert covered >= 51
