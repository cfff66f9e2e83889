"""An imported release beside the published numbers: each exhibit recomputed from its rankings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from biasret import published
from biasret.errors import NothingStored
from biasret.precomputed import Folder
from biasret.reproduction import dialectal, figures, pairing, political, vocabulary
from biasret.reproduction.identities import EXACT
from biasret.reproduction.imported import ImportedDataset, imported
from biasret.reproduction.results import ExhibitCheck
from biasret.tables import check

__all__ = ["RECIPES", "Recipe", "beside", "check_release", "deviation", "reproduced"]

Rows = list[dict[str, Any]]

#: Finds the published side of a recipe: ``item``, ``quantity``, ``value`` and, where one has it,
#: ``retriever``.
Source = Callable[[ImportedDataset, Path], pd.DataFrame]


@dataclass(frozen=True)
class Recipe:
    """How one exhibit is computed from what was imported.

    Attributes
    ----------
    exhibit
        A key of `biasret.published.EXHIBITS`, or a name of its own for what is in none of them.
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
    source
        Where the published side is, if not in the table ``published``. None: nowhere, and the
        numbers stand alone.
    """

    exhibit: str
    dataset: str
    compute: Callable[[ImportedDataset], Rows]
    tolerance: float = EXACT
    tolerances: tuple[tuple[str, float], ...] = ()
    note: str | None = None
    source: Source | Literal["published"] | None = "published"


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


def _published_probes(dataset: str) -> Source:
    return lambda _, numbers: figures.published_probes(dataset, numbers)


def _captions(*parts: Callable[[ImportedDataset], Rows]) -> Callable[[ImportedDataset], Rows]:
    return lambda data: [row for part in parts for row in part(data)]


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
    Recipe("table10", "hcmagic_nat", figures.dropped_questions, source=figures.published_dropped),
    *(
        Recipe(
            "fig04",
            dataset,
            figures.every_probe,
            tolerance=1e-6,
            tolerances=(("nce", 1e-5),),
            note="scores are shipped here cut to six or seven digits",
            source=_published_probes(dataset),
        )
        for dataset in ("allsides_synth", "hcmagic_synth")
    ),
    Recipe("fig17_18_19", "hcmagic_nat", figures.natural_recall, source=figures.published_recall),
    Recipe(
        "scalars",
        "allsides_synth",
        _captions(
            lambda data: figures.relevant_lists(data, "AllSides"), figures.agreement_with_stories
        ),
        tolerance=0.5,
        tolerances=(
            ("LLM judge vs same-roundup gold agreement", 0.005),
            ("judged AllSides top-10 pairs (approx.)", 500),
        ),
        note="captions print them rounded",
        source=figures.published_captions,
    ),
    Recipe(
        "scalars",
        "reddit_nat",
        lambda data: figures.relevant_lists(data, "Reddit"),
        tolerance=0.5,
        note="the caption prints it rounded",
        source=figures.published_captions,
    ),
    *(
        Recipe(
            "token scores",
            dataset,
            figures.token_scores,
            tolerance=_FITTED,
            note="from the released counts; those, where the questions are all there, from them",
            source=figures.published_tokens,
        )
        for dataset in ("allsides_synth", "hcmagic_synth", "hcmagic_nat")
    ),
    Recipe("fig02a, fig14", "allsides_synth", figures.depth_cells, source=None),
    Recipe("fig15", "reddit_nat", figures.depth_groups, source=None),
    Recipe("fig16", "hcmagic_synth", figures.rewritten_recall, source=None),
)

_KEY = ["exhibit", "dataset", "retriever", "item", "quantity"]
_NUMBERS = ["recomputed", "published", "difference", "tolerance", "is_relative", "agrees"]


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
        published), ``tolerance``, ``is_relative`` (for probabilities), ``agrees`` (boolean).
        Of what is not published the last are missing.
    list of str
        Exhibits that could not be computed, and why.

    Raises
    ------
    UnknownName
        No import has this name.
    """
    data = imported(folder, prefix)
    parts: list[pd.DataFrame] = []
    missing = [
        f"{recipe.exhibit}: {recipe.dataset} was not imported"
        for recipe in RECIPES
        if recipe.dataset not in data
    ]
    for dataset, of in data.items():
        made, lacking = _of_dataset(of, dataset, numbers)
        parts += made
        missing += lacking
    return _together(parts), missing


def reproduced(
    folder: Folder, name: str, dataset: str, *, numbers: Path = published.FOLDER
) -> pd.DataFrame:
    """The numbers of one imported dataset, to be stored with it.

    Parameters
    ----------
    name
        What the dataset is called here.
    dataset
        What the exhibits call it, a key of `biasret.reproduction.imported.ENDINGS`.

    Returns
    -------
    pandas.DataFrame
        A ``reproduced`` table; without rows where nothing can be computed.
    """
    parts, _ = _of_dataset(ImportedDataset(folder, name), dataset, numbers)
    return check(_together(parts).assign(dataset=name), "reproduced")


def _of_dataset(
    data: ImportedDataset, dataset: str, numbers: Path
) -> tuple[list[pd.DataFrame], list[str]]:
    parts, missing = [], []
    for recipe in RECIPES:
        if recipe.dataset != dataset:
            continue
        where = f"{recipe.exhibit} ({dataset})"
        try:
            rows = recipe.compute(data)
        except NothingStored as error:
            missing.append(f"{where}: {error}")
            continue
        if rows:
            parts.append(_compared(recipe, rows, _published(recipe, data, numbers)))
        else:
            missing.append(f"{where}: the folder lacks what it needs")
    return parts, missing


def _together(parts: list[pd.DataFrame]) -> pd.DataFrame:
    columns = [*_KEY, *_NUMBERS]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return frame[columns]


def _published(recipe: Recipe, data: ImportedDataset, numbers: Path) -> pd.DataFrame:
    if recipe.source is None:
        return pd.DataFrame(columns=["item", "quantity", "value"])
    if recipe.source != "published":
        return recipe.source(data, numbers)
    table = published.load("published", folder=numbers)
    is_own = (table["exhibit"] == recipe.exhibit) & (table["dataset"] == recipe.dataset)
    return table[is_own & (table["source"] == "release")]


def _compared(recipe: Recipe, rows: Rows, of: pd.DataFrame) -> pd.DataFrame:
    names = ["retriever", "item"]
    long, of = (
        frame.assign(
            **{
                name: frame.get(name, pd.Series("", frame.index)).fillna("").astype("str")
                for name in names
            }
        )
        for frame in (pd.DataFrame(rows), of)
    )
    long = long.melt(id_vars=names, var_name="quantity", value_name="recomputed")
    # What one row has and another lacks.
    long = long.dropna(subset="recomputed")
    both = long.merge(
        of[[*names, "quantity", "value"]],
        on=[*names, "quantity"],
        how="inner" if recipe.source == "published" else "left",
        validate="one_to_one",
    )
    both = both.rename(columns={"value": "published"})
    both = both.astype({"recomputed": "float64", "published": "float64"})
    both["difference"] = both["recomputed"] - both["published"]
    is_p = both["quantity"].str.startswith("p_") | both["quantity"].str.endswith("_p")
    own = dict(recipe.tolerances)
    allowed = both["quantity"].map(lambda quantity: own.get(quantity, recipe.tolerance))
    both["tolerance"] = np.where(is_p & ~both["quantity"].isin(own), 1e-9, allowed)
    both["is_relative"] = is_p
    is_known = both["published"].notna()
    both["tolerance"] = both["tolerance"].where(is_known)
    agrees = deviation(both) <= both["tolerance"]
    both["agrees"] = agrees.astype("boolean").where(is_known | (recipe.source is not None))
    return both.assign(exhibit=recipe.exhibit, dataset=recipe.dataset)


def deviation(frame: pd.DataFrame) -> pd.Series:
    """How far each number is off: relative for probabilities, else in its unit.

    Parameters
    ----------
    frame : ``recomputed``, ``published``, ``is_relative``
        Where nothing is published, the deviation is missing.
    """
    difference = frame["recomputed"] - frame["published"]
    scale = frame["published"].abs().where(frame["is_relative"], 1.0)
    # Also where both are 0, as probabilities too small for a float.
    return (difference.abs() / scale).mask(difference == 0, 0.0)


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
        what = f"recomputed from {prefix} ({dataset})"
        if of["agrees"].isna().all():
            alone = "computed alone: no number of it is published"
            checks.append(ExhibitCheck(str(exhibit), what, len(of), None, None, True, alone))
            continue
        off = deviation(of)
        at = of.loc[off.idxmax()] if off.notna().any() else of.iloc[0]
        where = " ".join(str(at[name]) for name in ("retriever", "item", "quantity") if at[name])
        n_off = int((~of["agrees"]).sum())
        note = f"{n_off:,} of {len(of):,} numbers are off" if n_off else notes[exhibit, dataset]
        checks.append(
            ExhibitCheck(
                str(exhibit),
                f"{what}; furthest off: {where}",
                len(of),
                float(off.max()),
                float(at["tolerance"]),
                n_off == 0,
                note,
            )
        )
    return checks, frame, missing
