"""Reports: one file, nothing fetched, nothing run that data brought."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import __version__
from biasret.errors import InputError
from biasret.report import Section, document, page, save

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x00\ud800 & \"'"


class Reader(HTMLParser):
    """Tags with their attributes, and the text of scripts and of all else."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._in: str = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._in = tag
            if tag == "script":
                self.scripts.append("")

    def handle_endtag(self, tag):
        if tag == self._in:
            self._in = ""

    def handle_data(self, data):
        if self._in == "script":
            self.scripts[-1] += data
        elif not self._in:
            self.text.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def chart(name: str = "a") -> go.Figure:
    return go.Figure(go.Scatter(x=[1.5, np.nan], y=[2, 3], name=name))


def test_a_page_says_what_it_was_given():
    table = pd.DataFrame({"name": ["a", None], "value": [0.123456789012345678, np.nan]})
    found = Reader(
        page(
            "Title",
            [Section("First", ["One.", "Two."], chart(), "Shows one point.", table)],
            about={"dataset": "toy"},
        )
    )
    text = " ".join(found.text)
    for words in ("Title", "First", "One.", "Two.", "0.1235", "—", "toy", __version__):
        assert words in text
    drawn_in = next(a for a in found.of("div") if a.get("role") == "group")
    assert drawn_in["aria-label"] == "Shows one point."
    charts = [a for a in found.of("script") if a.get("type") == "application/json"]
    assert [a["data-chart"] for a in charts] == [drawn_in["id"]]
    drawn = json.loads(found.scripts[0])
    assert drawn["data"][0]["x"] == [1.5, None]


def test_the_csv_inside_has_every_digit():
    table = pd.DataFrame({"value": [0.1 + 0.2, -1e-17], "text": ["=1+1", "a,b"]})
    link = Reader(page("t", [Section("s", table=table, about={"n": "2"})])).of("a")[0]
    head, _, data = str(link["href"]).partition(",")
    assert head == "data:text/csv;charset=utf-8;base64"
    lines = base64.b64decode(data).decode().split("\r\n")
    assert lines[0] == "# n: 2"
    rows = list(csv.reader(io.StringIO("\r\n".join(lines[2:]))))
    assert rows[1:] == [["0.30000000000000004", "'=1+1"], ["-1e-17", "a,b"]]


def test_data_never_becomes_markup_or_script():
    # As objects, because pandas' own text holds no half surrogate pairs.
    names = pd.Index([HOSTILE], dtype="object")
    table = pd.DataFrame([[HOSTILE]], columns=names, dtype="object")
    section = Section(HOSTILE, [HOSTILE], chart(HOSTILE), HOSTILE, table, {HOSTILE: HOSTILE})
    bland_table = pd.DataFrame({"s": ["s"]})
    bland = page("t", [Section("s", ["s"], chart(), "s", bland_table)], about={"s": "s"})
    hostile = page(HOSTILE, [section], about={HOSTILE: HOSTILE})
    hostile.encode()
    assert "\x00" not in hostile
    assert "\u202e" not in hostile
    assert [t for t, _ in Reader(hostile).tags] == [t for t, _ in Reader(bland).tags]
    assert json.loads(Reader(hostile).scripts[0])["data"][0]["name"] == HOSTILE


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_shown_as_text(text):
    tags = Reader(page(text, [Section(text, [text])])).tags
    assert tags == Reader(page("t", [Section("t", ["t"])])).tags


def test_only_its_own_scripts_may_run_and_nothing_is_fetched():
    text = page("t", [Section("s", figure=chart())])
    found = Reader(text)
    policy = next(str(a["content"]) for a in found.of("meta") if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert "connect-src" not in policy
    run = [
        script
        for script, a in zip(found.scripts, found.of("script"), strict=True)
        if a.get("type") != "application/json"
    ]
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in run]
    assert hashes == allowed
    assert len(run) == 2
    for tag, attributes in found.tags:
        assert not {"src", "srcset", "action"} & set(attributes), tag
        assert tag not in ("link", "iframe", "object", "base")


def test_a_page_without_charts_carries_no_scripts():
    found = Reader(page("t", [Section("s", ["One."])]))
    assert found.scripts == []
    assert "script-src" not in str(found.of("meta"))


def test_a_long_table_is_cut_on_the_page_and_whole_in_its_file():
    table = pd.DataFrame({"i": range(501)})
    found = Reader(page("t", [Section("s", table=table)]))
    assert len(found.of("tr")) == 501  # the header among them
    assert "501 rows, the first 500 shown" in " ".join(found.text)
    assert "open" not in found.of("details")[0]
    data = base64.b64decode(str(found.of("a")[0]["href"]).partition(",")[2]).decode()
    assert data.rstrip().split("\r\n")[-1] == "500"


def test_a_document_keeps_every_digit_and_no_nan():
    table = pd.DataFrame(
        {
            "f": [0.1 + 0.2, np.nan, np.inf],
            "i": pd.array([1, None, 3], dtype="Int64"),
            "b": [True, False, True],
            "t": ["x", None, "y"],
            "l": [["a"], [], ["b", "c"]],
        }
    )
    made = document("t", [Section("s", ["One."], chart(), table=table)], about={"k": "v"})
    again = json.loads(json.dumps(made, allow_nan=False))
    assert again == made
    assert made["about"] == {"k": "v"}
    assert made["sections"][0]["table"] == [
        {"f": 0.30000000000000004, "i": 1, "b": True, "t": "x", "l": ["a"]},
        {"f": None, "i": None, "b": False, "t": None, "l": []},
        {"f": None, "i": 3, "b": True, "t": "y", "l": ["b", "c"]},
    ]


def test_the_ending_says_the_form(tmp_path: Path):
    sections = [Section("s", ["One."], table=pd.DataFrame({"a": [1]}))]
    for ending, start in ((".html", "<!doctype html>"), (".JSON", "{"), (".csv", "# k: v")):
        path = tmp_path / f"report{ending}"
        save(path, "t", sections, about={"k": "v"})
        assert path.read_text(encoding="utf-8").startswith(start)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "report.JSON",
        "report.csv",
        "report.html",
    ]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path):
    one = Section("s", table=pd.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match=r"ends in \.html, \.json, \.csv; found 'report\.pdf'"):
        save(tmp_path / "report.pdf", "t", [one])
    with pytest.raises(InputError, match="There is no folder"):
        save(tmp_path / "none" / "report.html", "t", [one])
    with pytest.raises(InputError, match="one table and this report has 2"):
        save(tmp_path / "report.csv", "t", [one, one])
    with pytest.raises(InputError, match="one table and this report has 0"):
        save(tmp_path / "report.csv", "t", [Section("s")])
    assert list(tmp_path.iterdir()) == []
