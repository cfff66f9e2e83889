"""Judges: against each other or a reference, per list, and what their filters do to a gap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import SERIES, ground, plain

__all__ = ["confusion", "confusion_alt", "relevant_lists"]


def confusion(
    counts: tuple[int, int, int, int], *, first: str, second: str, words: tuple[str, str]
) -> go.Figure:
    """A 2 x 2 heat map with counts and shares in its cells.

    Parameters
    ----------
    counts
        Pairs that both, only the first, only the second, and neither hold relevant.
    first, second
        Who stands at the rows and at the columns.
    words
        What yes and no mean for the columns, such as ``("same story", "another story")``.
    """
    both, only_first, only_second, neither = counts
    z = np.array([[both, only_first], [only_second, neither]])
    shares = z / max(1, z.sum())
    figure = go.Figure(
        go.Heatmap(
            z=shares.tolist(),
            x=[plain(word) for word in words],
            y=["relevant", "not relevant"],
            text=[
                [f"{n:,}<br>{share:.1%}" for n, share in zip(*row, strict=True)]
                for row in zip(z.tolist(), shares.tolist(), strict=True)
            ],
            texttemplate="%{text}",
            textfont={"size": 16},
            colorscale="Blues",
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=3,
            ygap=3,
            hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
        )
    )
    ground(figure, height=300, margin={"l": 10, "r": 10, "t": 12, "b": 56})
    figure.update_yaxes(title=plain(first), autorange="reversed", showgrid=False)
    figure.update_xaxes(title=plain(second), showgrid=False)
    return figure


def confusion_alt(counts: tuple[int, int, int, int], *, first: str, second: str) -> str:
    """The four counts in words."""
    both, only_first, only_second, neither = counts
    return plain(
        f"Of {sum(counts):,} pairs, {first} and {second} both hold {both:,} relevant; only "
        f"{first} {only_first:,}, only {second} {only_second:,}; neither {neither:,}."
    )


def relevant_lists(tables: dict[str, pd.DataFrame]) -> go.Figure:
    """Share of lists by their number of relevant documents, one step line a rule.

    Parameters
    ----------
    tables
        By label: as `biasret.agreement.per_list` makes them. Lists without a relevant
        document are left out of the shares; the label should say how many there are.
    """
    figure = go.Figure()
    for (label, table), (colour, symbol, dash) in zip(tables.items(), SERIES, strict=False):
        some = table[table["n_relevant"] > 0]
        figure.add_trace(
            go.Scatter(
                x=some["n_relevant"].tolist(),
                y=some["share"].tolist(),
                mode="lines+markers",
                name=plain(label),
                line={"shape": "hvh", "color": colour, "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 9, "color": colour},
                customdata=some["n_lists"].tolist(),
                hovertemplate="%{x} relevant: %{customdata:,} lists (%{y:.1%})<extra></extra>",
            )
        )
    ground(
        figure,
        height=360,
        margin={"l": 10, "r": 10, "t": 24, "b": 48},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        showlegend=True,
    )
    figure.update_yaxes(tickformat=".0%", rangemode="tozero", title="share of lists with any")
    figure.update_xaxes(dtick=1, title="relevant documents in the list")
    return figure
