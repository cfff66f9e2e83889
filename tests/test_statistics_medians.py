"""The clustered median against a plain bootstrap, and the one-sided rank test against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from biasret.errors import InputError
from biasret.statistics import cluster_bootstrap_median, wilcoxon_greater


def plain(values: np.ndarray, clusters: np.ndarray, *, resamples: int, seed: int) -> np.ndarray:
    """The release's bootstrap, one replicate after another."""
    rng = np.random.default_rng(seed)
    names = list(dict.fromkeys(clusters))
    groups = [values[clusters == name] for name in names]
    medians = [
        np.median(np.concatenate([groups[i] for i in rng.choice(len(names), len(names))]))
        for _ in range(resamples)
    ]
    return np.quantile(medians, [0.025, 0.975])


@pytest.mark.parametrize("seed", range(5))
def test_it_repeats_the_plain_bootstrap_draw_for_draw(seed):
    rng = np.random.default_rng(seed)
    clusters = np.array([f"s{i}" for i in rng.integers(0, 9, 40)])
    values = rng.normal(size=40).round(1 if seed % 2 else 8)
    found = cluster_bootstrap_median(values, clusters=clusters, resamples=400, rng=43)
    low, high = plain(values, clusters, resamples=400, seed=43)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert found.estimate == np.median(values)
    assert found.n_clusters == len(set(clusters))


def test_blocks_do_not_change_it(monkeypatch):
    from biasret.statistics import medians

    rng = np.random.default_rng(0)
    data = {"values": rng.normal(size=30), "clusters": rng.integers(0, 12, 30)}
    whole = cluster_bootstrap_median(**data, resamples=300)
    monkeypatch.setattr(medians, "_BLOCK", 64)
    assert cluster_bootstrap_median(**data, resamples=300) == whole


def test_the_order_of_clusters_is_that_of_first_appearance():
    values, clusters = np.arange(6.0), np.array(list("aabbcc"))
    renamed = np.array(list("zzccaa"))
    one = cluster_bootstrap_median(values, clusters=clusters, resamples=50)
    assert one == cluster_bootstrap_median(values, clusters=renamed, resamples=50)


def test_negating_the_values_negates_it():
    rng = np.random.default_rng(2)
    values, clusters = rng.normal(size=25), rng.integers(0, 8, 25)
    one = cluster_bootstrap_median(values, clusters=clusters, resamples=500)
    other = cluster_bootstrap_median(-values, clusters=clusters, resamples=500)
    assert one.low is not None
    assert other.estimate == pytest.approx(-one.estimate)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


@pytest.mark.parametrize(
    ("values", "clusters", "note"),
    [
        ([], [], "no values"),
        ([1.0, 2.0], ["a", "a"], "one cluster"),
        ([1.0, 1.0], ["a", "b"], "all resampled medians equal"),
    ],
)
def test_what_has_no_interval_says_why(values, clusters, note):
    found = cluster_bootstrap_median(values, clusters=clusters)
    assert found.low is None
    assert found.high is None
    assert note in (found.note or "")


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="one cluster per value"):
        cluster_bootstrap_median([1.0, 2.0], clusters=["a"])
    with pytest.raises(InputError, match="missing or infinite"):
        cluster_bootstrap_median([1.0, np.nan], clusters=["a", "b"])


class TestOneSided:
    @pytest.mark.parametrize("n", [6, 40, 200])
    @pytest.mark.parametrize("digits", [0, 8])
    def test_it_is_scipys(self, n, digits):
        differences = np.random.default_rng(n).normal(0.3, 1, n).round(digits)
        found = wilcoxon_greater(differences)
        expected = stats.wilcoxon(differences, alternative="greater")
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)

    def test_by_hand(self):
        # Ranks 1 2 3 all positive: one of eight assignments reaches the sum of 6.
        found = wilcoxon_greater([1.0, 2.0, 3.0])
        assert (found.statistic, found.p_value) == (6.0, 0.125)
        assert wilcoxon_greater([1.0, 2.0, 2.0]).p_value == pytest.approx(0.125)
        assert wilcoxon_greater([-1.0, -2.0, -2.0]).p_value == pytest.approx(1.0)

    def test_near_ties_share_their_rank(self):
        """1/2 - 1/3 and 1/3 - 1/6 are one number as fractions but two as floats."""
        near = wilcoxon_greater([1 / 2 - 1 / 3, 1 / 6 - 1 / 3, 0.5])
        assert near.statistic == 1.5 + 3

    def test_nothing_to_test(self):
        assert wilcoxon_greater([]).note == "no pairs"
        assert wilcoxon_greater([0.0, 0.0]).note == "all pairs tied"
        with pytest.raises(InputError, match="missing or infinite"):
            wilcoxon_greater([np.nan])
