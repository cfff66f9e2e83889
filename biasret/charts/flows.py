"""Two rankings, and where each document went from one to the other."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import MARK, ground, plain

__all__ = ["rank_flow"]

#: Colour, line and marker of each way to move; the marker says it without colour too.
_WAYS = {
    "up": ("#117733", "solid", "triangle-up", "nearer the top"),
    "down": ("#882255", "solid", "triangle-down", "further down"),
    "same": ("#888888", "solid", "circle", "same rank"),
    "lost": ("#882255", "dot", "x", "only for A"),
    "new": ("#117733", "dot", "cross", "only for B"),
}
_LABEL = 24


def rank_flow(
    documents: pd.DataFrame, titles: dict[str, str], *, groups: tuple[str, str], k: int
) -> go.Figure:
    """A line for each document from its rank for wording A to its rank for wording B.

    Parameters
    ----------
    documents
        As `Comparison.documents`: ``doc_id``, ``rank_a``, ``rank_b``, ``movement``.
    titles
        By ``doc_id``.
    groups
        What wordings A and B signal.
    k
        Depth of the lists; a document outside one of them lies on the line below it.
    """
    figure = go.Figure()
    below = k + 1
    shown: set[str] = set()
    for row in documents.itertuples(index=False):
        way = row.movement.split(" ")[0]
        colour, dash, symbol, name = _WAYS[way]
        ranks = [below if pd.isna(rank) else int(rank) for rank in (row.rank_a, row.rank_b)]
        title = plain(titles[row.doc_id])
        figure.add_trace(
            go.Scatter(
                x=[0, 1],
                y=ranks,
                mode="lines+markers",
                name=name,
                legendgroup=name,
                showlegend=name not in shown,
                line={"color": colour, "dash": dash, "width": 2},
                marker={"color": colour, "symbol": symbol, "size": 9},
                hovertemplate=f"{title}<br>{row.movement}<extra></extra>",
            )
        )
        shown.add(name)
        for x, rank, anchor in ((-0.03, ranks[0], "right"), (1.03, ranks[1], "left")):
            # Where titles would overlap, the pointer shows them.
            if rank <= k <= 20:
                figure.add_annotation(
                    x=x, y=rank, text=_short(title), xanchor=anchor, showarrow=False
                )
    figure.add_hline(y=k + 0.5, line={"width": 1, "dash": "dash", "color": MARK})
    ground(
        figure,
        height=140 + 26 * min(k, 40),
        margin={"l": 10, "r": 10, "t": 40, "b": 20},
        legend={"orientation": "h", "y": 0, "yanchor": "top", "x": 0},
    )
    ticks = [rank for rank in (1, 5, 10, 20, 50, 100) if rank <= k]
    figure.update_yaxes(
        range=[k + 1.6, 0.4],
        tickvals=[*ticks, below],
        ticktext=[*map(str, ticks), f"below {k}"],
        showgrid=False,
        zeroline=False,
        title="rank",
    )
    figure.update_xaxes(
        range=[-1.2, 2.2] if k <= 20 else [-0.1, 1.1],
        tickvals=[0, 1],
        ticktext=[f"A: {plain(groups[0])}", f"B: {plain(groups[1])}"],
        showgrid=False,
        zeroline=False,
        side="top",
    )
    return figure


def _short(title: str) -> str:
    return title if len(title) <= _LABEL else title[: _LABEL - 1].rstrip() + "…"
