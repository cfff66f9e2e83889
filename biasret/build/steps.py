"""What makes a step's results anew besides its inputs: a number, and the code it runs."""

from __future__ import annotations

import ast
import hashlib
import inspect
from typing import Any

__all__ = ["STEPS", "digest", "source"]

#: Raised when the same inputs would give another file.
STEPS = {
    "embeddings": 1,
    "runs": 2,
    "gold_ranks": 3,
    "measurements": 1,
    "gaps": 1,
    "mitigations": 1,
    "token_scores": 1,
    "residuals": 1,
}


def source(module: Any) -> str:
    """A module's code, so that a change to a metric makes its measurements anew."""
    return digest(inspect.getsource(module))


def digest(code: str) -> str:
    """Of what code does: comments, layout and docstrings change nothing."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]
