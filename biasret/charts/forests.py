"""One row a retriever: means of two groups, a gap, or a level, each with its interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret.charts.base import (
    FEW,
    GUIDE,
    MARK,
    OTHER,
    SERIES,
    bars,
    ground,
    group_style,
    name_rows,
    note_rows,
    opacity,
    plain,
)
from biasret.metrics import METRICS
from biasret.sentences import ALPHA, p_text, retriever_label
from biasret.statistics import stars

__all__ = ["forest", "forest_alt", "gap_by", "gap_forest", "levels_chart"]

_ROW_HEIGHT = 58
_OFFSET = 0.16


def forest(gaps: pd.DataFrame, *, starred: str = "p_holm") -> go.Figure:
    """Two markers a retriever with 95% bars, n in the margin, stars behind the name.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric, depth and filter; a retriever whose means
        could not be computed keeps its row, without markers.
    starred
        The column whose p the stars stand for.
    """
    rows = gaps.reset_index(drop=True)
    metric = METRICS[rows.loc[0, "metric"]]
    title = metric.title(None if pd.isna(rows.loc[0, "k"]) else int(rows.loc[0, "k"]))
    figure = go.Figure()
    minuend, subtrahend = rows.loc[0, "minuend"], rows.loc[0, "subtrahend"]
    sides = ((subtrahend, "subtrahend", -_OFFSET), (minuend, "minuend", _OFFSET))
    for group, side, offset in sides:
        known = rows[np.isfinite(rows[f"mean_{side}"])]
        colour, symbol = group_style(group)
        mean = known[f"mean_{side}"]
        figure.add_trace(
            go.Scatter(
                x=mean.tolist(),
                y=[position + offset for position in known.index],
                mode="markers",
                name=plain(group),
                marker={
                    "color": colour,
                    "symbol": symbol,
                    "size": 11,
                    "opacity": opacity(known[f"n_{side}"]),
                },
                error_x=bars(
                    mean, known[f"low_{side}"], known[f"high_{side}"], colour, thickness=2
                ),
                hovertemplate="%{x:.3f}<extra>" + plain(group) + "</extra>",
            )
        )
    note_rows(figure, [_margin(row) for _, row in rows.iterrows()])
    labels = [
        f"{plain(retriever_label(row['retriever']))} {stars(row[starred])}".strip()
        for _, row in rows.iterrows()
    ]
    if metric.low < 0:
        figure.add_vline(x=0, line=GUIDE)
    ground(
        figure,
        height=120 + _ROW_HEIGHT * len(rows),
        margin={"l": 10, "r": 120, "t": 36, "b": 48},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    name_rows(figure, labels)
    figure.update_xaxes(title=f"mean {title} ({metric.unit})", zeroline=False)
    return figure


def _margin(row: pd.Series) -> str:
    few = " (few)" if min(row["n_minuend"], row["n_subtrahend"]) < FEW else ""
    if row["n_pairs"]:
        return f"{row['n_pairs']:,} pair{'' if row['n_pairs'] == 1 else 's'}{few}"
    return f"{row['n_minuend']:,} / {row['n_subtrahend']:,}{few}"


def gap_forest(gaps: pd.DataFrame) -> go.Figure:
    """One marker a retriever at its gap, with the gap's own 95% bar; filled where found.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric, depth and filter.
    """
    rows = gaps.reset_index(drop=True)
    first = rows.iloc[0]
    title = METRICS[first["metric"]].title(None if pd.isna(first["k"]) else int(first["k"]))
    known = rows[np.isfinite(rows["estimate"])]
    colour = MARK
    figure = go.Figure(
        go.Scatter(
            x=known["estimate"].tolist(),
            y=known.index.tolist(),
            mode="markers",
            marker={
                "color": colour,
                "size": 11,
                "opacity": opacity(known[["n_minuend", "n_subtrahend"]].min(axis=1)),
                "symbol": ["circle" if p < ALPHA else "circle-open" for p in known["p_holm"]],
                "line": {"width": 2, "color": colour},
            },
            error_x=bars(known["estimate"], known["ci_low"], known["ci_high"], colour, thickness=2),
            hovertemplate="%{x:+.4f}<extra></extra>",
        )
    )
    note_rows(figure, [_margin(row) for _, row in rows.iterrows()])
    figure.add_vline(x=0, line=GUIDE)
    ground(
        figure,
        height=90 + 40 * len(rows),
        margin={"l": 10, "r": 120, "t": 12, "b": 48},
        showlegend=False,
    )
    name_rows(
        figure,
        [
            f"{plain(retriever_label(row['retriever']))} {stars(row['p_value'])}".strip()
            for _, row in rows.iterrows()
        ],
    )
    contrast = plain(f"{title}, {first['minuend']} minus {first['subtrahend']}")
    figure.update_xaxes(title=contrast, zeroline=False)
    return figure


def gap_by(gaps: pd.DataFrame, by: str, labels: dict[str, str]) -> go.Figure:
    """The gap of each retriever under several filters or depths, one marker shape for each.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset and metric.
    by
        The column that tells its rows apart, ``filter`` or ``k``.
    labels
        What each of its values is called, in the order drawn; other rows are left out. A
        marker is filled where the gap is found (Holm-corrected p below 0.05).
    """
    names = gaps["retriever"].drop_duplicates().tolist()
    # Markers of one row stay nearer to each other than to the next row's.
    reach = min(0.3, 0.12 * (len(labels) - 1))
    spread = np.linspace(-reach, reach, len(labels))
    figure = go.Figure()
    for at, ((value, label), offset) in enumerate(zip(labels.items(), spread, strict=True)):
        colour, symbol, _ = SERIES[at % len(SERIES)]
        symbol = symbol.removesuffix("-open")
        of = gaps[(gaps[by].astype("str") == value) & np.isfinite(gaps["estimate"])]
        figure.add_trace(
            go.Scatter(
                x=of["estimate"].tolist(),
                y=[names.index(name) + float(offset) for name in of["retriever"]],
                mode="markers",
                name=plain(label),
                marker={
                    "color": colour,
                    "size": 10,
                    "symbol": [symbol if p < ALPHA else f"{symbol}-open" for p in of["p_holm"]],
                    "line": {"width": 2, "color": colour},
                },
                error_x=bars(of["estimate"], of["ci_low"], of["ci_high"], colour, thickness=1),
                customdata=[_margin(row) for _, row in of.iterrows()],
                hovertemplate="%{x:+.4f}, %{customdata}<extra>" + plain(label) + "</extra>",
            )
        )
    figure.add_vline(x=0, line=GUIDE)
    height = 130 + (34 + 14 * len(labels)) * len(names)
    ground(
        figure,
        height=height,
        margin={"l": 10, "r": 16, "t": 16, "b": 76},
        legend={"orientation": "h", "y": -64 / height, "yanchor": "top", "x": 0},
    )
    name_rows(figure, [plain(retriever_label(name)) for name in names])
    first = gaps.iloc[0]
    k = None if by == "k" or pd.isna(first["k"]) else int(first["k"])
    title = (
        f"{METRICS[first['metric']].label}@k" if by == "k" else METRICS[first["metric"]].title(k)
    )
    contrast = plain(f"{title}, {first['minuend']} minus {first['subtrahend']}")
    figure.update_xaxes(title=contrast, zeroline=False)
    return figure


def levels_chart(levels: pd.DataFrame) -> go.Figure:
    """One marker a retriever with its 95% bar, for a dataset that labels no groups.

    Parameters
    ----------
    levels
        ``levels`` rows of one dataset, metric, depth and filter.
    """
    rows = levels.reset_index(drop=True)
    metric = METRICS[rows.loc[0, "metric"]]
    title = metric.title(None if pd.isna(rows.loc[0, "k"]) else int(rows.loc[0, "k"]))
    known = rows[np.isfinite(rows["mean"])]
    mean = known["mean"]
    colour, symbol = OTHER
    figure = go.Figure(
        go.Scatter(
            x=mean.tolist(),
            y=known.index.tolist(),
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 11},
            error_x=bars(mean, known["ci_low"], known["ci_high"], colour, thickness=2),
            hovertemplate="%{x:.3f}<extra></extra>",
        )
    )
    note_rows(figure, [f"{n:,} quer{'y' if n == 1 else 'ies'}" for n in rows["n"]])
    ground(
        figure,
        height=110 + _ROW_HEIGHT * len(rows),
        margin={"l": 10, "r": 120, "t": 16, "b": 48},
    )
    name_rows(figure, [plain(retriever_label(name)) for name in rows["retriever"]])
    figure.update_xaxes(title=f"mean {title} ({metric.unit})", zeroline=False)
    return figure


def forest_alt(gaps: pd.DataFrame, sentence: str) -> str:
    """What a forest chart shows, for those who do not see it."""
    parts = [sentence]
    for _, row in gaps.iterrows():
        if pd.isna(row["estimate"]):
            parts.append(f"{retriever_label(row['retriever'])}: no gap.")
            continue
        p = "" if pd.isna(row["p_holm"]) else f", corrected p {p_text(row['p_holm'])}"
        parts.append(f"{retriever_label(row['retriever'])}: gap {row['estimate']:+.3f}{p}.")
    return plain(" ".join(parts))
