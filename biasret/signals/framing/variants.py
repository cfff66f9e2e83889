"""One question in three wordings: left, neutral, right."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from biasret.errors import InputError, UnknownName
from biasret.signals.framing.detection import Reading, read_text
from biasret.signals.framing.editing import Change, apply
from biasret.signals.framing.guards import is_personal_medical
from biasret.signals.framing.lexical import LexicalChanges, lexical_changes
from biasret.signals.framing.neutral import neutralise
from biasret.signals.framing.phrases import Phrase, topic_phrase
from biasret.signals.framing.records import ENGINE, FRAMES, STANCES, TEMPLATES, TOPICS, Template
from biasret.signals.framing.results import FramedTriple, Skip, Variant
from biasret.signals.framing.tails import find_tail, tail_for

__all__ = ["LONGEST_FRAMED", "MODES", "variants"]

#: ``auto`` is ``lexical`` where a term can be swapped, else ``tail``.
MODES = ("lexical", "tail", "framed", "llm", "auto")

#: Words in a framed question; the paper's own queries have 10 to 25.
LONGEST_FRAMED = 25

NO_TOPIC = "No public-affairs topic was found, so there is only the neutral wording."
MEDICAL = "A medical question stays as it was asked."
NO_TERM = "No term that can be swapped was found; mode “tail” or “framed” may suit this text."
PERSONAL = "A question about oneself gets no tail."

_ABOUT_ONESELF = re.compile(r"\b(?:i|me|my|mine|myself|i'm|i've)\b", re.I)


def variants(
    text: str,
    *,
    mode: str = "lexical",
    frame: str | None = None,
    topic: str | None = None,
    intensity: int = 1,
    seed: int = 0,
    shift_focus: bool = False,
    client: object = None,
) -> FramedTriple:
    """Left, neutral and right wordings of one question.

    Parameters
    ----------
    text
        Any string. A question about US public affairs is what the engine is for.
    mode
        ``lexical`` swaps recognised terms and nothing else; ``tail`` adds a clause naming
        whom the side tends to name; ``framed`` builds a fresh question about the text's
        subject; ``llm`` asks a configured endpoint; ``auto`` takes ``lexical`` where a term
        can be swapped, else ``tail``.
    frame, topic
        Keys of `FRAMES` and `TOPICS`; detected where None.
    intensity
        1: words common in each side's public speech. 2: loaded ones too, on both sides.
    seed
        With text and frame it chooses between the two templates of a frame.
    shift_focus
        Also swap terms whose counterparts stress another side of the issue.
    client
        For mode ``llm``: what answers; None takes the configured endpoint.

    Returns
    -------
    FramedTriple
        Deterministic: the same arguments give the same bytes in every process.

    Raises
    ------
    UnknownName
        No such mode, frame or topic.
    InputError
        An intensity other than 1 or 2, or a text that is none.

    Examples
    --------
    >>> triple = variants("How do school vouchers affect rural districts?")
    >>> triple.right.text
    'How does school choice affect rural districts?'
    >>> [(edit.original, edit.replacement, edit.kind) for edit in triple.right.edits]
    [('do', 'does', 'agreement'), ('school vouchers', 'school choice', 'term')]
    """
    if not isinstance(text, str):
        raise InputError(f"The text to vary should be a string; found {type(text).__name__}.")
    if mode not in MODES:
        raise UnknownName("mode", mode, MODES)
    if intensity not in (1, 2):
        raise InputError(
            f"The intensity is 1 (common words) or 2 (loaded ones); found {intensity!r}."
        )
    reading = read_text(text)
    frame = reading.frame if frame is None else FRAMES[frame].name
    given = None if topic is None else TOPICS[topic].name
    topic = given or reading.topic
    if is_personal_medical(reading.document):
        return _unchanged(reading, mode, topic, frame, intensity, seed, (MEDICAL,))
    if mode == "framed" or mode == "llm":
        triple = _framed(reading, topic, frame, intensity, seed)
        if mode == "llm":
            # Here because it needs this module for its fallback.
            from biasret.signals.framing.endpoint import llm_triple

            return llm_triple(triple, reading, client=client)
        return triple
    swaps = lexical_changes(reading, intensity=intensity, shift_focus=shift_focus)
    if mode == "lexical" or (mode == "auto" and any(swaps.n_swaps.values())):
        notices = () if any(swaps.n_swaps.values()) else (NO_TERM,)
        return _built(reading, "lexical", topic, frame, intensity, seed, swaps, notices)
    if mode == "auto" and _ABOUT_ONESELF.search(text[:5_000]):
        return _unchanged(reading, "tail", topic, frame, intensity, seed, (PERSONAL,))
    return _tail(reading, given, topic, frame, intensity, seed)


def _unchanged(
    reading: Reading,
    mode: str,
    topic: str | None,
    frame: str,
    intensity: int,
    seed: int,
    notices: tuple[str, ...],
) -> FramedTriple:
    empty = LexicalChanges({s: [] for s in STANCES}, dict.fromkeys(STANCES, 0), (), reading.skips())
    mode = "lexical" if mode == "auto" else mode
    return _built(reading, mode, topic, frame, intensity, seed, empty, notices)


def _built(
    reading: Reading,
    mode: str,
    topic: str | None,
    frame: str,
    intensity: int,
    seed: int,
    swaps: LexicalChanges,
    notices: tuple[str, ...],
) -> FramedTriple:
    text = reading.document.text
    made = {s: Variant(s, *apply(text, swaps.changes[s])) for s in STANCES}
    return _triple(
        text, made, mode, topic, frame, intensity, seed, swaps.n_swaps, swaps.one_sided,
        swaps.skips, notices,
    )  # fmt: skip


def _triple(
    text: str,
    made: dict[str, Variant],
    mode: str,
    topic: str | None,
    frame: str,
    intensity: int,
    seed: int,
    n_swaps: dict[str, int],
    one_sided: tuple[str, ...],
    skips: tuple[Skip, ...],
    notices: tuple[str, ...],
    topic_phrase: str | None = None,
    template: str | None = None,
) -> FramedTriple:
    return FramedTriple(
        original=text,
        left=made["left"],
        neutral=made["neutral"],
        right=made["right"],
        mode=mode,
        path="rules",
        topic=topic,
        frame=frame,
        intensity=intensity,
        seed=seed,
        n_swaps={stance: n_swaps[stance] for stance in ("left", "right")},
        one_sided=one_sided,
        skips=skips,
        notices=notices,
        topic_phrase=topic_phrase,
        template=template,
        engine=ENGINE,
    )


def _tail(
    reading: Reading, given: str | None, topic: str | None, frame: str, intensity: int, seed: int
) -> FramedTriple:
    """The text with its leaning words put neutrally, and a tail naming a group."""
    text = reading.document.text
    old = find_tail(text)
    bare = text if old is None else text[: old.start] + text[old.end :]
    if old is not None:
        # An earlier tail gives way; being last, it leaves the places before it as they are.
        reading = read_text(bare)
        topic = given or reading.topic or topic
    # No match is swapped at intensity 0: every leaning one is put neutrally instead.
    base = lexical_changes(reading, intensity=0, shift_focus=False)
    if topic is None:
        return _built(reading, "tail", topic, frame, intensity, seed, base, (NO_TOPIC,))
    made = {}
    for stance in STANCES:
        group = TOPICS[topic].groups[stance]
        tail = tail_for(bare, group)
        change = Change(
            tail.start if old is None else old.start,
            tail.end if old is None else old.end,
            tail.text,
            "tail",
            _why_group(stance),
            topic=topic,
            lean_to=stance,
        )
        made[stance] = Variant(stance, *apply(text, [change, *base.changes[stance]]))
    return _triple(
        text, made, "tail", topic, frame, intensity, seed, base.n_swaps, (), base.skips, ()
    )


def _why_group(stance: str) -> str:
    if stance == "neutral":
        return "Names those affected without taking up either side's emphasis."
    return f"Names whom {stance}-leaning speakers tend to name; says nothing about them."


# Framed ----------------------------------------------------------------------------------


def _framed(
    reading: Reading, topic: str | None, frame: str, intensity: int, seed: int
) -> FramedTriple:
    base = lexical_changes(reading, intensity=0, shift_focus=False)
    if topic is None:
        return _built(reading, "framed", topic, frame, intensity, seed, base, (NO_TOPIC,))
    text = reading.document.text
    phrase = _neutral_phrase(reading, topic)
    first = _template_index(text, frame, seed)
    template, filled = _choose(frame, first, phrase.text, topic)
    made = {
        stance: Variant(
            stance, *apply(text, _pieces(text, template, stance, filled, phrase, topic))
        )
        for stance in STANCES
    }
    return _triple(
        text, made, "framed", topic, frame, intensity, seed, base.n_swaps, (), reading.skips(), (),
        filled, template.name,
    )  # fmt: skip


def _neutral_phrase(reading: Reading, topic: str) -> Phrase:
    """The topic phrase put neutrally, or the topic's own phrase where the text gives none."""
    end = len(reading.document.text)
    found = topic_phrase(reading, topic)
    if found is None:
        return Phrase(TOPICS[topic].phrase, end, end)
    plain = neutralise(found.text)
    if not plain.text.strip() or (plain.lean_after is not None):
        return Phrase(TOPICS[topic].phrase, end, end)
    return Phrase(plain.text, found.start, found.end)


def _template_index(text: str, frame: str, seed: int) -> int:
    """0 or 1 from a hash: the same in every process, and for all three wordings."""
    key = f"{' '.join(text.lower().split())}|{frame}|{seed}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[0] % 2


def _choose(frame: str, index: int, phrase: str, topic: str) -> tuple[Template, str]:
    """The template, and the phrase, shortened until every wording is short enough."""
    groups = TOPICS[topic].groups
    options = [TEMPLATES[f"{frame}/{index}"], TEMPLATES[f"{frame}/1"], TEMPLATES[f"{frame}/0"]]
    repeats = any(group.lower() in phrase.lower() for group in groups.values())
    words = phrase.split()
    shorter = [phrase, " ".join(words[-4:]), TOPICS[topic].phrase]
    for candidate in shorter:
        for template in options[1:2] if repeats and candidate is phrase else options[:2]:
            lengths = [
                len(_fill(template.texts[stance], candidate, groups[stance]).split())
                for stance in STANCES
            ]
            if max(lengths) <= LONGEST_FRAMED:
                return template, candidate
    return options[0], TOPICS[topic].phrase


def _fill(pattern: str, phrase: str, group: str) -> str:
    return pattern.replace("{X}", phrase).replace("{G}", group)


def _pieces(
    text: str, template: Template, stance: str, filled: str, phrase: Phrase, topic: str
) -> Sequence[Change]:
    """The template as changes around the phrase, which keeps its place where it is verbatim."""
    parts = re.split(r"(\{X\}|\{G\})", template.texts[stance])
    at = parts.index("{X}")
    start, end = (phrase.start, phrase.end) if filled == phrase.text else (len(text), len(text))
    changes: list[Change] = []
    wording = f"The {stance} wording of template {template.name}."

    def add(pieces: list[str], low: int, high: int) -> None:
        # The first piece takes the whole stretch, the others are inserted behind it.
        for piece in pieces:
            if piece == "{G}":
                group = TOPICS[topic].groups[stance]
                change = Change(
                    low, high, group, "slot", _why_group(stance), topic=topic, lean_to=stance
                )
            else:
                change = Change(low, high, piece, "template", wording, topic=topic, lean_to=stance)
            changes.append(change)
            low = high

    add([piece for piece in parts[:at] if piece], 0, start)
    changes.append(Change(start, end, filled, "slot", "What the question is about.", topic=topic))
    tail = [piece for piece in parts[at + 1 :] if piece]
    add(tail, end, len(text))
    return changes
