"""What the Mitigation page draws of measured changes: what is won, and what it costs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret import charts, sentences
from biasret.audit import PAPER
from biasret.datasets.base import DatasetRecord
from biasret.metrics import METRICS
from biasret.mitigation import MITIGATIONS, QUALITIES
from biasret.ui import reads
from biasret.ui.pages import about_dataset, markdown_safe, pick, pick_k, show

__all__ = ["mitigation"]


def mitigation(*, key: str) -> None:
    """Dataset, mitigation, metric and depth; then the gap and the quality before and after."""
    held = {
        name: record
        for name, record in reads.datasets().items()
        if not reads.rows("mitigations", name).empty
    }
    if not held:
        st.info(
            "No dataset in the store holds mitigated wordings. Run `python -m biasret build` for "
            "the shipped ones, or `python -m biasret derive` to make some for yours.",
            icon=":material/database:",
        )
        return
    data, what, depth = st.columns([2, 2, 3])
    with data:
        labels = {name: record.label for name, record in held.items()}
        record = held[pick("Dataset", f"{key}_dataset", labels)]
    rows = reads.in_order(reads.rows("mitigations", record.name))
    names = {name: MITIGATIONS[name].label for name in rows["mitigation"].unique()}
    one = MITIGATIONS[next(iter(names)) if len(names) == 1 else pick("By", f"{key}_by", names)]
    rows = rows[rows["mitigation"] == one.name]
    gaps = rows[rows["quantity"] == "gap"]
    metrics = {name: METRICS[name].label for name in METRICS if name in set(gaps["metric"])}
    metric = next(iter(metrics), "")
    if len(metrics) > 1:
        with what:
            metric = pick("Metric", f"{key}_metric", metrics)
    k = None
    if metric and METRICS[metric].headline is not None:
        with depth:
            stored = sorted(
                int(k) for k in gaps.loc[gaps["metric"] == metric, "k"].dropna().unique()
            )
            headline = METRICS[metric].headline
            k = pick_k(f"{key}_k", stored, default=headline if headline in stored else stored[0])
    about_dataset(record)
    n_changed = int(rows["n_changed"].max())
    st.markdown(
        markdown_safe(f"{one.about}. The wording differs in {n_changed:,} cells. ")
        + f":material/warning: {markdown_safe(one.caution)}."
    )
    st.header("What it wins: the gap")
    if gaps.empty:
        st.info(
            "The groups of this dataset are not paired, so a gap before and after cannot be "
            "compared within cells; what follows compares each question with its own rewording.",
            icon=":material/info:",
        )
    else:
        chosen = gaps[gaps["metric"] == metric]
        chosen = chosen[chosen["k"].isna()] if k is None else chosen[chosen["k"] == k]
        title = METRICS[metric].title(k)
        contrast = f"{title}, {record.minuend} minus {record.subtrahend}"
        _changes(chosen, record, title=contrast, meaning=METRICS[metric].about, key=f"{key}-gap")
    st.header("What it costs: finding the answer")
    quality = rows[rows["quantity"] == "quality"]
    if quality.empty:
        st.info(
            "This dataset holds neither gold documents nor stories, so what the mitigation costs "
            "in quality cannot be measured on it.",
            icon=":material/help:",
        )
    for name in quality["metric"].unique():
        chosen = quality[quality["metric"] == name]
        title = f"mean {QUALITIES[name].split(',')[0]}"
        _changes(chosen, record, title=title, meaning=QUALITIES[name], key=f"{key}-{name}")


def _changes(
    rows: pd.DataFrame, record: DatasetRecord, *, title: str, meaning: str, key: str
) -> None:
    rows = rows.reset_index(drop=True)
    first = rows.iloc[0]
    sentence = sentences.mitigated(rows)
    method = (
        f"Stars: {first['test']} test of the change, {sentences.correction(len(rows))}; "
        "*** p < 0.001, ** p < 0.01, * p < 0.05. Bars: 95% cluster bootstrap of each value, "
        f"{PAPER.drawn}. Change: after minus before, in the same cells."
    )
    show(
        charts.before_after(rows, title=title, zero=first["quantity"] == "gap"),
        rows,
        name=key,
        sentence=sentence,
        alt=f"{sentence} {' '.join(sentences.reworded(row) for _, row in rows.iterrows())}",
        about={
            "dataset": record.name,
            "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
            "mitigation": MITIGATIONS[first["mitigation"]].label,
            "measure": title,
            "meaning": meaning,
            "method": method,
        },
    )
    st.caption(markdown_safe(method))
    for _, row in rows.iterrows():
        st.markdown(f"- {markdown_safe(sentences.reworded(row))}")
