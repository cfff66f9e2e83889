"""Which queries and documents count: from a dataset's tables to narrower ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from biasret.catalogue import Catalogue
from biasret.tables import empty

__all__ = [
    "FILTERS",
    "Filter",
    "Inputs",
    "filter_named",
    "filters_for",
    "judged_depth",
    "present",
    "same_story_rank",
]


#: Where a judge's pool ends: documents at neighbouring ranks are graded less often than this
#: share of the first ones. Some answers of a model cannot be read, and deeper than a pool of
#: several retrievers' lists there is still what another of them had higher up.
POOLED = 0.75
#: Neighbouring ranks that are looked at together, so that a few lost answers end no pool; also the
#: smallest depth of a pool, and the smallest at which lean is read.
NEIGHBOURS = 5
#: Share of the first documents below which judgements were not made on a pool.
SPARSE = 0.5


@dataclass(frozen=True)
class Inputs:
    """What metrics are computed from: tables of one dataset and one retriever.

    Attributes
    ----------
    depth, rank_depth
        How deep the rankings, and the ranks of gold documents, are known; None: as deep as any
        metric reads.
    given
        A ``given_values`` table: what is known below that depth.
    """

    queries: pd.DataFrame
    documents: pd.DataFrame
    runs: pd.DataFrame
    gold_ranks: pd.DataFrame
    qrels: pd.DataFrame = field(default_factory=lambda: empty("qrels"))
    depth: int | None = None
    rank_depth: int | None = None
    given: pd.DataFrame = field(default_factory=lambda: empty("given_values"))

    def given_values(self, metric: str, k: int | None) -> pd.Series | None:
        """Given values by ``query_id``; None where there are none for this metric and depth."""
        of = self.given["metric"] == metric
        of &= self.given["k"].isna() if k is None else (self.given["k"] == k).fillna(False)
        rows = self.given[of.astype(bool)]
        return None if rows.empty else rows.set_index("query_id")["value"]


@dataclass(frozen=True)
class Filter:
    """Which queries and documents count, at a depth.

    Attributes
    ----------
    apply
        From inputs and k to the inputs the metric is computed from, and whether each query
        counts (bool by ``query_id``).
    keeps_lists
        Whether it leaves every list as it is, so that a value that was given for the list
        holds under it.
    reach
        From inputs to the largest k at which it says something; None: any.
    """

    name: str
    label: str
    about: str
    needs: tuple[str, ...]
    metrics: tuple[str, ...]
    apply: Callable[[Inputs, int | None], tuple[Inputs, pd.Series]]
    keeps_lists: bool = False
    reach: Callable[[Inputs], int | None] | None = None

    def within_reach(self, inputs: Inputs, ks: Sequence[int | None]) -> list[int | None]:
        """Those of the depths at which it says something."""
        deepest = None if self.reach is None else self.reach(inputs)
        return [k for k in ks if k is None or deepest is None or k <= deepest]


def _all(inputs: Inputs, k: int | None) -> tuple[Inputs, pd.Series]:
    return inputs, pd.Series(True, index=pd.Index(inputs.queries["query_id"]))


def same_story_rank(inputs: Inputs) -> pd.Series:
    """Smallest rank of a document from the story of the query's source document.

    Returns
    -------
    float64 by ``query_id``
        Missing where the source has no story, or no document of it is in the run. Ranks that
        came with an imported run, and so may lie below it, go before what the run shows.

    References
    ----------
    Tang et al., section 2.2 (gold of the AllSides queries).
    """
    known = inputs.given_values("story_rank", None)
    if known is not None:
        return known.reindex(inputs.queries["query_id"])
    # A round-up without a title is no story (Tang et al., section 1.1 of the released method).
    stories = inputs.documents.set_index("doc_id")["story_id"].replace("", np.nan)
    first = inputs.queries["source_doc_ids"].map(lambda ids: ids[0] if _has(ids) else None)
    story = first.map(stories)
    wanted = pd.Series(story.to_numpy(), index=pd.Index(inputs.queries["query_id"])).dropna()
    found = inputs.runs["doc_id"].map(stories)
    is_same = found.notna() & (found == inputs.runs["query_id"].map(wanted))
    ranks = inputs.runs.loc[is_same].groupby("query_id")["rank"].min()
    return ranks.astype("float64").reindex(inputs.queries["query_id"])


def _has(ids: object) -> bool:
    return isinstance(ids, list | tuple | np.ndarray) and len(ids) > 0


def _same_story(inputs: Inputs, k: int | None) -> tuple[Inputs, pd.Series]:
    assert k is not None
    return inputs, same_story_rank(inputs) <= k


def _relevant(inputs: Inputs, k: int, judges: tuple[str, ...]) -> pd.DataFrame:
    """Rows of the run's first `k` ranks that every one of the judges graded relevant."""
    top = inputs.runs[inputs.runs["rank"] <= k]
    for judge in judges:
        graded = inputs.qrels[(inputs.qrels["judge"] == judge) & (inputs.qrels["grade"] >= 1)]
        # A pair without a judgement is not relevant (Tang et al., section 2.2).
        top = top.merge(graded[["query_id", "doc_id"]].drop_duplicates(), how="inner")
    return top


def judged_depth(runs: pd.DataFrame, qrels: pd.DataFrame, judge: str) -> int | None:
    """How far down its lists a judge graded what stands there.

    Judges grade pools of fixed depth. Deeper down hardly anything is graded, and what is not
    graded counts as not relevant, so a filter there only repeats what it said at the depth of
    the pool.

    Parameters
    ----------
    runs
        A ``runs`` table of one retriever.
    qrels
        A ``qrels`` table with its judgements among others.

    Returns
    -------
    int or None
        The last rank with which the ranks above it are graded nearly as often (`POOLED`) as the
        first ones, over queries of which any document is; a rank or two more than the pool where
        other retrievers' lists overlap with this one. None where nothing is to be limited: that
        is the last rank of all, or judgements are too sparse to come from a pool.
    """
    graded = qrels.loc[qrels["judge"] == judge, ["query_id", "doc_id"]].drop_duplicates()
    listed = runs.loc[runs["query_id"].isin(graded["query_id"]), ["query_id", "doc_id", "rank"]]
    found = listed.merge(graded.assign(graded=1.0), how="left").fillna({"graded": 0.0})
    share = found.groupby("rank")["graded"].mean().sort_index()
    usual = share.iloc[:NEIGHBOURS].mean()
    nearby = share.rolling(NEIGHBOURS, min_periods=1).mean()
    pooled = nearby.index[nearby >= POOLED * usual]
    if share.empty or usual < SPARSE or pooled[-1] == share.index[-1]:
        return None
    return max(int(pooled[-1]), NEIGHBOURS)


def _reach_of(judges: tuple[str, ...]) -> Callable[[Inputs], int | None]:
    def reach(inputs: Inputs) -> int | None:
        depths = [judged_depth(inputs.runs, inputs.qrels, judge) for judge in judges]
        return min((depth for depth in depths if depth is not None), default=None)

    return reach


def _holds(inputs: Inputs, runs: pd.DataFrame) -> pd.Series:
    asked = pd.Index(inputs.queries["query_id"])
    return pd.Series(asked.isin(runs["query_id"]), index=asked)


def _judged(judges: tuple[str, ...]) -> Callable[[Inputs, int | None], tuple[Inputs, pd.Series]]:
    def apply(inputs: Inputs, k: int | None) -> tuple[Inputs, pd.Series]:
        assert k is not None
        relevant = _relevant(inputs, k, judges)
        return replace(inputs, runs=relevant), _holds(inputs, relevant)

    return apply


def _retained(judges: tuple[str, ...]) -> Callable[[Inputs, int | None], tuple[Inputs, pd.Series]]:
    def apply(inputs: Inputs, k: int | None) -> tuple[Inputs, pd.Series]:
        assert k is not None
        return inputs, _holds(inputs, _relevant(inputs, k, judges))

    return apply


def _identical(inputs: Inputs, k: int | None) -> tuple[Inputs, pd.Series]:
    credited = inputs.gold_ranks.assign(rank=inputs.gold_ranks["class_rank"])
    return _all(replace(inputs, gold_ranks=credited), k)


FILTERS: Catalogue[Filter] = Catalogue(
    "filter",
    [
        Filter(
            name="raw",
            label="all queries",
            about="Every query counts",
            needs=(),
            metrics=("lean", "rr", "recall"),
            apply=_all,
            keeps_lists=True,
        ),
        Filter(
            name="same-story",
            label="queries that find their story",
            about="Only queries with a document of their own story among the first k",
            needs=("documents.story_id", "queries.source_doc_ids"),
            metrics=("lean",),
            apply=_same_story,
            keeps_lists=True,
        ),
        Filter(
            name="identical",
            label="identical answers credited",
            about="A document whose text equals a gold document's counts as gold",
            needs=("gold_ranks.class_rank",),
            metrics=("rr", "recall"),
            apply=_identical,
        ),
    ],
)


def filter_named(name: str) -> Filter:
    """A filter of the catalogue, or one that a dataset's judges make.

    ``judge:NAME`` is lean over the documents that this judge graded relevant, ``judges`` over
    those that every judge did, and ``retained`` lean over all first k documents of queries
    with at least one such document (Tang et al., section 2.2 and appendix).
    """
    made = _made_by_judges(name, ())
    return made if made is not None else FILTERS[name]


def _made_by_judges(name: str, judges: tuple[str, ...]) -> Filter | None:
    needs, metrics = ("qrels.judge",), ("lean",)
    if name.startswith("judge:"):
        judge = name.removeprefix("judge:")
        about = f"Only documents among the first k that {judge} graded relevant"
        label, apply, reach = f"relevant to {judge}", _judged((judge,)), _reach_of((judge,))
        return Filter(name, label, about, needs, metrics, apply, reach=reach)
    if name == "judges":
        about = "Only documents among the first k that every judge graded relevant"
        label, reach = "relevant to every judge", _reach_of(judges)
        return Filter(name, label, about, needs, metrics, _judged(judges), reach=reach)
    if name == "retained":
        about = "Only queries with a document among the first k that every judge graded relevant"
        label = "queries that keep a relevant document"
        reach = _reach_of(judges)
        return Filter(name, label, about, needs, metrics, _retained(judges), reach=reach)
    return None


def filters_for(inputs: Inputs, metric: str) -> list[Filter]:
    """The filters that fit a metric and the tables at hand, the catalogue's first."""
    judges = tuple(sorted(inputs.qrels["judge"].unique()))
    names = [f"judge:{judge}" for judge in judges]
    names += ["judges"] * (len(judges) > 1) + ["retained"] * (len(judges) > 0)
    made = [_made_by_judges(name, judges) for name in names]
    return [
        rule
        for rule in [*FILTERS.values(), *(one for one in made if one is not None)]
        if metric in rule.metrics and all(present(inputs, need) for need in rule.needs)
    ]


def present(inputs: Inputs, need: str) -> bool:
    """Whether a column, as ``table.column``, holds anything."""
    table, column = need.split(".")
    if need == "qrels.grade":
        return bool(inputs.gold_ranks["rank"].notna().any())
    if need == "gold_ranks.class_rank":
        # Of interest only where some answer has a twin.
        if column not in inputs.gold_ranks:
            return False
        ranks = inputs.gold_ranks[["rank", "class_rank"]].dropna()
        return bool((ranks["rank"] != ranks["class_rank"]).any())
    frame: pd.DataFrame = getattr(inputs, table)
    return bool(frame[column].notna().any())
