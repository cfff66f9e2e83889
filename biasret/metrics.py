"""A run and its gold -> one measurement per query.

To add a metric: a function from `Inputs` and k to one value per query, and a record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.catalogue import Catalogue
from biasret.filters import Filter, Inputs, filters_for, present
from biasret.tables import LEAN_CODES, check

__all__ = ["METRICS", "Inputs", "Metric", "lean_at_k", "measure", "rr"]


@dataclass(frozen=True)
class Metric:
    """One metric and its own words.

    Attributes
    ----------
    ks
        Depths measured; ``(None,)`` for a metric without a depth.
    headline
        The depth shown first.
    needs
        Columns it cannot do without, as ``table.column``.
    reads
        What its value at a depth is read from: ``runs`` or ``gold_ranks``.
    """

    name: str
    label: str
    about: str
    unit: str
    low: float
    high: float
    source: str
    needs: tuple[str, ...]
    ks: tuple[int | None, ...]
    headline: int | None
    compute: Callable[[Inputs, int | None], pd.Series]
    reads: str = "gold_ranks"

    def reaches(self, inputs: Inputs, k: int | None) -> bool:
        """Whether all that is read at a depth is known."""
        known = inputs.depth if self.reads == "runs" else inputs.rank_depth
        return k is None or known is None or k <= known

    def title(self, k: int | None) -> str:
        """The name at a depth: ``lean@10``."""
        return self.label if k is None else f"{self.label}@{k}"


def lean_at_k(inputs: Inputs, k: int | None) -> pd.Series:
    """Mean stance code of the first `k` documents: share right minus share left.

    Center documents, and documents without a stance, count in the denominator. Where fewer
    than `k` documents were retrieved the mean is over those; with none it is 0, as in the
    paper's AllSides metric.

    Returns
    -------
    float64 by ``query_id``, in [-1, 1]
        Every query of `inputs` has a value.

    References
    ----------
    Tang et al., section 2.2.
    """
    assert k is not None
    top = inputs.runs.loc[inputs.runs["rank"] <= k, ["query_id", "doc_id"]]
    stance = inputs.documents.set_index("doc_id")["stance"]
    # Said to be numbers, because without any row pandas would keep them text.
    codes = top["doc_id"].map(stance).map(LEAN_CODES).astype("float64").fillna(0.0)
    means = codes.groupby(top["query_id"]).mean()
    return means.reindex(inputs.queries["query_id"], fill_value=0.0)


def rr(inputs: Inputs, k: int | None = None) -> pd.Series:
    """Reciprocal of the rank of the best gold document in the full ranking.

    Nothing is truncated, so a value is 0 only where an imported ranking ends before the gold, or
    where nothing matched the query: no document has a rank then, and leaving the query out would
    favour a retriever that cannot read it. Queries without gold, or whose gold documents may
    not appear at all, have no value.

    Returns
    -------
    float64 by ``query_id``, in [0, 1], missing without gold

    References
    ----------
    Tang et al., section 2.2; method as in ir_measures' ``RR`` without a cutoff.
    """
    assert k is None
    return 1.0 / _gold_ranks(inputs)


def recall_at_k(inputs: Inputs, k: int | None) -> pd.Series:
    """1 where a gold document is among the first `k` of the full ranking, else 0.

    Returns
    -------
    float64 by ``query_id``, 0 or 1, missing without gold

    References
    ----------
    Tang et al., section 2.2. With one gold document a query this is recall; with several
    it is the share of queries with a hit, which the field also calls success@k.
    """
    assert k is not None
    ranks = _gold_ranks(inputs)
    return (ranks <= k).astype("float64").where(ranks.notna())


def _gold_ranks(inputs: Inputs) -> pd.Series:
    """Ranks as float64 by query_id: infinite where nothing matched, missing without gold."""
    table = inputs.gold_ranks.set_index("query_id")
    ranks = table["rank"].astype("Float64").astype("float64")
    if "n_gold" in table:
        is_unmatched = ranks.isna() & (table["n_gold"].astype("Float64").fillna(0) > 0)
        ranks = ranks.mask(is_unmatched.astype("bool"), np.inf)
    return ranks.reindex(inputs.queries["query_id"])


METRICS: Catalogue[Metric] = Catalogue(
    "metric",
    [
        Metric(
            name="lean",
            label="lean",
            about="Share of right-leaning minus share of left-leaning documents among the first k",
            unit="share right minus share left",
            low=-1.0,
            high=1.0,
            source="Tang et al., section 2.2",
            needs=("documents.stance",),
            ks=(5, 10, 20, 50, 100),
            headline=10,
            compute=lean_at_k,
            reads="runs",
        ),
        Metric(
            name="rr",
            label="RR",
            about="Reciprocal of the gold answer's rank in the full ranking; its mean is MRR",
            unit="reciprocal rank",
            low=0.0,
            high=1.0,
            source="Tang et al., section 2.2",
            needs=("qrels.grade",),
            ks=(None,),
            headline=None,
            compute=rr,
        ),
        Metric(
            name="recall",
            label="recall",
            about="Share of queries whose gold answer is among the first k",
            unit="share of queries",
            low=0.0,
            high=1.0,
            source="Tang et al., section 2.2",
            needs=("qrels.grade",),
            ks=(1, 5, 10, 20, 50, 100),
            headline=10,
            compute=recall_at_k,
        ),
    ],
)


def applicable(inputs: Inputs, metric: Metric) -> bool:
    """Whether the tables hold what a metric needs."""
    return all(present(inputs, need) for need in metric.needs)


def _values(inputs: Inputs, metric: Metric, rule: Filter, k: int | None) -> pd.Series | None:
    """Values of the queries that count; None where the rankings are not deep enough."""
    if metric.reaches(inputs, k):
        counted, keep = rule.apply(inputs, k)
        values = metric.compute(counted, k)
        return values[keep.reindex(values.index).to_numpy()]
    given = inputs.given_values(metric.name, k)
    if given is None or not rule.keeps_lists:
        return None
    is_by_story = rule.name == "same-story"
    if is_by_story and inputs.given_values("story_rank", None) is None:
        return None  # the story might stand below what the ranking holds
    _, keep = rule.apply(inputs, k)
    values = given.reindex(inputs.queries["query_id"])
    return values[keep.reindex(values.index).to_numpy()]


def measure(
    inputs: Inputs, *, dataset: str, retriever: str, metrics: tuple[str, ...]
) -> pd.DataFrame:
    """Every applicable metric, depth and filter, for every query.

    Parameters
    ----------
    metrics
        Keys of `METRICS`.

    Returns
    -------
    pandas.DataFrame
        A ``measurements`` table. A query that a filter leaves out has no row under it; a
        metric without a value for a query has none either. Below the depth of an imported
        ranking there are values only where they came with it, and below the pool of a judge
        there are none under its filter.
    """
    parts = []
    for name in metrics:
        metric = METRICS[name]
        if not applicable(inputs, metric):
            continue
        for rule in filters_for(inputs, name):
            for k in rule.within_reach(inputs, metric.ks):
                values = _values(inputs, metric, rule, k)
                if values is None:
                    continue
                kept = values.dropna()
                parts.append(
                    pd.DataFrame(
                        {
                            "query_id": kept.index,
                            "metric": name,
                            "k": pd.array([k] * len(kept), dtype="Int64"),
                            "filter": rule.name,
                            "value": kept.to_numpy(),
                        }
                    )
                )
    columns = ["query_id", "metric", "k", "filter", "value"]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return check(table.assign(dataset=dataset, retriever=retriever), "measurements")
