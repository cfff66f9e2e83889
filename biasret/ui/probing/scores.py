"""How much each wording resembles AAL writing, and what that does not say."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from biasret import markup
from biasret.precomputed import Folder
from biasret.probe import SWITCHES, Question, Wording
from biasret.signals.dialect import CountTable, DialectScore, score
from biasret.ui.pages import markdown_safe

__all__ = ["show_scores"]


def show_scores(question: Question) -> None:
    """Features and, where its table was imported, the word model's view of both wordings."""
    if SWITCHES[question.switch].signal != "dialect":
        return
    box = st.expander(
        "How much each wording resembles AAL writing",
        icon=":material/speed:",
        key="probe_scores",
        on_change="rerun",
    )
    if not box.open:
        return
    table = _table()
    with box:
        found = [(one, score(one.text, table=table)) for one in (question.a, question.b)]
        columns = ["Wording", "AAL features recognised", "per clause"]
        if table is not None:
            columns += ["AAL index of its words", "words in the table"]
        st.html(
            markup.matrix(
                columns,
                [_row(one, scored, is_worded=table is not None) for one, scored in found],
                label="How much each wording resembles AAL writing",
            )
        )
        note = found[0][1].share_note
        if table is None and note:
            st.caption(markdown_safe(note))
        st.markdown("What this does not say:")
        for limit in found[0][1].limits:
            st.markdown(f"- {markdown_safe(limit)}")


def _row(one: Wording, scored: DialectScore, *, is_worded: bool) -> markup.Row:
    names = ", ".join(feature.feature.replace("_", " ") for feature in scored.features)
    per_clause = "—" if scored.per_clause is None else f"{scored.per_clause:.2f}"
    cells = [f"{len(scored.features)}" + (f": {names}" if names else ""), per_clause]
    if is_worded:
        share = scored.share
        weak = " (few words known)" if share is not None and share.is_weak else ""
        cells += [
            "—" if share is None else f"{share.index:.2f}{weak}",
            "—" if share is None else f"{share.n_known} of {share.n_tokens}",
        ]
    return markup.Row(one.group, "", cells)


def _table() -> CountTable | None:
    path = Folder().resource("twitteraae")
    return _read(str(path), path.stat().st_mtime_ns) if path.exists() else None


@st.cache_resource(max_entries=1, show_spinner=False)
def _read(path: str, modified: int) -> CountTable:
    del modified
    return CountTable.read(Path(path))
