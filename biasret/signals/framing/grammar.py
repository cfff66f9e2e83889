"""A term in another wording, with the articles and verbs around it set right.

No parser: the word before and the word behind decide. Where they do not decide, nothing
around the term is changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from biasret.signals.framing.agreement import agreement_changes
from biasret.signals.framing.editing import Change
from biasret.signals.framing.inflect import (
    capitals_of,
    has_postmodifier,
    in_capitals,
    in_number,
    indefinite,
    like,
)
from biasret.signals.framing.lexicon import Match, attributive_neutral
from biasret.signals.framing.records import Wording
from biasret.signals.framing.tokens import Document, Token
from biasret.signals.framing.wordlists import ARTICLES, DETERMINERS, FUNCTION_WORDS, HEADS, VERBS

__all__ = ["Rewording", "article_change", "reword"]

_BE = frozenset("is are was were isn't aren't wasn't weren't be been".split())
_ADVERBS = frozenset(
    "still again never always already soon today yesterday tonight once twice".split()
)
#: Only behind these can an article begin a noun phrase.
_BEFORE_ARTICLE = FUNCTION_WORDS | VERBS


@dataclass(frozen=True)
class Rewording:
    """The changes that put one wording in place of another, or why it cannot be done."""

    changes: tuple[Change, ...]
    why_not: str | None = None


def reword(
    document: Document,
    match: Match,
    wording: Wording,
    *,
    stance: str,
    why: str,
    adjectives: frozenset[str] = frozenset(),
) -> Rewording:
    """Put a wording in place of a match.

    Parameters
    ----------
    wording
        What to write.
    stance
        Whose wording it is.
    why
        The sentence shown with the change.
    adjectives
        Words to look past, between an article or auxiliary and the term, because they are
        being dropped.
    """
    tokens, entry = document.tokens, match.entry
    after = tokens[match.last + 1] if match.last + 1 < len(tokens) else None
    modifies = (
        after is not None and after.link == "tight" and after.key in HEADS and not match.possessive
    )
    if modifies and has_postmodifier(wording):
        shorter = attributive_neutral(entry.term) if wording is entry.term.neutral else None
        if shorter is None:
            return Rewording((), f"“{wording.text}” cannot stand before “{after.text}”")  # type: ignore[union-attr]
        wording = shorter
    own_number = _number(entry.wording, entry.is_other_number)
    is_other = entry.is_other_number and entry.wording.number == wording.number
    if modifies and wording.number == "pl" and own_number == "mass":
        is_other = True  # a modifier is singular: *school voucher bill*
    text, number = in_number(wording, is_other=is_other)

    before = _before(document, match, adjectives)
    article = _Article.plan(
        before,
        entry.wording,
        wording,
        number,
        own_number,
        modifies=modifies or _may_modify(document, match, before, after),
        may_insert=not document.is_headline and (not before or before[-1].key in _BEFORE_ARTICLE),
    )
    if article is None:
        return Rewording((), f"“{wording.text}” does not fit behind “{before[-1].text}”")

    style = capitals_of(
        document.text[match.start : match.end - len(match.possessive)],
        ("the " if entry.wording.needs_the else "") + entry.wording.text,
        is_first=tokens[match.first].is_first or article.opens_sentence,
        is_title_case=document.is_title_case,
    )
    if article.opens_sentence and style == "plain":
        style = "sentence"
    insert = ""
    if article.insert:
        word = indefinite(text) if article.insert == "a" else article.insert
        insert = (
            in_capitals(
                word,
                "sentence"
                if style in {"sentence", "title"} and tokens[match.first].is_first
                else "upper"
                if style == "upper"
                else "plain",
            )
            + " "
        )
        if style == "sentence":
            style = "plain"
    written = in_capitals(text, style)
    fields = {
        "why": why,
        "term": entry.term.name,
        "topic": entry.term.topic,
        "lean_from": entry.stance,
        "lean_to": stance,
        "klass": entry.term.klass,
        "intensity": entry.term.intensity,
    }
    changes = [
        Change(
            match.start,
            match.end,
            insert + written + _possessive(match.possessive, written),
            "term",
            **fields,  # type: ignore[arg-type]
        )
    ]
    if article.token is not None:
        changes += _article_changes(
            document, article, written, match, bool(before and before[-1] is not article.token)
        )
    if number != own_number and "pl" in (number, own_number) and number not in ("adj", "verb"):
        changes += agreement_changes(document, match, before, is_plural=number == "pl")
    return Rewording(tuple(changes))


def _may_modify(document: Document, match: Match, before: list[Token], after: Token | None) -> bool:
    """Whether the word behind looks like a noun the term modifies: *Obamacare ploy*.

    Behind an inverted verb it is the predicate: *is Obamacare popular*.
    """
    start = max(match.first - len(before) - 1, 0)
    leading = {token.key for token in document.tokens[start : match.first]}
    if after is None or after.link != "tight" or not _BE.isdisjoint(leading):
        return False
    key = after.key
    return not (
        key in FUNCTION_WORDS
        or key in VERBS
        or key in _ADVERBS
        or key.endswith(("ly", "ing", "ed", "able", "al", "ive", "ous", "ful", "ic", "ary", "less"))
    )


def _number(wording: Wording, is_other: bool) -> str:
    if is_other:
        return "sg" if wording.number == "pl" else "pl"
    return wording.number


def _before(document: Document, match: Match, adjectives: frozenset[str]) -> list[Token]:
    """Tokens that may determine the term: the word before it, past adjectives."""
    tokens, at = document.tokens, match.first
    found: list[Token] = []
    while at > 0 and len(found) < 4 and tokens[at].link in ("tight", "comma"):
        token = tokens[at - 1]
        found.insert(0, token)
        if token.key not in adjectives and not _is_adjective(token.key):
            break
        at -= 1
    return found


def _is_adjective(key: str) -> bool:
    return key in {
        "new",
        "big",
        "broad",
        "major",
        "full",
        "federal",
        "national",
        "state",
        "possible",
        "so-called",
    } or (len(key) > 5 and key.endswith(("ive", "ous", "ful", "able", "ic")))


@dataclass(frozen=True)
class _Article:
    """What happens to the article: `token` becomes `becomes` ("" drops it), or one is inserted."""

    token: Token | None = None
    becomes: str | None = None
    insert: str = ""
    opens_sentence: bool = False

    @classmethod
    def plan(
        cls,
        before: list[Token],
        source: Wording,
        target: Wording,
        number: str,
        own_number: str,
        *,
        modifies: bool,
        may_insert: bool,
    ) -> _Article | None:
        """None where the words before the term leave no room for the target."""
        word = before[0].key if before else ""
        token = before[0] if word in ARTICLES else None
        determined = token is not None or word in DETERMINERS or word.endswith("'s")
        if target.needs_the:
            if word == "the":
                return cls()
            return None if determined or len(before) > 1 else cls(insert="the")
        if target.number in ("adj", "verb"):
            return cls(token, word) if word in ("a", "an") else cls()
        takes_article = number == "sg"
        if token is not None:
            if not takes_article and (
                word in ("a", "an") or source.is_definite or own_number == "sg"
            ):
                if modifies:
                    return cls(token, word)
                return cls(token, "", opens_sentence=token.is_first)
            if takes_article and target.is_definite and word in ("a", "an") and not modifies:
                return cls(token, "the")
            return cls(token, word)
        if determined or modifies or not (may_insert or source.needs_the):
            return cls()
        had_article = own_number == "sg" and source.is_definite and not source.needs_the
        if takes_article and (own_number != "sg" or (target.is_definite and not had_article)):
            return cls(insert="the" if target.is_definite else "a")
        return cls()


def _article_changes(
    document: Document, article: _Article, written: str, match: Match, has_between: bool
) -> list[Change]:
    token = article.token
    assert token is not None
    if article.becomes == "":
        end = token.end
        while end < len(document.text) and document.text[end].isspace():
            end += 1
        return [Change(token.start, end, "", "article", "The new wording takes no article.")]
    if article.becomes == "the" and token.key != "the":
        return [_article(token, "the")]
    if token.key in ("a", "an") and not has_between:
        return article_change(token, written)
    return []


def article_change(token: Token, following: str) -> list[Change]:
    """*a* or *an* set right before the words that now follow; nothing where it is right."""
    right = indefinite(following)
    return [] if token.key == right else [_article(token, right)]


def _article(token: Token, word: str) -> Change:
    return Change(
        token.start,
        token.end,
        like(token.text, word),
        "article",
        "The article follows the new wording.",
    )


def _possessive(mark: str, written: str) -> str:
    if not mark:
        return ""
    quote = "’" if "’" in mark else "'"
    if written.endswith("s"):
        return quote
    return quote + ("S" if written.isupper() else "s")
