"""What remains of the gaps after the words are accounted for?"""

import streamlit as st

from biasret import ui

with ui.page(
    "Beyond vocabulary",
    "Two wordings differ in their words, and a retriever may follow nothing else. Each question "
    "gets a score from the words it uses, by how much more one group uses them than the other; "
    "**what remains** is the gap expected between questions of equal score. If that is near the "
    "whole gap, the retriever reads more than vocabulary.",
):
    which_world, which_part = st.columns(2)
    with which_world:
        world = ui.pick("World", "vocabulary_world", ui.WORLDS)
    with which_part:
        part = ui.pick(
            "Part",
            "vocabulary_part",
            {"words": "what remains of the gaps", "layers": "what the layers know"},
        )
    if world == "published" and part == "layers":
        ui.published_layers(key="vocabulary")
        ui.every_number("fig04", key="vocabulary")
    elif world == "published":
        ui.paper("beyond_vocabulary", key="vocabulary")
    elif part == "layers":
        record = ui.pick_dataset("vocabulary_dataset")
        ui.about_dataset(record)
        ui.layers(record, key="vocabulary")
    else:
        data, which = st.columns([2, 3])
        with data:
            record = ui.pick_dataset("vocabulary_dataset")
        metric, k = ui.pick_outcome(record, key="vocabulary")
        with which:
            rule = ui.pick_filter("vocabulary_filter", record, metric=metric)
        ui.about_dataset(record)
        if record.minuend is None:
            st.info(
                "This dataset labels no groups, so there is no gap to account for.",
                icon=":material/info:",
            )
        else:
            ui.remaining(record, metric=metric, k=k, rule=rule, key="vocabulary")
            ui.carrying_words(record, key="vocabulary")
