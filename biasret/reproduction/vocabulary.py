"""Tables 14 to 18 recomputed from an imported release: each gap with vocabulary held fixed.

Scores are the released ones: a question's own, or the sum of the released scores of its tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from biasret.reproduction.dialectal import reciprocals
from biasret.reproduction.imported import ImportedDataset
from biasret.reproduction.political import RULES, cells
from biasret.statistics import AdjustedGap, adjusted_paired, adjusted_two_groups, stable_seed

__all__ = ["paired_cells", "paired_questions", "table18", "two_groups"]

Rows = list[dict[str, Any]]

#: Added to the checksum of a retriever's name for the seed of Table 14's bootstrap.
_SEED_BASE = 1234


def paired_cells(data: ImportedDataset) -> Rows:
    """Table 14: right minus left at ten on the difference in score, cells that reach their story.

    Scores are positive for words of left wordings, as released, and differences right minus
    left; standard errors are clustered by article, and so is the bootstrap, which runs over left
    minus right as in the release.
    """
    score = data.query_values("lexical")
    found = []
    for retriever in data.retrievers:
        every = cells(data, retriever, k=10, rule="raw")
        kept = cells(data, retriever, k=10, rule="same-story")
        if len(kept) < 3:
            continue
        name = kept["cluster_id"] + "__" + kept["frame"] + "__"
        turned = ((name + "left").map(score) - (name + "right").map(score)).to_numpy("float64")
        if np.isnan(turned).any():
            continue
        fit = adjusted_paired(
            (kept["left"] - kept["right"]).to_numpy(),
            turned,
            clusters=kept["cluster_id"].to_numpy(dtype="object"),
            rng=stable_seed(retriever, base=_SEED_BASE),
        )
        residual, gap = _turn(fit.residual.estimate), _turn(fit.gap)
        found.append(
            {
                "retriever": retriever,
                "n_cells_total": len(every),
                "gap": gap,
                "gap_all_cells": float((every["right"] - every["left"]).mean()),
                "alpha": residual,
                "alpha_ci_low": _turn(fit.residual.high),
                "alpha_ci_high": _turn(fit.residual.low),
                "alpha_p": fit.residual.p_value,
                "beta": fit.slope.estimate,
                "beta_se": fit.slope.standard_error,
                "beta_p": fit.slope.p_value,
                "r_squared": fit.r_squared,
                "mean_regressor": _turn(fit.regressor),
                "beta_times_mean_regressor": _turn(fit.contribution),
                "residual_percent_of_raw": _share(residual, gap, 100),
            }
        )
    return found


def _turn(value: float | None) -> float | None:
    return None if value is None else -value


def _share(part: float | None, whole: float | None, scale: float = 1) -> float | None:
    return None if part is None or not whole else scale * part / whole


def two_groups(data: ImportedDataset, *, k: int, filter: str) -> Rows:
    """Tables 15 and 16: conservative minus liberal lean at k, on score and group.

    Parameters
    ----------
    filter
        As Table 6 calls it.
    """
    score = data.query_values("lexical")
    found = []
    for retriever in data.retrievers:
        rows = data.values(retriever, "lean", k, RULES[filter])
        rows = rows.assign(score=rows["query_id"].map(score))
        sides = [rows[rows["group"] == group] for group in ("conservative", "liberal")]
        found += _regressed(retriever, *sides)
    return found


def table18(data: ImportedDataset) -> Rows:
    """Table 18: WME minus AAL reciprocal rank over natural questions, on score and group."""
    score = data.query_values("lexical")
    found = []
    for retriever in data.retrievers:
        ranks = data.ranks(retriever)
        rows = ranks.assign(value=1 / ranks["rank"], score=ranks["query_id"].map(score))
        sides = [rows[rows["variant"] == variant] for variant in ("wme_real", "aal_real")]
        means = {
            "mean_minuend": float(sides[0]["value"].mean()),
            "mean_subtrahend": float(sides[1]["value"].mean()),
        }
        found += [{**row, **means} for row in _regressed(retriever, *sides)]
    return found


def _regressed(retriever: str, high: pd.DataFrame, low: pd.DataFrame) -> Rows:
    if len(high) < 2 or len(low) < 2 or high["score"].isna().any() or low["score"].isna().any():
        return []
    fit = adjusted_two_groups(
        high["value"],
        low["value"],
        minuend_regressor=high["score"],
        subtrahend_regressor=low["score"],
    )
    mean_high, mean_low = float(high["score"].mean()), float(low["score"].mean())
    slope = fit.slope.estimate
    return [
        {
            "retriever": retriever,
            "n_minuend": len(high),
            "n_subtrahend": len(low),
            "gap": fit.gap,
            "gamma_over_raw": _share(fit.residual.estimate, fit.gap),
            "mean_lex_minuend": mean_high,
            "mean_lex_subtrahend": mean_low,
            "beta_times_mean_lex_minuend": None if slope is None else slope * mean_high,
            "r_squared": fit.r_squared,
            **_coefficients(fit, "gamma"),
        }
    ]


def _coefficients(fit: AdjustedGap, residual: str) -> dict[str, float | None]:
    return {
        f"{name}{ending}": value
        for name, of in ((residual, fit.residual), ("beta", fit.slope))
        for ending, value in (
            ("", of.estimate),
            ("_se", of.standard_error),
            ("_ci_low", of.low),
            ("_ci_high", of.high),
            ("_p", of.p_value),
        )
    }


def paired_questions(data: ImportedDataset) -> Rows:
    """Table 17: WME minus the mean of three rewrites, on the same difference in score."""
    score = data.query_values("lexical")
    found = []
    for retriever in data.retrievers:
        wide = reciprocals(data, retriever)
        scored = pd.DataFrame(
            {name: [score.get(f"{cell}:{name}", np.nan) for cell in wide.index] for name in wide},
            index=wide.index,
            dtype="float64",
        )
        if len(wide) < 3 or scored.isna().any(axis=None):
            continue
        apart = [of["wme_real"] - of.drop(columns="wme_real").mean(axis=1) for of in (wide, scored)]
        fit = adjusted_paired(*apart)
        found.append(
            {
                "retriever": retriever,
                "n_pairs": fit.n,
                "gap": fit.gap,
                "mean_regressor": fit.regressor,
                "sd_regressor": float(apart[1].std()),
                "beta_times_mean_regressor": fit.contribution,
                "r_squared": fit.r_squared,
                "residual_percent_of_raw": _share(fit.residual.estimate, fit.gap, 100),
                **_coefficients(fit, "alpha"),
            }
        )
    return found
