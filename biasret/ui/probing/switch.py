"""Which way a question is flipped, and the settings of the engine that flips it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from biasret.datasets.base import SIGNALS
from biasret.probe import SWITCHES, Switch
from biasret.ui.pages import pick, told_number
from biasret.ui.probing.setup import Setup

__all__ = ["choose_switch"]


def choose_switch(setup: Setup) -> tuple[Switch, dict[str, object]]:
    """The direction of the flip, and the settings of its engine."""
    engine = SIGNALS[setup.record.signal].engine
    # The dataset's own signal comes first; the other can be tried on it as well.
    order = sorted(SWITCHES, key=lambda name: SWITCHES[name].signal != engine)
    names = {one: SWITCHES[one].label for one in order}
    place = st.container()
    if setup.is_presented:
        place = st.expander("Switch", icon=":material/swap_horiz:")
    with place:
        direction, *places = st.columns([5, 5, 3, 3])
        with direction:
            switch = SWITCHES[pick("Flip", f"probe_switch_{engine}", names)]
        return switch, _SETTINGS[switch.name](places)


def _to_aal(places: Sequence[Any]) -> dict[str, object]:
    from biasret.signals.dialect import FEATURES, PROFILES

    with places[0]:
        density = st.slider(
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
    with places[1]:
        seed = st.number_input(
            "Draw",
            0,
            99,
            0,
            key="probe_seed",
            bind="query-params",
            help="Another draw chooses other places for the same features.",
        )
    generated = [name for name, one in FEATURES.items() if one.is_generated]
    with places[2]:
        chosen = st.multiselect(
            "Features",
            generated,
            format_func=lambda name: name.replace("_", " "),
            key="probe_features",
            bind="query-params",
            placeholder="the usual ones",
            help=f"Empty: the {len(PROFILES['grammar+ing'])} features of grammar and -in’.",
        )
    told_number("probe_density", density)
    told_number("probe_seed", seed)
    settings: dict[str, object] = {"density": density, "seed": int(seed)}
    if chosen:
        settings["features"] = tuple(sorted(chosen))
    return settings


def _to_framing(places: Sequence[Any]) -> dict[str, object]:
    from biasret.signals.framing import FRAMES

    with places[0]:
        mode = pick(
            "Way",
            "probe_mode",
            {"lexical": "swap words", "tail": "add a clause", "framed": "whole question"},
        )
    with places[1]:
        loaded = st.toggle(
            "Loaded words",
            key="probe_loaded",
            bind="query-params",
            help="Also swaps words that carry blame or praise, on both sides alike.",
        )
    settings: dict[str, object] = {"mode": mode, "intensity": 2 if loaded else 1}
    if mode != "lexical":
        with places[2]:
            frame = st.selectbox(
                "Frame",
                list(FRAMES),
                index=None,
                format_func=lambda name: name.replace("_", " "),
                key="probe_frame",
                bind="query-params",
                placeholder="as found in the question",
            )
        if frame:
            settings["frame"] = frame
    return settings


def _to_wme(places: Sequence[Any]) -> dict[str, object]:
    with places[0]:
        st.caption("The translation has no settings; it undoes only what it is sure of.")
    return {}


_SETTINGS: dict[str, Callable[[Sequence[Any]], dict[str, object]]] = {
    "framing": _to_framing,
    "AAL": _to_aal,
    "WME": _to_wme,
}
