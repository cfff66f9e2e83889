"""The closed word lists of the engine, and how English verbs inflect."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from biasret.errors import UnknownName

__all__ = ["VOWELS", "base_of_ing", "base_of_s", "ing_form", "pairs", "s_form", "words"]

VOWELS = "aeiou"


@cache
def _sections() -> dict[str, tuple[str, ...]]:
    text = files("biasret.signals.dialect").joinpath("data/lexicon.txt").read_text("utf-8")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            current = sections.setdefault(line[1:-1], [])
        else:
            current.extend(line.split())
    return {name: tuple(entries) for name, entries in sections.items()}


@cache
def words(name: str) -> frozenset[str]:
    """The words of one list, lower case.

    Raises
    ------
    UnknownName
        The lexicon has no such list.
    """
    sections = _sections()
    if name not in sections:
        raise UnknownName("word list", name, sections)
    return frozenset(sections[name])


@cache
def pairs(name: str) -> dict[str, str]:
    """The entries ``from=to`` of one list, as a dict."""
    return dict(entry.split("=", 1) for entry in words(name))


def s_form(base: str) -> str:
    """Third person singular present: *watch* to *watches*.

    Examples
    --------
    >>> [s_form(base) for base in ("have", "do", "carry", "watch", "sleep")]
    ['has', 'does', 'carries', 'watches', 'sleeps']
    """
    irregular = {"have": "has", "do": "does", "go": "goes", "be": "is", "quit": "quits"}
    if base in irregular:
        return irregular[base]
    if base.endswith("y") and base[-2:-1] not in VOWELS:
        return base[:-1] + "ies"
    if base.endswith(("s", "x", "z", "ch", "sh")) and base not in {"ache", "stomach"}:
        return base + "es"
    return base + "s"


def ing_form(base: str) -> str:
    """Present participle: *take* to *taking*.

    Examples
    --------
    >>> [ing_form(base) for base in ("take", "die", "stop", "see", "sleep", "be")]
    ['taking', 'dying', 'stopping', 'seeing', 'sleeping', 'being']
    """
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    if base in words("doubling"):
        return base + base[-1] + "ing"
    return base + "ing"


@cache
def base_of_s() -> dict[str, str]:
    """Every third person singular form of the verb list, with its base."""
    return {s_form(base): base for base in sorted(words("verbs") - {"be"})}


@cache
def base_of_ing() -> dict[str, str]:
    """Every *-ing* form of the verb list that may be respelled, with its base."""
    extra = {"canceling": "cancel", "traveling": "travel"}
    forms = {ing_form(base): base for base in sorted(words("verbs"))}
    return {f: b for f, b in (forms | extra).items() if f not in words("ing_kept")}
