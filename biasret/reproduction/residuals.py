"""The paper's lexical controls in the form of ours, so that one chart and sentence serve both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasret import published
from biasret.catalogue import Catalogue
from biasret.published.exhibits import RETRIEVERS
from biasret.reproduction.gaps import published_gaps
from biasret.statistics import holm
from biasret.tables import check

__all__ = ["PUBLISHED_RESIDUALS", "PublishedResiduals", "published_residuals", "published_summary"]


@dataclass(frozen=True)
class PublishedResiduals:
    """An exhibit that sets a gap beside what remains of it.

    Attributes
    ----------
    name
        A key of `biasret.published.EXHIBITS`.
    signal
        A key of ``SIGNALS``.
    residual
        The quantity that remains: ``alpha`` of a paired fit, ``gamma`` of a fit of two groups.
    gap
        The exhibit that holds interval, test and sizes of the same gap; None: none does.
    covariance, interval
        How the paper computed standard errors, and the interval of what remains.
    caveat
        What to know before setting it beside numbers computed here; may be empty.
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
    residual: str
    gap: str | None
    covariance: str = "HC1"
    interval: str = "normal"
    caveat: str = ""

    @property
    def is_paired(self) -> bool:
        """Whether both groups stand in every cell."""
        return self.residual == "alpha"


_ASKERS = ("conservative", "liberal", "gamma")

PUBLISHED_RESIDUALS: Catalogue[PublishedResiduals] = Catalogue(
    "published lexical control",
    [
        PublishedResiduals(
            "table14",
            "AllSides, framed questions",
            "lean",
            "Left and right wordings of one news story in one media frame; cells whose two lists "
            "hold a document of the same story",
            "lean",
            10,
            "same-story",
            "right",
            "left",
            "alpha",
            "table07",
            "cluster",
            "cluster bootstrap",
            "The paper's token scores point to left here, ours to the minuend, right: its mean "
            "regressor and slope have the other sign than those measured here, while what remains "
            "and what vocabulary accounts for have the same.",
        ),
        PublishedResiduals(
            "table15",
            "Reddit, twenty deep",
            "lean",
            "Titles of posts by liberal and conservative askers; all of the first twenty documents",
            "lean",
            20,
            "raw",
            *_ASKERS,
            None,
        ),
        PublishedResiduals(
            "table16",
            "Reddit, judged",
            "lean",
            "Titles of posts by liberal and conservative askers; lean among the documents of the "
            "first ten that two judges hold relevant",
            "lean",
            10,
            "judges",
            *_ASKERS,
            "table08",
        ),
        PublishedResiduals(
            "table17",
            "HealthCareMagic, rewritten questions",
            "dialect",
            "Patients' questions in WME and three generated AAL rewrites of each",
            "rr",
            None,
            "raw",
            "WME",
            "AAL",
            "alpha",
            "table11",
            caveat="A regressor far from 0 in every pair (mean 573.9, standard deviation 370.1) "
            "makes what remains an extrapolation to a pair of equal vocabulary.",
        ),
        PublishedResiduals(
            "table18",
            "HealthCareMagic, natural questions",
            "dialect",
            "Questions by different patients, labelled WME or AAL by a language model of tweets",
            "rr",
            None,
            "raw",
            "WME",
            "AAL",
            "gamma",
            "table12",
            caveat="The paper scored tokens on all 656 and 659 questions, before short ones were "
            "left out.",
        ),
    ],
)

#: Exhibits that Table 3 joins, by dataset, in its order.
_SUMMARY = {
    "allsides_synth": "table14",
    "reddit_nat": "table15",
    "hcmagic_synth": "table17",
    "hcmagic_nat": "table18",
}


def published_residuals(name: str) -> pd.DataFrame:
    """An exhibit's gaps and residuals at the release's full precision, as a ``residuals`` table.

    Parameters
    ----------
    name
        A key of `PUBLISHED_RESIDUALS`.

    Returns
    -------
    pandas.DataFrame
        One row a retriever, in the paper's order, signs as published. ``gap_low``, ``gap_p``
        and sizes are those of the exhibit of the same gaps. ``p_value`` is the paper's;
        ``p_holm`` and ``gap_p_holm`` are computed here over its retrievers. Missing: what the
        release has not.
    """
    exhibit = PUBLISHED_RESIDUALS[name]
    numbers = published.load()
    wide = _wide(numbers[numbers["exhibit"] == name])
    before = pd.DataFrame(index=wide.index)
    if exhibit.gap is not None:
        before = published_gaps(exhibit.gap).set_index("retriever").loc[wide.index]

    def column(quantity: str, of: pd.DataFrame = wide) -> NDArray[np.float64]:
        if quantity not in of:
            return np.full(len(of), np.nan)
        return of[quantity].to_numpy(dtype=np.float64)

    def count(quantity: str) -> NDArray[np.int64]:
        found = next(one[quantity] for one in (wide, before) if quantity in one)
        return found.to_numpy(dtype=np.int64)

    if exhibit.is_paired:
        regressor = column("mean_regressor")
        n = n_minuend = n_subtrahend = count("n_pairs")
    else:
        regressor = column("mean_lex_minuend") - column("mean_lex_subtrahend")
        n_minuend, n_subtrahend = count("n_minuend"), count("n_subtrahend")
        n = n_minuend + n_subtrahend
    clusters = before["n_clusters"] if "n_clusters" in before else pd.Series(0, wide.index)
    p_values = column(f"{exhibit.residual}_p")
    return check(
        pd.DataFrame(
            {
                **_labels(exhibit, numbers, len(wide)),
                "retriever": wide.index,
                "n": n,
                "n_minuend": n_minuend,
                "n_subtrahend": n_subtrahend,
                "n_clusters": clusters.to_numpy(dtype=np.int64),
                "gap": column("gap"),
                "gap_low": column("ci_low", before),
                "gap_high": column("ci_high", before),
                "gap_p": column("p_value", before),
                "gap_p_holm": column("p_holm", before),
                "residual": column(exhibit.residual),
                "residual_low": column(f"{exhibit.residual}_ci_low"),
                "residual_high": column(f"{exhibit.residual}_ci_high"),
                "residual_error": column(f"{exhibit.residual}_se"),
                "p_value": p_values,
                "p_holm": holm(p_values),
                "slope": column("beta"),
                "slope_low": column("beta_ci_low"),
                "slope_high": column("beta_ci_high"),
                "slope_p": column("beta_p"),
                "mean_regressor": regressor,
                "contribution": column("beta") * regressor,
                "r_squared": column("r_squared"),
            }
        ),
        "residuals",
    )


def published_summary() -> pd.DataFrame:
    """Table 3 at the release's full precision, as a ``residuals`` table of four datasets.

    Returns
    -------
    pandas.DataFrame
        One row for each dataset and dense retriever. ``gap``, ``residual`` and ``p_value`` are
        Table 3's own; sizes are those of the tables it joins; ``p_holm`` is computed here,
        dataset by dataset. It has no intervals.
    """
    numbers = published.load()
    numbers = numbers[numbers["exhibit"] == "table03"]
    parts = []
    for dataset, name in _SUMMARY.items():
        wide = _wide(numbers[numbers["dataset"] == dataset])
        sizes = published_residuals(name).set_index("retriever").loc[wide.index]
        p_values = wide["residual_p"].to_numpy(dtype=np.float64)
        known = ["design", "covariance", "interval", "n", "n_minuend", "n_subtrahend", "n_clusters"]
        parts.append(
            sizes[["dataset", "metric", "k", "filter", "minuend", "subtrahend", *known]]
            .assign(
                gap=wide["gap"],
                residual=wide["residual_gap"],
                p_value=p_values,
                p_holm=holm(p_values),
            )
            .reset_index()
        )
    return check(pd.concat(parts, ignore_index=True), "residuals")


def _wide(numbers: pd.DataFrame) -> pd.DataFrame:
    """The release's quantities by retriever, in the paper's order."""
    of = numbers[numbers["source"] == "release"]
    wide = of.pivot(index="retriever", columns="quantity", values="value")
    order = [name for name in RETRIEVERS if name in wide.index]
    return wide.loc[order]


def _labels(exhibit: PublishedResiduals, numbers: pd.DataFrame, n: int) -> dict[str, object]:
    dataset = numbers.loc[numbers["exhibit"] == exhibit.name, "dataset"].iloc[0]
    return {
        "dataset": [dataset] * n,
        "metric": exhibit.metric,
        "k": pd.array([exhibit.k] * n, dtype="Int64"),
        "filter": exhibit.rule,
        "minuend": exhibit.minuend,
        "subtrahend": exhibit.subtrahend,
        "design": "paired" if exhibit.is_paired else "unpaired",
        "covariance": exhibit.covariance,
        "interval": exhibit.interval,
    }
