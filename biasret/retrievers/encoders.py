"""Encoders of sentence-transformers and model2vec; each imports its library when made."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from biasret.errors import InputError, NotInstalled, RetrieverError
from biasret.retrievers import hub
from biasret.retrievers.base import RetrieverRecord, batches_by_tokens
from biasret.retrievers.weights import packaged_minilm
from biasret.runtime import cpu_count, prepare

__all__ = [
    "Model2Vec",
    "SentenceTransformers",
    "distilled_minilm",
    "packaged_minilm",
    "quiet",
]

#: Tokens, padding included, that go through a transformer together on a processor. Small
#: batches stay in its caches: 512 gave 37 texts per CPU second, 8,192 gave 23 (MiniLM).
TOKEN_BUDGET = 768


class SentenceTransformers:
    """A sentence-transformers model from a folder or a hub name.

    Parameters
    ----------
    folder
        Gives the model's folder; None loads the record's checkpoint from the hub's cache, or
        from the hub itself where ``HF_HUB_OFFLINE=0`` allows it.
    """

    def __init__(self, record: RetrieverRecord, folder: Callable[[], Path] | None = None) -> None:
        prepare()
        # torch before faiss: the other order has crashed on large tensors (faiss#4273).
        import torch
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(cpu_count())
        device = os.environ.get("BIASRET_DEVICE") or (
            "cuda" if torch.cuda.is_available() else "cpu"
        )
        where: dict[str, Any] = {}
        if folder is None:
            where = {"revision": record.revision, "cache_folder": str(hub.cache())}
            where["local_files_only"] = not hub.is_reachable_by_choice()
        settings: dict[str, Any] = {"dtype": getattr(torch, record.dtype)}
        if record.attention:
            settings["attn_implementation"] = record.attention
        source = str(folder()) if folder else record.checkpoint
        try:
            with quiet():
                self._model = SentenceTransformer(
                    source,
                    device=device,
                    trust_remote_code=record.trust_remote_code,
                    model_kwargs=settings,
                    **where,
                )
        except (OSError, ValueError, ImportError, RuntimeError, SafetensorError) as error:
            raise NotInstalled(
                f"{record.label} could not be loaded from {record.checkpoint!r} "
                f"({type(error).__name__}); get it with `{record.install}`."
            ) from error
        if record.max_tokens is not None:
            self._model.max_seq_length = record.max_tokens
        self._batch = record.batch
        self._is_on_processor = device == "cpu"

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, float32, shape (n, dimension); texts of like length go together."""
        lengths = self.count_tokens(texts, prefix=prefix)
        limit = self._model.max_seq_length
        if limit:
            lengths = np.minimum(lengths, limit)
        order = np.argsort(lengths, kind="stable")
        result: np.ndarray | None = None
        for part in self.batches(lengths[order]):
            at = order[part]
            # An empty prompt is still a prompt: it keeps the model's default one out.
            vectors = self._model.encode(
                [texts[i] for i in at],
                prompt=prefix,
                batch_size=len(at),
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            if result is None:
                result = np.empty((len(texts), vectors.shape[1]), dtype=np.float32)
            result[at] = vectors
        assert result is not None, "Dense asks for no empty list"
        return result

    def layers(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Mean hidden states by layer, shape (n_layers + 1, n, width); one batch.

        Texts are padded on the side the tokenizer names. The paper pads on the left: the same
        for models with rotary positions, while those with absolute ones, BGE among its four,
        then see a text at places that depend on its neighbours in the batch.
        """
        import torch

        inner: Any = self._model[0].auto_model
        features = self._model.tokenizer(
            [prefix + text for text in texts],
            padding=True,
            truncation=True,
            max_length=self._model.max_seq_length,
            return_tensors="pt",
        ).to(self._model.device)
        with torch.inference_mode():
            states = inner(**features, output_hidden_states=True).hidden_states
            mask = features["attention_mask"].unsqueeze(-1).float()
            n_tokens = mask.sum(dim=1).clamp(min=1)
            means = [(state.float() * mask).sum(dim=1) / n_tokens for state in states]
            return torch.stack(means).cpu().numpy()

    def batches(self, lengths: np.ndarray) -> Iterator[slice]:
        """Slices of ascending lengths: by padded tokens on a processor, by count elsewhere."""
        if self._is_on_processor:
            yield from batches_by_tokens(lengths, budget=TOKEN_BUDGET)
            return
        for start in range(0, len(lengths), self._batch):
            yield slice(start, min(start + self._batch, len(lengths)))

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of each text with special ones and prefix, before any cut."""
        encoded = self._model.tokenizer(
            [prefix + text for text in texts],
            add_special_tokens=True,
            truncation=False,
            verbose=False,
        )
        return np.array([len(ids) for ids in encoded["input_ids"]], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        """The prompts in the model's own configuration."""
        return {name: prompt or "" for name, prompt in self._model.prompts.items()}

    @property
    def model(self) -> Any:
        """The library's own object, for comparisons with it."""
        return self._model


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' loading reports off the screen."""
    import transformers

    log = transformers.utils.logging
    before = log.get_verbosity()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(before)


class Model2Vec:
    """A static model: a text's vector is the mean of its tokens' vectors.

    Parameters
    ----------
    folder
        Gives the model's folder.
    """

    def __init__(self, record: RetrieverRecord, folder: Callable[[], Path]) -> None:
        prepare()
        from model2vec import StaticModel
        from tokenizers import Tokenizer

        path = folder()
        try:
            self._model = StaticModel.from_pretrained(str(path))
        except (OSError, ValueError, KeyError) as error:
            raise RetrieverError(
                f"{record.label} cannot be read from {path} ({type(error).__name__}: {error})."
            ) from error
        self._limit = record.max_tokens
        # The model's own tokenizer cuts; lengths are counted on one that does not.
        self._whole = Tokenizer.from_str(self._model.tokenizer.to_str())
        self._whole.no_truncation()
        self._whole.no_padding()

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, shape (n, dimension); zeros for a text without a known token."""
        return self._model.encode(
            [prefix + text for text in texts], max_length=self._limit, use_multiprocessing=False
        )

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Tokens of each text with prefix, before any cut."""
        encoded = self._whole.encode_batch(
            [prefix + text for text in texts], add_special_tokens=False
        )
        return np.array([len(one.ids) for one in encoded], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        """Static models bring none."""
        return {}


def distilled_minilm(folder: Path, *, dimension: int) -> Path:
    """The folder of the static model distilled from MiniLM, made on first use.

    Distilling again on the same machine gives the same weights, byte for byte. Their hash
    is kept beside them and compared each time they are read.
    """
    weights = folder / "model.safetensors"
    noted = folder / "SHA256"
    if not (weights.exists() and noted.exists()):
        _distil(folder, dimension=dimension)
    with weights.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != noted.read_text(encoding="ascii").strip():
        raise RetrieverError(
            f"The static model in {folder} has changed since it was made; delete the folder and "
            "it will be made again."
        )
    return folder


def _distil(folder: Path, *, dimension: int) -> None:
    if dimension < 1:
        raise InputError(f"A static model needs at least one dimension; found {dimension}.")
    from model2vec.distill import distill

    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".distil-", suffix=".part", dir=folder.parent))
    try:
        with quiet():
            made = distill(model_name=str(packaged_minilm()), pca_dims=dimension)
            made.save_pretrained(beside)
        with (beside / "model.safetensors").open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        (beside / "SHA256").write_text(digest + "\n", encoding="ascii")
        if not ((folder / "model.safetensors").exists() and (folder / "SHA256").exists()):
            shutil.rmtree(folder, ignore_errors=True)
            beside.chmod(0o755)  # a temporary folder is its maker's alone
            beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
