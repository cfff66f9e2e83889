"""Which queries move most, and what did each retriever return?"""

import streamlit as st

from biasret import ui

with ui.page(
    "Query by query",
    "Which questions move most when only the asker's group changes? Averages hide single "
    "questions: here they are, the most moved first, with both stored lists of a retriever side "
    "by side. No model is loaded.",
):
    record = ui.pick_dataset("moved_dataset")
    ui.about_dataset(record)
    chosen = ui.choose_cells(record)
    if chosen is not None:
        cells, order = chosen
        row = ui.list_cells(record, cells, order)
        if row is not None:
            st.divider()
            ui.show_cell(record, cells, row)
