"""An imported release beside the published numbers: each exhibit recomputed from its rankings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasret import published
from biasret.errors import NothingStored
from biasret.precomputed import Folder
from biasret.reproduction import dialectal, pairing, political, vocabulary
from biasret.reproduction.identities import EXACT
from biasret.reproduction.imported import ImportedDataset, imported
from biasret.reproduction.results import ExhibitCheck

__all__ = ["RECIPES", "Recipe", "beside", "check_release"]

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Recipe:
    """How one exhibit is computed from what was imported.

    Attributes
    ----------
    exhibit
        A key of `biasret.published.EXHIBITS`.
    dataset
        Its dataset's name in the exhibits.
    compute
        From the imported dataset to one row a retriever (and item), in quantities of the
        exhibit.
    tolerance
        Largest deviation allowed of what is no probability, in its unit.
    tolerances
        Other ones, by quantity.
    note
        Why a deviation may be larger than arithmetic explains.
    """

    exhibit: str
    dataset: str
    compute: Callable[[ImportedDataset], Rows]
    tolerance: float = EXACT
    tolerances: tuple[tuple[str, float], ...] = ()
    note: str | None = None


_TIES = (
    "the release ranks differences that are equal as fractions but not as floats by their "
    "rounding errors; here they are tied"
)
_ROUNDED = (("gap", 0.5e-4 + EXACT),)
_OF_TIES = (("p_wilcoxon", 0.01),)
#: Least squares by another algorithm differs in the last digits, and more for sums of scores.
_FITTED = 1e-9


def _lengths(dataset: str) -> Callable[[ImportedDataset], Rows]:
    return lambda data: dialectal.lengths(data, dataset)


def _pairing(exhibit: str) -> Callable[[ImportedDataset], Rows]:
    return lambda data: pairing.recomputed_pairing(data, exhibit)


def _rounded(exhibit: str, dataset: str, compute: Callable[[ImportedDataset], Rows]) -> Recipe:
    note = "gaps are released to four decimals"
    return Recipe(exhibit, dataset, compute, tolerances=_ROUNDED, note=note)


RECIPES: tuple[Recipe, ...] = (
    *(
        Recipe(
            "table04",
            dataset,
            _lengths(dataset),
            tolerances=(("mean", 0.05 + EXACT),),
            note="means are released to one decimal",
        )
        for dataset in ("allsides_synth", "reddit_nat", "hcmagic_synth", "hcmagic_nat")
    ),
    Recipe("table06", "reddit_nat", political.table06),
    Recipe("table07", "allsides_synth", political.table07),
    Recipe("table08", "reddit_nat", political.table08),
    Recipe("table11", "hcmagic_synth", dialectal.table11, tolerances=_OF_TIES, note=_TIES),
    Recipe("table12", "hcmagic_nat", dialectal.table12),
    Recipe("table13", "hcmagic_nat", dialectal.table13, tolerances=_OF_TIES, note=_TIES),
    Recipe("table14", "allsides_synth", vocabulary.paired_cells, tolerance=_FITTED),
    Recipe(
        "table15",
        "reddit_nat",
        lambda data: vocabulary.two_groups(data, k=20, filter="raw"),
        tolerance=_FITTED,
    ),
    Recipe(
        "table16",
        "reddit_nat",
        lambda data: vocabulary.two_groups(data, k=10, filter="gold"),
        tolerance=_FITTED,
    ),
    Recipe("table17", "hcmagic_synth", vocabulary.paired_questions, tolerance=_FITTED),
    Recipe("table18", "hcmagic_nat", vocabulary.table18, tolerance=_FITTED),
    Recipe(
        "fig03a",
        "hcmagic_synth",
        lambda data: dialectal.figure_means(dialectal.table11(data), ("WME", "AAL")),
    ),
    Recipe(
        "fig03b",
        "hcmagic_nat",
        lambda data: dialectal.figure_means(dialectal.table12(data), ("WME", "AAL")),
    ),
    *(
        Recipe(
            exhibit,
            "allsides_synth",
            _pairing(exhibit),
            tolerance=1e-6,
            note="cosines are released as 32-bit numbers",
        )
        for exhibit in ("fig05_means", "fig05_quartiles", "fig05_tests")
    ),
    _rounded("fig09a", "allsides_synth", lambda data: political.figure_cells(data, "raw")),
    _rounded("fig09b", "reddit_nat", lambda data: political.figure_groups(data, "raw")),
    _rounded("fig10", "allsides_synth", lambda data: political.figure_cells(data, "judges")),
    _rounded("fig11", "reddit_nat", lambda data: political.figure_groups(data, "retained")),
    Recipe(
        "fig19",
        "hcmagic_nat",
        lambda data: dialectal.figure_means(dialectal.table13(data), ("translated WME", "AAL")),
    ),
    Recipe("judges", "reddit_nat", political.judges),
    Recipe("judges_by_retriever", "reddit_nat", political.judges_by_retriever),
)

_KEY = ["exhibit", "dataset", "retriever", "item", "quantity"]


def beside(
    folder: Folder, prefix: str, *, numbers: Path = published.FOLDER
) -> tuple[pd.DataFrame, list[str]]:
    """Every number of the exhibits that an import allows, recomputed and published.

    Parameters
    ----------
    folder
        The store that holds the import, built.
    prefix
        The name it was imported under.
    numbers
        Where the published tables are.

    Returns
    -------
    pandas.DataFrame
        ``exhibit``, ``dataset``, ``retriever``, ``item``, ``quantity`` (as in the table
        ``published``), ``recomputed``, ``published``, ``difference`` (recomputed minus
        published), ``tolerance``, ``is_relative`` (for probabilities), ``agrees``.
    list of str
        Exhibits that could not be computed, and why.

    Raises
    ------
    UnknownName
        No import has this name.
    """
    data = imported(folder, prefix)
    table = published.load("published", folder=numbers)
    of_release = table[table["source"] == "release"]
    parts, missing = [], []
    for recipe in RECIPES:
        if recipe.dataset not in data:
            missing.append(f"{recipe.exhibit}: {recipe.dataset} was not imported")
            continue
        try:
            rows = recipe.compute(data[recipe.dataset])
        except NothingStored as error:
            missing.append(f"{recipe.exhibit} ({recipe.dataset}): {error}")
            continue
        if not rows:
            missing.append(f"{recipe.exhibit} ({recipe.dataset}): the folder lacks what it needs")
            continue
        parts.append(_compared(recipe, rows, of_release))
    columns = [*_KEY, "recomputed", "published", "difference", "tolerance", "is_relative", "agrees"]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return frame[columns], missing


def _compared(recipe: Recipe, rows: Rows, table: pd.DataFrame) -> pd.DataFrame:
    names = ["retriever", "item"]
    long = pd.DataFrame(rows)
    long = long.assign(**{name: long.get(name, "") for name in names})
    long = long.melt(id_vars=names, var_name="quantity", value_name="recomputed")
    # What one row has and another lacks.
    long = long.dropna(subset="recomputed")
    of = table[(table["exhibit"] == recipe.exhibit) & (table["dataset"] == recipe.dataset)]
    of = of.assign(**{name: of[name].fillna("") for name in names})
    both = long.merge(of[[*names, "quantity", "value"]], on=[*names, "quantity"])
    both = both.rename(columns={"value": "published"})
    both["recomputed"] = both["recomputed"].astype("float64")
    both["difference"] = both["recomputed"] - both["published"]
    is_p = both["quantity"].str.startswith("p_") | both["quantity"].str.endswith("_p")
    own = dict(recipe.tolerances)
    allowed = both["quantity"].map(lambda quantity: own.get(quantity, recipe.tolerance))
    both["tolerance"] = np.where(is_p & ~both["quantity"].isin(own), 1e-9, allowed)
    both["is_relative"] = is_p
    both["agrees"] = deviation(both) <= both["tolerance"]
    return both.assign(exhibit=recipe.exhibit, dataset=recipe.dataset)


def deviation(frame: pd.DataFrame) -> pd.Series:
    """How far each number is off: relative for probabilities, else in its unit."""
    scale = frame["published"].abs().where(frame["is_relative"], 1.0)
    return frame["difference"].abs() / scale


def check_release(
    folder: Folder, prefix: str, *, numbers: Path = published.FOLDER
) -> tuple[list[ExhibitCheck], pd.DataFrame, list[str]]:
    """`beside`, summed up by exhibit and dataset.

    Returns
    -------
    list of ExhibitCheck, pandas.DataFrame, list of str
        One check an exhibit and dataset; the numbers; exhibits that could not be computed.
    """
    frame, missing = beside(folder, prefix, numbers=numbers)
    notes = {(recipe.exhibit, recipe.dataset): recipe.note for recipe in RECIPES}
    checks = []
    for (exhibit, dataset), of in frame.groupby(["exhibit", "dataset"], sort=False):
        off = deviation(of)
        worst = float(off.max())
        at = of.loc[off.idxmax()] if not math.isnan(worst) else of.iloc[0]
        where = " ".join(str(at[name]) for name in ("retriever", "item", "quantity") if at[name])
        n_off = int((~of["agrees"]).sum())
        what = f"recomputed from {prefix} ({dataset}); furthest off: {where}"
        note = f"{n_off:,} of {len(of):,} numbers are off" if n_off else notes[exhibit, dataset]
        checks.append(
            ExhibitCheck(
                str(exhibit), what, len(of), worst, float(at["tolerance"]), n_off == 0, note
            )
        )
    return checks, frame, missing
