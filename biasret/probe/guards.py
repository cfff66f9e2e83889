"""What should give pause before a change is put down to the identity signalled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from biasret.probe.wording import SWITCHES, Question, Wording

__all__ = ["Detected", "detected", "warnings"]

#: Beyond this ratio of lengths, more than the signal has changed.
MAX_LENGTH_RATIO = 1.4

#: Below this share of content words in common, more than the signal has changed.
MIN_OVERLAP = 0.5

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHORT = 4


@dataclass(frozen=True)
class Detected:
    """Signals that a typed text already carries.

    Attributes
    ----------
    found
        Each as ``name: "words"``.
    sentence
        For people; empty where nothing was found.
    switch
        The switch that would flip it, where another than the one chosen fits.
    """

    found: tuple[str, ...]
    sentence: str
    switch: str | None = None


def detected(text: str, *, switch: str) -> Detected:
    """The signals of the switch's kind that a text carries already.

    Rates the wording, never its writer. A text without a finding may still be AAL, or lean.
    """
    if not text.strip():
        return Detected((), "")
    if SWITCHES[switch].signal == "dialect":
        return _dialect(text, switch)
    return _framing(text)


def _dialect(text: str, switch: str) -> Detected:
    from biasret.signals import dialect

    features = dialect.score(text).features
    found = tuple(
        dict.fromkeys(
            one.feature.replace("_", " ") + (f": “{one.text}”" if one.text else "")
            for one in features
        )
    )
    if not found:
        if switch == "WME":
            return Detected((), "No AAL feature known to the engine was found in this question.")
        return Detected((), "")
    sentence = f"This question already carries AAL features: {'; '.join(found)}."
    return Detected(found, sentence, "WME" if switch == "AAL" else None)


def _framing(text: str) -> Detected:
    from biasret.signals import framing

    seen = framing.detect(text)
    found = tuple(
        dict.fromkeys(
            f"{hit.stance}: “{hit.text}”"
            for hit in seen.hits
            if hit.stance != "neutral" and not hit.is_common
        )
    )
    if not found:
        return Detected((), "")
    return Detected(found, f"This question already leans by its words: {'; '.join(found)}.")


def warnings(question: Question) -> tuple[str, ...]:
    """What changed between the wordings besides the signal, a sentence each.

    Numbers, negation and, for dialect, the rest of the engine's meaning contract are compared
    where a wording did not come from the engine, which keeps them by itself.
    """
    a, b = question.a, question.b
    if not a.text.strip() or not b.text.strip() or a.text == b.text:
        return ()
    found = []
    n_a, n_b = len(_words(a.text)), len(_words(b.text))
    if n_a and n_b and max(n_a, n_b) / min(n_a, n_b) > MAX_LENGTH_RATIO:
        found.append(
            f"The wordings differ in length, {n_a:,} and {n_b:,} words: a retriever may react to "
            "that as well."
        )
    common = _overlap(a.text, b.text)
    if common is not None and common < MIN_OVERLAP:
        found.append(
            f"The wordings share only {common:.0%} of their content words: this may compare two "
            "questions rather than two ways to ask one."
        )
    if not (_is_engines(a) and _is_engines(b)):
        found += _content(question)
    return tuple(found)


def _is_engines(one: Wording) -> bool:
    return one.flip is not None or one.origin == "typed"


def _content(question: Question) -> Sequence[str]:
    from biasret.signals.dialect.contract import meaning_of, violation

    a, b = question.a.text, question.b.text
    if SWITCHES[question.switch].signal == "dialect":
        from biasret.signals import dialect

        features = [one.feature for one in dialect.score(b).features]
        fault = violation(a, b, features=features)
        # How long the texts are and which words they share has been said above.
        if fault and not fault.startswith(("the length", "words with content")):
            return [f"Meaning: {fault}."]
        return []
    old, new = meaning_of(a), meaning_of(b)
    said = []
    if old.numbers != new.numbers:
        said.append(
            f"Meaning: the numbers differ, {', '.join(old.numbers) or 'none'} and "
            f"{', '.join(new.numbers) or 'none'}."
        )
    if (old.n_negators + old.n_negative > 0) != (new.n_negators + new.n_negative > 0):
        said.append("Meaning: one wording is negated and the other is not.")
    return said


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _overlap(a: str, b: str) -> float | None:
    """Shared content words over those of the shorter side; words of four letters or more."""
    sides = [{word for word in _words(text) if len(word) >= _SHORT} for text in (a, b)]
    shorter = min(map(len, sides))
    return len(sides[0] & sides[1]) / shorter if shorter else None
