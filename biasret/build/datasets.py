"""A dataset's own tables, into the store and out of it."""

from __future__ import annotations

from typing import Any

from biasret.datasets.base import Dataset, DatasetRecord
from biasret.precomputed import Folder

__all__ = ["read_dataset", "save_dataset"]


def save_dataset(folder: Folder, dataset: Dataset, *, inputs: dict[str, Any]) -> None:
    """Put a dataset's tables in place; its record comes last, so that it is there whole."""
    name = dataset.record.name
    folder.write("documents", dataset.documents, dataset=name, inputs=inputs)
    folder.write("queries", dataset.queries, dataset=name, inputs=inputs)
    folder.write("qrels", dataset.qrels, dataset=name, inputs=inputs)
    folder.write("datasets", dataset.record.frame(), dataset=name, inputs=inputs)


def read_dataset(folder: Folder, name: str) -> Dataset:
    """The dataset of this name from its files."""
    row = folder.read("datasets", name).iloc[0].to_dict()
    return Dataset(
        record=DatasetRecord.from_row(row),
        documents=folder.read("documents", name),
        queries=folder.read("queries", name),
        qrels=folder.read("qrels", name),
    )
