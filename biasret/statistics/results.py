"""What the statistics return, and the one check of what they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from biasret.errors import InputError

__all__ = ["AdjustedGap", "Coefficient", "GapResult", "MeanResult", "TestResult"]

#: Two numbers count as equal when they differ by at most this share of the largest number
#: in play. Metrics are sums of a few fractions near 1, so their rounding errors stay below
#: a thousandth of it, while a difference that small would mean nothing to a reader.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class MeanResult:
    """A mean, or a median, with its interval.

    Parameters
    ----------
    estimate, low, high
        In the unit of the values; None where the data cannot give them.
    n, n_clusters
        Observations, and the independent units they come from.
    note
        Why something is None, as a sentence; None when nothing is missing.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    n_clusters: int
    note: str | None


@dataclass(frozen=True)
class GapResult:
    """A mean minus another mean, with the interval of their difference.

    Parameters
    ----------
    estimate, low, high
        Minuend minus subtrahend, in the unit of the values: positive means the minuend is
        higher. None where the data cannot give them.
    n_minuend, n_subtrahend
        Observations in each group.
    n_clusters
        Independent units over both groups; one shared by both groups counts once.
    note
        Why something is None, or what was left out, as a sentence.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n_minuend: int
    n_subtrahend: int
    n_clusters: int
    note: str | None


@dataclass(frozen=True)
class TestResult:
    """A test; two-sided unless it says otherwise.

    Parameters
    ----------
    p_value
        In (0, 1]; None where the data cannot give one.
    statistic
        The sign-flip test's mean difference, Wilcoxon's smaller rank sum (one-sided: that of
        the positive differences), or Mann-Whitney's U of the minuend; None where there is none.
    n
        Pairs, or observations of both groups together.
    n_zero
        Pairs without a difference; 0 for a test of two groups.
    test
        The test's name as shown.
    note
        Why something is None, as a sentence.
    """

    #: Keeps pytest from taking the class for a test where it is imported.
    __test__: ClassVar[bool] = False

    p_value: float | None
    statistic: float | None
    n: int
    n_zero: int
    test: str
    note: str | None


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of a fit.

    Parameters
    ----------
    estimate, standard_error, low, high
        None where the data cannot give them.
    p_value
        Two-sided, from the normal distribution; None where the data cannot give one.
    """

    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    p_value: float | None


@dataclass(frozen=True)
class AdjustedGap:
    """A gap, split into what a regressor accounts for and what remains.

    Parameters
    ----------
    gap
        Minuend minus subtrahend, in the unit of the values; None without values.
    residual
        What remains: alpha (paired) or gamma (two groups), in the unit of the values.
    slope
        Beta, in units of the values per unit of the regressor.
    regressor
        Mean regressor of the pairs, or the minuend's mean less the subtrahend's.
    contribution
        Slope times regressor; with the residual it adds up to the gap.
    r_squared
        Share of the outcome's variance that the fit accounts for.
    n, n_clusters
        Rows fitted (pairs, or values of both groups), and the independent units they come from.
    covariance
        ``cluster`` or ``HC1``.
    interval
        Where the residual's interval comes from: ``cluster bootstrap`` or ``normal``. The
        slope's is always normal.
    note
        Why something is None, or what was left out, as a sentence.
    """

    gap: float | None
    residual: Coefficient
    slope: Coefficient
    regressor: float | None
    contribution: float | None
    r_squared: float | None
    n: int
    n_clusters: int
    covariance: str
    interval: str
    note: str | None


def finite(values: ArrayLike, *, name: str) -> np.ndarray:
    """Values as one row of float64, or why they are not.

    Parameters
    ----------
    values : shape (n,)
    name
        What the message calls them: ``"values"``.

    Raises
    ------
    InputError
        Not numbers, not one-dimensional, or NaN or infinite somewhere.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"The {name} should be numbers: {error}.") from error
    if array.ndim != 1:
        raise InputError(f"The {name} should form one row; found {array.ndim} dimensions.")
    n_bad = array.size - int(np.isfinite(array).sum())
    if n_bad:
        raise InputError(
            f"{n_bad} of {array.size} {name} are missing or infinite. "
            "Leave them out, and report how many were."
        )
    return array
