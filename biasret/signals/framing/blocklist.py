"""Slurs and insults, held as hashes: recognised, replaced by plain names, never written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache

from biasret.signals.framing.records import read_rows
from biasret.signals.framing.tokens import Document, Token

__all__ = ["Blocked", "blocked_words", "digest"]

_PREFIX = "biasret framing blocked list:"
_LONGEST = 3


@dataclass(frozen=True)
class Blocked:
    """A blocked word or phrase in a text: its tokens, and the plain name of the group.

    `plain` is empty where the words also have a harmless sense, so that they are never
    written but not replaced either; `number` is that of the words found.
    """

    first: int
    last: int
    kind: str
    plain: str
    number: str


@cache
def _rows() -> dict[str, tuple[str, str, str]]:
    return {
        row["sha256_20"]: (row["kind"], row["plain"], row["form"])
        for row in read_rows("blocked.csv")
    }


@lru_cache(maxsize=65_536)
def digest(phrase: str) -> str:
    """First twenty hexadecimal digits of the hash under which a phrase is held."""
    data = (_PREFIX + phrase).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:20]


def blocked_words(document: Document) -> list[Blocked]:
    """Blocked words of a text in order of place, the longest at each place."""
    rows, tokens = _rows(), document.tokens
    found: list[Blocked] = []
    at = 0
    while at < len(tokens):
        step = 1
        for length in range(_LONGEST, 0, -1):
            phrase = _phrase(tokens[at : at + length], length)
            row = rows.get(digest(phrase)) if phrase else None
            if row is not None:
                found.append(Blocked(at, at + length - 1, *row))
                step = length
                break
        at += step
    return found


def _phrase(tokens: list[Token], length: int) -> str:
    if len(tokens) < length or any(token.link != "tight" for token in tokens[1:]):
        return ""
    return " ".join([token.key for token in tokens[:-1]] + [tokens[-1].base])
