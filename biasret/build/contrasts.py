"""What follows from all retrievers' measurements together: levels, gaps, mitigations."""

from __future__ import annotations

from typing import Any

import pandas as pd

from biasret import audit, contrasts, filters, mitigation
from biasret.build.measuring import current
from biasret.build.steps import STEPS, source
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder
from biasret.progress import Progress, silent
from biasret.statistics import (
    flips,
    multiplicity,
    rank_tests,
    resampling,
    results,
    streams,
    weights,
)

__all__ = ["build_gaps", "build_mitigations"]

#: What intervals, tests and corrections are computed by.
_STATISTICS = (flips, multiplicity, rank_tests, resampling, results, streams, weights)


def build_gaps(
    folder: Folder, dataset: Dataset, *, force: bool = False, progress: Progress = silent
) -> bool:
    """Levels of each retriever, and the gaps of all retrievers of a dataset together."""
    name = dataset.record.name
    settings = audit.PAPER
    retrievers = current(folder, name)
    contents = {r: folder.content("measurements", name, r) for r in retrievers}
    inputs: dict[str, Any] = {
        "step": STEPS["gaps"],
        "settings": settings.as_dict(),
        "code": [source(module) for module in (audit, contrasts, *_STATISTICS)],
        "queries": folder.content("queries", name),
        "groups": [dataset.record.minuend, dataset.record.subtrahend, dataset.record.is_paired],
        "measurements": contents,
    }
    of_each = {r: {**inputs, "measurements": contents[r]} for r in retrievers}
    is_current = folder.is_current("gaps", name, inputs=inputs) and all(
        folder.is_current("levels", name, r, inputs=of_each[r]) for r in retrievers
    )
    if not retrievers or (is_current and not force):
        return False
    tables = []
    with progress(f"{name}: gaps and intervals", len(retrievers) + 1) as advance:
        for retriever in retrievers:
            measured = folder.read("measurements", name, retriever)
            tables.append(measured)
            folder.write(
                "levels",
                audit.levels(measured, dataset.queries, settings=settings),
                dataset=name,
                retriever=retriever,
                inputs=of_each[retriever],
            )
            advance(1)
        found = audit.gaps(
            pd.concat(tables, ignore_index=True), dataset.queries, dataset.record, settings=settings
        )
        folder.write("gaps", found, dataset=name, inputs=inputs)
        advance(1)
    return True


def build_mitigations(
    folder: Folder, dataset: Dataset, *, force: bool = False, progress: Progress = silent
) -> bool:
    """What mitigated wordings change, where the dataset holds any."""
    name = dataset.record.name
    retrievers = current(folder, name)
    if not retrievers or not mitigation.mitigations_for(dataset.queries):
        return False
    # Imported values may come without the lists they were made from.
    with_lists = [r for r in retrievers if r in folder.retrievers("runs", name)]
    inputs: dict[str, Any] = {
        "step": STEPS["mitigations"],
        "settings": audit.PAPER.as_dict(),
        "code": [source(module) for module in (mitigation, filters, *_STATISTICS)],
        "documents": folder.content("documents", name),
        "queries": folder.content("queries", name),
        "groups": [dataset.record.minuend, dataset.record.subtrahend, dataset.record.is_paired],
        "measurements": {r: folder.content("measurements", name, r) for r in retrievers},
        "runs": {r: folder.content("runs", name, r) for r in with_lists},
    }
    if not force and folder.is_current("mitigations", name, inputs=inputs):
        return False
    tables = []
    with progress(f"{name}: mitigations", len(retrievers) + 1) as advance:
        for retriever in retrievers:
            tables.append(folder.read("measurements", name, retriever))
            if retriever in with_lists:
                gold_ranks = folder.read("gold_ranks", name, retriever)
                asked = dataset.queries["query_id"].isin(gold_ranks["query_id"])
                found = filters.Inputs(
                    dataset.queries[asked],
                    dataset.documents,
                    folder.read("runs", name, retriever),
                    gold_ranks,
                )
                tables.append(mitigation.story_measurements(found, name, retriever))
            advance(1)
        measured = pd.concat(tables, ignore_index=True)
        changed = mitigation.mitigations(measured, dataset.queries, dataset.record)
        folder.write("mitigations", changed, dataset=name, inputs=inputs)
        advance(1)
    return True
