"""The paper's tokens of a text: what BM25 matches and what vocabulary is counted in."""

from __future__ import annotations

import re

__all__ = ["tokenise"]

# Tang et al., section 2: lower case, no stop words, no stemming.
_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def tokenise(text: str) -> list[str]:
    """The tokens of a text, in order.

    Examples
    --------
    >>> tokenise("Don't tax the 1% (again)!")
    ["don't", 'tax', 'the', '1', 'again']
    """
    return _TOKEN.findall(text.lower())
