"""The generic importer: what it recognises, what it refuses, and that nothing is changed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
import tomllib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.datasets import articles
from biasret.datasets.fields import is_blank
from biasret.errors import FileError, InputError, TableError, UnknownName

PROJECT = Path(__file__).parents[1]
MAPPINGS = PROJECT / "docs" / "mappings"

DOCUMENTS = "id,text,stance\nd1,One side says so.,left\nd2,The other does not.,right\n"
QUERIES = "id,text,group,cell\nq1,Why is it so?,left,c1\nq2,Why is it not so?,right,c1\n"
QRELS = "query_id,doc_id,grade\nq1,d1,1\nq2,d2,2\n"


def folder_of(folder: Path, **files: str | bytes | None) -> Path:
    """A folder with good files, but for those given: ``documents``, ``queries_jsonl``, ..."""
    contents = {"documents": DOCUMENTS, "queries": QUERIES}
    contents |= {key.partition("_")[0]: None for key in files}
    for key, content in {**contents, **files}.items():
        name, _, extension = key.partition("_")
        if content is not None:
            data = content if isinstance(content, bytes) else content.encode()
            (folder / f"{name}.{extension or 'csv'}").write_bytes(data)
    return folder


def mapping_of(folder: Path, content: str) -> Path:
    path = folder / "mapping.toml"
    path.write_text(content, encoding="utf-8")
    return path


def refusal(path: Path, **settings: object) -> str:
    with pytest.raises(InputError) as caught:
        articles.load(path, name="test", **settings)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def rows_of(frame: pd.DataFrame, *columns: str) -> list[tuple]:
    chosen = frame[list(columns)].astype("object")
    return list(chosen.where(chosen.notna(), None).itertuples(index=False, name=None))


# --- what is recognised ------------------------------------------------------------------


def test_a_folder_of_three_files(tmp_path):
    loaded = articles.load(folder_of(tmp_path, qrels=QRELS), name="mine")
    data = loaded.dataset
    assert rows_of(data.documents, "dataset", "doc_id", "stance") == [
        ("mine", "d1", "left"),
        ("mine", "d2", "right"),
    ]
    assert rows_of(data.queries, "query_id", "group", "variant", "cell_id", "cluster_id") == [
        ("q1", "left", "left", "c1", "c1"),
        ("q2", "right", "right", "c1", "c1"),
    ]
    assert rows_of(data.qrels, "query_id", "doc_id", "judge", "grade") == [
        ("q1", "d1", "given", 1),
        ("q2", "d2", "given", 2),
    ]
    assert (data.record.signal, data.record.minuend, data.record.subtrahend) == (
        "lean",
        "right",
        "left",
    )
    assert data.record.is_paired
    assert not data.record.is_illustrative
    assert loaded.notes == ["The signal was taken to be lean: the groups are 'left', 'right'."]
    assert loaded.left_out == {}


def test_without_judgements_or_groups(tmp_path):
    queries = "qid,question\nq1,Why?\n"
    loaded = articles.load(folder_of(tmp_path, queries=queries), name="mine", signal="dialect")
    assert rows_of(
        loaded.dataset.queries,
        *("query_id", "text", "group", "variant", "cell_id", "cluster_id", "origin"),
    ) == [("q1", "Why?", None, "original", "q1", "q1", "found")]
    assert loaded.dataset.record.minuend is None
    assert not loaded.dataset.record.is_paired
    assert loaded.dataset.qrels.empty
    assert loaded.notes == [
        "There are no judgements: reciprocal rank and recall cannot be measured."
    ]


def test_names_are_recognised_whatever_their_spelling(tmp_path):
    documents = " Doc-ID ,HEADLINE,Body,Lean,Story ID\nd1,T,One.,Left ,s\nd2,T,Two.,CENTRE,\n"
    queries = "Query-ID, Query Text ,Source Doc Ids,Story\nq1,Why?,d1;d2,s1\nq2,How?,,\n"
    path = folder_of(tmp_path, documents=documents, queries=queries)
    data = articles.load(path, name="mine", signal="lean").dataset
    assert rows_of(data.documents, "doc_id", "title", "text", "stance", "story_id") == [
        ("d1", "T", "One.", "left", "s"),
        ("d2", "T", "Two.", "center", None),
    ]
    assert rows_of(data.queries, "query_id", "cluster_id", "source_doc_ids") == [
        ("q1", "s1", ["d1", "d2"]),
        ("q2", "q2", None),
    ]


@pytest.mark.parametrize("name", [" Query Text ", "query-text", "QUERY", "question"])
def test_query_headers(tmp_path, name):
    path = folder_of(tmp_path, queries=f"id,{name}\nq1,Why?\n")
    assert list(articles.load(path, name="m", signal="lean").dataset.queries["text"]) == ["Why?"]


def test_columns_given_on_the_command_line_go_first(tmp_path):
    path = folder_of(
        tmp_path,
        documents="id,text,body,Weird = Name\nd1,a,b,c\n",
        queries="key,ask,left,right\nq1,x,L,R\n",
    )
    columns = [
        "documents.text=Weird = Name",
        "documents.doc_id=ID",
        "queries.query_id=key",
        "queries.text.left=left",
        "queries.text.right=right",
    ]
    data = articles.load(path, name="m", columns=columns).dataset
    assert list(data.documents["text"]) == ["c"]
    assert list(data.queries["text"]) == ["L", "R"]


def test_groups_in_another_case(tmp_path):
    path = folder_of(tmp_path, queries="id,text,dialect\nq1,a,aal\nq2,b, WME \nq3,c,\n")
    loaded = articles.load(path, name="m")
    assert loaded.dataset.record.minuend == "WME"
    assert rows_of(loaded.dataset.queries, "group") == [("AAL",), ("WME",), (None,)]
    assert "queries.csv: the group 'aal' was read as 'AAL'." in loaded.notes
    assert "1 of 3 queries name no group." in loaded.notes


def test_one_group_alone_compares_nothing(tmp_path):
    loaded = articles.load(folder_of(tmp_path, queries="id,text,group\nq1,a,AAL\n"), name="m")
    assert loaded.dataset.record.minuend is None
    assert "All queries are of the group 'AAL': nothing is compared." in loaded.notes


def test_cells_with_one_group_are_counted(tmp_path):
    path = folder_of(tmp_path, queries=QUERIES + "q3,Alone?,left,c2\n")
    loaded = articles.load(path, name="m")
    assert loaded.dataset.record.is_paired
    assert "1 of 2 cells hold both groups, the rest one." in loaded.notes


# --- to the letter -----------------------------------------------------------------------

IDS = [
    "Nike",
    "nike",
    "a,b",
    "a b",
    " a",
    "https://x/y?a=1&b=2#c",
    "a/b",
    "🩺",
    "\u00e9",
    "e\u0301",
    "007",
]
WORDS = ["NA", "null", "007", "nothing", "nan", "=1+1", "-5", "a, b", 'say "x"', "شكرا\n\t", "漢字"]


@pytest.mark.parametrize("extension", ["csv", "tsv", "jsonl", "parquet"])
def test_ids_and_texts_stay_as_they_are(tmp_path, extension):
    rows = [{"id": key, "text": word} for key, word in zip(IDS, WORDS, strict=True)]
    grades = [{"query_id": key, "doc_id": key, "grade": "1"} for key in IDS]
    for name, table in (("documents", rows), ("queries", rows), ("qrels", grades)):
        path = tmp_path / f"{name}.{extension}"
        if extension == "parquet":
            pq.write_table(pa.Table.from_pylist(table), path)
        elif extension == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
        else:
            buffer = io.StringIO(newline="")
            writer = csv.DictWriter(
                buffer, list(table[0]), delimiter="\t" if extension == "tsv" else ","
            )
            writer.writeheader()
            writer.writerows(table)
            path.write_bytes(buffer.getvalue().encode())
    data = articles.load(tmp_path, name="a:b/c?", signal="dialect").dataset
    assert data.record.name == "a:b/c?"
    assert list(data.documents["doc_id"]) == IDS
    assert list(data.documents["text"]) == WORDS
    assert list(data.queries["query_id"]) == IDS
    assert list(data.queries["text"]) == WORDS
    assert list(data.qrels["doc_id"]) == IDS


VISIBLE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
).filter(lambda text: not is_blank(text))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(VISIBLE, VISIBLE), min_size=1, max_size=6, unique_by=lambda row: row[0]))
def test_any_dataset_is_the_same_from_every_kind_of_file(rows):
    found = []
    with tempfile.TemporaryDirectory() as base:
        for extension in ("csv", "jsonl", "parquet"):
            folder = Path(base) / extension
            folder.mkdir()
            for name in ("documents", "queries"):
                path = folder / f"{name}.{extension}"
                if extension == "csv":
                    with path.open("w", newline="", encoding="utf-8") as file:
                        csv.writer(file).writerows([("id", "text"), *rows])
                elif extension == "jsonl":
                    lines = [json.dumps({"id": key, "text": text}) for key, text in rows]
                    path.write_text("\n".join(lines), encoding="utf-8")
                else:
                    keys, texts = zip(*rows, strict=True)
                    pq.write_table(pa.table({"id": keys, "text": texts}), path)
            data = articles.load(folder, name="any", signal="lean").dataset
            found.append([rows_of(data.documents, "doc_id", "text"), rows_of(data.queries, "text")])
    expected = [rows, [(text,) for _, text in rows]]
    assert found == [expected] * 3


# --- what is refused ---------------------------------------------------------------------

FAULTS: list[tuple[str, dict, dict, list[str]]] = [
    (
        "missing column",
        {"documents": "key,body\nd1,x\n"},
        {},
        ["documents.csv has no column for 'doc_id'", "'key', 'body'", "--column documents.doc_id="],
    ),
    (
        "missing column, the likely one offered",
        {"queries": "id,ask\nq1,x\n"},
        {},
        ["queries.csv has no column for 'text'", "--column queries.text=ask"],
    ),
    (
        "two columns for one field",
        {"documents": "id,text,content\nd1,a,b\n"},
        {},
        ["documents.csv", "'text' and 'content' could both be 'text'", "--column documents.text="],
    ),
    (
        "headers that look alike",
        {"documents": "doc_id,Doc-ID,text\nd1,d1,b\n"},
        {},
        ["'doc_id' and 'Doc-ID' could both be 'doc_id'"],
    ),
    (
        "unknown stance",
        {"documents": 'id,text,stance\nd1,"a\nb",left\nd2,b,lean left\n'},
        {},
        [
            "documents.csv, line 4: unknown stance 'lean left'",
            "left, center (or centre), right",
            'values.stance = { "lean left" = "left" }',
        ],
    ),
    ("short stance", {"documents": "id,text,bias\nd1,a,L\n"}, {}, ["line 2: unknown stance 'L'"]),
    (
        "document twice",
        {"documents": DOCUMENTS + "d1,Again.,left\n"},
        {},
        ["documents.csv, line 4", "document id 'd1'", "at documents.csv, line 2 already"],
    ),
    (
        "query twice",
        {"queries": QUERIES + "q2,x,left,c\n"},
        {},
        ["queries.csv, line 4", "query id 'q2'", "at queries.csv, line 3 already"],
    ),
    (
        "judgement twice",
        {"qrels": QRELS + "q1,d1,0\n"},
        {},
        ["qrels.csv, line 4", "'q1', 'd1'", "qrels.csv, line 2"],
    ),
    (
        "blank documents",
        {"documents": "id,text\nd1,x\nd2,\nd3,  \nd4,\u200b\u00a0\n"},
        {},
        ["documents.csv, line 3: text is blank (3 of 4 rows are)"],
    ),
    (
        "blank query",
        {"queries_jsonl": '{"id": "q1", "text": "x"}\n\n{"id": "q2", "text": null}\n'},
        {"signal": "lean"},
        ["queries.jsonl, line 3: text is blank (1 of 2 rows are)"],
    ),
    (
        "blank id",
        {"documents": "id,text\n,x\n"},
        {},
        ["documents.csv, line 2: doc_id is blank (1 of 1 rows are)"],
    ),
    (
        "nested text",
        {"documents_jsonl": '{"id": "d1", "text": "x"}\n{"id": "d2", "text": {"en": "y"}}\n'},
        {},
        ["documents.jsonl, line 2: column 'text' holds an object", "where text is needed"],
    ),
    (
        "unknown documents and queries",
        {"qrels": "query_id,doc_id,grade\n" + "".join(f"Q{n},D{n},1\n" for n in range(1, 8))},
        {},
        [
            "qrels.csv, line 2",
            "documents that documents.csv does not hold, "
            "'D1', 'D2', 'D3', 'D4', 'D5' and 2 more (it holds 'd1', 'd2')",
            "queries that queries.csv does not hold, "
            "'Q1', 'Q2', 'Q3', 'Q4', 'Q5' and 2 more (it holds 'q1', 'q2')",
        ],
    ),
    (
        "unknown gold",
        {"queries": 'id,text,gold\nq1,a,d1\nq2,b,"d1,d2"\n'},
        {"signal": "lean"},
        ["queries.csv, line 3", "'d1,d2' (it holds 'd1', 'd2')", "list_separator"],
    ),
    (
        "gold that is no list",
        {"queries": "id,text,gold\nq1,a,['d1' 'd2']\n"},
        {"signal": "lean"},
        ["queries.csv, line 2: gold_doc_ids should be a list of ids", "\"['d1' 'd2']\""],
    ),
    (
        "gold in two places",
        {"queries": "id,text,gold\nq1,a,d1\n", "qrels": "qid,doc_id,rel\nq1,d1,1\n"},
        {"signal": "lean"},
        ["qrels.csv, line 2", "stands at queries.csv, line 2 already"],
    ),
    (
        "grade with a fraction",
        {"qrels": "qid,docid,rel\nq1,d1,1.0\nq2,d2,0.5\n"},
        {},
        ["qrels.csv, line 3: the grade '0.5' is not a whole number"],
    ),
    (
        "grade in words",
        {"qrels": "qid,docid,rel\nq1,d1,good\n"},
        {},
        ["qrels.csv, line 2: the grade 'good' is not a whole number"],
    ),
    ("no grade", {"qrels": "qid,docid\nq1,d1\n"}, {}, ["qrels.csv has no column for 'grade'"]),
    (
        "no text for any group",
        {"queries": "id,l,r\nq1,a,b\nq2,, \n"},
        {"columns": ["queries.text.left=l", "queries.text.right=r"]},
        ["queries.csv, line 3", "query 'q2' has no text for any group (left, right)"],
    ),
    (
        "no signal",
        {"queries": "id,text\nq1,x\n"},
        {},
        ["--signal lean or --signal dialect"],
    ),
    ("unknown signal", {}, {"signal": "leen"}, ["Unknown signal 'leen'. Did you mean 'lean'?"]),
    (
        "groups of another kind",
        {"queries": "id,text,group\nq1,x,old\nq2,y,young\n"},
        {"signal": "lean"},
        ["'old', 'young'", "say minuend and subtrahend in a mapping file"],
    ),
    ("no such column", {}, {"columns": ["documents.text=bodi"]}, ["documents.csv has no column"]),
    ("no such field", {}, {"columns": ["documents.txt=a"]}, ["Did you mean 'text'?"]),
    ("no such table", {}, {"columns": ["docs.text=a"]}, ["Unknown table 'docs'"]),
    ("half an entry", {}, {"columns": ["documents.text"]}, ["documents.text=body"]),
    (
        "two entries",
        {},
        {"columns": ["documents.text=a", "documents.text=b"]},
        ["documents.text is given twice"],
    ),
    ("group of an id", {}, {"columns": ["queries.frame.a=b"]}, ["only queries.text has groups"]),
    ("no queries", {"queries": None}, {}, ["holds no queries file", ".csv, .tsv, .jsonl"]),
    ("no name", {}, {"name": " "}, ["1 to 60 printable characters"]),
    (
        "large cell",
        {},
        {"max_cell_bytes": 10},
        ["documents.csv, line 2", "17 bytes", "limit of 10"],
    ),
]


@pytest.mark.parametrize(
    ("files", "settings", "words"),
    [fault[1:] for fault in FAULTS],
    ids=[fault[0] for fault in FAULTS],
)
def test_refused(tmp_path, files, settings, words):
    path = folder_of(tmp_path, **files)
    with pytest.raises((FileError, TableError, InputError)) as caught:
        articles.load(path, **{"name": "test", **settings})
    sentence = str(caught.value)
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


def test_two_files_for_one_table(tmp_path):
    (folder_of(tmp_path) / "documents.jsonl").write_text("{}")
    assert "holds documents.csv and documents.jsonl; keep one documents file" in refusal(tmp_path)


def test_paths_that_lead_nowhere(tmp_path):
    folder_of(tmp_path)
    assert "There is no file or folder" in refusal(tmp_path / "none")
    assert "neither a folder nor a mapping file" in refusal(tmp_path / "documents.csv")
    assert "There is no folder" in refusal(tmp_path, folder=tmp_path / "none")
    assert "cannot be read" in refusal(Path("x" * 5000))
    assert "cannot be read" in refusal(tmp_path, mapping=tmp_path / "none.toml")


def test_an_encoding_can_be_given(tmp_path):
    path = folder_of(tmp_path, documents=(DOCUMENTS + "d3,Café.,left\n").encode("latin-1"))
    assert "--encoding latin-1" in refusal(path)
    data = articles.load(path, name="m", encoding="latin-1").dataset
    assert data.documents["text"].iloc[2] == "Café."
    mapping = mapping_of(path, 'encoding = "latin-1"')
    assert len(articles.load(path, name="m", mapping=mapping).dataset.documents) == 3


CELLS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["d1", "q1", "left", "[", "['d1']", "1", "", " ", "d1;d1", "\ud800", "\0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("a"), inner, max_size=1),
    max_leaves=4,
)


def objects(*names: str) -> st.SearchStrategy[str]:
    rows = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(names, CELLS)), max_size=3)
    return rows.map(lambda found: "\n".join(json.dumps(row) for row in found))


@settings(max_examples=150, deadline=None)
@given(
    objects("id", "text", "stance", "date"),
    objects("id", "text", "group", "cell", "gold", "source_doc_ids"),
    objects("qid", "docid", "grade", "judge"),
)
def test_whatever_the_cells_hold_it_is_loaded_or_refused(documents, queries, qrels):
    documents = '{"id": "d1", "text": "x"}\n' + documents
    queries = '{"id": "q1", "text": "x", "gold": "d1", "group": "left"}\n' + queries
    with tempfile.TemporaryDirectory() as base:
        path = folder_of(
            Path(base), documents_jsonl=documents, queries_jsonl=queries, qrels_jsonl=qrels or None
        )
        try:
            articles.load(path, name="any", signal="lean")
        except InputError as error:
            sentence = str(error)
        else:
            sentence = "loaded"
    assert sentence == "loaded" or "jsonl" in sentence or "The groups of" in sentence


# --- mapping files -----------------------------------------------------------------------


def test_a_mapping_file_says_everything(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text(
        "key;lang;content;side;topic;n\n"
        "d1;en;One.;-1;x;1\nd2;en;Two.;1;x;\nd3;de;Drei.;?;x;2\nd3;fr;Trois.;?;x;2\n"
    )
    (tmp_path / "data" / "q.csv").write_text(
        "pair,l,r,from_l,from_r,gold\np1,L?,R?,d1,d2,d1|d2\np2,,R2?,d2,d9,d1|d3\n"
    )
    mapping = mapping_of(
        tmp_path,
        """
        label = "Pairs"
        about = "Self-written."
        minuend = "right"
        subtrahend = "left"
        source = "Here"
        licence = "None"
        folder = "data"
        [documents]
        file = "a.csv"
        where = { lang = ["en", "es"] }
        values.stance = { "-1" = "left", "1" = "right", "?" = "" }
        columns = { doc_id = "Key", stance = "side", topic = false, source = { value = "Paper" } }
        [queries]
        file = "q.csv"
        list_separator = "|"
        [queries.columns]
        query_id = "pair"
        text = { left = "l", right = "r" }
        source_doc_ids = ["from_l", "from_r"]
        origin = { value = "written" }
        """,
    )
    loaded = articles.load(mapping, name="m")
    data = loaded.dataset
    assert rows_of(data.documents, "doc_id", "stance", "source", "topic") == [
        ("d1", "left", "Paper", None),
        ("d2", "right", "Paper", None),
    ]
    assert rows_of(
        data.queries, "query_id", "text", "group", "cell_id", "source_doc_ids", "origin"
    ) == [
        ("p1:left", "L?", "left", "p1", ["d1", "d2"], "written"),
        ("p1:right", "R?", "right", "p1", ["d1", "d2"], "written"),
        ("p2:right", "R2?", "right", "p2", ["d2", "d9"], "written"),
    ]
    assert rows_of(data.qrels, "query_id", "doc_id", "grade", "judge") == [
        ("p1:left", "d1", 1, "given"),
        ("p1:left", "d2", 1, "given"),
        ("p1:right", "d1", 1, "given"),
        ("p1:right", "d2", 1, "given"),
        ("p2:right", "d1", 1, "given"),
    ]
    assert (data.record.label, data.record.licence) == ("Pairs", "None")
    assert loaded.left_out == {
        "a.csv: lang is another than 'en', 'es'": 2,
        "q.csv: no text for the group left": 1,
        "judgements of documents that were left out": 1,
    }
    assert loaded.notes == [
        "a.csv is separated by semicolons, not commas; it was read so.",
        "a.csv: no row has 'es' in lang.",
        "q.csv: 1 source documents are not among the documents, so there is nothing to mask for "
        "them: 'd9'.",
        "The signal was taken to be lean: the groups are 'left', 'right'.",
        "1 of 2 cells hold both groups, the rest one.",
    ]


@pytest.mark.parametrize(
    "cells",
    [
        ["d1", "d2"],
        '["d1", "d2"]',
        """ ['d1',\n "d2", 'd1',] """,
        "d1; d2;",
        "d1;;d2;d1",
    ],
)
def test_lists_of_ids(tmp_path, cells):
    queries = json.dumps({"id": "q1", "text": "x", "gold": cells})
    path = folder_of(tmp_path, queries_jsonl=queries)
    data = articles.load(path, name="m", signal="lean").dataset
    assert list(data.qrels["doc_id"]) == ["d1", "d2"]


def test_rows_left_out_take_their_judgements_along(tmp_path):
    path = folder_of(
        tmp_path,
        queries="id,text,kind\nq1,a,x\nq2,b,y\n",
        qrels="qid,doc_id,grade\nq1,d1,1\nq2,d1,1\nq2,d2,1\n",
    )
    mapping = mapping_of(path, 'signal = "lean"\n[queries]\nwhere = { kind = ["x"] }\n')
    loaded = articles.load(path, name="m", mapping=mapping)
    assert rows_of(loaded.dataset.qrels, "query_id", "doc_id") == [("q1", "d1")]
    assert loaded.left_out == {
        "queries.csv: kind is another than 'x'": 1,
        "judgements of queries that were left out": 2,
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("label = \n", "mapping.toml is not valid TOML"),
        ("lable = 'x'", "mapping.toml: Unknown key 'lable'. Did you mean 'label'?"),
        ("label = ' '", "mapping.toml: label should be text that is not blank"),
        ("documents = 3", "mapping.toml: documents should be a table"),
        ("[documents]\nfiel = 'x'", "Unknown key of [documents] 'fiel'. Did you mean 'file'?"),
        ("[documents.columns]\nbody = 'x'", "Unknown field of documents 'body'"),
        ("[documents.columns]\ntext = 3", 'documents.columns.text should be "column"'),
        ("[documents.columns]\ntext = {a = 'b'}", "documents.columns.text should be"),
        ("[documents.columns]\ndoc_id = ['a', 'b']", "documents.columns.doc_id should be"),
        ("[documents.columns]\ntext = false", "documents.csv has no column for 'text'"),
        ("[documents.values]\nstance = 'x'", "documents.values.stance should be a table"),
        ("[documents.where]\nid = 'd1'", "documents.where.id should list the values to keep"),
        ("[documents.where]\nkind = ['d1']", "documents.csv has no column 'kind'"),
        ("[documents.where]\nid = ['d7']", "no row is left after [documents.where]"),
        ("[documents]\nquoted = 'no'", "documents.quoted should be true or false"),
        ("[documents]\nfile = 'x.csv'", "There is no file"),
        ("[qrels.columns]\ngrade = {value = 1}", "holds no qrels file"),
        (
            "[queries.columns]\ntext = {left = 'text', right = 'cell'}\ngroup = 'group'",
            "name the groups already",
        ),
        ("minuend = 'right'", "'right' minus ''; name two of the groups"),
        ("minuend = 'right'\nsubtrahend = 'neutral'", "name two of the groups"),
        ("signal = 'leen'", "Unknown signal 'leen'"),
    ],
)
def test_mapping_files_that_mean_nothing(tmp_path, content, words):
    path = folder_of(tmp_path)
    assert words in refusal(path, mapping=mapping_of(path, content))


def test_a_mapping_file_that_is_not_utf8(tmp_path):
    path = folder_of(tmp_path)
    (path / "m.toml").write_bytes("label = 'é'".encode("latin-1"))
    assert "m.toml is not UTF-8" in refusal(path, mapping=path / "m.toml")
    assert "are mapping files" in refusal(path / "m.toml", mapping=path / "m.toml")


def test_an_unknown_name_is_its_own_error(tmp_path):
    with pytest.raises(UnknownName):
        articles.load(folder_of(tmp_path), name="m", columns=["documents.txt=a"])


# --- the two mapping files that are shipped ----------------------------------------------


def shared(*parts: str) -> Path:
    base = Path(os.environ.get("BIASRET_SHARED", PROJECT.parent / "shared"))
    path = base.joinpath("data", *parts)
    if not path.is_dir():
        pytest.skip(f"The development data is not at {path}; BIASRET_SHARED names its folder.")
    return path


def test_headline_pairs():
    loaded = articles.load(
        MAPPINGS / "headline-pairs.toml", name="headlines", folder=shared("news")
    )
    data = loaded.dataset
    assert (len(data.documents), len(data.queries), len(data.qrels)) == (37_463, 3_582, 0)
    assert (data.record.signal, data.record.minuend, data.record.subtrahend) == (
        "lean",
        "right",
        "left",
    )
    assert data.record.is_paired
    assert data.queries["group"].value_counts().to_dict() == {"left": 1_791, "right": 1_791}
    assert data.queries["cell_id"].nunique() == 1_791
    assert data.queries["cluster_id"].nunique() == 1_497
    assert set(data.queries["source_doc_ids"].map(len)) == {2}
    assert data.documents["stance"].value_counts().to_dict() == {
        "right": 13_727,
        "left": 12_999,
        "center": 10_737,
    }
    assert data.documents["story_id"].notna().sum() == 13_810
    assert loaded.left_out == {}


def test_consumer_health():
    loaded = articles.load(
        MAPPINGS / "consumer-health.toml", name="health", folder=shared("health")
    )
    data = loaded.dataset
    assert (len(data.documents), len(data.queries), len(data.qrels)) == (30_030, 3_430, 7_896)
    assert (data.record.signal, data.record.minuend, data.record.is_paired) == (
        "dialect",
        None,
        False,
    )
    assert data.qrels["query_id"].nunique() == 3_430
    assert list(loaded.left_out.values()) == [25_626 - 3_430]


@pytest.mark.parametrize("name", ["headline-pairs", "consumer-health"])
def test_the_page_shows_the_mapping_files_as_they_are(name):
    shipped = tomllib.loads((MAPPINGS / f"{name}.toml").read_text(encoding="utf-8"))
    page = (PROJECT / "docs" / "importing.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"mappings/{name}\.toml\).*?```toml\n(.*?)```", page, flags=re.DOTALL)
    shown = tomllib.loads(blocks[0])
    for words in ("label", "about", "source", "licence"):
        shipped.pop(words)
    assert shown == shipped
