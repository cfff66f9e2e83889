"""Text into segments and tokens, with offsets into the text as it was given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from biasret.signals.dialect.lexicon import words

__all__ = ["Segment", "Token", "segments_of", "straight", "tokenise"]

#: Longest piece given to the parser at once; longer ones are cut at white space.
MAX_SEGMENT = 1500
#: Longest piece without white space that is read as words; longer ones stay unread.
MAX_RUN = 200

_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|st|jr|sr|vs|etc|e\.g|i\.e|approx|no|inc|dept|[a-z])\.$",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?:[.?!]+[\"'”’)\]]*(?=\s)|\n)\s*")
RUN = re.compile(rf"\S{{{MAX_RUN + 1},}}")

_TOKEN = re.compile(
    r"""
    (?P<opaque> https?://\S+ | www\.\S+ | [\w.+-]+@[\w-]+\.[\w.-]+ | [@#]\w+ )
  | (?P<number> \d+(?:[.,:/]\d+)* )
  | (?P<word> [^\W\d_]+(?:'[^\W\d_]+)* | '(?:s|re|ve|m|ll|d)\b )
  | (?P<punct> \.{2,} | -{2,} | [^\w\s] | _ )
    """,
    re.VERBOSE | re.IGNORECASE,
)

_SUFFIX = re.compile(r"(?:n't|'(?:s|re|ve|m|ll|d))$")
_BARE_NEGATION = {form + "nt": (form, "nt") for form in words("bare_negation")} | {
    "cant": ("ca", "nt")
}
_BARE = {"im": ("i", "m"), "ive": ("i", "ve"), "youre": ("you", "re"), "theyre": ("they", "re")}
_WHOLE = {"cannot": ("can", "not"), "gonna": ("gon", "na"), "gotta": ("got", "ta")}
_SPLIT = _BARE_NEGATION | _BARE | _WHOLE

#: What a split part stands for; the parser was trained to see it that way.
NORMS = {
    "n't": "not", "nt": "not", "ca": "can", "wo": "will", "'m": "am", "m": "am", "'re": "are",
    "re": "are", "'ve": "have", "ve": "have", "'ll": "will", "gon": "going", "na": "to",
    "ta": "to",
}  # fmt: skip


def straight(text: str) -> str:
    """The text with curly apostrophes straight and unreadable characters replaced.

    One character for one, so that offsets stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "'" if c in "’ʼ‘" else c if c.isprintable() or c.isspace() else "�" for c in text
    )


@dataclass(slots=True)
class Token:
    """One token of a segment; offsets count from the start of the segment.

    `tag`, `dep` are empty and `head` is the token itself where there is no parse.
    """

    i: int
    text: str
    start: int
    end: int
    space: bool
    kind: str = "word"
    lower: str = ""
    tag: str = ""
    dep: str = ""
    lemma: str = ""
    head: int = -1
    sentence: int = 0
    children: list[int] = field(default_factory=list)
    #: What the parser is shown instead of the text; the normaliser's reading of a spelling.
    read: str = ""


@dataclass(slots=True)
class Segment:
    """A sentence, a line, or what lies between two marks that end a sentence.

    Rules see one segment at a time, so what follows can never change what came before.
    """

    text: str
    start: int
    tokens: list[Token]
    is_parsed: bool = False

    @property
    def is_question(self) -> bool:
        """Whether it ends in a question mark."""
        return self.text.rstrip("\"'”’)] \n").endswith("?")


def segments_of(text: str) -> list[tuple[int, int]]:
    """Spans of the segments; together with the white space between them they are the text.

    Examples
    --------
    >>> [("It hurts. Why? Dr. Ames asked.")[a:b] for a, b in
    ...  segments_of("It hurts. Why? Dr. Ames asked.")]
    ['It hurts.', 'Why?', 'Dr. Ames asked.']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        mark = text[max(start, match.start() - 8) : match.start() + 1]
        if match.group().rstrip() == "." and _ABBREVIATION.search(mark):
            continue
        spans.append((start, match.start() + len(match.group().rstrip())))
        start = match.end()
    spans.append((start, len(text)))
    return [piece for a, b in spans for piece in _pieces(text, a, b) if text[slice(*piece)].strip()]


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A span cut so that no piece is too long to be parsed."""
    if end - start <= MAX_RUN:
        return [(start, end)]
    pieces: list[tuple[int, int]] = []
    for a, b in _around_runs(text, start, end):
        while b - a > MAX_SEGMENT:
            cut = max(text.rfind(" ", a + 1, a + MAX_SEGMENT), text.rfind("\t", a + 1, a + 1500))
            cut = cut if cut > a else a + MAX_SEGMENT
            pieces.append((a, cut))
            a = cut
        pieces.append((a, b))
    return pieces


def _around_runs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span without runs that have no white space for too long."""
    spans = []
    at = start
    for match in RUN.finditer(text, start, end):
        spans.append((at, match.start()))
        at = match.end()
    return [*spans, (at, end)]


def tokenise(text: str) -> list[Token]:
    """Tokens of a segment, contractions split as the parser's training data splits them.

    Examples
    --------
    >>> [token.text for token in tokenise("I can't, she's gonna; dont")]
    ['I', 'ca', "n't", ',', 'she', "'s", 'gon', 'na', ';', 'do', 'nt']
    """
    plain = straight(text)
    low = plain.lower()
    # Lower case changes the length of a few letters; then each token is lowered by itself.
    is_aligned = len(low) == len(plain)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(plain):
        kind = match.lastgroup or "punct"
        start, end = match.span()
        whole = kind != "word" or ("'" not in match.group() and low[start:end] not in _SPLIT)
        parts = [(start, end)] if whole else _parts(match.group(), start, kind)
        for a, b in parts:
            i = len(tokens)
            lower = low[a:b] if is_aligned else plain[a:b].lower()
            space = b < len(plain) and plain[b].isspace()
            tokens.append(Token(i, text[a:b], a, b, space, kind, lower, head=i))
    if tokens:
        tokens[-1].space = False
    return tokens


def _parts(word: str, start: int, kind: str) -> list[tuple[int, int]]:
    end = start + len(word)
    if kind != "word":
        return [(start, end)]
    lower = word.lower()
    if lower in _SPLIT:
        cut = start + len(_SPLIT[lower][0])
        return [(start, cut), (cut, end)]
    parts: list[tuple[int, int]] = []
    while (match := _SUFFIX.search(lower)) and match.start() > 0:
        parts.insert(0, (start + match.start(), start + len(lower)))
        lower = lower[: match.start()]
    return [(start, start + len(lower)), *parts]
