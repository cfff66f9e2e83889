"""One number, three ways out: the page, `gaps --json` and the CSV file agree to the last digit."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest
import streamlit as st
from test_pages import monkeypatch_module, opened, store

from biasret.__main__ import main

__all__ = ["monkeypatch_module", "store"]


@pytest.fixture
def files(monkeypatch):
    """What every download button of a page would hand out, by its key."""
    found: dict[str, bytes] = {}

    def button(label, data, *, key, **words):
        found[key] = data() if callable(data) else data
        return False

    monkeypatch.setattr(st, "download_button", button)
    return found


def rows_of(data: bytes) -> list[dict[str, str]]:
    lines = [line for line in data.decode().split("\r\n") if not line.startswith("#")]
    return list(csv.DictReader(io.StringIO("\r\n".join(lines))))


def plain(value: object) -> object:
    """A cell as JSON would have it."""
    if value is None or value is pd.NA or value != value:
        return None
    return value.item() if hasattr(value, "item") else value


@pytest.mark.parametrize(
    ("page", "link", "name", "choice"),
    [
        ("political_lean", {}, "lean", ["demo_news", "lean", "10", "raw"]),
        ("political_lean", {"lean_k": "50"}, "lean", ["demo_news", "lean", "50", "raw"]),
        (
            "political_lean",
            {"lean_filter": "queries that find their story"},
            "lean",
            ["demo_news", "lean", "10", "same-story"],
        ),
        ("dialect", {}, "dialect", ["demo_health", "rr", None, "raw"]),
        (
            "dialect",
            {"dialect_metric": "recall@k"},
            "dialect",
            ["demo_health", "recall", "10", "raw"],
        ),
    ],
)
def test_page_command_and_file_agree(store, files, capsys, page, link, name, choice):
    dataset, metric, k, rule = choice
    app = opened(page, **{f"{name}_dataset": dataset}, **link)
    shown = app.dataframe[0].value
    arguments = ["gaps", "--dataset", dataset, "--metric", metric, "--filter", rule, "--json"]
    assert main(arguments + (["--k", k] if k else [])) == 0
    said = json.loads(capsys.readouterr().out)
    first = shown.iloc[0]
    said = [
        r
        for r in said
        if (r["minuend"], r["subtrahend"]) == (first["minuend"], first["subtrahend"])
    ]
    assert [plain(v) for v in shown["estimate"]] == [row["estimate"] for row in said]
    assert len(said) == len(shown) > 0
    written = rows_of(files[f"save-{name}-gaps"])
    assert len(written) == len(said)
    for at, row in enumerate(said):
        for column in shown.columns:
            assert plain(shown[column].iloc[at]) == row[column], column
            cell = written[at][column]
            if isinstance(row[column], float):
                assert float(cell) == row[column], column
                assert cell == repr(row[column])
            else:
                assert cell == ("" if row[column] is None else str(row[column])), column


def test_the_file_of_a_published_exhibit_holds_the_released_digits(store, files):
    from biasret.reproduction import exhibit_numbers, published_gaps

    opened("political_lean", lean_world="published by the paper")
    gaps = rows_of(files["save-lean-table07"])
    assert [float(row["estimate"]) for row in gaps] == published_gaps("table07")[
        "estimate"
    ].tolist()
    every = rows_of(files["save-all-lean-table07-table07"])
    numbers = exhibit_numbers("table07")
    assert [row["printed"] for row in every] == numbers["printed"].fillna("").tolist()
    assert [row["released"] for row in every] == [
        "" if v != v else repr(v) for v in numbers["released"].tolist()
    ]
