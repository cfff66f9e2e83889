"""A quantity before and after a mitigation, one row a retriever."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import GUIDE, bars, ground, name_rows, note_rows, plain
from biasret.sentences import retriever_label
from biasret.statistics import stars

__all__ = ["before_after"]

#: Colour, marker and place beside the row's middle.
_SIDES = {"before": ("#888888", "circle-open", -0.16), "after": ("#00796B", "diamond", 0.16)}


def before_after(rows: pd.DataFrame, *, title: str, zero: bool) -> go.Figure:
    """Two markers a retriever with 95% bars and a line from one to the other.

    Parameters
    ----------
    rows
        ``mitigations`` rows of one mitigation, quantity, metric and depth. Stars behind a name
        stand for the Holm-corrected p of the change.
    title
        What the axis measures.
    zero
        Whether zero is marked, as for a gap.
    """
    rows = rows.reset_index(drop=True)
    known = rows[np.isfinite(rows["before"]) & np.isfinite(rows["after"])]
    figure = go.Figure()
    steps: list[float | None] = []
    heights: list[float | None] = []
    for position, row in known.iterrows():
        steps += [row["before"], row["after"], None]
        heights += [position + _SIDES["before"][2], position + _SIDES["after"][2], None]
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=heights,
            mode="lines",
            line={"color": "#888888", "width": 1, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    for side, (colour, symbol, offset) in _SIDES.items():
        figure.add_trace(
            go.Scatter(
                x=known[side].tolist(),
                y=[position + offset for position in known.index],
                mode="markers",
                name=side,
                marker={"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2}},
                error_x=bars(
                    known[side], known[f"{side}_low"], known[f"{side}_high"], colour, thickness=2
                ),
                hovertemplate="%{x:+.4f}<extra>" + side + "</extra>",
            )
        )
    note_rows(figure, [f"{n:,} cell{'' if n == 1 else 's'}" for n in rows["n_pairs"]])
    if zero:
        figure.add_vline(x=0, line=GUIDE)
    ground(
        figure,
        height=120 + 54 * len(rows),
        margin={"l": 10, "r": 100, "t": 36, "b": 48},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    name_rows(
        figure,
        [
            f"{plain(retriever_label(row['retriever']))} {stars(row['p_holm'])}".strip()
            for _, row in rows.iterrows()
        ],
    )
    figure.update_xaxes(title=plain(title), zeroline=False)
    return figure
