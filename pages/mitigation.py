"""What does translating or neutralising a question buy?"""

import streamlit as st

from biasret import ui

with ui.page(
    "Mitigation",
    "What does a change of wording buy before the retriever is asked? A question in African "
    "American Language (AAL) can be **translated** to White Mainstream English (WME); leaning "
    "words in a question can be **replaced** by descriptive ones. AAL is a rule-governed variety "
    "of English and needs no mending: both are ways around a retriever, with a price of their own.",
):
    world = ui.pick("World", "mitigation_world", ui.WORLDS)
    if world == "published":
        st.caption("The paper translates; it does not neutralise.")
        ui.paper("mitigation", key="mitigation")
    else:
        ui.mitigation(key="mitigation")
