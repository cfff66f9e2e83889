"""What the results pages draw: gaps or levels of one metric on one dataset."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret import charts, sentences
from biasret.audit import PAPER
from biasret.datasets.base import DatasetRecord
from biasret.filters import FILTERS, filter_named
from biasret.metrics import METRICS
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, show

__all__ = ["results"]


def results(record: DatasetRecord, *, metric: str, k: int | None, rule: str, key: str) -> None:
    """One metric on one dataset: forest, sweep over k, tables and files."""
    if record.minuend is None:
        _ungrouped(record, metric=metric, k=k, rule=rule, key=key)
        return
    rows = reads.gaps(
        record.name,
        metric=metric,
        filter=rule,
        minuend=record.minuend,
        subtrahend=record.subtrahend,
    )
    at_k = rows[rows["k"].isna()] if k is None else rows[rows["k"] == k]
    at_k = at_k.reset_index(drop=True)
    if at_k.empty:
        st.info("No gap has been measured for this choice yet.", icon=":material/hourglass_empty:")
        return
    about = _about(record, at_k, metric=metric, rule=rule)
    sentence = sentences.finding(at_k, signal=record.signal)
    st.subheader("The gap of each retriever")
    show(
        charts.forest(at_k),
        at_k,
        name=f"{key}-gaps",
        sentence=sentence,
        alt=charts.forest_alt(at_k, sentence),
        about={**about, "k": "full ranking" if k is None else str(k)},
    )
    st.caption(markdown_safe(about["test"]))
    if torn := sentences.interval_against_test(at_k):
        st.caption(f":material/info: {markdown_safe(torn)}")
    for _, row in at_k.iterrows():
        st.markdown(f"- {markdown_safe(sentences.gap(row))}")
    if k is not None and rows["k"].nunique() > 1:
        st.subheader("How the gap depends on depth")
        sentence = (
            f"{METRICS[metric].label}@k of both groups at every depth measured; where the bars of "
            "two groups overlap, the difference may still be clear, since cells are paired."
            if record.is_paired
            else f"{METRICS[metric].label}@k of both groups at every depth measured."
        )
        show(
            charts.k_sweep(rows),
            rows,
            name=f"{key}-sweep",
            sentence=sentence,
            alt=sentence,
            about={**about, "k": "every depth"},
        )
    _by_filter(record, metric=metric, k=k, key=key)


def _by_filter(record: DatasetRecord, *, metric: str, k: int | None, key: str) -> None:
    """The gap under every filter measured, where there are several."""
    stored = reads.filters(record.name, metric)
    if len(stored) < 2:
        return
    rows = reads.gaps(
        record.name, metric=metric, minuend=record.minuend, subtrahend=record.subtrahend
    )
    rows = rows[rows["k"].isna()] if k is None else rows[rows["k"] == k]
    labels = {name: filter_named(name).label for name in FILTERS if name in stored}
    labels |= {name: filter_named(name).label for name in stored}
    st.subheader("How the gap depends on which queries count")
    sentence = sentences.by_split(rows, "filter", labels)
    show(
        charts.gap_by(rows, "filter", labels),
        rows.reset_index(drop=True),
        name=f"{key}-filters",
        sentence=sentence,
        alt=sentence,
        about={
            "dataset": record.name,
            "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
            "metric": METRICS[metric].about,
            "gap": f"{record.minuend} minus {record.subtrahend}",
            "filters": "; ".join(filter_named(name).about for name in labels),
            "interval": f"cluster bootstrap, 95%, {PAPER.drawn}",
            "markers": "filled: p below 0.05 after a Holm correction over retrievers, by filter",
        },
    )


def _ungrouped(record: DatasetRecord, *, metric: str, k: int | None, rule: str, key: str) -> None:
    st.info(
        "This dataset labels no groups, so no gap can be computed on it; its levels are shown.",
        icon=":material/info:",
    )
    rows = reads.levels(record.name, metric=metric, filter=rule)
    at_k = rows[rows["k"].isna()] if k is None else rows[rows["k"] == k]
    at_k = at_k.reset_index(drop=True)
    if at_k.empty:
        st.info("Nothing has been measured for this choice yet.", icon=":material/hourglass_empty:")
        return
    best = at_k.loc[at_k["mean"].idxmax()]
    sentence = sentences.level(best)
    show(
        charts.levels_chart(at_k),
        at_k,
        name=f"{key}-levels",
        sentence=f"Highest: {sentence}",
        alt=" ".join(sentences.level(row) for _, row in at_k.iterrows()),
        about={
            "dataset": record.name,
            "world": "measured here",
            "metric": METRICS[metric].about,
            "filter": filter_named(rule).about,
            "interval": f"cluster bootstrap of the mean, 95%, {PAPER.drawn}",
        },
    )
    for _, row in at_k.iterrows():
        st.markdown(f"- {markdown_safe(sentences.level(row))}")


def _about(record: DatasetRecord, rows: pd.DataFrame, *, metric: str, rule: str) -> dict[str, str]:
    test = rows["test"].iloc[0]
    n = len(rows)
    return {
        "dataset": record.name,
        "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
        "metric": METRICS[metric].about,
        "filter": filter_named(rule).about,
        "gap": f"{record.minuend} minus {record.subtrahend}",
        "interval": f"cluster bootstrap, 95%, {PAPER.drawn}",
        "test": (
            f"Stars: {test} test, {sentences.correction(n)}; *** p < 0.001, ** p < 0.01, "
            f"* p < 0.05. Bars: 95% cluster bootstrap, {PAPER.drawn}. "
            f"Filter: {filter_named(rule).label}."
        ),
    }
