"""The median with an interval from resampling whole clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biasret.errors import InputError
from biasret.statistics.results import TOLERANCE, MeanResult, finite
from biasret.statistics.streams import use_indices

__all__ = ["cluster_bootstrap_median"]

#: Weights held in memory at a time.
_BLOCK = 1 << 20


def cluster_bootstrap_median(
    values: ArrayLike,
    *,
    clusters: ArrayLike,
    resamples: int = 5000,
    rng: int | np.random.Generator = 43,
    level: float = 0.95,
) -> MeanResult:
    """Median with a percentile interval from resampling whole clusters.

    Each replicate draws as many clusters as there are, with replacement, and takes the
    median of all their values; of an even number, the mean of the middle two.

    Parameters
    ----------
    values : shape (n,)
        One observation each, in any unit.
    clusters : shape (n,)
        What is drawn together; numbered in order of first appearance, which fixes the
        stream.
    resamples
        Replicates, at least 1.
    rng
        A seed, or a generator whose stream runs on through several calls.
    level
        Coverage aimed at, in (0, 1).

    Returns
    -------
    MeanResult
        The estimate is the plain median. Its interval is None for no values, a single
        cluster, or replicates that are all equal.

    Raises
    ------
    InputError
        A value is NaN or infinite, or there is not one cluster per value.

    References
    ----------
    Tang et al., released code (the pairing check of Fig. 5).

    Examples
    --------
    >>> found = cluster_bootstrap_median([0.0, 1.0, 5.0], clusters=["a", "b", "c"])
    >>> found.estimate, found.low, found.high
    (1.0, 0.0, 5.0)
    """
    data = finite(values, name="values")
    labels = np.asarray(clusters, dtype=object)
    if labels.shape != data.shape:
        raise InputError(
            f"There should be one cluster per value: {data.size}; found {labels.shape}."
        )
    if data.size == 0:
        return MeanResult(None, None, None, 0, 0, "no values")
    numbers = {label: at for at, label in enumerate(dict.fromkeys(labels.tolist()))}
    n_clusters = len(numbers)
    estimate = float(np.median(data))
    if n_clusters == 1:
        return MeanResult(estimate, None, None, data.size, 1, "one cluster: no interval")
    order = np.argsort(data, kind="stable")
    ascending = data[order]
    codes = np.array([numbers[label] for label in labels[order].tolist()])
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    medians = np.empty(resamples)
    height = max(1, _BLOCK // max(data.size, n_clusters))

    def use(rows: slice, drawn: np.ndarray) -> None:
        for start in range(0, len(drawn), height):
            part = drawn[start : start + height]
            at = part + np.arange(len(part))[:, None] * n_clusters
            counts = np.bincount(at.ravel(), minlength=len(part) * n_clusters)
            # How often each value is in the replicate, and how many lie up to it.
            reached = counts.reshape(-1, n_clusters)[:, codes].cumsum(axis=1)
            n = reached[:, -1:]
            low = (reached < (n + 1) // 2).sum(axis=1)
            high = (reached < n // 2 + 1).sum(axis=1)
            first = rows.start + start
            medians[first : first + len(part)] = (ascending[low] + ascending[high]) / 2

    use_indices(generator, (n_clusters,), resamples, use)
    tail = (1 - level) / 2
    low_end, high_end = (float(end) for end in np.quantile(medians, [tail, 1 - tail]))
    if high_end - low_end <= TOLERANCE * float(np.abs(data).max()):
        note = "all resampled medians equal: resampling cannot show the uncertainty"
        return MeanResult(estimate, None, None, data.size, n_clusters, note)
    return MeanResult(estimate, low_end, high_end, data.size, n_clusters, None)
