"""Measurements -> gaps and levels, with the paper's settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from biasret import contrasts
from biasret.datasets.base import DatasetRecord
from biasret.statistics import (
    benjamini_hochberg,
    cluster_bootstrap_mean,
    holm,
    mann_whitney,
    minimum_detectable_effect,
    sign_flip_exact,
    two_group_bootstrap,
    wilcoxon,
)
from biasret.tables import check, empty

__all__ = ["ALL", "Contrast", "Settings", "compared", "gaps", "levels"]

#: The group of queries in a dataset that labels none.
ALL = "all"

#: The group of AAL wordings translated back to WME; compared with AAL, it shows what the
#: translation wins (Tang et al., section 5).
TRANSLATED = "back"

_BY = ["retriever", "metric", "k", "filter"]


@dataclass(frozen=True)
class Settings:
    """The paper's settings (Tang et al., section 2.3).

    Attributes
    ----------
    resamples : of the cluster bootstrap
    seed : of every generator
    level : of every interval
    """

    resamples: int = 5_000
    seed: int = 42
    level: float = 0.95

    @property
    def drawn(self) -> str:
        """How intervals are drawn, in words."""
        return f"{self.resamples:,} resamples, seed {self.seed}"

    def as_dict(self) -> dict[str, Any]:
        """For records of what a table was made from."""
        return asdict(self)


PAPER = Settings()


def gaps(
    measurements: pd.DataFrame,
    queries: pd.DataFrame,
    record: DatasetRecord,
    *,
    settings: Settings = PAPER,
) -> pd.DataFrame:
    """Minuend minus subtrahend for every retriever, metric, depth and filter.

    Paired datasets, and translations: cluster bootstrap of the cells' differences, Wilcoxon
    signed-rank test, and in ``p_permutation`` a sign-flip test that is computed and not drawn,
    so that it has no smallest value (drawn where that takes too long; ``note`` says so). Others:
    bootstrap of the
    difference of two means, Mann-Whitney test. ``p_holm`` (the chance of any false claim) and
    ``p_bh`` (Benjamini and Hochberg: the share of false claims) correct ``p_value`` over the
    retrievers that share metric, depth, filter and groups. Where a dataset also holds
    translated wordings, which share a cell with what they were made from, translated minus
    subtrahend is a second contrast.

    Parameters
    ----------
    measurements
        A ``measurements`` table of one dataset.
    queries
        Its ``queries`` table.

    Returns
    -------
    pandas.DataFrame
        A ``gaps`` table; without rows where the dataset labels no groups. An estimate,
        interval or p that cannot be had is missing, and ``note`` says why.
    """
    pairs = compared(queries, record)
    if not pairs or measurements.empty:
        return empty("gaps")
    rows = []
    for (retriever, metric, k, name), part in measurements.groupby(_BY, dropna=False, sort=True):
        for first, second, is_paired in pairs:
            compute = _paired_row if is_paired else _two_group_row
            rows.append(
                {
                    "dataset": record.name,
                    "retriever": retriever,
                    "metric": metric,
                    "k": k,
                    "filter": name,
                    "minuend": first,
                    "subtrahend": second,
                    **compute(part, queries, first, second, settings),
                }
            )
    table = pd.DataFrame(rows)
    table["k"] = pd.array(table["k"].tolist(), dtype="Int64")
    table[["p_holm", "p_bh"]] = np.nan
    family = ["metric", "k", "filter", "minuend", "subtrahend"]
    for _, at in table.groupby(family, dropna=False).groups.items():
        p_values = table.loc[at, "p_value"].to_numpy(dtype=np.float64)
        table.loc[at, "p_holm"] = holm(p_values)
        table.loc[at, "p_bh"] = benjamini_hochberg(p_values)
    return check(table, "gaps")


class Contrast(NamedTuple):
    """Two groups that are compared, and whether within cells."""

    minuend: str
    subtrahend: str
    is_paired: bool


def compared(queries: pd.DataFrame, record: DatasetRecord) -> list[Contrast]:
    """The contrasts of a dataset; none where it labels no groups."""
    if record.minuend is None or record.subtrahend is None:
        return []
    pairs = [Contrast(record.minuend, record.subtrahend, record.is_paired)]
    if (queries["group"] == TRANSLATED).any():
        # A translation always has its original.
        pairs.append(Contrast(TRANSLATED, record.subtrahend, True))
    return pairs


def _paired_row(
    part: pd.DataFrame, queries: pd.DataFrame, minuend: str, subtrahend: str, settings: Settings
) -> dict[str, Any]:
    contrast = contrasts.paired(part, queries, minuend=minuend, subtrahend=subtrahend)
    cells = contrast.cells
    clusters = cells["cluster_id"].to_numpy()
    options: Any = {"resamples": settings.resamples, "rng": settings.seed, "level": settings.level}
    gap = cluster_bootstrap_mean(cells["difference"], clusters=clusters, **options)
    high_side = cluster_bootstrap_mean(cells["minuend"], clusters=clusters, **options)
    low_side = cluster_bootstrap_mean(cells["subtrahend"], clusters=clusters, **options)
    test = wilcoxon(cells["difference"])
    flips = sign_flip_exact(cells["difference"])
    return {
        "design": "paired",
        "estimate": gap.estimate,
        "ci_low": gap.low,
        "ci_high": gap.high,
        "p_value": test.p_value,
        "test": test.test,
        "p_permutation": flips.p_value,
        "mean_minuend": high_side.estimate,
        "low_minuend": high_side.low,
        "high_minuend": high_side.high,
        "mean_subtrahend": low_side.estimate,
        "low_subtrahend": low_side.low,
        "high_subtrahend": low_side.high,
        "n_minuend": len(cells),
        "n_subtrahend": len(cells),
        "n_pairs": len(cells),
        "n_clusters": gap.n_clusters,
        **_dropped(contrast.dropped),
        "detectable": _detectable(gap.low, gap.high, settings.level),
        "note": _notes(gap.note, test.note, flips.note),
    }


def _two_group_row(
    part: pd.DataFrame, queries: pd.DataFrame, minuend: str, subtrahend: str, settings: Settings
) -> dict[str, Any]:
    contrast = contrasts.two_groups(part, queries, minuend=minuend, subtrahend=subtrahend)
    options: Any = {"resamples": settings.resamples, "rng": settings.seed, "level": settings.level}
    gap = two_group_bootstrap(
        contrast.minuend,
        contrast.subtrahend,
        minuend_clusters=contrast.minuend_clusters,
        subtrahend_clusters=contrast.subtrahend_clusters,
        **options,
    )
    high_side = cluster_bootstrap_mean(
        contrast.minuend, clusters=contrast.minuend_clusters, **options
    )
    low_side = cluster_bootstrap_mean(
        contrast.subtrahend, clusters=contrast.subtrahend_clusters, **options
    )
    test = mann_whitney(contrast.minuend, contrast.subtrahend)
    return {
        "design": "unpaired",
        "estimate": gap.estimate,
        "ci_low": gap.low,
        "ci_high": gap.high,
        "p_value": test.p_value,
        "test": test.test,
        "p_permutation": None,
        "mean_minuend": high_side.estimate,
        "low_minuend": high_side.low,
        "high_minuend": high_side.high,
        "mean_subtrahend": low_side.estimate,
        "low_subtrahend": low_side.low,
        "high_subtrahend": low_side.high,
        "n_minuend": gap.n_minuend,
        "n_subtrahend": gap.n_subtrahend,
        "n_pairs": 0,
        "n_clusters": gap.n_clusters,
        **_dropped(contrast.dropped),
        "detectable": _detectable(gap.low, gap.high, settings.level),
        "note": _notes(gap.note, test.note),
    }


def _dropped(reasons: dict[str, int]) -> dict[str, Any]:
    why = "; ".join(f"{n} {reason}" for reason, n in reasons.items())
    return {"n_dropped": sum(reasons.values()), "dropped_why": why or None}


def _detectable(low: float | None, high: float | None, level: float) -> float | None:
    if low is None or high is None:
        return None
    # Half the width of a 95% interval is 1.96 standard errors.
    return minimum_detectable_effect((high - low) / (2 * NormalDist().inv_cdf((1 + level) / 2)))


def _notes(*notes: str | None) -> str | None:
    said = list(dict.fromkeys(note for note in notes if note))
    return " ".join(said) or None


def levels(
    measurements: pd.DataFrame, queries: pd.DataFrame, *, settings: Settings = PAPER
) -> pd.DataFrame:
    """Mean of every metric in each group, with a cluster bootstrap interval.

    Parameters
    ----------
    measurements
        A ``measurements`` table of one dataset.
    queries
        Its ``queries`` table; queries without a group form the group ``"all"``.

    Returns
    -------
    pandas.DataFrame
        A ``levels`` table, over every query measured, whether or not its cell is complete.
    """
    if measurements.empty:
        return empty("levels")
    labels = queries[["query_id", "group", "cluster_id"]].copy()
    labels["group"] = labels["group"].fillna(ALL)
    rows = []
    merged = measurements.merge(labels, on="query_id")
    for key, part in merged.groupby(["dataset", *_BY, "group"], dropna=False, sort=True):
        result = cluster_bootstrap_mean(
            part["value"],
            clusters=part["cluster_id"].to_numpy(dtype=object),
            resamples=settings.resamples,
            rng=settings.seed,
            level=settings.level,
        )
        rows.append(
            {
                **dict(zip(["dataset", *_BY, "group"], key, strict=True)),
                "n": result.n,
                "n_clusters": result.n_clusters,
                "mean": result.estimate,
                "ci_low": result.low,
                "ci_high": result.high,
            }
        )
    table = pd.DataFrame(rows)
    table["k"] = pd.array(table["k"].tolist(), dtype="Int64")
    return check(table, "levels")
