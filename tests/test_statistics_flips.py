"""The sign-flip test without draws, against listing all patterns, exact integers and draws."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from biasret import published
from biasret.errors import InputError
from biasret.statistics import flips, sign_flip, sign_flip_exact


def listed(differences) -> float:
    """p by going through every pattern of signs."""
    data = np.abs(np.asarray(differences, dtype=float))
    observed = abs(float(np.sum(differences)))
    slack = 1e-12 * data.sum()
    hits = sum(
        abs(sum(s * d for s, d in zip(signs, data, strict=True))) >= observed - slack
        for signs in product((1, -1), repeat=data.size)
    )
    return hits / 2**data.size


def in_integers(multiples: np.ndarray) -> Fraction:
    """p of whole numbers, by counting patterns in Python's unlimited integers."""
    sizes = [abs(int(m)) for m in multiples]
    total = sum(sizes)
    ways = [0] * (total + 1)
    ways[0] = 1
    reach = 0
    for size in sizes:
        reach += size
        for at in range(reach, size - 1, -1):
            ways[at] += ways[at - size]
    # The sum is total - 2 * (what is flipped).
    observed = abs(int(multiples.sum()))
    hits = sum(n for flipped, n in enumerate(ways) if abs(total - 2 * flipped) >= observed)
    return Fraction(hits, 2 ** len(sizes))


def parts_of(differences) -> tuple[np.ndarray, np.ndarray, float, float]:
    """What each way to the tail is given: values, counts, their total, and the least hit."""
    size = np.abs(differences)
    values, counts = flips._joined(np.sort(size / size.max()))
    total = float(values @ counts)
    return values, counts, total, abs(differences.sum()) / size.max() - 1e-12 * total


class TestByHand:
    def test_three_differences(self):
        # 6, 4 and 2 add up to 12; so do no others. Without the last sign: 8 = 6 + 4 - 2.
        assert sign_flip_exact([3, 2, 1]).p_value == 2 / 8
        assert sign_flip_exact([3, 2, -1]).p_value == 4 / 8
        assert sign_flip_exact([3, -2, 1]).p_value == 6 / 8  # 2, or 0 either way
        found = sign_flip_exact([3, -2, -1])
        assert (found.p_value, found.statistic, found.n, found.n_zero) == (1.0, 0.0, 3, 0)

    def test_all_on_one_side(self):
        assert sign_flip_exact([0.1] * 40).p_value == pytest.approx(2 * 0.5**40, rel=1e-12)

    def test_many_that_are_too_small_to_flip_add_up_to_nothing(self):
        assert sign_flip_exact([1.0, *[5e-13] * 40]).p_value == 1.0
        rounding = 0.1 - (0.1 + 0.1 + 0.1) / 3
        assert 0 < abs(rounding) < 1e-16
        assert sign_flip_exact([0.1, *[rounding] * 999]).p_value == 1.0

    def test_below_the_smallest_float(self):
        found = sign_flip_exact([0.1] * 2000)
        assert found.p_value == sys.float_info.min

    def test_degenerate(self):
        none = sign_flip_exact([])
        assert (none.p_value, none.statistic, none.note) == (None, None, "no pairs")
        tied = sign_flip_exact([0.0, 0.0])
        assert (tied.p_value, tied.n_zero, tied.note) == (1.0, 2, "all pairs tied")
        assert sign_flip_exact([0.4]).p_value == 1.0
        assert sign_flip_exact([0.4, 0.0]).n_zero == 1

    def test_what_cannot_be_used(self):
        with pytest.raises(InputError, match="1 of 2 differences are missing"):
            sign_flip_exact([1.0, np.nan])


class TestAgainstEveryPattern:
    @given(st.lists(st.floats(-10, 10), min_size=1, max_size=10))
    @settings(max_examples=150, deadline=None)
    def test_any_numbers(self, differences):
        assume(max(map(abs, differences)) > 1e-6)
        # Nearly zero next to nearly equal: what counts as a tie is not in question here.
        rounded = [round(d, 6) for d in differences]
        assume(any(rounded))
        assert sign_flip_exact(rounded).p_value == pytest.approx(listed(rounded), rel=1e-12)

    @given(st.lists(st.integers(-6, 6), min_size=1, max_size=12))
    @settings(max_examples=150, deadline=None)
    def test_multiples_of_a_tenth(self, multiples):
        assume(any(multiples))
        found = sign_flip_exact([m / 10 for m in multiples]).p_value
        assert found == pytest.approx(float(in_integers(np.array(multiples))), rel=1e-12)

    def test_scipy_is_an_oracle(self):
        data = np.random.default_rng(3).normal(0.4, 1, 12)
        theirs = stats.permutation_test(
            (data,), np.mean, permutation_type="samples", n_resamples=np.inf
        )
        assert sign_flip_exact(data).p_value == pytest.approx(theirs.pvalue, rel=1e-12)


class TestOnALattice:
    """Against counting in integers, however small the tail."""

    @pytest.mark.parametrize("shift", [0, 1, 2, 4])
    @pytest.mark.parametrize("n", [60, 200])
    def test_all_sizes_of_tail(self, n, shift):
        multiples = np.random.default_rng(n + shift).integers(-9, 10, n) + shift
        exact = in_integers(multiples)
        found = sign_flip_exact(multiples * 0.05)
        assert found.test == "sign-flip, exact"
        assert found.p_value == pytest.approx(float(exact), rel=1e-7)
        values, counts, total, least = parts_of(multiples * 0.05)
        step = flips._lattice(values)
        scaled = np.round(values / step)
        at = scaled @ counts / 2 - np.floor((total - least) / 2 / step + 1e-6)
        tail = flips._on_lattice(scaled / 2, counts, at)
        assert 2 * tail == pytest.approx(float(exact), rel=1e-7)
        if (n, shift) == (200, 4):
            assert float(exact) < 1e-12

    @pytest.mark.parametrize(
        "multiples",
        [
            [500, -490, *[1] * 18, *[-1] * 10],
            [1000, -997, *[1] * 15, *[-1] * 12],
            [-531, *[1] * 14, *[2] * 13],
            [20, -20, 20, 3, 1, -2, *[1] * 12, *[-1] * 9],
        ],
    )
    def test_a_few_large_among_many_small(self, multiples):
        """The sum can be far from the bulk of its distribution in units of its spread."""
        exact = float(in_integers(np.array(multiples)))
        assert sign_flip_exact(np.array(multiples) / 10).p_value == pytest.approx(exact, rel=1e-9)

    @pytest.mark.parametrize("seed", range(8))
    def test_heavy_tailed_whole_numbers(self, seed):
        rng = np.random.default_rng(seed)
        multiples = np.round(rng.standard_cauchy(int(rng.integers(25, 60))) * 3).astype(int)
        exact = float(in_integers(multiples))
        assert sign_flip_exact(multiples * 0.1).p_value == pytest.approx(exact, rel=1e-9)

    def test_coarse_and_fine_together(self):
        multiples = np.concatenate([np.random.default_rng(0).choice([-50, 60], 150), [1, 3, -7]])
        assert sign_flip_exact(multiples / 100).p_value == pytest.approx(
            float(in_integers(multiples)), rel=1e-7
        )

    @pytest.mark.parametrize("k", [5, 10, 20, 50, 100])
    def test_lean_lies_on_one(self, k):
        rng = np.random.default_rng(k)
        left, right = rng.integers(-k, k + 1, (2, 400)) / k
        values, *_ = parts_of((right - left)[right != left])
        step = flips._lattice(values)
        assert step == pytest.approx(1 / round(1 / step), rel=1e-6)
        assert sign_flip_exact(right - left).test == "sign-flip, exact"

    def test_the_mean_of_three_rewrites_lies_on_a_finer_one(self):
        rng = np.random.default_rng(1)
        lean = rng.integers(-10, 11, (4, 300)) / 10
        assert sign_flip_exact(lean[0] - lean[1:].mean(axis=0)).test == "sign-flip, exact"

    def test_random_numbers_lie_on_none(self):
        values = np.sort(np.random.default_rng(1).random(50))
        assert flips._lattice(values / values[-1]) is None


#: From a generator and n to differences.
SHAPES = {
    "normal": lambda rng, n: rng.normal(0.45, 1, n),
    "skewed": lambda rng, n: rng.exponential(1, n) * np.where(rng.random(n) < 0.75, 1, -1),
    "heavy": lambda rng, n: rng.pareto(1.5, n) * np.where(rng.random(n) < 0.7, 1, -1),
    "one giant": lambda rng, n: np.append(rng.normal(0.3, 1, n - 1), 12.0),
    "few large": lambda rng, n: np.concatenate(
        [rng.normal(0.02, 0.05, n - 4), rng.normal(1, 0.3, 4)]
    ),
}


class TestIntegral:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_agrees_with_all_patterns_of_36(self, shape):
        data = SHAPES[shape](np.random.default_rng(8), 36)
        values, counts, total, least = parts_of(data)
        exact = flips._few_sums(values, counts, (total - least) / 2)
        assert exact is not None
        assert flips._integral(values, counts, least) == pytest.approx(exact, rel=0.005)

    @pytest.mark.parametrize(
        ("n", "seed", "mean", "below"),
        [(48, 0, 0.8, 1e-7), (56, 1, 1.0, 1e-10), (64, 4, 1.15, 1e-12), (90, 2, 1.4, 1e-20)],
    )
    def test_agrees_with_counting_in_far_tails(self, n, seed, mean, below, monkeypatch):
        """The patterns that reach the tail are counted one by one, up to twelve million."""
        monkeypatch.setattr(flips, "MOST_SUMS", 1 << 24)
        data = np.random.default_rng(seed).normal(mean, 1, n)
        values, counts, total, least = parts_of(data)
        exact = flips._few_patterns(values, counts, (total - least) / 2)
        assert exact is not None
        assert 0 < exact < below
        assert flips._integral(values, counts, least) == pytest.approx(exact, rel=0.01)

    def test_agrees_with_ten_to_the_eight_draws(self):
        data = np.random.default_rng(1).normal(0.6, 1, 48)
        found = sign_flip_exact(data)
        assert found.test == "sign-flip, saddlepoint integral"
        drawn = sign_flip(data, stream="counts", resamples=100_000_000).p_value
        assert found.p_value < 2e-4
        assert found.p_value == pytest.approx(drawn, rel=5 / np.sqrt(drawn * 1e8))

    def test_agrees_with_draws_where_coarse_steps_and_fine_noise_meet(self):
        """The transform dies down and comes back; stopping early would count half an atom."""
        rng = np.random.default_rng(0)
        coarse = rng.choice([-0.5, 0.5, 1.0, -1.0], 200, p=[0.2, 0.3, 0.3, 0.2])
        data = np.concatenate([coarse, rng.normal(0, 1e-4, 50)])
        drawn = sign_flip(data, stream="counts", resamples=4_000_000).p_value
        assert sign_flip_exact(data).p_value == pytest.approx(
            drawn, rel=5 * np.sqrt((1 - drawn) / (drawn * 4e6))
        )

    def test_agrees_with_draws_on_the_papers_questions(self):
        ranks = published.load("ranks").assign(
            number=lambda rows: rows["query_id"].str.rsplit("_", n=1).str[1]
        )
        for _, of in ranks.groupby("retriever"):
            sides = [
                1 / of[of["variant"] == variant].set_index("number")["rank"]
                for variant in ("trans_aal", "aal_real")
            ]
            data = (sides[0].loc[sides[1].index] - sides[1]).to_numpy()
            drawn = sign_flip(data).p_value
            error = np.sqrt(drawn * (1 - drawn) / 50_000) + 1 / 50_000
            assert abs(sign_flip_exact(data).p_value - drawn) < 5 * error

    def test_what_would_take_too_long_is_drawn_and_says_so(self, monkeypatch):
        monkeypatch.setattr(flips, "MOST_WORK", 10)
        data = np.random.default_rng(1).normal(0.2, 1, 80)
        found = sign_flip_exact(data)
        assert found.test == "sign-flip, 50,000 draws"
        assert "take too long" in found.note
        assert found.p_value == sign_flip(data, stream="counts").p_value

    def test_what_is_not_smooth_is_drawn_and_says_so(self):
        """Coarse steps and noise so fine that the transform never dies down."""
        rng = np.random.default_rng(3)
        data = rng.choice([-1.0, 0.0, 1.0], 300) + rng.normal(0, 1e-6, 300)
        found = sign_flip_exact(data)
        assert found.test == "sign-flip, 50,000 draws"
        assert found.p_value == sign_flip(data, stream="counts").p_value

    def test_the_bound_bounds(self):
        values, counts, _, least = parts_of(np.random.default_rng(2).normal(0.2, 1, 300))
        tilted = flips._Tilted(values, counts, least)
        nodes = np.linspace(0.01, 60, 4000)
        modulus = np.abs(tilted.transform(nodes))
        assert (modulus <= tilted.bound(nodes) * (1 + 1e-9)).all()


class TestProperties:
    @given(
        st.lists(st.floats(-1, 1), min_size=2, max_size=60),
        st.floats(1e-3, 1e3),
        st.integers(0, 99),
    )
    @settings(max_examples=60, deadline=None)
    def test_sides_units_order_and_zeros_change_nothing(self, differences, unit, seed):
        data = np.round(differences, 4)
        assume(data.any())
        p_value = sign_flip_exact(data).p_value
        shuffled = np.random.default_rng(seed).permutation(np.append(data, [0.0, 0.0]))
        for other in (-data, shuffled):
            assert sign_flip_exact(other).p_value == pytest.approx(p_value, rel=1e-6)
        assert sign_flip_exact(data * unit).p_value == pytest.approx(p_value, rel=1e-4)
        assert 0 < p_value <= 1

    @pytest.mark.parametrize("kind", ["lattice", "smooth"])
    def test_uniform_under_the_null(self, kind):
        rng = np.random.default_rng(6)
        data = rng.normal(size=(200, 70))
        if kind == "lattice":
            data = np.round(data * 20) / 20
        found = [sign_flip_exact(row).p_value for row in data]
        assert stats.kstest(found, "uniform").pvalue > 1e-3

    def test_farther_means_smaller(self):
        base = np.random.default_rng(2).normal(0, 1, 200)
        base -= base.mean()
        found = [sign_flip_exact(base + shift).p_value for shift in (0.05, 0.2, 0.5, 1.0, 2.0)]
        assert found == sorted(found, reverse=True)
        assert found[-1] < 1e-40
