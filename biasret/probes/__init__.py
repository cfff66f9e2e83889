"""Hidden states by layer -> how well a linear probe tells the groups of questions apart.

A probe is a logistic regression on the mean hidden state of a question. The *normal* probe
sees one layer; the *conditional* one sees that layer beside the input embeddings (layer 0);
the *baseline* sees the input embeddings alone. What the conditional probe knows more than
the baseline is the layer's V-information beyond the input: what reading words in context
has added in a form a linear model can use (Tang et al., section 4 and Fig. 4; Hewitt et
al. 2021, Conditional probing).
"""

from biasret.probes.fits import (
    BASELINE,
    CONDITIONAL,
    NORMAL,
    Scores,
    curves,
    fit,
    probe_scores,
)
from biasret.probes.measure import measure_layers
from biasret.probes.splits import SPLIT_RULES, Split, SplitRule, probed, splits

__all__ = [
    "BASELINE",
    "CONDITIONAL",
    "NORMAL",
    "SPLIT_RULES",
    "Scores",
    "Split",
    "SplitRule",
    "curves",
    "fit",
    "measure_layers",
    "probe_scores",
    "probed",
    "splits",
]
