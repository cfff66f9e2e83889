"""What no edit may touch: numbers, units, URLs, quotes, medical terms and names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from biasret.errors import InputError
from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.tokens import RUN, Segment, Token, straight

__all__ = ["PROTECTION_LEVELS", "Protected", "Shield", "is_medical"]

PROTECTION_LEVELS = ("standard", "strict")


@dataclass(frozen=True)
class Protected:
    """A protected span of the text; `reason` completes "it is part of ..."."""

    start: int
    end: int
    reason: str


_PATTERNS = [
    (re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE), "a web address"),
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"), "an e-mail address"),
    (re.compile(r"(?<!\w)[@#]\w+"), "a mention or hashtag"),
    (re.compile(r"`[^`\n]{1,500}`"), "code"),
    (re.compile(r"\[[^\]\n]{1,80}\]"), "a placeholder in brackets"),
    (re.compile(r"<[^<>\n]{1,80}>"), "a tag"),
    (re.compile(r"(?<!\w)(?:[A-Za-z]:)?(?:[\w.-]*[/\\]){2,}[\w.-]*"), "a file path"),
    (re.compile(r"\"[^\"\n]{1,2000}\""), "a quotation"),
    (re.compile(r"“[^”\n]{1,2000}”"), "a quotation"),
    (re.compile(r"(?<!\S)'[^'\n]{1,500}'(?=[\s.,;:!?)]|$)"), "a quotation"),
    (re.compile(r"(?<!\S)‘[^’\n]{1,500}’(?=[\s.,;:!?)]|$)"), "a quotation"),
    (re.compile(r"\w*\d\w*(?:[.,:/x×-]\d\w*)*(?:\s?(?:%|°[CF]?))?"), "a number"),
]


@cache
def _terms() -> dict[str, frozenset[str]]:
    text = files("biasret.signals.dialect").joinpath("data/terms.txt").read_text("utf-8")
    found: dict[str, set[str]] = {}
    name = ""
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            name = line[1:-1]
        else:
            found.setdefault(name, set()).update(line.split())
    return {name: frozenset(entries) for name, entries in found.items()}


@cache
def _stems() -> re.Pattern[str]:
    terms = _terms()
    ends = "|".join(sorted(terms["suffixes"], key=len, reverse=True))
    starts = "|".join(sorted(terms["prefixes"], key=len, reverse=True))
    return re.compile(rf"^(?:\w{{3,}}(?:{ends})s?|(?:{starts})\w{{3,}})$")


def is_medical(word: str) -> bool:
    """Whether a lower-case word is in the table of medical terms, or built like one."""
    terms = _terms()["words"]
    return word in terms or word.removesuffix("s") in terms or bool(_stems().match(word))


class Shield:
    """The protected spans of one text.

    Parameters
    ----------
    text
        The whole text: a quotation may run over several segments.
    level
        ``"standard"``, or ``"strict"`` to protect plain symptom words in *-ing* too.
    """

    def __init__(self, text: str, *, segments: Iterable[Segment], level: str = "standard") -> None:
        if level not in PROTECTION_LEVELS:
            raise InputError(
                f"Protection is {' or '.join(map(repr, PROTECTION_LEVELS))}; found {level!r}."
            )
        self.level = level
        plain = straight(text) if "‘" not in text else text
        # A run without white space that is too long for words is read by no pattern.
        runs = list(RUN.finditer(plain))
        for run in runs:
            plain = plain[: run.start()] + " " * len(run.group()) + plain[run.end() :]
        self.spans = [Protected(r.start(), r.end(), "an unreadable run") for r in runs]
        self.spans += [
            Protected(match.start(), match.end(), reason)
            for pattern, reason in _PATTERNS
            for match in pattern.finditer(plain)
        ]
        for segment in segments:
            self.spans += _of_tokens(segment, level)
        self.spans.sort(key=lambda span: (span.start, span.end))
        self._reasons: dict[int, str] = {}
        for span in self.spans:
            for at in range(span.start, span.end):
                self._reasons.setdefault(at, span.reason)

    def reason(self, start: int, end: int) -> str | None:
        """Why a span may not be altered, or None.

        An insertion is refused only inside a protected span, not at its edge.
        """
        if start == end:
            inside = self._reasons.get(start - 1) is not None and any(
                span.start < start < span.end for span in self.spans
            )
            return self._reasons.get(start) if inside else None
        if not self._reasons:
            return None
        return next((self._reasons[i] for i in range(start, end) if i in self._reasons), None)


def _of_tokens(segment: Segment, level: str) -> list[Protected]:
    found = []
    tokens = segment.tokens
    cased = any(t.lower != t.text for t in tokens) and not segment.text.isupper()
    for token, before in zip(tokens, [None, *tokens], strict=False):
        reason = _word_reason(token, before, tokens, cased, level)
        if reason:
            found.append(Protected(segment.start + token.start, segment.start + token.end, reason))
    return found


def _word_reason(
    token: Token, before: Token | None, tokens: list[Token], cased: bool, level: str
) -> str | None:
    if token.kind == "opaque":
        return "a web address or mention"
    if token.kind != "word":
        return None
    lower = token.lower
    nearby = tokens[max(0, token.i - 2) : token.i]
    if lower in words("units") and any(
        t.kind == "number" or t.lower in words("number_words") for t in nearby
    ):
        return "a quantity"
    if lower in words("number_words") or lower in words("direction_words"):
        return "a number, side or order"
    if lower in words("soft_medical"):
        return "a symptom word (strict protection)" if level == "strict" else None
    if level == "strict" and lower in ("after", "before", "over", "under"):
        return "a word of time or amount (strict protection)"
    if is_medical(lower):
        return "a medical term"
    if not cased or lower in ("i", "i'm") or lower.startswith("'"):
        return None
    if 2 <= len(token.text) <= 6 and token.text.isupper():
        return None if lower in words("function_words") else "an acronym"
    starts = before is None or before.text in '.?!:;"“(-*•' or before.text.startswith("..")
    if token.text[:1].isupper() and not starts and lower not in words("function_words"):
        return "a name"
    return None
