"""Judgements -> how far judges agree, with each other and with a reference.

A pair is one (query, document). Agreement is over pairs that both judges graded; a grade of
1 or more is relevant.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from biasret.datasets.base import DatasetRecord
from biasret.inventory import NO_GROUP, group_order

__all__ = [
    "Agreement",
    "agree",
    "agreements",
    "coverage",
    "grades",
    "judges",
    "kappa_interval",
    "median_relevant",
    "per_list",
    "reference",
    "same_story",
]

#: Draws of queries held in memory at a time.
_DRAWS = 1 << 22


@dataclass(frozen=True)
class Agreement:
    """How far two judges agree on one set of pairs.

    Attributes
    ----------
    n_both, n_first, n_second, n_neither
        Pairs that both, only the first, only the second, and none of the two hold relevant.
    kappa
        Cohen's kappa; None where chance alone would make them agree on every pair.
    raw_agreement, rate_first, rate_second, rate_both
        Shares of all pairs; None without pairs.
    recall_first
        Share of the second's relevant pairs that the first holds relevant too; None where
        the second holds none relevant. `recall_second` the other way.
    note
        Why a number is missing.
    """

    n_pairs: int
    n_both: int
    n_first: int
    n_second: int
    n_neither: int
    kappa: float | None
    raw_agreement: float | None
    rate_first: float | None
    rate_second: float | None
    rate_both: float | None
    recall_first: float | None
    recall_second: float | None
    note: str | None


def judges(qrels: pd.DataFrame) -> list[str]:
    """Judges who graded documents, by name; one who only lists relevant ones is left out.

    A list of gold documents says nothing on the documents that are not in it.
    """
    graded_zero = qrels.loc[qrels["grade"] == 0, "judge"]
    return sorted(graded_zero.unique().tolist())


def grades(qrels: pd.DataFrame, judge: str) -> pd.Series:
    """Whether a judge holds each pair relevant.

    Returns
    -------
    bool by ``query_id``, ``doc_id``
        Only pairs that the judge graded.
    """
    rows = qrels[qrels["judge"] == judge]
    index = pd.MultiIndex.from_frame(rows[["query_id", "doc_id"]])
    return pd.Series((rows["grade"] >= 1).to_numpy(), index=index, name=judge)


def agree(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Agreement of two judges on the same pairs.

    Parameters
    ----------
    first, second : bool, shape (n,)

    Examples
    --------
    >>> found = agree(np.array([1, 1, 0, 0], bool), np.array([1, 0, 0, 0], bool))
    >>> found.kappa, found.recall_first, found.recall_second
    (0.5, 1.0, 0.5)

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.
    """
    assert first.dtype == second.dtype == bool
    n = len(first)
    both = int((first & second).sum())
    n_first, n_second = int(first.sum()) - both, int(second.sum()) - both
    neither = n - both - n_first - n_second
    if n == 0:
        why = "No pair was graded by both judges."
        return Agreement(0, 0, 0, 0, 0, None, None, None, None, None, None, None, why)
    kappa = float(_kappa(np.array([both, n_first, n_second, neither])))
    return Agreement(
        n_pairs=n,
        n_both=both,
        n_first=n_first,
        n_second=n_second,
        n_neither=neither,
        kappa=None if np.isnan(kappa) else kappa,
        raw_agreement=(both + neither) / n,
        rate_first=(both + n_first) / n,
        rate_second=(both + n_second) / n,
        rate_both=both / n,
        recall_first=both / (both + n_second) if both + n_second else None,
        recall_second=both / (both + n_first) if both + n_first else None,
        note="Both judges gave every pair the same grade, so kappa is undefined."
        if np.isnan(kappa)
        else None,
    )


def _kappa(counts: np.ndarray) -> np.ndarray:
    """Kappa of counts (both, first only, second only, neither) along the last axis."""
    both, first, second, neither = np.moveaxis(counts.astype(np.float64), -1, 0)
    n = both + first + second + neither
    # Over n squared, so that whole numbers stay exact: agreement by chance and beyond it.
    chance = (both + first) * (both + second) + (neither + second) * (neither + first)
    room = n * n - chance
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa: np.ndarray = np.where(room > 0, (n * (both + neither) - chance) / room, np.nan)
    return kappa


def kappa_interval(
    first: np.ndarray,
    second: np.ndarray,
    *,
    clusters: np.ndarray,
    resamples: int = 5_000,
    level: float = 0.95,
    rng: int = 42,
) -> tuple[float, float] | None:
    """Percentile interval of kappa, resampling clusters (queries) with all their pairs.

    Returns
    -------
    tuple of float, or None
        None where there are fewer than two clusters, or kappa is undefined in a resample.
    """
    names, at = np.unique(clusters, return_inverse=True)
    if len(names) < 2:
        return None
    kind = np.where(first, np.where(second, 0, 1), np.where(second, 2, 3))
    counts = np.zeros((len(names), 4), dtype=np.int64)
    np.add.at(counts, (at, kind), 1)
    generator = np.random.default_rng(rng)
    block = max(1, _DRAWS // len(names))
    found = []
    for start in range(0, resamples, block):
        size = (min(block, resamples - start), len(names))
        found.append(_kappa(counts[generator.integers(0, len(names), size=size)].sum(axis=1)))
    kappas = np.concatenate(found)
    if np.isnan(kappas).any():
        return None
    tail = 50 * (1 - level)
    low, high = np.percentile(kappas, [tail, 100 - tail])
    return float(low), float(high)


def agreements(
    first: pd.Series,
    second: pd.Series,
    *,
    queries: pd.DataFrame,
    top: pd.DataFrame,
    record: DatasetRecord,
    resamples: int = 5_000,
) -> pd.DataFrame:
    """Agreement over all pairs, over each group's queries, and over each retriever's list.

    Parameters
    ----------
    first, second
        As `grades` returns them; pairs that only one of them graded do not count.
    top
        ``retriever``, ``query_id``, ``doc_id``: the lists that were pooled.

    Returns
    -------
    pandas.DataFrame
        ``kind`` (all, group, retriever), ``of``, the fields of `Agreement`, and
        ``kappa_low``, ``kappa_high`` (95%, queries resampled).
    """
    pairs = pd.concat([first.rename("first"), second.rename("second")], axis=1, join="inner")
    pairs = pairs.rename_axis(["query_id", "doc_id"]).reset_index()
    named = queries.set_index("query_id")["group"].fillna(NO_GROUP)
    pairs["group"] = pairs["query_id"].map(named)
    rows = [_row("all", "all pairs", pairs, resamples)]
    found = pairs["group"].dropna().unique().tolist()
    rows += [
        _row("group", group, pairs[pairs["group"] == group], resamples)
        for group in group_order(record, found)
    ]
    for retriever, listed in top.groupby("retriever", sort=False):
        held = pairs.merge(listed[["query_id", "doc_id"]], on=["query_id", "doc_id"])
        rows.append(_row("retriever", str(retriever), held, resamples))
    return pd.DataFrame(rows)


def _row(kind: str, of: str, pairs: pd.DataFrame, resamples: int) -> dict[str, object]:
    first, second = (pairs[name].to_numpy(dtype=bool) for name in ("first", "second"))
    found = agree(first, second)
    interval = None
    if found.kappa is not None:
        clusters = pairs["query_id"].to_numpy(dtype=object)
        interval = kappa_interval(first, second, clusters=clusters, resamples=resamples)
    low, high = interval or (None, None)
    return {"kind": kind, "of": of, **asdict(found), "kappa_low": low, "kappa_high": high}


def same_story(pairs: pd.DataFrame, queries: pd.DataFrame, documents: pd.DataFrame) -> pd.Series:
    """Whether each pair's document tells the story of its query's source document.

    Parameters
    ----------
    pairs : ``query_id``, ``doc_id``

    Returns
    -------
    bool by ``query_id``, ``doc_id``
        False where the source has no story (Tang et al., section 2.2).
    """
    stories = documents.set_index("doc_id")["story_id"].replace("", np.nan)
    first = queries["source_doc_ids"].map(
        lambda ids: ids[0] if isinstance(ids, list | tuple | np.ndarray) and len(ids) else None
    )
    of_query = pd.Series(first.map(stories).to_numpy(), index=pd.Index(queries["query_id"]))
    wanted = pairs["query_id"].map(of_query).to_numpy(dtype=object)
    found = pairs["doc_id"].map(stories).to_numpy(dtype=object)
    same = [
        isinstance(a, str) and isinstance(b, str) and a == b
        for a, b in zip(wanted, found, strict=True)
    ]
    index = pd.MultiIndex.from_frame(pairs[["query_id", "doc_id"]])
    return pd.Series(np.array(same, dtype=bool), index=index)


def reference(
    pairs: pd.DataFrame, queries: pd.DataFrame, documents: pd.DataFrame, qrels: pd.DataFrame
) -> tuple[str, pd.Series] | None:
    """What is known of each pair without a judge: its story, or the dataset's own gold list.

    Returns
    -------
    tuple of str and bool by ``query_id``, ``doc_id``, or None
        What it is called, and whether it holds; None where the dataset has neither.
    """
    if documents["story_id"].replace("", np.nan).notna().any():
        same = same_story(pairs, queries, documents)
        has_source = queries["source_doc_ids"].notna().any()
        if has_source:
            return "same story", same
    gold = qrels[~qrels["judge"].isin(judges(qrels)) & (qrels["grade"] >= 1)]
    if gold.empty:
        return None
    index = pd.MultiIndex.from_frame(pairs[["query_id", "doc_id"]])
    held = pd.MultiIndex.from_frame(gold[["query_id", "doc_id"]])
    return "gold answer", pd.Series(index.isin(held), index=index)


def per_list(
    top: pd.DataFrame, relevant: pd.Series, queries: pd.DataFrame, *, k: int
) -> pd.DataFrame:
    """How many documents of each list are relevant.

    Parameters
    ----------
    top
        ``retriever``, ``query_id``, ``doc_id``: the first `k` of each list.
    relevant
        bool by ``query_id``, ``doc_id``; a pair that is not in it is not relevant.
    queries
        Those whose lists count, by every retriever of `top`; a list without any document
        has 0 relevant ones.

    Returns
    -------
    pandas.DataFrame
        ``n_relevant`` (0 to k), ``n_lists``, ``share`` (of lists with at least one; missing
        for 0).

    References
    ----------
    Tang et al., Fig. 12.
    """
    listed = top[top["query_id"].isin(queries["query_id"])]
    index = pd.MultiIndex.from_frame(listed[["query_id", "doc_id"]])
    held = index.isin(relevant.index[relevant.to_numpy(dtype=bool)])
    counts = pd.Series(held.astype(np.int64)).groupby(
        [listed["retriever"].to_numpy(), listed["query_id"].to_numpy()]
    )
    n_lists = top["retriever"].nunique() * len(queries)
    histogram = np.bincount(counts.sum().to_numpy(), minlength=k + 1)
    histogram[0] = n_lists - histogram[1:].sum()
    some = histogram[1:].sum()
    share = histogram / some if some else np.full(k + 1, np.nan)
    share[0] = np.nan
    return pd.DataFrame({"n_relevant": np.arange(k + 1), "n_lists": histogram, "share": share})


def median_relevant(table: pd.DataFrame) -> float | None:
    """Median number of relevant documents in lists that hold any; None where none does.

    Parameters
    ----------
    table
        As `per_list` makes it.
    """
    some = table[table["n_relevant"] > 0]
    n = np.repeat(some["n_relevant"].to_numpy(), some["n_lists"].to_numpy())
    return float(np.median(n)) if len(n) else None


def coverage(top: pd.DataFrame, qrels: pd.DataFrame, queries: pd.DataFrame) -> pd.DataFrame:
    """Share of each retriever's list that each judge graded (judged@k).

    Parameters
    ----------
    queries
        Those whose lists count.

    Returns
    -------
    pandas.DataFrame
        ``retriever``, ``judge``, ``n``, ``n_judged``, ``share``. What was not graded counts
        as not relevant under a judge's filter.
    """
    listed = top[top["query_id"].isin(queries["query_id"])]
    index = pd.MultiIndex.from_frame(listed[["query_id", "doc_id"]])
    parts = []
    for judge in judges(qrels):
        is_judged = pd.Series(index.isin(grades(qrels, judge).index), index=listed.index)
        by = is_judged.groupby(listed["retriever"], sort=False)
        parts.append(
            pd.DataFrame({"judge": judge, "n": by.size(), "n_judged": by.sum()})
            .rename_axis("retriever")
            .reset_index()
        )
    columns = ["retriever", "judge", "n", "n_judged"]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return table.assign(share=table["n_judged"] / table["n"])[[*columns, "share"]]
