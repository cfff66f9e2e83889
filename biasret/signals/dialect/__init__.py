"""WME and AAL: rewrite a question either way, explained span by span, and score a text.

AAL (African American Language) is a rule-governed variety of English; WME is White
Mainstream English. What `to_aal` returns is synthetic: grammatical and spelling features
of AAL laid over WME by rule, not a speaker's words. spaCy is loaded at the first use.
"""

from __future__ import annotations

from biasret.signals.dialect.engine import to_aal, variants
from biasret.signals.dialect.features import FEATURES, PROFILES, Feature
from biasret.signals.dialect.records import ENGINE_VERSION, Edit, Refused, Rewrite
from biasret.signals.dialect.scoring import LIMITS, CountTable, DialectScore, score
from biasret.signals.dialect.wme import to_wme, to_wme_many

__all__ = [
    "ENGINE_VERSION",
    "FEATURES",
    "LIMITS",
    "PROFILES",
    "CountTable",
    "DialectScore",
    "Edit",
    "Feature",
    "Refused",
    "Rewrite",
    "score",
    "to_aal",
    "to_wme",
    "to_wme_many",
    "variants",
]
