"""Dense retrieval: an encoder, its vectors, and an inner-product index.

Scores are inner products summed in float64 and then rounded by the ranking rule. A float32
product differs in its last digit with the shape of the matrices it was part of, which
would let one query be ranked differently alone and among others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biasret.errors import InputError, RetrieverError, StoreError
from biasret.retrievers.base import (
    Ranking,
    RetrieverRecord,
    checked_documents,
    checked_queries,
    cut_in_words,
    positions,
    rounded,
)
from biasret.retrievers.embedding import Encoder, Layered, readable, unit
from biasret.retrievers.index import Index, make_index, open_index, save_index

__all__ = ["Dense"]

#: Documents scored in float64 at a time: the block stays in the processor's cache, and for a
#: few queries the product stays too small to be split between threads, which on a busy
#: machine takes ten times as long as one thread alone.
_BLOCK = 512

#: Texts whose tokens are counted at a time.
_COUNTED = 1_024

#: More than FAISS's float32 inner products of unit vectors differ from float64 ones.
_FLOAT32_ERROR = 1e-5


class Dense:
    """Exact inner-product search over L2-normalised vectors.

    Parameters
    ----------
    record
        Names prefixes, dimension and the longest text read.
    make_encoder
        Called once, when the first text must be encoded: searching stored vectors with
        stored queries loads no model.
    """

    def __init__(self, record: RetrieverRecord, make_encoder: Callable[[], Encoder]) -> None:
        self.record = record
        self.doc_ids = np.array([], dtype=object)
        self._make_encoder = make_encoder
        self._encoder: Encoder | None = None
        # Fast tokenizers are not safe to share: two threads at once raise "already borrowed".
        self._lock = threading.Lock()

    # -- encoding ------------------------------------------------------------------------

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = self._make_encoder()
        return self._encoder

    def load(self) -> None:
        """Load the model now instead of at the first text."""
        with self._lock:
            self._loaded()

    def sibling(self) -> Dense:
        """Another retriever, not yet indexed, that shares this one's model and its lock."""
        other = Dense(self.record, self._loaded)
        other._lock = self._lock
        return other

    def encode(self, texts: Sequence[str], *, prefix: str) -> np.ndarray:
        """Unit vectors of texts, float32, shape (n, dimension).

        Equal texts are encoded once, and texts of like length together, so that little of
        a batch is padding.
        """
        if not len(texts):
            return np.zeros((0, self.record.dimension or 0), dtype=np.float32)
        distinct = sorted(set(texts), key=lambda text: (len(text), text))
        with self._lock:
            matrix = self._loaded().encode([readable(text) for text in distinct], prefix=prefix)
        at = {text: i for i, text in enumerate(distinct)}
        return unit(matrix, self.record)[[at[text] for text in texts]]

    def layers(self, texts: Sequence[str], *, prefix: str) -> np.ndarray:
        """Mean of the hidden states of each text's tokens at every layer.

        Returns
        -------
        float32, shape (n_layers + 1, n, width)
            First the input embeddings, last what the model's own pooling reads.

        Raises
        ------
        InputError
            The engine that runs this model shows no hidden states.
        """
        with self._lock:
            encoder = self._loaded()
            if not isinstance(encoder, Layered):
                raise InputError(
                    f"{self.record.label} shows no hidden states: its engine gives out finished "
                    "vectors alone. Choose minilm-l6, or st:PATH for a transformer of your own."
                )
            return encoder.layers([readable(text) for text in texts], prefix=prefix)

    def query_prefix(self) -> str:
        """What is put before a query; loads the model when its own prompt is wanted."""
        prefix = self._prefix(self.record.query_prefix, self.record.query_prompt)
        if self.record.query_prompt and not prefix:
            # The library makes up an empty prompt where a model brings none.
            raise RetrieverError(
                f"{self.record.label} should bring a prompt {self.record.query_prompt!r} for "
                "queries, and it is empty or missing; is this the right checkpoint?"
            )
        return prefix

    def document_prefix(self) -> str:
        """What is put before a document; loads the model when its own prompt is wanted."""
        return self._prefix(self.record.document_prefix, self.record.document_prompt)

    def _prefix(self, literal: str, prompt: str) -> str:
        if not prompt:
            return literal
        with self._lock:
            prompts = self._loaded().prompts()
        if prompt not in prompts:
            raise RetrieverError(
                f"{self.record.label} has no prompt {prompt!r}; its prompts are: "
                f"{', '.join(prompts) or 'none'}."
            )
        return prompts[prompt]

    def encode_queries(self, queries: Sequence[str]) -> np.ndarray:
        """Unit vectors of queries, with the query prefix."""
        return self.encode(queries, prefix=self.query_prefix())

    def encode_documents(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors of documents, with the document prefix."""
        return self.encode(texts, prefix=self.document_prefix())

    def count_tokens(self, texts: Sequence[str], *, prefix: str | None = None) -> np.ndarray:
        """Tokens of each text with special ones and prefix, before any cut.

        Parameters
        ----------
        prefix
            By default that of a query.
        """
        if not len(texts):
            return np.zeros(0, dtype=np.int64)
        before = self.query_prefix() if prefix is None else prefix
        counts = []
        # A tokenizer keeps pieces and places of all its tokens until it is done: 37,463 articles
        # at once would take a gigabyte.
        for start in range(0, len(texts), _COUNTED):
            part = [readable(text) for text in texts[start : start + _COUNTED]]
            with self._lock:
                counts.append(self._loaded().count_tokens(part, prefix=before))
        return np.concatenate(counts)

    def truncated(self, texts: Sequence[str], *, prefix: str | None = None) -> np.ndarray:
        """Whether each text is longer than the model reads; bool, shape (n,)."""
        limit = self.record.max_tokens
        if limit is None or not len(texts):
            return np.zeros(len(texts), dtype=bool)
        return self.count_tokens(texts, prefix=prefix) > limit

    def cuts(self, texts: Sequence[str], *, prefix: str | None = None) -> list[str]:
        """For each text "cut at 256 of 1,180 tokens", or nothing when all of it is read."""
        limit = self.record.max_tokens
        if limit is None:
            return [""] * len(texts)
        return [cut_in_words(int(n), limit) for n in self.count_tokens(texts, prefix=prefix)]

    # -- index and search ----------------------------------------------------------------

    def index(
        self,
        documents: pd.DataFrame,
        *,
        vectors: np.ndarray | None = None,
        kind: str = "flat",
    ) -> None:
        """Index the documents, encoding them unless their vectors are given.

        Parameters
        ----------
        vectors : float32, shape (n_documents, dimension), optional
            Unit vectors, row for row of `documents`.
        kind
            ``"flat"`` is exact; ``"hnsw"`` and ``"ivfpq"`` may miss a document, see
            `biasret.retrievers.index.recall`.
        """
        rows = documents.assign(_row=np.arange(len(documents)))
        ordered = checked_documents(rows)
        if vectors is None:
            vectors = self.encode_documents(ordered["text"].tolist())
        elif len(vectors) != len(documents):
            raise InputError(
                f"{len(documents):,} documents came with {len(vectors):,} vectors; there must be "
                "one for each."
            )
        else:
            order = ordered["_row"].to_numpy()
            is_sorted = bool((order == np.arange(len(order))).all())
            vectors = unit(vectors if is_sorted else vectors[order], self.record)
        self.doc_ids = ordered["doc_id"].to_numpy(dtype=object)
        self._index = make_index(vectors, kind=kind)

    def index_kept(
        self, documents: pd.DataFrame, *, vectors: np.ndarray, kind: str, folder: Path
    ) -> None:
        """Index the documents, with the index kept in a folder where it is still theirs.

        An index that is missing, damaged, or of another checkpoint, other documents or other
        vectors is made and kept there. The flat kind has nothing to keep.

        Parameters
        ----------
        vectors, kind
            As in `index`.
        """
        self.index(documents, vectors=vectors)
        if kind == self._index.kind:
            return
        exact = self._index.matrix
        try:
            self.open_index(folder, doc_ids=self.doc_ids.tolist())
        except StoreError:
            is_theirs = False  # it is made from the vectors, so that making it again loses nothing
        else:
            is_theirs = self._index.kind == kind and np.array_equal(self._index.matrix, exact)
        if not is_theirs:
            self._index = make_index(exact, kind=kind)
            self.save_index(folder)

    def save_index(self, folder: Path) -> None:
        """Keep the index in a folder, from which `open_index` maps it into memory."""
        save_index(folder, self._index, record=self.record, doc_ids=self.doc_ids.tolist())

    def open_index(self, folder: Path, *, doc_ids: Sequence[str] | None = None) -> None:
        """Use a kept index; with `doc_ids` given, only if it holds exactly these documents."""
        expected = None if doc_ids is None else sorted(doc_ids)
        stored = open_index(folder, record=self.record, doc_ids=expected)
        self._index, self.doc_ids = stored.index, stored.doc_ids

    @property
    def vector_index(self) -> Index:
        """The index itself."""
        return self._index

    @property
    def matrix(self) -> np.ndarray:
        """The indexed vectors, float32, shape (n_documents, dimension), in order of `doc_ids`."""
        return self._index.matrix

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """Rounded cosines, shape (n_queries, n_documents)."""
        return self.scores_of(self.encode_queries(queries))

    def scores_of(self, vectors: np.ndarray) -> np.ndarray:
        """Rounded cosines of unit query vectors, shape (n_queries, n_documents)."""
        matrix = self.matrix
        wide = np.asarray(vectors, dtype=np.float64)
        result = np.empty((len(wide), len(matrix)), dtype=np.float32)
        for start in range(0, len(matrix), _BLOCK):
            part = slice(start, start + _BLOCK)
            result[:, part] = rounded(wide @ matrix[part].astype(np.float64).T)
        return result

    def search(
        self,
        queries: Sequence[str],
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        """The best `k` documents of each query."""
        checked_queries(queries, k=k, exclude=exclude)
        return self.search_vectors(self.encode_queries(queries), k=k, exclude=exclude)

    def search_vectors(
        self,
        vectors: np.ndarray,
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        """The best `k` documents of each unit query vector."""
        left_out = exclude or [()] * len(vectors)
        outside = [positions(self.doc_ids, ids) for ids in left_out]
        # One pass over the vectors serves all queries; what it left open is looked up singly.
        spare = max(map(len, outside), default=0)
        depth = min(self._index.candidates * (k + spare) + 8, len(self.doc_ids))
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if not len(vectors):
            return []
        near, at = self._index.nearest(vectors, depth)
        return [
            self._completed(vectors[i : i + 1], near[i], at[i], k=k, out=outside[i])
            for i in range(len(vectors))
        ]

    def _completed(
        self, vector: np.ndarray, near: np.ndarray, at: np.ndarray, *, k: int, out: np.ndarray
    ) -> Ranking:
        """The ranking from the nearest vectors, after asking for more where ties need it."""
        if not vector.any():
            # A model that knows none of the words gives zeros: nothing matched.
            return Ranking([], np.zeros(0, dtype=np.float32))
        n = len(self.doc_ids)
        wide = vector[0].astype(np.float64)
        while True:
            kept = at[at >= 0]
            if len(out):
                kept = kept[~np.isin(kept, out)]
            scores = rounded(self.matrix[kept].astype(np.float64) @ wide)
            best = np.lexsort((kept, -scores))
            # FAISS breaks ties its own way, so every document tied with the k-th must be seen.
            is_complete = len(at) == n or (
                len(best) > k and float(scores[best[k - 1]]) > near[-1] + _FLOAT32_ERROR
            )
            if is_complete or (not self._index.is_exact and len(best) > k):
                break
            rows = self._index.nearest(vector, min(4 * len(at), n))
            near, at = rows[0][0], rows[1][0]
        is_tied = len(best) > k and bool(scores[best[k]] == scores[best[k - 1]])
        best = best[:k]
        return Ranking(self.doc_ids[kept[best]].tolist(), scores[best], is_tied)
