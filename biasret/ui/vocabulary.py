"""What the page Beyond vocabulary draws of results measured here."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret import charts, lexical, sentences, sentences_vocabulary
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.filters import filter_named
from biasret.metrics import METRICS
from biasret.residuals import FEW, is_small
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, pick, pick_measured_k, show

__all__ = ["carrying_words", "pick_outcome", "remaining"]

#: What a control by tokens cannot do.
CAVEATS = (
    "The control counts words: it cannot see their order, and two words that always come together "
    "count twice. Scores are fitted on the questions they are applied to. Where wordings were "
    "generated, vocabulary and signal were written by the same rules, and what remains is a "
    "statement about those rules as well. Neither half is a cause: at equal vocabulary means "
    "where the fitted line crosses it."
)


def pick_outcome(record: DatasetRecord, *, key: str) -> tuple[str, int | None]:
    """Choose metric and depth among those of a dataset's signal."""
    names = SIGNALS[record.signal].metrics
    metric = names[0]
    what, depth = st.columns([2, 3])
    if len(names) > 1:
        with what:
            labels = {name: METRICS[name].label for name in names}
            metric = pick("Metric", f"{key}_metric_{record.signal}", labels)
    if METRICS[metric].headline is None:
        return metric, None
    with depth:
        # One choice a metric: their depths differ.
        return metric, pick_measured_k(f"{key}_k_{metric}", record, metric=metric)


def remaining(record: DatasetRecord, *, metric: str, k: int | None, rule: str, key: str) -> None:
    """Gap beside what remains of it, one retriever a row, with shares in words."""
    st.subheader("The gap, and what remains at equal vocabulary")
    rows = _rows(record, metric=metric, k=k, rule=rule)
    if rows.empty:
        st.info(
            "Nothing has been computed for this choice yet. Run `python -m biasret build`.",
            icon=":material/hourglass_empty:",
        )
        return
    sentence = sentences_vocabulary.remaining(rows, signal=record.signal)
    method = _method(rows, rule=rule)
    show(
        charts.residual_forest(rows),
        rows,
        name=f"{key}-residuals",
        sentence=sentence,
        alt=charts.residual_alt(rows, sentence),
        about={
            "dataset": record.name,
            "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
            "metric": METRICS[metric].about,
            "k": "full ranking" if k is None else str(k),
            "gap": f"{record.minuend} minus {record.subtrahend}",
            "method": method,
        },
    )
    st.caption(markdown_safe(method))
    for _, row in rows.iterrows():
        st.markdown(f"- {markdown_safe(sentences_vocabulary.residual(row))}")


def _rows(record: DatasetRecord, *, metric: str, k: int | None, rule: str) -> pd.DataFrame:
    rows = reads.rows(
        "residuals",
        record.name,
        metric=metric,
        filter=rule,
        minuend=record.minuend,
        subtrahend=record.subtrahend,
    )
    rows = rows[rows["k"].isna()] if k is None else rows[rows["k"] == k]
    return reads.in_order(rows)


def _method(rows: pd.DataFrame, *, rule: str) -> str:
    """Fit, errors, intervals, correction and what is pale, in words."""
    first = rows.iloc[0]
    model = (
        "Each pair's difference is regressed on its difference in vocabulary score; what remains "
        "is the intercept, the difference expected between wordings of equal score"
        if first["design"] == "paired"
        else "The metric is regressed on each question's vocabulary score and its group; what "
        "remains is the group's coefficient"
    )
    errors = (
        f"standard errors clustered over {first['n_clusters']:,} clusters, 95% interval by cluster "
        "bootstrap (5,000 resamples)"
        if first["covariance"] == "cluster"
        else "HC1 standard errors, 95% normal interval"
    )
    small = int(is_small(rows).sum())
    pale = f" Pale: fewer than {FEW} pairs, questions or clusters." if small else ""
    return (
        f"{model}; {errors}. Circles: the gap with its own interval and test; diamonds: what "
        f"remains. Filled: p below 0.05, {sentences.correction(len(rows))}; the table has both "
        f"p-values. Filter: {filter_named(rule).label}.{pale}"
    )


def carrying_words(record: DatasetRecord, *, key: str) -> None:
    """The tokens that point most to each group, with counts."""
    st.subheader("The words that carry the signal")
    tokens = reads.rows(
        "token_scores", record.name, minuend=record.minuend, subtrahend=record.subtrahend
    )
    if tokens.empty:
        st.info(
            "No words are scored here: nothing has been built yet, or the wordings of this "
            "dataset are withheld.",
            icon=":material/hourglass_empty:",
        )
        return
    top = lexical.strongest(tokens)
    sentence = sentences_vocabulary.words(top, n_tokens=len(tokens))
    method = (
        "Zeta is the z-score of a word's log-odds between the two groups under a weak prior "
        "(Monroe, Colaresi and Quinn 2008): 0 means that both use it alike. Words of one group "
        "alone score near 0. A question's vocabulary score is the sum over its words. Scores "
        "describe these questions, not the people who might ask them."
    )
    show(
        charts.token_bars(top),
        top.drop(columns=["dataset", "minuend", "subtrahend"]).rename(
            columns={
                "count_minuend": f"count {record.minuend}",
                "count_subtrahend": f"count {record.subtrahend}",
            }
        ),
        name=f"{key}-words",
        sentence=sentence,
        alt=sentence,
        about={
            "dataset": record.name,
            "world": "measured here",
            "sign": f"positive zeta: {record.minuend} uses the word more",
            "method": method,
        },
    )
    st.caption(markdown_safe(method))
    st.caption(markdown_safe(CAVEATS))
