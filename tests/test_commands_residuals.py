"""``python -m biasret residuals``: what is stored, as lines and as JSON."""

from __future__ import annotations

import json

import pytest

from biasret import __main__ as cli
from biasret.commands.residuals import residual_line


@pytest.fixture
def run(stored, monkeypatch, capsys):
    monkeypatch.setenv("BIASRET_STORE", str(stored.folder.path))

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(("residuals", *arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return command


def test_json_has_every_digit_that_is_stored(run, stored):
    code, out, err = run("--json")
    assert (code, err) == (0, "")
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in the document"))
    expected = stored.folder.read("residuals", "toy")
    assert len(found) == len(expected) > 0
    key = ["retriever", "metric", "k", "filter"]
    by_key = {tuple(row[name] for name in key): row for row in found}
    for row in expected.astype("object").where(expected.notna(), None).to_dict("records"):
        mine = by_key[tuple(row[name] for name in key)]
        for name, value in row.items():
            assert mine[name] == value, name


def test_it_can_be_narrowed_and_put_in_words(run, stored):
    arguments = ("--dataset", "toy", "--metric", "lean", "--k", "10", "--filter", "raw")
    code, out, _ = run(*arguments)
    rows = stored.store.rows("residuals", "toy", metric="lean", k=10, filter="raw")
    assert code == 0
    assert out.splitlines() == [residual_line(row) for row in rows.to_dict("records")]
    assert "right minus left" in out


def test_a_line_has_the_gap_what_remains_and_its_tests():
    row = {
        **{"dataset": "d", "retriever": "bm25", "metric": "lean", "k": 10, "filter": "raw"},
        **{"minuend": "right", "subtrahend": "left", "gap": 0.2, "residual": 0.15, "n": 180},
        **{"residual_low": 0.1, "residual_high": 0.2, "p_value": 0.0004, "p_holm": 0.002},
        **{"contribution": 0.05, "covariance": "cluster", "note": None},
    }
    assert residual_line(row).endswith(
        "right minus left +0.2000, beyond vocabulary +0.1500 [+0.1000, +0.2000]"
        "  vocabulary +0.0500  n 180  p 0.0004 (cluster; 0.002** after Holm)"
    )
    lost = {**row, "residual": float("nan"), "note": "no values"}
    assert residual_line(lost).endswith("+0.2000, no residual: no values")


def test_wrong_names_and_empty_choices(run):
    code, _, err = run("--metric", "leen")
    assert (code, err.count("\n")) == (2, 1)
    assert "Did you mean 'lean'?" in err
    code, _, err = run("--filter", "judge:nobody")
    assert (code, err.count("\n")) == (2, 1)
    assert "Unknown filter 'judge:nobody'." in err
    code, out, _ = run("--k", "7")
    assert code == 1
    assert "No residuals are stored" in out
    assert run("--k", "7", "--json")[:2] == (1, "[]\n")
