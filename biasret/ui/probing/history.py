"""The probes of this visit, and one of them pinned to compare with."""

from __future__ import annotations

import streamlit as st

from biasret import markup, sentences
from biasret.probe import Answer, ProbeResult
from biasret.ui.pages import markdown_safe

__all__ = ["remember", "show_history"]

#: Probes kept: enough for a visit, and small, since they live as long as the session.
_KEPT = 20
_KEY = "_probe_history"


def _key(result: ProbeResult) -> tuple[object, ...]:
    question = result.question
    return (result.dataset, result.k, question.a.text, question.b.text)


def remember(result: ProbeResult) -> None:
    """Put a probe first among those of this visit; asked again, it takes its new place."""
    kept: list[ProbeResult] = st.session_state.setdefault(_KEY, [])
    others = [one for one in kept if _key(one) != _key(result)]
    st.session_state[_KEY] = [result, *others][:_KEPT]


def show_history(current: ProbeResult) -> None:
    """Earlier probes, one of which can be pinned; they are kept in this visit only."""
    kept: list[ProbeResult] = st.session_state.get(_KEY, [])
    earlier = [one for one in kept if _key(one) != _key(current)]
    if not earlier:
        return
    with st.expander(f"Earlier probes of this visit ({len(earlier)})", icon=":material/history:"):
        chosen = st.selectbox(
            "Pin one to compare with",
            range(len(earlier)),
            index=None,
            format_func=lambda at: _name(earlier[at]),
            key="probe_pinned",
            placeholder="none",
        )
        if chosen is None:
            st.caption("Kept in this browser tab until it is closed; nothing is stored.")
            return
        pinned = earlier[chosen]
        st.html(
            markup.matrix(
                ["Retriever", "Pinned", "Now"],
                _rows(pinned, current),
                label="The pinned probe beside the present one",
            )
        )
        question = pinned.question
        st.caption(
            markdown_safe(
                f"Pinned: {question.a.text!r} against {question.b.text!r} on {pinned.dataset}, "
                f"k = {pinned.k}."
            )
        )


def _name(one: ProbeResult) -> str:
    text = one.question.typed or one.question.a.text
    short = text if len(text) <= 80 else text[:77] + "…"
    return markup.visible(f"{short} ({one.question.a.group} to {one.question.b.group})")


def _rows(pinned: ProbeResult, current: ProbeResult) -> list[markup.Row]:
    def changes(one: ProbeResult) -> dict[str, str]:
        return {
            answer.retriever: sentences.change(answer.comparison, one.question.groups)
            for answer in one.answers
            if isinstance(answer, Answer)
        }

    before, now = changes(pinned), changes(current)
    names = list(dict.fromkeys([*now, *before]))
    return [
        markup.Row(
            sentences.retriever_label(name),
            "",
            [before.get(name, "not asked"), now.get(name, "not asked")],
        )
        for name in names
    ]
