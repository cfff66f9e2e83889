"""Intervals and tests by resampling: cluster bootstrap, two groups, sign flips.

The default streams repeat the paper's draw for draw (`biasret.statistics.streams`); others have
the same distribution and are faster.
"""

from __future__ import annotations

import zlib
from math import fsum
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from biasret.errors import InputError
from biasret.statistics.results import TOLERANCE, GapResult, MeanResult, TestResult, finite
from biasret.statistics.streams import count_signs, use_indices, word_signs
from biasret.statistics.weights import counted_means

__all__ = ["Stream", "cluster_bootstrap_mean", "sign_flip", "stable_seed", "two_group_bootstrap"]

#: The paper's random numbers, or fewer with the same distribution.
Stream = Literal["paper", "counts"]


def stable_seed(*parts: object, base: int = 0) -> int:
    """A seed that depends on names alone, the same on every machine.

    Parameters
    ----------
    parts
        Whatever names the stream; their `repr` counts.
    base
        Added to the checksum.

    Returns
    -------
    int
        `base` plus the CRC-32 of the parts' printed tuple, without its top bit.

    References
    ----------
    Tang et al., released code.

    Examples
    --------
    >>> stable_seed("bm25", base=1234) - stable_seed("bm25")
    1234
    """
    return base + (zlib.crc32(repr(parts).encode("utf-8")) & 0x7FFFFFFF)


def cluster_bootstrap_mean(
    values: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    resamples: int = 5000,
    rng: int | np.random.Generator = 42,
    level: float = 0.95,
    stream: Stream = "paper",
) -> MeanResult:
    """Mean with a percentile interval from resampling whole clusters.

    Each replicate draws as many clusters as there are, with replacement, and takes the
    mean of all their values, so larger clusters weigh more. Only sums and counts of
    clusters are gathered; memory does not grow with the number of replicates beyond one
    number each.

    *Streams.* ``paper`` repeats the paper's draws. ``counts`` draws how often each cluster
    occurs instead of which cluster comes next: the same distribution in little more than
    half the time; `biasret.statistics.weights` says why. Ends of the two intervals differ as
    those of two seeds do.

    Parameters
    ----------
    values : shape (n,)
        One observation each, in any unit.
    clusters : shape (n,)
        What is drawn together; clusters are numbered in sorted order, which fixes the
        stream. Omitted: each value is its own cluster, in the order given.
    resamples
        Replicates, at least 1.
    rng
        A seed, or a generator whose stream runs on through several calls.
    level
        Coverage aimed at, in (0, 1).
    stream
        ``paper`` to reproduce the release, ``counts`` for speed.

    Returns
    -------
    MeanResult
        The estimate is the plain mean of the values. Its interval is None for no values,
        a single cluster, or replicates that are all equal: a width of zero would read as
        certainty.

    Raises
    ------
    InputError
        A value is NaN or infinite, a cluster is missing, lengths differ, or the stream is
        unknown.

    References
    ----------
    Tang et al., released code; Davison and Hinkley (1997), section 3.8.

    Examples
    --------
    >>> found = cluster_bootstrap_mean([0.0, 1.0, 1.0, 0.0], clusters=["a", "b", "b", "c"])
    >>> found.estimate, found.low, found.high, found.n_clusters
    (0.5, 0.0, 1.0, 3)
    >>> cluster_bootstrap_mean([0.2, 0.2]).note
    'all values equal: resampling cannot show the uncertainty'
    """
    data = finite(values, name="values")
    check_settings(resamples, level)
    _check_stream(stream)
    if data.size == 0:
        return MeanResult(None, None, None, 0, 0, "no values")
    if clusters is None:
        sums, counts = data, np.ones(data.size)
    else:
        codes, n_clusters = cluster_codes(clusters, n=data.size)
        sums, counts = _sums(data, codes, n_clusters)
    draw = counted_means if stream == "counts" else _paper_means
    means = draw(sums, counts, resamples, generator_of(rng))
    low, high, note = percentile_interval(means, level, data, fewest_clusters=sums.size)
    return MeanResult(exact_mean(data), low, high, data.size, sums.size, note)


def two_group_bootstrap(
    minuend: ArrayLike,
    subtrahend: ArrayLike,
    *,
    minuend_clusters: ArrayLike | None = None,
    subtrahend_clusters: ArrayLike | None = None,
    resamples: int = 5000,
    rng: int | np.random.Generator = 42,
    level: float = 0.95,
) -> GapResult:
    """Difference of two groups' means with a percentile interval.

    Without clusters each replicate draws values of the minuend, then of the subtrahend,
    each group keeping its size. With clusters each replicate draws once from the clusters
    of both groups together, so one that has values in both is drawn for both and what its
    values share cancels in the difference; group sizes then vary between replicates.

    Parameters
    ----------
    minuend, subtrahend : shapes (n,) and (m,)
        One observation each, in the same unit.
    minuend_clusters, subtrahend_clusters : shapes (n,) and (m,)
        What is drawn together, both or neither. The same name in both is one cluster.
    resamples
        Replicates, at least 1.
    rng
        A seed, or a generator whose stream runs on through several calls.
    level
        Coverage aimed at, in (0, 1).

    Returns
    -------
    GapResult
        Minuend minus subtrahend. The interval is None if a group is empty or has a single
        cluster, or if all replicates are equal. Replicates that drew no cluster of one
        group are left out and counted in the note.

    Raises
    ------
    InputError
        A value is NaN or infinite, a cluster is missing, lengths differ, or one group has
        clusters and the other does not.

    References
    ----------
    Tang et al., released code (without clusters).

    Examples
    --------
    >>> found = two_group_bootstrap([0.5, 1.0, 0.75], [0.25, 0.5])
    >>> found.estimate, found.n_clusters
    (0.375, 5)
    """
    upper = finite(minuend, name="minuend values")
    lower = finite(subtrahend, name="subtrahend values")
    check_settings(resamples, level)
    if (minuend_clusters is None) != (subtrahend_clusters is None):
        raise InputError("Give clusters for both groups or for neither; found them for one.")
    n, m = upper.size, lower.size
    if n == 0 or m == 0:
        return GapResult(None, None, None, n, m, n + m, "a group is empty")
    left_out = 0
    if minuend_clusters is None or subtrahend_clusters is None:
        n_clusters, fewest = n + m, min(n, m)
        shares = np.concatenate([upper / n, lower / -m])
        gaps = np.empty(resamples)

        def use(rows: slice, drawn: np.ndarray) -> None:
            gaps[rows] = shares.take(drawn).sum(axis=1)

        use_indices(generator_of(rng), (n, m), resamples, use)
    else:
        own = [_labels(minuend_clusters, n=n), _labels(subtrahend_clusters, n=m)]
        codes, n_clusters = cluster_codes(np.concatenate(own), n=n + m)
        sides = [_sums(upper, codes[:n], n_clusters), _sums(lower, codes[n:], n_clusters)]
        fewest = min(int(np.count_nonzero(counts)) for _, counts in sides)
        gaps = _drawn_together(sides, resamples, generator_of(rng))
        left_out = resamples - gaps.size
    estimate = exact_mean(upper) - exact_mean(lower)
    if gaps.size == 0:
        note: str | None = "no resample drew both groups: no interval"
        return GapResult(estimate, None, None, n, m, n_clusters, note)
    everything = np.concatenate([upper, lower])
    low, high, note = percentile_interval(gaps, level, everything, fewest_clusters=fewest)
    if left_out:
        lost = f"{left_out:,} of {resamples:,} resamples drew only one group and were left out"
        note = f"{note}; {lost}" if note else lost
    return GapResult(estimate, low, high, n, m, n_clusters, note)


def sign_flip(
    differences: ArrayLike,
    *,
    resamples: int = 50_000,
    rng: int | np.random.Generator = 42,
    stream: Stream = "paper",
) -> TestResult:
    """Test whether paired differences lie around zero by flipping their signs.

    If the two members of a pair are exchangeable, each difference is as likely as its
    negative, so the mean of the differences with random signs has the null distribution.
    p = (1 + hits) / (resamples + 1), where a hit is a replicate whose mean is at least as
    far from zero as the observed one (two-sided by comparing absolute values).

    *Rounding.* A replicate that equals the observed mean as a fraction may miss it as a
    float. A hit is therefore |replicate| >= |observed| - 1e-12 times the mean absolute
    difference, the largest mean that any signs can give. The paper's p-values do not
    change by it.

    *Streams.* ``paper`` repeats the paper's: one 32-bit word a sign, in row order, so rows
    must be in the order of the released code. ``counts`` has the same null distribution
    from at most a 32nd of the random bits. Proof: let c differences share the absolute
    value d. A random sign times -d is distributed as one times d, so with signs s_1..s_c
    they add d * (s_1 + ... + s_c) to the sum. Each (s_i + 1) / 2 is 0 or 1 with probability
    1/2, independently, so the bracket is 2 K - c with K binomial (c, 1/2). The sum thus
    depends on the signs only through one such count per distinct absolute value, and these
    are independent. A count is drawn as a binomial number if c is large, else as its c
    bits, eight of which are looked up at once in a table of sums.

    Parameters
    ----------
    differences : shape (n,)
        One difference per pair, in any unit. Zero differences stay in the mean.
    resamples
        Replicates, at least 1.
    rng
        A seed, or a generator whose stream runs on through several calls.
    stream
        ``paper`` to reproduce the release, ``counts`` for everything else.

    Returns
    -------
    TestResult
        `statistic` is the mean difference. `p_value` is None only without pairs; it is 1
        if all are tied.

    Raises
    ------
    InputError
        A difference is NaN or infinite, or the stream is unknown.

    References
    ----------
    Tang et al., released code; Phipson and Smyth (2010) for adding one.

    Examples
    --------
    >>> found = sign_flip([1.0] * 20, resamples=999)
    >>> found.p_value, found.statistic
    (0.001, 1.0)
    """
    data = finite(differences, name="differences")
    check_settings(resamples, 0.95)
    _check_stream(stream)
    if data.size == 0:
        return TestResult(None, None, 0, 0, "sign-flip", "no pairs")
    observed, size = exact_mean(data), np.abs(data)
    n_zero = int((size <= TOLERANCE * size.max()).sum())
    least = (abs(observed) - TOLERANCE * float(size.mean())) * data.size
    if n_zero == data.size:
        return TestResult(1.0, observed, data.size, n_zero, "sign-flip", "all pairs tied")
    generator = generator_of(rng)
    sums = (word_signs if stream == "paper" else count_signs)(data, resamples, generator)
    hits = sum(int((np.abs(block) >= least).sum()) for block in sums)
    p_value = (1 + hits) / (resamples + 1)
    return TestResult(p_value, observed, data.size, n_zero, "sign-flip", None)


def _paper_means(
    sums: np.ndarray, counts: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Replicates' means from the paper's draws of clusters."""
    means = np.empty(resamples)
    same_size = bool((counts == counts[0]).all())
    # Sum and count of a cluster travel as one complex number: half as many look-ups.
    pairs = sums if same_size else sums + 1j * counts

    def use(rows: slice, drawn: np.ndarray) -> None:
        total = pairs.take(drawn).sum(axis=1)
        means[rows] = total / (counts[0] * sums.size) if same_size else total.real / total.imag

    use_indices(rng, (sums.size,), resamples, use)
    return means


def _drawn_together(
    sides: list[tuple[np.ndarray, np.ndarray]], resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Gaps of the replicates that drew both groups."""
    (upper, n_upper), (lower, n_lower) = sides
    # Sum and count of a cluster travel as one complex number: half as many look-ups.
    uppers, lowers = upper + 1j * n_upper, lower + 1j * n_lower
    gaps = np.empty(resamples)

    def use(rows: slice, drawn: np.ndarray) -> None:
        above, below = uppers.take(drawn).sum(axis=1), lowers.take(drawn).sum(axis=1)
        both = (above.imag > 0) & (below.imag > 0)
        gaps[rows] = np.nan
        gaps[rows][both] = above.real[both] / above.imag[both] - below.real[both] / below.imag[both]

    use_indices(rng, (upper.size,), resamples, use)
    return gaps[~np.isnan(gaps)]


def percentile_interval(
    replicates: np.ndarray, level: float, values: np.ndarray, *, fewest_clusters: int
) -> tuple[float | None, float | None, str | None]:
    if fewest_clusters == 1:
        kind = "observation" if values.size == 1 else "cluster"
        return None, None, f"one {kind}: no interval"
    # Rounded, because 50 * (1 - 0.95) is a little more than 2.5.
    tail = round(50 * (1 - level), 10)
    low, high = (float(end) for end in np.percentile(replicates, [tail, 100 - tail]))
    smallest = TOLERANCE * float(np.abs(values).max())
    if high - low > smallest:
        return low, high, None
    what = "values" if np.ptp(values) <= smallest else "resampled means"
    return None, None, f"all {what} equal: resampling cannot show the uncertainty"


def exact_mean(values: np.ndarray) -> float:
    # Exact summation, so that the order of rows cannot matter.
    return fsum(values.tolist()) / values.size


def _sums(values: np.ndarray, codes: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum and count of each cluster, independent of the order of rows."""
    # By value, then stably by cluster: as a sort by both, and faster. Few bits sort faster yet.
    order = np.argsort(values)
    narrow = codes.astype(np.uint16 if n_clusters <= 1 << 16 else np.int64)
    order = order[np.argsort(narrow[order], kind="stable")]
    sums = np.bincount(codes[order], weights=values[order], minlength=n_clusters)
    return sums, np.bincount(codes, minlength=n_clusters).astype(np.float64)


def cluster_codes(clusters: ArrayLike, *, n: int) -> tuple[np.ndarray, int]:
    try:
        names, codes = np.unique(_labels(clusters, n=n), return_inverse=True)
    except TypeError as error:
        raise InputError(f"Clusters should be all text or all numbers: {error}.") from error
    return codes, names.size


def _labels(clusters: ArrayLike, *, n: int) -> np.ndarray:
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise InputError(f"There should be one cluster per value: {n}; found {labels.shape}.")
    # A missing label differs from itself (NaN) or is None.
    n_missing = sum(label is None or label != label for label in labels.tolist())
    if n_missing:
        raise InputError(f"{n_missing} of {n} values have no cluster.")
    return labels


def _check_stream(stream: str) -> None:
    if stream not in get_args(Stream):
        raise InputError(f"Unknown stream {stream!r}. Available: {', '.join(get_args(Stream))}.")


def generator_of(rng: int | np.random.Generator) -> np.random.Generator:
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


def check_settings(resamples: int, level: float) -> None:
    if resamples < 1:
        raise InputError(f"There should be at least one resample; found {resamples}.")
    if not 0 < level < 1:
        raise InputError(f"The level lies between 0 and 1; found {level!r}.")
