"""The paper's lexical controls as the page Beyond vocabulary shows them."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from biasret import charts, sentences_vocabulary
from biasret.reproduction import PUBLISHED_RESIDUALS, published_residuals, published_summary
from biasret.ui.exhibits import Drawn, Shown

__all__ = ["CONTROLS", "CONTROL_VIEWS"]

_PAGE = "beyond_vocabulary"
_MARKERS = (
    "Circles: the gap; diamonds: what remains beyond vocabulary, signs as published. Filled: p "
    "below 0.05 after a Holm correction over the paper's retrievers, computed here from the "
    "published p-values."
)

#: What the exhibits of the page are sorted by.
CONTROL_VIEWS = {
    "summary": "four data sets",
    "lean": "political lean",
    "dialect": "dialect",
}


@st.cache_data(show_spinner=False)
def _rows(name: str) -> pd.DataFrame:
    """What is published does not change while the dashboard runs."""
    return published_summary() if name == "table03" else published_residuals(name)


def _control(name: str) -> Drawn:
    exhibit = PUBLISHED_RESIDUALS[name]
    rows = _rows(name)
    sentence = sentences_vocabulary.remaining(rows, signal=exhibit.signal)
    raw = (
        "the gap's interval is a bootstrap, as released"
        if exhibit.gap
        else "neither interval nor test is published of the gap itself, so its circles stay open"
    )
    return Drawn(
        charts.residual_forest(rows),
        rows,
        sentence,
        charts.residual_alt(rows, sentence),
        f"{_MARKERS} What remains is {exhibit.residual} of the paper's fit, {_errors(name)}; bars "
        f"are 95% intervals, {exhibit.interval} for what remains; {raw}. {exhibit.caveat}".strip(),
    )


def _errors(name: str) -> str:
    is_clustered = PUBLISHED_RESIDUALS[name].covariance == "cluster"
    return "standard errors clustered by article" if is_clustered else "HC1 standard errors"


def _summary() -> Drawn:
    rows = _rows("table03")
    labels = {
        "allsides_synth": "AllSides, framed questions",
        "reddit_nat": "Reddit, twenty deep",
        "hcmagic_synth": "HealthCareMagic, rewritten",
        "hcmagic_nat": "HealthCareMagic, natural",
    }
    sentence = sentences_vocabulary.remaining_by(rows, "dataset", labels)
    return Drawn(
        charts.residual_panels(rows, labels),
        rows,
        sentence,
        charts.residual_alt(rows, sentence),
        f"{_MARKERS} Table 3 tests what remains, not the gap, so circles stay open; it leaves out "
        "BM25 and prints no intervals, which stand in Tables 14, 15, 17 and 18.",
    )


CONTROLS = (
    Shown(
        "table03",
        ("table03",),
        _PAGE,
        "summary",
        "Gap and what remains, four data sets",
        "The gap of each dense retriever, and what remains of it once lexical asymmetry is "
        "accounted for",
        _summary,
    ),
    *(
        Shown(
            exhibit.name,
            (exhibit.name,),
            _PAGE,
            exhibit.signal,
            exhibit.label,
            exhibit.about,
            partial(_control, exhibit.name),
        )
        for exhibit in PUBLISHED_RESIDUALS.values()
    ),
)
