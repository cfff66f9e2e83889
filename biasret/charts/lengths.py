"""How long queries are, group by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from biasret.charts.base import ground, group_style, name_rows, plain

__all__ = ["length_histogram", "length_ranges", "lengths_alt"]


def length_histogram(counts: pd.DataFrame, lengths: pd.DataFrame) -> go.Figure:
    """One panel a group, on one axis of characters, with a line at the mean.

    Parameters
    ----------
    counts
        As `biasret.inventory.length_counts` makes them.
    lengths
        As `biasret.inventory.lengths` makes them, for the same groups.
    """
    rows = lengths.set_index("group")
    names = counts["group"].unique().tolist()
    figure = make_subplots(
        rows=len(names),
        cols=1,
        shared_xaxes=True,
        shared_yaxes="all",
        vertical_spacing=min(0.12, 0.3 / len(names)),
        subplot_titles=[
            plain(f"{name}: {int(rows.loc[name, 'n_queries']):,} queries, mean ")
            + f"{rows.loc[name, 'mean']:.0f} characters"
            for name in names
        ],
    )
    for position, name in enumerate(names, start=1):
        part = counts[counts["group"] == name]
        colour, _ = group_style(name)
        figure.add_trace(
            go.Bar(
                x=((part["low"] + part["high"]) / 2).tolist(),
                y=part["share"].tolist(),
                width=(part["high"] - part["low"]).tolist(),
                marker={"color": colour, "line": {"width": 0}},
                customdata=np.column_stack(
                    [part["low"], part["high"] - 1, part["n_queries"]]
                ).tolist(),
                hovertemplate="%{customdata[0]} to %{customdata[1]} characters: "
                "%{customdata[2]} queries (%{y:.1%})<extra></extra>",
            ),
            row=position,
            col=1,
        )
        mean = float(rows.loc[name, "mean"])
        figure.add_vline(
            x=mean, line={"dash": "dash", "width": 2, "color": "#888888"}, row=position, col=1
        )
    ground(
        figure,
        height=90 + 150 * len(names),
        margin={"l": 10, "r": 10, "t": 30, "b": 48},
        showlegend=False,
        bargap=0,
    )
    figure.update_yaxes(tickformat=".0%", nticks=4, zeroline=False)
    figure.update_xaxes(zeroline=False)
    figure.update_xaxes(title="characters; dashed: mean", row=len(names), col=1)
    return figure


def length_ranges(rows: pd.DataFrame) -> go.Figure:
    """One line from the shortest to the longest query of each group, marked at median and mean.

    Parameters
    ----------
    rows
        ``dataset``, ``group``, ``n_queries``, ``median``, ``mean``, ``min``, ``max``.
    """
    figure = go.Figure()
    for position, row in enumerate(rows.to_dict("records")):
        colour, symbol = group_style(str(row["group"]))
        figure.add_trace(
            go.Scatter(
                x=[row["min"], row["max"]],
                y=[position, position],
                mode="lines+markers",
                line={"color": colour, "width": 2},
                marker={"symbol": "line-ns-open", "size": 10, "color": colour},
                hovertemplate="%{x:,} characters<extra>shortest, longest</extra>",
                showlegend=False,
            )
        )
        for quantity, mark, is_filled in (("median", symbol, True), ("mean", symbol, False)):
            figure.add_trace(
                go.Scatter(
                    x=[row[quantity]],
                    y=[position],
                    mode="markers",
                    marker={
                        "symbol": mark if is_filled else f"{mark}-open",
                        "size": 11,
                        "color": colour,
                        "line": {"width": 2, "color": colour},
                    },
                    hovertemplate="%{x:,.1f} characters<extra>" + quantity + "</extra>",
                    showlegend=False,
                )
            )
    ground(figure, height=100 + 40 * len(rows), margin={"l": 10, "r": 20, "t": 12, "b": 48})
    name_rows(
        figure,
        [
            plain(f"{dataset}, {group}")
            for dataset, group in zip(rows["dataset"], rows["group"], strict=True)
        ],
    )
    ticks = [30, 100, 300, 1_000, 3_000]
    figure.update_xaxes(
        type="log",
        tickvals=ticks,
        ticktext=[str(tick) for tick in ticks],
        tickangle=0,
        title="characters, log scale",
    )
    return figure


def lengths_alt(lengths: pd.DataFrame) -> str:
    """Lengths of each group in words."""
    parts = [
        f"{row['group']}: mean {row['mean']:.1f}, median {row['median']:.0f}, from "
        f"{row['min']:,} to {row['max']:,} characters over {int(row['n_queries']):,} queries."
        for row in lengths.to_dict("records")
    ]
    return plain(" ".join(parts))
