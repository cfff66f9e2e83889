"""MiniLM exported to ONNX: the same vectors as torch's, or nothing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from biasret.errors import RetrieverError
from biasret.retrievers import RETRIEVERS, available, load, onnx_models, prepare
from biasret.retrievers.base import batches_by_tokens
from biasret.retrievers.dense import Dense
from biasret.retrievers.encoders import SentenceTransformers, packaged_minilm

MINILM = RETRIEVERS["minilm-l6"]
TEXTS = ["", "tax", "The council voted on the bridge. " * 80, "كيف حالك", "a\0b", "x" * 3_000]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not available(MINILM).is_available:
        pytest.skip(available(MINILM).reason)
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed; see requirements-models.txt")
    folder = tmp_path_factory.mktemp("models")
    assert prepare("minilm-l6", models=folder)
    return folder


def test_an_export_gives_the_vectors_of_torch(models: Path) -> None:
    made = load("minilm-l6", models=models)
    assert isinstance(made, Dense)
    assert isinstance(made._loaded(), onnx_models.OnnxTransformer)
    torch = Dense(MINILM, lambda: SentenceTransformers(MINILM, packaged_minilm))
    mine, theirs = made.encode_documents(TEXTS), torch.encode_documents(TEXTS)
    assert mine == pytest.approx(theirs, abs=1e-5)
    assert made.count_tokens(TEXTS).tolist() == torch.count_tokens(TEXTS).tolist()
    assert made.truncated(TEXTS).tolist() == torch.truncated(TEXTS).tolist()
    # Alone or among others, in any order.
    for i, text in enumerate(TEXTS):
        assert made.encode_documents([text])[0] == pytest.approx(mine[i], abs=1e-5)
    assert made.encode_documents(TEXTS[::-1]) == pytest.approx(mine[::-1], abs=1e-5)


def test_an_export_is_quiet(
    models: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    onnx_models._export(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").exists()
    assert capfd.readouterr() == ("", "")


def test_it_is_exported_once(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_models, "_export", lambda target: pytest.fail("exported again"))
    assert prepare("minilm-l6", models=models)


def test_another_device_keeps_torch(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASRET_DEVICE", "cuda")
    assert onnx_models.exported_minilm(MINILM, models) is None
    monkeypatch.setenv("BIASRET_DEVICE", "cpu")
    assert onnx_models.exported_minilm(MINILM, models) is not None


def test_without_an_export_torch_is_used(tmp_path: Path) -> None:
    assert onnx_models.exported_minilm(MINILM, tmp_path) is None
    assert onnx_models.quantised_minilm(MINILM, tmp_path) is None


def test_without_the_packages_nothing_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_models, "find_spec", lambda name: None)
    assert not prepare("minilm-l6", models=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_export_with_other_vectors_is_not_kept(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_models, "AGREEMENT", 1.1)
    with pytest.raises(RetrieverError, match=r"other vectors than torch \(cosine 1\.00000\)"):
        prepare("minilm-l6", models=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_has_changed_is_refused(models: Path, tmp_path: Path) -> None:
    (folder,) = models.iterdir()
    copy = tmp_path / folder.name
    copy.mkdir()
    (copy / "SHA256").write_bytes((folder / "SHA256").read_bytes())
    weights = bytearray((folder / "model.onnx").read_bytes())
    weights[len(weights) // 2] ^= 1
    (copy / "model.onnx").write_bytes(weights)
    with pytest.raises(RetrieverError):
        onnx_models.exported_minilm(MINILM, tmp_path)


@pytest.mark.parametrize("budget", [1, 8, 40, 10_000])
def test_batches_hold_every_text_once_and_keep_the_budget(budget: int) -> None:
    lengths = np.sort(np.random.default_rng(2).integers(1, 30, 50))
    slices = list(batches_by_tokens(lengths, budget=budget))
    assert [i for s in slices for i in range(s.start, s.stop)] == list(range(50))
    for s in slices:
        n = s.stop - s.start
        assert n == 1 or n * lengths[s.stop - 1] <= budget
    assert list(batches_by_tokens(lengths[:0], budget=budget)) == []
