"""What is asked, on which documents, how deep, and how much of the machinery is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from biasret import probe
from biasret.datasets.base import DatasetRecord
from biasret.metrics import METRICS
from biasret.ui import reads
from biasret.ui.pages import about_dataset, pick_dataset, pick_k, pick_retrievers

__all__ = ["SHOWN_IN_PRESENTATION", "Setup", "corpus_of", "probe_setup"]

#: Depths offered: those at which the stored pairs were measured.
DEPTHS = tuple(k for k in METRICS["lean"].ks if k)

#: Documents of a list in the presentation view: what can be read from the back of a room.
SHOWN_IN_PRESENTATION = 5


#: Type and space of the presentation view; colours stay those of the theme.
_LARGE = """<style>
.stApp .br-title{font-size:1.25rem}
.stApp .br-diff{font-size:1.4rem}
.stApp .br-meta{font-size:1rem}
.stApp .br-lead{font-size:1.7rem;line-height:1.3;font-weight:600}
</style>"""


@dataclass(frozen=True)
class Setup:
    """Choices of the page.

    Attributes
    ----------
    retrievers
        Names, in the order they are asked.
    is_presented
        Whether the machinery is hidden and type is large.
    is_private
        Whether typed text stays out of the link.
    is_mitigated
        Whether both wordings are asked once more with the signal taken out.
    """

    record: DatasetRecord
    retrievers: tuple[str, ...]
    k: int
    is_presented: bool
    is_private: bool
    is_mitigated: bool


def probe_setup() -> Setup:
    """Dataset, retrievers, depth, and the presentation view."""
    switches = st.container(horizontal=True, key="probe_toggles", gap="large")
    is_presented = switches.toggle(
        "Presentation view",
        key="probe_presented",
        bind="query-params",
        help="Hides the settings and enlarges what is left: the question, its two wordings, the "
        "two lists, one sentence, and whether the change is typical.",
    )
    if is_presented:
        st.html(_LARGE)
    # All pickers are drawn in both views, so that nothing is lost by switching.
    place = st.expander("Settings", icon=":material/tune:") if is_presented else st.container()
    with place:
        data, who, depth = st.columns([2, 3, 3])
        with data:
            record = pick_dataset("probe_dataset")
        with who:
            names = pick_retrievers("probe_retrievers", record.name)
        with depth:
            k = pick_k("probe_k", DEPTHS, default=10)
        about_dataset(record)
    more = place if is_presented else switches
    is_private = more.toggle(
        "Leave my text out of the link",
        key="probe_private",
        persist_state="session",
        help="The address of this page holds your choices, so that it can be shared, and your "
        "text with them. Health questions can be personal: switch this on to keep the text out.",
    )
    is_mitigated = more.toggle(
        "Ask once more with the signal taken out",
        key="probe_mitigated",
        bind="query-params",
        help="AAL is translated to WME, leaning words are made neutral, by rule, and both "
        "wordings are asked again: what is left of the difference stands beside it.",
    )
    if is_presented:
        if record.is_illustrative:
            st.caption("Illustrative data, written for this project.")
        names = names[:1]
    return Setup(record, tuple(names), k, is_presented, is_private, is_mitigated)


def corpus_of(record: DatasetRecord) -> probe.Corpus:
    """What a probe needs of a dataset, from the store."""
    minuend, subtrahend = record.minuend, record.subtrahend
    groups = {"minuend": minuend or "", "subtrahend": subtrahend or ""}

    def differences(name: str, metric: str, k: int | None) -> np.ndarray:
        return reads.differences(record.name, name, metric, k, **groups)

    def overlaps(name: str, k: int) -> np.ndarray:
        return reads.overlaps(record.name, name, k, **groups)

    return probe.Corpus(
        record=record,
        find=lambda text: probe.Known.find(reads.store(), record.name, text),
        compare=lambda *asked: reads.comparisons(record.name, *asked),
        differences=differences,
        overlaps=overlaps,
    )
