"""The switch of the Probe page: another identity for the question typed."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from biasret import markup
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.errors import BiasretError
from biasret.flip import FLIPS, Flip, flip
from biasret.ui.pages import markdown_safe, pick

__all__ = ["Switch", "choose_flip", "show_flip"]


@dataclass(frozen=True)
class Switch:
    """What to flip to, and how."""

    to: str
    settings: tuple[tuple[str, object], ...]

    def write(self, text: str) -> Flip:
        """The counterpart of a text."""
        return flip(text, to=self.to, **dict(self.settings))


def choose_flip(record: DatasetRecord) -> Switch:
    """Direction and strength of the flip that the button performs."""
    engine = SIGNALS[record.signal].engine
    names = {name: one.label for name, one in FLIPS.items() if one.signal == engine}
    direction, first, second = st.columns([4, 4, 2])
    with direction:
        to = pick("Flip to", f"probe_flip_{engine}", names)
    settings: dict[str, object] = {}
    if to == "AAL":
        with first:
            settings["density"] = st.slider(
                "Density of features",
                0.1,
                1.0,
                0.4,
                0.1,
                key="probe_density",
                bind="query-params",
                help="Features are optional for speakers: nobody uses all of them everywhere. "
                "1.0 is a stress test.",
            )
        with second:
            settings["seed"] = st.number_input(
                "Draw",
                0,
                99,
                0,
                key="probe_seed",
                bind="query-params",
                help="Another draw chooses other places for the same features.",
            )
    elif engine == "framing":
        with first:
            settings["mode"] = pick(
                "Way",
                "probe_mode",
                {"lexical": "swap words", "tail": "add a clause", "framed": "whole question"},
            )
        with second:
            strong = st.toggle("Loaded words too", key="probe_loaded", bind="query-params")
            settings["intensity"] = 2 if strong else 1
    return Switch(to, tuple(sorted(settings.items())))


def show_flip(switch: Switch, text_a: str, text_b: str) -> bool:
    """What the flip changed, where wording B is the flip of wording A; else what B is.

    Returns
    -------
    bool
        Whether wording B is the flip of wording A.
    """
    if not text_a.strip() or not text_b.strip():
        return False
    try:
        made = switch.write(text_a)
    except BiasretError as error:
        st.caption(markdown_safe(str(error)))
        return False
    if made.target != text_b:
        if st.session_state.get("_flipped"):
            st.caption("Wording B was edited by hand, or the switch was changed since it was made.")
        return False
    st.caption(f":material/auto_awesome: {markdown_safe(made.label)} ({made.engine})")
    if made.is_changed:
        marks = [(m.start, m.end, m.target_start, m.target_end, m.why) for m in made.marks]
        st.html(markup.marked(made.source, made.target, marks))
        with st.expander(f"Why these {len(made.marks)} changes"):
            for mark in made.marks:
                st.markdown(f"- **{markdown_safe(mark.name)}**: {markdown_safe(mark.why)}")
    for notice in made.notices:
        st.caption(markdown_safe(notice))
    return True
