"""The paper's pairing check in the form of ours, so that one chart and sentence serve both."""

from __future__ import annotations

from typing import Any

import pandas as pd

from biasret import published
from biasret.pairing import SCHEMES, pairing_summary
from biasret.published.exhibits import RETRIEVERS
from biasret.reproduction.imported import ImportedDataset
from biasret.statistics import holm
from biasret.tables import check

__all__ = ["published_pairing", "recomputed_pairing"]

#: What the release calls each scheme.
_ITEMS = {
    "within_cell": "within_cell",
    "cross_frame": "within_article_cross_frame",
    "cross_article": "cross_article",
}
_QUANTITIES = {
    "fig05_means": {"mean": "mean", "ci_low": "ci_low", "ci_high": "ci_high"},
    "fig05_quartiles": {"n_anchor_cells": "n", "q1": "q1", "median": "median", "q3": "q3"},
    "fig05_tests": {
        "median_gap": "median_gap",
        "median_gap_ci_low": "gap_low",
        "median_gap_ci_high": "gap_high",
        "wilcoxon_w": "statistic",
        "p_wilcoxon_one_sided": "p_value",
    },
}


def recomputed_pairing(data: ImportedDataset, exhibit: str) -> list[dict[str, Any]]:
    """One part of Fig. 5 from imported cosines: one row a retriever and scheme.

    Parameters
    ----------
    exhibit
        ``fig05_means``, ``fig05_quartiles`` or ``fig05_tests``. Wilcoxon p-values underflow to 0
        in the release, so there is nothing to set beside one.
    """
    here = [name for name in RETRIEVERS if name in data.folder.given(data.name, "pairing")]
    if not here:
        return []
    cosines = pd.concat([data.folder.read("pairing", data.name, name) for name in here])
    table = pairing_summary(cosines, data.queries)
    found = []
    for row in table.to_dict("records"):
        values = {
            quantity: row[column]
            for quantity, column in _QUANTITIES[exhibit].items()
            if column != "p_value" and not pd.isna(row[column])
        }
        if exhibit == "fig05_means":
            values["n_anchor_cells"] = row["n"]
        found.append({"retriever": row["retriever"], "item": _ITEMS[row["scheme"]], **values})
    return found


def published_pairing() -> pd.DataFrame:
    """Fig. 5 at the release's full precision, as a ``pairing_summary`` table.

    Returns
    -------
    pandas.DataFrame
        Five dense retrievers by three schemes. Wilcoxon p-values underflow to 0 in the release;
        ``p_holm`` is computed here. The interval of the median against other articles is
        missing there, and so here.
    """
    numbers = published.load()
    articles = numbers[numbers["exhibit"] == "fig05_index"].set_index("quantity")["value"]
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for exhibit, names in _QUANTITIES.items():
        of = numbers[(numbers["exhibit"] == exhibit) & (numbers["source"] == "release")]
        for row in of.itertuples():
            if row.quantity in names:
                of_pair = rows.setdefault((str(row.retriever), str(row.item)), {})
                of_pair[names[str(row.quantity)]] = row.value
    table = pd.DataFrame(
        [
            {
                "dataset": "allsides_synth",
                "retriever": retriever,
                "scheme": scheme,
                "n_clusters": int(
                    articles[
                        "n_articles_with_multi_frame" if scheme == "cross_frame" else "n_articles"
                    ]
                ),
                "test": None if scheme == "within_cell" else "Wilcoxon, one-sided",
                **rows[retriever, item],
            }
            for retriever in RETRIEVERS
            for scheme, item in _ITEMS.items()
            if (retriever, item) in rows
        ]
    )
    tested = table["p_value"].notna()
    table.loc[tested, "p_holm"] = holm(table.loc[tested, "p_value"].to_numpy(dtype="float64"))
    assert set(table["scheme"]) == set(SCHEMES)
    return check(table, "pairing_summary")
