"""Do retrievers return what matches the asker's lean?"""

import streamlit as st

from biasret import ui

with ui.page(
    "Political lean",
    "Do retrievers return news that matches the lean of the asker's wording? **lean@k** is the "
    "share of right-leaning minus the share of left-leaning documents among the first k; the gap "
    "is lean@k of the right wording minus that of the left one, so positive means that results "
    "follow the asker.",
):
    world = ui.pick("World", "lean_world", ui.WORLDS)
    if world == "published":
        ui.paper("political_lean", key="lean")
    else:
        data, depth, which = st.columns([2, 2, 3])
        with data:
            record = ui.pick_dataset("lean_dataset", signal="lean")
        with depth:
            k = ui.pick_measured_k("lean_k", record, metric="lean")
        with which:
            rule = ui.pick_filter("lean_filter", record, metric="lean")
        ui.about_dataset(record)
        ui.results(record, metric="lean", k=k, rule=rule, key="lean")
