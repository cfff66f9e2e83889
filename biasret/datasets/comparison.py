"""Which groups an imported dataset compares, as its record says it."""

from __future__ import annotations

import pandas as pd

from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.datasets.mapping import DatasetMapping
from biasret.datasets.reading import listed
from biasret.errors import InputError

__all__ = ["describe", "spelled"]

#: Group names whose letter case does not matter.
_GROUPS = {
    group.casefold(): group
    for signal in SIGNALS.values()
    for group in (signal.minuend, signal.subtrahend, "neutral")
}


def spelled(group: str) -> str:
    """A group's name without outer spaces, and as the signals spell it where they know it.

    Examples
    --------
    >>> spelled(" aal "), spelled("LEFT"), spelled("Teenagers")
    ('AAL', 'left', 'Teenagers')
    """
    return _GROUPS.get(group.strip().casefold(), group.strip())


def describe(
    name: str, plan: DatasetMapping, queries: pd.DataFrame, notes: list[str]
) -> DatasetRecord:
    """The record of an imported dataset.

    Parameters
    ----------
    plan
        What was said about the dataset; the rest is read off the queries.
    queries
        At least ``cell_id`` and ``group``.
    notes
        Gets a sentence for whatever was concluded.

    Raises
    ------
    InputError
        The signal or the groups compared are not said and cannot be told.
    """
    groups = sorted(set(queries["group"].dropna()))
    signal = plan.signal or _signal_of(name, groups, notes)
    minuend, subtrahend = _compared(name, plan, signal, groups, notes)
    n_paired = 0
    if minuend is not None:
        found = queries.groupby("cell_id")["group"].agg(set)
        n_paired = sum({minuend, subtrahend} <= groups_of for groups_of in found)
        if 0 < n_paired < len(found):
            notes.append(f"{n_paired:,} of {len(found):,} cells hold both groups, the rest one.")
    n_without = int(queries["group"].isna().sum())
    if 0 < n_without < len(queries):
        notes.append(f"{n_without:,} of {len(queries):,} queries name no group.")
    return DatasetRecord(
        name=name,
        label=plan.label or name,
        about=plan.about or "Imported from files.",
        signal=signal,
        is_paired=n_paired > 0,
        is_illustrative=False,
        minuend=minuend,
        subtrahend=subtrahend,
        source=plan.source,
        licence=plan.licence,
    )


def _signal_of(name: str, groups: list[str], notes: list[str]) -> str:
    fitting = [
        signal.name
        for signal in SIGNALS.values()
        if {signal.minuend, signal.subtrahend} & set(groups)
    ]
    if len(fitting) != 1:
        raise InputError(
            f"What the queries of {name!r} signal is not said, and their groups "
            f"({listed(groups)}) do not tell; say --signal {' or --signal '.join(SIGNALS)}."
        )
    notes.append(f"The signal was taken to be {fitting[0]}: the groups are {listed(groups)}.")
    return fitting[0]


def _compared(
    name: str, plan: DatasetMapping, signal: str, groups: list[str], notes: list[str]
) -> tuple[str | None, str | None]:
    """The two groups compared, or None twice where there are not two."""
    given = [plan.minuend, plan.subtrahend]
    if given != [None, None]:
        minuend, subtrahend = (spelled(group or "") for group in given)
        if minuend == subtrahend or not {minuend, subtrahend} <= set(groups):
            raise InputError(
                f"The groups of {name!r} are {listed(groups)}, and the comparison given is "
                f"{minuend!r} minus {subtrahend!r}; name two of the groups as minuend and "
                "subtrahend."
            )
        return minuend, subtrahend
    usual = SIGNALS[signal]
    if {usual.minuend, usual.subtrahend} <= set(groups):
        return usual.minuend, usual.subtrahend
    if len(groups) > 1:
        raise InputError(
            f"The groups of {name!r} are {listed(groups)}, not {usual.minuend!r} and "
            f"{usual.subtrahend!r}; say minuend and subtrahend in a mapping file, or translate "
            "the groups there with values.group."
        )
    if groups:
        notes.append(f"All queries are of the group {groups[0]!r}: nothing is compared.")
    return None, None
