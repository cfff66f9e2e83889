"""The Probe page: a question and its two wordings, and what every retriever makes of them."""

from biasret.ui.probing.answers import show_probe
from biasret.ui.probing.question import ask_question
from biasret.ui.probing.setup import Setup, probe_setup

__all__ = ["Setup", "ask_question", "probe_setup", "show_probe"]
