"""What did we find, in one chart a signal; where to go next."""

import streamlit as st

from biasret import ui
from biasret.datasets import SIGNALS

with ui.page(
    "Search that changes with the asker",
    "A dense retriever reads not only *what* is asked but *how*. This dashboard changes one thing, "
    "the identity a question signals, and measures what every retriever returns for it.",
):
    st.header("What the paper found")
    lean, dialect = st.columns(2)
    with lean:
        ui.published("table07", key="overview")
    with dialect:
        ui.published("table11", key="overview")
    st.header("What this installation measured")
    ui.overview(SIGNALS["lean"], metric="lean", k=10)
    ui.overview(SIGNALS["dialect"], metric="rr", k=None)
    st.subheader("Where to go next")
    for page, label in ui.NEXT.items():
        st.page_link(page, label=label)
