"""BM25 through bm25s, tokenised as the paper does."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

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

__all__ = ["BM25", "tokenise"]

# Tang et al., section 2: lower case, no stop words, no stemming.
_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def tokenise(text: str) -> list[str]:
    """The paper's tokens of a text, in order.

    Examples
    --------
    >>> tokenise("Don't tax the 1% (again)!")
    ["don't", 'tax', 'the', '1', 'again']
    """
    return _TOKEN.findall(text.lower())


class BM25:
    """Okapi BM25 in bm25s' Lucene variant (k1 = 1.5, b = 0.75), scores in float32.

    A query none of whose tokens is in the corpus matches nothing, and a document that
    shares no token with the query is not a hit; in the full ranking such documents follow
    all others.
    """

    def __init__(self, record: RetrieverRecord) -> None:
        self.record = record
        self.doc_ids = np.array([], dtype=object)

    def index(self, documents: pd.DataFrame) -> None:
        """Tokenise and index the documents; shape and errors as in `Retriever`."""
        import bm25s

        documents = checked_documents(documents)
        self.doc_ids = documents["doc_id"].to_numpy(dtype=object)
        options = dict(self.record.options)
        self._model = bm25s.BM25(method=options["method"], k1=1.5, b=0.75)
        self._model.index([tokenise(text) for text in documents["text"]], show_progress=False)

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """Rounded scores, shape (n_queries, n_documents); 0 where no token is shared."""
        result = np.zeros((len(queries), len(self.doc_ids)), dtype=np.float32)
        for row, query in enumerate(queries):
            known = [t for t in tokenise(query) if t in self._model.vocab_dict]
            if known:
                result[row] = self._model.get_scores(known)
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
