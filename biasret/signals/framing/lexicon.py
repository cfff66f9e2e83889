"""Every surface form of the lexicon, and the longest ones a text holds."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from biasret.signals.framing.inflect import has_postmodifier, other_number
from biasret.signals.framing.records import TERMS, Term, Wording, read_rows
from biasret.signals.framing.tokens import Document, read

__all__ = ["Entry", "Match", "attributive_neutral", "entries", "matches"]


@dataclass(frozen=True)
class Entry:
    """One surface form.

    Attributes
    ----------
    stance
        Whose wording it is; a wording shared by a side and neutral counts as neutral.
    wording
        The wording this form belongs to, in its own number.
    is_other_number
        The form is the singular of a plural wording, or the reverse.
    instead
        The neutral wording where it is not the term's own: such a form is recognised and
        neutralised, and has no counterpart on the other side.
    is_alias
        Recognised, never written: statute labels, spellings, labels for people.
    """

    term: Term
    stance: str
    wording: Wording
    is_other_number: bool
    instead: Wording | None
    is_alias: bool
    words: tuple[str, ...]
    links: tuple[str, ...]

    @property
    def neutral(self) -> Wording:
        """What stands in the neutral text."""
        return self.instead or self.term.neutral


@dataclass(frozen=True)
class Match:
    """A surface form found in a text, by code points and token numbers.

    `possessive` is what the text adds to the form: ``'s``, ``'`` or nothing. The span
    includes it, and includes *the* where the form has its sense only with it.
    """

    entry: Entry
    start: int
    end: int
    first: int
    last: int
    possessive: str


def _forms(text: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    tokens = read(text).tokens
    return [
        (tuple(token.key for token in tokens), tuple(token.link for token in tokens[1:])),
    ]


def _entries_of(
    term: Term, stance: str, wording: Wording, instead: Wording | None, is_alias: bool
) -> list[Entry]:
    texts = [(wording.text, False)]
    other = None if "fixed" in term.guards else other_number(wording)
    if other is not None:
        texts.append((other, True))
    return [
        Entry(term, stance, wording, is_other, instead, is_alias, words, links)
        for text, is_other in texts
        for words, links in _forms(text)
    ]


@cache
def entries() -> tuple[Entry, ...]:
    """All surface forms: terms first, then aliases that are not terms already."""
    found: dict[tuple[str, ...], Entry] = {}

    def add(entry: Entry) -> None:
        found.setdefault(entry.words, entry)

    for term in TERMS.values():
        for stance in ("neutral", "left", "right"):
            wording = term.wording(stance)
            if stance != "neutral" and wording.text == term.neutral.text:
                continue
            for entry in _entries_of(term, stance, wording, None, False):
                if not entry.is_other_number:
                    add(entry)
    for row in read_rows("aliases.csv"):
        instead = Wording.parse(row["neutral"], row["neutral_form"]) if row["neutral"] else None
        alias = Wording.parse(row["alias"], row["form"])
        for entry in _entries_of(TERMS[row["term"]], row["side"], alias, instead, True):
            add(entry)
    for term in TERMS.values():  # other numbers give way to every form written down
        for stance in ("neutral", "left", "right"):
            for entry in _entries_of(term, stance, term.wording(stance), None, False):
                if entry.is_other_number:
                    add(entry)
    return tuple(found.values())


@cache
def _index() -> dict[str, tuple[Entry, ...]]:
    index: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries():
        index[entry.words[0]].append(entry)
    return {
        word: tuple(sorted(group, key=lambda entry: -len(entry.words)))
        for word, group in index.items()
    }


@cache
def attributive_neutral(term: Term) -> Wording | None:
    """A neutral wording of the term that can stand before another noun, if there is one."""
    if not has_postmodifier(term.neutral):
        return term.neutral
    for entry in entries():
        fits = (
            entry.term is term and entry.stance == "neutral" and not has_postmodifier(entry.wording)
        )
        if fits and entry.instead is None and not entry.is_other_number:
            return entry.wording
    return None


def matches(document: Document) -> list[Match]:
    """The surface forms in a text: the longest first, then the leftmost; none overlap."""
    index = _index()
    tokens = document.tokens
    found: list[Match] = []
    for at, token in enumerate(tokens):
        group = index.get(token.key)
        if group is None and token.base is not token.key:
            group = index.get(token.base)
        for entry in group or ():
            match = _match_at(document, at, entry)
            if match is not None:
                found.append(match)
                break  # the group is sorted by length
    if len(found) < 2:
        return found
    found.sort(key=lambda match: (match.first - match.last, match.first))
    taken: set[int] = set()
    kept = []
    for match in found:
        places = range(match.first, match.last + 1)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(match)
    return sorted(kept, key=lambda match: match.first)


def _match_at(document: Document, at: int, entry: Entry) -> Match | None:
    tokens = document.tokens
    last = at + len(entry.words) - 1
    if last >= len(tokens):
        return None
    for offset, word in enumerate(entry.words[:-1]):
        if tokens[at + offset].key != word:
            return None
    for offset, link in enumerate(entry.links, start=1):
        if tokens[at + offset].link != link:
            return None
    final, word = tokens[last], entry.words[-1]
    end = final.end
    possessive = ""
    if final.key != word:
        if final.base != word:
            return None
        possessive = final.text[-2:]
    elif word.endswith("s") and re.match(r"['’](?= \w)", document.text[end : end + 3]):
        possessive = document.text[end]
        end += 1
    first = at
    if entry.wording.needs_the:
        if at == 0 or tokens[at - 1].key != "the" or tokens[at].link != "tight":
            return None
        first = at - 1
    return Match(entry, tokens[first].start, end, first, last, possessive)
