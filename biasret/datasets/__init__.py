"""The datasets that ship with the project, and the ways others come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from biasret.catalogue import Catalogue
from biasret.datasets import demo
from biasret.datasets.base import SIGNALS, Dataset, DatasetRecord, Signal

__all__ = ["SHIPPED", "SIGNALS", "Dataset", "DatasetRecord", "Shipped", "Signal"]


@dataclass(frozen=True)
class Shipped:
    """A dataset that is always there, and how to load it."""

    record: DatasetRecord
    load: Callable[[], Dataset]

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.record.name


SHIPPED: Catalogue[Shipped] = Catalogue(
    "shipped dataset",
    [
        Shipped(demo.NEWS, demo.load_news),
        Shipped(demo.HEALTH, demo.load_health),
        Shipped(demo.WRITTEN, demo.load_written),
        Shipped(demo.PAIRS, demo.load_pairs),
    ],
)
