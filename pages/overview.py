"""What did we find, in one chart a signal; where to go next."""

import streamlit as st

from biasret import ui
from biasret.datasets import SIGNALS

with ui.page(
    "Search that changes with the asker",
    "A dense retriever reads not only *what* is asked but *how*. This dashboard changes one thing, "
    "the identity a question signals, and measures what every retriever returns for it.",
):
    ui.overview(SIGNALS["lean"], metric="lean", k=10)
    ui.overview(SIGNALS["dialect"], metric="rr", k=None)
    st.subheader("Where to go next")
    st.page_link(
        "pages/probe.py",
        label="Type a question and see two lists",
        icon=":material/compare_arrows:",
    )
    st.page_link(
        "pages/political_lean.py",
        label="Political lean, by depth and filter",
        icon=":material/balance:",
    )
    st.page_link(
        "pages/dialect.py",
        label="Dialect, by metric and depth",
        icon=":material/record_voice_over:",
    )
