"""What every chart shares: colours and markers of groups, safe labels, error bars, ground.

Colour is never the only cue: each group has a marker shape, and each row its numbers in
text. Figures keep transparent backgrounds and leave font colours to the page's theme, so
that they read on light and dark alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

__all__ = [
    "FEW",
    "GROUP_STYLES",
    "GUIDE",
    "MARK",
    "OTHER",
    "SERIES",
    "bars",
    "ground",
    "group_style",
    "name_rows",
    "note_rows",
    "opacity",
    "plain",
]

#: Colour and marker of each group, the same on every page (Tang et al., figures).
GROUP_STYLES = {
    "left": ("#4477AA", "circle"),
    "liberal": ("#4477AA", "circle"),
    "right": ("#E60000", "square"),
    "conservative": ("#E60000", "square"),
    "WME": ("#EE7733", "circle"),
    "AAL": ("#AA3377", "diamond"),
    "neutral": ("#888888", "triangle-up"),
}

#: Colour and marker of a group that has none of its own.
OTHER = ("#009988", "circle")

#: Colour, marker and dash of several series that stand for no group (Okabe and Ito's hues).
SERIES = (
    ("#777777", "circle-open", "solid"),
    ("#009E73", "triangle-up", "dot"),
    ("#CC79A7", "triangle-down", "dash"),
    ("#0072B2", "diamond", "dashdot"),
    ("#D55E00", "square", "longdash"),
    ("#B8860B", "cross", "longdashdot"),
    ("#56B4E9", "star", "solid"),
)

#: Colour of marks that stand for no group.
MARK = "#5C6BC0"

#: A group or set of pairs smaller than this is drawn pale and called few (Tang et al. test no
#: group of fewer than ten).
FEW = 10

#: A line that guides the eye, such as the one at zero.
GUIDE = {"dash": "dash", "width": 1, "color": "#888888"}


def ground(figure: go.Figure, **layout: Any) -> None:
    """Lay out a figure on the page's own background."""
    figure.update_layout(
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        template="plotly_white",
        **layout,
    )


def name_rows(figure: go.Figure, labels: Sequence[str], **panel: int) -> None:
    """Name the rows of a chart that has one label a row, the first on top."""
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        **panel,
    )


def note_rows(figure: go.Figure, notes: Sequence[str]) -> None:
    """Write a note, such as n, at the right end of each row."""
    for position, note in enumerate(notes):
        figure.add_annotation(
            x=1.01, xref="paper", xanchor="left", y=position, text=note, showarrow=False
        )


def group_style(group: str) -> tuple[str, str]:
    """Colour and marker of a group."""
    return GROUP_STYLES.get(group, OTHER)


def opacity(sizes: pd.Series) -> list[float]:
    """Of markers: pale where there are `FEW`."""
    return [0.4 if n < FEW else 1.0 for n in sizes]


def plain(text: str) -> str:
    """Text for a chart label: plotly reads tags, so angle brackets are replaced."""
    return text.replace("<", "‹").replace(">", "›")


def bars(
    mean: pd.Series, low: pd.Series, high: pd.Series, colour: str, *, thickness: int
) -> dict[str, object]:
    """Error bars; a mean without an interval has none, for a bar of no width reads as certain."""

    def lengths(ends: pd.Series) -> list[float | None]:
        return [float(length) if np.isfinite(length) else None for length in ends]

    return {
        "type": "data",
        "symmetric": False,
        "array": lengths(high - mean),
        "arrayminus": lengths(mean - low),
        "color": colour,
        "thickness": thickness,
        "width": 4,
    }
