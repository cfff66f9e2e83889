"""Measurements and token scores -> what remains of each gap once vocabulary is held fixed.

A query's lexical score is the sum of its tokens' (`biasret.lexical`). Paired cells: the
difference in the metric is regressed on the difference in score, and the intercept remains.
Two groups: the metric is regressed on score and group, and the group's coefficient remains.
Either way gap = residual + slope * mean regressor. All of it is minuend minus subtrahend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from biasret import contrasts, lexical
from biasret.audit import PAPER, Settings, compared
from biasret.datasets.base import DatasetRecord
from biasret.statistics import (
    AdjustedGap,
    adjusted_paired,
    adjusted_two_groups,
    holm,
    stable_seed,
)
from biasret.tables import check, empty

__all__ = ["FEW", "SEED_BASE", "is_small", "residuals", "vocabulary"]

#: Added to the checksum of a retriever's name for the seed of its bootstrap (Tang et al.,
#: released code).
SEED_BASE = 1234

#: Fewer pairs, queries of a group, or clusters than this are few for p-values that rest on
#: the normal distribution.
FEW = 30

_BY = ["retriever", "metric", "k", "filter"]
_KEY = [*_BY, "minuend", "subtrahend"]


def vocabulary(queries: pd.DataFrame, record: DatasetRecord) -> pd.DataFrame:
    """Token scores of every contrast of a dataset.

    Parameters
    ----------
    queries
        Its ``queries`` table.

    Returns
    -------
    pandas.DataFrame
        A ``token_scores`` table; without rows where the dataset labels no groups.
    """
    made = [
        lexical.token_scores(queries, minuend=pair.minuend, subtrahend=pair.subtrahend)
        for pair in compared(queries, record)
    ]
    made = [table for table in made if len(table)]
    return check(pd.concat(made), "token_scores") if made else empty("token_scores")


def residuals(
    measurements: Iterable[pd.DataFrame],
    queries: pd.DataFrame,
    record: DatasetRecord,
    *,
    tokens: pd.DataFrame,
    gaps: pd.DataFrame,
    settings: Settings = PAPER,
    progress: Callable[[int], object] = lambda _: None,
) -> pd.DataFrame:
    """What remains of the gap of every retriever, metric, depth and filter.

    Where queries of different cells share a cluster, standard errors are cluster-robust and
    the interval of what remains is a cluster bootstrap, as in the paper's Table 14; elsewhere
    they are HC1 with normal intervals, as in its Tables 15 to 18. ``covariance`` and
    ``interval`` say which. A cell's regressor is the difference of its groups' scores, those
    of several variants averaged, over the wordings that were measured.

    Parameters
    ----------
    measurements
        ``measurements`` tables of one dataset, one a retriever.
    queries
        Its ``queries`` table.
    tokens
        Its ``token_scores`` table, fitted on all queries whatever the filter.
    gaps
        Its ``gaps`` table: the gap, its interval and its p are taken over, so that what is
        set against what remains is the number shown elsewhere.
    settings
        Resamples and level count; the bootstrap's seed depends on the retriever's name alone,
        as in the paper.
    progress
        Called with 1 after each retriever.

    Returns
    -------
    pandas.DataFrame
        A ``residuals`` table; without rows where the dataset labels no groups. What cannot be
        had is missing, and ``note`` says why. ``p_holm`` corrects ``p_value`` over the
        retrievers that share metric, depth, filter and groups.
    """
    scores = {}
    for pair in compared(queries, record):
        is_of_pair = tokens["minuend"] == pair.minuend
        of_pair = tokens[is_of_pair & (tokens["subtrahend"] == pair.subtrahend)]
        scores[pair] = lexical.query_scores(queries, of_pair).set_index("query_id")["score"]
    rows = []
    for table in measurements:
        for key, part in table.groupby(_BY, dropna=False, sort=True):
            for (minuend, subtrahend, is_paired), score in scores.items():
                options = {
                    "resamples": settings.resamples,
                    "level": settings.level,
                    "rng": stable_seed(key[0], base=SEED_BASE),
                }
                fit = _paired if is_paired else _two_groups
                known, blank = _scored(part, queries, (minuend, subtrahend), score)
                found, sizes = fit(part, queries, minuend, subtrahend, known, options)
                if blank is not None:
                    found = replace(found, regressor=None, note=blank)
                rows.append(
                    {
                        "dataset": record.name,
                        **dict(zip(_BY, key, strict=True)),
                        "minuend": minuend,
                        "subtrahend": subtrahend,
                        "design": "paired" if is_paired else "unpaired",
                        **sizes,
                        **_columns(found),
                    }
                )
        progress(1)
    if not rows:
        return empty("residuals")
    made = pd.DataFrame(rows)
    made["k"] = pd.array(made["k"].tolist(), dtype="Int64")
    before = gaps[[*_KEY, "estimate", "ci_low", "ci_high", "p_value", "p_holm"]].rename(
        columns={
            "estimate": "gap",
            "ci_low": "gap_low",
            "ci_high": "gap_high",
            "p_value": "gap_p",
            "p_holm": "gap_p_holm",
        }
    )
    made = made.merge(before, on=_KEY, how="left", validate="one_to_one")
    made["p_holm"] = np.nan
    for _, at in made.groupby(_KEY[1:], dropna=False).groups.items():
        made.loc[at, "p_holm"] = holm(made.loc[at, "p_value"].to_numpy(dtype=np.float64))
    return check(made.sort_values(_KEY, kind="stable"), "residuals")


def _scored(
    part: pd.DataFrame, queries: pd.DataFrame, groups: tuple[str, str], score: pd.Series
) -> tuple[pd.Series, str | None]:
    """Scores that a fit can take, and why there can be none where a measured text is blank.

    Wordings may be withheld. Scoring the others alone would set vocabulary against a gap of
    other queries, so then all scores are 0, of which nothing is fitted.
    """
    measured = part.loc[part["value"].notna(), "query_id"]
    of_groups = queries.loc[queries["group"].isin(groups), "query_id"]
    asked = score.reindex(measured[measured.isin(of_groups)])
    n_blank = int(asked.isna().sum())
    if n_blank == 0:
        return score, None
    nothing = pd.Series(0.0, index=score.index)
    return nothing, f"{n_blank:,} of {len(asked):,} queries have no text to score"


def is_small(rows: pd.DataFrame) -> np.ndarray:
    """Which rows of a ``residuals`` table rest on fewer than `FEW` pairs, queries or clusters.

    Returns
    -------
    bool, shape (n_rows,)
        A number of clusters of 0 is one that is not known.
    """
    sizes = rows[["n_minuend", "n_subtrahend"]].min(axis=1)
    clusters = rows["n_clusters"].where(rows["n_clusters"] > 0, sizes)
    return np.minimum(sizes, clusters).to_numpy() < FEW


def _paired(
    part: pd.DataFrame,
    queries: pd.DataFrame,
    minuend: str,
    subtrahend: str,
    score: pd.Series,
    options: dict[str, Any],
) -> tuple[AdjustedGap, dict[str, int]]:
    groups = {"minuend": minuend, "subtrahend": subtrahend}
    cells = contrasts.paired(part, queries, **groups).cells
    measured = part.loc[part["value"].notna(), ["query_id"]]
    worded = measured.assign(value=measured["query_id"].map(score))
    regressor = contrasts.paired(worded, queries, **groups).cells.set_index("cell_id")["difference"]
    found = adjusted_paired(
        cells["difference"],
        regressor.reindex(cells["cell_id"]),
        clusters=cells["cluster_id"].to_numpy(),
        **options,
    )
    return found, {"n_minuend": len(cells), "n_subtrahend": len(cells)}


def _two_groups(
    part: pd.DataFrame,
    queries: pd.DataFrame,
    minuend: str,
    subtrahend: str,
    score: pd.Series,
    options: dict[str, Any],
) -> tuple[AdjustedGap, dict[str, int]]:
    sides = contrasts.two_groups(part, queries, minuend=minuend, subtrahend=subtrahend)
    found = adjusted_two_groups(
        sides.minuend,
        sides.subtrahend,
        minuend_regressor=score.reindex(sides.minuend_queries),
        subtrahend_regressor=score.reindex(sides.subtrahend_queries),
        minuend_clusters=sides.minuend_clusters,
        subtrahend_clusters=sides.subtrahend_clusters,
        **options,
    )
    return found, {"n_minuend": sides.minuend.size, "n_subtrahend": sides.subtrahend.size}


def _columns(found: AdjustedGap) -> dict[str, Any]:
    """A fit as columns of the table; its gap comes from the ``gaps`` table."""
    return {
        "covariance": found.covariance,
        "interval": found.interval,
        "n": found.n,
        "n_clusters": found.n_clusters,
        "residual": found.residual.estimate,
        "residual_low": found.residual.low,
        "residual_high": found.residual.high,
        "residual_error": found.residual.standard_error,
        "p_value": found.residual.p_value,
        "slope": found.slope.estimate,
        "slope_low": found.slope.low,
        "slope_high": found.slope.high,
        "slope_p": found.slope.p_value,
        "mean_regressor": found.regressor,
        "contribution": found.contribution,
        "r_squared": found.r_squared,
        "note": found.note,
    }
