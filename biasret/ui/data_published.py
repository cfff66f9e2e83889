"""What the paper reports of its data, its dropped questions and its judges."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret.charts.judging import confusion, confusion_alt
from biasret.charts.lengths import length_ranges, lengths_alt
from biasret.reproduction import data
from biasret.ui.pages import save, show
from biasret.ui.pairing import published_pairs
from biasret.ui.paper import every_number, notes, published

__all__ = ["published_data"]

_WORLD = "published (Tang et al. 2026, full precision from the authors' release)"


def published_data(part: str) -> None:
    """The paper's numbers for one part of the page.

    Parameters
    ----------
    part
        A key of `biasret.ui.data.PARTS`.
    """
    {
        "contents": _contents,
        "dropped": _dropped,
        "judges": _judges,
        "pairs": _pairs,
        "overlap": _overlap,
    }[part]()


def _about(exhibit: str) -> dict[str, str]:
    return {"dataset": "paper", "world": _WORLD, "exhibit": exhibit}


def _table(frame: pd.DataFrame, *, name: str, exhibit: str) -> None:
    st.dataframe(frame, hide_index=True, placeholder="—", key=f"table-{name}", alt=exhibit)
    save(frame, name=name, about=_about(exhibit))


def _contents() -> None:
    st.subheader("How long the queries are (Table 4)")
    st.caption(
        "Published by Tang et al. (2026). Filled: median; open: mean; ends: shortest and longest."
    )
    rows = data.published_lengths()
    show(
        length_ranges(rows),
        rows,
        name="data-table04",
        sentence=data.length_sentence(rows),
        alt=lengths_alt(rows.assign(group=rows["dataset"] + ", " + rows["group"])),
        about=_about("Table 4"),
    )
    _rest("table04")
    st.subheader("The retrievers (Table 5)")
    st.caption("Published by Tang et al. (2026).")
    _table(data.published_retrievers(), name="data-table05", exhibit="Table 5")
    _rest("table05")


def _dropped() -> None:
    st.subheader("Questions dropped for their length (Table 10)")
    st.caption(
        "Published by Tang et al. (2026). HealthCareMagic questions with fewer than 20 characters; "
        "their texts are not shown."
    )
    rows = data.published_dropped()
    st.markdown(
        f"**{len(rows)} questions labelled AAL were dropped and none labelled WME.** Keyboard "
        "noise holds no known word and falls to AAL by the labelling model's tie rule."
    )
    _table(rows, name="data-table10", exhibit="Table 10")
    _rest("table10")


def _rest(*exhibits: str) -> None:
    """Where page and release differ about these exhibits, and all of their numbers."""
    notes(*exhibits)
    every_number(*exhibits, key="data")


def _judges() -> None:
    table = data.published_agreement()
    st.subheader("How far the two judges agree (Appendix F)")
    st.caption(
        "Published by Tang et al. (2026). GPT-5-mini and Qwen3.5-35B-A3B on the same pairs of a "
        "Reddit post and an article, pooled from the top 10 of six retrievers."
    )
    counts = data.published_confusion()
    whole = table.iloc[0]
    show(
        confusion(counts, first="GPT", second="Qwen", words=("relevant", "not relevant")),
        table,
        name="data-appF",
        sentence=f"The judges agree on {whole['raw_agreement']:.1%} of {whole['n_pairs']:,} pairs; "
        f"beyond chance, kappa is {whole['kappa']:.3f}. GPT calls more relevant "
        f"({whole['relevant_rate_gpt']:.1%}) than Qwen ({whole['relevant_rate_qwen']:.1%}).",
        alt=confusion_alt(counts, first="GPT", second="Qwen"),
        about=_about("Appendix F; the four counts follow from the rates as released"),
    )
    _rest("judges", "judges_by_retriever")
    published("table06", key="data")
    st.subheader("Relevant documents in the lists (Figs. 12 and 13)")
    st.caption(
        "Published by Tang et al. (2026). The counts behind both figures are in no small file of "
        "the release, so their captions' numbers stand here."
    )
    _table(data.published_relevance(), name="data-fig12", exhibit="captions of Figs. 12 and 13")


def _pairs() -> None:
    published_pairs()
    _rest("fig05_means", "fig05_quartiles", "fig05_tests", "fig05_index")


def _overlap() -> None:
    st.info(
        "The paper does not report how much its retrievers' lists share, and the rankings it "
        "would follow from are too large to ship. Choose the other world for what was measured "
        "here.",
        icon=":material/info:",
    )
