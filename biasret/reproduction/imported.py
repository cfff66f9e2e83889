"""What an imported release holds, in the form its exhibits are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from biasret.errors import UnknownName
from biasret.precomputed import Folder
from biasret.published.exhibits import RETRIEVERS

__all__ = ["ENDINGS", "ImportedDataset", "imported"]

#: What follows the name of an import, by the dataset's name in the exhibits.
ENDINGS = {
    "allsides_synth": "_allsides",
    "reddit_nat": "_reddit",
    "hcmagic_synth": "_hcmagic_synth",
    "hcmagic_nat": "_hcmagic_nat",
}


@dataclass(frozen=True)
class ImportedDataset:
    """One dataset of the release, as it was imported and built."""

    folder: Folder
    name: str

    @cached_property
    def queries(self) -> pd.DataFrame:
        """Its ``queries`` table, in the order of the release."""
        return self.folder.read("queries", self.name)

    @cached_property
    def retrievers(self) -> list[str]:
        """Those of the paper whose results came with it, in the paper's order."""
        given = self.folder.given(self.name)
        return [name for name in RETRIEVERS if name in given]

    @cached_property
    def _measured(self) -> dict[str, pd.DataFrame]:
        here = self.folder.retrievers("measurements", self.name)
        return {
            name: self.folder.read("measurements", self.name, name)
            for name in self.retrievers
            if name in here
        }

    def values(self, retriever: str, metric: str, k: int | None, rule: str) -> pd.DataFrame:
        """Queries measured, in the order of the release, with their ``value``."""
        if retriever not in self._measured:
            return self.queries.iloc[:0].assign(value=pd.Series(dtype="float64"))
        frame = self._measured[retriever]
        at_k = frame["k"].isna() if k is None else frame["k"].eq(k).fillna(False)
        kept = frame[at_k.astype(bool) & (frame["metric"] == metric) & (frame["filter"] == rule)]
        return self.queries.merge(kept[["query_id", "value"]], on="query_id")

    def ranks(self, retriever: str) -> pd.DataFrame:
        """``query_id``, ``variant``, ``group``, ``cell_id``, ``rank``, in the release's order."""
        frame = self.folder.read("gold_ranks", self.name, retriever)[["query_id", "rank"]]
        named = self.queries[["query_id", "variant", "group", "cell_id"]]
        return frame.merge(named, on="query_id").dropna(subset="rank").astype({"rank": "int64"})

    def query_values(self, quantity: str) -> pd.Series:
        """Values by ``query_id``; empty where none came."""
        if not self.folder.file("query_values", self.name).exists():
            return pd.Series(dtype="float64")
        frame = self.folder.read("query_values", self.name)
        return frame[frame["quantity"] == quantity].set_index("query_id")["value"]


def imported(folder: Folder, prefix: str) -> dict[str, ImportedDataset]:
    """The datasets of one import, by their names in the exhibits.

    Raises
    ------
    UnknownName
        No import has this name.
    """
    there = folder.datasets()
    found = {
        dataset: ImportedDataset(folder, prefix + ending)
        for dataset, ending in ENDINGS.items()
        if prefix + ending in there
    }
    if not found:
        endings = tuple(ENDINGS.values())
        names = {n.removesuffix(e) for n in there for e in endings if n.endswith(e)}
        raise UnknownName("imported release", prefix, sorted(names))
    return found
