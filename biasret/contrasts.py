"""Measurements -> paired differences, or two groups.

Both take the measurements of one retriever, metric, depth and filter, and keep count of
what could not be compared and why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["Paired", "TwoGroups", "paired", "two_groups"]


@dataclass(frozen=True)
class Paired:
    """Cells that hold both groups.

    Attributes
    ----------
    cells : pandas.DataFrame
        ``cell_id``, ``cluster_id``, ``minuend``, ``subtrahend``, ``difference``, in order
        of cell_id. Positive: the minuend is higher.
    dropped : dict of str to int
        Cells that were left out, by reason.
    """

    cells: pd.DataFrame
    dropped: dict[str, int]


@dataclass(frozen=True)
class TwoGroups:
    """Values of two groups, each in order of query_id, with whose they are and their clusters.

    Attributes
    ----------
    dropped : dict of str to int
        Queries that were left out, by reason.
    """

    minuend: np.ndarray
    subtrahend: np.ndarray
    minuend_queries: np.ndarray
    subtrahend_queries: np.ndarray
    minuend_clusters: np.ndarray
    subtrahend_clusters: np.ndarray
    dropped: dict[str, int]


def paired(
    measurements: pd.DataFrame, queries: pd.DataFrame, *, minuend: str, subtrahend: str
) -> Paired:
    """Difference in value between two groups of the same cell.

    Parameters
    ----------
    measurements : ``query_id``, ``value``; one row per query
        Several variants of one group in a cell are averaged first.
    queries : ``query_id``, ``group``, ``cell_id``, ``cluster_id``

    Returns
    -------
    Paired
        In metric units. A cell counts as dropped when it was asked in either group but
        lacks a value of one of them.

    References
    ----------
    Tang et al., section 2.3.

    Examples
    --------
    >>> queries = pd.DataFrame({"query_id": ["a", "b"], "group": ["left", "right"],
    ...                         "cell_id": ["c1", "c1"], "cluster_id": ["s1", "s1"]})
    >>> values = pd.DataFrame({"query_id": ["a", "b"], "value": [0.25, 0.75]})
    >>> paired(values, queries, minuend="right", subtrahend="left").cells["difference"].tolist()
    [0.5]
    """
    asked = queries.loc[queries["group"].isin([minuend, subtrahend])]
    rows = asked.merge(measurements[["query_id", "value"]], on="query_id", how="left")
    wide = rows.pivot_table(
        index="cell_id", columns="group", values="value", aggfunc="mean", dropna=False
    ).reindex(columns=[minuend, subtrahend])
    wide = wide.reindex(np.sort(asked["cell_id"].unique()))
    clusters = asked.groupby("cell_id")["cluster_id"].first()
    has_minuend, has_subtrahend = wide[minuend].notna(), wide[subtrahend].notna()
    dropped = {
        f"no value for {minuend}": int((~has_minuend & has_subtrahend).sum()),
        f"no value for {subtrahend}": int((has_minuend & ~has_subtrahend).sum()),
        "no value for either": int((~has_minuend & ~has_subtrahend).sum()),
    }
    kept = wide[has_minuend & has_subtrahend]
    cells = pd.DataFrame(
        {
            "cell_id": kept.index.to_numpy(dtype=object),
            "cluster_id": kept.index.map(clusters).to_numpy(dtype=object),
            "minuend": kept[minuend].to_numpy(dtype=np.float64),
            "subtrahend": kept[subtrahend].to_numpy(dtype=np.float64),
        }
    )
    cells["difference"] = cells["minuend"] - cells["subtrahend"]
    return Paired(cells, {why: n for why, n in dropped.items() if n})


def two_groups(
    measurements: pd.DataFrame, queries: pd.DataFrame, *, minuend: str, subtrahend: str
) -> TwoGroups:
    """Values of two groups of queries that are not paired.

    Parameters
    ----------
    measurements, queries
        As in `paired`; ``cell_id`` is not used.
    """
    asked = queries.loc[queries["group"].isin([minuend, subtrahend])]
    rows = asked.merge(measurements[["query_id", "value"]], on="query_id", how="left")
    rows = rows.sort_values("query_id", kind="stable")
    dropped = {}
    for group in (minuend, subtrahend):
        n = int(rows.loc[rows["group"] == group, "value"].isna().sum())
        if n:
            dropped[f"{group} without a value"] = n
    rows = rows.dropna(subset=["value"])
    first, second = rows[rows["group"] == minuend], rows[rows["group"] == subtrahend]
    return TwoGroups(
        minuend=first["value"].to_numpy(dtype=np.float64),
        subtrahend=second["value"].to_numpy(dtype=np.float64),
        minuend_queries=first["query_id"].to_numpy(dtype=object),
        subtrahend_queries=second["query_id"].to_numpy(dtype=object),
        minuend_clusters=first["cluster_id"].to_numpy(dtype=object),
        subtrahend_clusters=second["cluster_id"].to_numpy(dtype=object),
        dropped=dropped,
    )
