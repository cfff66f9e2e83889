"""What pages are made of; alone in importing streamlit."""

from biasret.ui.auditing import audit_run, own_corpus
from biasret.ui.data import MEASURED, PARTS
from biasret.ui.data_published import published_data
from biasret.ui.layers import layers, published_layers
from biasret.ui.method import method
from biasret.ui.mitigated import mitigation
from biasret.ui.moved import choose_cells, list_cells, show_cell
from biasret.ui.pages import (
    about_dataset,
    markdown_safe,
    page,
    pick,
    pick_dataset,
    pick_filter,
    pick_k,
    pick_measured_k,
    pick_retrievers,
    remember_link,
    save,
    show,
)
from biasret.ui.paper import every_number, notes, paper, published
from biasret.ui.probing import ask_question, probe_setup, show_probe
from biasret.ui.reads import counts, datasets, gaps, levels, store
from biasret.ui.results import results
from biasret.ui.story import NEXT, story, where_next
from biasret.ui.vocabulary import carrying_words, pick_outcome, remaining

#: Measured and published numbers are never shown as one.
WORLDS = {"measured": "measured here", "published": "published by the paper"}

__all__ = [
    "MEASURED",
    "NEXT",
    "PARTS",
    "WORLDS",
    "about_dataset",
    "ask_question",
    "audit_run",
    "carrying_words",
    "choose_cells",
    "counts",
    "datasets",
    "every_number",
    "gaps",
    "layers",
    "levels",
    "list_cells",
    "markdown_safe",
    "method",
    "mitigation",
    "notes",
    "own_corpus",
    "page",
    "paper",
    "pick",
    "pick_dataset",
    "pick_filter",
    "pick_k",
    "pick_measured_k",
    "pick_outcome",
    "pick_retrievers",
    "probe_setup",
    "published",
    "published_data",
    "published_layers",
    "remaining",
    "remember_link",
    "results",
    "save",
    "show",
    "show_cell",
    "show_probe",
    "store",
    "story",
    "where_next",
]
