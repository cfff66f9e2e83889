"""What the Overview tells: one chart, five sentences, and where each leads."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from biasret import charts, sentences
from biasret.datasets import SHIPPED
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.published import EXHIBITS
from biasret.reproduction import exhibit_numbers, published_gaps
from biasret.statistics import holm
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, show

__all__ = ["NEXT", "story", "where_next"]

#: Where the overview leads, and what one finds there.
NEXT = {
    "pages/probe.py": "**Probe**: what changes for another asker?",
    "pages/political_lean.py": "**Political lean**: do results match the asker's lean?",
    "pages/dialect.py": "**Dialect**: do questions in AAL find worse answers?",
    "pages/query_by_query.py": "**Query by query**: which questions move most?",
    "pages/beyond_vocabulary.py": "**Beyond vocabulary**: what remains at equal words?",
    "pages/mitigation.py": "**Mitigation**: what does translating or neutralising buy?",
    "pages/data_and_judging.py": "**Data and judging**: what went in, and who judged?",
    "pages/audit.py": "**Audit**: does your own search change with the asker?",
    "pages/method.py": "**Method**: what do the numbers mean, and what not?",
}

#: The headline exhibit of each signal.
_HEADLINES = {"lean": "table07", "dialect": "table11"}


def story() -> None:
    """The paper's two headline gaps in one chart, and five sentences."""
    rows = {signal: published_gaps(name) for signal, name in _HEADLINES.items()}
    findings = {s: sentences.finding(of, signal=s) for s, of in rows.items()}
    panels = {SIGNALS[signal].label: of for signal, of in rows.items()}
    titles = "; ".join(EXHIBITS[name].title for name in _HEADLINES.values())
    st.caption(
        f"Published by Tang et al. (2026), {markdown_safe(titles)}: AllSides news and "
        "HealthCareMagic answers, six retrievers, generated pairs of questions."
    )
    method = (
        "Bars: 95% bootstrap interval as released. Filled markers: p below 0.05 after a Holm "
        "correction over the six retrievers, computed here from the published p-values. n: "
        f"{_n(rows['lean'])} pairs of news questions, {_n(rows['dialect'])} of health questions."
    )
    told = list(findings.values())
    show(
        charts.headline(panels),
        pd.concat(rows.values(), ignore_index=True).dropna(axis="columns", how="all"),
        name="overview",
        sentence="Change only who seems to ask, and search changes with it.",
        alt=" ".join(told),
        about={
            "dataset": "allsides_synth and hcmagic_synth",
            "world": "published (Tang et al. 2026, full precision from the authors' release)",
            "exhibit": titles,
            "method": method,
        },
    )
    st.caption(markdown_safe(method))
    told += [_vocabulary(), _translation(), _measured()]
    st.markdown("\n".join(f"{n}. {markdown_safe(text)}" for n, text in enumerate(told, start=1)))


def _n(rows: pd.DataFrame) -> str:
    low, high = rows["n_pairs"].min(), rows["n_pairs"].max()
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _vocabulary() -> str:
    parts = []
    for name, what in (("table14", "lean gap"), ("table17", "dialect gap")):
        numbers = exhibit_numbers(name)
        p = numbers.loc[numbers["quantity"] == "alpha_p", "released"].to_numpy(dtype=np.float64)
        kept = int((holm(p) < sentences.ALPHA).sum())
        parts.append(f"{kept} of {len(p)} retrievers keep a {what} ({EXHIBITS[name].title})")
    return f"It is not the words alone: with vocabulary accounted for, {' and '.join(parts)}."


def _translation() -> str:
    rows = published_gaps("table13")
    better = int(((rows["p_holm"] < sentences.ALPHA) & (rows["estimate"] > 0)).sum())
    return (
        f"A way around it helps in part: translated to WME, AAL questions find their answer nearer "
        f"the top with {better} of {len(rows)} retrievers ({EXHIBITS['table13'].title}); for the "
        "others no gain can be told from chance."
    )


def _measured() -> str:
    """What this installation measured, on one's own data before what was made up."""
    known = reads.datasets()
    if not known:
        return (
            "Measured here: nothing yet. The store holds no dataset; run `python -m biasret build` "
            "for the shipped ones, or `python -m biasret import` for your own."
        )
    parts = []
    for signal, metric, k in (("lean", "lean", 10), ("dialect", "rr", None)):
        record = _first(known, signal)
        if record is None or record.minuend is None:
            continue
        rows = reads.gaps(
            record.name,
            metric=metric,
            filter="raw",
            minuend=record.minuend,
            subtrahend=record.subtrahend,
        )
        rows = rows[rows["k"].isna()] if k is None else rows[rows["k"] == k]
        kind = "illustrative data" if record.is_illustrative else "imported data"
        if not rows.empty:
            parts.append(f"{record.label} ({kind}): {sentences.finding(rows, signal=signal)}")
    return f"Measured here: {' '.join(parts) or 'no gap has been measured yet.'}"


def _first(known: dict[str, DatasetRecord], signal: str) -> DatasetRecord | None:
    order = {name: at for at, name in enumerate(SHIPPED)}
    fitting = [one for one in known.values() if one.signal == signal]
    return min(
        fitting, key=lambda one: (one.is_illustrative, order.get(one.name, 99)), default=None
    )


def where_next() -> None:
    """A link to every page, with the question it answers."""
    st.subheader("Where to go next")
    left, right = st.columns(2)
    for at, (page, label) in enumerate(NEXT.items()):
        with left if at % 2 == 0 else right:
            st.page_link(page, label=label)
