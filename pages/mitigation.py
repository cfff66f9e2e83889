"""What does translating or neutralising a question buy?"""

import streamlit as st

from biasret import ui

with ui.page(
    "Mitigation",
    "What does a change of wording buy before the retriever is asked? A question in African "
    "American Language (AAL) can be **translated** to White Mainstream English (WME). AAL is a "
    "rule-governed variety of English and needs no mending; translation is a way around a "
    "retriever that serves it worse, and asks for care: it can lose what the asker meant.",
):
    st.header("Published by the paper")
    ui.paper("mitigation", key="mitigation")
