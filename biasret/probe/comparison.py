"""Two wordings of a query -> what one retriever returns for each, and how far it moved.

A difference is always B minus A, and says so in words. On pages and on the command line A is
the left wording or WME, and B the right wording or AAL.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np
import pandas as pd

from biasret.probe.overlap import movement, rank_biased_overlap
from biasret.retrievers import Retriever
from biasret.retrievers.base import Ranking, mask, positions, ranks_of
from biasret.retrievers.dense import Dense
from biasret.tables import LEAN_CODES

__all__ = ["Comparison", "Side", "compare", "compare_all", "compared", "lean_of"]


@dataclass(frozen=True)
class Side:
    """One wording and what came back for it.

    Attributes
    ----------
    lean : mean stance code of the documents shown; None without stances or documents
    gold_rank : rank of the best gold document in the full ranking; None without gold
    n_tokens, max_tokens : length of the text, and the most that the model reads
    """

    text: str
    ranking: Ranking
    lean: float | None
    gold_rank: int | None
    n_tokens: int
    max_tokens: int | None

    @property
    def is_truncated(self) -> bool:
        """Whether the model read only the beginning of the text."""
        return self.max_tokens is not None and self.n_tokens > self.max_tokens


@dataclass(frozen=True)
class Comparison:
    """Both sides of one retriever.

    Attributes
    ----------
    n_shared, n_lost, n_new
        Documents on both sides, on A alone, on B alone.
    overlap
        Shared documents as a share of the longer list; None when both are empty.
    rbo
        Rank-biased overlap, p = 0.9, extrapolated; None when a list is empty.
    milliseconds
        For both sides together, encoding included.
    """

    retriever: str
    k: int
    a: Side
    b: Side
    n_shared: int
    n_lost: int
    n_new: int
    overlap: float | None
    rbo: float | None
    milliseconds: float

    @cached_property
    def documents(self) -> pd.DataFrame:
        """Every document on either side, in order of its better rank.

        Returns
        -------
        pandas.DataFrame
            ``doc_id``, ``rank_a``, ``rank_b`` (missing: not among the first k), ``movement``
            in words. Made when it is first asked for: a frame takes longer than a search.
        """
        return _documents(self.a.ranking.doc_ids, self.b.ranking.doc_ids)

    @property
    def lean_difference(self) -> float | None:
        """lean@k of B minus that of A."""
        if self.a.lean is None or self.b.lean is None:
            return None
        return self.b.lean - self.a.lean

    @property
    def rr_difference(self) -> float | None:
        """Reciprocal rank of the best gold document for B minus that for A; None without gold."""
        if self.a.gold_rank is None or self.b.gold_rank is None:
            return None
        return 1 / self.b.gold_rank - 1 / self.a.gold_rank

    @property
    def survival(self) -> float | None:
        """Share of A's documents that B returns too; None where A is empty."""
        n = len(self.a.ranking.doc_ids)
        return self.n_shared / n if n else None

    @property
    def state(self) -> str:
        """``empty``, ``one empty``, ``identical``, ``reordered`` or ``changed``."""
        if self.a.ranking.is_empty and self.b.ranking.is_empty:
            return "empty"
        if self.a.ranking.is_empty or self.b.ranking.is_empty:
            return "one empty"
        if self.a.ranking.doc_ids == self.b.ranking.doc_ids:
            return "identical"
        if self.n_lost == 0 and self.n_new == 0:
            return "reordered"
        return "changed"


def compare(
    retriever: Retriever,
    text_a: str,
    text_b: str,
    *,
    k: int,
    stances: pd.Series | None = None,
    exclude: Collection[str] = (),
    gold: Collection[str] = (),
) -> Comparison:
    """What a retriever returns for two wordings, side by side; see `compare_all`."""
    pairs = [(text_a, text_b)]
    return compare_all(retriever, pairs, k=k, stances=stances, exclude=exclude, gold=gold)[0]


def compare_all(
    retriever: Retriever,
    pairs: Sequence[tuple[str, str]],
    *,
    k: int,
    stances: pd.Series | None = None,
    exclude: Collection[str] = (),
    gold: Collection[str] = (),
) -> list[Comparison]:
    """What a retriever returns for pairs of wordings, all of them encoded in one batch.

    Parameters
    ----------
    retriever
        Indexed.
    pairs
        Wordings A and B.
    stances : str by ``doc_id``, optional
        With it, lean@k of each side is given.
    exclude
        Documents left out on both sides.
    gold
        Documents that answer the query; their best rank is given.

    Returns
    -------
    list of Comparison
        One for each pair; the milliseconds of each are those of the whole batch. A blank
        wording asks nothing: its side is empty, also where a model would give the empty text
        a vector.
    """
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    started = perf_counter()
    left_out = [exclude] * len(texts)
    if isinstance(retriever, Dense):
        vectors = retriever.encode_queries(texts)
        rankings = retriever.search_vectors(vectors, k=k, exclude=left_out)
        scores = retriever.scores_of(vectors) if gold else None
    else:
        rankings = retriever.search(texts, k=k, exclude=left_out)
        scores = retriever.scores(texts) if gold else None
    milliseconds = (perf_counter() - started) * 1000
    tokens = retriever.count_tokens(texts)
    sides = {}
    for i, text in enumerate(texts):
        is_blank = not text.strip()
        ranking = Ranking([], np.zeros(0, dtype=np.float32)) if is_blank else rankings[i]
        sides[text] = Side(
            text=text,
            ranking=ranking,
            lean=lean_of(ranking, stances),
            gold_rank=None if is_blank else _gold_rank(retriever, scores, i, exclude, gold),
            n_tokens=int(tokens[i]),
            max_tokens=retriever.record.max_tokens,
        )
    name = retriever.record.name
    return [compared(name, k, sides[a], sides[b], milliseconds=milliseconds) for a, b in pairs]


def compared(retriever: str, k: int, a: Side, b: Side, *, milliseconds: float) -> Comparison:
    """Two sides set beside each other."""
    first, second = a.ranking.doc_ids, b.ranking.doc_ids
    shared = len(set(first) & set(second))
    longest = max(len(first), len(second))
    return Comparison(
        retriever=retriever,
        k=k,
        a=a,
        b=b,
        n_shared=shared,
        n_lost=len(first) - shared,
        n_new=len(second) - shared,
        overlap=shared / longest if longest else None,
        rbo=rank_biased_overlap(first, second) if first and second else None,
        milliseconds=milliseconds,
    )


def lean_of(ranking: Ranking, stances: pd.Series | None) -> float | None:
    """Mean stance code of the documents of a ranking; None without stances or documents."""
    if stances is None or ranking.is_empty:
        return None
    codes = [LEAN_CODES.get(stances.get(doc_id), 0.0) for doc_id in ranking.doc_ids]
    return float(np.mean(codes))


def _gold_rank(
    retriever: Retriever,
    scores: np.ndarray | None,
    row: int,
    exclude: Collection[str],
    gold: Collection[str],
) -> int | None:
    if scores is None:
        return None
    masked = mask(scores[row], retriever.doc_ids, exclude)
    return ranks_of(masked, positions(retriever.doc_ids, gold))


def _documents(first: Sequence[str], second: Sequence[str]) -> pd.DataFrame:
    rank_a = {doc_id: rank for rank, doc_id in enumerate(first, start=1)}
    rank_b = {doc_id: rank for rank, doc_id in enumerate(second, start=1)}
    rows = [
        {
            "doc_id": doc_id,
            "rank_a": rank_a.get(doc_id),
            "rank_b": rank_b.get(doc_id),
            "movement": movement(rank_a.get(doc_id), rank_b.get(doc_id)),
        }
        for doc_id in dict.fromkeys([*first, *second])
    ]
    table = pd.DataFrame(rows, columns=["doc_id", "rank_a", "rank_b", "movement"])
    for column in ("rank_a", "rank_b"):
        table[column] = pd.array(table[column].tolist(), dtype="Int64")
    best = table[["rank_a", "rank_b"]].min(axis=1)
    return table.assign(_best=best).sort_values("_best", kind="stable", ignore_index=True)[
        ["doc_id", "rank_a", "rank_b", "movement"]
    ]
