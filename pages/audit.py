"""My run, my corpus, my model."""

import streamlit as st

from biasret import ui

with ui.page(
    "Audit",
    "Does *your* search change with the asker? Let it answer the queries of a dataset here, bring "
    "the rankings as a TREC run or a table, and see the gap between groups with its interval and "
    "test. What you bring stays in this session.",
):
    record = ui.pick_dataset("audit_dataset")
    ui.about_dataset(record)
    ui.audit_run(record)
    st.divider()
    ui.own_corpus()
