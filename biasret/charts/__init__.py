"""Table -> plotly figure."""

from biasret.charts.base import GROUP_STYLES, plain
from biasret.charts.changes import before_after
from biasret.charts.flows import rank_flow
from biasret.charts.forests import forest, forest_alt, gap_by, gap_forest, levels_chart
from biasret.charts.headline import headline
from biasret.charts.residuals import (
    residual_alt,
    residual_forest,
    residual_panels,
    token_bars,
)
from biasret.charts.strips import strip
from biasret.charts.sweeps import k_sweep

__all__ = [
    "GROUP_STYLES",
    "before_after",
    "forest",
    "forest_alt",
    "gap_by",
    "gap_forest",
    "headline",
    "k_sweep",
    "levels_chart",
    "plain",
    "rank_flow",
    "residual_alt",
    "residual_forest",
    "residual_panels",
    "strip",
    "token_bars",
]
