"""The paper's gaps in the form of ours, so that one chart and one sentence serve both."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasret import published
from biasret.reproduction import recomputed
from biasret.reproduction.comparisons import PUBLISHED_GAPS, PublishedGaps
from biasret.statistics import holm
from biasret.tables import check

__all__ = ["published_gaps", "published_means", "published_recall"]

#: Groups of the shipped ranks: what a variant is called on the pages, by contrast.
_VARIANTS = {
    "natural": (("wme_real", "WME"), ("aal_real", "AAL")),
    "translation": (("trans_aal", "translated WME"), ("aal_real", "AAL")),
}


def published_gaps(name: str) -> pd.DataFrame:
    """An exhibit's gaps at the release's full precision, as a ``gaps`` table.

    Parameters
    ----------
    name
        A key of `PUBLISHED_GAPS`.

    Returns
    -------
    pandas.DataFrame
        One row for each rule and retriever, in the paper's order. Group means and intervals
        are missing where the release has none. ``p_value`` is the paper's; ``p_holm`` is
        computed here over its retrievers, rule by rule.
    """
    exhibit = PUBLISHED_GAPS[name]
    numbers = published.load()
    parts = [_rows(exhibit, numbers, item, rule) for item, rule in exhibit.rules]
    return check(pd.concat(parts, ignore_index=True), "gaps")


def _rows(exhibit: PublishedGaps, numbers: pd.DataFrame, item: str, rule: str) -> pd.DataFrame:
    wide, dataset = _wide(numbers, exhibit.name, item)
    sizes = wide if exhibit.counts is None else _wide(numbers, *exhibit.counts)[0]
    sizes = sizes.loc[wide.index]

    def column(quantity: str | None) -> NDArray[np.float64]:
        if quantity not in wide:
            return np.full(len(wide), np.nan)
        return wide[quantity].to_numpy(dtype=np.float64)

    def count(*names: str) -> NDArray[np.int64]:
        found = next((name for name in names if name in sizes), None)
        return np.zeros(len(wide), np.int64) if found is None else sizes[found].to_numpy(np.int64)

    n = count("n_pairs", "n") if exhibit.is_paired else np.zeros(len(wide), np.int64)
    p_values = column(exhibit.p_quantity)
    return pd.DataFrame(
        {
            "dataset": dataset,
            "retriever": wide.index,
            "metric": exhibit.metric,
            "k": pd.array([exhibit.k] * len(wide), dtype="Int64"),
            "filter": rule,
            "minuend": exhibit.minuend,
            "subtrahend": exhibit.subtrahend,
            "design": "paired" if exhibit.is_paired else "unpaired",
            "test": exhibit.test,
            "estimate": column("gap"),
            "ci_low": column("ci_low"),
            "ci_high": column("ci_high"),
            "p_value": p_values,
            "p_holm": holm(p_values),
            **{
                f"{stem}_{side}": column(f"mean_{side}{end}")
                for side in ("minuend", "subtrahend")
                for stem, end in (("mean", ""), ("low", "_ci_low"), ("high", "_ci_high"))
            },
            "n_minuend": n if exhibit.is_paired else count("n_minuend"),
            "n_subtrahend": n if exhibit.is_paired else count("n_subtrahend"),
            "n_pairs": n,
            "n_clusters": count("n_clusters"),
            "n_dropped": 0,
        }
    )


def _wide(numbers: pd.DataFrame, name: str, item: str) -> tuple[pd.DataFrame, str]:
    """Quantities of an exhibit's item by retriever, and its dataset."""
    of = numbers[(numbers["exhibit"] == name) & (numbers["source"] == "release")]
    of = of[of["item"].fillna("") == item]
    wide = of.pivot(index="retriever", columns="quantity", values="value")
    return wide.reindex(of["retriever"].drop_duplicates()), str(of["dataset"].iloc[0])


def published_means(name: str) -> pd.DataFrame:
    """`published_gaps` with the intervals of the group means, which the release leaves out.

    They are computed from the shipped ranks: a bootstrap of each group's mean with the
    paper's settings (5,000 resamples, seed 42).

    Parameters
    ----------
    name
        ``table12`` or ``table13``.
    """
    contrast = {"table12": "natural", "table13": "translation"}[name]
    means = recomputed.group_intervals(published.load("ranks")).set_index(["variant", "retriever"])
    rows = published_gaps(name).set_index("retriever")
    for (variant, _), side in zip(_VARIANTS[contrast], ("minuend", "subtrahend"), strict=True):
        of = means.loc[variant].loc[rows.index]
        rows[f"low_{side}"], rows[f"high_{side}"] = of["ci_low"], of["ci_high"]
    return check(rows.reset_index(), "gaps")


def published_recall(contrast: str) -> pd.DataFrame:
    """Mean Recall@k of two groups at every depth, from the shipped ranks, as a ``gaps`` table.

    Parameters
    ----------
    contrast
        ``natural`` (Fig. 17: WME minus AAL) or ``translation`` (Fig. 18: translated minus
        original, the same questions).

    Returns
    -------
    pandas.DataFrame
        One row for each retriever and depth. Intervals are Wilson's, of each group's share;
        the difference has no test of its own, as in the paper.
    """
    (first, minuend), (second, subtrahend) = _VARIANTS[contrast]
    shares = recomputed.recall_intervals(published.load("ranks"))
    wide = shares.set_index(["variant", "retriever", "k"])
    high, low = wide.loc[first], wide.loc[second]
    is_paired = contrast == "translation"
    frame = pd.DataFrame(
        {
            "dataset": "hcmagic_nat",
            "metric": "recall",
            "filter": "raw",
            "minuend": minuend,
            "subtrahend": subtrahend,
            "design": "paired" if is_paired else "unpaired",
            "test": "none published",
            "estimate": high["mean"] - low["mean"],
            "mean_minuend": high["mean"],
            "low_minuend": high["ci_low"],
            "high_minuend": high["ci_high"],
            "mean_subtrahend": low["mean"],
            "low_subtrahend": low["ci_low"],
            "high_subtrahend": low["ci_high"],
            "n_minuend": high["n"],
            "n_subtrahend": low["n"],
            "n_pairs": high["n"] if is_paired else 0,
            "n_clusters": 0,
            "n_dropped": 0,
        }
    )
    return check(frame.reset_index(), "gaps")
