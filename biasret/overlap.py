"""Runs of several retrievers -> how alike they rank, for each pair of retrievers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from biasret.audit import PAPER, Settings
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder
from biasret.probe.overlap import RBO_P
from biasret.progress import Progress, silent
from biasret.runs import DEPTH
from biasret.statistics import cluster_bootstrap_mean
from biasret.tables import check, empty

__all__ = ["KS", "build_overlaps", "per_query", "retriever_overlaps"]

#: Raised when the same inputs would give other numbers.
STEP = 2


#: Depths at which rankings are compared.
KS = (5, 10, 20, 50, 100)


def retriever_overlaps(
    runs: Mapping[str, pd.DataFrame],
    queries: pd.DataFrame,
    *,
    depths: Mapping[str, int] | None = None,
    settings: Settings = PAPER,
) -> pd.DataFrame:
    """Mean overlap@k and rank-biased overlap of every pair of retrievers.

    Parameters
    ----------
    runs
        ``query_id``, ``rank``, ``doc_id`` of each retriever on one dataset.
    queries
        The dataset's ``queries``, for its name and the clusters.
    depths
        How deep a run reaches that was cut before `DEPTH`; a shorter list in a run that was
        not cut holds all that matched.

    Returns
    -------
    pandas.DataFrame
        A ``retriever_overlaps`` table: overlap@k is the share of the longer of the two lists
        of up to k documents that both hold, in [0, 1], with a cluster bootstrap interval;
        ``rbo`` the mean rank-biased overlap. Over the ``n`` queries for which both retrievers
        found something, at the depths that both runs reach.
    """
    cluster_of = queries.set_index("query_id")["cluster_id"]
    rows = []
    reach = {name: (depths or {}).get(name, DEPTH) for name in runs}
    for first, second in combinations(runs, 2):
        for k in (k for k in KS if k <= min(reach[first], reach[second])):
            found = per_query(runs[first], runs[second], k=k)
            clusters = cluster_of.loc[found["query_id"]].to_numpy(dtype=object)
            mean = cluster_bootstrap_mean(
                found["overlap"],
                clusters=clusters,
                resamples=settings.resamples,
                rng=settings.seed,
                level=settings.level,
                stream="counts",
            )
            rows.append(
                {
                    "dataset": queries["dataset"].iloc[0],
                    "retriever": first,
                    "other": second,
                    "k": k,
                    "n": mean.n,
                    "n_clusters": mean.n_clusters,
                    "overlap": mean.estimate,
                    "ci_low": mean.low,
                    "ci_high": mean.high,
                    "rbo": found["rbo"].mean(),
                    "note": mean.note,
                }
            )
    return check(pd.DataFrame(rows), "retriever_overlaps") if rows else empty("retriever_overlaps")


def per_query(first: pd.DataFrame, second: pd.DataFrame, *, k: int) -> pd.DataFrame:
    """overlap@k and rank-biased overlap of two runs, query by query.

    Parameters
    ----------
    first, second : ``query_id``, ``rank``, ``doc_id``

    Returns
    -------
    pandas.DataFrame
        ``query_id``, ``overlap``, ``rbo``, both in [0, 1], in order of query_id, for queries
        of which both runs list something.

    Notes
    -----
    In rank-biased overlap a document that both lists hold, at the lower of its ranks m,
    counts in the agreement of every depth from m on. So the measure is a sum over shared
    documents of a weight that depends on m and the two lengths alone
    (`biasret.probe.overlap.rank_biased_overlap` gives the same, list by list).
    """
    columns = ["query_id", "rank", "doc_id"]
    one, other = (run.loc[run["rank"] <= k, columns] for run in (first, second))
    lengths = pd.concat(
        [run.groupby("query_id")["rank"].max().rename(i) for i, run in enumerate((one, other))],
        axis=1,
        join="inner",
    ).sort_index()
    short, long = (lengths.agg(how, axis=1).to_numpy(dtype=np.int64) for how in ("min", "max"))
    shared = one.merge(other, on=["query_id", "doc_id"], suffixes=("", "_other"))
    at = lengths.index.get_indexer(shared["query_id"])
    rank = shared[["rank", "rank_other"]].max(axis=1).to_numpy(dtype=np.int64)
    n_shared = np.bincount(at, minlength=len(lengths))
    weight = _weight(rank, short[at], long[at])
    rbo = np.bincount(at, weights=weight, minlength=len(lengths))
    return pd.DataFrame(
        {
            "query_id": lengths.index.to_numpy(dtype=object),
            "overlap": n_shared / np.maximum(long, 1),
            # Rounding: identical lists shall be exactly 1.
            "rbo": np.minimum(1.0, np.round(rbo, 12)),
        }
    )


def _weight(rank: np.ndarray, short: np.ndarray, long: np.ndarray) -> np.ndarray:
    """What a document shared at the lower rank `rank` adds to rank-biased overlap.

    Webber, Moffat and Zobel (2010), eq. 32, with the sums over depths exchanged for sums over
    documents.
    """
    p, deepest = RBO_P, int(long.max(initial=0))
    depth = np.arange(1, deepest + 1)
    # sums[d]: p**d / d over the depths up to d; powers[d]: p**d over them.
    sums = np.concatenate([[0.0], np.cumsum(p**depth / depth)])
    powers = np.concatenate([[0.0], np.cumsum(p**depth)])
    scale = (1 - p) / p
    weight = scale * (sums[long] - sums[rank - 1]) + p**long / long
    # Between the ends of the two lists the shorter is taken to go on agreeing as it did:
    # the sum of (d - short) / (d short) p**d.
    beyond = (powers[long] - powers[short]) / short - (sums[long] - sums[short])
    tail = p**long * (1 / short - 1 / long)
    return np.asarray(weight + np.where(rank <= short, scale * beyond + tail, 0.0))


def build_overlaps(
    folder: Folder,
    dataset: Dataset,
    retrievers: Sequence[str],
    *,
    force: bool = False,
    progress: Progress = silent,
) -> bool:
    """Overlaps of the retrievers named, as far as their rankings are stored.

    Returns
    -------
    bool
        Whether anything was made.
    """
    name = dataset.record.name
    stored = set(folder.retrievers("runs", name))
    ranked = [retriever for retriever in retrievers if retriever in stored]
    inputs: dict[str, Any] = {
        "step": STEP,
        "settings": PAPER.as_dict(),
        "queries": folder.content("queries", name),
        "runs": {retriever: folder.content("runs", name, retriever) for retriever in ranked},
    }
    is_current = folder.is_current("retriever_overlaps", name, inputs=inputs)
    if len(ranked) < 2:
        folder.file("retriever_overlaps", name).unlink(missing_ok=True)
    if len(ranked) < 2 or (is_current and not force):
        return False
    with progress(f"{name}: overlap of retrievers", 1) as advance:
        runs = {retriever: folder.read("runs", name, retriever) for retriever in ranked}
        imported = set(folder.given(name)) & {r for r in ranked if len(runs[r])}
        depths = {retriever: int(runs[retriever]["rank"].max()) for retriever in imported}
        found = retriever_overlaps(runs, dataset.queries, depths=depths)
        folder.write("retriever_overlaps", found, dataset=name, inputs=inputs)
        advance(1)
    return True
