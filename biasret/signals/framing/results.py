"""What the engine returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Detection", "Edit", "FramedTriple", "Hit", "Neutralised", "Skip", "Variant"]


@dataclass(frozen=True)
class Edit:
    """One changed span.

    Attributes
    ----------
    start, end
        Code points of the given text; equal where something is only inserted.
    target_start, target_end
        Code points of the wording.
    original, replacement
        The text of both spans.
    kind
        ``term``, ``article``, ``agreement``, ``tail``, ``template``, ``slot``,
        ``evaluative``, ``verb``, ``leading``, ``label`` or ``rewritten``.
    term, topic
        The lexicon row and its topic, where the edit comes from one.
    lean_from, lean_to
        Stance of the words before and after; None where they carry none.
    klass, intensity
        Of the lexicon row.
    why
        One sentence for the reader.
    """

    start: int
    end: int
    target_start: int
    target_end: int
    original: str
    replacement: str
    kind: str
    why: str
    term: str | None = None
    topic: str | None = None
    lean_from: str | None = None
    lean_to: str | None = None
    klass: str | None = None
    intensity: int | None = None


@dataclass(frozen=True)
class Skip:
    """Words of the lexicon that were left as they are, or not given a side, and why."""

    start: int
    end: int
    text: str
    term: str
    why: str


@dataclass(frozen=True)
class Hit:
    """Words of the lexicon found in a text.

    `stance` is whose wording it is: ``left``, ``neutral`` or ``right``; `neutral` is the most
    descriptive wording we could find for it.
    """

    start: int
    end: int
    text: str
    stance: str
    term: str
    topic: str
    klass: str
    intensity: int
    is_common: bool
    neutral: str


@dataclass(frozen=True)
class Detection:
    """What a text is about and which of its words lean.

    Attributes
    ----------
    topic
        A key of `TOPICS`, or None: no public-affairs topic found.
    frame
        A key of `FRAMES`; ``other`` where no cue of the fourteen is there.
    hits
        In order of place.
    lean
        (right - left) / (right + left) over hits, each weighted by its intensity, in
        [-1, 1]: negative is left. None where no word leans. Hits marked common have no
        weight. Rates the wording, not the writer.
    n_left, n_right
        Hits of each side.
    skips
        Words that look like hits and mean something else here.
    """

    text: str
    topic: str | None
    frame: str
    hits: tuple[Hit, ...]
    lean: float | None
    n_left: int
    n_right: int
    skips: tuple[Skip, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Neutralised:
    """A text in its most descriptive wording.

    Attributes
    ----------
    edits
        From `original` to `text`.
    lean_before, lean_after
        As `Detection.lean`.
    n_hits
        Leaning hits replaced.
    skips, notices
        What was left, and what the reader should know.
    """

    original: str
    text: str
    edits: tuple[Edit, ...]
    n_hits: int
    lean_before: float | None
    lean_after: float | None
    skips: tuple[Skip, ...]
    notices: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Variant:
    """One wording: its stance, its text, and the edits from the given text to it."""

    stance: str
    text: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class FramedTriple:
    """One question in three wordings.

    Attributes
    ----------
    mode
        How they were made: ``lexical``, ``tail``, ``framed`` or ``llm``.
    path
        ``rules`` or ``llm``: what wrote the wordings in the end.
    topic, frame
        Detected or given; topic None means that none was found.
    topic_phrase, template
        What fills {X}, and the template's name; only in ``framed``.
    n_swaps
        Term swaps of each side: words that differ from the neutral wording because of it.
    one_sided
        Terms with no distinct wording on one side, so that only the other side changes.
    skips
        Words not swapped, and why.
    is_changed
        Whether left and right differ.
    """

    original: str
    left: Variant
    neutral: Variant
    right: Variant
    mode: str
    path: str
    topic: str | None
    frame: str
    intensity: int
    seed: int
    n_swaps: dict[str, int]
    one_sided: tuple[str, ...]
    skips: tuple[Skip, ...]
    notices: tuple[str, ...]
    topic_phrase: str | None
    template: str | None
    engine: str

    def variant(self, stance: str) -> Variant:
        """The wording of ``left``, ``neutral`` or ``right``."""
        return {"left": self.left, "neutral": self.neutral, "right": self.right}[stance]

    @property
    def is_changed(self) -> bool:
        """Whether the left and the right wording differ."""
        return self.left.text != self.right.text

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "is_changed": self.is_changed}
