"""The published exhibits as the pages show them: where, in what view, drawn how.

To show another exhibit: a function that gives its `Drawn`, and a record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from biasret import charts, sentences
from biasret.catalogue import Catalogue
from biasret.filters import filter_named
from biasret.metrics import METRICS
from biasret.reproduction import (
    PUBLISHED_GAPS,
    published_gaps,
    published_means,
    published_recall,
)

__all__ = ["SHOWN", "VIEWS", "Drawn", "Shown"]

#: What the exhibits of a page are sorted by.
VIEWS = {
    "gap": "the gap",
    "groups": "both groups",
    "relevance": "by relevance",
    "depth": "by depth",
}

_HOLM = (
    "p below 0.05 after a Holm correction over the paper's retrievers, computed here from the "
    "published p-values"
)
_STARS = "*** p < 0.001, ** p < 0.01, * p < 0.05"


@dataclass(frozen=True)
class Drawn:
    """An exhibit made ready.

    Attributes
    ----------
    table
        What is drawn, at full precision.
    method
        Test, correction and interval in words.
    """

    figure: go.Figure
    table: pd.DataFrame
    sentence: str
    alt: str
    method: str


@dataclass(frozen=True)
class Shown:
    """An exhibit, or several in one chart, on a page.

    Attributes
    ----------
    exhibits
        Keys of `biasret.published.EXHIBITS` whose numbers it shows.
    page, view
        Where it stands: a script of ``pages/`` and a key of `VIEWS`.
    about
        What is compared, and what of the paper's figure cannot be shown.
    """

    name: str
    exhibits: tuple[str, ...]
    page: str
    view: str
    label: str
    about: str
    draw: Callable[[], Drawn]


def _gap(name: str) -> Drawn:
    exhibit = PUBLISHED_GAPS[name]
    rows = published_gaps(name)
    sentence = sentences.finding(rows, signal=exhibit.signal)
    has_bars = rows["ci_low"].notna().any()
    bars = (
        "Bars: 95% bootstrap interval of the gap, as released."
        if has_bars
        else "The release has no intervals for these gaps."
    )
    return Drawn(
        charts.gap_forest(rows),
        rows,
        sentence,
        charts.forest_alt(rows, sentence),
        f"Stars: {exhibit.test} test as published, uncorrected; {_STARS}. Filled markers: {_HOLM}. "
        f"{bars}",
    )


def _groups(name: str) -> Drawn:
    return _both(name, published_gaps(name))


@st.cache_data(show_spinner=False)
def _resampled(name: str) -> pd.DataFrame:
    return published_means(name)


def _groups_resampled(name: str) -> Drawn:
    return _both(name, _resampled(name), resampled=True)


def _both(name: str, rows: pd.DataFrame, *, resampled: bool = False) -> Drawn:
    exhibit = PUBLISHED_GAPS[name]
    sentence = sentences.finding(rows, signal=exhibit.signal)
    bars = "Bars: 95% bootstrap interval of each group's mean, as released."
    if resampled:
        bars = (
            "Bars: 95% bootstrap interval of each group's mean, computed here from the shipped "
            "ranks (5,000 resamples, seed 42); the release has the means alone."
        )
    elif rows["low_minuend"].isna().all():
        bars = "The release has no intervals for these means; the gap has one."
    return Drawn(
        charts.forest(rows, starred="p_value"),
        rows,
        sentence,
        charts.forest_alt(rows, sentence),
        f"Stars: {exhibit.test} test of the gap as published, uncorrected; {_STARS}. {bars}",
    )


def _split(names: tuple[str, ...], by: str, labels: dict[str, str]) -> Drawn:
    rows = pd.concat([published_gaps(name) for name in names], ignore_index=True)
    sentence = sentences.by_split(rows, by, labels)
    tests = ", ".join(dict.fromkeys(f"{PUBLISHED_GAPS[name].test}" for name in names))
    return Drawn(
        charts.gap_by(rows, by, labels),
        rows,
        sentence,
        sentence,
        f"Filled markers: {_HOLM}. Test: {tests}, as published. Bars, where the release has an "
        "interval: 95% bootstrap of the gap.",
    )


def _recall(contrast: str) -> Drawn:
    rows = published_recall(contrast)
    at_10 = rows[rows["k"] == 10]
    first = rows.iloc[0]
    higher = int((at_10["estimate"] > 0).sum())
    sentence = (
        f"At k = 10, recall is higher for {first['minuend']} than for {first['subtrahend']} with "
        f"{higher} of {len(at_10)} retrievers; the differences lie between "
        f"{at_10['estimate'].min():+.3f} and {at_10['estimate'].max():+.3f}."
    )
    return Drawn(
        charts.k_sweep(rows),
        rows,
        sentence,
        sentence,
        f"{METRICS['recall'].about}; computed here from the shipped ranks. Bars: Wilson's 95% "
        "interval of each share; the curves carry no test of their own.",
    )


def _labels(*rules: str) -> dict[str, str]:
    return {rule: filter_named(rule).label for rule in rules}


_LEAN, _DIALECT, _MITIGATION = "political_lean", "dialect", "mitigation"


def _comparison(name: str, exhibits: tuple[str, ...], page: str, **words: str) -> Shown:
    record = PUBLISHED_GAPS[name]
    about = record.about + (f". {words['more']}" if "more" in words else "")
    return Shown(name, exhibits, page, "gap", record.label, about, partial(_gap, name))


SHOWN: Catalogue[Shown] = Catalogue(
    "published exhibit on a page",
    [
        _comparison("table07", ("table07",), _LEAN),
        _comparison("table08", ("table08",), _LEAN),
        Shown(
            "groups08",
            ("table08",),
            _LEAN,
            "groups",
            "Reddit, lean of both groups",
            f"{PUBLISHED_GAPS['table08'].about}. The means of the AllSides groups (Fig. 2a) are "
            "in no released summary; `import release` computes them from the released rankings",
            partial(_groups, "table08"),
        ),
        Shown(
            "robust_allsides",
            ("fig09a", "fig10", "table07"),
            _LEAN,
            "relevance",
            "AllSides, by what counts as relevant",
            "The paired gap over every cell (Fig. 9a), over cells whose two lists hold a document "
            "of their story (Table 7), and over judged documents alone (Fig. 10)",
            partial(
                _split,
                ("fig09a", "table07", "fig10"),
                "filter",
                _labels("raw", "same-story", "judges"),
            ),
        ),
        Shown(
            "table06",
            ("table06",),
            _LEAN,
            "relevance",
            PUBLISHED_GAPS["table06"].label,
            PUBLISHED_GAPS["table06"].about,
            partial(
                _split,
                ("table06",),
                "filter",
                {rule: filter_named(rule).label for _, rule in PUBLISHED_GAPS["table06"].rules},
            ),
        ),
        Shown(
            "robust_reddit",
            ("fig09b", "fig11", "table08"),
            _LEAN,
            "relevance",
            "Reddit, by what counts as relevant",
            "The gap over every title (Fig. 9b), over titles with a relevant document among the "
            "first ten, all ten counted (Fig. 11), and over judged documents alone (Table 8)",
            partial(
                _split,
                ("fig09b", "fig11", "table08"),
                "filter",
                _labels("raw", "retained", "judges"),
            ),
        ),
        Shown(
            "depth_reddit",
            ("table06", "table15"),
            _LEAN,
            "depth",
            "Reddit, ten and twenty deep",
            "Two depths of Fig. 15 that the release gives in numbers: unfiltered lean@10 (Table 6) "
            "and lean@20 (Table 15). Other depths, and Fig. 14 beyond the k = 10 of Table 7, are "
            "in no released summary; `import release` computes them",
            lambda: _depths(),
        ),
        _comparison("table11", ("table11",), _DIALECT),
        _comparison("table12", ("table12",), _DIALECT),
        Shown(
            "fig03a",
            ("fig03a", "table11"),
            _DIALECT,
            "groups",
            "HealthCareMagic, rewritten questions: both groups",
            PUBLISHED_GAPS["table11"].about,
            partial(_groups, "table11"),
        ),
        Shown(
            "fig03b",
            ("fig03b", "table12"),
            _DIALECT,
            "groups",
            "HealthCareMagic, natural questions: both groups",
            PUBLISHED_GAPS["table12"].about,
            partial(_groups_resampled, "table12"),
        ),
        Shown(
            "fig17",
            ("fig17_18_19",),
            _DIALECT,
            "depth",
            "HealthCareMagic, natural questions: recall by depth (Fig. 17)",
            "Share of natural questions whose answer is among the first k. The same for the "
            "rewritten questions (Fig. 16) is in no released summary; `import release` computes it",
            partial(_recall, "natural"),
        ),
        _comparison("table13", ("table13",), _MITIGATION),
        Shown(
            "fig19",
            ("fig19", "table13"),
            _MITIGATION,
            "groups",
            "HealthCareMagic, before and after translation",
            PUBLISHED_GAPS["table13"].about,
            partial(_groups_resampled, "table13"),
        ),
        Shown(
            "fig18",
            ("fig17_18_19",),
            _MITIGATION,
            "depth",
            "HealthCareMagic, recall by depth before and after translation (Fig. 18)",
            "Share of natural AAL questions, and of their translations to WME, whose answer is "
            "among the first k",
            partial(_recall, "translation"),
        ),
    ],
)


def _depths() -> Drawn:
    ten = published_gaps("table06")
    rows = pd.concat([ten[ten["filter"] == "raw"], published_gaps("table15")], ignore_index=True)
    labels = {"10": "k = 10", "20": "k = 20"}
    sentence = sentences.by_split(rows, "k", labels)
    return Drawn(
        charts.gap_by(rows, "k", labels),
        rows,
        sentence,
        sentence,
        f"Filled markers: {_HOLM}; at k = 20 no test of the raw gap is published, so those markers "
        "stay open.",
    )
