"""The command line: exit codes, one JSON document, and never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, word_retriever

from biasret import __main__ as cli
from biasret.errors import NotInstalled
from biasret.precomputed import Folder, text_sha256
from biasret.retrievers import record_for
from biasret.retrievers.cache import DiskCache, GivenFirst
from biasret.store import DATABASE, Store, make_database

COMMANDS = ("build", "import", "search", "gaps", "doctor")


@pytest.fixture
def run(stored, monkeypatch, capsys):
    """Runs a command in this process on a copy of the small store."""
    monkeypatch.setenv("BIASRET_STORE", str(stored.folder.path))

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = cli.main(arguments)
        except SystemExit as exit_:  # argparse
            code = int(exit_.code or 0)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return command


def one_line(err: str) -> str:
    assert err.startswith("biasret: ")
    assert err.count("\n") == 1
    return err


def document(out: str) -> object:
    """The one JSON document there is, read by a reader that refuses NaN."""

    def refuse(name: str) -> None:
        pytest.fail(f"{name} in the document")

    assert out.endswith("\n")
    assert out.isascii()
    return json.loads(out, parse_constant=refuse)


# --- gaps --------------------------------------------------------------------------------------


def test_gaps_as_json_have_every_digit_that_is_stored(run, stored):
    # C37
    code, out, err = run("gaps", "--json")
    assert (code, err) == (0, "")
    found = document(out)
    expected = stored.folder.read("gaps", "toy")
    assert len(found) == len(expected) > 0
    key = ["retriever", "metric", "k", "filter"]
    by_key = {tuple(row[name] for name in key): row for row in found}
    for row in expected.astype("object").to_dict(orient="records"):
        row = {
            name: None if value is pd.NA or value != value else value for name, value in row.items()
        }
        assert by_key[tuple(row[name] for name in key)] == row
    numbers = [value for row in found for value in row.values() if isinstance(value, float)]
    assert any(len(repr(value)) > 17 for value in numbers), "no value shows what rounding does"
    assert all(isinstance(row["k"], int) or row["k"] is None for row in found)


def test_gaps_can_be_narrowed(run):
    code, out, _ = run(
        "gaps", "--dataset", "toy", "--metric", "lean", "--k", "10", "--filter", "raw", "--json"
    )
    assert code == 0
    assert [row["retriever"] for row in document(out)] == ["by-hand", "words"]


def test_gaps_in_words(run, stored):
    code, out, err = run("gaps", "--metric", "rr")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 2
    for line, (_, row) in zip(lines, stored.store.gaps(metric="rr").iterrows(), strict=True):
        assert "right minus left" in line
        assert f"{row['estimate']:+.4f}" in line
        assert "n 3" in line
        assert row["test"] in line
        assert "nan" not in line.lower()


def test_stars_stand_for_the_corrected_p():
    row = {
        "dataset": "d",
        "retriever": "bm25",
        "metric": "lean",
        "k": 10,
        "filter": "raw",
        "minuend": "right",
        "subtrahend": "left",
        "estimate": 0.05,
        "ci_low": 0.01,
        "ci_high": 0.09,
        "p_value": 0.02,
        "p_holm": 0.12,
        "test": "Wilcoxon",
        "n_pairs": 9,
        "note": None,
    }
    line = cli.numbers.gap_line(row)
    assert "p 0.02 (Wilcoxon; 0.12 after Holm)" in line
    assert "*" not in line
    assert "0.03* after Holm" in cli.numbers.gap_line({**row, "p_holm": 0.03})
    missing = {**row, "estimate": None, "note": "no pairs"}
    assert cli.numbers.gap_line(missing).endswith("no estimate: no pairs")
    bare = cli.numbers.gap_line({**row, "ci_low": None, "p_value": None})
    assert "no interval" in bare
    assert "no p (Wilcoxon)" in bare


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("gaps", "--metric", "leen"), "Unknown metric 'leen'. Did you mean 'lean'?"),
        (("gaps", "--filter", "rew"), "Unknown filter 'rew'. Did you mean 'raw'?"),
        (("gaps", "--filter", "judge:nobody"), "Unknown filter 'judge:nobody'."),
        (("gaps", "--dataset", "toi"), "Unknown dataset 'toi'. Did you mean 'toy'?"),
        (
            ("build", "--dataset", "demo_new"),
            "Unknown dataset 'demo_new'. Did you mean 'demo_news'?",
        ),
        (("build", "--retriever", "bm26"), "Unknown retriever 'bm26'. Did you mean 'bm25'?"),
        (
            ("search", "x", "--dataset", "toy", "--retriever", "bm26"),
            "Unknown retriever 'bm26'. Did you mean 'bm25'?",
        ),
        (
            ("search", "x", "--dataset", "toi", "--retriever", "bm25"),
            "Unknown dataset 'toi'. Did you mean 'toy'?",
        ),
        (("search", "", "--dataset", "toy", "--retriever", "bm25"), "The query is empty"),
        (("search", " \t", "--dataset", "toy", "--retriever", "bm25"), "The query is empty"),
        (
            ("search", "tax", "--dataset", "toy", "--retriever", "bm25", "-k", "0"),
            "k must be at least 1; found 0",
        ),
        (
            ("search", "tax", "--dataset", "toy", "--retriever", "bm25", "-k", "-3"),
            "k must be at least 1; found -3",
        ),
        (("import", "articles", "nowhere", "--name", "x"), "There is no file or folder nowhere"),
        (
            ("import", "articles", ".", "--name", "demo_mine"),
            "Names that begin with 'demo_' belong to the shipped datasets",
        ),
        (("import", "articles", ".", "--name", "toy"), "A dataset 'toy' is already there"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_wrong_input_is_exit_2_with_one_clear_line(run, arguments, expected):
    for more in ((), ("--json",)):
        code, out, err = run(*arguments, *more)
        assert code == 2
        assert out == ""
        assert expected in one_line(err)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("search",),
        ("search", "x", "--dataset", "toy", "--retriever", "bm25", "-k", "ten"),
        ("gaps", "--k", "1.5"),
        ("import", "nonsense", "x", "--name", "y"),
        ("build", "--nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage:" in err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run, name):
    code, out, err = run(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: python -m biasret {name}")
    assert "--json" in out
    assert name in run("--help")[1]


def test_the_version(run):
    assert run("--version")[1].startswith("biasret ")


def test_nothing_stored_for_a_choice_is_exit_1_either_way(run):
    code, out, _ = run("gaps", "--k", "7")
    assert code == 1
    assert "No gaps are stored" in out
    code, out, _ = run("gaps", "--k", "7", "--json")
    assert (code, document(out)) == (1, [])


# --- search ------------------------------------------------------------------------------------


def test_search_finds_by_words(run):
    code, out, err = run(
        "search", "border court", "--dataset", "toy", "--retriever", "bm25", "-k", "2"
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("  1  ")
    assert "D08 [right]  (d08)" in lines[0]


def test_search_as_json(run):
    code, out, _ = run(
        "search", "tax", "--dataset", "toy", "--retriever", "bm25", "--json", "-k", "99"
    )
    assert code == 0
    found = document(out)
    assert (found["dataset"], found["retriever"]) == ("toy", "bm25")
    rows = found["results"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert {row["doc_id"] for row in rows} == {"d01", "d02", "d03", "d10"}
    assert all(set(row) == {"rank", "doc_id", "score", "title", "stance"} for row in rows)
    assert next(row for row in rows if row["doc_id"] == "d10")["stance"] is None


@pytest.mark.parametrize("query", ["zzz", "🩺", "ما هو", "%", "'; DROP TABLE", "a\x00b", "\ud800"])
def test_a_query_that_matches_nothing_says_so(run, query):
    arguments = ("search", query, "--dataset", "toy", "--retriever", "bm25")
    assert run(*arguments)[:2] == (0, "No document matched.\n")
    code, out, _ = run(*arguments, "--json")
    assert (code, document(out)["results"]) == (0, [])


def test_a_search_by_an_approximate_index_shows_its_recall(run, monkeypatch, stored):
    records = {"words": word_retriever().record}
    monkeypatch.setattr("biasret.retrievers.record_for", lambda name, models=None: records[name])
    monkeypatch.setattr("biasret.probe.indexing.load", lambda name, models=None: word_retriever())
    arguments = ("search", "tax", "--dataset", "toy", "--retriever", "words", "-k", "3")
    _, exact, _ = run(*arguments, "--json")
    assert document(exact)["index"] == {"kind": "flat", "measured": None}
    for _ in range(2):  # made, then opened
        code, out, _ = run(*arguments, "--index", "hnsw", "--json")
        found = document(out)
        assert code == 0
        assert found["results"] == document(exact)["results"]
        assert found["index"]["kind"] == "hnsw"
        assert found["index"]["measured"]["recall"] == 1.0
        assert found["index"]["measured"]["n_queries"] == 9
    assert stored.folder.index_folder("toy", "words", "hnsw").is_dir()
    assert (
        "hnsw: recall@10 1.000 against flat (9 queries, 10 documents"
        in run(*arguments, "--index", "hnsw")[1]
    )


def test_what_cannot_be_indexed_so_is_said(run):
    code, out, err = run(
        "search", "tax", "--dataset", "toy", "--retriever", "bm25", "--index", "hnsw"
    )
    assert (code, out) == (2, "")
    assert "BM25 has no vectors to index; leave out --index." in one_line(err)


def test_a_dense_search_without_vectors_says_what_to_do(run):
    code, out, err = run("search", "tax", "--dataset", "toy", "--retriever", "minilm-l6")
    assert (code, out) == (1, "")
    assert "python -m biasret build --dataset toy --retriever minilm-l6" in one_line(err)


# --- doctor, and what is wrong with a store ----------------------------------------------------


def test_doctor_says_what_is_there(run):
    code, out, _ = run("doctor", "--json")
    found = document(out)
    assert code == (1 if found["problems"] else 0)
    assert found["datasets"]["toy"]["documents"] == 10
    assert found["datasets"]["toy"]["retrievers"] == ["by-hand", "words"]
    assert found["packages"]["duckdb"] not in ("", "missing")
    bm25, octen = (found["retrievers"][name] for name in ("bm25", "octen-embedding-8b"))
    assert (bm25["state"], bm25["is_ready"], bm25["licence"]) == ("ready", True, "MIT")
    assert "speed" not in bm25
    assert not octen["is_ready"]
    assert "hf download Octen/Octen-Embedding-8B" in octen["state"]
    _, out, _ = run("doctor")
    assert "toy: 10 documents, 9 queries; results of by-hand, words" in out
    assert "ranks    bm25: ready; MIT\n" in out
    assert "on this machine; fetch them with" in out
    # Nothing was written for the query "school" of the hand-scored retriever.
    assert "         by-hand: neutral 1 of 3 matched by nothing\n" in out
    assert "         words: documents 1 of 10 cut\n" in out


def test_doctor_times_what_is_ready(run, monkeypatch):
    monkeypatch.setattr("biasret.retrievers.load", lambda name, models=None: word_retriever())
    _, out, _ = run("doctor", "--speed", "--json")
    for one in document(out)["retrievers"].values():
        assert ("speed" in one) == (one["is_ready"] and one["is_offline"])
        if "speed" in one:
            assert one["speed"]["texts_per_second"] > 0
            assert one["speed"]["milliseconds"] > 0
    _, out, _ = run("doctor", "--speed")
    assert " texts/s, one question " in out


def test_doctor_goes_on_after_a_model_that_cannot_be_loaded(run, monkeypatch):
    def broken(name, models=None):
        raise NotInstalled(f"The weights of {name} are damaged.")

    monkeypatch.setattr("biasret.retrievers.load", broken)
    code, out, _ = run("doctor", "--speed", "--json")
    found = document(out)
    assert code == 1
    assert "bm25: The weights of bm25 are damaged." in found["problems"]
    assert found["datasets"]["toy"]["documents"] == 10


def test_doctor_on_an_empty_store_names_the_problem(run, monkeypatch, tmp_path):
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "new"))
    code, out, _ = run("doctor", "--json")
    assert code == 1
    assert "The store holds no dataset; run `python -m biasret build`." in document(out)["problems"]
    assert run("gaps")[0] == 1
    code, _, err = run("search", "x", "--dataset", "toy", "--retriever", "bm25")
    assert code == 2
    assert "Available: none" in one_line(err)


def test_a_folder_that_cannot_be_one_is_one_line(run, monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    monkeypatch.setenv("BIASRET_STORE", str(file))
    for arguments in (("build",), ("gaps",), ("import", "articles", str(tmp_path), "--name", "x")):
        code, out, err = run(*arguments)
        assert (code, out) in ((1, ""), (2, ""))
        one_line(err)


def test_a_damaged_file_is_one_line(run, stored):
    stored.folder.file("gaps", "toy").write_bytes(b"PAR1")
    code, out, err = run("gaps")
    assert (code, out) == (1, "")
    assert "could not be made" in one_line(err)


def test_a_locked_store_is_one_line(run, stored):
    with stored.folder.lock():
        code, out, err = run("build", "--dataset", "demo_health", "--retriever", "bm25")
    assert (code, out) == (1, "")
    assert "Another process is writing" in one_line(err)


def test_interrupting_is_one_line(run, monkeypatch):
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.numbers, "gaps", interrupted)
    code, out, err = run("gaps")
    assert (code, out) == (1, "")
    assert "what was finished is kept" in one_line(err)


# --- a whole session, in processes of its own ----------------------------------------------------

DOCUMENTS = """id,text,stance,story
d1,The tax plan helps families keep more money.,right,s1
d2,The tax plan hurts schools and nurses.,left,s1
d3,Lawmakers vote on the tax plan on Tuesday.,center,s1
d4,"Border crossings rise, officials say",center,s2
d5,Families wait at the border for a hearing.,left,s2
d6,Agents ask for a stronger border wall.,right,s2
"""
QUERIES = """id,text,group,cell
q1,Does the tax plan hurt schools?,left,c1
q2,Does the tax plan help families keep money?,right,c1
q3,Why must families wait at the border?,left,c2
q4,Why is there no stronger wall at the border?,right,c2
"""


def python(*arguments: str, store: Path, **environment: str) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [sys.executable, "-m", "biasret", *arguments],
        env={**os.environ, "BIASRET_STORE": str(store), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=PROJECT,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    return done


def files_of(folder: Path, documents: str = DOCUMENTS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "documents.csv").write_text(documents, encoding="utf-8")
    (folder / "queries.csv").write_text(QUERIES, encoding="utf-8")
    return folder


def test_import_build_search_gaps(tmp_path):
    # C16, C21: a name that is no file name.
    name, store = "données: 🩺/1", tmp_path / "store"
    data = files_of(tmp_path / "data")
    done = python("import", "articles", str(data), "--name", name, "--json", store=store)
    assert done.returncode == 0, done.stderr
    (brought,) = document(done.stdout)["imported"]
    assert (brought["dataset"], brought["documents"], brought["queries"]) == (name, 6, 4)
    assert any("lean" in note for note in brought["notes"])

    build = ("build", "--dataset", name, "--retriever", "bm25")
    done = python(*build, "--json", store=store)
    assert done.returncode == 0, done.stderr
    built = document(done.stdout)
    assert built["built"] == [{"dataset": name, "retrievers": ["bm25"], "changed": True}]
    assert built["store"] == str(store / DATABASE)
    assert (store / "MANIFEST.local.json").exists()
    assert not (store / "MANIFEST.json").exists()
    assert python(*build, store=store).stdout.splitlines()[0] == f"{name}: up to date"

    done = python(
        "search",
        "stronger border wall",
        "--dataset",
        name,
        "--retriever",
        "bm25",
        "-k",
        "1",
        store=store,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Agents ask for a stronger border wall. [right]  (d6)" in done.stdout

    done = python("gaps", "--dataset", name, "--k", "5", "--json", store=store)
    assert done.returncode == 0, done.stderr
    (row,) = document(done.stdout)
    # The measured lists are small enough to work out: every document that shares a word.
    measured = Folder(store).read("measurements", name, "bm25")
    values = measured[measured["k"] == 5].set_index("query_id")["value"]
    assert row["estimate"] == (values["q2"] - values["q1"] + values["q4"] - values["q3"]) / 2
    assert (row["n_pairs"], row["minuend"], row["subtrahend"]) == (2, "right", "left")

    # Replacing it takes the results of the old texts away at once.
    again = ("import", "articles", str(data), "--name", name)
    done = python(*again, store=store)
    assert done.returncode == 2
    assert "add --replace" in one_line(done.stderr)
    files_of(data, DOCUMENTS.replace("nurses", "teachers"))
    assert python(*again, "--replace", store=store).returncode == 0
    database = Store(make_database(Folder(store)))
    assert database.gaps(name).empty
    assert "teachers" in database.documents(name, ["d2"])["text"][0]
    database.close()


def test_a_bad_file_imports_nothing(tmp_path):
    store = tmp_path / "store"
    data = files_of(tmp_path / "data", DOCUMENTS.replace(",left,s1", ",lefty,s1"))
    done = python("import", "articles", str(data), "--name", "x", store=store)
    assert done.returncode == 2
    assert done.stdout == ""
    found = one_line(done.stderr)
    for part in ("documents.csv", "lefty", "left, center"):
        assert part in found
    assert not list(store.glob("*/*.parquet"))


@pytest.mark.parametrize(
    "vectors", ["bm25=x.npy", "minilm-l6", "nonsense=x.npy", "minilm-l6=x.npy"]
)
def test_vectors_that_cannot_be_used_import_nothing(run, stored, tmp_path, vectors):
    data = files_of(tmp_path / "data")
    code, out, err = run("import", "articles", str(data), "--name", "x", "--vectors", vectors)
    assert (code, out) == (2, "")
    one_line(err)
    assert stored.folder.datasets() == ["toy"]


def test_vectors_that_were_brought_stay_with_their_dataset(run, stored, tmp_path):
    data = files_of(tmp_path / "data")
    n = 6
    matrix = np.eye(n, 384, dtype=np.float32)
    np.save(tmp_path / "v.npy", matrix)
    brought = ("--vectors", f"minilm-l6={tmp_path / 'v.npy'}")
    arguments = ("import", "articles", str(data), "--name", "x", *brought)
    assert run(*arguments)[0] == 0
    assert not (stored.folder.path / "vectors").exists()
    record = record_for("minilm-l6")
    texts = stored.folder.read("documents", "x")["text"]
    keys = [text_sha256(text) for text in texts]
    own = DiskCache(stored.folder.given_vectors("x"), record)
    shared = DiskCache(stored.folder.path / "vectors", record)
    both = GivenFirst(own, shared)
    found = np.zeros((n, 384), dtype=np.float32)
    assert own.fill(keys, found).all()
    assert (found == matrix).all()
    computed = np.full((2, 384), 0.5, np.float32)
    both.put([keys[0], "other"], computed)
    found = np.zeros((3, 384), dtype=np.float32)
    assert both.fill([keys[0], "other", "none"], found).tolist() == [True, True, False]
    assert (found == [matrix[0], computed[1], np.zeros(384)]).all()
    other = GivenFirst(DiskCache(stored.folder.given_vectors("y"), record), shared)
    assert other.fill([keys[0]], found[:1]).all()
    assert (found[0] == computed[0]).all()
    before = own.content()
    assert "Nothing has changed." in run(*arguments, "--replace")[1]
    assert own.content() == before
    np.save(tmp_path / "v.npy", matrix[::-1])
    assert "Next: " in run(*arguments, "--replace")[1]
    assert own.content() != before
    stored.folder.remove("x")
    assert own.content() is None


def test_a_terminal_that_knows_no_unicode(tmp_path, stored):
    changed = stored.folder.read("documents", "toy").assign(title="Überschrift 🩺")
    stored.folder.write("documents", changed, dataset="toy")
    arguments = ("search", "tax", "--dataset", "toy", "--retriever", "bm25")
    done = python(*arguments, store=stored.folder.path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\xdcberschrift" in done.stdout
    done = python(*arguments, "--json", store=stored.folder.path, PYTHONIOENCODING="ascii")
    assert document(done.stdout)["results"][0]["title"] == "Überschrift 🩺"


def test_a_reader_that_goes_away(stored):
    command = f'"{sys.executable}" -m biasret gaps | head -n 1'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={**os.environ, "BIASRET_STORE": str(stored.folder.path)},
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=120,
    )
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.skipif(
    shutil.which("env") is None, reason="There is no `env` to empty the environment."
)
def test_an_empty_environment(stored):
    # C18
    done = subprocess.run(
        [
            "env",
            "-i",
            f"BIASRET_STORE={stored.folder.path}",
            sys.executable,
            "-m",
            "biasret",
            "gaps",
        ],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "toy" in done.stdout
