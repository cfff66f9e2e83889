"""How long work tells how far it is, whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

__all__ = ["Progress", "silent"]


class Progress(Protocol):
    """Shows how far a step is."""

    def __call__(self, title: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """A context whose value is called with the number of items just done."""


@contextmanager
def silent(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows nothing."""
    yield lambda _: None
