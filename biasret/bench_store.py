"""How fast the store answers a page's questions, on ten million rows of runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from biasret import audit
from biasret.datasets.base import DatasetRecord
from biasret.precomputed import Folder
from biasret.store import Store, make_database

__all__ = ["run"]

_RETRIEVERS = [f"retriever-{i}" for i in range(6)]
_DOCUMENTS = 37_463
_DEPTH = 100


def run(*, rows: int = 10_000_000) -> dict[str, Any]:
    """Make a store with this many rows of runs and time what pages ask of it.

    Returns
    -------
    dict
        Seconds to make the database, and for each question the median and largest
        milliseconds of 20 calls with different arguments; the budget is 50 ms each.
    """
    n_queries = rows // (len(_RETRIEVERS) * _DEPTH)
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(Path(path))
        _fill(folder, n_queries)
        started = perf_counter()
        database = make_database(folder)
        seconds = perf_counter() - started
        store = Store(database)
        try:
            asked = {name: _timed(ask) for name, ask in _questions(store, n_queries).items()}
        finally:
            store.close()
        return {
            "rows of runs": n_queries * len(_RETRIEVERS) * _DEPTH,
            "seconds to make the database": round(seconds, 1),
            "megabytes": round(database.stat().st_size / 1e6),
            "milliseconds": asked,
            "slowest median": max(one["median"] for one in asked.values()),
            "budget": 50,
        }


def _fill(folder: Folder, n_queries: int) -> None:
    record = DatasetRecord("big", "Big", "made for timing", "lean", True, True, "right", "left")
    rng = np.random.default_rng(42)
    doc_ids = np.array([f"d{i:06d}" for i in range(_DOCUMENTS)], dtype=object)
    query_ids = np.array([f"q{i:06d}" for i in range(n_queries)], dtype=object)
    stances = np.array(["left", "center", "right"], dtype=object)
    documents = pd.DataFrame(
        {"dataset": "big", "doc_id": doc_ids, "text": "some text", "title": "a title"}
    ).assign(stance=stances[rng.integers(0, 3, _DOCUMENTS)])
    queries = pd.DataFrame(
        {
            "dataset": "big",
            "query_id": query_ids,
            "text": [f"a question number {i} on taxes" for i in range(n_queries)],
            "signal": "lean",
            "variant": np.where(np.arange(n_queries) % 2, "right", "left"),
            "group": np.where(np.arange(n_queries) % 2, "right", "left"),
            "cell_id": [f"c{i // 2:06d}" for i in range(n_queries)],
            "cluster_id": [f"s{i // 6:06d}" for i in range(n_queries)],
            "origin": "generated",
        }
    )
    folder.write("documents", documents, dataset="big")
    folder.write("queries", queries, dataset="big")
    folder.write("datasets", record.frame(), dataset="big")
    measured = []
    for name in _RETRIEVERS:
        picked = rng.integers(0, _DOCUMENTS, n_queries * _DEPTH)
        runs = pd.DataFrame(
            {
                "dataset": "big",
                "retriever": name,
                "query_id": np.repeat(query_ids, _DEPTH),
                "rank": np.tile(np.arange(1, _DEPTH + 1), n_queries),
                "doc_id": doc_ids[picked],
                "score": np.tile(np.linspace(1, 0, _DEPTH), n_queries),
            }
        )
        folder.write("runs", runs, dataset="big", retriever=name)
        ranks = pd.DataFrame(
            {"dataset": "big", "retriever": name, "query_id": query_ids, "rank": pd.NA}
        )
        folder.write("gold_ranks", ranks, dataset="big", retriever=name)
        values = pd.DataFrame(
            {
                "dataset": "big",
                "retriever": name,
                "query_id": query_ids,
                "metric": "lean",
                "k": 10,
                "filter": "raw",
                "value": rng.normal(size=n_queries),
            }
        )
        folder.write("measurements", values, dataset="big", retriever=name)
        measured.append(values)
    gaps = audit.gaps(pd.concat(measured), queries, record)
    folder.write("gaps", gaps, dataset="big")


def _questions(store: Store, n_queries: int) -> dict[str, Callable[[int], object]]:
    def retriever(i: int) -> str:
        return _RETRIEVERS[i % len(_RETRIEVERS)]

    return {
        "datasets": lambda i: store.datasets(),
        "counts": lambda i: store.counts("big"),
        "retrievers": lambda i: store.retrievers("big"),
        "one ranking": lambda i: store.run("big", retriever(i), f"q{(i * 7919) % n_queries:06d}"),
        "ten documents": lambda i: store.documents(
            "big", [f"d{(i * 101 + j) % _DOCUMENTS:06d}" for j in range(10)]
        ),
        "one cell": lambda i: store.cell("big", f"c{(i * 7919) % (n_queries // 2):06d}"),
        "cells by words": lambda i: store.find_cells("big", f"question taxes {i}", limit=50),
        "cell of a text": lambda i: store.find_text("big", f"a question number {i} on taxes"),
        "gaps": lambda i: store.gaps("big", metric="lean", k=10, filter="raw"),
        "measurements": lambda i: store.measurements(
            "big", retriever=retriever(i), metric="lean", k=10, filter="raw"
        ),
    }


def _timed(ask: Callable[[int], object], *, calls: int = 20) -> dict[str, float]:
    ask(0)
    taken = []
    for i in range(1, calls + 1):
        started = perf_counter()
        ask(i)
        taken.append((perf_counter() - started) * 1000)
    return {"median": round(median(taken), 1), "largest": round(max(taken), 1)}
