"""Table -> plotly figure.

Colour is never the only cue: each group has a marker shape, and each row its numbers in
text. Figures keep transparent backgrounds and leave font colours to the page's theme, so
that they read on light and dark alike.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from biasret.metrics import METRICS
from biasret.sentences import ALPHA, p_text, retriever_label
from biasret.statistics import stars

__all__ = ["GROUP_STYLES", "forest", "gap_forest", "k_sweep", "levels_chart"]

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
_OTHER = ("#009988", "circle")
_ROW_HEIGHT = 58
_OFFSET = 0.16


def _style(group: str) -> tuple[str, str]:
    return GROUP_STYLES.get(group, _OTHER)


def plain(text: str) -> str:
    """Text for a chart label: plotly reads tags, so angle brackets are replaced."""
    return text.replace("<", "‹").replace(">", "›")


def forest(gaps: pd.DataFrame) -> go.Figure:
    """Two markers a retriever with 95% bars, n in the margin, stars behind the name.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric, depth and filter; a retriever whose means
        could not be computed keeps its row, without markers.
    """
    rows = gaps.reset_index(drop=True)
    metric = METRICS[rows.loc[0, "metric"]]
    title = metric.title(None if pd.isna(rows.loc[0, "k"]) else int(rows.loc[0, "k"]))
    figure = go.Figure()
    minuend, subtrahend = rows.loc[0, "minuend"], rows.loc[0, "subtrahend"]
    sides = ((subtrahend, "subtrahend", -_OFFSET), (minuend, "minuend", _OFFSET))
    for group, side, offset in sides:
        known = rows[np.isfinite(rows[f"mean_{side}"])]
        colour, symbol = _style(group)
        mean = known[f"mean_{side}"]
        figure.add_trace(
            go.Scatter(
                x=mean.tolist(),
                y=[position + offset for position in known.index],
                mode="markers",
                name=plain(group),
                marker={"color": colour, "symbol": symbol, "size": 11},
                error_x=_bars(
                    mean, known[f"low_{side}"], known[f"high_{side}"], colour, thickness=2
                ),
                hovertemplate="%{x:.3f}<extra>" + plain(group) + "</extra>",
            )
        )
    for position, row in rows.iterrows():
        figure.add_annotation(
            x=1.01, xref="paper", xanchor="left", y=position, text=_margin(row), showarrow=False
        )
    labels = [
        f"{plain(retriever_label(row['retriever']))} {stars(row['p_holm'])}".strip()
        for _, row in rows.iterrows()
    ]
    if metric.low < 0:
        figure.add_vline(x=0, line={"dash": "dash", "width": 1, "color": "#888888"})
    figure.update_layout(
        height=120 + _ROW_HEIGHT * len(rows),
        margin={"l": 10, "r": 120, "t": 36, "b": 48},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        template="plotly_white",
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=labels,
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title=f"mean {title} ({metric.unit})", zeroline=False)
    return figure


def _bars(
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


def _margin(row: pd.Series) -> str:
    if row["n_pairs"]:
        return f"{row['n_pairs']:,} pair{'' if row['n_pairs'] == 1 else 's'}"
    return f"{row['n_minuend']:,} / {row['n_subtrahend']:,}"


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
    colour = "#5C6BC0"
    figure = go.Figure(
        go.Scatter(
            x=known["estimate"].tolist(),
            y=known.index.tolist(),
            mode="markers",
            marker={
                "color": colour,
                "size": 11,
                "symbol": ["circle" if p < ALPHA else "circle-open" for p in known["p_holm"]],
                "line": {"width": 2, "color": colour},
            },
            error_x=_bars(
                known["estimate"], known["ci_low"], known["ci_high"], colour, thickness=2
            ),
            hovertemplate="%{x:+.4f}<extra></extra>",
        )
    )
    for position, row in rows.iterrows():
        figure.add_annotation(
            x=1.01, xref="paper", xanchor="left", y=position, text=_margin(row), showarrow=False
        )
    figure.add_vline(x=0, line={"dash": "dash", "width": 1, "color": "#888888"})
    figure.update_layout(
        height=90 + 40 * len(rows),
        margin={"l": 10, "r": 120, "t": 12, "b": 48},
        showlegend=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        template="plotly_white",
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[
            f"{plain(retriever_label(row['retriever']))} {stars(row['p_value'])}".strip()
            for _, row in rows.iterrows()
        ],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    contrast = plain(f"{title}, {first['minuend']} minus {first['subtrahend']}")
    figure.update_xaxes(title=contrast, zeroline=False)
    return figure


def k_sweep(gaps: pd.DataFrame) -> go.Figure:
    """Mean of each group against k, one panel a retriever, with 95% bars.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric and filter, at every depth.
    """
    rows = gaps.dropna(subset=["k"]).sort_values("k", kind="stable", ignore_index=True)
    names = gaps["retriever"].unique().tolist()
    columns = min(3, len(names))
    panels = -(-len(names) // columns)
    figure = make_subplots(
        rows=panels,
        cols=columns,
        subplot_titles=[plain(retriever_label(name)) for name in names],
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.16,
    )
    metric = METRICS[rows.loc[0, "metric"]]
    for i, name in enumerate(names):
        part = rows[rows["retriever"] == name]
        row, column = i // columns + 1, i % columns + 1
        for side in ("subtrahend", "minuend"):
            known = part[np.isfinite(part[f"mean_{side}"])]
            group = part.iloc[0][side]
            _add_line(figure, known, side, group, show=i == 0, row=row, column=column)
        if metric.low < 0:
            line = {"dash": "dash", "width": 1, "color": "#888888"}
            figure.add_hline(y=0, line=line, row=row, col=column)
    ticks = sorted(rows["k"].astype(int).unique().tolist())
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[str(k) for k in ticks], title="k")
    figure.update_yaxes(title=f"mean {metric.label}@k", col=1)
    figure.update_layout(
        height=110 + 230 * panels,
        margin={"l": 10, "r": 10, "t": 64, "b": 48},
        legend={"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        template="plotly_white",
    )
    return figure


def _add_line(
    figure: go.Figure,
    rows: pd.DataFrame,
    side: str,
    group: str,
    *,
    show: bool,
    row: int,
    column: int,
) -> None:
    colour, symbol = _style(group)
    mean = rows[f"mean_{side}"]
    figure.add_trace(
        go.Scatter(
            x=rows["k"].astype(int).tolist(),
            y=mean.tolist(),
            mode="lines+markers",
            name=plain(group),
            legendgroup=plain(group),
            showlegend=show,
            line={"color": colour, "dash": "solid" if side == "subtrahend" else "dot"},
            marker={"color": colour, "symbol": symbol, "size": 8},
            error_y=_bars(mean, rows[f"low_{side}"], rows[f"high_{side}"], colour, thickness=1),
            hovertemplate="k %{x}: %{y:.3f}<extra>" + plain(group) + "</extra>",
        ),
        row=row,
        col=column,
    )


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
    colour, symbol = _OTHER
    figure = go.Figure(
        go.Scatter(
            x=mean.tolist(),
            y=known.index.tolist(),
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 11},
            error_x=_bars(mean, known["ci_low"], known["ci_high"], colour, thickness=2),
            hovertemplate="%{x:.3f}<extra></extra>",
        )
    )
    for position, row in rows.iterrows():
        figure.add_annotation(
            x=1.01,
            xref="paper",
            xanchor="left",
            y=position,
            text=f"{row['n']:,} quer{'y' if row['n'] == 1 else 'ies'}",
            showarrow=False,
        )
    figure.update_layout(
        height=110 + _ROW_HEIGHT * len(rows),
        margin={"l": 10, "r": 120, "t": 16, "b": 48},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        template="plotly_white",
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[plain(retriever_label(name)) for name in rows["retriever"]],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title=f"mean {title} ({metric.unit})", zeroline=False)
    return figure


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
            marker={"color": "#5C6BC0", "size": 5, "opacity": 0.45},
            hovertemplate="%{x:.2f}<extra>stored pair</extra>",
        )
    )
    figure.add_vline(
        x=mark,
        line={"width": 3, "color": "#E65100"},
        annotation_text="this probe",
        annotation_position="top",
    )
    figure.update_layout(
        height=150,
        margin={"l": 10, "r": 10, "t": 24, "b": 40},
        showlegend=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        template="plotly_white",
    )
    figure.update_yaxes(visible=False, range=[-1.6, 1.6])
    figure.update_xaxes(title=plain(title), zeroline=False)
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
