"""Verbs and demonstratives that follow a term's new number."""

from __future__ import annotations

from biasret.signals.framing.editing import Change
from biasret.signals.framing.inflect import like
from biasret.signals.framing.lexicon import Match
from biasret.signals.framing.tokens import Document, Token
from biasret.signals.framing.wordlists import ARTICLES, DETERMINERS

__all__ = ["agreement_changes"]

_PREPOSITIONS = frozenset(
    "of for in on to by with about from against over under at between through into"
    " without within behind after before during like than as via toward towards across"
    " among beyond".split()
)
_SUBJECT_BREAKS = _PREPOSITIONS | frozenset({"and", "or", "nor", "plus"})

#: Singular form first. Auxiliaries change in front of a subject and behind it.
_AUXILIARIES = (
    ("is", "are"), ("was", "were"), ("does", "do"), ("has", "have"), ("isn't", "aren't"),
    ("wasn't", "weren't"), ("doesn't", "don't"), ("hasn't", "haven't"),
)  # fmt: skip
#: Main verbs change only right behind the subject, where no auxiliary comes before.
_VERBS = tuple(
    (verb + ending, verb)
    for ending, verbs in (
        ("s", "affect hurt help reduce increase raise lower cost work make mean keep cause get"
              " give take lead need want face remain become seem create improve protect"
              " threaten save harm kill pay win lose violate divide change"),
        ("es", "go push"),
    )
    for verb in verbs.split()
)  # fmt: skip
_TO_PLURAL = dict(_AUXILIARIES) | dict(_VERBS)
_TO_SINGULAR = {plural: single for single, plural in (*_AUXILIARIES, *_VERBS)}
_AUXILIARY_WORDS = frozenset(word for pair in _AUXILIARIES for word in pair)
_MODALS = frozenset(
    "do does did don't doesn't didn't will would won't can could can't should shall may"
    " might must to let make help helps".split()
)
_QUESTION_WORDS = frozenset("how why when where what which who whether if much many often".split())
_DEMONSTRATIVES = {"this": "these", "that": "those"}


def agreement_changes(
    document: Document, match: Match, before: list[Token], *, is_plural: bool
) -> list[Change]:
    """Changes to verbs and demonstratives when a term has changed its number.

    Parameters
    ----------
    before
        Tokens that determine the term, as `grammar` reads them.
    is_plural
        The new number.

    Returns
    -------
    list of Change
        Empty where the term is no subject, or not the only one.
    """
    tokens = document.tokens
    after = tokens[match.last + 1] if match.last + 1 < len(tokens) else None
    if match.possessive or (
        after is not None and after.link != "break" and after.key in {"and", "or"}
    ):
        return []  # one of several subjects, or no subject at all
    table = _TO_PLURAL if is_plural else _TO_SINGULAR
    changes: list[Change] = []
    edge = before[0] if before else None
    place = match.first - len(before)
    if edge is not None and edge.key in (
        _DEMONSTRATIVES if is_plural else set(_DEMONSTRATIVES.values())
    ):
        pairs = _DEMONSTRATIVES if is_plural else {b: a for a, b in _DEMONSTRATIVES.items()}
        changes.append(_verb(edge, pairs[edge.key]))
    if (
        edge is not None
        and edge.key not in _AUXILIARY_WORDS
        and (edge.key in ARTICLES or edge.key in DETERMINERS)
    ):
        place -= 1
        edge = tokens[place] if place >= 0 and tokens[place + 1].link == "tight" else None
    if edge is not None and edge.key in _AUXILIARY_WORDS:
        opener = tokens[place - 1] if place > 0 else None
        if edge.is_first or (opener is not None and opener.key in _QUESTION_WORDS - {"who"}):
            if edge.key in table:
                changes.append(_verb(edge, table[edge.key]))
            return changes
    if edge is not None and edge.key in _SUBJECT_BREAKS:
        return changes
    if after is None or after.link != "tight" or after.key not in table:
        return changes
    if after.key not in _AUXILIARY_WORDS:
        start = max(match.first - 12, 0)
        clause = [token.key for token in tokens[start : match.first]]
        if not _MODALS.isdisjoint(clause) or not _starts_clause(tokens, match.first - len(before)):
            return changes
    changes.append(_verb(after, table[after.key]))
    return changes


def _starts_clause(tokens: list[Token], place: int) -> bool:
    token = tokens[max(place, 0)]
    return (
        token.is_first
        or token.link != "tight"
        or tokens[place - 1].key
        in {"that", "how", "why", "whether", "if", "when", "say", "says", "the", "a"}
    )


def _verb(token: Token, word: str) -> Change:
    return Change(
        token.start,
        token.end,
        like(token.text, word),
        "agreement",
        "The verb follows the new number.",
    )
