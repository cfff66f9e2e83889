"""The tail mode's closing clause: written, and recognised exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from biasret.signals.framing.records import STANCES, TOPICS

__all__ = ["Tail", "find_tail", "tail_for"]

_QUESTION = ", and what would that mean for {}"
_SENTENCE = " What would that mean for {}?"
_LABEL = ": what would that mean for {}?"


@dataclass(frozen=True)
class Tail:
    """A clause and where it stands, or belongs, in a text."""

    start: int
    end: int
    text: str


def tail_for(text: str, group: str) -> Tail:
    """Where and how a text gets its tail: before a question mark, or behind all else.

    Examples
    --------
    >>> tail_for("What will the rule change?", "renters and owners").text
    ', and what would that mean for renters and owners'
    """
    end = len(text.rstrip())
    if text[:end].endswith("?"):
        while end and text[end - 1] == "?":
            end -= 1
        return Tail(end, end, _QUESTION.format(group))
    pattern = _SENTENCE if text[:end].endswith((".", "!", "…", '"', "”")) else _LABEL
    return Tail(end, end, pattern.format(group))


@cache
def _pattern() -> re.Pattern[str]:
    groups = {topic.groups[stance] for topic in TOPICS.values() for stance in STANCES}
    names = "|".join(re.escape(group) for group in sorted(groups, key=lambda g: (-len(g), g)))
    return re.compile(
        rf"(?:, and what would that mean for (?:{names})(?=\?+\s*\Z))"
        rf"|(?:(?:: what|(?<=[.!…\"”]) What) would that mean for (?:{names})\?(?=\s*\Z))"
    )


def find_tail(text: str) -> Tail | None:
    """The tail this engine put on a text, or None."""
    window = max(len(text) - 300, 0)
    match = _pattern().search(text, window)
    return Tail(match.start(), match.end(), match.group()) if match else None
