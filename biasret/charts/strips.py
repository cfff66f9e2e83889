"""A value among many stored ones."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from biasret.charts.base import MARK, ground, plain

__all__ = ["strip"]


def strip(values: np.ndarray, mark: float, *, title: str) -> go.Figure:
    """Every stored pair as a dot, and the probe's own value as a labelled line.

    Parameters
    ----------
    values : shape (n,)
    """
    finite = values[np.isfinite(values)]
    # The same spread on each run: height has no meaning, it only keeps dots apart.
    heights = np.random.default_rng(0).uniform(-1, 1, len(finite))
    figure = go.Figure(
        go.Scatter(
            x=finite.tolist(),
            y=heights.tolist(),
            mode="markers",
            marker={"color": MARK, "size": 5, "opacity": 0.45},
            hovertemplate="%{x:.2f}<extra>stored pair</extra>",
        )
    )
    figure.add_vline(
        x=mark,
        line={"width": 3, "color": "#E65100"},
        annotation_text="this probe",
        annotation_position="top",
    )
    ground(
        figure,
        height=150,
        margin={"l": 10, "r": 10, "t": 24, "b": 40},
        showlegend=False,
    )
    figure.update_yaxes(visible=False, range=[-1.6, 1.6])
    figure.update_xaxes(title=plain(title), zeroline=False)
    return figure
