"""Both signals in one figure: the gap of every retriever, one panel a signal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from biasret.charts.base import GUIDE, MARK, bars, ground, name_rows, plain
from biasret.metrics import METRICS
from biasret.sentences import ALPHA, retriever_label

__all__ = ["headline"]


def headline(panels: dict[str, pd.DataFrame]) -> go.Figure:
    """One marker a retriever at its gap with its 95% bar, filled where the gap is found.

    Parameters
    ----------
    panels
        ``gaps`` rows of one dataset, metric, depth and filter, by the panel's title; one panel
        below the other, since their units differ.
    """
    heights = [len(rows) for rows in panels.values()]
    total = 150 + 34 * sum(heights) + 60 * (len(panels) - 1)
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        subplot_titles=[plain(title) for title in panels],
        row_heights=[float(n) for n in heights],
        vertical_spacing=100 / total if len(panels) > 1 else 0,
    )
    for at, rows in enumerate(panels.values(), start=1):
        rows = rows.reset_index(drop=True)
        known = rows[np.isfinite(rows["estimate"])]
        figure.add_trace(
            go.Scatter(
                x=known["estimate"].tolist(),
                y=known.index.tolist(),
                mode="markers",
                marker={
                    "color": MARK,
                    "size": 11,
                    "symbol": ["circle" if p < ALPHA else "circle-open" for p in known["p_holm"]],
                    "line": {"width": 2, "color": MARK},
                },
                error_x=bars(
                    known["estimate"], known["ci_low"], known["ci_high"], MARK, thickness=2
                ),
                hovertemplate="%{x:+.4f}<extra></extra>",
                showlegend=False,
            ),
            row=at,
            col=1,
        )
        figure.add_vline(x=0, line=GUIDE, row=at, col=1)
        labels = [plain(retriever_label(name)) for name in rows["retriever"]]
        name_rows(figure, labels, row=at, col=1)
        first = rows.iloc[0]
        name = METRICS[first["metric"]].title(None if pd.isna(first["k"]) else int(first["k"]))
        contrast = plain(f"{name}, {first['minuend']} minus {first['subtrahend']}")
        figure.update_xaxes(title=contrast, zeroline=False, rangemode="tozero", row=at, col=1)
    ground(figure, height=total, margin={"l": 10, "r": 16, "t": 32, "b": 48})
    return figure
