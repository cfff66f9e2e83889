"""Measure how much search changes when only the person in the question changes."""

from biasret.runtime import prepare

__version__ = "0.1.0"
__all__ = ["__version__"]

prepare()
