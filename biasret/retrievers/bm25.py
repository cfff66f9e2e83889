"""BM25 in the two variants of the paper, tokenised as the paper does."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np
import pandas as pd

from biasret.retrievers.base import (
    Ranking,
    RetrieverRecord,
    checked_documents,
    checked_queries,
    rank_all,
    rounded,
)
from biasret.tokens import tokenise

__all__ = ["BM25", "Lucene", "Okapi"]

K1 = 1.5
B = 0.75
#: Share of the mean idf that words in more than half of the documents get (Okapi).
EPSILON = 0.25


class Scorer(Protocol):
    """Scores every document for the tokens of one query."""

    def scores(self, tokens: Sequence[str]) -> np.ndarray:
        """One score per document, shape (n_documents,); 0 where no token is shared."""


class Lucene:
    """bm25s' defaults: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), float32.

    Parameters
    ----------
    corpus
        Tokens of each document; at least one document has a token.
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        import bm25s

        self._n = len(corpus)
        self._model = bm25s.BM25(method="lucene", k1=K1, b=B)
        self._model.index([list(tokens) for tokens in corpus], show_progress=False)

    def scores(self, tokens: Sequence[str]) -> np.ndarray:
        """One float32 score per document; a token asked twice counts twice."""
        known = [token for token in tokens if token in self._model.vocab_dict]
        if not known:
            return np.zeros(self._n, dtype=np.float32)
        return np.asarray(self._model.get_scores(known))


class Okapi:
    """rank_bm25's ``BM25Okapi`` with its defaults, as sparse arithmetic in float64.

    A word in n of N documents weighs ``ln(N - n + 0.5) - ln(n + 0.5)``; where that is
    negative, it weighs `EPSILON` times the mean of all these values instead, the negative
    ones counted in. The sums run in the same order as in rank_bm25, so that scores are
    equal to the last digit.

    In a corpus of a handful of documents the mean can itself be negative; a shared word
    then lowers the score, and by the rule of `BM25` such a document is no hit.

    Parameters
    ----------
    corpus
        Tokens of each document.

    References
    ----------
    Trotman, Puurula and Burgess (2014), Improvements to BM25 and language models examined.
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        n = len(corpus)
        self._n = n
        lengths = np.array([len(tokens) for tokens in corpus], dtype=np.int64)
        mean_length = int(lengths.sum()) / n
        vocabulary: dict[str, int] = {}
        words: list[int] = []
        rows: list[int] = []
        counts: list[int] = []
        for row, tokens in enumerate(corpus):
            inside: dict[int, int] = {}
            for token in tokens:
                word = vocabulary.setdefault(token, len(vocabulary))
                inside[word] = inside.get(word, 0) + 1
            words.extend(inside)
            counts.extend(inside.values())
            rows.extend([row] * len(inside))
        by_word = np.array(words, dtype=np.int64)
        frequency = np.array(counts, dtype=np.int64)
        at = np.array(rows, dtype=np.int64)
        n_documents = np.bincount(by_word, minlength=len(vocabulary))
        idf = self._idf(n, n_documents.tolist())
        part = frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths[at] / mean_length))
        # One run of postings per word, documents ascending.
        order = np.argsort(by_word, kind="stable")
        self._vocabulary = vocabulary
        self._rows = at[order]
        self._weights = (idf[by_word] * part)[order]
        self._starts = np.concatenate([[0], np.cumsum(n_documents)])

    @staticmethod
    def _idf(n: int, n_documents: list[int]) -> np.ndarray:
        # Words are in order of first appearance, as in rank_bm25: the sum depends on it.
        raw = [math.log(n - found + 0.5) - math.log(found + 0.5) for found in n_documents]
        total = 0.0
        for value in raw:
            total += value
        floor = EPSILON * (total / len(raw))
        return np.array([floor if value < 0 else value for value in raw])

    def scores(self, tokens: Sequence[str]) -> np.ndarray:
        """One float64 score per document; a token asked twice counts twice."""
        words = [self._vocabulary[token] for token in tokens if token in self._vocabulary]
        if not words:
            return np.zeros(self._n)
        runs = [slice(self._starts[word], self._starts[word + 1]) for word in words]
        # bincount adds in the order of its input, token after token, as rank_bm25 does.
        return np.bincount(
            np.concatenate([self._rows[run] for run in runs]),
            weights=np.concatenate([self._weights[run] for run in runs]),
            minlength=self._n,
        )


_VARIANTS: dict[str, Callable[[Sequence[Sequence[str]]], Scorer]] = {
    "lucene": Lucene,
    "okapi": Okapi,
}


class BM25:
    """BM25 with k1 = 1.5 and b = 0.75, in the variant its record names.

    A query none of whose tokens is in the corpus matches nothing, and a document that
    scores 0 or less is not a hit; in the full ranking such documents follow all others.
    """

    def __init__(self, record: RetrieverRecord) -> None:
        self.record = record
        self.doc_ids = np.array([], dtype=object)

    def index(self, documents: pd.DataFrame) -> None:
        """Tokenise and index the documents; shape and errors as in `Retriever`."""
        documents = checked_documents(documents)
        corpus = [tokenise(text) for text in documents["text"]]
        self.doc_ids = documents["doc_id"].to_numpy(dtype=object)
        # A corpus may hold no token at all (emoji, another script): then nothing can match.
        variant = _VARIANTS[dict(self.record.options)["method"]]
        self._scorer = variant(corpus) if any(corpus) else None

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """Rounded scores, shape (n_queries, n_documents); 0 where no token is shared."""
        result = np.zeros((len(queries), len(self.doc_ids)), dtype=np.float64)
        if self._scorer is not None:
            for row, query in enumerate(queries):
                result[row] = self._scorer.scores(tokenise(query))
        return rounded(result)

    def search(
        self,
        queries: Sequence[str],
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        """The best `k` documents that share a token with each query."""
        checked_queries(queries, k=k, exclude=exclude)
        scores = self.scores(queries)
        return [
            rank_all(scores[i], self.doc_ids, k=k, exclude=exclude[i] if exclude else (), floor=0.0)
            for i in range(len(queries))
        ]

    def count_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Number of tokens of each text; BM25 reads them all."""
        return np.array([len(tokenise(text)) for text in texts], dtype=np.int64)
