"""Every number of an exhibit, as printed beside as released."""

from __future__ import annotations

import pandas as pd

from biasret import published
from biasret.published import EXHIBITS

__all__ = ["exhibit_numbers"]

_KEY = ["dataset", "retriever", "item", "quantity"]


def exhibit_numbers(name: str) -> pd.DataFrame:
    """All numbers of an exhibit, whatever its quantities.

    Parameters
    ----------
    name
        A key of `biasret.published.EXHIBITS`.

    Returns
    -------
    pandas.DataFrame
        Of the table ``published``: one row a quantity, with ``dataset``, ``retriever``,
        ``item``, ``quantity``, ``released`` (full precision, missing where the release has
        none), ``printed`` (as on the paper's page, with its trailing zeros), ``unit``, ``sign``
        (what a positive value means). Columns without a value are left out. Of another table:
        its rows.
    """
    exhibit = EXHIBITS[name]
    table = published.load(exhibit.table)
    if exhibit.table != "published":
        return table
    of = table[table["exhibit"] == name]
    # Pairs of a printed and a released number share this key; missing parts must compare equal.
    key = of[_KEY].fillna("").agg("\x1f".join, axis=1)
    first = of.assign(_key=key).drop_duplicates("_key").set_index("_key")
    by_source = {
        source: rows.set_index(key.loc[rows.index]) for source, rows in of.groupby("source")
    }
    absent = pd.DataFrame(columns=["value", "text"])
    released = by_source.get("release", absent)
    frame = first[_KEY].assign(
        released=released["value"].reindex(first.index),
        words=released["text"].reindex(first.index),
        printed=by_source.get("paper", absent)["text"].reindex(first.index),
        unit=first["unit"],
        sign=first["sign"],
    )
    return frame.dropna(axis="columns", how="all").reset_index(drop=True)
