"""How the normaliser reads a segment: spellings undone for the parser, offsets kept."""

from __future__ import annotations

from dataclasses import replace

from biasret.signals.dialect.lexicon import base_of_ing, pairs, words
from biasret.signals.dialect.protection import Shield
from biasret.signals.dialect.tokens import Segment, Token, straight
from biasret.signals.dialect.view import Candidate

__all__ = ["FEATURE_OF_SPELLING", "read_back"]

#: Which feature a spelling shows.
FEATURE_OF_SPELLING = {
    **dict.fromkeys(("dat", "dis", "dem", "dey", "den", "dere", "dese", "da"), "th_stop"),
    **dict.fromkeys(("wit", "witout", "nuttin", "nuffin", "sumn"), "th_final"),
    **dict.fromkeys(("neva", "betta", "ova", "afta", "otha", "anotha", "whateva", "yo"), "r_less"),
    **dict.fromkeys(("jus", "ol", "mus"), "cluster_red"),
    **dict.fromkeys(("hisself", "theyself", "theyselves"), "reflexive_regular"),
    **dict.fromkeys(("theirself", "theirselves"), "reflexive_regular"),
    **dict.fromkeys(("gon", "gonna", "imma", "ima", "i'ma"), "future_gon"),
    **dict.fromkeys(("finna", "boutta"), "finna"),
    **dict.fromkeys(
        ("tryna", "cuz", "bout", "outta", "lemme", "aight", "prolly", "tryin"), "reduction"
    ),
}


def read_back(segment: Segment, shield: Shield) -> tuple[Segment, list[Candidate]]:
    """The segment with every spelling read as WME, and the edits that write it so.

    One written word may be read as two tokens; the second is empty in the text and stands
    at the end of the first, so that every offset still points into the text as given.
    """
    read: list[Token] = []
    edits: list[Candidate] = []
    skip = False
    for token in segment.tokens:
        if skip:
            skip = False
            continue
        after = segment.tokens[token.i + 1] if token.i + 1 < len(segment.tokens) else None
        apostrophe = after is not None and after.lower == "'" and after.start == token.end
        joined = after if apostrophe else None
        if token.lower == "gon" and after is not None and after.lower == "na":
            joined = after
        plain = None
        if shield.reason(segment.start + token.start, segment.start + token.end) is None:
            plain = _reading(segment, token, joined)
        if plain is None:
            read.append(replace(token, children=[]))
            continue
        end = joined.end if joined is not None and _takes(token, joined) else token.end
        skip = end != token.end
        feature = FEATURE_OF_SPELLING.get(token.lower, "g_drop")
        target = _cased(token.text, plain)
        edits.append(
            Candidate(
                feature,
                ((token.start, end, target),),
                f"“{segment.text[token.start : end]}” spells “{target}”.",
                confidence=0.95,
            )
        )
        read += _tokens(token, end, target, joined if skip else None)
    for i, token in enumerate(read):
        token.i = i
        token.head = i
        token.lower = straight(token.read or token.text).lower()
    return Segment(segment.text, segment.start, read), edits


def _takes(token: Token, joined: Token) -> bool:
    """Whether what follows belongs to the spelling: the apostrophe of *takin'*, *gon na*."""
    return joined.lower == "na" or token.lower.endswith("in") or token.lower == "gon"


def _reading(segment: Segment, token: Token, joined: Token | None) -> str | None:
    low = token.lower
    before = segment.tokens[token.i - 1].lower if token.i else ""
    after = segment.tokens[token.i + 1].lower if token.i + 1 < len(segment.tokens) else ""
    if low in ("imma", "ima", "i'ma"):
        return "I'm going to" if low != "ima" or token.text != "Ima" or not token.i else None
    if low == "gon" and joined is not None and joined.lower == "na":
        return "going to"
    table = pairs("respelled")
    if low in table:
        if low in words("doubtful_respelled") and not _is_function_word(low, before, after):
            return None
        return table[low].replace("_", " ")
    if low.endswith("in") and low + "g" in base_of_ing():
        return low + "g"
    return None


def _is_function_word(low: str, before: str, after: str) -> bool:
    """Whether a spelling that is also another word stands where only the function word can."""
    if low == "den":
        return before in ("", ",", "and", "but", "so", ".") and after.isalpha()
    if low in ("bout", "ova"):
        return before not in ("a", "the", "this", "my", "another", "an") and after not in ("of",)
    if low == "yo":
        return after.isalpha() and after not in ("i", "what", "can", "so")
    return after.isalpha()


def _cased(model: str, word: str) -> str:
    if model[:1].isupper() and not word.startswith("I'"):
        return word[:1].upper() + word[1:]
    return word


def _tokens(token: Token, end: int, target: str, joined: Token | None) -> list[Token]:
    """The tokens that the parser sees for one written word."""
    space = joined.space if joined is not None else token.space
    parts = ["I", "'m", "going", "to"] if target.startswith("I'm ") else target.split()
    made = []
    for n, part in enumerate(parts):
        start, stop = (token.start, end) if n == 0 else (end, end)
        last = n == len(parts) - 1
        gap = space if last else part != "I"
        made.append(Token(0, token.text if n == 0 else "", start, stop, gap, "word", read=part))
    return made
