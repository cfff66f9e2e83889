"""How queries are paired, and how alike retrievers rank."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret.charts.overlap import overlap_alt, overlap_finding, overlap_map
from biasret.charts.pairing import pairing_alt, pairing_boxes, pairing_finding
from biasret.datasets.base import DatasetRecord
from biasret.pairing import SCHEMES
from biasret.reproduction import published_pairing
from biasret.retrievers import names
from biasret.ui import reads
from biasret.ui.pages import about_dataset, markdown_safe, pick_k, show

__all__ = ["overlaps", "pairs", "published_pairs"]


def pairs(record: DatasetRecord) -> None:
    """The pairing check of a paired dataset, for every dense retriever."""
    about_dataset(record)
    st.subheader("Do the two wordings of a cell ask for the same?")
    if not record.is_paired or record.minuend is None:
        st.info(
            "This dataset is not paired: no question has a counterpart whose closeness could be "
            "checked.",
            icon=":material/info:",
        )
        return
    summary = reads.in_order(reads.rows("pairing_summary", record.name))
    if summary.empty:
        st.info(
            "The vectors of no dense retriever have been compared yet. Run "
            f"`python -m biasret build --dataset '{record.name}'`.",
            icon=":material/hourglass_empty:",
        )
        return
    summary = _by_scheme(summary)
    _draw(
        summary,
        name="data-pairing",
        about={
            "dataset": record.name,
            "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
        },
    )
    if not (summary.loc[summary["scheme"] == "cross_frame", "n"] > 0).any():
        st.info(
            "Each cluster of this dataset holds one cell, so a question has no other of the same "
            "source to be compared with.",
            icon=":material/info:",
        )
    st.caption(
        markdown_safe(
            f"Cosines of the retriever's own query vectors, {record.subtrahend} with "
            f"{record.minuend}. Bars: from quartile to quartile. Interval of a mean, and of a "
            "median difference: 95% cluster bootstrap, 5,000 resamples, seeds 42 and 43. Test: "
            "Wilcoxon, one-sided, the cell's own pair is closer; Holm correction over retrievers "
            "and comparisons."
        )
    )
    st.caption(_MEANING)


_MEANING = (
    "A gap between two wordings speaks of the signal only as far as both ask for the same thing. "
    "Closeness in a retriever's own vectors is necessary for that, not sufficient: a retriever "
    "that overlooks a difference in meaning calls the wordings close too."
)


def published_pairs() -> None:
    """Fig. 5 as released."""
    st.subheader("Do the two wordings of a cell ask for the same? (Fig. 5)")
    st.caption("Published by Tang et al. (2026). AllSides queries, left with right.")
    _draw(
        published_pairing(),
        name="data-fig05",
        about={
            "dataset": "allsides_synth",
            "world": "published (Tang et al. 2026, full precision from the authors' release)",
            "exhibit": "Fig. 5",
        },
    )
    st.caption(
        "3,723 cells of 999 articles; 26 cells are alone in their article and have no comparison "
        "inside it. The paper's boxes have whiskers, which the released quartiles do not give. "
        "Test: Wilcoxon, one-sided, as published, where p underflows to 0; Holm correction "
        "computed here. Interval of a median difference: cluster bootstrap over articles."
    )
    st.caption(_MEANING)


def _by_scheme(summary: pd.DataFrame) -> pd.DataFrame:
    order = summary["scheme"].map(list(SCHEMES).index)
    place = {name: at for at, name in enumerate(dict.fromkeys(summary["retriever"]))}
    keyed = summary.assign(_place=summary["retriever"].map(place), _scheme=order)
    return keyed.sort_values(["_place", "_scheme"], ignore_index=True)[summary.columns.tolist()]


def _draw(summary: pd.DataFrame, *, name: str, about: dict[str, str]) -> None:
    sentence = pairing_finding(summary)
    schemes = "; ".join(f"{scheme.label}: {scheme.about}" for scheme in SCHEMES.values())
    show(
        pairing_boxes(summary),
        summary.dropna(axis="columns", how="all"),
        name=name,
        sentence=sentence,
        alt=pairing_alt(summary, sentence),
        about={**about, "shown": f"cosines of query vectors. {schemes}"},
    )


def overlaps(record: DatasetRecord) -> None:
    """How much of their lists any two retrievers share."""
    about_dataset(record)
    st.subheader("How alike do retrievers rank?")
    rows = reads.rows("retriever_overlaps", record.name)
    if rows.empty:
        st.info(
            "Retrievers can be compared once two of them have ranked this dataset. Run "
            f"`python -m biasret build --dataset '{record.name}'`.",
            icon=":material/hourglass_empty:",
        )
        return
    depths = sorted(int(k) for k in rows["k"].unique())
    k = pick_k("data_k", depths, default=10 if 10 in depths else depths[0])
    place = {name: at for at, name in enumerate(names())}
    at_k = rows[rows["k"] == k]
    order = at_k["retriever"].map(lambda name: place.get(name, len(place)))
    shown = at_k.assign(_place=order).sort_values("_place", kind="stable", ignore_index=True)
    shown = shown.drop(columns="_place").dropna(axis="columns", how="all")
    sentence = overlap_finding(shown)
    show(
        overlap_map(shown),
        shown,
        name="data-overlap",
        sentence=sentence,
        alt=overlap_alt(shown, sentence),
        about={
            "dataset": record.name,
            "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
            "shown": f"mean overlap@{k} and rank-biased overlap (p = 0.9) of pairs of retrievers",
        },
    )
    n = shown["n"].agg(["min", "max"]).tolist()
    queries = f"{n[0]:,}" if n[0] == n[1] else f"{n[0]:,} to {n[1]:,}"
    st.caption(
        f"overlap@{k}: share of the longer of two lists that both hold, mean over {queries} "
        "queries of every group for which both found something. The table has a 95% cluster "
        "bootstrap interval of each and rank-biased overlap (p = 0.9), which weighs the first "
        "ranks most. A high overlap means that two retrievers are no independent evidence of a "
        "gap; no test is made."
    )
