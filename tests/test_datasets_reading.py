"""Files of rows: what is kept to the letter, and what is refused with which sentence."""

from __future__ import annotations

import csv
import json
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.datasets.reading import MAX_CELL_BYTES, Rows, read
from biasret.errors import BiasretError, FileError, InputError, TableError


def written(folder: Path, content: str | bytes, extension: str = "csv") -> Path:
    path = folder / f"documents.{extension}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path, **settings: object) -> tuple[type[BiasretError], str]:
    with pytest.raises(InputError) as caught:
        read(path, **settings)
    sentence = str(caught.value)
    assert sentence.endswith((".", "}"))
    assert "\n" not in sentence
    return caught.type, sentence


GOOD = "id,text\nd1,one\nd2,two\n"


# --- what is refused ---------------------------------------------------------------------

TEXT_FAULTS = [
    ("empty", "csv", "", FileError, ["documents.csv is empty", "needs a header"]),
    ("mark only", "csv", b"\xef\xbb\xbf", FileError, ["is empty"]),
    ("white space only", "csv", " \n\n\t\n", FileError, ["is empty"]),
    ("empty jsonl", "jsonl", "\n\n", FileError, ["documents.jsonl is empty"]),
    ("header only", "csv", "id,text\n", FileError, ["documents.csv has a header and no rows"]),
    ("header only tsv", "tsv", "id\ttext\r\n", FileError, ["a header and no rows"]),
    (
        "extra field",
        "csv",
        GOOD + "d3,a,b\n",
        TableError,
        ["documents.csv, line 4", "found 3 fields where the header has 2", "quotation marks"],
    ),
    (
        "missing field after a cell of three lines",
        "csv",
        'id,text\nd1,"one\ntwo\r\nthree"\nd2\n',
        TableError,
        ["documents.csv, line 5", "found 1 fields where the header has 2"],
    ),
    (
        "extra field in a row of two lines",
        "csv",
        GOOD + 'd3,"a\nb",c\n',
        TableError,
        ["documents.csv, lines 4 to 5", "found 3 fields"],
    ),
    (
        "unclosed quote",
        "csv",
        'id,text\nd1,"a\nb"\nd2,"two\nd3,three\nd4,four\n',
        FileError,
        ["documents.csv, line 4", "opened and never closed", "quoted = false"],
    ),
    (
        "quote where none can be",
        "csv",
        GOOD + 'd3,"three" or so\n',
        FileError,
        ["documents.csv, line 4", "stands where none can"],
    ),
    (
        "latin-1",
        "csv",
        (GOOD + "d3,café\n").encode("latin-1"),
        FileError,
        ["not UTF-8", "byte 0xE9 on line 4", 'encoding = "latin-1"', "--encoding latin-1"],
    ),
    (
        "windows",
        "csv",
        (GOOD + "d3,it’s\n").encode("cp1252"),
        FileError,
        ["byte 0x92 on line 4", "--encoding cp1252"],
    ),
    (
        "latin-1 jsonl",
        "jsonl",
        '{"id": "1", "text": "naïve"}\n'.encode("latin-1"),
        FileError,
        ["documents.jsonl", "line 1", "--encoding latin-1"],
    ),
    ("utf-16", "csv", GOOD.encode("utf-16"), FileError, ["probably utf-16", "--encoding utf-16."]),
    ("utf-32", "csv", GOOD.encode("utf-32"), FileError, ["--encoding utf-32"]),
    ("no mark", "csv", GOOD.encode("utf-16-le"), FileError, ["NUL byte", "--encoding utf-16-le"]),
    ("no mark", "csv", GOOD.encode("utf-16-be"), FileError, ["NUL byte", "--encoding utf-16-be"]),
    ("NUL", "csv", GOOD + "d3,a\0b\n", FileError, ["documents.csv, line 4", "NUL byte"]),
    (
        "NUL escape",
        "jsonl",
        '{"id": "1"}\n{"id": "2", "text": "a\\u0000"}\n',
        TableError,
        ["documents.jsonl, line 2", "NUL character"],
    ),
    (
        "large cell",
        "csv",
        GOOD + f"d3,{'x' * 2_000_000}\n",
        TableError,
        ["documents.csv, line 4", "'text'", "2,000,000 bytes", "limit of 1,000,000"],
    ),
    (
        "large cell jsonl",
        "jsonl",
        json.dumps({"id": "1", "tags": ["é" * 600_000]}, ensure_ascii=False),
        TableError,
        ["documents.jsonl, line 1", "'tags'", "1,200,000 bytes"],
    ),
    (
        "broken line",
        "jsonl",
        "".join(f'{{"id": "{at}"}}\n' for at in range(16)) + '{"id": "17" "text": ""}\n{}\n',
        FileError,
        ["documents.jsonl, line 17", "not valid JSON", "Expecting ',' delimiter at character 13"],
    ),
    ("cut", "jsonl", '{"id": "1"}\n{"id": "2"', FileError, ["line 2", "not valid JSON"]),
    ("raw tab", "jsonl", '{"id": "a\tb"}\n', FileError, ["line 1", "control character"]),
    ("not a number", "jsonl", '{"id": NaN}\n', FileError, ["line 1", "NaN is not a JSON value"]),
    ("name twice", "jsonl", '{"id": 1, "id": 2}\n', FileError, ["line 1", "'id' stands twice"]),
    ("deep", "jsonl", '{"id": ' + "[" * 100_000 + "\n", FileError, ["line 1", "too deeply"]),
    ("list", "jsonl", '{"id": "1"}\n["x"]\n', FileError, ["line 2", "is no object", "'[\"x\"]'"]),
    ("text", "jsonl", '"x"\n', FileError, ["documents.jsonl, line 1", "is no object"]),
    ("null", "jsonl", '\n{"id": "1"}\nnull\n', FileError, ["line 3", "'null'", "is no object"]),
    (
        "half a pair",
        "jsonl",
        '{"id": "1", "text": "a\\ud800b"}\n',
        TableError,
        ["documents.jsonl, line 1", "\\ud800", "surrogate pair"],
    ),
    (
        "half a pair inside a list",
        "jsonl",
        '{"id": "1"}\n{"id": "2", "tags": ["\\uDC00"]}\n',
        TableError,
        ["documents.jsonl, line 2", "\\udc00"],
    ),
    (
        "two headers alike",
        "csv",
        "id,text, text \n1,a,b\n",
        TableError,
        ["documents.csv", "two columns named 'text' (number 2 and 3)"],
    ),
    ("not parquet", "parquet", b"PAR1 and so on", FileError, ["cannot be read as Parquet"]),
    ("empty parquet", "parquet", b"", FileError, ["documents.parquet is empty"]),
    ("extension", "json", "{}", FileError, ["unknown extension '.json'", ".jsonl"]),
    ("cut short", "csv.gz", b"\x1f\x8b", FileError, ["documents.csv.gz", "cannot be unpacked"]),
    ("not packed", "jsonl.zst", b"{}", FileError, ["cannot be unpacked as zstd"]),
    ("packed parquet", "parquet.gz", b"", FileError, ["unknown extension '.gz'"]),
    ("another packing", "csv.bz2", b"BZh9", FileError, ["unknown extension '.bz2'", ".gz, .zst"]),
]


@pytest.mark.parametrize(
    ("extension", "content", "kind", "words"),
    [fault[1:] for fault in TEXT_FAULTS],
    ids=[fault[0] for fault in TEXT_FAULTS],
)
def test_refused(tmp_path, extension, content, kind, words):
    found, sentence = refusal(written(tmp_path, content, extension))
    assert found is kind
    for word in words:
        assert word in sentence


def test_a_missing_file_and_a_folder(tmp_path):
    assert refusal(tmp_path / "none.csv")[1] == (
        f"There is no file {tmp_path / 'none.csv'}; check the path."
    )
    (tmp_path / "folder.csv").mkdir()
    assert "is not a file" in refusal(tmp_path / "folder.csv")[1]


def test_settings_that_mean_nothing(tmp_path):
    path = written(tmp_path, GOOD)
    assert "Unknown encoding 'klingon'" in refusal(path, encoding="klingon")[1]
    assert "Unknown encoding 'rot13'" in refusal(path, encoding="rot13")[1]
    assert "A separator is one character" in refusal(path, separator=";;")[1]
    assert "is UTF-8 text, not utf-16" in refusal(path, encoding="utf-16")[1]
    path = written(tmp_path, (GOOD + "d3,café\n").encode("latin-1"))
    assert "cannot be read as utf-8 (line 4: " in refusal(path, encoding="utf-8")[1]
    assert "cannot be read as ascii (line 4: " in refusal(path, encoding="ascii")[1]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ({"a": 1}, "holds an object"),
        (["a"], "holds a list"),
        (b"a", "holds bytes"),
    ],
)
def test_only_text_and_numbers_are_text(tmp_path, cell, words):
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table({"id": ["1", "2"], "text": [None, cell]}), path)
    with pytest.raises(TableError) as caught:
        read(path).texts("text")
    assert "documents.parquet, record 2: column 'text'" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(("cell", "word"), [("a\0", "NUL"), ("é" * 60, "120 bytes")])
def test_parquet_cells_are_checked_too(tmp_path, cell, word):
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table({"id": ["1", "2"], "text": ["x", cell]}), path)
    with pytest.raises(TableError, match=f"documents.parquet, record 2.*{word}"):
        read(path, max_cell_bytes=100).texts("text")


def test_parquet_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "documents.parquet"
    broken = pa.array([b"\xff\xfe"]).cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": broken}), path)
    with pytest.raises(TableError, match="not UTF-8"):
        read(path).texts("text")


def test_parquet_with_two_columns_of_one_name(tmp_path):
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table([["1"], ["2"]], names=["id", "id"]), path)
    assert "two columns named 'id'" in refusal(path)[1]


def test_parquet_without_rows(tmp_path):
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    assert "documents.parquet has a header and no rows" in refusal(path)[1]


# --- what is kept ------------------------------------------------------------------------


def test_nothing_is_guessed_from_a_cell(tmp_path):
    cells = ["007", "NA", "null", "nothing", "nan", "None", "TRUE", "1e5", " x ", "-", "#N/A", ""]
    path = written(tmp_path, "id,text\n" + "".join(f"{at},{c}\n" for at, c in enumerate(cells)))
    assert read(path).texts("text") == cells


def test_numbers_keep_their_spelling(tmp_path):
    path = written(tmp_path, '{"a": 1.10, "b": 7, "c": true, "d": null, "e": 1e400}\n', "jsonl")
    rows = read(path)
    assert [rows.texts(name)[0] for name in "abcde"] == ["1.10", "7", "true", None, "1e400"]


def test_parquet_numbers_and_dates(tmp_path):
    path = tmp_path / "documents.parquet"
    columns = {
        "int": pa.array([7]),
        "float": pa.array([3.0]),
        "half": pa.array([0.5]),
        "missing": pa.array([float("nan")]),
        "date": pa.array([0]).cast(pa.int32()).cast(pa.date32()),
        "category": pa.array(["x"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), path)
    rows = read(path)
    found = [rows.texts(name)[0] for name in columns]
    assert found == ["7", "3", "0.5", None, "1970-01-01", "x"]


def test_lines_are_true_after_cells_that_span_lines(tmp_path):
    path = written(tmp_path, '\nid,text\r\nd1,"a\r\nb\nc\rd"\n\nd2,x\n')
    rows = read(path)
    assert rows.texts("text") == ["a\r\nb\nc\rd", "x"]
    assert [rows.place(row) for row in (0, 1)] == ["documents.csv, line 3", "documents.csv, line 8"]
    assert rows.notes == ("documents.csv: 2 blank lines were skipped.",)


def test_only_line_ends_end_lines(tmp_path):
    text = "a\x0b\x0c\x1c\x85\u2028\u2029b"
    for extension, content in (
        ("csv", f"id,text\n1,{text}\n2,x\n"),
        ("jsonl", json.dumps({"id": "1", "text": text}, ensure_ascii=False).replace("\n", "")),
    ):
        rows = read(written(tmp_path, content, extension))
        assert rows.texts("text")[0] == text


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path):
    for extension, content in (("csv", GOOD), ("jsonl", '{"id": "1"}\n')):
        rows = read(written(tmp_path, b"\xef\xbb\xbf" + content.encode(), extension))
        assert rows.names[0] == "id"
    rows = read(written(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()), encoding="UTF8")
    assert rows.names[0] == "id"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_a_declared_encoding_is_used(tmp_path, encoding):
    rows = read(written(tmp_path, (GOOD + "d3,café\n").encode(encoding)), encoding=encoding)
    assert rows.texts("text") == ["one", "two", "café"]
    assert rows.notes == ()


def test_a_declared_encoding_that_is_probably_wrong_is_noted(tmp_path):
    rows = read(written(tmp_path, GOOD + "d3,café\n"), encoding="latin-1")
    assert rows.notes == ("documents.csv was read as latin-1, though it is valid UTF-8.",)


@pytest.mark.parametrize(
    ("extension", "separator", "words"),
    [
        ("csv", ";", "semicolons, not commas"),
        ("csv", "\t", "tabs, not commas"),
        ("csv", "|", "vertical bars, not commas"),
        ("tsv", ",", "commas, not tabs"),
    ],
)
def test_another_separator_is_seen_and_said(tmp_path, extension, separator, words):
    content = 'id,"text, a; b; c; d"\nd1,"x;y,z"\n'
    content = content.replace("id,", f"id{separator}").replace("d1,", f"d1{separator}")
    rows = read(written(tmp_path, content, extension))
    assert rows.names == ("id", "text, a; b; c; d")
    assert rows.texts(rows.names[1]) == ["x;y,z"]
    assert rows.notes == (f"documents.{extension} is separated by {words}; it was read so.",)


def test_a_given_separator_is_not_second_guessed(tmp_path):
    rows = read(written(tmp_path, "id,a,b;text\n1,2,3;x\n"), separator=";")
    assert rows.names == ("id,a,b", "text")
    assert rows.notes == ()


def test_quotation_marks_can_be_text(tmp_path):
    rows = read(written(tmp_path, 'id\ttext\n1\t"Yes" he said\n', "tsv"), is_quoted=False)
    assert rows.texts("text") == ['"Yes" he said']


def test_columns_without_a_name_get_a_number(tmp_path):
    assert read(written(tmp_path, ",text,\n0,a,\n")).names == ("(column 1)", "text", "(column 3)")


def test_objects_may_have_different_names(tmp_path):
    rows = read(written(tmp_path, '{"id": "1"}\n{"text": "x"}\n', "jsonl"))
    assert rows.names == ("id", "text")
    assert rows.texts("id") == ["1", None]


def test_the_limit_counts_bytes_and_can_be_set(tmp_path):
    path = written(tmp_path, GOOD + f"d3,{'é' * 50}\n")
    assert read(path, max_cell_bytes=100).texts("text")[2] == "é" * 50
    assert "has 100 bytes, more than the limit of 99" in refusal(path, max_cell_bytes=99)[1]
    just = written(tmp_path, GOOD + f"d3,{'x' * MAX_CELL_BYTES}\n")
    assert len(read(just).texts("text")[2]) == MAX_CELL_BYTES


# --- round trips -------------------------------------------------------------------------

# Every character a file can hold as text: no NUL, no half surrogate pair.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


def three_files(folder: Path, cells: list[tuple[str, str]]) -> list[Rows]:
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([("a", "b"), *cells])
    with (folder / "t.jsonl").open("w", newline="\n", encoding="utf-8") as file:
        for a, b in cells:
            file.write(json.dumps({"a": a, "b": b}, ensure_ascii=len(a) % 2 == 0) + "\n")
    pq.write_table(
        pa.table({"a": [a for a, _ in cells], "b": [b for _, b in cells]}), folder / "t.parquet"
    )
    return [read(folder / f"t.{extension}") for extension in ("csv", "jsonl", "parquet")]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_any_text_survives_in_all_three(cells):
    with tempfile.TemporaryDirectory() as folder:
        for rows in three_files(Path(folder), cells):
            assert rows.texts("a") == [a for a, _ in cells]
            assert rows.texts("b") == [b for _, b in cells]


def read_or_refused(path: Path) -> None:
    sentence = None
    try:
        rows = read(path)
        assert all(len(rows.column(name)) == len(rows.places) for name in rows.names)
    except InputError as error:
        sentence = str(error)
    assert sentence is None or path.name in sentence


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["csv", "tsv", "jsonl", "parquet"]))
def test_any_bytes_are_read_or_refused(content, extension):
    with tempfile.TemporaryDirectory() as folder:
        read_or_refused(written(Path(folder), content, extension))


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('a,;"\n\r\t {}[]:\\u0d8'), max_size=60))
def test_any_near_miss_is_read_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        for extension in ("csv", "jsonl"):
            read_or_refused(written(Path(folder), content, extension))


def test_a_hundred_thousand_rows_take_seconds(tmp_path):
    row = 'd{0},"{1} ""quoted"", {0}"\n'
    path = written(
        tmp_path, "id,text\n" + "".join(row.format(at, "word " * 60) for at in range(100_000))
    )
    start = time.perf_counter()
    assert len(read(path).texts("text")) == 100_000
    assert time.perf_counter() - start < 10
