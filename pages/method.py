"""Definitions, limits, respectful use, citation."""

import streamlit as st

from biasret import ui

with ui.page(
    "Method",
    "What the numbers mean, how they are made, and what they cannot say. The method is that of "
    "Tang, Deas, McKeown and Misra (2026); this is an independent implementation.",
):
    ui.method()
    st.caption("Numbers on this page are read from the code that computes the results.")
