"""What layers know of the signal, against their depth in the model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import GUIDE, SERIES, ground, plain
from biasret.sentences import retriever_label

__all__ = ["decodability", "information", "layer_f1", "layer_information", "layers_alt"]

#: Below this F1 a coin toss is worth showing.
_NEAR_CHANCE = 0.75


def layer_f1(curves: pd.DataFrame) -> go.Figure:
    """F1 of the probe on each layer, one line a retriever with a band.

    A dashed line shows a coin toss, unless all curves are so far above it that there would
    be nothing else to see.

    Parameters
    ----------
    curves
        Rows of `biasret.probes.curves` of one dataset and rule of splits.
    """
    figure = _lines(curves, "f1", ("f1_low", "f1_high"))
    if curves["f1"].min() < _NEAR_CHANCE:
        figure.add_hline(y=0.5, line=GUIDE)
    figure.update_yaxes(title="F1 of the probe")
    return figure


def layer_information(curves: pd.DataFrame) -> go.Figure:
    """V-information beyond the input at each layer, with a line at zero.

    Parameters
    ----------
    curves
        As in `layer_f1`; a band is drawn where ``v_low`` and ``v_high`` are there.
    """
    figure = _lines(curves.dropna(subset=["v_information"]), "v_information", ("v_low", "v_high"))
    figure.add_hline(y=0, line=GUIDE)
    figure.update_yaxes(title="V-information (nats)")
    return figure


def _lines(curves: pd.DataFrame, column: str, ends: tuple[str, str]) -> go.Figure:
    figure = go.Figure()
    for position, (name, part) in enumerate(curves.groupby("retriever", sort=False)):
        colour, symbol, dash = SERIES[position % len(SERIES)]
        label = plain(retriever_label(str(name)))
        rows = part.sort_values("layer")
        if set(ends) <= set(rows.columns):
            _band(figure, rows, ends, colour, group=label)
        figure.add_trace(
            go.Scatter(
                x=rows["depth"].tolist(),
                y=rows[column].tolist(),
                mode="lines+markers",
                name=label,
                legendgroup=label,
                line={"color": colour, "dash": dash, "width": 2},
                marker={"color": colour, "symbol": symbol, "size": 8},
                customdata=rows["layer"].astype(int).tolist(),
                hovertemplate="layer %{customdata}: %{y:.3f}<extra>" + label + "</extra>",
            )
        )
    ground(
        figure,
        height=380,
        margin={"l": 10, "r": 10, "t": 24, "b": 48},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        showlegend=True,
    )
    figure.update_xaxes(title="depth: layer / number of layers", range=[-0.02, 1.0])
    figure.update_yaxes(zeroline=False)
    return figure


def _band(
    figure: go.Figure, rows: pd.DataFrame, ends: tuple[str, str], colour: str, *, group: str
) -> None:
    known = rows[np.isfinite(rows[ends[0]]) & np.isfinite(rows[ends[1]])]
    if known.empty:
        return
    depth, low, high = (known[column].tolist() for column in ("depth", *ends))
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    figure.add_trace(
        go.Scatter(
            x=depth + depth[::-1],
            y=high + low[::-1],
            mode="lines",
            fill="toself",
            fillcolor=f"rgba({red}, {green}, {blue}, 0.16)",
            line={"width": 0},
            name=group,
            legendgroup=group,
            showlegend=False,
            hoverinfo="skip",
        )
    )


def layers_alt(curves: pd.DataFrame, sentence: str, column: str) -> str:
    """First, best and last layer of each retriever in words."""
    parts = [sentence]
    for name, part in curves.dropna(subset=[column]).groupby("retriever", sort=False):
        rows = part.sort_values("layer")
        best = rows.loc[rows[column].idxmax()]
        parts.append(
            f"{retriever_label(str(name))}: {rows[column].iloc[0]:.3f} at layer "
            f"{rows['layer'].iloc[0]}, {best[column]:.3f} at its best, layer {best['layer']}, and "
            f"{rows[column].iloc[-1]:.3f} at layer {rows['layer'].iloc[-1]}."
        )
    return plain(" ".join(parts))


def decodability(curves: pd.DataFrame, *, minuend: str, subtrahend: str) -> str:
    """How well a linear probe tells the groups apart, at the input and at its best.

    Parameters
    ----------
    curves
        Rows of `biasret.probes.curves` of one dataset and rule of splits.
    """
    first = curves[curves["layer"] == 0]["f1"]
    best = curves.groupby("retriever")["f1"].max()
    what = f"A linear probe tells {subtrahend} from {minuend} questions"
    return (
        f"{what} with F1 {_between(first)} on the input embeddings alone, and {_between(best)} at "
        "the best layer."
    )


def information(curves: pd.DataFrame) -> str:
    """Whether layers add to what the input embeddings tell a linear probe."""
    known = curves.dropna(subset=["v_information"])
    best = known.loc[known.groupby("retriever", sort=False)["v_information"].idxmax()]
    gaining = best[best["v_information"] > 0]
    told = [
        f"{retriever_label(row.retriever)} {row.v_information:+.3f} at layer {row.layer}"
        for row in gaining.itertuples()
    ]
    n = f"All {len(best)}" if len(gaining) == len(best) else f"{len(gaining)} of {len(best)}"
    head = f"{n} models" if len(best) > 1 else "The model"
    if gaining.empty:
        who = "No layer of any model" if len(best) > 1 else "No layer"
        return (
            f"{who} tells a linear probe more of the group than the input embeddings do; more "
            "columns cost it more than they tell."
        )
    verb = "add" if len(gaining) > 1 else "adds"
    return (
        f"{head} {verb} to what the input embeddings tell a linear probe of the group; most, in "
        f"nats: {', '.join(told)}."
    )


def _between(values: pd.Series) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"from {low} to {high}"
