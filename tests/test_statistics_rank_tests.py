"""Rank tests: hand-worked values, SciPy as oracle, near-ties, edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasret.errors import InputError
from biasret.statistics import TestResult, mann_whitney, stars, wilcoxon


class TestWilcoxon:
    def test_hand_worked(self):
        # Ranks 1..5, the fourth negative: sums 11 and 4. Of 32 sign assignments the
        # smaller sum is at most 4 in 7 a side, so p = 14/32.
        found = wilcoxon([1.0, 2.0, 3.0, -4.0, 5.0])
        assert found == TestResult(0.4375, 4.0, 5, 0, "Wilcoxon", None)

    def test_zeros_are_dropped_but_counted(self):
        rng = np.random.default_rng(1)
        values = rng.normal(0.2, 1, 80)
        found = wilcoxon(np.concatenate([values, np.zeros(40)]))
        assert (found.n, found.n_zero) == (120, 40)
        assert found.p_value == pytest.approx(wilcoxon(values).p_value, rel=1e-12)

    @pytest.mark.parametrize("n", [6, 20, 50, 51, 400])
    def test_scipy_is_the_oracle_without_near_ties(self, n):
        values = np.random.default_rng(n).normal(0.1, 1, n)
        theirs = stats.wilcoxon(values)
        found = wilcoxon(values)
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
        assert found.statistic == theirs.statistic

    @pytest.mark.parametrize("seed", range(12))
    def test_scipy_is_the_oracle_for_few_pairs_with_ties(self, seed):
        values = np.random.default_rng(seed).integers(-3, 5, 3 + seed % 6)
        values[0] = values[1] = 2
        theirs = stats.wilcoxon(values)
        found = wilcoxon(values)
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
        assert found.statistic == theirs.statistic

    def test_few_pairs_with_ties_by_hand(self):
        # Ranks 1.5, 1.5, 3, all positive: one of eight assignments a side.
        assert wilcoxon([1.0, 1.0, 2.0]) == TestResult(0.25, 0.0, 3, 0, "Wilcoxon", None)

    def test_equal_fractions_are_tied(self):
        # 1/2 - 1/3 = 1/3 - 1/6 = 1/6 as fractions, three floats.
        sixths = [1 / 2 - 1 / 3, -(1 / 3 - 1 / 6), 1 / 6, 0.5, 0.7, -0.9]
        exact = [1.0, -1.0, 1.0, 3.0, 4.2, -5.4]
        assert len({abs(d) for d in sixths[:3]}) > 1
        assert wilcoxon(sixths) == wilcoxon(exact)

    def test_a_difference_of_rounding_is_zero(self):
        found = wilcoxon([0.1 + 0.2 - 0.3, 0.5, -0.25, 0.75])
        assert (found.n_zero, found.p_value) == (1, wilcoxon([0.0, 0.5, -0.25, 0.75]).p_value)

    def test_small_but_real_differences_count(self):
        # Reciprocals of ranks 50,000 and 50,001 differ by 4e-10.
        values = [1 / 50_000 - 1 / 50_001, -0.5, 0.25, 0.1]
        assert wilcoxon(values).n_zero == 0
        assert wilcoxon(values).statistic == 4.0

    def test_order_of_rows_changes_nothing(self):
        rng = np.random.default_rng(2)
        ranks = rng.integers(1, 40, size=(2, 500))
        differences = 1 / ranks[0] - 1 / ranks[1]
        found = wilcoxon(differences)
        for _ in range(5):
            assert wilcoxon(rng.permutation(differences)) == found

    def test_rounding_noise_changes_nothing(self):
        rng = np.random.default_rng(2)
        ranks = rng.integers(1, 40, size=(2, 500))
        differences = 1 / ranks[0] - 1 / ranks[1]
        noisy = differences + rng.choice([-1e-16, 0, 1e-16], 500)
        assert wilcoxon(noisy).p_value == wilcoxon(differences).p_value
        raw = stats.wilcoxon(noisy).pvalue
        assert raw != stats.wilcoxon(differences).pvalue

    @given(
        st.lists(st.integers(-50, 50), min_size=1, max_size=80),
        st.sampled_from([1.0, 0.1, 1 / 3, 1e-9, 1e6]),
    )
    @settings(max_examples=150, deadline=None)
    def test_sign_and_scale_change_nothing(self, differences, scale):
        found = wilcoxon(differences)
        values = np.array(differences) * -scale
        again = wilcoxon(values)
        assert again.p_value == found.p_value
        assert again.n_zero == found.n_zero

    @pytest.mark.parametrize(
        ("differences", "expected"),
        [
            ([], TestResult(None, None, 0, 0, "Wilcoxon", "no pairs")),
            ([0.0, 0.0], TestResult(None, None, 2, 2, "Wilcoxon", "all pairs tied")),
            ([0.3], TestResult(1.0, 0.0, 1, 0, "Wilcoxon", None)),
        ],
    )
    def test_degenerate(self, differences, expected):
        assert wilcoxon(differences) == expected

    def test_missing_values(self):
        with pytest.raises(InputError, match="1 of 2 differences are missing"):
            wilcoxon([0.5, np.nan])


class TestMannWhitney:
    def test_hand_worked(self):
        # 3 beats 1, 2, half of 3; 4 and 5 beat all: 2.5 + 3 + 3.
        found = mann_whitney([3.0, 4.0, 5.0], [1.0, 2.0, 3.0])
        assert (found.statistic, found.n, found.test) == (8.5, 6, "Mann-Whitney")

    def test_separated_groups(self):
        # All 3 x 4 pairs one way: one of 35 splits a side.
        found = mann_whitney([5, 6, 7], [1, 2, 3, 4])
        assert found.p_value == pytest.approx(2 / 35)
        assert found.statistic == 12

    @pytest.mark.parametrize("sizes", [(5, 6), (30, 41), (647, 659)])
    def test_scipy_is_the_oracle(self, sizes):
        rng = np.random.default_rng(3)
        upper, lower = (1 / rng.integers(1, 90, n) for n in sizes)
        theirs = stats.mannwhitneyu(upper, lower, alternative="two-sided")
        found = mann_whitney(upper, lower)
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
        assert found.statistic == theirs.statistic

    @given(
        st.lists(st.integers(0, 9), min_size=1, max_size=30),
        st.lists(st.integers(0, 9), min_size=1, max_size=30),
    )
    @settings(max_examples=150, deadline=None)
    def test_exchanging_groups(self, upper, lower):
        found, mirrored = mann_whitney(upper, lower), mann_whitney(lower, upper)
        if found.p_value is None:
            assert len({*upper, *lower}) == 1
            assert mirrored.p_value is None
            return
        assert mirrored.p_value == pytest.approx(found.p_value, rel=1e-9)
        assert mirrored.statistic == len(upper) * len(lower) - found.statistic
        assert 0 < found.p_value <= 1

    @pytest.mark.parametrize(
        ("upper", "lower", "note"),
        [
            ([], [1.0], "a group is empty"),
            ([1.0], [], "a group is empty"),
            ([1.0, 1.0], [1.0], "all values tied"),
        ],
    )
    def test_degenerate(self, upper, lower, note):
        n = len(upper) + len(lower)
        assert mann_whitney(upper, lower) == TestResult(None, None, n, 0, "Mann-Whitney", note)

    def test_missing_values(self):
        with pytest.raises(InputError, match="1 of 2 subtrahend values are missing"):
            mann_whitney([0.5], [np.nan, 1.0])


class TestStars:
    @pytest.mark.parametrize(
        ("p_value", "expected"),
        [
            (0.0, "***"),
            (0.000999, "***"),
            (0.001, "**"),
            (0.00999, "**"),
            (0.01, "*"),
            (0.0499, "*"),
            (0.05, ""),
            (1.0, ""),
            (float("nan"), ""),
            (None, ""),
        ],
    )
    def test_limits_are_strict(self, p_value, expected):
        assert stars(p_value) == expected
