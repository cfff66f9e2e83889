"""The protocol every retriever follows, and the one rule by which documents are ranked.

**The ranking rule.** Scores are rounded to `SCORE_DECIMALS` decimals, documents are
ordered by score, highest first, and equal scores by ``doc_id``, lowest first. A float32
cosine carries about seven digits, and the last of them depends on how a matrix product
was split: without rounding, two copies of one document would trade places from one
machine to the next.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Protocol

import numpy as np
import pandas as pd

from biasret.errors import InputError, RetrieverError

__all__ = [
    "SCORE_DECIMALS",
    "Availability",
    "Ranking",
    "Retriever",
    "RetrieverRecord",
    "available",
    "order",
    "rank_all",
    "ranks_of",
]

SCORE_DECIMALS = 6


@dataclass(frozen=True)
class RetrieverRecord:
    """What a retriever is and how to get it; pages print these words.

    Attributes
    ----------
    kind
        A key of ``biasret.retrievers.KINDS``.
    checkpoint, revision
        Name and fixed version of the weights; vectors are cached under both.
    dimension
        Length of its vectors; None for a lexical retriever.
    requires
        Import names of the packages it needs.
    install
        The command that makes it available.
    """

    name: str
    label: str
    kind: str
    about: str
    checkpoint: str
    revision: str
    licence: str
    requires: tuple[str, ...]
    install: str
    dimension: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    pooling: str = ""
    max_tokens: int | None = None
    dtype: str = "float32"
    is_offline: bool = True
    options: tuple[tuple[str, str], ...] = field(default=())

    @property
    def is_lexical(self) -> bool:
        """Whether it matches words instead of comparing vectors."""
        return self.dimension is None

    @property
    def fingerprint(self) -> dict[str, object]:
        """All that its scores depend on."""
        return {
            "kind": self.kind,
            "checkpoint": self.checkpoint,
            "revision": self.revision,
            "prefixes": [self.query_prefix, self.document_prefix],
            "pooling": self.pooling,
            "max_tokens": self.max_tokens,
            "dtype": self.dtype,
            "options": [list(option) for option in self.options],
            "decimals": SCORE_DECIMALS,
        }


@dataclass(frozen=True)
class Availability:
    """Whether a retriever can be loaded here, and if not, why and what to do."""

    is_available: bool
    reason: str = ""


def available(record: RetrieverRecord) -> Availability:
    """Whether the packages of a retriever are installed; imports none of them."""
    missing = [name for name in record.requires if find_spec(name) is None]
    if not missing:
        return Availability(True)
    return Availability(
        False, f"{record.label} needs {', '.join(missing)}; install with `{record.install}`."
    )


@dataclass(frozen=True)
class Ranking:
    """One query's documents, best first.

    Attributes
    ----------
    doc_ids : list of str, length m, at most the k asked for
    scores : float32, shape (m,), finite, not increasing
    is_tied_at_cut
        Whether a document left out had the same score as the last one kept, so that
        ``doc_id`` alone decided.
    """

    doc_ids: list[str]
    scores: np.ndarray
    is_tied_at_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """No document matched."""
        return not self.doc_ids


class Retriever(Protocol):
    """Ranks documents for queries. Instances may be shared between threads once indexed."""

    record: RetrieverRecord
    doc_ids: np.ndarray

    def index(self, documents: pd.DataFrame) -> None:
        """Take in the documents: ``doc_id`` and ``text``, ids distinct."""

    def search(
        self,
        queries: Sequence[str],
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        """The best `k` documents of each query, by the ranking rule.

        Parameters
        ----------
        exclude
            For each query, ids of documents to leave out.
        """

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """Rounded float32 scores, shape (n_queries, n_documents), in order of `doc_ids`."""

    def count_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text as the retriever reads it, before any cut; int64."""


def checked_documents(documents: pd.DataFrame) -> pd.DataFrame:
    """Documents in order of doc_id, or a sentence why they cannot be indexed."""
    if documents.empty:
        raise InputError("There are no documents to index; a corpus needs at least one.")
    blank = documents["text"].str.strip() == ""
    if blank.all():
        raise InputError(f"All {len(documents)} documents are blank; a corpus needs some text.")
    if documents["doc_id"].duplicated().any():
        first = documents.loc[documents["doc_id"].duplicated(), "doc_id"].iloc[0]
        raise InputError(f"The document id {first!r} occurs more than once; ids must be distinct.")
    return documents.sort_values("doc_id", kind="stable", ignore_index=True)


def checked_queries(
    queries: Sequence[str], *, k: int, exclude: Sequence[Collection[str]] | None
) -> None:
    """Say what is wrong with the arguments of a search."""
    if k < 1:
        raise InputError(f"k must be at least 1; found {k}.")
    if exclude is not None and len(exclude) != len(queries):
        raise InputError(
            f"{len(queries)} queries came with {len(exclude)} lists of documents to exclude."
        )


def rounded(scores: np.ndarray) -> np.ndarray:
    """Scores under the ranking rule; a score that is not finite is our own failure."""
    if not np.isfinite(scores).all():
        raise RetrieverError(
            f"{int((~np.isfinite(scores)).sum())} scores are not finite; the model's vectors are "
            "damaged, so nothing was ranked."
        )
    result = np.round(scores.astype(np.float32, copy=False), SCORE_DECIMALS)
    return np.asarray(result + 0.0, dtype=np.float32)  # -0.0 and 0.0 are one score


def order(scores: np.ndarray, *, k: int) -> np.ndarray:
    """Positions of the best `k` of one row of rounded scores, by the ranking rule.

    `scores` are in order of doc_id, so that a position stands for its id; -inf marks a
    document that may not appear.
    """
    n = min(k, len(scores))
    if n < len(scores):
        # The n-th best score; everything above it is in, ties with it fill up by position.
        cut = np.partition(scores, len(scores) - n)[len(scores) - n]
        candidates = np.flatnonzero(scores >= cut)
    else:
        candidates = np.arange(len(scores))
    best = candidates[np.argsort(-scores[candidates], kind="stable")][:n]
    return best[scores[best] > -np.inf]


def rank_all(
    scores: np.ndarray,
    doc_ids: np.ndarray,
    *,
    k: int,
    exclude: Collection[str] = (),
    floor: float = -np.inf,
) -> Ranking:
    """Rank one row of rounded scores; only documents scoring above `floor` appear."""
    masked = mask(scores, doc_ids, exclude)
    best = order(masked, k=k)
    best = best[masked[best] > floor]
    is_tied = False
    if len(best) == k:
        is_tied = int((masked == masked[best[-1]]).sum()) > int(
            (masked[best] == masked[best[-1]]).sum()
        )
    return Ranking(doc_ids[best].tolist(), masked[best], is_tied)


def mask(scores: np.ndarray, doc_ids: np.ndarray, exclude: Collection[str]) -> np.ndarray:
    """A copy of one row of scores in which excluded documents stand at -inf."""
    if not exclude:
        return scores
    masked = scores.copy()
    masked[positions(doc_ids, exclude)] = -np.inf
    return masked


def positions(doc_ids: np.ndarray, wanted: Collection[str]) -> np.ndarray:
    """Where the ids stand in the sorted `doc_ids`; ids that are not there are passed over."""
    asked = np.array(sorted(wanted), dtype=object)
    at = np.searchsorted(doc_ids, asked)
    inside = at < len(doc_ids)
    at, asked = at[inside], asked[inside]
    return at[doc_ids[at] == asked] if len(at) else at


def ranks_of(scores: np.ndarray, gold: np.ndarray) -> int | None:
    """Rank, from 1, of the best of the positions `gold` in the full ranking of one row.

    The rank counts every document that stands before it: higher scores, and equal scores
    at a lower position. None when every gold document is masked or there is none.
    """
    gold = gold[scores[gold] > -np.inf]
    if len(gold) == 0:
        return None
    best = gold[np.lexsort((gold, -scores[gold]))[0]]
    return int((scores > scores[best]).sum() + (scores[:best] == scores[best]).sum()) + 1
