"""Retrievers named by what they load: ``st:PATH``, ``m2v:PATH``, ``openai:MODEL?…``."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret.errors import InputError, NotInstalled, UnknownName
from biasret.precomputed import Folder
from biasret.retrievers import available, load, names, record_for
from biasret.retrievers.custom import parse
from biasret.retrievers.dense import Dense
from biasret.retrievers.weights import packaged_minilm

DOCUMENTS = pd.DataFrame(
    {"doc_id": ["a", "b"], "text": ["The senate passed a tax bill.", "Rest helps against a cold."]}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sentence-transformers model in a folder of one's own, with an awkward name."""
    path = tmp_path / "My model, v1.5 (é)"
    path.mkdir()
    for file in packaged_minilm().iterdir():
        (path / file.name).symlink_to(file)
    return path


def test_a_folder_works_without_a_change_to_the_code(folder: Path, tmp_path: Path) -> None:
    name = f"st:{folder}?query=query: &document=passage: "
    record = record_for(name)
    assert (record.query_prefix, record.document_prefix) == ("query: ", "passage: ")
    assert (record.dimension, record.max_tokens) == (384, 256)
    assert record.is_offline
    retriever = load(name, models=tmp_path)
    assert isinstance(retriever, Dense)
    retriever.index(DOCUMENTS)
    assert retriever.search(["tax bill"], k=1)[0].doc_ids == ["a"]
    plain = load("minilm-l6")
    assert isinstance(plain, Dense)
    assert np.allclose(
        retriever.encode_queries(["tax"]), plain.encode(["query: tax"], prefix=""), atol=1e-6
    )


def test_the_short_name_is_a_file_name_and_works_again(folder: Path, tmp_path: Path) -> None:
    name = f"st:{folder}?query=query: "
    with pytest.raises(UnknownName):
        record_for(parse(name).name, models=tmp_path)
    short = load(name, models=tmp_path).record.name
    assert re.fullmatch(r"st-my-model-v1-5-[0-9a-f]{8}", short)
    assert Folder(tmp_path).file("runs", "news", short).name == f"news--{short}.parquet"
    assert record_for(short, models=tmp_path) == record_for(name)
    assert short in names(models=tmp_path)
    assert load(short, models=tmp_path).record.name == short
    assert parse(name).name != parse(f"st:{folder}?query=q: ").name


def test_a_relative_folder_is_found_again_from_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    short = load(f"st:./{folder.name}", models=tmp_path).record.name
    monkeypatch.chdir("/")
    assert record_for(short, models=tmp_path).checkpoint == str(folder)


def test_another_file_in_the_folder_is_another_revision(folder: Path) -> None:
    before = record_for(f"st:{folder}")
    (folder / "README.md").unlink()
    after = record_for(f"st:{folder}")
    assert before.name == after.name
    assert before.fingerprint != after.fingerprint


def test_a_static_model_from_a_folder(tmp_path: Path) -> None:
    from model2vec import StaticModel
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(packaged_minilm() / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    vectors = np.random.default_rng(0).standard_normal((size, 16)).astype(np.float32)
    StaticModel(vectors, tokenizer).save_pretrained(tmp_path / "static")
    name = f"m2v:{tmp_path / 'static'}"
    record = record_for(name)
    assert (record.dimension, record.kind) == (16, "m2v-folder")
    retriever = load(name, models=tmp_path)
    retriever.index(DOCUMENTS)
    assert retriever.search(["the senate passed a tax bill"], k=1)[0].doc_ids == ["a"]
    assert retriever.count_tokens(["word " * 900])[0] >= 900


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("st:", "names no model"),
        ("m2v:?query=x", "names no model"),
        ("st:/no/such/folder", "There is no folder '/no/such/folder'"),
        ("st:./nope", "There is no folder"),
        ("st:a/b/c", "There is no folder"),
        ("st:x\0y", "There is no folder"),
        ("st:org/model?color=red", "Unknown option 'color'"),
        ("m2v:org/model?query_prompt=x", "Unknown option 'query_prompt'"),
        ("st:org/model?query=a&query=b", "must be given once"),
        ("st:org/model?query", "must be given once, with a value"),
        ("st:org/model?max_tokens=0", "neither a folder|whole number"),
        ("openai:m", "needs its address"),
        ("openai:m?base_url=https://h/v1", "needs its address"),
        ("openai:m?base_url=https://h/v1&dimension=x", "whole number"),
        ("openai:m?base_url=https://h/v1&dimension=3&key=sk-12 34", "NAME of an environment"),
    ],
)
def test_what_cannot_be_used_is_told(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=message) as caught:
        record_for(name)
    assert "sk-12" not in str(caught.value)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ("?max_tokens=-1", "whole number"),
        ("?max_tokens=²", "whole number"),
        ("?dtype=int3", "one of float32"),
        ("?revision=main", "is for names on a model hub"),
        ("?query=a&query_prompt=b", "not both"),
    ],
)
def test_values_are_checked(folder: Path, tail: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        record_for(f"st:{folder}{tail}")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither modules\.json nor"):
        record_for(f"st:{tmp_path}")
    with pytest.raises(InputError, match="not a model2vec model"):
        record_for(f"m2v:{tmp_path}")
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(InputError, match="not a model2vec model"):
        record_for(f"m2v:{tmp_path}")


def test_a_hub_name_says_how_to_fetch_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="HF_HUB_OFFLINE=0 hf download org/model --revision main"):
        record_for("st:org/model")


def test_a_hub_name_in_the_cache_is_used(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "hub"
    snapshots = cache / "models--org--tiny" / "snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / "abc").symlink_to(folder)
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    name = "st:org/tiny?revision=abc&document=%26 "
    record = record_for(name)
    assert (record.dimension, record.document_prefix) == (384, "& ")
    assert available(record).is_available
    retriever = load(name, models=tmp_path)
    retriever.index(DOCUMENTS)
    assert retriever.search(["tax bill"], k=1)[0].doc_ids == ["a"]
    shutil.rmtree(cache)
    assert not available(record).is_available


def test_an_endpoint_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    name = "openai:org/model?base_url=https://host/v1&dimension=8&key=MY_KEY&batch=7&timeout=3"
    record = record_for(name)
    assert (record.checkpoint, record.dimension, record.batch) == ("org/model", 8, 7)
    assert dict(record.options) == {"base_url": "https://host/v1", "timeout": "3"}
    assert not record.is_offline
    with pytest.raises(NotInstalled, match="MY_KEY"):
        load(name, models=tmp_path)
    open_one = record_for("openai:m?base_url=http://127.0.0.1:1/v1&dimension=8&key=none")
    assert available(open_one).is_available
