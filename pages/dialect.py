"""Do questions in AAL find worse answers?"""

import streamlit as st

from biasret import ui
from biasret.metrics import METRICS

with ui.page(
    "Dialect",
    "Do questions in African American Language (AAL) find their answer further down than the same "
    "questions in White Mainstream English (WME)? AAL is a rule-governed variety of English; what "
    "is assessed here is the retriever. The gap is WME minus AAL, so positive means that questions "
    "in AAL are served worse.",
):
    world = ui.pick("World", "dialect_world", ui.WORLDS)
    if world == "published":
        ui.paper("dialect", key="dialect")
    else:
        data, what, depth = st.columns([2, 2, 3])
        with data:
            record = ui.pick_dataset("dialect_dataset", signal="dialect")
        with what:
            metric = ui.pick(
                "Metric",
                "dialect_metric",
                {"rr": "reciprocal rank", "recall": "recall@k"},
                help=f"{METRICS['rr'].about}. {METRICS['recall'].about}.",
            )
        k = None
        if metric == "recall":
            with depth:
                k = ui.pick_measured_k("dialect_k", record, metric="recall")
        rule = ui.pick_filter("dialect_filter", record, metric=metric)
        ui.about_dataset(record)
        ui.results(record, metric=metric, k=k, rule=rule, key="dialect")
