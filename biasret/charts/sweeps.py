"""A quantity of each group against depth, one panel a retriever."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from biasret.charts.base import GUIDE, bars, ground, group_style, plain
from biasret.metrics import METRICS
from biasret.sentences import retriever_label

__all__ = ["k_sweep"]


def k_sweep(gaps: pd.DataFrame) -> go.Figure:
    """Mean of each group against k, one panel a retriever, with 95% bars.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric and filter, at every depth.
    """
    rows = gaps.dropna(subset=["k"]).sort_values("k", kind="stable", ignore_index=True)
    names = gaps["retriever"].unique().tolist()
    columns = min(3, len(names))
    panels = -(-len(names) // columns)
    figure = make_subplots(
        rows=panels,
        cols=columns,
        subplot_titles=[plain(retriever_label(name)) for name in names],
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.16,
    )
    metric = METRICS[rows.loc[0, "metric"]]
    for i, name in enumerate(names):
        part = rows[rows["retriever"] == name]
        row, column = i // columns + 1, i % columns + 1
        for side in ("subtrahend", "minuend"):
            known = part[np.isfinite(part[f"mean_{side}"])]
            group = part.iloc[0][side]
            _add_line(figure, known, side, group, show=i == 0, row=row, column=column)
        if metric.low < 0:
            figure.add_hline(y=0, line=GUIDE, row=row, col=column)
    ticks = sorted(rows["k"].astype(int).unique().tolist())
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[str(k) for k in ticks], title="k")
    figure.update_yaxes(title=f"mean {metric.label}@k", col=1)
    ground(
        figure,
        height=110 + 230 * panels,
        margin={"l": 10, "r": 10, "t": 64, "b": 48},
        legend={"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0},
    )
    return figure


def _add_line(
    figure: go.Figure,
    rows: pd.DataFrame,
    side: str,
    group: str,
    *,
    show: bool,
    row: int,
    column: int,
) -> None:
    colour, symbol = group_style(group)
    mean = rows[f"mean_{side}"]
    figure.add_trace(
        go.Scatter(
            x=rows["k"].astype(int).tolist(),
            y=mean.tolist(),
            mode="lines+markers",
            name=plain(group),
            legendgroup=plain(group),
            showlegend=show,
            line={"color": colour, "dash": "solid" if side == "subtrahend" else "dot"},
            marker={"color": colour, "symbol": symbol, "size": 8},
            error_y=bars(mean, rows[f"low_{side}"], rows[f"high_{side}"], colour, thickness=1),
            hovertemplate="k %{x}: %{y:.3f}<extra>" + plain(group) + "</extra>",
        ),
        row=row,
        col=column,
    )
