"""Tables 4, 11 to 13 and Figs. 3 and 19, recomputed from an imported release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from biasret.reproduction import recomputed
from biasret.reproduction.imported import ImportedDataset
from biasret.statistics import cluster_bootstrap_mean, sign_flip, wilcoxon

__all__ = [
    "figure_means",
    "lengths",
    "natural_ranks",
    "reciprocals",
    "table11",
    "table12",
    "table13",
]

Rows = list[dict[str, Any]]

#: Groups whose lengths Table 4 gives, by dataset.
_MEASURED = {
    "allsides_synth": ("left", "right"),
    "reddit_nat": ("liberal", "conservative"),
    "hcmagic_synth": ("WME", "AAL"),
    "hcmagic_nat": ("WME", "AAL"),
}


def lengths(data: ImportedDataset, dataset: str) -> Rows:
    """Table 4: characters of the queries of each group; those of titles came without texts."""
    stated = data.query_values("length")
    texts = data.queries["text"]
    length = data.queries["query_id"].map(stated)
    length = length.fillna(texts.str.len().where(texts != "").astype("float64"))
    found = []
    for group in _MEASURED[dataset]:
        of = length[(data.queries["group"] == group).to_numpy()].dropna()
        if of.empty:
            continue
        found.append(
            {
                "item": group,
                "n_queries": len(of),
                "median": of.median(),
                "mean": of.mean(),
                "min": of.min(),
                "max": of.max(),
            }
        )
    return found


def reciprocals(data: ImportedDataset, retriever: str) -> pd.DataFrame:
    """Reciprocal ranks by cell, a column for each variant; cells in order of the WME questions."""
    ranks = data.ranks(retriever)
    wide = (1 / ranks["rank"]).set_axis([ranks["cell_id"], ranks["variant"]]).unstack()
    order = ranks.loc[ranks["variant"] == "wme_real", "cell_id"]
    rewrites = [f"aal_synth{n}" for n in (1, 2, 3)]
    return wide.reindex(index=order, columns=["wme_real", *rewrites]).dropna()


def table11(data: ImportedDataset) -> Rows:
    """WME minus the mean of three AAL rewrites; signs run in the order of the questions."""
    found = []
    for retriever in data.retrievers:
        wide = reciprocals(data, retriever)
        if wide.empty:
            continue
        wme = wide["wme_real"].to_numpy()
        aal = wide.drop(columns="wme_real").to_numpy().mean(axis=1)
        gap = cluster_bootstrap_mean(wme - aal, clusters=wide.index.to_numpy(dtype="object"))
        found.append(
            {
                "retriever": retriever,
                "n_pairs": gap.n,
                "mean_minuend": wme.mean(),
                "mean_subtrahend": aal.mean(),
                "gap": gap.estimate,
                "ci_low": gap.low,
                "ci_high": gap.high,
                "relative_drop": 100 * (wme - aal).mean() / wme.mean(),
                "p_wilcoxon": wilcoxon(wme - aal).p_value,
                "p_signflip": sign_flip(wme - aal).p_value,
            }
        )
    return found


def natural_ranks(data: ImportedDataset) -> pd.DataFrame:
    """The natural questions' ranks as `biasret.published` ships them.

    Retrievers that lack one of the three kinds of question are left out.
    """
    frames = []
    for retriever in data.retrievers:
        ranks = data.ranks(retriever)
        if {"aal_real", "trans_aal", "wme_real"} <= set(ranks["variant"]):
            frames.append(ranks.assign(retriever=retriever))
    columns = ["query_id", "variant", "retriever", "rank"]
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)


def table12(data: ImportedDataset) -> Rows:
    """WME minus AAL over questions by different patients."""
    ranks = natural_ranks(data)
    return recomputed.natural_gaps(ranks).to_dict("records") if len(ranks) else []


def table13(data: ImportedDataset) -> Rows:
    """Translated minus original over the same AAL questions."""
    ranks = natural_ranks(data)
    if ranks.empty:
        return []
    frame = recomputed.translation_gaps(_paired_only(ranks))
    return frame.assign(relative_change=100 * frame["gap"] / frame["mean_minuend"]).to_dict(
        "records"
    )


def _paired_only(ranks: pd.DataFrame) -> pd.DataFrame:
    """Without AAL questions that have no translation, and translations of none."""
    number = ranks["query_id"].str.rsplit("_", n=1).str[1]
    kept = np.ones(len(ranks), dtype=bool)
    for retriever in ranks["retriever"].unique():
        here = (ranks["retriever"] == retriever).to_numpy()
        sides = [
            set(number[here & (ranks["variant"] == variant).to_numpy()])
            for variant in ("aal_real", "trans_aal")
        ]
        lonely = number.isin(sides[0] ^ sides[1]).to_numpy()
        kept &= ~(here & lonely & (ranks["variant"] != "wme_real").to_numpy())
    return ranks[kept]


def figure_means(rows: Rows, names: tuple[str, str]) -> Rows:
    """Group means of Figs. 3 and 19, as the tables behind them give them."""
    found = []
    for row in rows:
        n = row.get("n_pairs")
        for item, side in zip(names, ("minuend", "subtrahend"), strict=True):
            found.append(
                {
                    "retriever": row["retriever"],
                    "item": item,
                    "mean": row[f"mean_{side}"],
                    "n_queries": row[f"n_{side}"] if n is None else n,
                }
            )
    return found
