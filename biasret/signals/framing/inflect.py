"""Words in another number, with their article, in another style of capitals."""

from __future__ import annotations

import re

from biasret.signals.framing.records import Wording

__all__ = [
    "capitals_of",
    "has_postmodifier",
    "in_capitals",
    "in_number",
    "indefinite",
    "like",
    "other_number",
]

#: The head noun of a wording ends where one of these starts a phrase behind it.
_POSTMODIFIER = re.compile(
    r" (?:about|as|at|behind|between|brought|by|for|from|in|of|on|over|released|that|through|to"
    r"|under|who|with|without|recorded|affecting|pouring|experiencing)\b"
)
_IRREGULAR = {
    "crises": "crisis",
    "people": "person",
    "women": "woman",
    "men": "man",
    "children": "child",
}
_IRREGULAR_PLURAL = {single: plural for plural, single in _IRREGULAR.items()}
_SMALL = frozenset("a an and as at but by for from in of on or the to with".split())

# A leading "u" or "eu" said as "you", and a silent h.
_SAID_WITH_CONSONANT = re.compile(r"(?:uni(?![nm])|u[st]|u\.s|eu|ew|one\b|once|ubiq|ukr)", re.I)
_SAID_WITH_VOWEL = re.compile(r"(?:[aeio]|u|hour|honest|honou?r|heir)", re.I)
_SPELT_OUT = re.compile(r"[AEFHILMNORSX](?:[A-Z]{1,2}\b|[BCDFGHJKLMNPQRTVWXZ]{1,5}Q?\b)")


def has_postmodifier(wording: Wording) -> bool:
    """Whether a phrase follows the head noun: *immigrants without legal status*."""
    return _POSTMODIFIER.search(wording.text) is not None


def other_number(wording: Wording) -> str | None:
    """The wording's singular or plural, or None where it has only one number.

    Examples
    --------
    >>> other_number(Wording("people without housing", "pl"))
    'person without housing'
    >>> other_number(Wording("pathway to citizenship", "sg"))
    'pathways to citizenship'
    >>> other_number(Wording("amnesty", "mass")) is None
    True
    """
    if wording.number not in ("sg", "pl") or wording.needs_the or wording.is_definite:
        return None
    match = _POSTMODIFIER.search(wording.text)
    cut = match.start() if match else len(wording.text)
    before, after = wording.text[:cut], wording.text[cut:]
    if after.startswith((" who ", " that ")) or " and " in before:
        return None  # the clause behind the head would need another verb form
    start = before.rfind(" ") + 1
    noun = before[start:]
    changed = _plural(noun) if wording.number == "sg" else _singular(noun)
    return before[:start] + changed + after


def in_number(wording: Wording, *, is_other: bool) -> tuple[str, str]:
    """Text and number of a wording, in its own number or the other one where it has one."""
    if is_other:
        text = other_number(wording)
        if text is not None:
            return text, "sg" if wording.number == "pl" else "pl"
    return wording.text, wording.number


def _plural(noun: str) -> str:
    if noun.lower() in _IRREGULAR_PLURAL:
        return _IRREGULAR_PLURAL[noun.lower()]
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh", "z")) else "s")


def _singular(noun: str) -> str:
    if noun.lower() in _IRREGULAR:
        return _IRREGULAR[noun.lower()]
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith(("xes", "ches", "shes", "sses", "tuses")):
        return noun[:-2]
    return noun.removesuffix("s")


def indefinite(text: str) -> str:
    """*a* or *an*, by the sound that follows.

    Examples
    --------
    >>> [indefinite(word) for word in ("undocumented", "unionized", "NRA", "SNAP", "hour")]
    ['an', 'a', 'an', 'a', 'an']
    """
    if _SPELT_OUT.match(text):
        return "an"
    if _SAID_WITH_CONSONANT.match(text) or re.match(r"U[A-Z]", text):
        return "a"
    return "an" if _SAID_WITH_VOWEL.match(text) else "a"


def capitals_of(surface: str, canonical: str, *, is_first: bool, is_title_case: bool) -> str:
    """How the typed words carry capitals: ``upper``, ``title``, ``sentence`` or ``plain``.

    Parameters
    ----------
    surface, canonical
        The words as typed, and as the lexicon writes them.
    is_first
        They open a sentence.
    is_title_case
        The text around them is a heading in title case.
    """
    letters = [letter for letter in surface if letter.isalpha()]
    if len(letters) > 3 and surface.isupper() and not canonical.isupper():
        return "upper"
    words = [word for word in re.split(r"[\s\-]+", surface) if word.lower() not in _SMALL]
    own = {word.lower() for word in re.split(r"[\s\-]+", canonical) if word[:1].isupper()}
    gained = [word for word in words if word[:1].isupper() and word.lower() not in own]
    plain = [word for word in words if word[:1].islower()]
    if is_title_case and words and not plain:
        return "title"
    if gained and not plain and len(words) > 1 and len(gained) > 1:
        return "title"
    if gained and is_title_case:
        return "title"
    if is_first and surface[:1].isupper():
        return "sentence"
    if gained and not plain and not is_first:
        return "title"
    return "plain"


def in_capitals(text: str, style: str) -> str:
    """A lexicon wording in a style of `capitals_of`; its own capitals are kept.

    Examples
    --------
    >>> in_capitals("workers without legal status", "title")
    'Workers Without Legal Status'
    """
    if style == "upper":
        return text.upper()
    if style == "sentence":
        return text[:1].upper() + text[1:]
    if style == "title":
        parts = re.split(r"([\s\-]+)", text)
        return "".join(
            part if index and part in _SMALL else part[:1].upper() + part[1:]
            for index, part in enumerate(parts)
        )
    return text


def like(typed: str, word: str) -> str:
    """A single word in the capitals of the one it stands for.

    Examples
    --------
    >>> like("Are", "is"), like("ARE", "is"), like("A", "an")
    ('Is', 'IS', 'An')
    """
    if len(typed) > 1 and typed.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if typed[:1].isupper() else word
