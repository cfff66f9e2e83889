"""The protocol every retriever follows, and the one rule by which documents are ranked.

**The ranking rule.** Scores are rounded to `SCORE_DECIMALS` decimals, documents are
ordered by score, highest first, and equal scores by ``doc_id``, lowest first. A float32
cosine carries about seven digits, and the last of them depends on how a matrix product
was split: without rounding, two copies of one document would trade places from one
machine to the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
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
    "batches_by_tokens",
    "cut_in_words",
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
    query_prefix, document_prefix
        Put before each text.
    query_prompt, document_prompt
        Name of a prompt that the model itself brings; it takes the prefix's place.
    max_tokens
        Tokens read of a text, special ones included; None when nothing is cut.
    attention
        The attention code a checkpoint insists on; empty for the library's choice.
    batch
        Texts that go through the model, or in one request, together.
    chunk
        Texts encoded between two reports of progress; a build that is killed loses no more.
    requires, distributions
        Import names, and names of packages without importable code, that it needs.
    install
        The command that makes it available.
    in_hub
        Whether its weights are fetched from a model hub into the local hub cache.
    key_variable
        Environment variable that holds the key of an endpoint; empty when it takes none.
    parameters, weights_mb
        Size of the model, as text and in megabytes on disk.
    is_offline
        Whether it works without a network once installed.
    is_teaching_example
        Whether it is set up wrongly on purpose, to show what that does.
    cache_name
        Name of its folder of cached vectors; another record may share it.
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
    query_prompt: str = ""
    document_prompt: str = ""
    pooling: str = ""
    max_tokens: int | None = None
    dtype: str = "float32"
    attention: str = ""
    batch: int = 32
    chunk: int = 1_024
    trust_remote_code: bool = False
    distributions: tuple[str, ...] = ()
    in_hub: bool = False
    key_variable: str = ""
    parameters: str = ""
    weights_mb: float | None = None
    is_offline: bool = True
    is_teaching_example: bool = False
    cache_name: str = ""
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
            "prefixes": [
                f"prompt {self.query_prompt}" if self.query_prompt else self.query_prefix,
                f"prompt {self.document_prompt}" if self.document_prompt else self.document_prefix,
            ],
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


def cut_in_words(n_tokens: int, max_tokens: int | None) -> str:
    """How much of a text a model read; empty when it read all of it.

    Examples
    --------
    >>> cut_in_words(1180, 256)
    'cut at 256 of 1,180 tokens'
    >>> cut_in_words(40, 256), cut_in_words(40, None)
    ('', '')
    """
    if max_tokens is None or n_tokens <= max_tokens:
        return ""
    return f"cut at {max_tokens:,} of {n_tokens:,} tokens"


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


def batches_by_tokens(lengths: np.ndarray, *, budget: int) -> Iterator[slice]:
    """Slices of ascending lengths whose tokens, padding included, fit in a budget.

    A text longer than the budget is a batch of its own.

    Examples
    --------
    >>> [lengths[s].tolist() for lengths in [np.array([2, 3, 5, 9])]
    ...  for s in batches_by_tokens(lengths, budget=8)]
    [[2, 3], [5], [9]]
    """
    start = 0
    for end in range(1, len(lengths) + 1):
        if end < len(lengths) and (end + 1 - start) * int(lengths[end]) <= budget:
            continue
        yield slice(start, end)
        start = end


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
    result = np.round(scores, SCORE_DECIMALS)
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
    """Rank one row of rounded scores; only documents scoring above `floor` appear.

    A row of nothing but zeros is a query in which the retriever found nothing to read (no
    known word): no document matched it, and none is returned.
    """
    if not scores.any():
        return Ranking([], np.zeros(0, dtype=np.float32))
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
