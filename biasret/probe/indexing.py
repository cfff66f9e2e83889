"""A retriever with the documents of a dataset indexed, from stored vectors where there are any."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from biasret.errors import StoreError
from biasret.precomputed import Vectors, text_sha256
from biasret.retrievers import Retriever, load
from biasret.retrievers.dense import Dense

__all__ = ["fitting", "ready"]


def fitting(vectors: Vectors, documents: pd.DataFrame) -> np.ndarray:
    """The vectors of these documents, row for row.

    Raises
    ------
    StoreError
        A document has no vector, or its text is not the one that was encoded.
    """
    order = pd.Index(vectors.ids).get_indexer(documents["doc_id"])
    hashes = np.array(vectors.text_sha256, dtype=object)[order]
    texts = np.array([text_sha256(text) for text in documents["text"]], dtype=object)
    n_wrong = int(((order < 0) | (hashes != texts)).sum())
    if n_wrong:
        raise StoreError(
            f"{n_wrong:,} of {len(documents):,} documents have no vector or have changed since "
            "they were encoded; run `python -m biasret build`."
        )
    return vectors.matrix[order]


def ready(
    name: str,
    documents: pd.DataFrame,
    *,
    vectors: Vectors | None = None,
    models: Path | None = None,
    like: Retriever | None = None,
) -> Retriever:
    """A retriever with the documents indexed, from stored vectors where there are any.

    Parameters
    ----------
    vectors
        Of the documents, in any order; ignored by lexical retrievers.
    like
        A retriever of the same name whose model is shared.
    """
    retriever = like.sibling() if isinstance(like, Dense) else load(name, models=models)
    if isinstance(retriever, Dense) and vectors is not None:
        retriever.index(documents, vectors=fitting(vectors, documents))
    else:
        retriever.index(documents)
    return retriever
