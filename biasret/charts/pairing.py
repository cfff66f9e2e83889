"""How close the two wordings of a cell are, beside other pairs of questions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import ground, name_rows, plain
from biasret.pairing import SCHEMES
from biasret.sentences import ALPHA, retriever_label

__all__ = ["pairing_alt", "pairing_boxes", "pairing_finding"]

#: Colour and marker of each scheme (Tang et al., Fig. 5); the grey is darkened to be seen on
#: a light page.
_STYLES = {
    "within_cell": ("#33BBEE", "circle"),
    "cross_frame": ("#CCBB44", "diamond"),
    "cross_article": ("#999999", "square"),
}
_OFFSET = 0.26


def pairing_boxes(summary: pd.DataFrame) -> go.Figure:
    """A box from quartile to quartile for each retriever and scheme, its median marked.

    Parameters
    ----------
    summary
        ``pairing_summary`` rows of one dataset; schemes without cells have no box.
    """
    names = summary["retriever"].drop_duplicates().tolist()
    known = summary[np.isfinite(summary["median"])]
    shown = [scheme for scheme in SCHEMES if scheme in set(known["scheme"])]
    figure = go.Figure()
    for scheme in shown:
        colour, symbol = _STYLES[scheme]
        part = known[known["scheme"] == scheme]
        shift = _OFFSET * (shown.index(scheme) - (len(shown) - 1) / 2)
        y = [names.index(name) + shift for name in part["retriever"]]
        label = plain(SCHEMES[scheme].label)
        figure.add_trace(
            go.Box(
                orientation="h",
                y=y,
                q1=part["q1"].tolist(),
                median=part["median"].tolist(),
                q3=part["q3"].tolist(),
                # Quartiles are all there is to draw: no whiskers, no outliers.
                lowerfence=part["q1"].tolist(),
                upperfence=part["q3"].tolist(),
                whiskerwidth=0,
                width=0.2,
                line={"color": colour, "width": 2},
                fillcolor="rgba(0,0,0,0)",
                legendgroup=label,
                showlegend=False,
                hoverinfo="skip",
            )
        )
        figure.add_trace(
            go.Scatter(
                x=part["median"].tolist(),
                y=y,
                mode="markers",
                name=label,
                legendgroup=label,
                marker={"color": colour, "symbol": symbol, "size": 9},
                customdata=part[["q1", "q3", "n"]].to_numpy(dtype=float).tolist(),
                hovertemplate=(
                    "median %{x:.3f}, quartiles %{customdata[0]:.3f} and %{customdata[1]:.3f}, "
                    "%{customdata[2]:,.0f} cells<extra>" + label + "</extra>"
                ),
            )
        )
    ground(
        figure,
        height=110 + 66 * len(names),
        margin={"l": 10, "r": 10, "t": 24, "b": 48},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        showlegend=True,
    )
    name_rows(figure, [plain(retriever_label(name)) for name in names])
    lowest = min([0.0, *known["q1"]])
    figure.update_xaxes(title="cosine of two questions", range=[lowest, 1.01], zeroline=False)
    return figure


def pairing_alt(summary: pd.DataFrame, sentence: str) -> str:
    """Medians of each retriever and scheme in words."""
    parts = [sentence]
    for name, part in summary.groupby("retriever", sort=False):
        medians = ", ".join(
            f"{SCHEMES[row['scheme']].label} {row['median']:.3f}"
            for _, row in part.iterrows()
            if np.isfinite(row["median"])
        )
        parts.append(f"{retriever_label(str(name))}, median cosine: {medians}.")
    return plain(" ".join(parts))


def pairing_finding(summary: pd.DataFrame) -> str:
    """Whether the wordings of a cell are closer to each other than to other questions.

    Parameters
    ----------
    summary
        ``pairing_summary`` rows of one dataset.
    """
    told = []
    for scheme, what in (
        ("cross_frame", "other questions of the same source"),
        ("cross_article", "questions of other sources"),
    ):
        rows = summary[(summary["scheme"] == scheme) & summary["median_gap"].notna()]
        if rows.empty:
            continue
        found = rows[(rows["p_holm"] < ALPHA) & (rows["median_gap"] > 0)]
        low, high = f"{rows['median_gap'].min():+.3f}", f"{rows['median_gap'].max():+.3f}"
        spread = f"median difference in cosine {low if low == high else f'{low} to {high}'}"
        who = "all" if len(found) == len(rows) else f"{len(found)} of"
        told.append(f"than to {what} for {who} {len(rows)} retrievers ({spread})")
    if not told:
        return "No cell could be compared with another."
    return f"The two wordings of a cell are closer to each other {', and '.join(told)}."
