"""The paper's gaps in the form of ours, so that one chart and one sentence serve both."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from biasret import published
from biasret.catalogue import Catalogue
from biasret.statistics import holm
from biasret.tables import check

__all__ = ["PUBLISHED_GAPS", "PublishedGaps", "published_gaps"]


@dataclass(frozen=True)
class PublishedGaps:
    """An exhibit that compares two groups.

    Attributes
    ----------
    name
        A key of `biasret.published.EXHIBITS`.
    signal
        A key of ``SIGNALS``.
    p_quantity, test
        Which of the exhibit's p-values stands behind its stars, and what the test is called.
    """

    name: str
    label: str
    signal: str
    about: str
    metric: str
    k: int | None
    rule: str
    minuend: str
    subtrahend: str
    p_quantity: str
    test: str


PUBLISHED_GAPS: Catalogue[PublishedGaps] = Catalogue(
    "published comparison",
    [
        PublishedGaps(
            "table07",
            "AllSides, framed questions",
            "lean",
            "Left and right wordings of one news story in one media frame, generated; cells whose "
            "two lists hold a document of the same story (Table 7, Fig. 2a)",
            "lean",
            10,
            "same-story",
            "right",
            "left",
            "p_signflip",
            "sign-flip permutation",
        ),
        PublishedGaps(
            "table08",
            "Reddit, askers' own titles",
            "lean",
            "Titles of posts by liberal and conservative askers; lean among the documents that two "
            "judges hold relevant (Table 8, Fig. 2b)",
            "lean",
            10,
            "judged",
            "conservative",
            "liberal",
            "p_mannwhitney",
            "Mann-Whitney U",
        ),
        PublishedGaps(
            "table11",
            "HealthCareMagic, rewritten questions",
            "dialect",
            "Patients' questions in WME and three generated AAL rewrites of each "
            "(Table 11, Fig. 3a)",
            "rr",
            None,
            "raw",
            "WME",
            "AAL",
            "p_wilcoxon",
            "Wilcoxon signed-rank",
        ),
        PublishedGaps(
            "table12",
            "HealthCareMagic, natural questions",
            "dialect",
            "Questions by different patients, labelled WME or AAL by a language model of tweets "
            "(Table 12, Fig. 3b)",
            "rr",
            None,
            "raw",
            "WME",
            "AAL",
            "p_mannwhitney",
            "Mann-Whitney U",
        ),
    ],
)


def published_gaps(name: str) -> pd.DataFrame:
    """An exhibit's gaps at the release's full precision, as a ``gaps`` table.

    Parameters
    ----------
    name
        A key of `PUBLISHED_GAPS`.

    Returns
    -------
    pandas.DataFrame
        One row a retriever, in the paper's order. Group means are missing where the release
        has none. ``p_value`` is the paper's; ``p_holm`` is computed here over its retrievers.
    """
    exhibit = PUBLISHED_GAPS[name]
    numbers = published.load()
    of = numbers[(numbers["exhibit"] == name) & (numbers["source"] == "release")]
    wide = of.pivot(index="retriever", columns="quantity", values="value")
    wide = wide.reindex(of["retriever"].drop_duplicates())

    def column(quantity: str, default: float | None = None) -> pd.Series:
        return wide[quantity] if quantity in wide else pd.Series(default, index=wide.index)

    is_paired = "n_pairs" in wide
    n = column("n_pairs") if is_paired else None
    p_values = column(exhibit.p_quantity)
    frame = pd.DataFrame(
        {
            "dataset": of["dataset"].iloc[0],
            "retriever": wide.index,
            "metric": exhibit.metric,
            "k": pd.array([exhibit.k] * len(wide), dtype="Int64"),
            "filter": exhibit.rule,
            "minuend": exhibit.minuend,
            "subtrahend": exhibit.subtrahend,
            "design": "paired" if is_paired else "unpaired",
            "test": exhibit.test,
            "estimate": column("gap").to_numpy(),
            "ci_low": column("ci_low").to_numpy(),
            "ci_high": column("ci_high").to_numpy(),
            "p_value": p_values.to_numpy(),
            "p_holm": holm(p_values.to_numpy()),
            "mean_minuend": column("mean_minuend").to_numpy(dtype=float),
            "mean_subtrahend": column("mean_subtrahend").to_numpy(dtype=float),
            "n_minuend": (column("n_minuend") if n is None else n).astype("int64").to_numpy(),
            "n_subtrahend": (column("n_subtrahend") if n is None else n).astype("int64").to_numpy(),
            "n_pairs": 0 if n is None else n.astype("int64").to_numpy(),
            "n_clusters": column("n_clusters", 0).astype("int64").to_numpy(),
            "n_dropped": 0,
        }
    )
    return check(frame, "gaps")
