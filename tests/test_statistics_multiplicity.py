"""Corrections for many tests: hand-worked values, SciPy and a slow Holm as oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasret.errors import InputError
from biasret.statistics import benjamini_hochberg, holm, minimum_detectable_effect

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=25)


def slow_holm(p_values):
    """Reject the smallest while it is at most level / (tests left): adjusted p by search."""
    adjusted = np.empty(len(p_values))
    highest = 0.0
    for step, at in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[at]))
        adjusted[at] = highest
    return adjusted


class TestHolm:
    def test_hand_worked(self):
        # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1; the last is raised to 0.06.
        found = holm([0.01, 0.04, 0.03, 0.005])
        assert found.tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_missing_do_not_count(self):
        found = holm([0.01, None, 0.04, np.nan])
        assert found[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
        assert np.isnan(found[[1, 3]]).all()

    def test_one_test_is_unchanged(self):
        assert holm([0.03]).tolist() == [0.03]

    @given(P_VALUES)
    @settings(max_examples=200, deadline=None)
    def test_slow_oracle(self, p_values):
        assert holm(p_values).tolist() == pytest.approx(slow_holm(p_values).tolist())


class TestBenjaminiHochberg:
    def test_hand_worked(self):
        # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 2, 4/3, 1; the third is 0.04 either way.
        found = benjamini_hochberg([0.01, 0.04, 0.03, 0.005])
        assert found.tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])

    def test_missing_do_not_count(self):
        found = benjamini_hochberg([0.01, None, 0.04])
        assert found[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
        assert np.isnan(found[1])

    @given(P_VALUES)
    @settings(max_examples=200, deadline=None)
    def test_scipy_is_the_oracle(self, p_values):
        theirs = stats.false_discovery_control(p_values)
        assert benjamini_hochberg(p_values).tolist() == pytest.approx(theirs.tolist())


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
class TestBoth:
    def test_degenerate(self, adjust):
        assert adjust([]).tolist() == []
        assert np.isnan(adjust([None, np.nan])).all()
        assert adjust([1.0, 1.0]).tolist() == [1.0, 1.0]

    def test_input_stays_as_it_was(self, adjust):
        p_values = np.array([0.01, 0.02])
        adjust(p_values)
        assert p_values.tolist() == [0.01, 0.02]

    @pytest.mark.parametrize("p_values", [[-0.1], [1.1], [[0.5]], ["x"], [np.inf]])
    def test_input_that_cannot_be_used(self, adjust, p_values):
        with pytest.raises(InputError):
            adjust(p_values)

    @given(p_values=P_VALUES, seed=st.integers(0, 9))
    @settings(max_examples=100, deadline=None)
    def test_properties(self, adjust, p_values, seed):
        found = adjust(p_values)
        assert (found >= np.array(p_values) - 1e-15).all()
        assert (found <= 1).all()
        order = np.argsort(p_values, kind="stable")
        assert (np.diff(found[order]) >= -1e-15).all()
        shuffled = np.random.default_rng(seed).permutation(len(p_values))
        assert adjust(np.array(p_values)[shuffled]).tolist() == pytest.approx(
            found[shuffled].tolist()
        )


class TestMinimumDetectableEffect:
    def test_hand_worked(self):
        # 1.959964 + 0.841621
        assert minimum_detectable_effect(1.0) == pytest.approx(2.801585, abs=1e-6)
        assert minimum_detectable_effect(2.0, power=0.5) == pytest.approx(2 * 1.959964, abs=1e-5)

    def test_simulated_power(self):
        effect = minimum_detectable_effect(0.1, power=0.9)
        found = np.random.default_rng(1).normal(effect, 0.1, 100_000)
        assert (np.abs(found) > 0.1 * 1.959964).mean() == pytest.approx(0.9, abs=0.005)

    def test_no_error_no_effect(self):
        assert minimum_detectable_effect(0.0) == 0.0

    @pytest.mark.parametrize(
        ("error", "how"),
        [
            (-1.0, {}),
            (float("nan"), {}),
            (1.0, {"level": 0.0}),
            (1.0, {"level": 1.0}),
            (1.0, {"power": 1.0}),
            (1.0, {"power": 0.4}),
        ],
    )
    def test_input_that_cannot_be_used(self, error, how):
        with pytest.raises(InputError):
            minimum_detectable_effect(error, **how)
