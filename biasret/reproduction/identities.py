"""Identities that the published numbers of one exhibit keep among themselves."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biasret.reproduction.results import ExhibitCheck

__all__ = ["EXACT", "compared", "identities"]

#: Largest deviation that float64 arithmetic explains, in the unit of a metric.
EXACT = 1e-12
_Z = NormalDist().inv_cdf(0.975)


def identities(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    """Differences of means, regressions, intervals, shares, agreement, counts.

    Parameters
    ----------
    wide
        By exhibit: the release's numbers, quantities as columns.

    Yields
    ------
    ExhibitCheck
    """
    yield from _differences(wide)
    yield from _regressions(wide)
    yield from _shares(wide)
    yield from _judges(wide)
    yield from _counts(wide)
    yield from _pairing(wide)


def compared(
    exhibit: str,
    what: str,
    found: ArrayLike,
    expected: ArrayLike,
    *,
    tolerance: float = EXACT,
    relative: bool = False,
    note: str | None = None,
) -> ExhibitCheck:
    """A check that numbers are as expected, number by number.

    Parameters
    ----------
    exhibit, what, tolerance, note
        As in `ExhibitCheck`.
    found, expected
        Of one shape.
    relative
        Whether deviations are shares of what is expected.

    Returns
    -------
    ExhibitCheck
        Not passed if a number is missing.
    """
    expected = np.asarray(expected, dtype=np.float64)
    deviation = np.abs(np.asarray(found, dtype=np.float64) - expected)
    if relative:
        deviation = deviation / np.abs(expected)
    worst = float(deviation.max())
    # A missing number makes `worst` NaN, which passes no comparison.
    return ExhibitCheck(exhibit, what, deviation.size, worst, tolerance, worst <= tolerance, note)


def _differences(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    for exhibit in ("table08", "table11", "table12", "table13", "table18"):
        release = wide[exhibit]
        found = release["mean_minuend"] - release["mean_subtrahend"]
        yield compared(exhibit, "gap is the difference of the means", found, release["gap"])


def _regressions(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    for exhibit in ("table14", "table17"):
        release = wide[exhibit]
        lexical = release["beta"] * release["mean_regressor"]
        what = "gap is alpha plus beta times the mean regressor"
        yield compared(exhibit, what, release["alpha"] + lexical, release["gap"])
        what = "lexical share is beta times the mean regressor"
        yield compared(exhibit, what, lexical, release["beta_times_mean_regressor"])
    for exhibit in ("table15", "table16", "table18"):
        release = wide[exhibit]
        apart = release["mean_lex_minuend"] - release["mean_lex_subtrahend"]
        what = "gap is gamma plus beta times the mean lexical difference"
        yield compared(exhibit, what, release["gamma"] + release["beta"] * apart, release["gap"])
        what = "lexical share is beta times the minuend's lexical mean"
        found = release["beta"] * release["mean_lex_minuend"]
        yield compared(exhibit, what, found, release["beta_times_mean_lex_minuend"])
    release = wide["table18"]
    found = release["alpha"] + release["beta"] * release["mean_lex_subtrahend"]
    what = "subtrahend's mean is alpha plus beta times its lexical mean"
    yield compared("table18", what, found, release["mean_subtrahend"])
    for exhibit in ("table14", "table15", "table16", "table17", "table18"):
        yield from _normal(exhibit, wide[exhibit])


def _normal(exhibit: str, release: pd.DataFrame) -> Iterator[ExhibitCheck]:
    from scipy.special import ndtr

    names = [name for name in ("alpha", "beta", "gamma") if f"{name}_se" in release]
    estimate = release[names].to_numpy()
    error = release[[f"{name}_se" for name in names]].to_numpy()
    if exhibit != "table14":
        ends = [release[[f"{name}_ci_{end}" for name in names]] for end in ("low", "high")]
        found = np.hstack([estimate - _Z * error, estimate + _Z * error])
        what = "intervals are estimates and 1.95996 standard errors either way"
        yield compared(exhibit, what, found, np.hstack(ends))
    what = "p follows from estimate and standard error, relative deviation"
    expected = release[[f"{name}_p" for name in names]]
    found = 2 * ndtr(-np.abs(estimate / error))
    yield compared(exhibit, what, found, expected, tolerance=1e-9, relative=True)


def _shares(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    for exhibit, share, part, whole, scale in (
        ("table07", "fraction_cells_kept", "n_pairs", "n_cells_total", 1),
        ("table11", "relative_drop", "gap", "mean_minuend", 100),
        ("table13", "relative_change", "gap", "mean_minuend", 100),
        ("table14", "residual_percent_of_raw", "alpha", "gap", 100),
        ("table15", "gamma_over_raw", "gamma", "gap", 1),
        ("table16", "gamma_over_raw", "gamma", "gap", 1),
        ("table17", "residual_percent_of_raw", "alpha", "gap", 100),
        ("table18", "gamma_over_raw", "gamma", "gap", 1),
    ):
        release = wide[exhibit]
        found = scale * release[part] / release[whole]
        what = f"{share} is {part} over {whole}"
        yield compared(exhibit, what, found, release[share], tolerance=scale * EXACT)


def _judges(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    for exhibit in ("judges", "judges_by_retriever"):
        release = wide[exhibit]
        gpt, qwen = release["relevant_rate_gpt"], release["relevant_rate_qwen"]
        both, agreed = release["relevant_rate_both"], release["raw_agreement"]
        chance = gpt * qwen + (1 - gpt) * (1 - qwen)
        kappa = (agreed - chance) / (1 - chance)
        yield compared(exhibit, "kappa follows from the rates", kappa, release["kappa"])
        what = "agreement is 1 - gpt - qwen + 2 both"
        yield compared(exhibit, what, 1 - gpt - qwen + 2 * both, agreed)
    overall = wide["judges"].iloc[0]
    both = overall["relevant_rate_both"]
    found = [overall["n_gold"] / overall["n_pairs"], both / overall["relevant_rate_qwen"]]
    found.append(both / overall["relevant_rate_gpt"])
    names = ["relevant_rate_both", "recall_gpt_vs_qwen_gold", "recall_qwen_vs_gpt_gold"]
    yield compared("judges", "recalls and gold share follow", found, overall[names])


def _counts(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    for exhibit in ("table07", "table11", "table13"):
        hits = wide[exhibit]["p_signflip"] * 50_001 - 1
        what = "sign-flip p gives a whole number of hits among 50,000"
        yield compared(exhibit, what, hits, hits.round(), tolerance=1e-9)
    index = wide["fig05_index"].iloc[0]
    found = [
        index["n_articles_with_multi_frame"] + index["n_articles_dropped_single_frame"],
        index["n_cells_with_sibling"] + index["n_cells_no_sibling"],
    ]
    what = "articles and cells add up"
    yield compared("fig05_index", what, found, index[["n_articles", "n_cells"]])


def _pairing(wide: dict[str, pd.DataFrame]) -> Iterator[ExhibitCheck]:
    means, quartiles, tests = (wide[f"fig05_{name}"] for name in ("means", "quartiles", "tests"))
    spans = [means["mean"] - means["ci_low"], means["ci_high"] - means["mean"]]
    yield _ordered("fig05_means", "means lie inside their intervals", spans)
    spans = [quartiles["median"] - quartiles["q1"], quartiles["q3"] - quartiles["median"]]
    yield _ordered("fig05_quartiles", "medians lie between quartiles", spans)
    largest = tests["n_pairs"] * (tests["n_pairs"] + 1) / 2
    what = "rank sums are at most n (n + 1) / 2"
    yield _ordered("fig05_tests", what, [tests["wilcoxon_w"], largest - tests["wilcoxon_w"]])
    inside = tests.dropna(subset="median_gap_ci_low")
    spans = [inside["median_gap"] - inside["median_gap_ci_low"]]
    spans.append(inside["median_gap_ci_high"] - inside["median_gap"])
    yield _ordered("fig05_tests", "medians lie inside their intervals", spans)
    for exhibit in ("table07", "table08", "table11", "table12", "table13"):
        release = wide[exhibit]
        spans = [release["gap"] - release["ci_low"], release["ci_high"] - release["gap"]]
        yield _ordered(exhibit, "gaps lie inside their intervals", spans)


def _ordered(exhibit: str, what: str, spans: list[pd.Series]) -> ExhibitCheck:
    """A check that distances which should not be negative are not."""
    short = np.maximum(-np.concatenate(spans), 0.0)
    return compared(exhibit, what, short, np.zeros(short.size))
