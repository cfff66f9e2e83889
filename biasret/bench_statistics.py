"""How long resampling takes, beside SciPy on the same data in the same run."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from biasret.statistics import (
    cluster_bootstrap_mean,
    sign_flip,
    sign_flip_exact,
    two_group_bootstrap,
)
from biasret.statistics.resampling import Stream

__all__ = ["run"]

#: Sizes of the paper's largest paired comparison; clusters as many as its articles, roughly.
_N, _N_CLUSTERS = 4999, 1200
_RESAMPLES, _FLIPS = 5000, 50_000
#: SciPy's own default would hold two gigabytes at once here; this is its fastest in trials.
_BATCH = 500


def run() -> dict[str, float]:
    """Seconds, ratios and peak memory of the resampling statistics.

    The bootstrap is compared with `scipy.stats.bootstrap` twice: over clusters, as one
    writes it with SciPy (a statistic that gathers the drawn clusters' values, one
    replicate at a time), and over single values with SciPy's vectorised mean. The
    sign-flip test is compared with `scipy.stats.permutation_test`, vectorised. Bootstrap
    over clusters and test are timed with either stream, and the test computed, too.

    Returns
    -------
    dict
        ``*_seconds`` (the best of several runs; of one for SciPy's slow ones),
        ``*_ratio`` (SciPy's seconds over ours), ``*_peak_mb`` (memory allocated above the
        start, in 10**6 bytes, with the number of resamples and with four times as many),
        ``*_same`` (1.0 if both agree: intervals of the paper's stream to 1e-12, from one
        seed; of the other stream within a twentieth of their width; the tests' p-values
        within five standard errors).
    """
    from scipy import stats

    rng = np.random.default_rng(7)
    values = rng.normal(0.004, 0.3, _N)
    # Every cluster has a value; the others fall where they fall.
    drawn = rng.integers(0, _N_CLUSTERS, _N - _N_CLUSTERS)
    clusters = np.concatenate([np.arange(_N_CLUSTERS), drawn])
    members = [values[clusters == cluster] for cluster in range(_N_CLUSTERS)]

    def mean_of_clusters(chosen: np.ndarray) -> float:
        return float(np.concatenate([members[cluster] for cluster in chosen]).mean())

    def scipy_bootstrap(data: np.ndarray, statistic: Callable[..., Any], **how: Any) -> Any:
        return stats.bootstrap(
            (data,),
            statistic,
            n_resamples=_RESAMPLES,
            method="percentile",
            rng=np.random.default_rng(42),
            **how,
        )

    def scipy_flips() -> Any:
        return stats.permutation_test(
            (values,),
            np.mean,
            permutation_type="samples",
            n_resamples=_FLIPS,
            batch=_BATCH,
            vectorized=True,
            rng=np.random.default_rng(42),
        )

    found: dict[str, float] = {}
    theirs, scipy_seconds = _timed(
        lambda: scipy_bootstrap(np.arange(_N_CLUSTERS), mean_of_clusters, vectorized=False), 1
    )
    bootstraps: tuple[tuple[Stream, int, float], ...] = (("counts", 15, 0.05), ("paper", 7, 0.0))
    for stream, repeats, tolerance in bootstraps:
        bootstrap = partial(cluster_bootstrap_mean, values, clusters=clusters, stream=stream)
        ours, seconds = _timed(bootstrap, repeats)
        found |= _pair(f"cluster_bootstrap_{stream}", seconds, scipy_seconds)
        found[f"cluster_bootstrap_{stream}_same"] = _same_interval(ours, theirs, tolerance)

    ours, seconds = _timed(lambda: cluster_bootstrap_mean(values), 5)
    theirs, scipy_seconds = _timed(lambda: scipy_bootstrap(values, np.mean, vectorized=True), 1)
    found |= _pair("plain_bootstrap", seconds, scipy_seconds)
    found["plain_bootstrap_same"] = _same_interval(ours, theirs, 0.0)
    _, scipy_seconds = _timed(
        lambda: scipy_bootstrap(values, np.mean, vectorized=True, batch=100), 2
    )
    found |= _pair("plain_bootstrap_batched", seconds, scipy_seconds)

    theirs, scipy_seconds = _timed(scipy_flips, 1)
    tests: tuple[tuple[Stream, int], ...] = (("counts", 5), ("paper", 2))
    for stream, repeats in tests:
        ours, seconds = _timed(partial(sign_flip, values, stream=stream), repeats)
        found |= _pair(f"sign_flip_{stream}", seconds, scipy_seconds)
        found[f"sign_flip_{stream}_same"] = _same_p(ours.p_value, theirs.pvalue, n_drawn=2)

    upper, lower = values[:659], values[659:1306]
    # Computed instead of drawn, on values that lie on no lattice and on some that do.
    for what, data in (("smooth", values), ("lattice", np.round(values, 1))):
        ours, seconds = _timed(partial(sign_flip_exact, data), 5)
        found |= _pair(f"sign_flip_exact_{what}", seconds, scipy_seconds)
        of_draws = sign_flip(data, stream="counts")
        found[f"sign_flip_exact_{what}_same"] = _same_p(ours.p_value, of_draws.p_value, n_drawn=1)

    _, found["two_group_seconds"] = _timed(lambda: two_group_bootstrap(upper, lower), 5)

    for times, name in ((1, "peak_mb"), (4, "peak_mb_4x")):
        n = times * _RESAMPLES
        calls: dict[str, Callable[[], Any]] = {
            "cluster_bootstrap_counts": partial(
                cluster_bootstrap_mean, values, clusters=clusters, stream="counts", resamples=n
            ),
            "cluster_bootstrap_paper": partial(
                cluster_bootstrap_mean, values, clusters=clusters, stream="paper", resamples=n
            ),
            "two_group": partial(two_group_bootstrap, upper, lower, resamples=n),
            # A tenth of the flips: tracing slows them, and the peak comes with the first block.
            "sign_flip_counts": partial(sign_flip, values, stream="counts", resamples=n),
            "sign_flip_paper": partial(sign_flip, values, stream="paper", resamples=n),
        }
        for what, call in calls.items():
            found[f"{what}_{name}"] = _peak(call)
    return found


def _pair(name: str, seconds: float, scipy_seconds: float) -> dict[str, float]:
    return {
        f"{name}_seconds": seconds,
        f"{name}_scipy_seconds": scipy_seconds,
        f"{name}_ratio": scipy_seconds / seconds,
    }


def _same_interval(ours: Any, theirs: Any, tolerance: float) -> float:
    """Whether ends differ by less than a share of the width, and 1e-12."""
    ends = np.array(theirs.confidence_interval) - np.array([ours.low, ours.high])
    return float(np.abs(ends).max() < 1e-12 + tolerance * (ours.high - ours.low))


def _same_p(ours: Any, theirs: Any, *, n_drawn: int) -> float:
    """Whether p-values, so many of which are drawn, are within five standard errors."""
    error = np.sqrt(n_drawn * theirs * (1 - theirs) / _FLIPS) + n_drawn / _FLIPS
    return float(abs(ours - theirs) < 5 * error)


def _timed(call: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return result, best


def _peak(call: Callable[[], Any]) -> float:
    call()
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6
