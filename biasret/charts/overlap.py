"""How much of their lists any two retrievers share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import ground, plain
from biasret.retrievers import names as names_of_all
from biasret.sentences import retriever_label

__all__ = ["overlap_alt", "overlap_finding", "overlap_map"]


def overlap_map(overlaps: pd.DataFrame) -> go.Figure:
    """A heat map of mean overlap@k, each pair of retrievers once, its number in its cell.

    Parameters
    ----------
    overlaps
        ``retriever_overlaps`` rows of one dataset and depth.
    """
    place = {name: i for i, name in enumerate(names_of_all())}
    found = dict.fromkeys([*overlaps["retriever"], *overlaps["other"]])
    names = sorted(found, key=lambda name: place.get(name, len(place)))
    at = {name: i for i, name in enumerate(names)}
    shares = np.full((len(names), len(names)), np.nan)
    for row in overlaps.itertuples():
        i, j = sorted((at[row.retriever], at[row.other]))
        shares[j, i] = row.overlap
    # The first row and the last column of a triangle are empty.
    z = shares[1:, :-1]
    labels = [plain(retriever_label(name)) for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=[[float(v) if np.isfinite(v) else None for v in row] for row in z],
            x=labels[:-1],
            y=labels[1:],
            text=[[f"{v:.2f}" if np.isfinite(v) else "" for v in row] for row in z],
            texttemplate="%{text}",
            # Light enough at either end for one dark ink, on a light page and on a dark one.
            textfont={"color": "#10202c", "size": 13},
            colorscale=[[0, "#f1f6fb"], [1, "#5aa2d8"]],
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=2,
            ygap=2,
            hoverongaps=False,
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        )
    )
    ground(figure, height=150 + 42 * len(names), margin={"l": 10, "r": 10, "t": 12, "b": 10})
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(tickangle=-40, showgrid=False)
    return figure


def overlap_alt(overlaps: pd.DataFrame, sentence: str) -> str:
    """Every pair in words."""
    pairs = [
        f"{retriever_label(row.retriever)} and {retriever_label(row.other)} {row.overlap:.2f}"
        for row in overlaps.dropna(subset=["overlap"]).itertuples()
    ]
    return plain(f"{sentence} {'; '.join(pairs)}.")


def overlap_finding(overlaps: pd.DataFrame) -> str:
    """How much of their lists retrievers share, and which pairs most and least.

    Parameters
    ----------
    overlaps
        ``retriever_overlaps`` rows of one dataset and depth.
    """
    known = overlaps.dropna(subset=["overlap"])
    if known.empty:
        return "No two retrievers found something for the same query."
    k = int(known["k"].iloc[0])

    def named(row: pd.Series) -> str:
        pair = f"{retriever_label(row['retriever'])} and {retriever_label(row['other'])}"
        return f"{pair}, {row['overlap']:.0%}"

    if len(known) == 1:
        return (
            f"Two retrievers share on average this much of their first {k}: {named(known.iloc[0])}."
        )
    return (
        f"Two retrievers share on average {known['overlap'].mean():.0%} of their first {k} "
        f"documents; most alike are {named(known.loc[known['overlap'].idxmax()])}, least alike "
        f"{named(known.loc[known['overlap'].idxmin()])}."
    )
