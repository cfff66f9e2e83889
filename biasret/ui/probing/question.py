"""One box, one switch: a typed question, its two wordings, and what gives pause about them."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from biasret import markup, probe
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.errors import BiasretError, InputError
from biasret.probe import ORIGINS, Question, Switch, Wording
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, told_text
from biasret.ui.probing.scores import show_scores
from biasret.ui.probing.setup import Setup, corpus_of
from biasret.ui.probing.switch import choose_switch

__all__ = ["MAX_TEXT", "ask_question"]

#: Longest text taken; far beyond what any model here reads.
MAX_TEXT = 10_000

#: Stored questions offered at a time: long option lists freeze a page.
MAX_OFFERED = 50

#: Stored questions offered as examples.
N_EXAMPLES = 3

#: Whose wording stands for a stored question: the one that signals least.
_SHOWN_FIRST = ("neutral", "WME")

TEXT, TEXT_A, TEXT_B = "probe_text", "probe_a", "probe_b"

Bind = Literal["query-params"] | None


def ask_question(setup: Setup) -> Question | None:
    """The question as it is put to the retrievers; None where nothing was typed yet."""
    record = setup.record
    _examples(record)
    if not setup.is_presented:
        _choose_stored(record)
    # A widget that is no longer bound takes its text out of the link by itself.
    bind: Bind = None if setup.is_private else "query-params"
    _box(bind)
    switch, settings = choose_switch(setup)
    text = str(st.session_state.get(TEXT) or "")
    told_text(TEXT, text, limit=MAX_TEXT)
    st.session_state.setdefault("_probe_typed", text)
    given = [_given(key, bind) for key in (TEXT_A, TEXT_B)]
    if not text.strip() and not all(given):
        for key in (TEXT_A, TEXT_B):
            _editor(key, bind)
        st.info(
            "Type a question and press Flip and compare, or begin with one of the examples.",
            icon=":material/edit:",
        )
        return None
    try:
        question = probe.worded(
            text,
            switch=switch.name,
            settings=settings,
            a=given[0],
            b=given[1],
            find=corpus_of(record).find,
        )
    except InputError as error:
        st.warning(markdown_safe(str(error)), icon=":material/edit:")
        return None
    _detected(text, switch)
    _wordings(setup, question, bind)
    if not setup.is_presented:
        show_scores(question)
    if setup.is_private:
        _forget(setup)
    for sentence in probe.warnings(question):
        st.warning(markdown_safe(sentence), icon=":material/difference:")
    if question.a.text == question.b.text:
        st.info(
            "Both wordings are the same text, so every retriever returns the same list twice.",
            icon=":material/equal:",
        )
    if question.exclude and not setup.is_presented:
        st.caption(
            "This is a stored question: its source article is left out of every list, as it is "
            "in the measured results."
        )
    return question


def _forget(setup: Setup) -> None:
    """Take out of the link what the browser put there before it knew that it should not.

    Boxes drawn in this run are no longer bound; Streamlit takes out those of others itself.
    """
    drawn = (TEXT,) if setup.is_presented else (TEXT, TEXT_A, TEXT_B)
    for key in drawn:
        if st.session_state.get(key) and key in st.query_params:
            del st.query_params[key]


# --- where a question comes from ---------------------------------------------------------------


def _examples(record: DatasetRecord) -> None:
    found = reads.examples(record.name, N_EXAMPLES, _SHOWN_FIRST)
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="probe_examples"):
        for cell_id, text in found.items():
            st.button(
                markdown_safe(text if len(text) <= 46 else text[:43].rsplit(" ", 1)[0] + "…"),
                key=f"probe_example_{cell_id}",
                on_click=_fill,
                args=(record.name, cell_id),
                type="tertiary",
                icon=":material/lightbulb:",
            )


def _choose_stored(record: DatasetRecord) -> None:
    with st.expander("Look for a stored question", icon=":material/search:"):
        words = st.text_input(
            "Words to look for",
            key=f"probe_find_{record.name}",
            max_chars=200,
            placeholder="for example: tax, school, headache",
        )
        found = reads.store().find_cells(record.name, words or "", limit=MAX_OFFERED)
        if found.empty:
            st.caption(
                "No stored question holds all of these words."
                if words
                else "This dataset stores no wording of its questions."
            )
            return
        texts = dict(zip(found["cell_id"], found["text"], strict=True))
        cell_id = st.selectbox(
            f"Stored questions ({len(found)} shown, {MAX_OFFERED} at most)",
            list(texts),
            format_func=lambda cell: markup.visible(texts[cell]),
            key=f"probe_pick_{record.name}",
        )
        st.button(
            "Use this question",
            on_click=_fill,
            args=(record.name, cell_id),
            key="probe_use",
            icon=":material/south:",
        )


def _fill(dataset: str, cell_id: str) -> None:
    """Put a stored question in place, with its stored wordings where people wrote them."""
    record = reads.datasets()[dataset]
    cell = reads.store().cell(dataset, cell_id).set_index("query_id")
    first, second = SIGNALS[record.signal].sides
    by_group = cell.drop_duplicates("group").set_index("group")
    asked = next((name for name in ("neutral", first) if name in by_group.index), None)
    st.session_state[TEXT] = by_group["text"][asked] if asked else cell["text"].iloc[0]
    is_written = {first, second} <= set(by_group.index) and not any(
        by_group["origin"][name].startswith("generated") for name in (first, second)
    )
    for key, group in ((TEXT_A, first), (TEXT_B, second)):
        st.session_state[key] = by_group["text"][group] if is_written else ""
    st.session_state["_probe_typed"] = st.session_state[TEXT]


def _box(bind: Bind) -> None:
    with st.form("probe_form", border=False):
        st.text_area(
            "Your question",
            key=TEXT,
            max_chars=MAX_TEXT,
            height=80,
            bind=bind,
            placeholder="Type a question as you would ask it",
        )
        st.form_submit_button(
            "Flip and compare",
            type="primary",
            icon=":material/compare_arrows:",
            on_click=_engines_again,
        )


def _engines_again() -> None:
    """A newly typed question gets new wordings; those of the last one are not about it."""
    if st.session_state.get("_probe_typed") != st.session_state.get(TEXT):
        st.session_state[TEXT_A] = st.session_state[TEXT_B] = ""
    st.session_state["_probe_typed"] = st.session_state.get(TEXT)


# --- the two wordings --------------------------------------------------------------------------


def _detected(text: str, switch: Switch) -> None:
    try:
        found = probe.detected(text, switch=switch.name)
    except BiasretError as error:
        st.caption(markdown_safe(str(error)))
        return
    if not found.sentence:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="probe_detected"):
        st.markdown(f":material/info: {markdown_safe(found.sentence)}")
        if found.switch:
            st.button(
                f"Flip to {found.switch} instead",
                key="probe_follow",
                on_click=_follow,
                args=(found.switch,),
                icon=":material/swap_horiz:",
            )


def _follow(name: str) -> None:
    for engine in {one.engine for one in SIGNALS.values()}:
        st.session_state[f"probe_switch_{engine}"] = name


def _given(key: str, bind: Bind) -> str | None:
    """A wording edited by hand or named by the link, before its box is drawn."""
    text = st.session_state.get(key)
    if text is None and bind:
        text = st.query_params.get(key)
    return str(text)[:MAX_TEXT] if text and str(text).strip() else None


def _wordings(setup: Setup, question: Question, bind: Bind) -> None:
    sides = ((TEXT_A, "A", question.a), (TEXT_B, "B", question.b))
    columns = st.columns(2)
    for column, (key, place, one) in zip(columns, sides, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.html(_card(place, one))
            if one.flip:
                _why(one)
            if setup.is_presented:
                continue
            if _given(key, bind):
                _editor(key, bind)
                st.button(
                    "Back to the engine’s wording",
                    key=f"{key}_back",
                    on_click=_set,
                    args=(key, ""),
                    icon=":material/undo:",
                    type="tertiary",
                    disabled=not question.typed.strip(),
                )
            else:
                st.button(
                    "Edit by hand",
                    key=f"{key}_edit",
                    on_click=_set,
                    args=(key, one.text),
                    icon=":material/edit:",
                    type="tertiary",
                )


def _card(place: str, one: Wording) -> str:
    made = one.flip
    label = f"{place}: {one.group} wording, {ORIGINS[one.origin]}"
    if made is None:
        return markup.wording(label, one.text)
    note = f"{made.label} ({made.engine})"
    return markup.wording(label, one.text, made.target_marks, note=note)


def _why(one: Wording) -> None:
    made = one.flip
    assert made is not None
    if made.marks:
        n = len(made.marks)
        with st.popover(
            f"Why {'this change' if n == 1 else f'these {n} changes'}", type="tertiary"
        ):
            for mark in made.marks:
                name = mark.name.replace("_", " ")
                st.markdown(f"- **{markdown_safe(name)}**: {markdown_safe(mark.why)}")
    for notice in made.notices:
        st.caption(markdown_safe(notice))


def _editor(key: str, bind: Bind) -> None:
    """The box of a wording that is edited; drawn too while it is empty, so that a link fills it."""
    if key not in st.session_state and key not in st.query_params:
        return
    place = "A" if key == TEXT_A else "B"
    st.text_area(f"Wording {place}, by hand", key=key, max_chars=MAX_TEXT, bind=bind, height=80)


def _set(key: str, text: str) -> None:
    st.session_state[key] = text
