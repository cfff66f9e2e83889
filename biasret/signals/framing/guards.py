"""Sense guards: when a form in the lexicon does not mean here what the lexicon means.

A guard looks at one match in its text and returns the reason why the match must stay as it
is, or None. The guards every match passes are listed in `GENERAL`; a term names further ones
in its ``guards`` column as ``kind:words``, or ``kind:subject=words`` where the guard concerns
only forms that start with the subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from biasret.catalogue import Catalogue
from biasret.signals.framing.lexicon import Match
from biasret.signals.framing.records import read_words
from biasret.signals.framing.tokens import Document, Token
from biasret.signals.framing.wordlists import ALSO_NOUNS, FUNCTION_WORDS, VERBS

__all__ = ["GENERAL", "GUARDS", "Guard", "blocked", "is_abroad", "is_personal_medical"]

#: Tokens on each side that count as near.
WINDOW = 6

#: Topics in which a question about oneself is a medical one.
MEDICAL_TOPICS = frozenset({"abortion", "gender", "drugs", "public health", "health care"})

#: Topics whose terms are meant for any country.
WORLD_TOPICS = frozenset({"foreign policy", "trade", "climate"})

_CLINICAL = re.compile(
    r"\b(?:symptoms?|dos(?:e|es|age|ages)|side effects?|recovery time|recover from|blood thinners?"
    r"|my (?:doctor|gp|obgyn|therapist|psychiatrist|surgeon|pharmacist|prescription|surgery)"
    r"|bleeding|cramps?|cramping|nausea|rash|\d+ ?mg|prescribed|prognosis|diagnos(?:e|ed|is)"
    r"|(?:is|are|was|were) (?:it|this|that) safe|safe (?:with|while|during|for (?:me|my|a pregnan))"
    r"|safe to (?:take|get|use|have)|weeks pregnant|am i pregnant|i am pregnant|i'm pregnant"
    r"|trimester|discharge|ache|pain|withdrawal symptoms?|interact(?:s|ions?)? with"
    r"|heal(?:s|ing)?|puberty blockers|cured?"
    r"|genetic|inherited|syndrome|allerg(?:y|ic|ies)|fever)\b"
)
_PERSONAL = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|(?:can|could|do|should|if|when|are|will) you)\b"
)
_BODY = re.compile(
    r"\b(?:abortion|pregnan\w*|unborn|fet(?:us|al)|bab(?:y|ies)|pills?|vaccin\w*|shot|jab"
    r"|booster|hormones?|transition\w*|surgery"
    r"|overdos\w*|addict\w*|opioids?|fentanyl|marijuana|cannabis|weed|drugs?|medication|medicine"
    r"|clinic|detox|rehab|mask|covid\w*|coronavirus|virus|test(?:ed)? positive|disorder)\b"
)
_POLICY = re.compile(
    r"\b(?:laws?|bans?|polic(?:y|ies)|vot\w+|bills?|legali[sz]\w+|courts?|rights|tax\w*"
    r"|politic\w*|government|congress|senat\w+|republicans?|democrats?|protest\w*|candidates?"
    r"|gop|supporters?|opponents?|activists?|polls?)\b"
)
#: Behind a capitalised term these make it a name, even in a heading in title case.
_BODIES = frozenset(
    "academy act association brigade center centre church coalition commission committee"
    " congress corps council foundation institute international league network pac party"
    " project society university".split()
)
#: These do so only where the text around is not in title case.
_ORGANISATIONS = _BODIES | frozenset(
    "action alliance amendment award campaign caucus clause clinic club conference day"
    " days department forum fund group hospital initiative march month movement office"
    " online organization parade press quarterly report review school schools show summit"
    " team task times tour union week".split()
)


@dataclass(frozen=True)
class Context:
    """One match in its text, with what the text is about."""

    document: Document
    match: Match
    topic: str | None

    @property
    def before(self) -> list[Token]:
        """Tokens within the window before the match."""
        return self.document.tokens[max(self.match.first - WINDOW, 0) : self.match.first]

    @property
    def after(self) -> list[Token]:
        """Tokens within the window behind the match."""
        return self.document.tokens[self.match.last + 1 : self.match.last + 1 + WINDOW]


@dataclass(frozen=True)
class Guard:
    """A test of a match against words; returns the reason to leave it, or None."""

    name: str
    about: str
    test: Callable[[Context, frozenset[str]], str | None]


def _holds(tokens: list[Token], words: frozenset[str]) -> str | None:
    return next((token.text for token in tokens if token.key in words or token.base in words), None)


def _near(context: Context, words: frozenset[str]) -> str | None:
    word = _holds(context.before + context.after, words)
    return f"another sense beside “{word}”" if word else None


def _next(context: Context, words: frozenset[str]) -> str | None:
    word = _holds([t for t in context.after[:1] if t.link == "tight"], words)
    return f"another sense before “{word}”" if word else None


def _modifier(context: Context, words: frozenset[str]) -> str | None:
    near = context.before[-2:] + context.after[:1]
    word = _holds(near, words)
    return f"“{word}” states a fact about it" if word else None


def _prev(context: Context, words: frozenset[str]) -> str | None:
    word = _holds(context.before[-1:], words)
    return f"another part of speech behind “{word}”" if word else None


def _topic(context: Context, words: frozenset[str]) -> str | None:
    if (context.topic or "none") in words:
        return None
    return "this sense needs another topic than " + (context.topic or "none")


def _not_topic(context: Context, words: frozenset[str]) -> str | None:
    return f"another sense in {context.topic}" if context.topic in words else None


def _cue(context: Context, words: frozenset[str]) -> str | None:
    if not words.isdisjoint(context.document.keys):
        return None
    return "no other word shows that this sense is meant"


def _case(context: Context, words: frozenset[str]) -> str | None:
    surface = context.document.text[context.match.start : context.match.end]
    if surface[:1].isupper() or "daca" in context.document.keys:
        return None
    return "an everyday word without its capital"


#: Words that may follow a noun made from an adjective: *the wealthy pay*, not *the wealthy donor*.
_AFTER_NOMINAL = frozenset(
    "and or but in on of at by for from with than to pay pays paid get gets got is are"
    " was were be will would should could can may might must do does did have has had who"
    " that benefit gain win lose keep avoid owe own as while if when not only more less"
    " again into over under".split()
)


def _nominal(context: Context, words: frozenset[str]) -> str | None:
    after = context.after[:1]
    if not context.match.entry.wording.needs_the or not after or after[0].link != "tight":
        return None
    if (
        after[0].key == "and"
        and len(context.after) > 1
        and context.after[1].key in {"famous", "powerful"}
    ):
        return "a set phrase"
    follows = after[0].key
    if follows in _AFTER_NOMINAL or (follows in VERBS and follows not in ALSO_NOUNS):
        return None
    return "used as an adjective"


def _attributive(context: Context, words: frozenset[str]) -> str | None:
    after = context.after[:1]
    if after and after[0].link == "tight" and after[0].key not in FUNCTION_WORDS | VERBS:
        return None
    return "does not stand before a noun here"


def _fixed(context: Context, words: frozenset[str]) -> str | None:
    return None  # read by the lexicon: the term has one number only


GUARDS: Catalogue[Guard] = Catalogue(
    "guard",
    [
        Guard("near", "one of the words stands within six tokens", _near),
        Guard("next", "one of the words follows", _next),
        Guard("prev", "one of the words stands before it", _prev),
        Guard("modifier", "a factual modifier stands beside it", _modifier),
        Guard("topic", "the text is not about one of these topics", _topic),
        Guard("not-topic", "the text is about one of these topics", _not_topic),
        Guard("cue", "none of the words is in the text", _cue),
        Guard("case", "it lacks its capital letter", _case),
        Guard("nominal", "it modifies a noun instead of standing for people", _nominal),
        Guard("attributive", "it does not stand before a noun", _attributive),
        Guard("fixed", "it has one number only", _fixed),
    ],
)


def _is_protected(context: Context) -> str | None:
    return context.document.protection(context.match.start, context.match.end)


def _is_medical(context: Context) -> str | None:
    # A clinical question is left alone whole, so the test is on the text, not the window.
    if context.match.entry.term.topic not in MEDICAL_TOPICS:
        return None
    if is_personal_medical(context.document):
        return "a medical question, left as asked"
    return None


def _is_foreign(context: Context) -> str | None:
    if context.match.entry.term.topic in WORLD_TOPICS or not is_abroad(context.document):
        return None
    return "about another country, while the lexicon is of US politics"


def _is_name(context: Context) -> str | None:
    document, match = context.document, context.match
    tokens = document.tokens
    surface = document.text[match.start : match.end]
    if "&" in surface and surface[:1].isupper() and "law" in match.entry.words:
        return "a title"
    first = tokens[match.first]
    if not first.is_capital:
        return None
    after = tokens[match.last + 1] if match.last + 1 < len(tokens) else None
    follows = after is not None and after.link == "tight" and after.is_capital
    names = _BODIES if document.is_title_case else _ORGANISATIONS
    if follows and after is not None and after.key in names and not match.possessive:
        return "part of a name"
    own = match.entry.wording.text[:1].isupper()
    if document.is_title_case or own or surface.isupper():
        return None
    if first.is_first and match.first == match.last and not follows:
        return None
    before = tokens[match.first - 1] if match.first else None
    leads = (
        before is not None
        and first.link == "tight"
        and before.is_capital
        and not before.is_first
        and not first.is_first
    )
    return "part of a name" if leads or (follows and not first.is_first) else None


def _is_compound(context: Context) -> str | None:
    text, match = context.document.text, context.match
    before = text[match.start - 1 : match.start]
    if (before in {"-", "‐", "‑"} and match.start > 1 and text[match.start - 2].isalnum()) or (
        text[match.end : match.end + 1] in {"-", "‐", "‑"}
        and text[match.end + 1 : match.end + 2].isalnum()
    ):
        return "part of a longer compound"
    if match.possessive == "" and match.first and before in {"'", "’"}:
        return "part of a longer compound"
    return None


#: Guards that every match passes, in the order of the reason shown.
GENERAL: tuple[Callable[[Context], str | None], ...] = (
    _is_protected,
    _is_medical,
    _is_foreign,
    _is_name,
    _is_compound,
)


@cache
def _parsed(guard: str) -> tuple[Guard, tuple[str, ...], frozenset[str]]:
    kind, _, rest = guard.partition(":")
    subject, _, words = rest.rpartition("=")
    return GUARDS[kind], tuple(subject.split()), frozenset(w for w in words.split("|") if w)


def blocked(document: Document, match: Match, *, topic: str | None) -> str | None:
    """Why a match must stay as it is, or None.

    Parameters
    ----------
    topic
        What the text is about, judged without this guard.
    """
    context = Context(document, match, topic)
    for general in GENERAL:
        why = general(context)
        if why is not None:
            return why
    for written in match.entry.term.guards:
        guard, subject, words = _parsed(written)
        if subject and match.entry.words[: len(subject)] != subject:
            continue
        why = guard.test(context, words)
        if why is not None:
            return why
    return None


def is_personal_medical(document: Document) -> bool:
    """Whether a text reads as a patient's question: clinical words, or a person and a body.

    A person beside a word of policy (*should I vote for the ban*) is a political question.
    """
    if "medical" not in document.facts:
        text = document.text[:20_000].lower().replace("’", "'")
        body, personal = _BODY.search(text), _PERSONAL.search(text)
        clinical, policy = _CLINICAL.search(text), _POLICY.search(text)
        signs = bool(personal) + bool(clinical)
        document.facts["medical"] = bool(body) and (signs == 2 or (signs == 1 and not policy))
    return document.facts["medical"]


@cache
def _home() -> frozenset[str]:
    return read_words("us_cues.txt") - {"us"}  # a pronoun unless written as a name


def is_abroad(document: Document) -> bool:
    """Whether a text names another country and nothing of the United States."""
    if "abroad" not in document.facts:
        abroad = not read_words("countries.txt").isdisjoint(document.keys) or any(
            token.text == "Turkey" for token in document.tokens
        )
        home = not _home().isdisjoint(document.keys) or any(
            token.text in {"US", "U.S.", "New"} for token in document.tokens
        )
        document.facts["abroad"] = abroad and not home
    return document.facts["abroad"]
