"""``audit``: runs measured in memory, a gate that holds, a report that says it all."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from test_main import document, one_line, run

__all__ = ["run"]  # the fixture


@pytest.fixture
def exported(run, tmp_path):
    """Both results of the ten documents as runs."""
    assert run("export", "--dataset", "toy", "--to", str(tmp_path / "out"))[0] == 0
    return tmp_path / "out"


def renamed(path, tag):
    target = path.with_name(f"{tag}.run")
    target.write_text(path.read_text().replace(f" {path.stem}\n", f" {tag}\n"))
    return target


def test_an_audited_run_has_the_gaps_of_its_retriever(run, stored, exported):
    before = stored.folder.fingerprint()
    mine = renamed(exported / "words.run", "mine")
    code, out, err = run("audit", "--dataset", "toy", "--run", str(mine), "--json")
    assert code == 0, err
    found = document(out)
    assert found["passed"] is True
    assert found["retrievers"] == ["mine"]
    rows = {(r["metric"], r["k"], r["filter"]): r for r in found["gaps"]}
    # Nine deep: only lean@5 is known.
    assert set(rows) == {
        ("lean", 5, name) for name in ("raw", "same-story", "judge:author", "retained")
    }
    stored_gaps = stored.folder.read("gaps", "toy").set_index(
        ["retriever", "metric", "k", "filter"]
    )
    assert rows["lean", 5, "raw"]["estimate"] == pytest.approx(
        stored_gaps.loc[("words", "lean", 5, "raw"), "estimate"], abs=1e-15
    )
    assert any("to depth 9" in note for note in found["notes"])
    assert stored.folder.fingerprint() == before


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("column", ["rank", "score"])
def test_a_table_is_a_run_too(run, stored, exported, tmp_path, ending, column):
    frame = stored.folder.read("runs", "toy", "words")[["query_id", "doc_id", column]]
    path = tmp_path / f"mine.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    code, out, err = run("audit", "--dataset", "toy", "--run", str(path), "--json")
    assert code == 0, err
    mine = renamed(exported / "words.run", "mine")
    _, wanted, _ = run("audit", "--dataset", "toy", "--run", str(mine), "--json")
    assert document(out)["gaps"] == document(wanted)["gaps"]


def test_a_condition_that_is_met_fails(run):
    only = ("audit", "--dataset", "toy", "--retriever", "words")
    gap = document(run(*only, "--json")[1])["gaps"]
    value = next(r["estimate"] for r in gap if (r["metric"], r["k"]) == ("lean", 10))
    for text, code in (
        (f"gap.lean@10 == {value!r}", 1),
        (f"gap.lean@10 > {value!r}", 0),
        ("abs(gap.lean@10) > 5 and p.lean@10 < 2", 0),
    ):
        found, out, err = run(*only, "--fail-if", text, "--json")
        assert found == code, err
        (condition,) = document(out)["conditions"]
        (verdict,) = condition["verdicts"]
        assert verdict["failed"] is bool(code)
        assert document(out)["passed"] is not bool(code)
    code, out, _ = run(*only, "--fail-if", "gap.lean@10 < 9", "--fail-if", "gap.lean@10 > 9")
    assert code == 1
    assert "FAIL  words: gap.lean@10 < 9 (gap.lean@10 " in out
    assert "ok    words: gap.lean@10 > 9" in out
    assert out.splitlines()[-1] == "FAILED: 1 of 2 checks met or undecided."


def test_what_is_missing_fails_closed(run, exported):
    mine = renamed(exported / "words.run", "mine")
    code, out, _ = run(
        "audit", "--dataset", "toy", "--run", str(mine), "--fail-if", "gap.lean@10 > 5"
    )
    assert code == 1
    assert "FAIL  mine: gap.lean@10 > 5 cannot be decided, which counts as met" in out
    assert "gap.lean@10 missing" in out


def test_all_stored_results_where_none_are_named(run):
    code, out, _ = run("audit", "--dataset", "toy")
    assert code == 0
    assert "by-hand" in out
    assert "words" in out
    assert out.splitlines()[-1] == "passed: no condition was given."


def test_a_report_says_it_all(run, exported, tmp_path):
    mine = renamed(exported / "by-hand.run", "mine")
    both = ("audit", "--dataset", "toy", "--run", str(mine), "--retriever", "words")
    fail = ("--fail-if", "gap.lean@10 < 9")
    for ending in ("html", "json", "csv"):
        path = tmp_path / f"audit.{ending}"
        assert run(*both, *fail, "--report", str(path))[0] == 1
    text = (tmp_path / "audit.html").read_text(encoding="utf-8")
    for words in ("Ten documents", "gap.lean@10 &lt; 9", "lean@10", "Every gap measured", "42"):
        assert words in text
    made = json.loads((tmp_path / "audit.json").read_text())
    assert made["sections"][0]["heading"] == "Conditions"
    every = next(s for s in made["sections"] if s["heading"] == "Every gap measured")
    _, out, _ = run(*both, "--json")
    assert [row["estimate"] for row in every["table"]] == [
        row["estimate"] for row in document(out)["gaps"]
    ]
    rows = pd.read_csv(tmp_path / "audit.csv", comment="#")
    assert len(rows) == len(every["table"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dataset", "toi"), "Unknown dataset 'toi'. Did you mean 'toy'?"),
        (("--dataset", "toy", "--retriever", "wordz"), "Did you mean 'words'?"),
        (("--dataset", "toy", "--fail-if", "gap.lean@10"), "needs one of <"),
        (("--dataset", "toy", "--fail-if", "gap.rr > 0"), "gap.rr cannot be had of 'toy'"),
        (("--dataset", "toy", "--run", "none.run"), "There is no file none.run"),
        (("--dataset", "toy", "--report", "a.pdf"), "ends in .html, .json, .csv"),
        (("--dataset", "toy", "--report", "no/such/a.html"), "There is no folder no/such"),
    ],
)
def test_what_cannot_be_audited(run, arguments, words):
    code, out, err = run("audit", *arguments)
    assert (code, out) == (2, "")
    assert words in one_line(err)


def test_two_results_of_one_name(run, exported):
    code, _, err = run(
        *("audit", "--dataset", "toy", "--retriever", "words"),
        *("--run", str(exported / "words.run")),
    )
    assert code == 2
    assert "Two results are called 'words', the second in words.run" in one_line(err)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query_id,doc_id\nc1/left,d01\n", "needs a rank or a score"),
        ("query_id,rank\nc1/left,1\n", "has no column for the document"),
        ("query_id,doc_id,rank\nc1/left,d01,x\n", "mine.csv, line 2: the rank 'x'"),
        ("query_id,doc_id,score\nc1/left,d01,inf\n", "line 2: the score 'inf'"),
        ("query_id,doc_id,score\nc1/left,,1\n", "line 2: doc_id is blank"),
    ],
)
def test_tables_that_are_no_run(run, tmp_path, text, words):
    (tmp_path / "mine.csv").write_text(text)
    code, _, err = run("audit", "--dataset", "toy", "--run", str(tmp_path / "mine.csv"))
    assert code == 2
    assert words in one_line(err)


def test_a_dataset_without_groups_has_nothing_to_audit(run, stored, tmp_path):
    (tmp_path / "documents.csv").write_text("id,text\nd1,a\n")
    (tmp_path / "queries.csv").write_text("id,text\nq1,a\n")
    assert run("import", "articles", str(tmp_path), "--name", "n", "--signal", "lean")[0] == 0
    code, _, err = run("audit", "--dataset", "n")
    assert code == 2
    assert "not of two groups" in one_line(err)
