"""The sign-flip test without drawing signs: its p-value has no floor.

With n differences d_i the null distribution is that of T = s_1 |d_1| + ... + s_n |d_n|, every
sign s_i being + or - with probability 1/2, and p = P(|T| >= |d_1 + ... + d_n|) = 2 P(T >= t).
Three ways to it, tried in this order:

*Convolution on a lattice.* Where all differences are multiples of one step, as those of lean@k
are, T has a lattice of values and its distribution is a convolution. It is taken under exponential
tilting, so that a tail of 1e-30 keeps as many digits as one of 0.1, and by its Fourier transform.

*Counting.* Few sums exist, or few sign patterns reach t: either are counted, which is exact.

*Saddlepoint integral.* Else P(T >= t) is the integral of exp(K(z) - z t) / (2 pi i z) along the
line through the saddlepoint, where K(z) = sum log cosh(z d_i). The trapezoidal rule on it is
exact to about 1% of p, mostly far better, while T is smooth at the scale at which its tail falls
(Lugannani and Rice take the integrand's expansion; here it is summed up). Where T is not smooth,
which is found out, or the sums would take more than about a second, signs are drawn after all, and
the test's name and note say so.
"""

from __future__ import annotations

import sys
from math import exp, log, pi

import numpy as np
from numpy.typing import ArrayLike

from biasret.statistics.resampling import exact_mean, sign_flip
from biasret.statistics.results import TOLERANCE, TestResult, finite

__all__ = ["sign_flip_exact"]

_NAME = "sign-flip, exact"
_INTEGRAL = "sign-flip, saddlepoint integral"
_DRAWN = "sign-flip, 50,000 draws"
_TOO_LONG = "sign-flip p from 50,000 draws: these differences take too long to compute it"

#: Sums held at once while sign patterns are counted.
MOST_SUMS = 1 << 20
#: Differences so few that their sums are counted, to the last digit, whatever they are.
FEW_PAIRS = 24
#: Nodes times distinct values: what one p-value may cost, and what is worked on together.
MOST_WORK, AT_ONCE = 1 << 24, 1 << 20
#: Nodes of the integral: looked at in any case, since a transform that has died down may come
#: back, and at most; and those between two looks at whether to go on.
LEAST_NODES, MOST_NODES, NODES_AT_ONCE = 1 << 13, 1 << 18, 1 << 12
#: Distinct values whose product bounds the transform from above.
N_BOUNDING = 64
#: Moduli of the transform, relative to its value at the saddlepoint: what is left out at a
#: node, and at which the rest of the line is. The rest is that of the fine structure of T, divided
#: by the distance, and adds up to a small part of a sign pattern's own share.
NEGLIGIBLE, ROUGH = 1e-9, 0.1


def sign_flip_exact(differences: ArrayLike) -> TestResult:
    """Two-sided sign-flip test whose p-value is computed and not sampled.

    Parameters
    ----------
    differences : shape (n,)
        One difference per pair, in any unit. Zero differences change nothing.

    Returns
    -------
    TestResult
        `statistic` is the mean difference. `p_value` counts ties with the observed mean as
        hits: those within 1e-12 times the mean absolute difference, as
        `biasret.statistics.sign_flip` does, and on a lattice those of one point, to which a
        difference belongs within 1e-9 of the largest. It is None only without pairs, and at
        least the smallest positive float. `test` says which way it was computed.

    Raises
    ------
    InputError
        A difference is NaN or infinite.

    References
    ----------
    Fisher (1935), The design of experiments, section 21; Daniels (1954) and Lugannani and Rice
    (1980) for tail probabilities from the saddlepoint.

    Examples
    --------
    >>> sign_flip_exact([1.0] * 20).p_value == 2 * 0.5**20
    True
    >>> sign_flip_exact([0.3, 0.1, -0.2]).p_value  # + + - and the like: 6 of 8 patterns
    0.75
    """
    data = finite(differences, name="differences")
    if data.size == 0:
        return TestResult(None, None, 0, 0, _NAME, "no pairs")
    observed, size = exact_mean(data), np.abs(data)
    largest = float(size.max())
    is_zero = size <= TOLERANCE * largest
    n_zero = int(is_zero.sum())
    if n_zero == data.size:
        return TestResult(1.0, observed, data.size, n_zero, _NAME, "all pairs tied")
    # In units of the largest, and sorted, so that neither unit nor order counts.
    values, counts = _joined(np.sort(size[~is_zero] / largest))
    total = float(values @ counts)
    # What is too small to be flipped is too small to be observed: many of them add up to a sum
    # that no signs of the others reach.
    reached = abs(exact_mean(data[~is_zero])) * (data.size - n_zero) / largest
    least = reached - TOLERANCE * total
    name, p_value = _NAME, 1.0
    if least > 0:
        tail, name = _tail(values, counts, total, least)
        if tail is None:
            drawn = sign_flip(data, stream="counts")
            return TestResult(drawn.p_value, observed, data.size, n_zero, _DRAWN, _TOO_LONG)
        p_value = min(1.0, max(2 * tail, sys.float_info.min))
    return TestResult(p_value, observed, data.size, n_zero, name, None)


def _joined(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values, ascending, and how often each occurs; equal up to rounding is equal."""
    starts = np.concatenate([[True], np.diff(sizes) > TOLERANCE])
    at = np.flatnonzero(starts)
    counts = np.diff(np.append(at, sizes.size))
    return np.add.reduceat(sizes, at) / counts, counts.astype(np.float64)


def _tail(
    values: np.ndarray, counts: np.ndarray, total: float, least: float
) -> tuple[float | None, str]:
    """P(T >= least) and the way it was found; None where it is too rough for the integral."""
    # T >= least if and only if what is flipped adds up to at most this.
    flipped = (total - least) / 2
    found = _few_sums(values, counts, flipped) if counts.sum() <= FEW_PAIRS else None
    step = _lattice(values) if found is None else None
    if step is not None:
        multiples = np.round(values / step)
        # The sum at the threshold lies on the lattice too; rounding must not push it off.
        top = np.floor(flipped / step + 1e-6)
        found = _on_lattice(multiples / 2, counts, float(multiples @ counts) / 2 - top)
    if found is None:
        found = _few_sums(values, counts, flipped)
    if found is None:
        found = _few_patterns(values, counts, flipped)
    if found is not None:
        return found, _NAME
    return _integral(values, counts, least), _INTEGRAL


def _few_patterns(values: np.ndarray, counts: np.ndarray, flipped: float) -> float | None:
    """Exactly, if few sets of differences add up to at most `flipped`."""
    sums = np.zeros(1)
    for value in np.repeat(values, counts.astype(np.int64)):
        more = sums[sums <= flipped - value]
        if not more.size:
            break
        if sums.size + more.size > MOST_SUMS:
            return None
        sums = np.concatenate([sums, more + value])
    return float(np.ldexp(float(sums.size), -int(counts.sum())))


def _few_sums(values: np.ndarray, counts: np.ndarray, flipped: float) -> float | None:
    """Exactly, if the sums of each half of the differences can be listed."""
    from scipy.special import gammaln

    halves: list[tuple[np.ndarray, np.ndarray]] = [(np.zeros(1), np.ones(1))] * 2
    # The most frequent first, each to the half with fewer sums.
    for at in np.argsort(-counts, kind="stable"):
        n = int(counts[at])
        smaller = min((0, 1), key=lambda half: halves[half][0].size)
        sums, weights = halves[smaller]
        if sums.size * (n + 1) > MOST_SUMS:
            return None
        k = np.arange(n + 1.0)
        chance = np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * log(2))
        halves[smaller] = (
            np.add.outer(sums, k * values[at]).ravel(),
            np.multiply.outer(weights, chance).ravel(),
        )
    (first, first_weights), (second, second_weights) = halves
    order = np.argsort(first)
    below = np.concatenate([[0.0], np.cumsum(first_weights[order])])
    reached = below[np.searchsorted(first[order], flipped - second, side="right")]
    return float(second_weights @ reached)


def _lattice(values: np.ndarray) -> float | None:
    """The largest step of which every value is a whole multiple; None if there is none."""
    step = 0.0
    for value in values[::-1]:
        a, b = float(value), step
        # Euclid's algorithm; what is left below the tolerance is rounding.
        while b > 1e-9:
            a, b = b, a % b
            # Just short of a multiple is a multiple.
            if a - b < 1e-9:
                b = 0.0
        step = a
        if step < 1e-6:
            return None
    # The quotients of sums of rounded numbers drift; all values together fix the step best.
    multiples = np.round(values / step)
    step = float(values @ multiples / (multiples @ multiples))
    is_multiple = np.abs(values / step - multiples) < 1e-7
    return step if is_multiple.all() else None


class _Tilted:
    """T under exponential tilting: its cumulants, and its transform along a line.

    Parameters
    ----------
    values, counts
        T is the sum of `counts` signs times each of `values`.
    """

    def __init__(self, values: np.ndarray, counts: np.ndarray, at: float) -> None:
        from scipy.optimize import brentq

        self.values, self.counts, self.at = values, counts, at

        def excess(u: float) -> float:
            return float((counts * values) @ np.tanh(u * values)) - at

        high = 1.0 / float(values.max())
        while excess(high) < 0:
            high *= 2
        saddle = brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-12)
        spread = float(np.sqrt(counts @ values**2))
        #: Where the line crosses the real axis: the saddlepoint, or right of the pole at 0.
        self.real = max(float(saddle), 2 / spread)
        #: log of the integrand there.
        self.height = self._log_cosh(self.real) - self.real * at
        squeezed = 1 / np.cosh(np.minimum(self.real * values, 350.0)) ** 2
        # How far T must be told apart from its copies: the trapezoidal rule repeats it.
        spread = float(np.sqrt(counts @ (values**2 * squeezed)))
        lowest = self._log_cosh(float(saddle)) - float(saddle) * at
        self.window = max(14 * spread, (30 - lowest) / self.real)
        self._squeezed = squeezed
        self._some = np.unique(np.linspace(0, values.size - 1, N_BOUNDING).round().astype(int))
        self._spread_to = np.concatenate([[0.0], np.cumsum(counts * values**2 * squeezed)])

    def _log_cosh(self, u: float) -> float:
        x = np.abs(u * self.values)
        return float(self.counts @ (x + np.log1p(np.exp(-2 * x)) - log(2)))

    def bound(self, nodes: np.ndarray) -> np.ndarray:
        """Upper bound of the modulus of the transform, relative to that at 0.

        The modulus is a product of sqrt(1 - sin(node v)^2 / cosh(real v)^2) over all values v,
        none of them above 1: at most the product over some, and at most what sin(x) >= 2 x / pi
        makes of those with node v below pi / 2.
        """
        turned = np.sin(np.multiply.outer(nodes, self.values[self._some])) ** 2
        turned *= self._squeezed[self._some]
        of_some = np.log1p(-np.minimum(turned, 1 - 1e-15)) @ self.counts[self._some] / 2
        n_below = np.searchsorted(self.values, pi / 2 / nodes, side="right")
        of_small = -2 * (nodes / pi) ** 2 * self._spread_to[n_below]
        return np.exp(np.minimum(of_some, of_small))

    def transform(self, nodes: np.ndarray) -> np.ndarray:
        """exp(K(z) - z t), relative to its value at node 0, for z = real + i node."""
        found = np.empty(nodes.size, dtype=np.complex128)
        height = max(1, AT_ONCE // self.values.size)
        tilt = np.tanh(self.real * self.values)
        for start in range(0, nodes.size, height):
            part = nodes[start : start + height]
            angle = np.multiply.outer(part, self.values)
            # cosh(a + i b) / cosh(a) = cos b + i tanh(a) sin b.
            factor = np.log(np.cos(angle) + 1j * tilt * np.sin(angle))
            found[start : start + height] = np.exp(factor @ self.counts - 1j * part * self.at)
        return found


def _on_lattice(values: np.ndarray, counts: np.ndarray, at: float) -> float | None:
    """P(T >= at) where T and `at` lie on a lattice of step 1; None where it is too large."""
    if at >= float(values @ counts):
        return float(np.ldexp(1.0, -int(counts.sum())))
    tilted = _Tilted(values, counts, at)
    # As many nodes as points of the lattice would do for a probability; a tail needs its window.
    n_nodes = int(np.ceil(tilted.window))
    if n_nodes * values.size > MOST_WORK:
        return None
    nodes = 2 * pi * np.arange(n_nodes // 2 + 1) / n_nodes
    terms = tilted.transform(nodes) / (1 - np.exp(-(tilted.real + 1j * nodes)))
    # Nodes come in pairs of conjugates, but for the first and, if there is one, the middle one.
    twice = np.full(nodes.size, 2.0)
    twice[0] = 1.0
    if n_nodes % 2 == 0:
        twice[-1] = 1.0
    return exp(tilted.height) * float(terms.real @ twice) / n_nodes


def _integral(values: np.ndarray, counts: np.ndarray, at: float) -> float | None:
    """P(T >= at) where T is smooth; None where it is not, or it would take too long."""
    tilted = _Tilted(values, counts, at)
    step = 2 * pi / tilted.window
    total, work, modulus = 0.5 / tilted.real, 0, 1.0
    for start in range(1, MOST_NODES, NODES_AT_ONCE):
        nodes = step * np.arange(start, start + NODES_AT_ONCE)
        bound, distance = tilted.bound(nodes), np.hypot(tilted.real, nodes)
        some = bound > NEGLIGIBLE * distance / tilted.real
        work += int(np.count_nonzero(some)) * values.size
        if work > MOST_WORK:
            return None
        found = tilted.transform(nodes[some])
        total += float((found / (tilted.real + 1j * nodes[some])).real.sum())
        modulus = float(np.abs(found).max(initial=0.0))
        if start > LEAST_NODES and modulus < ROUGH:
            break
    return None if modulus > ROUGH else exp(tilted.height) * step / pi * total
