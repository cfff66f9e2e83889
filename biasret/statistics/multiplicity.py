"""Several tests at once, and how large an effect a test could have seen."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from biasret.errors import InputError

__all__ = ["benjamini_hochberg", "holm", "minimum_detectable_effect"]


def holm(p_values: ArrayLike) -> np.ndarray:
    """Holm's adjusted p-values: they bound the chance of any false claim.

    The i-th smallest of m is multiplied by m - i + 1, then raised to those before it and
    cut at 1.

    Parameters
    ----------
    p_values : shape (m,)
        In [0, 1]; None or NaN for a test that gave none.

    Returns
    -------
    float64, shape (m,)
        In the order given. NaN stays NaN and does not count as a test.

    Raises
    ------
    InputError
        Not one row, or a value outside [0, 1].

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03]).tolist()]
    [0.03, 0.06, 0.06]
    """
    p = _probabilities(p_values)
    order, m = _tested(p)
    raised = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    p[order] = np.minimum(raised, 1.0)
    return p


def benjamini_hochberg(p_values: ArrayLike) -> np.ndarray:
    """Benjamini and Hochberg's adjusted p-values: they bound the share of false claims.

    The i-th smallest of m is multiplied by m / i, then lowered to those after it.

    Parameters
    ----------
    p_values : shape (m,)
        In [0, 1]; None or NaN for a test that gave none.

    Returns
    -------
    float64, shape (m,)
        In the order given. NaN stays NaN and does not count as a test.

    Raises
    ------
    InputError
        Not one row, or a value outside [0, 1].

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> [round(p, 6) for p in benjamini_hochberg([0.01, 0.04, 0.03]).tolist()]
    [0.03, 0.04, 0.04]
    """
    p = _probabilities(p_values)
    order, m = _tested(p)
    scaled = p[order] * (m / np.arange(1, m + 1))
    p[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return p


def minimum_detectable_effect(
    standard_error: float, *, level: float = 0.05, power: float = 0.8
) -> float:
    """Smallest true gap that a two-sided test finds with the given power.

    (z(1 - level / 2) + z(power)) times the standard error; normal approximation, which
    neglects the chance of a significant result in the wrong direction.

    Parameters
    ----------
    standard_error
        Of the gap, in its unit; not negative. From an interval: its width divided by
        2 x 1.96.
    level
        Significance level in (0, 1).
    power
        Wished chance of finding the gap, in [0.5, 1).

    Returns
    -------
    float
        In the unit of the gap, without sign.

    Raises
    ------
    InputError
        An argument outside its range.

    References
    ----------
    Bloom (1995), Minimum detectable effects.

    Examples
    --------
    >>> round(minimum_detectable_effect(0.01), 4)
    0.028
    """
    if not (math.isfinite(standard_error) and standard_error >= 0):
        raise InputError(f"A standard error is finite and not negative; found {standard_error!r}.")
    if not 0 < level < 1:
        raise InputError(f"The level lies between 0 and 1; found {level!r}.")
    if not 0.5 <= power < 1:
        raise InputError(f"The power lies between 0.5 and 1; found {power!r}.")
    normal = NormalDist()
    return (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * float(standard_error)


def _probabilities(p_values: ArrayLike) -> np.ndarray:
    try:
        p = np.array(p_values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"The p-values should be numbers: {error}.") from error
    if p.ndim != 1:
        raise InputError(f"The p-values should form one row; found {p.ndim} dimensions.")
    n_outside = int(((p < 0) | (p > 1)).sum())
    if n_outside:
        raise InputError(f"{n_outside} of {p.size} p-values lie outside 0 to 1.")
    return p


def _tested(p: np.ndarray) -> tuple[np.ndarray, int]:
    """Positions of the p-values that are there, smallest first, and how many."""
    there = np.flatnonzero(~np.isnan(p))
    return there[np.argsort(p[there], kind="stable")], there.size
