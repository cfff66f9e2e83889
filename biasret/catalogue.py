"""A dict of named records whose missing key lists the names it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from biasret.errors import UnknownName

__all__ = ["Catalogue", "Named"]


class Named(Protocol):
    """A record with a name."""

    @property
    def name(self) -> str:
        """What the record is called in code, files and links."""


R = TypeVar("R", bound=Named)


class Catalogue(Mapping[str, R]):
    """Records by name, in the order given.

    Parameters
    ----------
    kind
        What one record is, for messages: ``"retriever"``.
    records
        Records with distinct ``name``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> birds = Catalogue("bird", [SimpleNamespace(name="wren"), SimpleNamespace(name="rook")])
    >>> list(birds)
    ['wren', 'rook']
    >>> birds["rok"]
    Traceback (most recent call last):
    biasret.errors.UnknownName: Unknown bird 'rok'. Did you mean 'rook'? Available: wren, rook.
    """

    def __init__(self, kind: str, records: Iterable[R]) -> None:
        self.kind = kind
        self._records: dict[str, R] = {}
        for record in records:
            assert record.name not in self._records, f"two records are named {record.name!r}"
            self._records[record.name] = record

    def __getitem__(self, name: str) -> R:
        try:
            return self._records[name]
        except (KeyError, TypeError):
            raise UnknownName(self.kind, name, self._records) from None

    def __contains__(self, name: object) -> bool:
        # Mapping's own version catches KeyError, but TypeError (unhashable) would pass.
        return isinstance(name, str) and name in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)
