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
    # Three panels side by side fit a phone; their titles do not once there are more rows.
    columns = len(names) if len(names) <= 3 else 2
    panels = -(-len(names) // columns)
    figure = make_subplots(
        rows=panels,
        cols=columns,
        subplot_titles=[plain(retriever_label(name)) for name in names],
        shared_yaxes=True,
        horizontal_spacing=0.04,
        # Room for a row's depths and the next row's titles, in pixels of the whole.
        vertical_spacing=68 / (230 * panels) if panels > 1 else 0,
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
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=_tick_labels(ticks), tickangle=0)
    for column in range(1, columns + 1):
        figure.update_xaxes(title="k", row=-(-(len(names) - column + 1) // columns), col=column)
    figure.update_yaxes(title=f"mean {metric.label}@k", col=1)
    ground(
        figure,
        height=112 + 230 * panels,
        margin={"l": 10, "r": 10, "t": 64, "b": 48},
        # Above the panels' titles, whatever the height.
        legend={"orientation": "h", "y": 1 + 26 / (230 * panels), "yanchor": "bottom", "x": 0},
    )
    return figure


def _tick_labels(ticks: list[int]) -> list[str]:
    """Depths as labels; one too near the label before it, on the log axis, stays without."""
    span = np.log10(ticks[-1] / ticks[0])
    labels, last = [], -np.inf
    for k in ticks:
        is_apart = np.log10(k) - last >= 0.2 * span
        labels.append(str(k) if is_apart else "")
        last = np.log10(k) if is_apart else last
    return labels


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
