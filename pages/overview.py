"""What did we find, in one chart and five sentences; where to go next."""

import streamlit as st

from biasret import ui

with ui.page(
    "Search that changes with the asker",
    "A retriever decides which documents people, and the language models that answer them, get to "
    "see. It reads not only *what* is asked but *how*. This dashboard changes one thing, the "
    "identity a question signals, and measures what comes back.",
):
    ui.story()
    ui.where_next()
    st.caption(
        "The demo data is self-written and illustrative: it shows how the measurement works, and "
        "is not evidence about any real retriever's users. Groups are what a dataset labels."
    )
