"""Files people take away: nothing lost, nothing run by a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import __version__
from biasret.exports import file_name, table_csv


def read(data: bytes) -> tuple[list[str], list[list[str]]]:
    """The comments, then the rows with the header first, as any CSV reader sees them."""
    lines = io.StringIO(data.decode("utf-8"), newline="")
    comments = []
    while (at := lines.tell(), line := lines.readline())[1].startswith("# "):
        comments.append(line.rstrip("\r\n"))
    lines.seek(at)
    return comments, list(csv.reader(lines, strict=True))


def cells(*values: object) -> list[str]:
    frame = pd.DataFrame({"v": pd.Series(list(values), dtype="object")})
    _, rows = read(table_csv(frame.assign(after="end"), {}))
    assert all(row[1] == "end" for row in rows[1:])
    return [row[0] for row in rows[1:]]


#: C12, and whatever else ends a cell or a line somewhere.
HARD = [
    "a,b",
    'say "x"',
    "two\nlines",
    "one\rtwo",
    "a\r\nb",
    "tab\there",
    "a;b",
    "#",
    "",
    " ",
    "\u2028",
]


def test_separators_quotes_and_line_breaks_come_back():
    assert cells(*HARD) == HARD


def test_a_frame_comes_back_from_its_file():
    # C12: export, then import.
    frame = pd.DataFrame({"query_id": [f"q{i}" for i in range(len(HARD))], "text": HARD})
    data = table_csv(frame, {"dataset": 'x, "y"\nz'})
    comments, rows = read(data)
    assert comments == ["# dataset: x, 'y' z", f"# software: biasret {__version__}"]
    assert rows[0] == ["query_id", "text"]
    assert [tuple(row) for row in rows[1:]] == list(frame.itertuples(index=False, name=None))
    again = pd.read_csv(io.BytesIO(data), skiprows=2, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(again, frame)


SAFE = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda t: not t.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
)


@settings(max_examples=200, deadline=None)
@given(st.lists(SAFE, min_size=1, max_size=3))
def test_any_text_comes_back(texts):
    assert cells(*texts) == texts


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("x")',
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1",
        "－x",
        "=" * 999,
    ],
)
def test_text_a_spreadsheet_would_run_is_made_inert(text):
    # C15
    assert cells(text) == [f"'{text}"]
    _, rows = read(table_csv(pd.DataFrame({text: [1]}), {}))
    assert rows[0] == [f"'{text}"]


def test_a_list_is_inert_too():
    assert cells(["=x", "y"], ("a", "b"), np.array(["-c", "d"], dtype=object), []) == [
        "'=x y",
        "a b",
        "'-c d",
        "",
    ]


@pytest.mark.parametrize(
    "value",
    [-0.1, -1, 0.1 + 0.2, 1e-300, -1.7976931348623157e308, 5e-324, 1 / 3, np.float64(-2 / 3)],
)
def test_numbers_stay_numbers_at_full_precision(value):
    (found,) = cells(value)
    assert not found.startswith("'")
    assert float(found) == value


def test_a_value_beyond_what_a_chart_shows_is_the_true_one():
    # C62
    frame = pd.DataFrame({"estimate": [123456.789012345678, -0.0588]})
    _, rows = read(table_csv(frame, {}))
    assert [float(row[0]) for row in rows[1:]] == frame["estimate"].tolist()


def test_missing_values_are_empty_cells():
    assert cells(None, np.nan, pd.NA, pd.NaT, float("nan"), np.float32("nan"), "x") == [""] * 6 + [
        "x"
    ]
    frame = pd.DataFrame({"k": pd.array([1, None], dtype="Int64"), "after": "end"})
    assert read(table_csv(frame, {}))[1][1:] == [["1", "end"], ["", "end"]]


def test_other_values_keep_their_form():
    assert cells(True, np.bool_(False), 7, np.int64(-7), "007") == [
        "True",
        "False",
        "7",
        "-7",
        "007",
    ]


def test_text_that_is_no_text_still_makes_a_file():
    (found,) = cells("a\ud800b")
    assert found == "a?b"


def test_what_is_shown_stands_above_the_numbers():
    about = {"dataset": "a:b/c?", "test": "Wilcoxon", "query": "=x\n# forged: y\r\nz", "a\nb": "c"}
    comments, rows = read(table_csv(pd.DataFrame({"v": [1]}), about))
    # C16: the real name is kept inside the file; nothing typed can add a line of its own.
    assert comments == [
        "# dataset: a:b/c?",
        "# test: Wilcoxon",
        "# query: =x # forged: y z",
        "# a b: c",
        f"# software: biasret {__version__}",
    ]
    assert rows == [["v"], ["1"]]


def test_a_table_without_rows_is_its_header():
    assert read(table_csv(pd.DataFrame(columns=["a", "b"]), {}))[1] == [["a", "b"]]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=3))
def test_file_names_are_safe_everywhere(parts):
    # C16, C21
    name = file_name(*parts, suffix="csv")
    assert re.fullmatch(r"[A-Za-z0-9.-]+-\d{4}-\d{2}-\d{2}\.csv", name)
    assert len(name) <= 95
    assert not name.startswith((".", "-"))


def test_file_names_by_example():
    today = date.today().isoformat()
    assert file_name("gaps", "a:b/c?", suffix="csv") == f"gaps-a-b-c-{today}.csv"
    assert file_name("données_🩺", suffix="csv") == f"donn-es-{today}.csv"
    assert file_name("🩺", "../..", suffix="html") == f"data-data-{today}.html"


@pytest.mark.parametrize(
    "value", ['x,=HYPERLINK("http://e/"&A9,"open")', 'x,"=1+1"', "x,,+1", "x\r\n=1"]
)
def test_a_comment_begins_no_formula(value):
    # A wording can come from a link that somebody sent.
    data = table_csv(pd.DataFrame({"a": [1]}), {"wording A": value}).decode()
    first = next(csv.reader(io.StringIO(data)))
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in first)
