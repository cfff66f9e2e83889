"""What the engine returns: rewrites with their edits, and scores."""

from __future__ import annotations

from dataclasses import dataclass

from biasret.errors import InputError

__all__ = ["ENGINE_VERSION", "Edit", "Refused", "Rewrite"]

#: Raised whenever the same input and settings can give another output.
ENGINE_VERSION = "1.0"


@dataclass(frozen=True)
class Edit:
    """One changed span.

    Attributes
    ----------
    start, end
        Code-point offsets in the source, end exclusive; equal for an insertion.
    target_start, target_end
        The same in the target; equal for a deletion.
    original, replacement
        Exactly the text of either side.
    feature, layer
        Key in `FEATURES`, and its layer.
    bundle
        Edits of one bundle are applied together or not at all.
    why
        One sentence from the parse: what licensed the edit.
    meaning
        What stays the same.
    shared
        Whether the feature is common outside AAL.
    p, u
        The chance at the density used, and the draw; None for the normaliser.
    confidence
        1 for the generator, the rule's value for the normaliser.
    composed
        Further features that act in the same bundle.
    """

    start: int
    end: int
    target_start: int
    target_end: int
    original: str
    replacement: str
    feature: str
    layer: str
    bundle: int
    ewave: str
    why: str
    meaning: str
    shared: bool
    p: float | None
    u: float | None
    confidence: float
    composed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A place where a feature was considered and not used.

    Attributes
    ----------
    start, end, original
        Where, in the source.
    feature
        Key in `FEATURES`.
    code
        The condition, as one word for tests and filters: ``"first_person"``, ``"lost"``.
    reason
        The same as a sentence.
    suggestion
        What it would have become, where that is known; else None.
    confidence
        The rule's value for a suggestion of the normaliser; else None.
    """

    start: int
    end: int
    original: str
    feature: str
    code: str
    reason: str
    suggestion: str | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Rewrite:
    """A text, what became of it, and why.

    Attributes
    ----------
    source, target
        Before and after.
    edits
        By start, disjoint, none trivial; applying them to `source` gives `target`.
    skipped
        What was considered and not done, by start.
    config
        The settings, with ``effective_density`` (the density that `min_edits` led to),
        ``backend`` (``"parser"`` or ``"tokens"``), ``needs_parser`` (features that were
        asked for but need the parser) and ``notices``.
    checks
        What of the meaning was compared, and how many items agreed: ``{"numbers": 2}``.
    engine_version
        See `ENGINE_VERSION`.
    """

    source: str
    target: str
    edits: tuple[Edit, ...]
    skipped: tuple[Refused, ...]
    config: dict[str, object]
    checks: dict[str, int]
    engine_version: str = ENGINE_VERSION

    @property
    def is_changed(self) -> bool:
        """Whether the target differs from the source."""
        return self.source != self.target


def realise(text: str, spans: list[tuple[int, int, str]]) -> str:
    """The text with each span ``(start, end, replacement)`` put in; spans are disjoint."""
    pieces: list[str] = []
    at = 0
    for start, end, replacement in sorted(spans):
        assert start >= at, "two edits overlap"
        pieces += [text[at:start], replacement]
        at = end
    return "".join([*pieces, text[at:]])


def checked_text(text: object) -> str:
    """The text itself, or why it is none."""
    if not isinstance(text, str):
        raise InputError(f"A text is needed; found {type(text).__name__}.")
    return text
