"""The topic phrase {X} of a question, without a parser."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from biasret.signals.framing.detection import Reading, topics_at
from biasret.signals.framing.records import TOPICS
from biasret.signals.framing.tokens import Token
from biasret.signals.framing.wordlists import ALSO_NOUNS, FUNCTION_WORDS, SCAFFOLD, VERBS

__all__ = ["Phrase", "topic_phrase"]

_LONGEST = 8
_OPENERS = frozenset({"a", "an", "the", "this", "these", "that", "those"})
_JOINERS = frozenset({"of", "on", "for", "in", "and"})
_RATHER_VERBS = frozenset({"work", "works", "help", "change", "cost"})
_LOWER = frozenset(
    "new the a an this these that those higher lower more stricter federal state local"
    " public private national legal illegal medical school gun tax".split()
)


@dataclass(frozen=True)
class Phrase:
    """The words a question is about, as they go into a template, and their place."""

    text: str
    start: int
    end: int


def topic_phrase(reading: Reading, topic: str) -> Phrase | None:
    """The longest run of content words around a lexicon hit or a cue of the topic.

    A text that is no question and has at most eight words is a phrase already. A run takes
    its article, and a phrase behind it with *of*, *on*, *for* or *in*, up to eight words.
    None where nothing is found; the topic's own phrase then stands in.
    """
    document = reading.document
    tokens = document.tokens
    if not tokens:
        return None
    held = {at for match in reading.matches for at in range(match.first, match.last + 1)}

    def is_content(at: int) -> bool:
        key = tokens[at].key
        if at in held:
            return True
        if at and document.text[tokens[at].start - 1] in "-‐‑":
            return is_content(at - 1)
        if key in VERBS and _is_noun_here(tokens, at):
            return at > 0 and tokens[at].link == "tight" and is_content(at - 1)
        return not (key in FUNCTION_WORDS or key in SCAFFOLD or key in VERBS)

    is_label = (
        len(tokens) <= _LONGEST
        and not document.text.rstrip().endswith(("?", "!", "."))
        and all(token.link != "break" for token in tokens[1:])
        and not any(
            t.key in FUNCTION_WORDS
            and t.key not in _OPENERS | _JOINERS | {"and", "to", "from", "with", "at", "by"}
            for t in tokens
        )
        and not any(
            t.key in VERBS and t.key not in ALSO_NOUNS and at not in held
            for at, t in enumerate(tokens)
        )
    )
    if is_label:
        return _phrase(reading, 0, len(tokens) - 1)

    wanted = {match.first for match in reading.matches if match.entry.term.topic == topic} | {
        at for at in range(len(tokens)) if topic in topics_at(document, at)
    }
    marked = sorted(wanted)
    best: tuple[int, int] | None = None
    for first, last in _runs(tokens, is_content):
        place = bisect_left(marked, first)
        if place < len(marked) and marked[place] <= last:
            while last > first and tokens[last].key.endswith(("ly", "ed")) and last not in held:
                last -= 1
            last = min(last, first + _LONGEST - 1)
            if best is None or last - first > best[1] - best[0]:
                best = first, last
    if best is None:
        return None
    first, last = best
    if first and tokens[first].link == "tight" and tokens[first - 1].key in _OPENERS:
        first -= 1
    last = _with_tail(tokens, first, last, is_content)
    return _phrase(reading, first, last)


def _is_noun_here(tokens: list[Token], at: int) -> bool:
    """Whether a word that may be a verb ends a noun phrase: *the zoning rules of its cities*."""
    if tokens[at].key not in ALSO_NOUNS - _RATHER_VERBS:
        return False
    if at + 1 == len(tokens):
        return True
    after = tokens[at + 1]
    return after.link != "tight" or after.key in FUNCTION_WORDS - _OPENERS or after.key in VERBS


def _runs(tokens: list[Token], is_content: Callable[[int], bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    first: int | None = None
    for at, token in enumerate(tokens):
        if is_content(at) and (first is None or token.link == "tight"):
            first = at if first is None else first
        else:
            if first is not None:
                runs.append((first, at - 1))
            first = at if is_content(at) else None
    if first is not None:
        runs.append((first, len(tokens) - 1))
    return runs


def _with_tail(
    tokens: list[Token], first: int, last: int, is_content: Callable[[int], bool]
) -> int:
    at = last + 1
    if at >= len(tokens) or tokens[at].key not in _JOINERS or tokens[at].link != "tight":
        return last
    end, words = at, 0
    while (
        end + 1 < len(tokens)
        and tokens[end + 1].link == "tight"
        and (is_content(end + 1) or (tokens[end + 1].key in _OPENERS and end == at))
    ):
        end += 1
        words += 1
    if words == 0 or words > 4 or end - first + 1 > _LONGEST or tokens[end].key in _OPENERS:
        return last
    return end


def _phrase(reading: Reading, first: int, last: int) -> Phrase:
    document = reading.document
    tokens, text = document.tokens, document.text
    start, end = tokens[first].start, tokens[last].end
    while start and text[start - 1] in "$€£":
        start -= 1
    phrase = " ".join(text[start:end].split())
    opener = tokens[first]
    lowers = opener.is_first and (
        opener.key in _LOWER
        or opener.key in FUNCTION_WORDS
        or any(m.first == first and m.entry.wording.text[:1].islower() for m in reading.matches)
        or bool(topics_at(document, first) and not opener.text.isupper() and _is_common(opener))
    )
    if lowers and not opener.text.isupper():
        phrase = phrase[:1].lower() + phrase[1:]
    return Phrase(phrase, start, end)


def _is_common(token: Token) -> bool:
    """Whether the cue the word answers to is written without a capital."""
    return token.key in _common_cues() or any(
        token.key.startswith(cue[:-1]) for cue in _common_cues() if cue.endswith("*")
    )


@cache
def _common_cues() -> frozenset[str]:
    return frozenset(cue for topic in TOPICS.values() for cue in topic.cues if cue[0].islower())
