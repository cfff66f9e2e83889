"""Whether a change is typical among the stored pairs of the same retriever and dataset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Typicality", "typicality"]


@dataclass(frozen=True)
class Typicality:
    """Where a probe's value lies among the stored pairs of the same retriever and dataset.

    Attributes
    ----------
    quantity
        What is compared, in words.
    value
        The probe's.
    stored : float64, shape (n,)
        The stored pairs', in the same unit and orientation.
    n_less
        Stored pairs with a smaller change.
    n_equal
        Stored pairs with a change of the same size.
    """

    quantity: str
    value: float
    stored: np.ndarray
    n_less: int
    n_equal: int

    @property
    def share_less(self) -> float:
        """Share of stored pairs that changed less, in [0, 1]."""
        return self.n_less / len(self.stored)


def typicality(
    quantity: str, value: float, stored: np.ndarray, *, rest: float = 0.0
) -> Typicality | None:
    """How large a change is among the stored ones; None where none are stored.

    Parameters
    ----------
    rest
        The value of no change: 0 for a difference, 1 for an overlap. Changes are compared
        by their distance from it, to nine decimals, since they are ratios of small counts.
    """
    if len(stored) == 0:
        return None
    sizes = np.round(np.abs(stored - rest), 9)
    size = round(abs(value - rest), 9)
    return Typicality(
        quantity, value, stored, int((sizes < size).sum()), int((sizes == size).sum())
    )
