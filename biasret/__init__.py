"""Measure how much search changes when only the person in the question changes."""

__version__ = "0.1.0"
__all__ = ["__version__"]
