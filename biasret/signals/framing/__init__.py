"""Political framing of a question: left, neutral and right wordings, and back to neutral.

The engine rates wording in a query, never a person. Its words are probabilistic signals of
US public speech, dated by `LEXICON_DATE`; "neutral" means the most descriptive wording we
could find, not truth. ``docs/framing.md`` says what it does and what it does not.
"""

from biasret.signals.framing.detection import detect
from biasret.signals.framing.neutral import neutralise
from biasret.signals.framing.records import (
    ENGINE,
    FRAMES,
    LEXICON_DATE,
    TEMPLATES,
    TERMS,
    TOPICS,
    Frame,
    Template,
    Term,
    Topic,
    Wording,
)
from biasret.signals.framing.results import (
    Detection,
    Edit,
    FramedTriple,
    Hit,
    Neutralised,
    Skip,
    Variant,
)
from biasret.signals.framing.variants import MODES, variants

__all__ = [
    "ENGINE",
    "FRAMES",
    "LEXICON_DATE",
    "MODES",
    "TEMPLATES",
    "TERMS",
    "TOPICS",
    "Detection",
    "Edit",
    "Frame",
    "FramedTriple",
    "Hit",
    "Neutralised",
    "Skip",
    "Template",
    "Term",
    "Topic",
    "Variant",
    "Wording",
    "detect",
    "neutralise",
    "variants",
]
