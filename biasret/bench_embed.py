"""How fast texts are embedded here, against the loop most people write.

Both sides see the same texts in the same order and run in turn, so that a busy machine
slows both. The texts are made up from words of a fixed list: mixed lengths, about 600
characters on average, with the long right tail that articles have.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from biasret.errors import NotInstalled
from biasret.retrievers import RETRIEVERS, Retriever, RetrieverRecord, available, load
from biasret.retrievers.base import SCORE_DECIMALS
from biasret.retrievers.dense import Dense
from biasret.retrievers.embedding import embed
from biasret.runtime import cpu_count

__all__ = ["BATCH", "Speed", "made_texts", "run", "speed"]

#: sentence-transformers' own default.
BATCH = 32

_WORDS = (
    "the a of to and in that is was for on with as by at from are were be this which council "
    "vote budget school river bridge market farmer harvest doctor nurse patient clinic train "
    "station harbour museum gallery concert engine rocket orbit planet forest wildfire smoke "
    "storm flood drought report study survey number percent million agency minister mayor "
    "court judge lawyer witness evidence ruling appeal teacher student parent library budget "
    "announced reported explained argued denied confirmed expected planned opened closed "
    "yesterday today tomorrow morning evening week month year between during after before "
    "several many few new old large small early late public private local national"
).split()


def made_texts(n: int, *, seed: int = 7, mean_characters: int = 600) -> list[str]:
    """Distinct texts of mixed length, the same on every machine.

    Examples
    --------
    >>> texts = made_texts(400)
    >>> texts == made_texts(400), len(set(texts)), 500 < sum(map(len, texts)) / 400 < 700
    (True, 400, True)
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    spread = 0.75
    texts = []
    for number in range(n):
        # A lognormal whose mean is `mean_characters`.
        wanted = mean_characters * rng.lognormvariate(-spread * spread / 2, spread)
        words = [f"Item {number}:"]
        length = len(words[0])
        while length < wanted:
            word = rng.choice(_WORDS)
            words.append(word)
            length += len(word) + 1
        texts.append(" ".join(words) + ".")
    return texts


@dataclass(frozen=True)
class Speed:
    """How fast a model is here, once it is warm.

    Attributes
    ----------
    texts_per_second
        For one batch of documents of about 600 characters.
    milliseconds
        For one question, the model alone.
    n
        Documents in the batch.
    """

    texts_per_second: float
    milliseconds: float
    n: int


def speed(retriever: Retriever, *, n: int = 16, repeats: int = 2) -> Speed | None:
    """Time one warm batch and one question; None for a retriever that encodes nothing.

    The best of `repeats` counts: what else the machine does can only add time.
    """
    if not isinstance(retriever, Dense):
        return None
    texts = made_texts(n)
    one = _question(retriever)  # loads the model
    batch = min(_seconds(lambda: retriever.encode_documents(texts)) for _ in range(repeats))
    return Speed(round(n / batch, 2), one, n)


def _seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def run(*, retriever: str = "minilm-l6", n: int = 160, repeats: int = 2) -> dict[str, Any]:
    """Texts per second of the build's path, of the plain loop, and of one sorted call.

    Parameters
    ----------
    retriever
        One that runs on sentence-transformers and works offline.
    n
        Texts; each side embeds them `repeats` times, in turn, and the best time counts.

    Returns
    -------
    dict
        ``ratio`` is the build's texts per second over those of the plain loop, wall time, both
        on torch; ``ratio_one_call`` the same against a single ``encode`` of all texts, which
        sorts them by itself; ``min_cosine`` compares the vectors of build and loop;
        ``padding_loop`` and ``padding_build`` are the shares of tokens that are padding.
        ``onnx`` and ``int8`` compare ONNX Runtime with the build on torch ; None
        where this model is not exported here.

    Raises
    ------
    NotInstalled
        The model is missing.
    """
    from biasret.retrievers.encoders import SentenceTransformers, packaged_minilm

    record = RETRIEVERS[retriever]
    state = available(record)
    if not state.is_available:
        raise NotInstalled(state.reason)
    is_exported = record.kind == "packaged-minilm"
    made = load(retriever)
    assert isinstance(made, Dense)
    if is_exported:
        made = Dense(record, lambda: SentenceTransformers(record, packaged_minilm))
    encoder = made._loaded()
    assert isinstance(encoder, SentenceTransformers), "the plain loop is that of one library"
    model = encoder.model
    texts = made_texts(n)
    ids = [str(i) for i in range(n)]
    prefix = made.document_prefix()

    def loop() -> np.ndarray:
        parts = [
            model.encode(
                texts[i : i + BATCH],
                batch_size=BATCH,
                prompt=prefix,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            for i in range(0, n, BATCH)
        ]
        return np.concatenate(parts)

    def one_call() -> np.ndarray:
        return model.encode(
            texts,
            batch_size=BATCH,
            prompt=prefix,
            normalize_embeddings=True,
            show_progress_bar=False,
        )

    def build_with(dense: Dense) -> Callable[[], np.ndarray]:
        return lambda: embed(dense, texts, ids, prefix=prefix).matrix

    with TemporaryDirectory() as folder:
        engines = _engines(record, Path(folder)) if is_exported else {}
        sides: dict[str, Callable[[], np.ndarray]] = {
            "loop": loop,
            "one_call": one_call,
            "build": build_with(made),
            **{name: build_with(dense) for name, dense in engines.items()},
        }
        for dense in (made, *engines.values()):
            dense.encode(texts[:BATCH], prefix=prefix)  # first calls allocate
        wall = dict.fromkeys(sides, float("inf"))
        cpu = dict.fromkeys(sides, float("inf"))
        found: dict[str, np.ndarray] = {}
        for _ in range(repeats):
            for name, side in sides.items():
                started, used = perf_counter(), process_time()
                found[name] = side()
                wall[name] = min(wall[name], perf_counter() - started)
                cpu[name] = min(cpu[name], process_time() - used)
        asked = {name: _question(dense) for name, dense in {"build": made, **engines}.items()}
    lengths = np.minimum(
        made.count_tokens(texts, prefix=prefix), record.max_tokens or np.iinfo(np.int64).max
    )
    in_order = [slice(i, min(i + BATCH, n)) for i in range(0, n, BATCH)]
    ascending = np.sort(lengths)
    return {
        "retriever": retriever,
        "n": n,
        "mean_characters": round(float(np.mean([len(text) for text in texts])), 1),
        "mean_tokens": round(float(lengths.mean()), 1),
        "processors": cpu_count(),
        "texts_per_second": {name: round(n / seconds, 2) for name, seconds in wall.items()},
        "texts_per_cpu_second": {name: round(n / seconds, 2) for name, seconds in cpu.items()},
        "milliseconds_for_one_question": asked,
        "ratio": round(wall["loop"] / wall["build"], 3),
        "ratio_one_call": round(wall["one_call"] / wall["build"], 3),
        "ratio_cpu": round(cpu["loop"] / cpu["build"], 3),
        "min_cosine": round(float(np.sum(found["loop"] * found["build"], axis=1).min()), 7),
        "padding_loop": _padding(lengths, in_order),
        "padding_build": _padding(ascending, encoder.batches(ascending)),
        **{
            name: {
                "ratio": round(wall["build"] / wall[name], 3),
                "ratio_cpu": round(cpu["build"] / cpu[name], 3),
                **_agreement(found["build"], found[name]),
            }
            if name in engines
            else None
            for name in ("onnx", "int8")
        },
    }


def _engines(record: RetrieverRecord, folder: Path) -> dict[str, Dense]:
    """The model by ONNX Runtime, as it is exported and in 8 bits; none where it is not."""
    from biasret.retrievers.onnx_models import export_minilm, exported_minilm, quantised_minilm

    if not export_minilm(record, folder):
        return {}
    makers = {"onnx": exported_minilm, "int8": quantised_minilm}
    made = {name: make(record, folder) for name, make in makers.items()}
    return {
        name: Dense(record, lambda encoder=encoder: encoder)  # type: ignore[misc]
        for name, encoder in made.items()
        if encoder is not None
    }


def _question(dense: Dense) -> float:
    """Milliseconds for one question, the best of ten."""
    text = " ".join(_WORDS[-12:]) + "?"
    return round(min(_seconds(lambda: dense.encode_queries([text])) for _ in range(10)) * 1000, 2)


def _agreement(expected: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """How far vectors, and the first ten documents they find for each text, are the same."""
    k = min(10, len(expected) - 1)
    tops = []
    for matrix in (expected, found):
        # Queries and documents alike come from one engine, as they do in use.
        scores = matrix.astype(np.float64) @ matrix.astype(np.float64).T
        np.fill_diagonal(scores, -np.inf)
        tops.append(np.argsort(-np.round(scores, SCORE_DECIMALS), axis=1, kind="stable")[:, :k])
    shared = [len(np.intersect1d(a, b)) for a, b in zip(*tops, strict=True)]
    return {
        "min_cosine": round(float(np.sum(expected * found, axis=1).min()), 7),
        "overlap@10": round(float(np.mean(shared)) / k, 4),
    }


def _padding(lengths: np.ndarray, batches: Any) -> float:
    """Share of the tokens of these batches that only fill up the shorter texts."""
    padded = sum((s.stop - s.start) * int(lengths[s].max()) for s in batches)
    return round(1 - int(lengths.sum()) / padded, 3)
