"""The records behind the engine: terms, frames, topics and templates, read once from ``data``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from biasret.catalogue import Catalogue

__all__ = [
    "ENGINE",
    "FRAMES",
    "LEXICON_DATE",
    "STANCES",
    "TEMPLATES",
    "TERMS",
    "TOPICS",
    "Frame",
    "Template",
    "Term",
    "Topic",
    "Wording",
    "read_rows",
    "read_words",
]

#: Version of rules and lexicon together; goes into the origin of every generated query.
ENGINE = "framing 1.0"

#: When the vocabulary was last gone through: it ages, so screens show this beside it.
LEXICON_DATE = "2026-11"

STANCES = ("left", "neutral", "right")


def read_rows(name: str) -> list[dict[str, str]]:
    """Rows of one of the engine's CSV files, every value as text."""
    text = (files(__package__) / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def read_words(name: str) -> frozenset[str]:
    """Words of one of the engine's word lists; lines that start with # are remarks."""
    text = (files(__package__) / "data" / name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


@dataclass(frozen=True)
class Wording:
    """One side's words for a term, with what grammar needs to know about them.

    Attributes
    ----------
    text
        As written in running text, without a leading article.
    number
        ``pl``, ``sg``, ``mass``, ``adj`` or ``verb``.
    is_definite
        Takes *the* where nothing else determines it: *the Affordable Care Act*.
    needs_the
        Has this sense only with *the*: *the wealthy*.
    """

    text: str
    number: str
    is_definite: bool = False
    needs_the: bool = False

    @classmethod
    def parse(cls, text: str, form: str) -> Wording:
        """From a cell and its form: a number, then ``+the`` and ``!`` where they hold."""
        number, _, rest = form.partition("+")
        return cls(
            text=text.removeprefix("the "),
            number=number,
            is_definite=rest.startswith("the"),
            needs_the=rest.endswith("!"),
        )


@dataclass(frozen=True)
class Term:
    """One concept in three wordings.

    Attributes
    ----------
    name
        ``topic/left-wording``.
    klass
        ``same``: the wordings name one thing, and may be swapped. ``focus``: they stress
        different sides of an issue; recognised and neutralised, swapped only on request.
    intensity
        1: common in each side's public speech. 2: loaded, swapped only at intensity 2.
    is_generic
        The neutral wording is everyday vocabulary, so it never starts a swap.
    is_generated
        False: recognised and neutralised, never written into a wording.
    guards
        Sense guards, as `guards.blocked` reads them.
    common
        Stances whose wording is by now used on all sides: swapped and neutralised like any
        other, but without weight in the query lean.
    notes
        What a reader should know, and why a row differs from common usage.
    """

    name: str
    topic: str
    left: Wording
    neutral: Wording
    right: Wording
    klass: str
    intensity: int
    is_generic: bool
    is_generated: bool
    guards: tuple[str, ...]
    common: tuple[str, ...]
    notes: str

    def wording(self, stance: str) -> Wording:
        """The wording of ``left``, ``neutral`` or ``right``."""
        wording: Wording = {"left": self.left, "neutral": self.neutral, "right": self.right}[stance]
        return wording

    @property
    def is_one_sided(self) -> bool:
        """Whether one side's wording is also the neutral one, so that only the other swaps."""
        return self.neutral.text in (self.left.text, self.right.text)


@dataclass(frozen=True)
class Frame:
    """One of the fifteen frames of the Policy Frames Codebook.

    References
    ----------
    Boydstun, Card, Gross, Resnik and Smith (2014); Card and others (2015).
    """

    name: str
    label: str
    about: str
    cues: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    """A subject of public affairs: its cues, a phrase for it, and whom each side tends to name.

    `groups` maps a stance to the group that stance's speakers tend to mention; it says
    nothing about the people in it.
    """

    name: str
    cues: tuple[str, ...]
    phrase: str
    groups: dict[str, str]


@dataclass(frozen=True)
class Template:
    """A question about {X} and {G} in three parallel wordings."""

    name: str
    frame: str
    index: int
    texts: dict[str, str]


def _term(row: dict[str, str]) -> Term:
    return Term(
        name=row["name"],
        topic=row["topic"],
        left=Wording.parse(row["left"], row["left_form"]),
        neutral=Wording.parse(row["neutral"], row["neutral_form"]),
        right=Wording.parse(row["right"], row["right_form"]),
        klass=row["class"],
        intensity=int(row["intensity"]),
        is_generic=row["generic_neutral"] == "yes",
        is_generated=row["generated"] == "yes",
        guards=tuple(guard for guard in row["guards"].split(";") if guard),
        common=tuple(stance for stance in row["common"].split(";") if stance),
        notes=row["notes"],
    )


def _cues(text: str) -> tuple[str, ...]:
    return tuple(cue.strip() for cue in text.split(";") if cue.strip())


TERMS: Catalogue[Term] = Catalogue("term", map(_term, read_rows("terms.csv")))

FRAMES: Catalogue[Frame] = Catalogue(
    "frame",
    (
        Frame(row["name"], row["label"], row["about"], _cues(row["cues"]))
        for row in read_rows("frames.csv")
    ),
)

TOPICS: Catalogue[Topic] = Catalogue(
    "topic",
    (
        Topic(
            name=row["name"],
            cues=_cues(row["cues"]),
            phrase=row["phrase"],
            groups={stance: row[f"{stance}_group"] for stance in STANCES},
        )
        for row in read_rows("topics.csv")
    ),
)

TEMPLATES: Catalogue[Template] = Catalogue(
    "template",
    (
        Template(
            name=f"{row['frame']}/{row['index']}",
            frame=row["frame"],
            index=int(row["index"]),
            texts={stance: row[stance] for stance in STANCES},
        )
        for row in read_rows("templates.csv")
    ),
)
