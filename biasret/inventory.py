"""What a dataset holds: tables of counts and of text lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biasret.datasets.base import DatasetRecord

__all__ = [
    "NO_GROUP",
    "group_order",
    "groups",
    "length_counts",
    "length_sentence",
    "lengths",
    "share_of",
    "stances",
    "with_lengths",
]

#: How queries that name no group are shown.
NO_GROUP = "no group"

#: How documents without a stance are shown.
NO_STANCE = "no stance"


def group_order(record: DatasetRecord, found: Sequence[str]) -> list[str]:
    """Groups in the order of every page: subtrahend, minuend, then the rest by name."""
    compared = [group for group in (record.subtrahend, record.minuend) if group in found]
    return [group for group in compared if group] + sorted(set(found) - set(compared))


def stances(documents: pd.DataFrame) -> pd.DataFrame:
    """Documents by stance.

    Returns
    -------
    pandas.DataFrame
        ``stance`` (left, center, right, then those without), ``n_documents``, ``share``; no
        row for a stance that no document has.
    """
    named = documents["stance"].fillna(NO_STANCE)
    counts = named.value_counts()
    order = [name for name in ("left", "center", "right", NO_STANCE) if name in counts]
    n = counts.loc[order].to_numpy(dtype=np.int64)
    return pd.DataFrame({"stance": order, "n_documents": n, "share": n / max(1, len(documents))})


def groups(queries: pd.DataFrame, record: DatasetRecord) -> pd.DataFrame:
    """Queries by group and by how their text came to be.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``origin``, ``n_queries``, ``n_cells``, ``n_clusters``.
    """
    named = queries.assign(group=queries["group"].fillna(NO_GROUP))
    table = (
        named.groupby(["group", "origin"], sort=True)
        .agg(
            n_queries=("query_id", "size"),
            n_cells=("cell_id", "nunique"),
            n_clusters=("cluster_id", "nunique"),
        )
        .reset_index()
    )
    return _in_order(table, record)


def with_lengths(queries: pd.DataFrame, stated: pd.DataFrame) -> pd.DataFrame:
    """The queries whose length is known, with their ``length`` in characters.

    Parameters
    ----------
    queries
        A ``queries`` table.
    stated
        A ``query_values`` table; its ``length`` counts where a text is withheld.
    """
    known = stated[stated["quantity"] == "length"].set_index("query_id")["value"]
    of_text = queries["text"].map(len).where(queries["text"] != "").astype("float64")
    length = of_text.fillna(queries["query_id"].map(known).astype("float64"))
    return queries.assign(length=length)[length.notna()]


def _size(queries: pd.DataFrame) -> pd.Series:
    found = queries["length"] if "length" in queries else queries["text"].map(len)
    return found.astype("float64")


def lengths(queries: pd.DataFrame, record: DatasetRecord) -> pd.DataFrame:
    """Length of the queries of each group, in characters (Unicode code points).

    Returns
    -------
    pandas.DataFrame
        ``group``, ``n_queries``, ``mean``, ``sd`` (of the sample; missing for one query),
        ``min``, ``q25``, ``median``, ``q75``, ``max``. Texts as stored, not stripped; or the
        ``length`` that `with_lengths` gives.

    References
    ----------
    Tang et al., Table 4, which counts Python characters too.
    """
    size = _size(queries)
    by = size.groupby(queries["group"].fillna(NO_GROUP))
    table = pd.DataFrame(
        {
            "n_queries": by.size(),
            "mean": by.mean(),
            "sd": by.std(),
            "min": by.min().astype("int64"),
            "q25": by.quantile(0.25),
            "median": by.median(),
            "q75": by.quantile(0.75),
            "max": by.max().astype("int64"),
        }
    )
    return _in_order(table.rename_axis("group").reset_index(), record)


def length_counts(queries: pd.DataFrame, record: DatasetRecord, *, bins: int = 30) -> pd.DataFrame:
    """Histogram of query lengths, with the same bins for every group.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``low``, ``high`` (characters; low counts in, high does not, but for the
        last bin), ``n_queries``, ``share`` of the group's queries.
    """
    size = _size(queries).to_numpy(dtype=np.int64)
    named = queries["group"].fillna(NO_GROUP).to_numpy(dtype=object)
    low, high = int(size.min()), int(size.max()) + 1
    # Whole characters: a bin that holds 3 lengths beside one that holds 4 would show a comb.
    width = max(1, -(-(high - low) // bins))
    edges = np.arange(low, high + width, width)
    parts = []
    for group in group_order(record, list(dict.fromkeys(named))):
        n, _ = np.histogram(size[named == group], bins=edges)
        parts.append(
            pd.DataFrame(
                {
                    "group": group,
                    "low": edges[:-1],
                    "high": edges[1:],
                    "n_queries": n,
                    "share": n / n.sum(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def share_of(counts: pd.DataFrame, part: str, *, record: DatasetRecord) -> pd.DataFrame:
    """Counts by group with the share that `part` has of ``n``, groups in order.

    Parameters
    ----------
    counts
        ``group`` (missing: no group), ``n`` and the column `part`.
    """
    named = counts.assign(group=counts["group"].fillna(NO_GROUP))
    named["share"] = named[part] / named["n"]
    return _in_order(named, record)


def _in_order(table: pd.DataFrame, record: DatasetRecord) -> pd.DataFrame:
    place = {g: i for i, g in enumerate(group_order(record, table["group"].unique().tolist()))}
    key = table["group"].map(place)
    return table.assign(_key=key).sort_values("_key", kind="stable", ignore_index=True)[
        table.columns.tolist()
    ]


def length_sentence(lengths: pd.DataFrame, record: DatasetRecord) -> str:
    """Which of the two groups compared asks at greater length, and by how much."""
    by = lengths.set_index("group")
    if record.minuend not in by.index or record.subtrahend not in by.index:
        n = int(by["n_queries"].sum())
        mean = float((by["mean"] * by["n_queries"]).sum() / n)
        return f"The {n:,} queries have {mean:.1f} characters on average."
    first, other = (float(by.loc[group, "mean"]) for group in (record.minuend, record.subtrahend))
    if abs(first - other) < 0.05:
        return f"Queries of {record.minuend} and {record.subtrahend} are equally long on average."
    way = "longer" if first > other else "shorter"
    return (
        f"Queries of {record.minuend} are {abs(first - other):.1f} characters {way} on average "
        f"than those of {record.subtrahend} ({first:.1f} against {other:.1f})."
    )
