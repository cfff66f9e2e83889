"""Measurements from rankings and gold ranks; no model is needed for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from biasret import filters, judging, metrics, runs
from biasret.build.steps import STEPS, source
from biasret.datasets.base import SIGNALS, Dataset
from biasret.precomputed import Folder
from biasret.tables import empty

__all__ = ["current", "given_inputs", "measure", "measure_rest"]


def measure(
    folder: Folder, dataset: Dataset, retriever: str, *, force: bool, is_given: bool = False
) -> bool:
    """Measurements of one retriever; True if they were redone.

    Parameters
    ----------
    is_given
        Whether its results were imported, so that some of them may be missing.
    """
    name = dataset.record.name
    signal = SIGNALS[dataset.record.signal]
    tables = ["runs", "gold_ranks"]
    if is_given:
        present = [t for t in (*tables, "given_values") if retriever in folder.given(name, t)]
        tables = present
    inputs = {
        "step": STEPS["measurements"],
        "metrics": {m: list(metrics.METRICS[m].ks) for m in signal.metrics},
        "code": [source(metrics), source(filters)],
        "documents": folder.content("documents", name),
        "queries": folder.content("queries", name),
        "qrels": folder.content("qrels", name),
        **{table: folder.content(table, name, retriever) for table in tables},
        **_judgments(folder, name),
    }
    if not force and folder.is_current("measurements", name, retriever, inputs=inputs):
        return False
    found = {table: folder.read(table, name, retriever) for table in tables}
    qrels = pd.concat([dataset.qrels, judging.judgments(folder, name)], ignore_index=True)
    measured = metrics.measure(
        given_inputs(dataset, found, qrels)
        if is_given
        else filters.Inputs(
            queries=dataset.queries,
            documents=dataset.documents,
            runs=found["runs"],
            gold_ranks=found["gold_ranks"],
            qrels=qrels,
        ),
        dataset=name,
        retriever=retriever,
        metrics=signal.metrics,
    )
    folder.write("measurements", measured, dataset=name, retriever=retriever, inputs=inputs)
    return True


def given_inputs(
    dataset: Dataset, found: dict[str, pd.DataFrame], qrels: pd.DataFrame
) -> filters.Inputs:
    """Imported results as a metric reads them; `qrels` with those of judges.

    Only queries with a row in ``gold_ranks`` were asked. A gold document below an imported run
    has no rank there; it counts as infinitely far down, and what is read deeper than the run
    is not measured.
    """
    ranking = found.get("runs", empty("runs"))
    asked = found["gold_ranks"]
    has_gold = asked["query_id"].isin(runs.gold_documents(dataset.qrels))
    rank = asked["rank"].astype("float64")
    # Ranks that came without a ranking are of the full one.
    depth = int(ranking["rank"].max()) if len(ranking) else None
    if depth is not None:
        asked = asked.assign(rank=rank.mask(rank.isna() & has_gold, np.inf))
    return filters.Inputs(
        queries=dataset.queries[dataset.queries["query_id"].isin(asked["query_id"])],
        documents=dataset.documents,
        runs=ranking,
        gold_ranks=asked,
        qrels=qrels,
        depth=depth or 0,
        rank_depth=depth,
        given=found.get("given_values", empty("given_values")),
    )


def _judgments(folder: Folder, dataset: str) -> dict[str, Any]:
    """What measurements owe to judges; nothing where nobody has judged."""
    judges = {j: folder.content("qrels", dataset, j) for j in folder.retrievers("qrels", dataset)}
    return {"judgments": judges} if judges else {}


def measure_rest(folder: Folder, dataset: Dataset) -> bool:
    """Measure anew what retrievers that were not asked for had found, where that still holds.

    Measuring needs no model, so that new judgements cost no retriever its results.
    """
    name = dataset.record.name
    present = {t: folder.content(t, name) for t in ("documents", "queries", "qrels")}
    did = False
    for retriever in folder.retrievers("measurements", name):
        footers = [
            folder.footer(folder.file(table, name, retriever)) for table in ("runs", "gold_ranks")
        ]
        made = [footer["inputs"] if footer else {} for footer in footers]
        if all(
            inputs.get(table) == content for inputs in made for table, content in present.items()
        ):
            did |= measure(folder, dataset, retriever, force=False)
    return did


def current(folder: Folder, dataset: str) -> list[str]:
    """Retrievers whose measurements were made from the dataset as it is now.

    Results of what a dataset was before are deleted: they must not stand in one table, and
    under one correction, with new ones.
    """
    present = {t: folder.content(t, dataset) for t in ("documents", "queries", "qrels")}
    judged = _judgments(folder, dataset).get("judgments")
    current = []
    for retriever in folder.retrievers("measurements", dataset):
        footer = folder.footer(folder.file("measurements", dataset, retriever)) or {"inputs": {}}
        made = footer["inputs"]
        is_same = all(made.get(table) == content for table, content in present.items())
        if is_same and made.get("judgments") == judged:
            current.append(retriever)
        else:
            folder.remove_results(dataset, retriever)
    return current
