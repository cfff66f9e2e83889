"""The exceptions of the package.

::

    BiasretError
    ├── InputError (ValueError)          the caller's file, text or argument cannot be used
    │   ├── UnknownName (KeyError)       a name that no catalogue holds
    │   ├── TableError                   a frame that breaks the contract of its table
    │   └── FileError                    a file that cannot be read as what it should be
    ├── StoreError (RuntimeError)        the store is missing, busy or damaged
    │   └── NothingStored (LookupError)  the store works but holds no such rows
    ├── RetrieverError (RuntimeError)    a retriever failed while indexing or searching
    │   └── NotInstalled (ImportError)   a package or weights file is missing
    └── llm.EndpointError (RuntimeError) a chat endpoint gave no usable answer
        └── llm.AnswerError              ... to one text, and works for others

Each message is one sentence or two: what was wrong, what was found, what to do.
`InputError` ends a command with exit code 2; the others with exit code 1.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BiasretError",
    "FileError",
    "InputError",
    "NotInstalled",
    "NothingStored",
    "RetrieverError",
    "StoreError",
    "TableError",
    "UnknownName",
]


class BiasretError(Exception):
    """Base class: whatever this package raises on purpose."""

    def __str__(self) -> str:
        # KeyError would show the repr of its argument, quotes and all.
        return str(self.args[0]) if self.args else ""


class InputError(BiasretError, ValueError):
    """The caller's file, text or argument cannot be used."""


class UnknownName(InputError, KeyError):
    """A name that no catalogue holds; the message lists those it does."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = list(known)
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(names) if names else "none"
        super().__init__(f"Unknown {kind} {name!r}.{hint} Available: {listed}.")


class TableError(InputError):
    """A frame that breaks the contract of its table."""


class FileError(InputError):
    """A file that cannot be read as what it should be."""


class StoreError(BiasretError, RuntimeError):
    """The store is missing, busy or damaged."""


class NothingStored(StoreError, LookupError):
    """The store works but holds no such rows."""


class RetrieverError(BiasretError, RuntimeError):
    """A retriever failed while indexing or searching."""


class NotInstalled(RetrieverError, ImportError):
    """A package or weights file is missing; the message says how to get it."""
