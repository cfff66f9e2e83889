"""One question, flipped: the same content with another identity signalled.

Brings both engines into one form, so that page, command line and export show a flip
without asking which engine made it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biasret.catalogue import Catalogue
from biasret.errors import InputError

__all__ = ["FLIPS", "Flip", "FlipTo", "Mark", "flip"]


@dataclass(frozen=True)
class Mark:
    """One changed span: code-point offsets in source and target, end exclusive, and why."""

    start: int
    end: int
    target_start: int
    target_end: int
    original: str
    replacement: str
    name: str
    why: str


@dataclass(frozen=True)
class Flip:
    """A text and its counterpart.

    Attributes
    ----------
    to
        A key of `FLIPS`.
    marks
        By place in the target; applying them to `source` gives `target`.
    label
        What the counterpart is, for screens: always says that it is generated.
    notices
        What the reader should know: what was not changed and why.
    engine
        Which rules wrote it.
    detail
        All that the engine said, as plain values: settings, every edit and what was refused.
    """

    source: str
    target: str
    to: str
    marks: tuple[Mark, ...]
    label: str
    notices: tuple[str, ...]
    engine: str
    detail: dict[str, Any]

    @property
    def is_changed(self) -> bool:
        """Whether the counterpart differs from the text."""
        return self.source != self.target

    @property
    def target_marks(self) -> list[tuple[int, int, str, str]]:
        """Start and end in the target, what stood there before, and why, of each mark."""
        return [(m.target_start, m.target_end, m.original, m.why) for m in self.marks]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: ``text`` is the counterpart."""
        own = asdict(self)
        return {"text": self.target, "is_changed": self.is_changed, **own.pop("detail"), **own}


@dataclass(frozen=True)
class FlipTo:
    """One direction of a flip.

    Attributes
    ----------
    name
        What the counterpart signals: ``AAL``, ``WME``, ``left``, ``neutral``, ``right``.
    signal
        ``dialect`` or ``framing``.
    """

    name: str
    signal: str
    label: str
    about: str
    write: Callable[..., Flip]


def flip(text: str, *, to: str, **settings: Any) -> Flip:
    """The counterpart of a text.

    Parameters
    ----------
    text
        Any string; blank text is refused.
    to
        A key of `FLIPS`.
    settings
        Of the engine: `density`, `seed`, `profile`, `features` for dialect; `mode`,
        `intensity`, `seed`, `frame` for framing.

    Raises
    ------
    InputError
        The text is blank or a setting is out of range.
    """
    record = FLIPS[to]
    if not text.strip():
        raise InputError("The text is empty; type a question to flip.")
    return record.write(text, **settings)


def _aal(
    text: str,
    *,
    density: float = 0.4,
    seed: int = 0,
    profile: str = "grammar+ing",
    features: Sequence[str] | None = None,
) -> Flip:
    from biasret.signals import dialect

    made = dialect.to_aal(text, density=density, seed=seed, profile=profile, features=features)
    notices = list(_strings(made.config.get("notices")))
    if not made.is_changed:
        reasons = list(dict.fromkeys(one.reason for one in made.skipped))[:3]
        notices.append(
            "No AAL feature of the chosen set fits this text"
            + (f" ({'; '.join(reasons)})." if reasons else ".")
        )
    return Flip(
        source=made.source,
        target=made.target,
        to="AAL",
        marks=_marks(made.edits, lambda edit: edit.feature),
        label="Synthetic: rule-based AAL features, not a speaker's words",
        notices=tuple(notices),
        engine=f"dialect {made.engine_version}",
        detail=asdict(made),
    )


def _wme(text: str, *, confidence: float = 0.7) -> Flip:
    from biasret.signals import dialect

    made = dialect.to_wme(text, confidence=confidence)
    notices = list(_strings(made.config.get("notices")))
    if not made.is_changed:
        notices.append("No AAL feature was recognised in this text.")
    return Flip(
        source=made.source,
        target=made.target,
        to="WME",
        marks=_marks(made.edits, lambda edit: edit.feature),
        label="Generated: translated to WME by rule",
        notices=tuple(notices),
        engine=f"dialect {made.engine_version}",
        detail=asdict(made),
    )


def _marks(edits: Any, name: Callable[[Any], str]) -> tuple[Mark, ...]:
    """Edits of either engine, each under the name of what licensed it."""
    return tuple(
        Mark(
            start=edit.start,
            end=edit.end,
            target_start=edit.target_start,
            target_end=edit.target_end,
            original=edit.original,
            replacement=edit.replacement,
            name=name(edit),
            why=edit.why,
        )
        for edit in edits
    )


def _framed(stance: str) -> Callable[..., Flip]:
    def write(
        text: str,
        *,
        mode: str = "lexical",
        intensity: int = 1,
        seed: int = 0,
        frame: str | None = None,
    ) -> Flip:
        from biasret.signals import framing

        triple = framing.variants(text, mode=mode, intensity=intensity, seed=seed, frame=frame)
        made = triple.variant(stance)
        notices = [*triple.notices, *(f"{skip.text}: {skip.why}" for skip in triple.skips[:3])]
        if made.text == text and not triple.is_changed:
            notices.append(
                "No word of this text has a left and a right wording in the lexicon; "
                "the modes tail and framed add one."
            )
        detail = {**triple.as_dict(), "edits": [asdict(edit) for edit in made.edits]}
        return _framing_flip(text, made.text, made.edits, stance, tuple(notices), detail)

    return write


def _neutral(
    text: str,
    *,
    mode: str = "lexical",
    intensity: int = 1,
    seed: int = 0,
    frame: str | None = None,
) -> Flip:
    from biasret.signals import framing

    if mode != "lexical":
        given = {"mode": mode, "intensity": intensity, "seed": seed, "frame": frame}
        return _framed("neutral")(text, **given)
    made = framing.neutralise(text)
    notices = made.notices
    if made.text == text:
        notices = (*notices, "No leaning words of the lexicon were found in this text.")
    return _framing_flip(text, made.text, made.edits, "neutral", notices, made.as_dict())


def _framing_flip(
    source: str,
    target: str,
    edits: Any,
    stance: str,
    notices: tuple[str, ...],
    detail: dict[str, Any],
) -> Flip:
    from biasret.signals.framing import ENGINE

    marks = _marks(edits, lambda edit: edit.term or edit.kind)
    label = f"Generated: {stance} wording by rule, not a person's words"
    return Flip(source, target, stance, marks, label, notices, ENGINE, detail)


def _strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


FLIPS: Catalogue[FlipTo] = Catalogue(
    "flip",
    [
        FlipTo("AAL", "dialect", "WME to AAL", "lays features of AAL over the text", _aal),
        FlipTo("WME", "dialect", "AAL to WME", "translates AAL features into WME", _wme),
        FlipTo("right", "framing", "right", "as a right-leaning asker", _framed("right")),
        FlipTo("left", "framing", "left", "as a left-leaning asker", _framed("left")),
        FlipTo("neutral", "framing", "neutral", "the most descriptive wording", _neutral),
    ],
)
