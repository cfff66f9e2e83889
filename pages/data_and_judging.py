"""What went in, what was dropped, who judged?"""

import streamlit as st

from biasret import ui

with ui.page(
    "Data and judging",
    "What went in, what was dropped, and who said which document is relevant? A gap is worth as "
    "much as the texts, the filters and the judgements behind it.",
):
    world, part = st.columns([2, 3])
    with world:
        shown = ui.pick("World", "data_world", ui.WORLDS)
    with part:
        about = ui.pick("Part", "data_part", ui.PARTS)
    if shown == "published":
        ui.published_data(about)
    else:
        record = ui.pick_dataset("data_dataset")
        ui.MEASURED[about](record)
