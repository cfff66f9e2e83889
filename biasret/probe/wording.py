"""A typed question -> two wordings put to the retrievers, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pandas as pd

from biasret.catalogue import Catalogue
from biasret.errors import InputError
from biasret.flip import Flip, flip
from biasret.runs import excluded

__all__ = ["ORIGINS", "SWITCHES", "Known", "Question", "Switch", "Wording", "mitigated", "worded"]

#: Where a wording came from, in words.
ORIGINS = {
    "typed": "as typed",
    "generated": "generated",
    "edited": "edited by hand",
    "stored": "as stored",
}


@dataclass(frozen=True)
class Wording:
    """One wording of a question.

    Attributes
    ----------
    group
        What it signals: ``WME``, ``AAL``, ``left`` or ``right``.
    origin
        A key of `ORIGINS`.
    flip
        What the engine changed; None where no engine wrote it.
    """

    group: str
    text: str
    origin: str
    flip: Flip | None = None


@dataclass(frozen=True)
class Switch:
    """One way to flip a typed question into two wordings.

    Attributes
    ----------
    sides
        Groups of wording A and wording B; the same order everywhere.
    typed
        Which of them the typed question is; None: neither, both are generated from it.
    """

    name: str
    signal: str
    label: str
    about: str
    sides: tuple[str, str]
    typed: str | None

    def write(self, text: str, settings: Mapping[str, Any]) -> tuple[Wording, Wording]:
        """Both wordings of a text.

        Raises
        ------
        InputError
            The text is blank or a setting is out of range.
        """

        def side(group: str) -> Wording:
            if group == self.typed:
                return Wording(group, text, "typed")
            made = flip(text, to=group, **settings)
            return Wording(group, made.target, "generated", made)

        return side(self.sides[0]), side(self.sides[1])


SWITCHES: Catalogue[Switch] = Catalogue(
    "switch",
    [
        Switch(
            "framing",
            "framing",
            "left and right",
            "writes the question once as a left-leaning and once as a right-leaning asker",
            ("left", "right"),
            None,
        ),
        Switch(
            "AAL",
            "dialect",
            "WME to AAL",
            "takes the question as WME and lays features of AAL over it",
            ("WME", "AAL"),
            "WME",
        ),
        Switch(
            "WME",
            "dialect",
            "AAL to WME",
            "takes the question as AAL and translates its features into WME",
            ("WME", "AAL"),
            "AAL",
        ),
    ],
)


class CellReader(Protocol):
    """What is asked of a store to find a stored question."""

    def find_text(self, dataset: str, text: str) -> str | None:
        """The cell that holds exactly this wording."""

    def cell(self, dataset: str, cell_id: str) -> pd.DataFrame:
        """The queries of one cell."""

    def gold(self, dataset: str, query_ids: Sequence[str]) -> pd.DataFrame:
        """Judgements of grade 1 or more for the queries named."""


@dataclass(frozen=True)
class Known:
    """A cell of the dataset: what is known of a question that is stored.

    Attributes
    ----------
    texts
        Its wordings.
    exclude
        Source documents, left out of every list as in the measured results.
    gold
        Documents that answer it.
    """

    cell_id: str
    texts: frozenset[str]
    exclude: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()

    @classmethod
    def find(cls, store: CellReader, dataset: str, text: str) -> Known | None:
        """The cell that holds exactly this wording, or None."""
        cell_id = store.find_text(dataset, text)
        if cell_id is None:
            return None
        cell = store.cell(dataset, cell_id)
        return cls.of(cell_id, cell, store.gold(dataset, cell["query_id"].tolist()))

    @classmethod
    def of(cls, cell_id: str, cell: pd.DataFrame, gold: pd.DataFrame) -> Known:
        """A stored cell from its rows of ``queries`` and of relevant ``qrels``."""
        sources = {one for ids in excluded(cell) for one in ids}
        return cls(
            cell_id=cell_id,
            texts=frozenset(cell["text"]),
            exclude=tuple(sorted(sources)),
            gold=tuple(sorted(set(gold["doc_id"]))),
        )


@dataclass(frozen=True)
class Question:
    """Two wordings of one question.

    Attributes
    ----------
    typed
        What was typed; empty where both wordings were given.
    known
        What the dataset knows of it, where every wording is stored in one cell or was made by
        an engine from one that is: their content is the same.
    """

    typed: str
    switch: str
    a: Wording
    b: Wording
    settings: dict[str, Any] = field(default_factory=dict)
    known: Known | None = None

    @property
    def groups(self) -> tuple[str, str]:
        """What wordings A and B signal."""
        return self.a.group, self.b.group

    @property
    def exclude(self) -> tuple[str, ...]:
        """Documents left out of every list."""
        return self.known.exclude if self.known else ()

    @property
    def gold(self) -> tuple[str, ...]:
        """Documents that answer the question."""
        return self.known.gold if self.known else ()


def worded(
    text: str,
    *,
    switch: str,
    settings: Mapping[str, Any] | None = None,
    a: str | None = None,
    b: str | None = None,
    find: Callable[[str], Known | None] | None = None,
) -> Question:
    """The two wordings of a typed question.

    Parameters
    ----------
    text
        What was typed; may be blank where both `a` and `b` are given.
    switch
        A key of `SWITCHES`.
    settings
        Of the engine, as `biasret.flip.flip` takes them.
    a, b
        Wordings edited by hand or taken from elsewhere, in place of the engine's; blank counts
        as not given.
    find
        The stored cell that holds a text, or None.

    Raises
    ------
    InputError
        Nothing was typed, or a setting is out of range.
    """
    record = SWITCHES[switch]
    given = [one if one and one.strip() else None for one in (a, b)]
    if not text.strip() and None in given:
        raise InputError("The text is empty; type a question to flip.")
    made: list[Wording] = []
    engine = record.write(text, settings or {}) if None in given else None
    for place, own in enumerate(given):
        if own is not None:
            made.append(Wording(record.sides[place], own, "edited"))
        else:
            assert engine is not None
            made.append(engine[place])
    sources = [one.text for one in made if one.flip is None]
    base = sources[0] if sources else text
    known = find(base) if find else None
    if known:
        made = [
            Wording(one.group, one.text, "stored")
            if one.origin == "edited" and one.text in known.texts
            else one
            for one in made
        ]
        # An engine keeps the content of what was typed; a hand may have changed it.
        own_content = {text} if any(one.flip for one in made) else set()
        if not {one.text for one in made if not one.flip} | own_content <= known.texts:
            known = None
    return Question(text, switch, made[0], made[1], dict(settings or {}), known)


def mitigated(question: Question) -> tuple[Wording, Wording]:
    """Both wordings with the signal taken out by rule: AAL translated, framing neutralised.

    Returns
    -------
    tuple of Wording
        In the order of the question's; one in which nothing was found keeps its text.
    """
    to = {"dialect": "WME", "framing": "neutral"}[SWITCHES[question.switch].signal]

    def without(one: Wording) -> Wording:
        # A WME wording carries no AAL feature by definition; translating it could only harm.
        if one.group == to or not one.text.strip():
            return one
        made = flip(one.text, to=to)
        return Wording(one.group, made.target, "generated", made)

    return without(question.a), without(question.b)
