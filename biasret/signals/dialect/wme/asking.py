"""Questions the back-rules share: where clauses open, what subjects are, what agrees."""

from __future__ import annotations

from functools import cache

from biasret.signals.dialect.lexicon import ing_form, pairs, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import KIN, PERSON, View

__all__ = [
    "SUBJECTS",
    "has_left",
    "is_adjective",
    "is_base",
    "is_participle",
    "opens_clause",
    "participle_of",
    "phrase_start",
    "predicate_kind",
    "present_be",
    "subject_before",
    "third",
]

SUBJECTS = frozenset({"i", "you", "he", "she", "it", "we", "they"})
_ADVERBS = frozenset(
    {"also", "always", "still", "just", "really", "usually", "often", "already", "never", "even"}
    | {"constantly", "probably", "so", "very", "too", "real", "finally", "now", "only", "all"}
)
_PLACES = frozenset({"in", "at", "on", "under", "near", "outside", "inside", "here", "there"})


def opens_clause(view: View, token: Token) -> bool:
    """Whether a clause can begin at a token."""
    if token.i == 0:
        return True
    before = view.tokens[token.i - 1]
    return (before.kind == "punct" and before.lower not in ("'", '"', "-", "/")) or (
        before.lower in words("clause_openers")
    )


def has_left(view: View, token: Token, forms: frozenset[str], *, within: int = 8) -> bool:
    """Whether one of the forms stands before a token in its stretch between marks."""
    for i in range(token.i - 1, max(-1, token.i - 1 - within), -1):
        if view.lower(i) in (",", ";", ".", ":", "?", "!", "and", "but", "because"):
            return False
        if view.lower(i) in forms:
            return True
    return False


def subject_before(view: View, i: int) -> tuple[Token, str] | None:
    """The subject that ends right before an index, adverbs aside, and its kind.

    Kinds: ``pronoun``, ``kin`` (with its owner or article), ``owned`` (my, his ... + noun)
    or ``other``. None where no clause opens with it.
    """
    at = i - 1
    while view.lower(at) in _ADVERBS and at > 0:
        at -= 1
    last = view.at(at)
    if last is None:
        return None
    if last.lower in SUBJECTS:
        return (last, "pronoun") if opens_clause(view, last) else None
    first = phrase_start(view, last)
    start = first.i
    before = view.at(at - 1)
    counted = before is not None and (
        before.kind == "number" or before.lower in words("number_words")
    )
    if counted and last.lower in words("units"):
        return None
    noun = view.tag(at)[:2] == "NN" or last.lower in PERSON
    if not noun or not opens_clause(view, first):
        return None
    if first.tag == "PRP$" or first.lower in ("my", "his", "her", "our", "their", "your"):
        kin = any(view.lower(k) in KIN for k in range(start, at + 1))
        return last, "kin" if kin else "owned"
    if first.tag == "DT" or last.lower in KIN:
        return last, "kin" if last.lower in PERSON and first.lower in (
            "the",
            last.lower,
        ) else "other"
    return None


def phrase_start(view: View, last: Token) -> Token:
    """The first token of the short noun phrase that ends in a token."""
    start = last.i
    while start > 0 and view.tag(start)[:2] in ("NN", "JJ", "CD", "PO") and last.i - start < 4:
        start -= 1
    return view.tokens[start]


def third(view: View, subject: Token) -> bool:
    """Whether a subject is third person singular."""
    if subject.lower in SUBJECTS:
        return subject.lower in ("he", "she", "it")
    joined = view.lower(phrase_start(view, subject).i - 1) == "and" and subject.dep == "conj"
    return subject.tag not in ("NNS", "NNPS") and not joined


def present_be(view: View, subject: Token) -> str:
    """*am*, *is* or *are* by agreement."""
    if subject.lower == "i":
        return "am"
    return "is" if third(view, subject) else "are"


def is_adjective(view: View, token: Token) -> bool:
    """Whether a token is a predicate adjective of the closed lists."""
    listed = words("adjectives") | words("adjectival_participles")
    return token.lower in listed and token.tag[:2] in ("JJ", "VB", "RB", "NN", "IN")


def is_participle(token: Token) -> bool:
    """Whether a form can only be a participle, or ends in -ed."""
    only = token.lower in words("participles_only")
    return only or (token.lower.endswith("ed") and len(token.lower) > 4)


def participle_of(form: str) -> str:
    """The WME participle for a past form after *have*: *took* to *taken*."""
    return pairs("past_to_participle").get(form, form)


def is_base(token: Token) -> bool:
    """Whether a form is a base verb of the closed list."""
    return token.lower in words("verbs") and token.lower not in ("be",)


def predicate_kind(view: View, i: int) -> str:
    """What can stand after a subject without a verb: V-ing, adjective, place, noun; or empty."""
    token = view.at(i)
    if token is None:
        return ""
    if token.lower in ("going", "about") and view.lower(i + 1) == "to":
        return "future"
    if token.lower.endswith("ing") and token.tag in ("VBG", "NN", "JJ", "VBP", "VB"):
        return "V-ing" if _is_ing_verb(token) else ""
    timed = view.lower(i + 1) in words("current_words") | {"lately", "tomorrow"}
    if is_adjective(view, token) and (timed or view.tag(i + 1)[:2] != "NN"):
        return "adjective"
    if token.lower in _PLACES and token.tag in ("IN", "RB", "EX"):
        follows = view.tag(i + 1)[:3]
        if token.lower in ("here", "outside", "inside") or follows in ("DT", "PRP", "NN", "JJ"):
            return "place"
    if token.lower in ("a", "an") and view.tag(i + 1)[:2] in ("NN", "JJ"):
        return "noun"
    return ""


def _is_ing_verb(token: Token) -> bool:
    return token.lower in _ing_forms()


@cache
def _ing_forms() -> frozenset[str]:
    return frozenset(ing_form(base) for base in words("verbs"))
