"""Arrays in, results out: intervals, tests, and corrections for many of them."""

from biasret.statistics.flips import sign_flip_exact
from biasret.statistics.medians import cluster_bootstrap_median
from biasret.statistics.multiplicity import benjamini_hochberg, holm, minimum_detectable_effect
from biasret.statistics.one_sided import wilcoxon_greater
from biasret.statistics.rank_tests import mann_whitney, stars, wilcoxon
from biasret.statistics.regression import adjusted_paired, adjusted_two_groups
from biasret.statistics.resampling import (
    cluster_bootstrap_mean,
    sign_flip,
    stable_seed,
    two_group_bootstrap,
)
from biasret.statistics.results import (
    AdjustedGap,
    Coefficient,
    GapResult,
    MeanResult,
    TestResult,
)

__all__ = [
    "AdjustedGap",
    "Coefficient",
    "GapResult",
    "MeanResult",
    "TestResult",
    "adjusted_paired",
    "adjusted_two_groups",
    "benjamini_hochberg",
    "cluster_bootstrap_mean",
    "cluster_bootstrap_median",
    "holm",
    "mann_whitney",
    "minimum_detectable_effect",
    "sign_flip",
    "sign_flip_exact",
    "stable_seed",
    "stars",
    "two_group_bootstrap",
    "wilcoxon",
    "wilcoxon_greater",
]
