"""Text as tokens with their places, and the stretches of it that nothing may touch."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from biasret.signals.framing.wordlists import FUNCTION_WORDS

__all__ = ["Document", "Span", "Token", "read"]

# U.S.-style initials; amounts keep their digits together; & reads as "and".
_TOKEN = re.compile(
    r"(?:[A-Za-z]\.){2,}|\d+(?:[.,]\d+)*(?:[^\W_]*)|[^\W_]+(?:['’ʼ][^\W_]+)*|&", re.UNICODE
)
_TIGHT = re.compile(r"[\s\-‐‑'’ʼ]{1,8}[$€£]?\Z")
_COMMA = re.compile(r"\s?,\s{1,3}\Z")
_SENTENCE_END = re.compile(r"[.?!:;\n…|]|\s[-–—]\s")

#: Stretches that stay as typed, each with the reason shown. Lengths are bounded so that a
#: hostile text of unmatched quotes costs no more than a plain one.
_PROTECTED = (
    (re.compile(r"https?://\S+|www\.\S+", re.I), "inside a web address"),
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"), "inside an e-mail address"),
    (re.compile(r"(?<!\w)[#@]\w+"), "inside a hashtag or handle"),
    (re.compile(r'"[^"\n]{1,600}"|“[^“”\n]{1,600}”|«[^«»\n]{1,600}»'), "inside quotation marks"),
    (re.compile(r"‘[^‘\n]{1,300}?’(?!\w)"), "inside quotation marks"),
    (
        re.compile(r"(?<![\w'])'(?=\S)[^'\n]{1,300}(?:'\w[^'\n]{0,300}){0,4}'(?!\w)"),
        "inside quotation marks",
    ),
    (re.compile(r"(?<![\w*])\*(?=\S)[^*\n]{1,200}(?<=\S)\*(?!\w)"), "inside italics"),
    (re.compile(r"(?<!\w)_(?=\S)[^_\n]{1,200}(?<=\S)_(?!\w)"), "inside italics"),
)


class Span(NamedTuple):
    """A stretch of text by code points, and why it is marked."""

    start: int
    end: int
    why: str


class Token(NamedTuple):
    """A word: its place, its comparison key, and how it hangs on the word before it.

    `link` is ``tight`` (space, hyphen or apostrophe only), ``comma`` or ``break``.
    """

    start: int
    end: int
    text: str
    key: str
    base: str
    link: str
    is_first: bool

    @property
    def is_capital(self) -> bool:
        """Starts with a capital letter."""
        return self.text[0].isupper()


class Document:
    """A text read once: its tokens, its protected stretches, its style of capitals."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokenise(text)
        self.protected = _protected(text)
        self._starts = [span.start for span in self.protected]
        long = [
            token
            for token in self.tokens
            if len(token.text) > 3 and not token.is_first and token.key not in FUNCTION_WORDS
        ]
        capital = sum(token.is_capital for token in long)
        #: Most longer words carry a capital, as in a heading: capitals say nothing then.
        self.is_title_case = len(long) >= 2 and capital >= 0.8 * len(long)
        #: Written like a headline: no articles, no closing mark. Nothing gets an article then.
        self.is_headline = self.is_title_case or (
            not text.rstrip().endswith((".", "?", "!"))
            and not any(token.key in ("a", "an", "the") for token in self.tokens)
        )
        #: What has been found out about the whole text, so that it is found out once.
        self.facts: dict[str, bool] = {}
        self.keys = frozenset(token.key for token in self.tokens) | frozenset(
            token.base for token in self.tokens
        )

    def protection(self, start: int, end: int) -> str | None:
        """Why a stretch may not be touched, or None."""
        at = bisect_right(self._starts, start) - 1
        for span in self.protected[max(at, 0) : at + 2]:
            if span.start < end and start < span.end:
                return span.why
        return None


def read(text: str) -> Document:
    """Read a text; any string of code points is accepted."""
    return Document(text)


def _tokenise(text: str) -> list[Token]:
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        word = match.group()
        gap = text[end : match.start()]
        if not tokens:
            link, is_first = "break", True
        elif gap == " " or _TIGHT.match(gap):
            link, is_first = "tight", False
        elif _COMMA.match(gap):
            link, is_first = "comma", False
        else:
            link, is_first = "break", _SENTENCE_END.search(gap) is not None
        key = "and" if word == "&" else word.lower().replace("’", "'").replace("ʼ", "'")
        base = key[:-2] if key.endswith("'s") else key
        tokens.append(Token(match.start(), match.end(), word, key, base, link, is_first))
        end = match.end()
    return tokens


def _protected(text: str) -> list[Span]:
    found: list[Span] = []
    for pattern, why in _PROTECTED:
        found.extend(Span(match.start(), match.end(), why) for match in pattern.finditer(text))
    found.sort()
    merged: list[Span] = []
    for span in found:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.why)
        else:
            merged.append(span)
    return merged
