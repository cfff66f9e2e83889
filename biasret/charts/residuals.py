"""Gaps beside what remains of them, and the words that carry a signal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from biasret.charts.base import GUIDE, MARK, bars, ground, group_style, name_rows, note_rows, plain
from biasret.metrics import METRICS
from biasret.residuals import is_small
from biasret.sentences import ALPHA, p_text, retriever_label

__all__ = ["residual_alt", "residual_forest", "residual_panels", "token_bars"]

_GREY = "#888888"
_OFFSET = 0.17
_BEFORE, _AFTER = "gap", "beyond vocabulary"


def residual_forest(rows: pd.DataFrame) -> go.Figure:
    """Two markers a retriever: its gap, and what remains beyond vocabulary, with 95% bars.

    Parameters
    ----------
    rows
        ``residuals`` rows of one dataset, metric, depth and filter. What cannot be had has no
        marker; results of few queries are pale. A diamond is filled where what remains is found
        (Holm-corrected p below 0.05).
    """
    rows = rows.reset_index(drop=True)
    figure = go.Figure()
    for trace in _traces(rows, with_bars=True):
        figure.add_trace(trace)
    sizes = [_size(row) for _, row in rows.iterrows()]
    # One size for all stands under the axis; a phone has no room to say it in every row.
    is_one = len(set(sizes)) == 1
    note_rows(figure, [] if is_one else sizes)
    figure.add_vline(x=0, line=GUIDE)
    height = 150 + 52 * len(rows)
    ground(
        figure,
        height=height,
        margin={"l": 10, "r": 16 if is_one else 100, "t": 12, "b": 100},
        legend={"orientation": "h", "y": -84 / height, "yanchor": "top", "x": 0},
        showlegend=True,
    )
    _retriever_axis(figure, rows)
    title = _contrast(rows.iloc[0])
    figure.update_xaxes(title=f"{title}<br>{sizes[0]}" if is_one else title, zeroline=False)
    return figure


def residual_panels(rows: pd.DataFrame, labels: dict[str, str]) -> go.Figure:
    """The same markers without bars, one panel a dataset, each on its own scale.

    Parameters
    ----------
    rows
        ``residuals`` rows of several datasets, the same retrievers in each.
    labels
        What each dataset is called, in the order drawn.
    """
    n = len(labels)
    figure = make_subplots(
        rows=n,
        cols=1,
        subplot_titles=[plain(label) for label in labels.values()],
        vertical_spacing=0.36 / n,
    )
    for position, name in enumerate(labels, start=1):
        part = rows[rows["dataset"] == name].reset_index(drop=True)
        for trace in _traces(part, with_bars=False):
            trace.showlegend = position == 1
            figure.add_trace(trace, row=position, col=1)
        figure.add_vline(x=0, line=GUIDE, row=position, col=1)
        _retriever_axis(figure, part, row=position, col=1)
        figure.update_xaxes(title=_contrast(part.iloc[0]), zeroline=False, row=position, col=1)
    height = 110 + n * (110 + 40 * rows["retriever"].nunique())
    ground(
        figure,
        height=height,
        margin={"l": 10, "r": 16, "t": 40, "b": 84},
        legend={"orientation": "h", "y": -64 / height, "yanchor": "top", "x": 0},
        showlegend=True,
    )
    return figure


def _traces(rows: pd.DataFrame, *, with_bars: bool) -> list[go.Scatter]:
    """One for the gaps and one for what remains, small results paler."""
    made = []
    pale = np.where(is_small(rows), 0.4, 1.0)
    sides = (
        (_BEFORE, "gap", "gap_low", "gap_high", "gap_p_holm", _GREY, "circle", -_OFFSET),
        (
            *(_AFTER, "residual", "residual_low", "residual_high", "p_holm"),
            *(MARK, "diamond", _OFFSET),
        ),
    )
    for name, value, low, high, p, colour, symbol, offset in sides:
        is_known = np.isfinite(rows[value])
        of = rows[is_known]
        marker = {
            "color": colour,
            "size": 11,
            "opacity": pale[is_known].tolist(),
            "symbol": [symbol if one < ALPHA else f"{symbol}-open" for one in of[p]],
            "line": {"width": 2, "color": colour},
        }
        trace = go.Scatter(
            x=of[value].tolist(),
            y=[position + offset for position in of.index],
            mode="markers",
            name=name,
            legendgroup=name,
            marker=marker,
            hovertemplate="%{x:+.4f}<extra>" + name + "</extra>",
        )
        if with_bars and np.isfinite(of[low]).any():
            trace.error_x = bars(of[value], of[low], of[high], colour, thickness=2)
        made.append(trace)
    return made


def _retriever_axis(figure: go.Figure, rows: pd.DataFrame, **panel: int) -> None:
    name_rows(figure, [plain(retriever_label(name)) for name in rows["retriever"]], **panel)


def _contrast(row: pd.Series) -> str:
    title = METRICS[row["metric"]].title(None if pd.isna(row["k"]) else int(row["k"]))
    return plain(f"{title}, {row['minuend']} minus {row['subtrahend']}")


def _size(row: pd.Series) -> str:
    if row["design"] == "paired":
        return f"{row['n']:,} pair{'' if row['n'] == 1 else 's'}"
    return f"{row['n_minuend']:,} / {row['n_subtrahend']:,}"


def token_bars(tokens: pd.DataFrame) -> go.Figure:
    """The tokens that point most to each group, as bars to the right and to the left.

    Parameters
    ----------
    tokens
        ``token_scores`` rows of one contrast, strongest towards the minuend first, as
        `biasret.lexical.strongest` picks them.
    """
    first = tokens.iloc[0]
    names = tokens["token"].tolist()
    figure = go.Figure()
    sides = (("minuend", tokens["zeta"] > 0, ""), ("subtrahend", tokens["zeta"] < 0, "/"))
    for side, is_of, pattern in sides:
        of = tokens[is_of]
        group = first[side]
        colour, _ = group_style(group)
        figure.add_trace(
            go.Bar(
                x=of["zeta"].tolist(),
                y=[names.index(token) for token in of["token"]],
                orientation="h",
                name=plain(f"points to {group}"),
                marker={"color": colour, "pattern": {"shape": pattern, "solidity": 0.35}},
                customdata=of[["token", "count_minuend", "count_subtrahend"]].to_numpy().tolist(),
                hovertemplate="%{customdata[0]}: %{x:+.2f}<br>"
                + plain(f"{first['minuend']} %{{customdata[1]:,}}, ")
                + plain(f"{first['subtrahend']} %{{customdata[2]:,}}")
                + "<extra></extra>",
            )
        )
    figure.add_vline(x=0, line=GUIDE)
    height = 130 + 24 * len(names)
    ground(
        figure,
        height=height,
        margin={"l": 10, "r": 16, "t": 12, "b": 80},
        legend={"orientation": "h", "y": -64 / height, "yanchor": "top", "x": 0},
        showlegend=True,
        bargap=0.3,
    )
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    title = plain(f"zeta: to the right, {first['minuend']} uses the word more")
    figure.update_xaxes(title=title, zeroline=False)
    return figure


def residual_alt(rows: pd.DataFrame, sentence: str) -> str:
    """What a chart of residuals shows, for those who do not see it."""
    parts = [sentence]
    for row in rows.to_dict("records"):
        who = retriever_label(row["retriever"])
        gap = "no gap" if pd.isna(row["gap"]) else f"gap {row['gap']:+.3f}"
        if pd.isna(row["residual"]):
            parts.append(f"{who}: {gap}, no residual.")
            continue
        p = "" if pd.isna(row["p_holm"]) else f", corrected p {p_text(row['p_holm'])}"
        parts.append(f"{who}: {gap}, beyond vocabulary {row['residual']:+.3f}{p}.")
    return plain(" ".join(parts))
