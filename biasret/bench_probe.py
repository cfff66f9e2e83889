"""How much a probe costs beyond what the encoders themselves need."""

from __future__ import annotations

from statistics import median, quantiles
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from biasret.precomputed import Vectors, text_sha256
from biasret.probe import compare, ready
from biasret.retrievers import RETRIEVERS, Retriever, built_by_default
from biasret.retrievers.dense import Dense

__all__ = ["run"]

_DOCUMENTS = 37_463
_WORDS = (
    "tax law state vote school gun court health storm city border water price union climate "
    "police budget housing trade farm energy senate governor report plan bill rights jobs road"
).split()


def run(*, calls: int = 20) -> dict[str, Any]:
    """Both wordings through every retriever that is ready here, on 37,463 documents.

    Vectors of the documents are random, since only their number and length matter for time;
    texts are made of common words; encoders are the real ones.

    Returns
    -------
    dict
        Milliseconds of a whole probe and of the encoders' own time for one batch of the same
        two texts, measured in turn; their ratio has a budget of 1.3. BM25 encodes nothing, so
        its whole time counts against the budget.
    """
    rng = np.random.default_rng(42)
    ids = [f"d{i:06d}" for i in range(_DOCUMENTS)]
    texts = [" ".join(rng.choice(_WORDS, 90)) for _ in ids]
    documents = pd.DataFrame({"doc_id": ids, "text": texts})
    hashes = [text_sha256(text) for text in texts]
    stances = pd.Series(rng.choice(["left", "center", "right"], _DOCUMENTS), index=ids)
    retrievers = {}
    for name, record in RETRIEVERS.items():
        if name not in built_by_default():
            continue
        vectors = None
        if record.dimension is not None:
            matrix = rng.normal(size=(_DOCUMENTS, record.dimension)).astype(np.float32)
            vectors = Vectors(ids, matrix, hashes, np.zeros(_DOCUMENTS, dtype=bool))
        retrievers[name] = ready(name, documents, vectors=vectors)
    whole: dict[str, list[float]] = {name: [] for name in retrievers}
    encoding: dict[str, list[float]] = {name: [] for name in retrievers}
    for call in range(calls + 1):
        a = " ".join(rng.choice(_WORDS, 14)) + "?"
        b = " ".join(rng.choice(_WORDS, 14)) + "?"
        for name, retriever in retrievers.items():
            taken, own = _timed(retriever, a, b, stances, is_encoder_first=call % 2 == 0)
            if call:  # the first call loads and warms
                whole[name].append(taken)
                encoding[name].append(own)
    totals = np.sum([whole[name] for name in retrievers], axis=0)
    owns = np.sum([encoding[name] for name in retrievers], axis=0)
    return {
        "documents": _DOCUMENTS,
        "calls": calls,
        "milliseconds by retriever": {
            name: {
                "probe": round(median(whole[name]), 1),
                "encoder alone": round(median(encoding[name]), 1),
            }
            for name in retrievers
        },
        "probe, median ms": round(float(np.median(totals)), 1),
        "probe, p95 ms": round(quantiles(totals.tolist(), n=20)[-1], 1),
        "encoders alone, median ms": round(float(np.median(owns)), 1),
        "ratio": round(float(np.median(totals / owns)), 2),
        "budget": 1.3,
    }


def _timed(
    retriever: Retriever, a: str, b: str, stances: pd.Series, *, is_encoder_first: bool
) -> tuple[float, float]:
    """Milliseconds of a whole probe, and of the encoder for a batch as long.

    Whichever comes second finds the model's weights at hand, so they take turns.
    """

    def whole() -> float:
        started = perf_counter()
        compare(retriever, a, b, k=10, stances=stances)
        return (perf_counter() - started) * 1000

    def encoder() -> float:
        if not isinstance(retriever, Dense):
            return 0.0
        started = perf_counter()
        retriever.encode_queries([f"{a} again", f"{b} again"])
        return (perf_counter() - started) * 1000

    if is_encoder_first:
        own = encoder()
        return whole(), own
    taken = whole()
    return taken, encoder()
