"""Resampling: hand-worked values, SciPy and plain loops as oracles, coverage, edges."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasret.errors import InputError
from biasret.statistics import (
    GapResult,
    MeanResult,
    cluster_bootstrap_mean,
    sign_flip,
    stable_seed,
    streams,
    two_group_bootstrap,
    weights,
)

CONSTANT = "all values equal: resampling cannot show the uncertainty"


def paper_cluster_bootstrap(values, clusters, *, resamples, seed):
    """The released code's recipe, one replicate at a time."""
    rng = np.random.default_rng(seed)
    unique = np.unique(clusters)
    members = {name: values[clusters == name] for name in unique}
    means = []
    for _ in range(resamples):
        drawn = rng.choice(unique, size=len(unique), replace=True)
        means.append(np.concatenate([members[name] for name in drawn]).mean())
    return np.percentile(means, [2.5, 97.5])


@pytest.fixture
def clustered():
    rng = np.random.default_rng(3)
    clusters = np.array([f"a{n}" for n in rng.integers(0, 37, 200)], dtype=object)
    return rng.normal(0.1, 1, 200), clusters


def test_importing_is_cheap():
    code = (
        "import sys; import biasret.statistics;"
        " sys.exit(any(m in sys.modules for m in ('pandas', 'scipy')))"
    )
    project = Path(__file__).resolve().parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=project, check=False).returncode == 0


class TestStableSeed:
    def test_known_values(self):
        # CRC-32 of "('bm25',)" and of "('hcmagic_synth', 'aal_message1')", top bit off.
        import zlib

        assert stable_seed("bm25") == zlib.crc32(b"('bm25',)") & 0x7FFFFFFF
        text = b"('hcmagic_synth', 'aal_message1')"
        assert stable_seed("hcmagic_synth", "aal_message1", base=42) == 42 + (
            zlib.crc32(text) & 0x7FFFFFFF
        )

    def test_fixed_forever(self):
        assert stable_seed("bm25", base=1234) == 1581605778

    def test_depends_on_order_and_grouping(self):
        assert stable_seed("a", "b") != stable_seed("b", "a")
        assert stable_seed("ab") != stable_seed("a", "b")


def indices(rng: np.random.Generator, sizes: tuple[int, ...], resamples: int) -> np.ndarray:
    """Every index that is handed out, in its row."""
    drawn = np.full((resamples, sum(sizes)), -1)

    def use(rows, block):
        drawn[rows] = block

    streams.use_indices(rng, sizes, resamples, use)
    return drawn


class TestStreams:
    """What the docstring of `streams` claims about NumPy."""

    @pytest.mark.parametrize("n", [2, 3, 7, 64, 1200, 4999])
    def test_choice_equals_blocks_of_integers(self, n):
        one, other, ours = (np.random.default_rng(42) for _ in range(3))
        rows = np.stack([one.choice(np.arange(n), size=n, replace=True) for _ in range(12)])
        blocks = [other.integers(0, n, size=(5, n)), other.integers(0, n, size=(7, n))]
        assert (rows == np.concatenate(blocks)).all()
        drawn = indices(ours, (n,), 12)
        assert (rows == drawn).all()
        assert one.random() == ours.random()

    def test_signs_are_top_bits(self):
        one, other = np.random.default_rng(42), np.random.default_rng(42)
        signs = one.choice([-1.0, 1.0], size=(7, 13))
        data = np.random.default_rng(0).normal(size=13)
        sums = np.concatenate(list(streams.word_signs(data, 7, other)))
        assert np.allclose(sums, signs @ data, rtol=0, atol=1e-14)
        assert one.random() == other.random()

    @pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
    @pytest.mark.parametrize("sizes", [(3, 5), (659, 647), (4, 1), (1, 4), (6, 6)])
    def test_two_groups_draw_in_turn(self, sizes, bits):
        one, ours = (np.random.Generator(bits(42)) for _ in range(2))
        # An odd 32-bit draw first leaves half a word over.
        assert one.integers(0, 9) == ours.integers(0, 9)
        n, m = sizes
        expected = np.stack(
            [np.concatenate([one.integers(0, n, n), n + one.integers(0, m, m)]) for _ in range(201)]
        )
        drawn = indices(ours, sizes, 201)
        assert (drawn == expected).all()
        assert one.integers(0, 1 << 30, 3).tolist() == ours.integers(0, 1 << 30, 3).tolist()

    @pytest.mark.parametrize("sizes", [(40,), (7, 5), (1200,)])
    def test_many_small_blocks_change_nothing(self, monkeypatch, sizes):
        monkeypatch.setattr(streams, "BLOCK_DRAWS", 2 * sum(sizes))
        ours, plain = np.random.default_rng(9), np.random.default_rng(9)
        rows = [
            np.concatenate(
                [plain.integers(0, n, n) + at for n, at in zip(sizes, (0, sizes[0]), strict=False)]
            )
            for _ in range(101)
        ]
        assert (indices(ours, sizes, 101) == np.stack(rows)).all()
        assert ours.random() == plain.random()

    def test_a_shift_in_the_middle_is_found(self, monkeypatch):
        # 2**32 modulo this is close to half of it, so that many words are unfair: the draws of
        # a block shift those of all that follow.
        n, width = 3_000_000_000, 6
        monkeypatch.setattr(streams, "BLOCK_DRAWS", 2 * width)

        class Few(streams._Indices):
            """Six columns drawn from a large group."""

            def __init__(self):
                super().__init__((width,))
                self._highs = np.array([n], dtype=np.uint32)
                self._unfair = np.array([(1 << 32) % n], dtype=np.uint32)

            def plain(self, rng, rows):
                return rng.integers(0, n, size=(rows, width))

        monkeypatch.setattr(streams, "_Indices", lambda sizes: Few())
        ours, plain = np.random.default_rng(3), np.random.default_rng(3)
        assert (indices(ours, (width,), 61) == plain.integers(0, n, size=(61, width))).all()
        assert ours.random() == plain.random()

    def test_rejected_words_are_drawn_again(self, monkeypatch):
        # For small groups a word in 2**29 or fewer is refused, so one is planted.
        n = 3
        rng = np.random.default_rng(5)
        plain = np.random.default_rng(5)

        def words(generator, count):
            drawn = generator.integers(0, 1 << 32, size=count, dtype=np.uint32)
            drawn[0] = 0  # 0 * 3 = 0 < 2**32 % 3 = 1, so the block must be redone
            return drawn

        monkeypatch.setattr(streams, "_words", words)
        drawn = indices(rng, (n,), 8)
        assert (drawn == plain.integers(0, n, size=(8, n))).all()


def draws_of_each(n, *, resamples, seed):
    """How often each replicate draws each of n clusters, shape (resamples, n)."""
    # The same seed draws the same; a cluster that alone holds a one shows its own count.
    shares = [
        weights.counted_means(row, np.ones(n), resamples, np.random.default_rng(seed))
        for row in np.eye(n)
    ]
    counts = np.column_stack(shares) * n
    assert counts == pytest.approx(np.round(counts), abs=1e-9)
    return np.round(counts).astype(int)


def chi_square_p(observed, probabilities):
    """Of a goodness-of-fit test, with outcomes expected less than five times put together."""
    expected = np.array(probabilities) * sum(observed)
    often = expected >= 5
    seen = [*np.array(observed)[often], np.array(observed)[~often].sum()]
    due = [*expected[often], expected[~often].sum()]
    if due[-1] < 5:
        seen[-2:], due[-2:] = [sum(seen[-2:])], [sum(due[-2:])]
    return stats.chisquare(seen, due).pvalue


class TestCountedDraws:
    """How often each cluster is drawn is multinomial, whatever way it comes about."""

    @pytest.mark.parametrize(
        ("short_by", "rare"), [(2.5, 64), (0.0, 64), (-1.0, 64), (2.5, 0), (2.5, 1 << 17), (99, 64)]
    )
    def test_two_of_five_clusters(self, short_by, rare, monkeypatch):
        # Singly drawn only, hardly ever, and with every word or none left over.
        monkeypatch.setattr(weights, "SHORT_BY", short_by)
        monkeypatch.setattr(weights, "RARE_WORDS", rare)
        drawn = draws_of_each(5, resamples=40_000, seed=5)
        assert (drawn.sum(axis=1) == 5).all()
        outcomes = [(a, b) for a in range(6) for b in range(6 - a)]
        observed = [int(((drawn[:, 0] == a) & (drawn[:, 3] == b)).sum()) for a, b in outcomes]
        law = stats.multinomial(5, [0.2, 0.2, 0.6])
        assert chi_square_p(observed, [law.pmf([a, b, 5 - a - b]) for a, b in outcomes]) > 1e-3

    @pytest.mark.parametrize("n", [2, 30, 400])
    def test_each_cluster_is_binomial(self, n):
        drawn = draws_of_each(n, resamples=60_000 // n, seed=n)
        assert (drawn.sum(axis=1) == n).all()
        observed = np.bincount(drawn.ravel(), minlength=n + 1)
        assert chi_square_p(observed, stats.binom(n, 1 / n).pmf(range(n + 1))) > 1e-3

    def test_many_blocks_are_as_good_as_one(self, monkeypatch):
        monkeypatch.setattr(weights, "BLOCK_WEIGHTS", 7)
        drawn = draws_of_each(5, resamples=20_000, seed=3)
        assert (drawn.sum(axis=1) == 5).all()
        observed = np.bincount(drawn[:, 2], minlength=6)
        assert chi_square_p(observed, stats.binom(5, 0.2).pmf(range(6))) > 1e-3
        assert len({tuple(row) for row in drawn[:100]}) > 40

    def test_interval_is_that_of_the_exact_distribution(self):
        # Of 90 values 27 are one, so a replicate's sum is binomial (90, 0.3).
        values = np.repeat([1.0, 0.0], [27, 63])
        found = cluster_bootstrap_mean(values, resamples=200_000, stream="counts")
        ends = stats.binom(90, 0.3).ppf([0.025, 0.975])
        assert (found.low * 90, found.high * 90) == pytest.approx(tuple(ends))

    def test_streams_agree(self, clustered):
        values, drawn_together = clustered
        paper, counts = (
            cluster_bootstrap_mean(
                values, clusters=drawn_together, resamples=100_000, rng=1, stream=stream
            )
            for stream in ("paper", "counts")
        )
        assert counts.estimate == paper.estimate
        ends = (counts.low, counts.high)
        assert ends == pytest.approx((paper.low, paper.high), abs=0.02 * (paper.high - paper.low))

    def test_same_seed_same_draws(self, clustered):
        values, drawn_together = clustered
        first, again, other = (
            cluster_bootstrap_mean(values, clusters=drawn_together, rng=rng, stream="counts")
            for rng in (3, np.random.default_rng(3), 4)
        )
        assert first == again
        assert first.low != other.low

    def test_fewer_replicates_than_parts(self):
        (mean,) = weights.counted_means(
            np.array([0.0, 1.0, 4.0]), np.ones(3), 1, np.random.default_rng(1)
        )
        # Three draws of 0, 1 and 4.
        assert round(mean * 3) in {
            a + b + c for a in (0, 1, 4) for b in (0, 1, 4) for c in (0, 1, 4)
        }
        assert mean * 3 == pytest.approx(round(mean * 3))


class TestClusterBootstrap:
    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_hand_worked(self, stream):
        # One draw in 27 is all b, so a mean of 1; eight are without b, so a mean of 0.
        found = cluster_bootstrap_mean([0, 1, 1, 0], clusters=["a", "b", "b", "c"], stream=stream)
        assert found == MeanResult(0.5, 0.0, 1.0, 4, 3, None)

    def test_equals_the_released_recipe(self, clustered):
        values, clusters = clustered
        low, high = paper_cluster_bootstrap(values, clusters, resamples=300, seed=42)
        found = cluster_bootstrap_mean(values, clusters=clusters, resamples=300)
        assert found.low == pytest.approx(low, abs=1e-14)
        assert found.high == pytest.approx(high, abs=1e-14)
        assert (found.n, found.n_clusters) == (200, len(set(clusters)))

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
    def test_scipy_is_the_oracle_for_single_values(self, level):
        values = np.random.default_rng(1).exponential(size=60)
        found = cluster_bootstrap_mean(values, resamples=999, level=level)
        theirs = stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=999,
            confidence_level=level,
            method="percentile",
            rng=np.random.default_rng(42),
        ).confidence_interval
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-13)

    def test_clusters_of_one_in_order_are_no_clusters(self):
        values = np.random.default_rng(1).normal(size=50)
        assert cluster_bootstrap_mean(values) == cluster_bootstrap_mean(
            values, clusters=np.arange(50)
        )

    def test_clusters_of_one_size_weigh_alike(self):
        values = np.random.default_rng(1).normal(size=60)
        found = cluster_bootstrap_mean(values, clusters=np.repeat(np.arange(20), 3))
        means = cluster_bootstrap_mean(values.reshape(20, 3).mean(axis=1))
        assert (found.low, found.high) == pytest.approx((means.low, means.high), abs=1e-14)

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_order_of_rows_changes_nothing(self, clustered, stream):
        values, clusters = clustered
        order = np.random.default_rng(9).permutation(values.size)
        found = cluster_bootstrap_mean(values, clusters=clusters, stream=stream)
        assert found == cluster_bootstrap_mean(
            values[order], clusters=clusters[order], stream=stream
        )

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_names_of_clusters_change_nothing(self, clustered, stream):
        values, clusters = clustered
        renamed = np.unique(clusters, return_inverse=True)[1] * 10 - 5
        found = cluster_bootstrap_mean(values, clusters=clusters, stream=stream)
        assert found == cluster_bootstrap_mean(values, clusters=renamed, stream=stream)

    def test_more_clusters_than_narrow_codes_hold(self):
        values = np.random.default_rng(1).normal(size=70_000)
        names = np.arange(70_000)
        found = cluster_bootstrap_mean(values, clusters=names, resamples=20)
        assert found == cluster_bootstrap_mean(values, resamples=20)

    @pytest.mark.parametrize("block", [1, 50, 777, 1 << 20])
    def test_size_of_blocks_changes_nothing(self, clustered, block, monkeypatch):
        values, clusters = clustered
        found = cluster_bootstrap_mean(values, clusters=clusters, resamples=200)
        flipped = [sign_flip(values, resamples=500, stream=s) for s in ("paper", "counts")]
        gap = two_group_bootstrap(values[:90], values[90:], resamples=200)
        monkeypatch.setattr(streams, "BLOCK_DRAWS", block)
        assert cluster_bootstrap_mean(values, clusters=clusters, resamples=200) == found
        again = [sign_flip(values, resamples=500, stream=s) for s in ("paper", "counts")]
        assert again == flipped
        assert two_group_bootstrap(values[:90], values[90:], resamples=200) == gap

    def test_one_stream_runs_through_several_calls(self):
        values = np.random.default_rng(1).normal(size=31)
        rng = np.random.default_rng(8)
        first = cluster_bootstrap_mean(values, resamples=101, rng=rng)
        second = cluster_bootstrap_mean(values, resamples=101, rng=rng)
        drawn = np.random.default_rng(8).integers(0, 31, size=(202, 31))
        ends = np.percentile(values[drawn[101:]].mean(axis=1), [2.5, 97.5])
        assert (second.low, second.high) == pytest.approx(tuple(ends), abs=1e-14)
        assert first.low != second.low

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_negating_mirrors(self, clustered, stream):
        # The paired case: exchanging the groups negates each difference.
        values, clusters = clustered
        found = cluster_bootstrap_mean(values, clusters=clusters, stream=stream)
        mirrored = cluster_bootstrap_mean(-values, clusters=clusters, stream=stream)
        assert mirrored.estimate == -found.estimate
        assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), abs=1e-15)

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_coverage(self, stream):
        # Percentile intervals of 60 clusters fall a little short of 95 %; with 2,000
        # replications the standard error is half a percent.
        rng = np.random.default_rng(11)
        clusters = np.repeat(np.arange(60), 2)
        hits = 0
        for seed in range(2000):
            values = np.repeat(rng.normal(size=60), 2) + rng.normal(size=120)
            found = cluster_bootstrap_mean(
                values, clusters=clusters, resamples=399, rng=seed, stream=stream
            )
            hits += found.low <= 0 <= found.high
        assert 0.925 <= hits / 2000 <= 0.96

    def test_ignoring_clusters_would_be_too_sure(self):
        rng = np.random.default_rng(11)
        values = np.repeat(rng.normal(size=60), 5)
        clustered = cluster_bootstrap_mean(values, clusters=np.repeat(np.arange(60), 5))
        plain = cluster_bootstrap_mean(values)
        assert clustered.high - clustered.low > 1.8 * (plain.high - plain.low)

    @pytest.mark.parametrize(
        ("values", "clusters", "expected"),
        [
            ([], None, MeanResult(None, None, None, 0, 0, "no values")),
            ([0.5], None, MeanResult(0.5, None, None, 1, 1, "one observation: no interval")),
            ([0, 1], ["a", "a"], MeanResult(0.5, None, None, 2, 1, "one cluster: no interval")),
            ([0.25, 0.25, 0.25], None, MeanResult(0.25, None, None, 3, 3, CONSTANT)),
            ([0.0, 0.0], None, MeanResult(0.0, None, None, 2, 2, CONSTANT)),
            (
                [0, 1, 0, 1],
                [1, 1, 2, 2],
                MeanResult(0.5, None, None, 4, 2, CONSTANT.replace("values", "resampled means")),
            ),
        ],
    )
    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_degenerate(self, values, clusters, expected, stream):
        found = cluster_bootstrap_mean(values, clusters=clusters, resamples=50, stream=stream)
        assert found == expected

    def test_equal_up_to_rounding_is_equal(self):
        found = cluster_bootstrap_mean([0.1 + 0.2, 0.3, 0.3])
        assert (found.low, found.note) == (None, CONSTANT)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: cluster_bootstrap_mean([1.0, np.nan, np.inf]), "2 of 3 values are missing"),
            (lambda: cluster_bootstrap_mean([[1.0]]), "one row; found 2 dimensions"),
            (lambda: cluster_bootstrap_mean(["x"]), "should be numbers"),
            (lambda: cluster_bootstrap_mean([1, 2], clusters=["a"]), "one cluster per value: 2"),
            (lambda: cluster_bootstrap_mean([1, 2], clusters=["a", None]), "1 of 2 values have"),
            (lambda: cluster_bootstrap_mean([1, 2], clusters=[1, np.nan]), "1 of 2 values have"),
            (
                lambda: cluster_bootstrap_mean([1, 2], clusters=np.array([1, "a"], dtype=object)),
                "all text or all numbers",
            ),
            (lambda: cluster_bootstrap_mean([1, 2], resamples=0), "at least one resample"),
            (lambda: cluster_bootstrap_mean([1, 2], level=1.0), "between 0 and 1"),
            (lambda: cluster_bootstrap_mean([1, 2], stream="fast"), "Available: paper, counts"),
        ],
    )
    def test_input_that_cannot_be_used(self, call, message):
        with pytest.raises(InputError, match=message):
            call()

    @given(
        st.lists(st.floats(-100, 100), min_size=1, max_size=30),
        st.integers(0, 5),
        st.integers(1, 60),
        st.sampled_from(["paper", "counts"]),
    )
    @settings(max_examples=200, deadline=None)
    def test_interval_stays_within_the_values(self, values, seed, resamples, stream):
        clusters = np.random.default_rng(seed).integers(0, 6, len(values))
        found = cluster_bootstrap_mean(
            values, clusters=clusters, resamples=resamples, stream=stream
        )
        assert found.estimate == pytest.approx(math.fsum(values) / len(values))
        if found.low is None:
            assert found.high is None
            assert found.note
        else:
            slack = 1e-12 * max(map(abs, values))
            assert min(values) - slack <= found.low < found.high <= max(values) + slack


class TestTwoGroups:
    def test_equals_the_released_recipe(self):
        rng = np.random.default_rng(2)
        upper, lower = rng.normal(0.3, 1, 41), rng.normal(0, 1, 38)
        stream, gaps = np.random.default_rng(42), []
        for _ in range(300):
            above = upper[stream.integers(0, 41, 41)].mean()
            gaps.append(above - lower[stream.integers(0, 38, 38)].mean())
        found = two_group_bootstrap(upper, lower, resamples=300)
        ends = tuple(np.percentile(gaps, [2.5, 97.5]))
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-14)
        assert found.estimate == pytest.approx(upper.mean() - lower.mean(), abs=1e-15)
        assert (found.n_minuend, found.n_subtrahend, found.n_clusters) == (41, 38, 79)

    def test_exchanging_groups_negates_and_mirrors(self):
        rng = np.random.default_rng(2)
        upper, lower = rng.normal(0.3, 1, 200), rng.normal(0, 1, 150)
        found = two_group_bootstrap(upper, lower, resamples=20_000)
        mirrored = two_group_bootstrap(lower, upper, resamples=20_000)
        assert mirrored.estimate == -found.estimate
        # Other draws: an end's Monte Carlo error is about a fiftieth of the standard error.
        assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), abs=0.012)

    def test_shared_clusters_are_drawn_together(self):
        # What both variants of an article share cancels, as in the paired bootstrap.
        rng = np.random.default_rng(4)
        shared = rng.normal(0, 5, 80)
        upper, lower = shared + rng.normal(0.2, 0.1, 80), shared + rng.normal(0, 0.1, 80)
        names = np.arange(80)
        found = two_group_bootstrap(upper, lower, minuend_clusters=names, subtrahend_clusters=names)
        paired = cluster_bootstrap_mean(upper - lower, clusters=names)
        assert found.n_clusters == 80
        assert (found.low, found.high) == pytest.approx((paired.low, paired.high), abs=1e-13)
        apart = two_group_bootstrap(upper, lower)
        assert apart.high - apart.low > 20 * (found.high - found.low)

    def test_clustered_exchange_is_exact(self, clustered):
        values, clusters = clustered
        groups = (values[:120], values[120:]), (clusters[:120], clusters[120:])
        (upper, lower), (c_upper, c_lower) = groups
        found = two_group_bootstrap(
            upper, lower, minuend_clusters=c_upper, subtrahend_clusters=c_lower
        )
        mirrored = two_group_bootstrap(
            lower, upper, minuend_clusters=c_lower, subtrahend_clusters=c_upper
        )
        assert (mirrored.estimate, mirrored.low) == pytest.approx((-found.estimate, -found.high))
        assert found.n_clusters == mirrored.n_clusters == len(set(clusters))

    def test_replicates_without_a_group_are_left_out(self):
        found = two_group_bootstrap(
            [1.0, 2.0, 2.5],
            [0.0, 0.5],
            minuend_clusters=["a", "b", "c"],
            subtrahend_clusters=["d", "e"],
            resamples=1000,
        )
        # (2/5)**5 + (3/5)**5 = 8.8 % draw one group only.
        lost = int(found.note.split(" of ")[0])
        assert 60 <= lost <= 120
        assert "were left out" in found.note
        assert found.estimate == pytest.approx(5.5 / 3 - 0.25)
        assert found.low < found.estimate < found.high

    def test_coverage_with_groups_of_unequal_spread(self):
        rng = np.random.default_rng(12)
        hits = 0
        for seed in range(2000):
            upper, lower = rng.normal(0, 2, 60), rng.normal(0, 1, 45)
            found = two_group_bootstrap(upper, lower, resamples=299, rng=seed)
            hits += found.low <= 0 <= found.high
        assert 0.925 <= hits / 2000 <= 0.96

    @pytest.mark.parametrize(
        ("upper", "lower", "estimate", "note"),
        [
            ([], [1.0], None, "a group is empty"),
            ([], [], None, "a group is empty"),
            ([1.0], [0.0, 0.5], 0.75, "one cluster: no interval"),
            ([1.0, 1.0], [1.0, 1.0], 0.0, CONSTANT),
            ([1.0, 1.0], [0.0, 0.0], 1.0, CONSTANT.replace("values", "resampled means")),
        ],
    )
    def test_degenerate(self, upper, lower, estimate, note):
        found = two_group_bootstrap(upper, lower, resamples=50)
        n, m = len(upper), len(lower)
        assert found == GapResult(estimate, None, None, n, m, n + m, note)

    def test_clusters_for_one_group_only(self):
        with pytest.raises(InputError, match="both groups or for neither"):
            two_group_bootstrap([1, 2], [1, 2], minuend_clusters=["a", "b"])


class TestSignFlip:
    def test_equals_the_released_recipe(self):
        differences = np.random.default_rng(6).normal(0.15, 1, 101)
        signs = np.random.default_rng(42).choice([-1.0, 1.0], size=(2000, 101))
        null = (signs * differences).mean(axis=1)
        hits = int((np.abs(null) >= abs(differences.mean())).sum())
        found = sign_flip(differences, resamples=2000)
        assert found.p_value == (1 + hits) / 2001
        assert found.statistic == pytest.approx(differences.mean(), abs=1e-16)
        assert (found.n, found.n_zero, found.test) == (101, 0, "sign-flip")

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_hand_worked(self, stream):
        # Of the 8 signs of (1, 2, 3) only all plus and all minus reach |6|: p = 2/8.
        found = sign_flip([1.0, 2.0, 3.0], stream=stream)
        assert found.p_value == pytest.approx(0.25, abs=0.008)

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_floor(self, stream):
        found = sign_flip(np.ones(300), stream=stream)
        assert found.p_value == 1 / 50_001

    @pytest.mark.parametrize(
        "differences",
        [
            np.random.default_rng(1).normal(0.12, 1, 203),
            np.round(np.random.default_rng(2).normal(0.1, 1, 500), 1),
            np.random.default_rng(3).choice([-0.2, 0.0, 0.2, 0.4], 3000, p=[0.2, 0.5, 0.25, 0.05]),
        ],
        ids=["all distinct", "some equal", "four values"],
    )
    def test_streams_agree(self, differences):
        paper = sign_flip(differences, resamples=20_000)
        counts = sign_flip(differences, resamples=20_000, stream="counts")
        error = np.sqrt(2 * paper.p_value * (1 - paper.p_value) / 20_000)
        assert abs(paper.p_value - counts.p_value) < 4.5 * error + 1e-4
        assert (paper.statistic, paper.n_zero) == (counts.statistic, counts.n_zero)

    def test_both_streams_have_the_exact_null_distribution(self):
        # Eleven differences, some equal, one zero: all 2,048 sums can be listed.
        differences = np.array([0.1, 0.1, -0.1, 0.2, 0.2, 0.5, -0.3, 0.0, 0.7, 0.1, 0.4])
        signs = np.array(np.meshgrid(*[[-1, 1]] * 11)).reshape(11, -1).T
        listed = np.round(signs @ differences, 9)
        for draw in (streams.word_signs, streams.count_signs):
            rng = np.random.default_rng(1)
            sums = np.round(np.concatenate(list(draw(differences, 40_000, rng))), 9)
            values, counts = np.unique(listed, return_counts=True)
            seen = np.array([(sums == value).sum() for value in values])
            assert seen.sum() == 40_000
            assert stats.chisquare(seen, counts / counts.sum() * 40_000).pvalue > 1e-3

    def test_many_equal_differences_use_binomial_counts(self):
        differences = np.array([0.1] * 400 + [-0.1] * 350 + [0.3] * 3)
        sums = np.concatenate(
            list(streams.count_signs(differences, 20_000, np.random.default_rng(1)))
        )
        assert sums.mean() == pytest.approx(0, abs=5 * sums.std() / 141)
        assert sums.var() == pytest.approx((differences**2).sum(), rel=0.04)

    def test_uniform_under_the_null(self):
        rng = np.random.default_rng(5)
        p_values = [
            sign_flip(rng.normal(size=40), resamples=499, rng=seed, stream="counts").p_value
            for seed in range(1000)
        ]
        assert stats.kstest(p_values, "uniform").pvalue > 1e-3

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_rounding_does_not_hide_ties(self, stream):
        # 0.1 + 0.2 - 0.3 is 5.6e-17, not 0: every sum is at least as far from zero.
        found = sign_flip([0.1, 0.2, -0.3], stream=stream, resamples=500)
        assert found.p_value == 1.0

    def test_scipy_agrees_on_the_distribution(self):
        differences = np.random.default_rng(8).normal(0.2, 1, 60)
        theirs = stats.permutation_test(
            (differences,),
            np.mean,
            permutation_type="samples",
            n_resamples=20_000,
            vectorized=True,
            rng=np.random.default_rng(1),
        )
        found = sign_flip(differences, resamples=20_000, stream="counts")
        assert found.p_value == pytest.approx(theirs.pvalue, abs=0.02)

    def test_sign_changes_nothing(self):
        differences = np.random.default_rng(8).normal(0.2, 1, 60)
        for stream in ("paper", "counts"):
            found = sign_flip(differences, stream=stream, resamples=5000)
            assert sign_flip(-differences, stream=stream, resamples=5000).p_value == found.p_value

    def test_order_of_rows_changes_nothing_in_counts(self):
        differences = np.random.default_rng(8).normal(0.2, 1, 60)
        found = sign_flip(differences, stream="counts", resamples=5000)
        assert sign_flip(differences[::-1], stream="counts", resamples=5000) == found

    @pytest.mark.parametrize("stream", ["paper", "counts"])
    def test_degenerate(self, stream):
        none = sign_flip([], stream=stream)
        assert (none.p_value, none.statistic, none.note) == (None, None, "no pairs")
        tied = sign_flip([0.0, 0.0], stream=stream)
        assert (tied.p_value, tied.n_zero, tied.note) == (1.0, 2, "all pairs tied")
        assert sign_flip([0.4], stream=stream, resamples=99).p_value == 1.0
        assert sign_flip([0.4, 0.0], stream=stream, resamples=99).n_zero == 1

    def test_unknown_stream(self):
        with pytest.raises(InputError, match="Available: paper, counts"):
            sign_flip([1.0], stream="fast")

    @given(st.lists(st.floats(-10, 10), min_size=1, max_size=20), st.integers(1, 50))
    @settings(max_examples=100, deadline=None)
    def test_p_is_a_count_of_hits(self, differences, resamples):
        for stream in ("paper", "counts"):
            found = sign_flip(differences, stream=stream, resamples=resamples)
            hits = found.p_value * (resamples + 1) - 1
            assert hits == pytest.approx(round(hits), abs=1e-9)
            assert 0 <= round(hits) <= resamples
