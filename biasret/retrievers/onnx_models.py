"""Transformers through ONNX Runtime: Paraphrase as it comes, and MiniLM exported here.

On a processor the runtime answers one question in a third of torch's time, and a batch in
nine tenths. Vectors agree to the sixth decimal, so that they share a cache; an export that
does not agree is refused.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasret.errors import RetrieverError
from biasret.retrievers.base import RetrieverRecord, batches_by_tokens
from biasret.retrievers.weights import SHA256, check_sha256, packaged_minilm, packaged_paraphrase
from biasret.runtime import cpu_count, prepare

if TYPE_CHECKING:
    from biasret.retrievers.encoders import SentenceTransformers

__all__ = [
    "OnnxTransformer",
    "Paraphrase",
    "export_minilm",
    "exported_minilm",
    "quantised_minilm",
]

#: Tokens, padding included, that go through the model together: 512 gave 39 texts per CPU
#: second, 2,048 gave 34 (MiniLM).
TOKEN_BUDGET = 512

#: Least cosine between the vectors of an export and those of torch.
AGREEMENT = 0.99999

_OUTPUT = "vector"
_CHECKED_WITH = (
    "tax",
    "Which party gains when fewer people vote?",
    "My chest feels tight after climbing stairs, and it has been like that since spring. " * 3,
    "The committee put off its vote on the water bill. " * 60,
)


class OnnxTransformer:
    """A BERT model whose graph gives one vector a text, with MiniLM's tokenizer.

    Parameters
    ----------
    model
        An ONNX file with the inputs ``input_ids`` and ``attention_mask``.
    output
        Name of the pooled output; it need not be of unit length.
    """

    def __init__(self, record: RetrieverRecord, model: Path, *, output: str) -> None:
        prepare()
        from tokenizers import Tokenizer

        self._session = _session(str(model))
        self._output = output
        source = str(packaged_minilm() / "tokenizer.json")
        self._whole = Tokenizer.from_file(source)
        self._whole.no_truncation()
        self._whole.no_padding()
        self._cut = Tokenizer.from_file(source)
        self._cut.enable_truncation(record.max_tokens or 512)
        self._cut.no_padding()

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, float32, shape (n, dimension); texts of like length go together."""
        tokens = self._tokens(texts, prefix)
        lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
        order = np.argsort(lengths, kind="stable")
        result: np.ndarray | None = None
        for part in batches_by_tokens(lengths[order], budget=TOKEN_BUDGET):
            at = order[part]
            inputs = _padded([tokens[i] for i in at])
            vectors = self._session.run([self._output], inputs)[0]
            if result is None:
                result = np.empty((len(texts), vectors.shape[1]), dtype=np.float32)
            result[at] = vectors
        assert result is not None, "Dense asks for no empty list"
        return result

    def _tokens(self, texts: list[str], prefix: str) -> list[list[int]]:
        encoded = self._cut.encode_batch([prefix + text for text in texts])
        return [one.ids for one in encoded]

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of each text with special ones, before any cut."""
        encoded = self._whole.encode_batch([prefix + text for text in texts])
        return np.array([len(one.ids) for one in encoded], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        """Neither model has any."""
        return {}


class Paraphrase(OnnxTransformer):
    """paraphrase-MiniLM-L3-v2 as its package brings it.

    Both models use the uncased BERT vocabulary. The package brings no tokenizer of its own.
    """

    #: Tensors inside the graph that hold the hidden states, from the input to the last layer.
    _STATES = (
        "/model/model.0/auto_model/embeddings/LayerNorm/LayerNormalization_output_0",
        "/model/model.0/auto_model/encoder/layer.0/output/LayerNorm/LayerNormalization_output_0",
        "/model/model.0/auto_model/encoder/layer.1/output/LayerNorm/LayerNormalization_output_0",
        "onnx::Shape_422",
    )

    def __init__(self, record: RetrieverRecord) -> None:
        self._path = packaged_paraphrase()
        self._layers: Any = None
        # The first output of the graph is not the embedding; this one is, pooled.
        super().__init__(record, self._path, output="461")

    def layers(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Mean hidden states by layer, shape (4, n, 384); one batch."""
        if self._layers is None:
            self._layers = _session(_with_outputs(self._path.read_bytes(), self._STATES[:-1]))
        inputs = _padded(self._tokens(texts, prefix))
        states = np.stack(self._layers.run(list(self._STATES), inputs))
        mask = inputs["attention_mask"][None, :, :, None]
        return np.asarray((states * mask).sum(axis=2) / mask.sum(axis=2), dtype=np.float32)


def _session(model: str | bytes) -> Any:
    """An ONNX Runtime session of a file or of its bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cpu_count()
    # Spinning threads are ruinous where another process keeps a core busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _padded(tokens: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """The inputs of one batch, filled up to its longest text."""
    shape = (len(tokens), max(map(len, tokens)))
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, one in enumerate(tokens):
        ids[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return {"input_ids": ids, "attention_mask": mask}


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


# -- MiniLM ------------------------------------------------------------------------------


class _ExportedMiniLM(OnnxTransformer):
    """MiniLM's export; its hidden states, which few ask for, come from torch."""

    def __init__(self, record: RetrieverRecord, model: Path) -> None:
        super().__init__(record, model, output=_OUTPUT)
        self._record = record
        self._torch: SentenceTransformers | None = None

    def layers(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Mean hidden states by layer, shape (7, n, 384); one batch."""
        from biasret.retrievers.encoders import SentenceTransformers

        if self._torch is None:
            self._torch = SentenceTransformers(self._record, packaged_minilm)
        return self._torch.layers(texts, prefix=prefix)


def _folder(models: Path) -> Path:
    return models / f"minilm-l6-onnx-{SHA256['minilm'][:12]}"


def exported_minilm(record: RetrieverRecord, models: Path) -> OnnxTransformer | None:
    """MiniLM by ONNX Runtime; None where it was not exported, or another device is asked for."""
    folder = _folder(models)
    noted = folder / "SHA256"
    if not noted.exists() or find_spec("onnxruntime") is None:
        return None
    if os.environ.get("BIASRET_DEVICE", "cpu") != "cpu":
        return None
    model = folder / "model.onnx"
    check_sha256(model, noted.read_text(encoding="ascii").strip())
    return _ExportedMiniLM(record, model)


def export_minilm(record: RetrieverRecord, models: Path) -> bool:
    """Write MiniLM as an ONNX file, once, where `onnx` and `onnxruntime` are installed.

    Returns
    -------
    bool
        Whether the file is there. On a machine with a graphics card none is made: torch uses
        the card.

    Raises
    ------
    RetrieverError
        Its vectors are not those of torch.
    """
    folder = _folder(models)
    if (folder / "SHA256").exists():
        return True
    if find_spec("onnx") is None or find_spec("onnxruntime") is None:
        return False
    prepare()
    import torch

    if torch.cuda.is_available():
        return False
    models.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".onnx-", suffix=".part", dir=models))
    try:
        made = beside / "model.onnx"
        _export(made)
        _compare(record, OnnxTransformer(record, made, output=_OUTPUT))
        with made.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        (beside / "SHA256").write_text(digest + "\n", encoding="ascii")
        if not (folder / "SHA256").exists():
            shutil.rmtree(folder, ignore_errors=True)
            beside.chmod(0o755)  # a temporary folder is its maker's alone
            beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return True


def quantised_minilm(record: RetrieverRecord, models: Path) -> OnnxTransformer | None:
    """The exported model with weights in 8 bits, made anew; None where it was not exported.

    It is measured by ``bench embed`` and not offered: its vectors are others.
    """
    whole = _folder(models) / "model.onnx"
    if not whole.exists() or find_spec("onnx") is None:
        return None
    from onnxruntime.quantization import QuantType, quantize_dynamic

    small = whole.with_name("model-int8.onnx")
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)  # it advises to preprocess the model, on the root logger
    try:
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8)
    finally:
        root.setLevel(before)
    return OnnxTransformer(record, small, output=_OUTPUT)


def _export(target: Path) -> None:
    """The transformer and its mean pooling as one graph."""
    import torch
    from transformers import AutoModel

    from biasret.retrievers.encoders import quiet

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model: Any = AutoModel.from_pretrained(
                str(packaged_minilm()), attn_implementation="eager"
            ).eval()

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            states = self.model(
                input_ids=input_ids, attention_mask=attention_mask
            ).last_hidden_state
            kept = attention_mask.unsqueeze(-1).to(states.dtype)
            return (states * kept).sum(1) / kept.sum(1).clamp(min=1e-9)

    ids = torch.arange(100, 118).reshape(2, 9)
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    axes = {0: "n", 1: "tokens"}
    with quiet(), warnings.catch_warnings(), torch.no_grad():
        # What it warns of (constants in the trace) is what `_compare` looks at.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Pooled(),
            (ids, mask),
            str(target),
            input_names=["input_ids", "attention_mask"],
            output_names=[_OUTPUT],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, _OUTPUT: {0: "n"}},
            opset_version=17,
            # The newer exporter needs another package and gives the same graph.
            dynamo=False,
        )


def _compare(record: RetrieverRecord, made: OnnxTransformer) -> None:
    from biasret.retrievers.encoders import SentenceTransformers

    texts = list(_CHECKED_WITH)
    sides = []
    for encoder in (SentenceTransformers(record, packaged_minilm), made):
        vectors = encoder.encode(texts, prefix="").astype(np.float64)
        sides.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    least = float((sides[0] * sides[1]).sum(axis=1).min())
    if not least >= AGREEMENT:
        raise RetrieverError(
            f"{record.label} exported to ONNX gives other vectors than torch (cosine {least:.5f}); "
            "it was not kept. Uninstall the package `onnx` to go on with torch."
        )
