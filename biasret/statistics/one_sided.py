"""Wilcoxon's test of whether paired differences lie above zero."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from biasret.statistics.rank_tests import _near_ties_joined
from biasret.statistics.results import TestResult, finite

__all__ = ["wilcoxon_greater"]

_NAME = "Wilcoxon, one-sided"


def wilcoxon_greater(differences: ArrayLike) -> TestResult:
    """Wilcoxon's signed-rank test, one-sided: differences lie above zero.

    Zeros, near-ties and the choice of the null distribution are those of
    `biasret.statistics.wilcoxon`.

    Parameters
    ----------
    differences : shape (n,)
        One difference per pair, in any unit.

    Returns
    -------
    TestResult
        `statistic` is the rank sum of the positive differences. `p_value` is None if there
        are no pairs or all are tied.

    Raises
    ------
    InputError
        A difference is NaN or infinite.

    References
    ----------
    `scipy.stats.wilcoxon` with ``alternative="greater"``.

    Examples
    --------
    >>> found = wilcoxon_greater([1.0, 2.0, 3.0])
    >>> found.statistic, found.p_value
    (6.0, 0.125)
    """
    from scipy import stats

    data = _near_ties_joined(finite(differences, name="differences"))
    n_zero = data.size - int(np.count_nonzero(data))
    if n_zero == data.size:
        note = "all pairs tied" if data.size else "no pairs"
        return TestResult(None, None, data.size, n_zero, _NAME, note)
    with warnings.catch_warnings():
        # SciPy computes the normal approximation even where it then uses the exact one.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = stats.wilcoxon(data, zero_method="wilcox", alternative="greater", method="auto")
    return TestResult(float(found.pvalue), float(found.statistic), data.size, n_zero, _NAME, None)
