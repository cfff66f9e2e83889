"""What changes when this query signals someone else?"""

import streamlit as st

from biasret import ui
from biasret.metrics import METRICS

with ui.page(
    "Probe",
    "Ask the same question in two wordings and see, retriever by retriever, which documents stay, "
    "move, disappear or appear.",
):
    data, who, depth = st.columns([2, 3, 3])
    with data:
        record = ui.pick_dataset("probe_dataset")
    with who:
        names = ui.pick_retrievers("probe_retrievers", record.name)
    with depth:
        k = ui.pick_k("probe_k", METRICS["lean"].ks, default=10)
    ui.about_dataset(record)
    ui.choose_stored(record)
    question = ui.type_wordings(record, ui.choose_flip(record))
    if not question.text_a.strip() and not question.text_b.strip():
        st.info(
            "Type a question in both boxes, or start from a stored one, and press Compare.",
            icon=":material/edit:",
        )
    elif not names:
        st.info("Choose at least one retriever.", icon=":material/checklist:")
    elif not question.text_b.strip():
        ui.show_one(record, question, names, k=k)
    else:
        ui.show_comparisons(record, question, names, k=k)
