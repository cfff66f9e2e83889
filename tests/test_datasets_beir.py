"""BEIR folders: read as BEIR tools read them, with what those drop counted."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.datasets import beir
from biasret.errors import FileError, InputError, TableError

CORPUS = [
    {"_id": "http://x/1", "title": "Flu", "text": "An infection.", "metadata": {"lang": "en"}},
    {"_id": "http://x/A", "title": "", "text": "Upper case.", "metadata": {}},
    {"_id": "http://x/a", "title": "Lower case", "text": ""},
    {"_id": "blank", "title": " ", "text": "\u200b"},
    {"_id": 7, "title": "A number", "text": '=1+1 <b> "q'},
]
QUERIES = [
    {"_id": "q1", "text": "What is flu?", "metadata": {"dialect": "WME", "cell": "c1"}},
    {"_id": "q2", "text": "What flu is?", "metadata": {"dialect": "AAL", "cell": "c1"}},
    {"_id": "q3", "text": "Nobody judged this.", "metadata": {"dialect": "AAL", "cell": "c2"}},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\thttp://x/1\t1\nq2\thttp://x/1\t2\nq2\t7\t0\n"
GROUPS = ("queries.group=metadata.dialect", "queries.cell_id=metadata.cell")


def folder_of(
    folder: Path, *, qrels: dict[str, str] | None = None, corpus: list | None = None
) -> Path:
    (folder / "qrels").mkdir(parents=True)
    lines = "".join(json.dumps(one) + "\r\n" for one in (CORPUS if corpus is None else corpus))
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(lines.encode("utf-8-sig")))
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUERIES))
    for name, text in ({"test": QRELS} if qrels is None else qrels).items():
        (folder / "qrels" / f"{name}.tsv").write_text(text)
    return folder


def test_a_folder_becomes_a_dataset(tmp_path):
    loaded = beir.load(folder_of(tmp_path / "b"), name="b", column=GROUPS)
    dataset = loaded.dataset
    texts = dataset.documents.set_index("doc_id")["text"].to_dict()
    assert texts == {
        "http://x/1": "Flu An infection.",
        "http://x/A": "Upper case.",
        "http://x/a": "Lower case",
        "7": 'A number =1+1 <b> "q',
    }
    assert dataset.queries["group"].tolist() == ["WME", "AAL"]
    assert dataset.queries["cell_id"].tolist() == ["c1", "c1"]
    assert dataset.record.signal == "dialect"
    assert dataset.record.is_paired
    assert dataset.qrels["grade"].tolist() == [1, 2, 0]
    assert set(dataset.qrels["judge"]) == {"test"}
    assert loaded.left_out == {
        "documents without title and text": 1,
        "queries without a judgement in test": 1,
    }
    assert "corpus.jsonl.gz, line 4 (documents without" in " ".join(loaded.notes)


def test_a_mapping_file_says_the_same(tmp_path):
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        'label = "Flu"\n[queries.columns]\ngroup = "metadata.dialect"\n'
        'cell_id = "metadata.cell"\n[queries.values.group]\n"wme" = "WME"\n'
    )
    loaded = beir.load(folder_of(tmp_path / "b"), name="b", mapping=mapping)
    assert loaded.dataset.record.label == "Flu"
    assert loaded.dataset.record.is_paired


def test_what_beir_passes_over_is_counted(tmp_path):
    qrels = QRELS + "q1\thttp://x/1\t1\nq9\thttp://x/1\t1\nq1\tblank\t1\nq1\tHTTP://X/1\t1\n"
    loaded = beir.load(folder_of(tmp_path / "b", qrels={"dev": qrels}), name="b", column=GROUPS)
    assert len(loaded.dataset.qrels) == 3
    assert loaded.left_out["judgements that are given twice"] == 1
    assert loaded.left_out["judgements of queries that are not there"] == 1
    assert loaded.left_out["judgements of documents that are not there or have no text"] == 2
    assert "dev.tsv, line 5 (judgements that are given twice)" in " ".join(loaded.notes)


def test_the_split_is_test_the_only_one_or_said(tmp_path):
    both = {"train": QRELS.replace("q2", "q3"), "dev": QRELS}
    folder = folder_of(tmp_path / "b", qrels=both)
    with pytest.raises(InputError, match="several splits and no test; found dev, train"):
        beir.load(folder, name="b", column=GROUPS)
    loaded = beir.load(folder, name="b", column=GROUPS, split="train")
    assert loaded.dataset.queries["query_id"].tolist() == ["q1", "q3"]
    with pytest.raises(InputError, match="no split 'test'"):
        beir.load(folder, name="b", column=GROUPS, split="test")


def test_without_groups_the_signal_must_be_said(tmp_path):
    folder = folder_of(tmp_path / "b")
    with pytest.raises(InputError, match="say --signal"):
        beir.load(folder, name="b")
    assert beir.load(folder, name="b", signal="dialect").dataset.record.minuend is None


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"qrels": {}}, FileError, r"holds no qrels/\*\.tsv"),
        ({"qrels": {"test": "q1\thttp://x/1\t1\nq2\t7\t1\n"}}, TableError, "no column for"),
        ({"qrels": {"test": QRELS + "q1\thttp://x/1\t2\n"}}, TableError, "test.tsv, line 5: the"),
        ({"qrels": {"test": QRELS.replace("q", "z")}}, TableError, "no column"),
        (
            {"qrels": {"test": QRELS.replace("http", "ftp").replace("\t7\t", "\t8\t")}},
            InputError,
            "judges nothing that corpus.jsonl.gz and queries.jsonl hold",
        ),
        ({"corpus": [*CORPUS, CORPUS[0]]}, TableError, "corpus.jsonl.gz, line 6: the document id"),
    ],
    ids=["none", "no header", "two grades", "header", "strangers", "twice"],
)
def test_folders_that_cannot_be_used(tmp_path, change, kind, words):
    with pytest.raises(InputError, match=words) as caught:
        beir.load(folder_of(tmp_path / "b", **change), name="b", column=GROUPS)
    assert type(caught.value) is kind


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileError, match="There is no folder"):
        beir.load(tmp_path / "none", name="b")
    folder = folder_of(tmp_path / "b")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(FileError, match=r"should hold one queries\.jsonl"):
        beir.load(folder, name="b")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2", "Q1", "gone"]),
            st.sampled_from(["http://x/1", "http://x/A", "http://x/a", "7", "blank", "gone"]),
        ),
        max_size=20,
    )
)
def test_every_judgement_is_kept_or_counted(pairs):
    qrels = "query-id\tcorpus-id\tscore\nq2\thttp://x/1\t1\n"
    qrels += "".join(f"{query}\t{doc}\t1\n" for query, doc in pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = folder_of(Path(folder) / "b", qrels={"test": qrels})
        loaded = beir.load(path, name="b", column=GROUPS)
    n_out = sum(n for why, n in loaded.left_out.items() if why.startswith("judgements"))
    assert len(loaded.dataset.qrels) + n_out == len(pairs) + 1
