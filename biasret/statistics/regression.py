"""What remains of a gap once a regressor is held fixed, by least squares.

Two models, after Tang et al., section 3:

paired
    difference = alpha + beta * regressor. What remains is alpha: the difference expected where
    the regressor is 0.
two groups
    value = alpha + beta * regressor + gamma * [minuend]. What remains is gamma.

In both the gap is, exactly, what remains plus beta times a difference of the regressor: its
mean over pairs, or its mean in the minuend less that in the subtrahend.

Observations that share a cluster get cluster-robust standard errors and, for what remains, an
interval from resampling clusters; observations that share none get HC1. With clusters of one
the two standard errors are the same number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biasret.errors import InputError
from biasret.statistics.resampling import (
    check_settings,
    cluster_codes,
    exact_mean,
    generator_of,
    percentile_interval,
)
from biasret.statistics.results import TOLERANCE, AdjustedGap, Coefficient, finite
from biasret.statistics.streams import use_indices

__all__ = ["NO_COEFFICIENT", "adjusted_paired", "adjusted_two_groups"]

#: How standard errors were computed, and by what the interval of what remains.
CLUSTERED, INDEPENDENT = "cluster", "HC1"
BY_BOOTSTRAP, BY_NORMAL = "cluster bootstrap", "normal"

NO_COEFFICIENT = Coefficient(None, None, None, None, None)


def adjusted_paired(
    differences: ArrayLike,
    regressor: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    resamples: int = 5000,
    rng: int | np.random.Generator = 42,
    level: float = 0.95,
) -> AdjustedGap:
    """Mean paired difference at a regressor of 0.

    Parameters
    ----------
    differences, regressor : shape (n,)
        One pair each, both as minuend minus subtrahend.
    clusters : shape (n,)
        What is not independent. Omitted, or none shared: each pair for itself.
    resamples
        Replicates of the cluster bootstrap, at least 1.
    rng
        A seed, or a generator whose stream runs on.
    level
        Coverage aimed at, in (0, 1).

    Returns
    -------
    AdjustedGap

    Raises
    ------
    InputError
        A number is NaN or infinite, a cluster is missing, or lengths differ.

    References
    ----------
    Tang et al., released code; Cameron and Miller (2015), A practitioner's guide to
    cluster-robust inference; MacKinnon and White (1985) for HC1.

    Examples
    --------
    >>> found = adjusted_paired([0.1, 0.2, 0.3, 0.2], [0.0, 1.0, 2.0, 1.0])
    >>> round(found.residual.estimate, 6), round(found.slope.estimate, 6), found.covariance
    (0.1, 0.1, 'HC1')
    """
    y, x = finite(differences, name="differences"), finite(regressor, name="regressor values")
    _same_length(y, x)
    data = _Data(y, x, np.zeros(y.size, dtype=np.int64), *_coded(clusters, n=y.size))
    return _adjusted(data, n_groups=1, resamples=resamples, rng=rng, level=level)


def adjusted_two_groups(
    minuend: ArrayLike,
    subtrahend: ArrayLike,
    *,
    minuend_regressor: ArrayLike,
    subtrahend_regressor: ArrayLike,
    minuend_clusters: ArrayLike | None = None,
    subtrahend_clusters: ArrayLike | None = None,
    resamples: int = 5000,
    rng: int | np.random.Generator = 42,
    level: float = 0.95,
) -> AdjustedGap:
    """Difference of two groups' means at equal regressor.

    Parameters
    ----------
    minuend, subtrahend : shapes (n,) and (m,)
    minuend_regressor, subtrahend_regressor : shapes (n,) and (m,)
    minuend_clusters, subtrahend_clusters : shapes (n,) and (m,)
        What is not independent, both or neither; the same name in both groups is one cluster.
    resamples, rng, level
        As in `adjusted_paired`.

    Returns
    -------
    AdjustedGap

    Raises
    ------
    InputError
        As in `adjusted_paired`, or one group has clusters and the other does not.

    Examples
    --------
    >>> found = adjusted_two_groups([1.0, 2.0], [0.0, 2.0],
    ...                             minuend_regressor=[1.0, 2.0], subtrahend_regressor=[0.0, 1.0])
    >>> round(found.gap, 6), round(found.residual.estimate, 6), round(found.slope.estimate, 6)
    (0.5, -1.0, 1.5)
    """
    upper, lower = finite(minuend, name="minuend"), finite(subtrahend, name="subtrahend")
    own = [finite(minuend_regressor, name="regressor values of the minuend")]
    own.append(finite(subtrahend_regressor, name="regressor values of the subtrahend"))
    _same_length(upper, own[0])
    _same_length(lower, own[1])
    if (minuend_clusters is None) != (subtrahend_clusters is None):
        raise InputError("Give clusters for both groups or for neither.")
    clusters = None
    if minuend_clusters is not None and subtrahend_clusters is not None:
        both = [np.asarray(minuend_clusters), np.asarray(subtrahend_clusters)]
        clusters = np.concatenate([one.astype(object) for one in both])
    y = np.concatenate([upper, lower])
    # Group 0 is the subtrahend, as in the model's indicator.
    group = np.repeat([1, 0], [upper.size, lower.size])
    data = _Data(y, np.concatenate(own), group, *_coded(clusters, n=y.size))
    return _adjusted(data, n_groups=2, resamples=resamples, rng=rng, level=level)


@dataclass(frozen=True)
class _Data:
    """Rows to fit: outcome, regressor, group (0 or 1), cluster."""

    y: np.ndarray
    x: np.ndarray
    group: np.ndarray
    cluster: np.ndarray
    n_clusters: int

    def in_order(self) -> _Data:
        """The same rows in an order that does not depend on how they were given."""
        is_shared = self.n_clusters < self.y.size
        # The name of a cluster that nobody shares says nothing.
        cluster = self.cluster if is_shared else np.zeros_like(self.cluster)
        at = np.lexsort((self.y, self.x, self.group, cluster))
        cluster = cluster[at] if is_shared else np.arange(at.size)
        return _Data(self.y[at], self.x[at], self.group[at], cluster, self.n_clusters)


def _adjusted(
    data: _Data, *, n_groups: int, resamples: int, rng: int | np.random.Generator, level: float
) -> AdjustedGap:
    check_settings(resamples, level)
    is_clustered = data.n_clusters < data.y.size
    covariance = CLUSTERED if is_clustered else INDEPENDENT
    method = BY_BOOTSTRAP if is_clustered else BY_NORMAL
    counted: dict[str, Any] = {
        "n": data.y.size,
        "n_clusters": data.n_clusters,
        "covariance": covariance,
        "interval": method,
    }
    sizes = np.bincount(data.group, minlength=n_groups)
    gap = regressor = None
    if sizes.min() > 0:
        gap, regressor = _contrast(data.y, data.group), _contrast(data.x, data.group)
    why = _why_not(data, sizes)
    if why or gap is None or regressor is None:
        nothing = (NO_COEFFICIENT, NO_COEFFICIENT, regressor, None, None)
        return AdjustedGap(gap, *nothing, **counted, note=why)
    data = data.in_order()
    residual, slope, r_squared, note = _fitted(data, n_groups, is_clustered, level)
    assert slope.estimate is not None
    if is_clustered and residual.p_value is not None:
        residual, note = _with_bootstrap(data, residual, n_groups, resamples, rng, level)
    contribution = slope.estimate * regressor
    return AdjustedGap(
        gap, residual, slope, regressor, contribution, r_squared, **counted, note=note
    )


def _why_not(data: _Data, sizes: np.ndarray) -> str | None:
    """Why no line can be fitted; None where one can."""
    n_coefficients = 1 + sizes.size
    if data.y.size == 0:
        return "no values"
    if sizes.min() == 0:
        return "one group has no values"
    if data.y.size <= n_coefficients:
        return f"{data.y.size} rows are too few to fit {n_coefficients} coefficients"
    smallest = TOLERANCE * float(np.abs(data.x).max())
    spread = max(float(np.ptp(data.x[data.group == g])) for g in range(sizes.size))
    if spread <= smallest:
        if float(np.ptp(data.x)) <= smallest:
            return "the regressor is the same in every row, so it can account for nothing"
        return (
            "the regressor is the same throughout each group, so it cannot be told from the group"
        )
    return None


def _fitted(
    data: _Data, n_groups: int, is_clustered: bool, level: float
) -> tuple[Coefficient, Coefficient, float | None, str | None]:
    """What remains, the slope, R squared, and a note."""
    from statsmodels.regression.linear_model import OLS

    columns = [np.ones(data.y.size), data.x, data.group.astype(np.float64)][: n_groups + 1]
    model = OLS(data.y, np.column_stack(columns))
    plain = model.fit()
    estimates = plain.params
    at = 0 if n_groups == 1 else 2
    size = float(np.abs(data.y).max())
    is_exact = float(np.abs(plain.resid).max()) <= TOLERANCE * size
    note: str | None
    if float(np.ptp(data.y)) <= TOLERANCE * size:
        note = "all outcomes equal: the fit cannot show the uncertainty"
    elif is_exact:
        note = "every outcome lies on the line: the fit cannot show the uncertainty"
    else:
        note = _too_few(data, n_groups, len(columns))
    if note:
        bare = [Coefficient(float(estimates[i]), None, None, None, None) for i in (at, 1)]
        return bare[0], bare[1], None, note
    options: dict[str, Any] = {"cov_type": "HC1"}
    if is_clustered:
        options = {"cov_type": "cluster", "cov_kwds": {"groups": data.cluster}}
    fit = model.fit(use_t=False, **options)
    z = NormalDist().inv_cdf((1 + level) / 2)
    both = []
    for i in (at, 1):
        estimate, error = float(fit.params[i]), float(fit.bse[i])
        low, high = estimate - z * error, estimate + z * error
        both.append(Coefficient(estimate, error, low, high, float(fit.pvalues[i])))
    return both[0], both[1], float(plain.rsquared), None


def _with_bootstrap(
    data: _Data,
    residual: Coefficient,
    n_groups: int,
    resamples: int,
    rng: int | np.random.Generator,
    level: float,
) -> tuple[Coefficient, str | None]:
    """What remains with its interval from resampling clusters, and a note."""
    replicates = _resampled(data, n_groups, resamples, generator_of(rng))
    if replicates.size == 0:
        return replace(residual, low=None, high=None), "no resample could be fitted: no interval"
    low, high, note = percentile_interval(
        replicates, level, data.y, fewest_clusters=data.n_clusters
    )
    lost = resamples - replicates.size
    if lost:
        said = f"{lost:,} of {resamples:,} resamples could not be fitted and were left out"
        note = f"{note}; {said}" if note else said
    return replace(residual, low=low, high=high), note


def _too_few(data: _Data, n_groups: int, n_coefficients: int) -> str | None:
    """Why there can be no standard errors; None where there can."""
    if data.n_clusters <= n_coefficients:
        noun = "cluster" if data.n_clusters == 1 else "clusters"
        return (
            f"{data.n_clusters} {noun} cannot give standard errors of {n_coefficients} coefficients"
        )
    fewest = min(np.unique(data.cluster[data.group == g]).size for g in range(n_groups))
    if fewest == 1:
        return "one group comes from a single cluster or row: no standard errors"
    return None


def _resampled(data: _Data, n_groups: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """What remains in each resample of clusters that can be fitted.

    The slope of a fit with an intercept in each group is the sum over groups of
    ``S(xy) - S(x) S(y) / n`` over that of ``S(xx) - S(x)**2 / n``, so that a replicate needs
    only five sums of each cluster and group: one product of how often each cluster was drawn
    with those sums gives a whole block of replicates.
    """
    centres, sums = [], []
    for g in range(n_groups):
        inside = data.group == g
        x, y = data.x[inside], data.y[inside]
        x_centre, y_centre = float(x.mean()), float(y.mean())
        centres.append((x_centre, y_centre))
        # Centred, so that differences of products keep their digits.
        x, y = x - x_centre, y - y_centre
        for part in (np.ones(x.size), x, y, x * x, x * y):
            sums.append(np.bincount(data.cluster[inside], part, minlength=data.n_clusters))
    of_cluster = np.stack(sums, axis=1)
    smallest = TOLERANCE * float(of_cluster[:, 3::5].sum())
    found = np.empty(resamples)

    def use(rows: slice, drawn: np.ndarray) -> None:
        height = len(drawn)
        places = drawn + np.arange(height)[:, None] * data.n_clusters
        times = np.bincount(places.ravel(), minlength=height * data.n_clusters)
        total = times.reshape(height, -1).astype(np.float64) @ of_cluster
        n, x, y, xx, xy = (total[:, i::5] for i in range(5))
        there = np.maximum(n, 1.0)
        above = (xy - x * y / there).sum(axis=1)
        below = (xx - x * x / there).sum(axis=1)
        fits = (n > 0).all(axis=1) & (below > smallest)
        slope = np.divide(above, below, out=np.full(height, np.nan), where=fits)
        levels = [
            y_centre + y[:, g] / there[:, g] - slope * (x_centre + x[:, g] / there[:, g])
            for g, (x_centre, y_centre) in enumerate(centres)
        ]
        found[rows] = levels[0] if n_groups == 1 else levels[1] - levels[0]

    use_indices(rng, (data.n_clusters,), resamples, use)
    return found[~np.isnan(found)]


def _contrast(values: np.ndarray, group: np.ndarray) -> float:
    """Mean of the one group, or mean of group 1 less that of group 0."""
    means = [exact_mean(values[group == g]) for g in range(int(group.max()) + 1)]
    return means[0] if len(means) == 1 else means[1] - means[0]


def _coded(clusters: ArrayLike | None, *, n: int) -> tuple[np.ndarray, int]:
    if clusters is None or n == 0:
        return np.arange(n), n
    return cluster_codes(clusters, n=n)


def _same_length(values: np.ndarray, regressor: np.ndarray) -> None:
    if values.shape != regressor.shape:
        raise InputError(
            f"There should be one regressor value per outcome: {values.size}; "
            f"found {regressor.size}."
        )
