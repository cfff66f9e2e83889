"""Where each published exhibit stands: a page, and the choices that bring it up."""

from __future__ import annotations

from dataclasses import dataclass

from biasret.ui.paper import EVERY_SHOWN

__all__ = ["PREFIXES", "Place", "places"]

#: Prefix of a page's choices in the link.
PREFIXES = {
    "political_lean": "lean",
    "dialect": "dialect",
    "mitigation": "mitigation",
    "beyond_vocabulary": "vocabulary",
    "data_and_judging": "data",
}


@dataclass(frozen=True)
class Place:
    """A page and its choices, by the key of each in the link."""

    page: str
    choices: tuple[tuple[str, str], ...] = ()


def _published(page: str, **choices: str) -> Place:
    prefix = PREFIXES[page]
    named = {"world": "published", **choices}
    return Place(page, tuple((f"{prefix}_{name}", value) for name, value in named.items()))


#: Exhibits that are drawn by a page's own functions.
_ELSEWHERE = {
    "table04": _published("data_and_judging", part="contents"),
    "table05": _published("data_and_judging", part="contents"),
    "table10": _published("data_and_judging", part="dropped"),
    "fig04": _published("beyond_vocabulary", part="layers"),
    "fig05_means": _published("data_and_judging", part="pairs"),
    "fig05_quartiles": _published("data_and_judging", part="pairs"),
    "fig05_tests": _published("data_and_judging", part="pairs"),
    "fig05_index": _published("data_and_judging", part="pairs"),
    "judges": _published("data_and_judging", part="judges"),
    "judges_by_retriever": _published("data_and_judging", part="judges"),
    "scalars": Place("method"),
}


def places() -> dict[str, Place]:
    """A place for each exhibit that is shown, by its key in `biasret.published.EXHIBITS`."""
    found = dict(_ELSEWHERE)
    for one in EVERY_SHOWN.values():
        for name in one.exhibits:
            found.setdefault(name, _published(one.page, view=one.view))
    return found
