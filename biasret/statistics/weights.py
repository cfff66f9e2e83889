"""The cluster bootstrap by how often each cluster is drawn, instead of which comes next.

How often one replicate draws each of n clusters is multinomial. Independent Poisson counts of
any common rate, given that their total is m, are multinomial with m draws; and n - m more
draws, each of any cluster alike, make them multinomial with n. So every cluster gets a Poisson
count, a little too low on average, from 16 random bits, and what a replicate then lacks is
drawn singly. A replicate whose counts exceed n is drawn singly altogether. Which ones these
are depends on the totals alone, and given a total either way gives the right distribution.

References
----------
Fisher, Thornton and Mackenzie (1922) for Poisson counts given their total.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import exp, sqrt

import numpy as np

__all__ = ["counted_means"]

#: Replicates are drawn in this many parts, each with its own stream and thread, on any machine:
#: what is drawn depends on the number.
PARTS = 2
#: Weights in memory at once, a part. Stays in a processor's cache; what is drawn depends on it.
BLOCK_WEIGHTS = 1 << 19
#: By how many standard deviations the Poisson counts fall short on average. With a smaller one
#: more replicates exceed n, with a larger one more is drawn singly; speed hardly depends on it.
SHORT_BY = 2.5
#: Counts that fill fewer than this many of 65,536 words own none.
RARE_WORDS = 64


def counted_means(
    sums: np.ndarray, counts: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Mean of the values in as many clusters as there are, drawn with replacement.

    Parameters
    ----------
    sums : shape (n,)
        Sum of each cluster's values.
    counts : shape (n,)
        How many they are, 1 or more, as floats.

    Returns
    -------
    numpy.ndarray of shape (resamples,)
    """
    ends = np.linspace(0, resamples, PARTS + 1).astype(np.int64)
    seeds = rng.integers(0, 1 << 63, size=(PARTS, 2))
    means = np.empty(resamples)

    def part(number: int) -> None:
        own = np.random.default_rng(seeds[number])
        _draw(sums, counts, means[ends[number] : ends[number + 1]], own)

    with ThreadPoolExecutor(PARTS) as pool:
        # Asked for, so that an error in a thread is raised here.
        list(pool.map(part, range(PARTS)))
    return means


def _draw(sums: np.ndarray, counts: np.ndarray, out: np.ndarray, rng: np.random.Generator) -> None:
    n = sums.size
    height = max(1, min(out.size, BLOCK_WEIGHTS // n))
    poisson = _PoissonCounts(max(0.0, 1 - SHORT_BY / sqrt(n)), height * n)
    memory, ones = np.empty((height, n)), np.ones(n)
    # Sum and count of a cluster travel as one complex number: half as many look-ups.
    pairs = sums + 1j * counts
    for at in range(0, out.size, height):
        rows = slice(at, min(at + height, out.size))
        weights = memory[: rows.stop - rows.start]
        weights[...] = poisson.draw(rng, weights.size).reshape(weights.shape)
        # Row by row and not as a matrix product, whose threads would get in each other's way.
        total, size, drawn = (np.vecdot(weights, column) for column in (sums, counts, ones))
        exceeds = drawn > n
        total[exceeds] = size[exceeds] = drawn[exceeds] = 0.0
        lacks = n - drawn.astype(np.int64)
        lacking = np.flatnonzero(lacks)
        if lacking.size:
            starts = np.cumsum(lacks[lacking]) - lacks[lacking]
            singly = pairs.take(rng.integers(0, n, size=lacks.sum()))
            more = np.add.reduceat(singly, starts)
            total[lacking] += more.real
            size[lacking] += more.imag
        out[rows] = total / size


class _PoissonCounts:
    """Poisson counts from 16-bit words, as exact as a double.

    Each likely count owns as many of the 65,536 words as its probability fills; the few
    words left over draw a double for what remains of the probabilities.
    """

    def __init__(self, rate: float, most: int) -> None:
        probabilities = [exp(-rate)]
        while probabilities[-1] > 0 and len(probabilities) < 256:
            probabilities.append(probabilities[-1] * rate / len(probabilities))
        share = np.array(probabilities) * 65536
        # A comparison for all words is dearer than a double for a few.
        own = np.where(share < RARE_WORDS, 0, np.floor(share)).astype(np.int64)
        #: Words below this are left over.
        self._n_left = int(65536 - own.sum())
        self._rest = np.cumsum(share - own)
        # A count is the number of ends above its word: the highest counts have the lowest.
        ends = self._n_left + np.cumsum(own[::-1])[::-1][1:]
        self._ends = ends[ends > self._n_left].astype(np.uint16)
        self._counts, self._below = np.empty(most, dtype=np.uint8), np.empty(most, dtype=np.bool_)

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """The next n counts, as bytes that hold good until the next call."""
        words = rng.integers(0, 1 << 64, size=-(-n // 4), dtype=np.uint64).view(np.uint16)[:n]
        counts, below = self._counts[:n], self._below[:n]
        counts[...] = 0
        for end in self._ends:
            np.less(words, end, out=below)
            counts += below.view(np.uint8)
        left = np.flatnonzero(np.less(words, self._n_left, out=below))
        at = rng.random(left.size) * self._rest[-1]
        counts[left] = np.searchsorted(self._rest, at, side="right")
        return counts
