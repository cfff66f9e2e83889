"""Datasets and retrievers -> every file of the store, redoing only what is out of date.

Each step writes its own file by rename and records in it what it was made from, so that a
build that was killed goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biasret import overlap, pairing
from biasret.build.contrasts import build_gaps, build_mitigations
from biasret.build.datasets import read_dataset, save_dataset
from biasret.build.measuring import current as current_retrievers
from biasret.build.measuring import given_inputs, measure_rest
from biasret.build.retrieving import build_retriever
from biasret.build.steps import STEPS, source
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder
from biasret.progress import Progress, silent
from biasret.reproduction.stored import store_reproduced
from biasret.residuals import store_residuals
from biasret.retrievers import built_by_default

__all__ = [
    "STEPS",
    "Progress",
    "build_dataset",
    "build_retriever",
    "given_inputs",
    "read_dataset",
    "retrievers_of",
    "save_dataset",
]


def retrievers_of(folder: Folder, dataset: str) -> list[str]:
    """The retrievers that a build without further words covers for a dataset.

    A dataset that came with results is built from those, and from what was computed on it
    before: its documents may be too many, or its texts withheld.
    """
    imported = folder.given(dataset)
    if not imported:
        return built_by_default()
    return list(dict.fromkeys([*imported, *folder.retrievers("gold_ranks", dataset)]))


def build_dataset(
    folder: Folder,
    dataset: Dataset,
    retrievers: Sequence[str],
    *,
    force: bool = False,
    progress: Progress = silent,
) -> bool:
    """Everything a dataset's pages show; True if anything was redone.

    Parameters
    ----------
    retrievers
        Results that were imported are measured whether or not they are named.
    """
    imported = folder.given(dataset.record.name)
    did = [
        build_retriever(folder, dataset, name, force=force, progress=progress)
        for name in dict.fromkeys([*imported, *retrievers])
    ]
    did.append(measure_rest(folder, dataset))
    did.append(build_gaps(folder, dataset, force=force, progress=progress))
    did.append(build_mitigations(folder, dataset, force=force, progress=progress))
    current = current_retrievers(folder, dataset.record.name)
    options: Any = {"steps": STEPS, "source": source, "force": force, "progress": progress}
    did.append(store_residuals(folder, dataset, current, **options))
    did.append(pairing.build_pairing(folder, dataset, force=force, progress=progress))
    did.append(overlap.build_overlaps(folder, dataset, current, force=force, progress=progress))
    name = dataset.record.name
    did.append(store_reproduced(folder, name, source=source, force=force, progress=progress))
    return any(did)
