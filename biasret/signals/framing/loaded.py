"""Loaded words that no lexicon row holds: evaluative adjectives, verbs, leading questions."""

from __future__ import annotations

import re

from biasret.signals.framing.detection import Reading
from biasret.signals.framing.editing import Change
from biasret.signals.framing.inflect import like
from biasret.signals.framing.tokens import Document, Token
from biasret.signals.framing.wordlists import POLICY_NOUNS

__all__ = ["EVALUATIVE", "leading", "verbs"]

_VOTED_ON = frozenset(
    "bill bills amendment amendments vote votes nominee nomination deal deals proposal"
    " proposals plan plans program programs policy policies".split()
)

#: Each adjective with the nouns before which it states a fact instead of a judgement.
EVALUATIVE: dict[str, frozenset[str]] = dict.fromkeys(
    "radical extreme dangerous harmful disastrous commonsense reckless draconian cruel"
    " woke corrupt shameful historic bold desperate outrageous heartless ridiculous"
    " catastrophic devastating disgraceful shocking insane crazy".split(),
    frozenset(),
)
EVALUATIVE["failed"] = _VOTED_ON
EVALUATIVE["extreme"] = frozenset({"risk", "weather", "heat", "poverty", "sports"})
EVALUATIVE["historic"] = frozenset({"preservation", "tax", "district", "buildings"})
EVALUATIVE["dangerous"] = frozenset({"drug", "drugs", "goods", "weapons", "animals", "dogs"})


def _verb_forms(*forms: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in forms)


_THROUGH = _verb_forms(
    "force:push", "forces:pushes", "forced:pushed", "forcing:pushing",
    "ram:push", "rams:pushes", "rammed:pushed", "ramming:pushing",
    "jam:push", "jams:pushes", "jammed:pushed", "jamming:pushing",
)  # fmt: skip
_REDUCE = _verb_forms(
    "slash:reduce", "slashes:reduces", "slashed:reduced", "slashing:reducing",
    "gut:reduce", "guts:reduces", "gutted:reduced", "gutting:reducing",
)  # fmt: skip
_AFFECT = _verb_forms(
    "destroy:affect", "destroys:affects", "destroyed:affected", "destroying:affecting",
    "ruin:affect", "ruins:affects", "ruined:affected", "ruining:affecting",
    "save:affect", "saves:affects", "saved:affected", "saving:affecting",
)  # fmt: skip
_OPPOSE = _verb_forms(
    "block:oppose", "blocks:opposes", "blocked:opposed", "blocking:opposing"
)  # fmt: skip
_CRITICIZE = _verb_forms(
    "attack:criticize", "attacks:criticizes", "attacked:criticized", "attacking:criticizing"
)  # fmt: skip
_SAY = _verb_forms("admit:say", "admits:says", "admitted:said", "admitting:saying")

_LEGISLATIVE = frozenset(
    "bill bills law laws legislation amendment amendments nominee nominees nomination"
    " nominations vote votes reform reforms plan plans measure measures resolution"
    " proposal proposals act".split()
)
_LEGISLATURES = frozenset("congress senate house legislature committee parliament".split())
_SPEECH = frozenset("speech speeches remarks comments statement address".split())
_COURTS = frozenset("judge judges court courts scotus injunction ruling appeals".split())
#: A verb's object: a determiner or an adjective may come first, a clause may not.
_OBJECT = 4
_STOPS = frozenset(
    "that who which because if when while and or but to for from by with in on at as is"
    " are was were be".split()
)


def verbs(reading: Reading) -> list[Change]:
    """Loaded verbs with a plain one in the same form."""
    document = reading.document
    tokens = document.tokens
    starts = {match.first for match in reading.matches}
    inside = {at for m in reading.matches for at in range(m.first, m.last + 1)}
    changes: list[Change] = []

    def change(token: Token, word: str, why: str) -> None:
        changes.append(Change(token.start, token.end, like(token.text, word), "verb", why))

    for at, token in enumerate(tokens):
        key = token.key
        if at in inside or key not in _ALL or document.protection(token.start, token.end):
            continue
        reach = _object(tokens, at)
        keys = [tokens[place].key for place in reach]
        if key in _THROUGH:
            window = tokens[at + 1 : at + 8]
            names = [other.key for other in window]
            if "through" in names and not _LEGISLATURES.isdisjoint(names[names.index("through") :]):
                change(token, _THROUGH[key], "Says how a law is passed without judging it.")
        elif key in _SAY:
            if keys[:1] == [] and at + 1 < len(tokens) and tokens[at + 1].key == "that":
                change(token, _SAY[key], "“Admit” takes what follows for granted.")
        elif key in _OPPOSE:
            before = {other.key for other in tokens[max(at - 6, 0) : at]}
            if not _LEGISLATIVE.isdisjoint(keys) and _COURTS.isdisjoint(before):
                change(token, _OPPOSE[key], "Names the position instead of the obstacle.")
        elif key in _CRITICIZE:
            if not _SPEECH.isdisjoint(keys):
                change(token, _CRITICIZE[key], "Words are criticized; “attack” judges the critic.")
        elif not POLICY_NOUNS.isdisjoint(keys) or any(place in starts for place in reach):
            if _is_noun(tokens, at):
                continue
            plain = _REDUCE.get(key) or _AFFECT[key]
            change(token, plain, "Leaves open how large the effect is, or whether it is good.")
    return changes


_ALL = frozenset({**_THROUGH, **_REDUCE, **_AFFECT, **_OPPOSE, **_CRITICIZE, **_SAY})


def _object(tokens: list[Token], at: int) -> list[int]:
    places = []
    for place in range(at + 1, min(at + 1 + _OBJECT, len(tokens))):
        if tokens[place].link != "tight" or tokens[place].key in _STOPS:
            break
        places.append(place)
    return places


def _is_noun(tokens: list[Token], at: int) -> bool:
    """*the gut*, *a save*: a determiner before the word makes it a noun."""
    return at > 0 and tokens[at - 1].key in {"a", "an", "the", "his", "her", "their", "its", "my"}


# Leading questions -----------------------------------------------------------------------

#: What does X say about whether ...: X is taken from the question.
_SAYS = "what"
#: Each pattern with what it becomes; the first letter's case is kept.
_START = r"(?:^|(?<=[.?!] ))"
_LEADING = tuple(
    (re.compile(_START + pattern, re.I), becomes)
    for pattern, becomes in (
        (
            r"Why (?:won['’]t|doesn['’]t|don['’]t|can['’]t) ((?:[^\W\d_][\w.'’-]*\s){1,4}?)"
            r"admit (?:that )?(?=\w)",
            _SAYS,
        ),
        (r"Isn['’]t it (?:true|obvious|clear) that\b", "Is it true that"),
        (
            r"How (?:can|could) any(?:one|body) (?:possibly |really )?"
            r"(?=support|oppose|defend|believe|vote|want)",
            "Why do people ",
        ),
        (r"Shouldn['’]t (?=we\b|the\b|they\b|congress\b|states\b)", "Should "),
    )
)


def leading(document: Document) -> list[Change]:
    """Leading questions asked openly. The question word stays, what is asked stays."""
    changes = []
    for pattern, becomes in _LEADING:
        for match in pattern.finditer(document.text[:5_000]):
            text = becomes
            if becomes == _SAYS:
                subject = match.group(1).strip()
                verb = "do" if _is_plural(subject) else "does"
                text = f"What {verb} {subject} say about whether "
            if match.group()[:1].islower():
                text = text[:1].lower() + text[1:]
            if match.group().isupper():
                text = text.upper()
            if not document.protection(match.start(), match.end()):
                changes.append(
                    Change(
                        match.start(),
                        match.end(),
                        text,
                        "leading",
                        "Asks openly what the question took for granted.",
                    )
                )
    return changes


def _is_plural(subject: str) -> bool:
    last = subject.split()[-1].lower()
    return last in {"people", "they", "we", "you"} or (
        last.endswith("s") and not last.endswith("ss") and last != "congress"
    )
