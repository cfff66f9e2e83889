"""How much two rankings share, and how a document moved between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["RBO_P", "movement", "rank_biased_overlap"]

#: Persistence of rank-biased overlap: the first ten ranks carry 86% of the weight.
RBO_P = 0.9


def movement(rank_a: int | None, rank_b: int | None) -> str:
    """How a document moved from A to B, in words.

    Examples
    --------
    >>> movement(5, 2), movement(2, 5), movement(3, 3), movement(None, 1), movement(1, None)
    ('up 3', 'down 3', 'same', 'new', 'lost')
    """
    if rank_a is None:
        return "new"
    if rank_b is None:
        return "lost"
    if rank_a == rank_b:
        return "same"
    return f"up {rank_a - rank_b}" if rank_b < rank_a else f"down {rank_b - rank_a}"


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], *, p: float = RBO_P) -> float:
    """Rank-biased overlap of two rankings without ties, extrapolated to infinite depth.

    Parameters
    ----------
    first, second
        Distinct ids, best first; neither empty. Lengths may differ.
    p
        Persistence in (0, 1): the weight of rank d falls as p ** (d - 1).

    Returns
    -------
    float
        In [0, 1]; 1 for identical lists.

    References
    ----------
    Webber, Moffat and Zobel (2010), A similarity measure for indefinite rankings, eq. 32.

    Examples
    --------
    >>> rank_biased_overlap(["a", "b"], ["a", "b"])
    1.0
    >>> rank_biased_overlap(["a"], ["b"])
    0.0
    """
    short, long = sorted([list(first), list(second)], key=len)
    s, ell = len(short), len(long)
    overlap = np.zeros(ell + 1)  # overlap[d]: documents shared by the two prefixes of depth d
    seen_short: set[str] = set()
    seen_long: set[str] = set()
    for d in range(1, ell + 1):
        seen_long.add(long[d - 1])
        if d <= s:
            seen_short.add(short[d - 1])
        overlap[d] = len(seen_short & seen_long)
    depth = np.arange(1, ell + 1)
    weights = p**depth
    agreed = float((overlap[1:] / depth * weights).sum())
    beyond = depth[s:]
    # Between the ends of the two lists, the shorter is taken to go on agreeing as it did.
    agreed += float((overlap[s] * (beyond - s) / (beyond * s) * p**beyond).sum())
    tail = ((overlap[ell] - overlap[s]) / ell + overlap[s] / s) * p**ell
    # Rounding: identical lists shall be exactly 1.
    return float(min(1.0, round((1 - p) / p * agreed + tail, 12)))
