"""What pages are made of; alone in importing streamlit."""

from biasret.ui.data import MEASURED, PARTS
from biasret.ui.data_published import published_data
from biasret.ui.pages import (
    about_dataset,
    markdown_safe,
    page,
    pick,
    pick_dataset,
    pick_filter,
    pick_k,
    pick_retrievers,
    remember_link,
    save,
    show,
)
from biasret.ui.paper import every_number, notes, paper, published
from biasret.ui.probing import ask_question, probe_setup, show_probe
from biasret.ui.reads import counts, datasets, gaps, levels, store
from biasret.ui.results import overview, results

#: Where the overview leads, and what one finds there.
NEXT = {
    "pages/probe.py": "Type a question and see two lists",
    "pages/political_lean.py": "Political lean, by depth and filter",
    "pages/dialect.py": "Dialect, by metric and depth",
    "pages/data_and_judging.py": "What went in, what was dropped, who judged",
}

#: Measured and published numbers are never shown as one.
WORLDS = {"measured": "measured here", "published": "published by the paper"}

__all__ = [
    "MEASURED",
    "NEXT",
    "PARTS",
    "WORLDS",
    "about_dataset",
    "ask_question",
    "counts",
    "datasets",
    "every_number",
    "gaps",
    "levels",
    "markdown_safe",
    "notes",
    "overview",
    "page",
    "paper",
    "pick",
    "pick_dataset",
    "pick_filter",
    "pick_k",
    "pick_retrievers",
    "probe_setup",
    "published",
    "published_data",
    "remember_link",
    "results",
    "save",
    "show",
    "show_probe",
    "store",
]
