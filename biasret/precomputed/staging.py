"""Datasets written beside a folder, which take their places in it together."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from biasret.precomputed import parquet
from biasret.precomputed.parquet import GIVEN
from biasret.tables import TABLES

if TYPE_CHECKING:
    from biasret.precomputed.folder import Folder

__all__ = ["take"]


def take(stage: Folder, *, into: Folder) -> None:
    """Move the datasets of one folder into another, in place of those of the same name.

    A dataset that is there to the byte is left as it is.
    """
    staged = {
        path: footer
        for table in TABLES
        for path in stage.files(table)
        if (footer := parquet.footer(path)) is not None
    }
    # Records of datasets come last, so that each is there whole or not at all.
    order = sorted(staged, key=lambda path: path.parent.name == "datasets")
    targets = {path: into.path / path.parent.name / path.name for path in order}
    changed = {
        staged[path]["dataset"] for path in order if parquet.footer(targets[path]) != staged[path]
    }
    changed |= {
        dataset
        for dataset in stage.datasets()
        if _lacks(stage, dataset, into=into, targets=targets.values())
    }
    for dataset in changed & set(stage.datasets()):
        into.remove(dataset)
    for path in order:
        if staged[path]["dataset"] in changed:
            targets[path].parent.mkdir(parents=True, exist_ok=True)
            path.replace(targets[path])


def _lacks(stage: Folder, dataset: str, *, into: Folder, targets: Collection[Path]) -> bool:
    """Whether results that came with a dataset are there and no longer come with it."""
    record = stage.footer(stage.file("datasets", dataset)) or {"inputs": {}}
    source = record["inputs"].get("kind")
    there = [
        into.file(table.name, dataset, retriever)
        for table in TABLES.values()
        for retriever in into.retrievers(table.name, dataset)
    ]
    return any(
        (footer := parquet.footer(path)) is not None and footer["inputs"].get(GIVEN, "") == source
        for path in there
        if path not in targets
    )
