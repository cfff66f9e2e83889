"""Retriever, documents and queries -> a run, and the rank of the gold in the full ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.retrievers.base import (
    Ranking,
    Retriever,
    mask,
    positions,
    rank_all,
    ranks_of,
)
from biasret.tables import check

__all__ = ["DEPTH", "Retrieved", "excluded", "gold_documents", "retrieve"]

#: Documents kept of each ranking.
DEPTH = 100

#: Scores held in memory at a time: 2**24 float32 are 64 MiB.
_SCORES = 1 << 24


@dataclass(frozen=True)
class Retrieved:
    """A ``runs`` and a ``gold_ranks`` table.

    `n_unmatched` counts queries for which nothing matched; they have no row in `runs`, and
    no rank in `gold_ranks`.
    """

    runs: pd.DataFrame
    gold_ranks: pd.DataFrame
    n_unmatched: int


def excluded(queries: pd.DataFrame) -> list[tuple[str, ...]]:
    """For each query, the source documents that retrieval masks (Tang et al., section 2)."""
    return [tuple(ids) if _is_list(ids) else () for ids in queries["source_doc_ids"].tolist()]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def gold_documents(qrels: pd.DataFrame) -> dict[str, list[str]]:
    """For each query judged, the documents with grade 1 or more by any judge."""
    relevant = qrels.loc[qrels["grade"] >= 1, ["query_id", "doc_id"]].drop_duplicates()
    return relevant.groupby("query_id", sort=False)["doc_id"].agg(list).to_dict()


def _twins(texts_of: pd.Series | None, gold: dict[str, list[str]]) -> dict[str, list[str]]:
    """For each query some gold document of which has a twin, all documents with its texts."""
    if texts_of is None:
        return {}
    repeated = texts_of[texts_of.duplicated(keep=False)]
    same = repeated.groupby(repeated).groups
    return {
        query_id: sorted({twin for doc in ids for twin in same.get(texts_of.get(doc), [doc])})
        for query_id, ids in gold.items()
        if any(doc in repeated.index for doc in ids)
    }


def retrieve(
    retriever: Retriever,
    queries: pd.DataFrame,
    qrels: pd.DataFrame,
    *,
    dataset: str,
    depth: int = DEPTH,
    texts_of: pd.Series | None = None,
    scores: Callable[[Sequence[str]], np.ndarray] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Retrieved:
    """Rank the indexed documents for every query.

    The run and the gold ranks come from one score matrix, so they cannot disagree.

    Parameters
    ----------
    retriever
        Indexed.
    queries
        ``query_id``, ``text``, ``source_doc_ids``; source documents are masked.
    qrels
        ``query_id``, ``doc_id``, ``grade``; grade 1 or more is gold.
    texts_of : str by ``doc_id``, optional
        With it, documents whose text equals a gold document's are credited in
        ``class_rank``.
    scores
        Scores by query_id instead of by text, for queries whose vectors are known.
    progress
        Called with the number of queries just ranked.

    Returns
    -------
    Retrieved
        A gold rank is missing where a query has no gold document that may appear
        (``n_gold`` is 0), and where nothing at all matched: all scores are 0 then, and ranks
        would only repeat the order of the ids.
    """
    gold = gold_documents(qrels)
    masked = excluded(queries)
    ids = queries["query_id"].tolist()
    texts = queries["text"].tolist()
    doc_ids = retriever.doc_ids
    floor = 0.0 if retriever.record.is_lexical else -np.inf
    block = max(1, _SCORES // max(1, len(doc_ids)))
    twins = _twins(texts_of, gold)
    rankings: list[Ranking] = []
    ranks: list[int | None] = []
    class_ranks: list[int | None] = []
    n_gold: list[int] = []
    for start in range(0, len(ids), block):
        part = slice(start, start + block)
        matrix = scores(ids[part]) if scores else retriever.scores(texts[part])
        for row, query_id, out in zip(matrix, ids[part], masked[part], strict=True):
            ranking = rank_all(row, doc_ids, k=depth, exclude=out, floor=floor)
            rankings.append(ranking)
            wanted = positions(doc_ids, gold.get(query_id, ()))
            seen = mask(row, doc_ids, out)
            n_gold.append(int((seen[wanted] > -np.inf).sum()))
            also = twins.get(query_id)
            if ranking.is_empty:
                wanted, also = wanted[:0], None
            ranks.append(ranks_of(seen, wanted))
            class_ranks.append(ranks_of(seen, positions(doc_ids, also)) if also else ranks[-1])
        if progress:
            progress(len(matrix))
    lengths = [len(ranking.doc_ids) for ranking in rankings]
    name = retriever.record.name
    runs = pd.DataFrame(
        {
            "dataset": dataset,
            "retriever": name,
            "query_id": np.repeat(np.array(ids, dtype=object), lengths),
            "rank": np.concatenate([np.arange(1, n + 1) for n in lengths] or [np.array([])]),
            "doc_id": [doc_id for ranking in rankings for doc_id in ranking.doc_ids],
            "score": np.concatenate([r.scores for r in rankings] or [np.array([])]),
        }
    )
    gold_ranks = pd.DataFrame(
        {
            "dataset": dataset,
            "retriever": name,
            "query_id": ids,
            "rank": pd.array(ranks, dtype="Int64"),
            "class_rank": pd.array(class_ranks, dtype="Int64"),
            "n_gold": n_gold,
        }
    )
    return Retrieved(
        runs=check(runs, "runs"),
        gold_ranks=check(gold_ranks, "gold_ranks"),
        n_unmatched=sum(n == 0 for n in lengths),
    )
