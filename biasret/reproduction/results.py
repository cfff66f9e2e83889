"""What a check of the published numbers found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ExhibitCheck"]


@dataclass(frozen=True)
class ExhibitCheck:
    """One kind of check of one exhibit.

    Parameters
    ----------
    exhibit
        A name of `EXHIBITS`.
    what
        What was compared, as a sentence.
    n_cells
        How many numbers were compared, or computed where nothing is published.
    worst
        Largest deviation, in the unit `what` names; None where nothing is published.
    tolerance
        Largest deviation allowed; None where nothing is published.
    passed
        Whether all deviations are allowed or explained in `note`.
    note
        Known differences, or why there is nothing to compare with.
    """

    exhibit: str
    what: str
    n_cells: int
    worst: float | None
    tolerance: float | None
    passed: bool
    note: str | None = None
