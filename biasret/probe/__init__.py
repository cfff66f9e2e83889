"""One question, two wordings: what every retriever returns, how far it moved, is it typical."""

from biasret.probe.comparison import Comparison, Side, compare
from biasret.probe.overlap import RBO_P, movement, rank_biased_overlap
from biasret.probe.ready import fitting, ready
from biasret.probe.typicality import Typicality, typicality

__all__ = [
    "RBO_P",
    "Comparison",
    "Side",
    "Typicality",
    "compare",
    "fitting",
    "movement",
    "rank_biased_overlap",
    "ready",
    "typicality",
]
