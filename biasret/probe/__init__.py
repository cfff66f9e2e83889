"""One question, two wordings: what every retriever returns, how far it moved, is it typical."""

from biasret.probe.comparison import Comparison, Side, compare, compare_all
from biasret.probe.guards import Detected, detected, warnings
from biasret.probe.indexing import ready
from biasret.probe.live import Answer, Corpus, Failure, Ids, Pairs, ProbeResult, answers, probe
from biasret.probe.overlap import RBO_P, movement, rank_biased_overlap
from biasret.probe.typicality import Typicality, typicality
from biasret.probe.wording import (
    ORIGINS,
    SWITCHES,
    Known,
    Question,
    Switch,
    Wording,
    mitigated,
    worded,
)

__all__ = [
    "ORIGINS",
    "RBO_P",
    "SWITCHES",
    "Answer",
    "Comparison",
    "Corpus",
    "Detected",
    "Failure",
    "Ids",
    "Known",
    "Pairs",
    "ProbeResult",
    "Question",
    "Side",
    "Switch",
    "Typicality",
    "Wording",
    "answers",
    "compare",
    "compare_all",
    "detected",
    "mitigated",
    "movement",
    "probe",
    "rank_biased_overlap",
    "ready",
    "typicality",
    "warnings",
    "worded",
]
