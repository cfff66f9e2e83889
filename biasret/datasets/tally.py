"""Count of what was read, kept and left out of a source, and where the first of these stand."""

from __future__ import annotations

from collections import Counter

__all__ = ["Tally"]


class Tally:
    """Rows of a source that were read and left out.

    Parameters
    ----------
    unit
        What is counted, in the plural: ``articles``.

    Examples
    --------
    >>> tally = Tally("rows")
    >>> tally.n_read = 3
    >>> tally.drop("no text", "a.csv, line 2")
    >>> tally.notes()
    ['3 rows were read, 2 kept and 1 left out.', 'Left out first: a.csv, line 2 (no text).']
    """

    #: Places named.
    MOST = 5

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.n_read = 0
        self.left_out: Counter[str] = Counter()
        self._first: list[str] = []

    def drop(self, reason: str, place: str) -> None:
        """Count a row that is left out."""
        self.left_out[reason] += 1
        if len(self._first) < self.MOST:
            self._first.append(f"{place} ({reason})")

    def notes(self) -> list[str]:
        """Sentences: how many were read, kept and left out, and the first of those."""
        n_out = sum(self.left_out.values())
        notes = [
            f"{self.n_read:,} {self.unit} were read, {self.n_read - n_out:,} kept and "
            f"{n_out:,} left out."
        ]
        if self._first:
            notes.append(f"Left out first: {'; '.join(self._first)}.")
        return notes
