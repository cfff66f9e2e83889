"""Measurements of original and mitigated wordings -> what a mitigation changes.

A mitigation replaces wordings of one or both groups before the retriever is asked. What it
changes is compared within cells: the gap before and after, and how well the replaced
wordings find what they look for, before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from biasret.audit import PAPER, TRANSLATED, Settings
from biasret.catalogue import Catalogue
from biasret.datasets.base import DatasetRecord
from biasret.filters import Inputs, same_story_rank
from biasret.statistics import cluster_bootstrap_mean, holm, sign_flip_exact, wilcoxon
from biasret.tables import check, empty

__all__ = [
    "MITIGATIONS",
    "QUALITIES",
    "Mitigation",
    "mitigations",
    "mitigations_for",
    "story_measurements",
    "story_rr",
]


@dataclass(frozen=True)
class Mitigation:
    """A way of rewording, and which group each of its wordings stands in for.

    Attributes
    ----------
    replaces
        Original group and the group that holds its mitigated wordings.
    caution
        What it may cost that no number here shows.
    """

    name: str
    label: str
    about: str
    caution: str
    replaces: tuple[tuple[str, str], ...]


MITIGATIONS: Catalogue[Mitigation] = Catalogue(
    "mitigation",
    [
        Mitigation(
            "translation",
            "translating AAL to WME",
            "Each question in AAL is translated to WME before the retriever is asked",
            "AAL needs no mending. A translation can lose what the asker meant, and asks speakers "
            "of one variety to be read through another; it is a way around a retriever, not a "
            "reason to leave the retriever as it is",
            (("AAL", TRANSLATED),),
        ),
        Mitigation(
            "neutralising",
            "replacing leaning words",
            "Words that lean left or right are replaced by descriptive ones before the retriever "
            "is asked, in the cells where any is recognised",
            "Which word is descriptive can be contested, and an asker who chose a word may want "
            "documents that use it",
            (("left", "left neutralised"), ("right", "right neutralised")),
        ),
    ],
)

#: Measures of how well a wording finds what it looks for: what stands in the column ``metric``
#: of a row whose quantity is ``quality``.
QUALITIES = {
    "rr": "reciprocal rank of the gold answer",
    "story": "reciprocal rank of the first document of the question's own story, 0 where none is "
    "among the documents kept of a ranking",
}


def mitigations_for(queries: pd.DataFrame) -> list[Mitigation]:
    """The mitigations of which a dataset holds wordings."""
    groups = set(queries["group"].dropna())
    return [one for one in MITIGATIONS.values() if all({a, b} <= groups for a, b in one.replaces)]


def story_rr(inputs: Inputs) -> pd.Series:
    """Reciprocal rank of the first document of each query's own story.

    Returns
    -------
    float64 by ``query_id``, in [0, 1]
        0 where the run holds none; a query whose source has no story is left out.
    """
    stories = inputs.documents.set_index("doc_id")["story_id"].replace("", np.nan)
    first = inputs.queries["source_doc_ids"].str[0]
    has_story = first.map(stories).notna().to_numpy()
    ranks = same_story_rank(inputs)
    return (1.0 / ranks).fillna(0.0)[has_story]


def story_measurements(inputs: Inputs, dataset: str, retriever: str) -> pd.DataFrame:
    """`story_rr` as a ``measurements`` table; without rows where the documents have no stories."""
    if inputs.documents["story_id"].isna().all():
        return empty("measurements")
    values = story_rr(inputs)
    table = pd.DataFrame({"query_id": values.index, "value": values.to_numpy()})
    filled = table.assign(dataset=dataset, retriever=retriever, metric="story", filter="raw")
    return check(filled, "measurements")


def mitigations(
    measurements: pd.DataFrame,
    queries: pd.DataFrame,
    record: DatasetRecord,
    *,
    settings: Settings = PAPER,
) -> pd.DataFrame:
    """What every mitigation of a dataset changes, for every retriever, metric and depth.

    Cells that hold all wordings needed are compared: the same cells before and after. Intervals
    are cluster bootstraps, the test is Wilcoxon's on the cells' changes with a sign-flip test
    beside it, and ``p_holm`` corrects over the retrievers that share everything else.

    Parameters
    ----------
    measurements
        A ``measurements`` table of one dataset, rows of the filter ``raw``; the metric ``story``
        (see `story_rr`) may stand beside those of the dataset.
    queries
        Its ``queries`` table.

    Returns
    -------
    pandas.DataFrame
        A ``mitigations`` table. Quantity ``gap``: minuend minus subtrahend before and after,
        and ``change`` after minus before, so that a negative change of a positive gap is a gain.
        Quantity ``quality``: the mean of the replaced wordings before and after, so that a
        positive change is a gain. Unpaired datasets have the second alone.
    """
    rows: list[dict[str, Any]] = []
    raw = measurements[measurements["filter"] == "raw"]
    by = ["retriever", "metric", "k"]
    for one in mitigations_for(queries):
        n_changed = _n_changed(one, queries)
        for (retriever, metric, k), part in raw.groupby(by, dropna=False, sort=True):
            wide, clusters = _cells(part, queries)
            shared = {
                "dataset": record.name,
                "retriever": retriever,
                "mitigation": one.name,
                "metric": metric,
                "k": k,
                "n_changed": n_changed,
            }
            sides = _sides(one, record)
            if sides is not None and metric != "story":
                before, after = sides
                found = _compared(
                    wide, clusters, _difference(*before), _difference(*after), settings
                )
                rows.append(shared | {"quantity": "gap"} | found)
            if metric in QUALITIES:
                old, new = zip(*one.replaces, strict=True)
                found = _compared(wide, clusters, _mean(old), _mean(new), settings)
                rows.append(shared | {"quantity": "quality"} | found)
    if not rows:
        return empty("mitigations")
    table = pd.DataFrame(rows)
    table["k"] = pd.array(table["k"].tolist(), dtype="Int64")
    table["p_holm"] = np.nan
    for _, at in table.groupby(
        ["mitigation", "quantity", "metric", "k"], dropna=False
    ).groups.items():
        table.loc[at, "p_holm"] = holm(table.loc[at, "p_value"].to_numpy(dtype=np.float64))
    return check(table, "mitigations")


def _sides(
    one: Mitigation, record: DatasetRecord
) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Groups whose difference is the gap before, and after; None where no cell holds both."""
    if not record.is_paired or record.minuend is None or record.subtrahend is None:
        return None
    stand_in = dict(one.replaces)
    before = (record.minuend, record.subtrahend)
    if not set(stand_in) <= set(before):
        return None
    return before, (stand_in.get(before[0], before[0]), stand_in.get(before[1], before[1]))


def _cells(part: pd.DataFrame, queries: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Mean value of each group in each cell, and the cells' clusters, in order of cell_id."""
    rows = queries.merge(part[["query_id", "value"]], on="query_id").dropna(subset=["group"])
    wide = rows.pivot_table(index="cell_id", columns="group", values="value", aggfunc="mean")
    return wide.sort_index(), queries.groupby("cell_id")["cluster_id"].first()


# A combination of groups: each group with its weight.
Weights = dict[str, float]


def _difference(minuend: str, subtrahend: str) -> Weights:
    return {minuend: 1.0, subtrahend: -1.0}


def _mean(groups: Sequence[str]) -> Weights:
    return dict.fromkeys(groups, 1.0 / len(groups))


def _compared(
    wide: pd.DataFrame, clusters: pd.Series, before: Weights, after: Weights, settings: Settings
) -> dict[str, Any]:
    needed = list(dict.fromkeys([*before, *after]))
    wide = wide.reindex(columns=needed)
    # Cells without any mitigated wording were not asked; those that lack a value were dropped.
    asked = wide[wide[[g for g in after if g not in before]].notna().any(axis=1)]
    kept = asked.dropna()
    of = clusters.reindex(kept.index).to_numpy(dtype=object)
    old = sum(kept[group].to_numpy() * weight for group, weight in before.items())
    new = sum(kept[group].to_numpy() * weight for group, weight in after.items())
    options: Any = {"resamples": settings.resamples, "rng": settings.seed, "level": settings.level}
    means = {
        name: cluster_bootstrap_mean(values, clusters=of, **options)
        for name, values in (("before", old), ("after", new), ("change", np.subtract(new, old)))
    }
    test = wilcoxon(np.subtract(new, old))
    flips = sign_flip_exact(np.subtract(new, old))
    found: dict[str, Any] = {
        "test": test.test,
        "p_value": test.p_value,
        "p_permutation": flips.p_value,
        "n_pairs": len(kept),
        "n_clusters": means["change"].n_clusters,
        "n_dropped": len(asked) - len(kept),
        "note": " ".join(dict.fromkeys(n for n in (means["change"].note, test.note) if n)) or None,
    }
    for name, mean in means.items():
        ends = {name: mean.estimate, f"{name}_low": mean.low, f"{name}_high": mean.high}
        found |= ends
    return found


def _n_changed(one: Mitigation, queries: pd.DataFrame) -> int:
    """Cells in which a mitigated wording is another text than what it replaces."""
    texts = {
        group: of.groupby("cell_id")["text"].agg(frozenset)
        for group, of in queries.groupby("group")
    }
    changed: set[str] = set()
    for old, new in one.replaces:
        both = pd.concat([texts[old].rename("old"), texts[new].rename("new")], axis=1).dropna()
        changed |= set(both.index[both["old"] != both["new"]])
    return len(changed)
