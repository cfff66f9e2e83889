"""What the results pages draw of the paper's own numbers."""

from __future__ import annotations

import streamlit as st

from biasret import charts, sentences
from biasret.metrics import METRICS
from biasret.reproduction import PUBLISHED_GAPS, published_gaps
from biasret.ui.pages import markdown_safe, show

__all__ = ["published"]


def published(name: str, *, key: str) -> None:
    """One published comparison: finding, chart of gaps, numbers, file.

    Parameters
    ----------
    name
        A key of `PUBLISHED_GAPS`.
    """
    exhibit = PUBLISHED_GAPS[name]
    rows = published_gaps(name)
    sentence = sentences.finding(rows, signal=exhibit.signal)
    st.subheader(exhibit.label)
    st.caption(f"Published by Tang et al. (2026). {exhibit.about}.")
    test = (
        f"Stars: {exhibit.test} test as published, uncorrected; *** p < 0.001, ** p < 0.01, "
        "* p < 0.05. Filled markers: p below 0.05 after a Holm correction over the paper's "
        "retrievers, computed here. Bars: 95% bootstrap interval of the gap, as released."
    )
    show(
        charts.gap_forest(rows),
        rows.dropna(axis="columns", how="all"),
        name=f"{key}-{name}",
        sentence=sentence,
        alt=charts.forest_alt(rows, sentence),
        about={
            "dataset": str(rows["dataset"].iloc[0]),
            "world": "published (Tang et al. 2026, full precision from the authors' release)",
            "exhibit": exhibit.about,
            "metric": METRICS[exhibit.metric].about,
            "gap": f"{exhibit.minuend} minus {exhibit.subtrahend}",
            "test": test,
        },
    )
    st.caption(markdown_safe(test))
