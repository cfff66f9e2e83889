"""What pages are made of; alone in importing streamlit."""

from biasret.ui.pages import (
    about_dataset,
    markdown_safe,
    page,
    pick,
    pick_dataset,
    pick_k,
    pick_retrievers,
    remember_link,
    save,
    show,
)
from biasret.ui.probe import choose_stored, show_comparisons, show_one, type_wordings
from biasret.ui.reads import counts, datasets, gaps, levels, store
from biasret.ui.results import overview, results

__all__ = [
    "about_dataset",
    "choose_stored",
    "counts",
    "datasets",
    "gaps",
    "levels",
    "markdown_safe",
    "overview",
    "page",
    "pick",
    "pick_dataset",
    "pick_k",
    "pick_retrievers",
    "remember_link",
    "results",
    "save",
    "show",
    "show_comparisons",
    "show_one",
    "store",
    "type_wordings",
]
