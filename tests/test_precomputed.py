"""Parquet at rest: nothing is lost, nothing is half there, and names survive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, WordEncoder, record_of, toy_dataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasret.build import read_dataset, retrieving, save_dataset
from biasret.datasets import demo
from biasret.errors import NothingStored, StoreError
from biasret.precomputed import Folder, Vectors, default_folder, text_sha256
from biasret.retrievers.cache import DiskCache
from biasret.retrievers.dense import Dense
from biasret.store import DATABASE, Store, make_database
from biasret.tables import TABLES, Column, Table, check

# --- every table survives ----------------------------------------------------------------

#: Any text but lone surrogates, which are not text; what broke others comes up often (C11).
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(
        [
            "",
            " ",
            "NA",
            "null",
            "007",
            "🤒👩🏾‍⚕️",
            "e\u0301",
            "漢字",
            "ما هو",
            "\u202eabc",
            "a\x00b",
            "'; DROP",
        ]
    ),
)
#: DuckDB hands out whole numbers that may be missing as float64.
WHOLE = st.integers(-(2**53), 2**53)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
KINDS = {
    "text": TEXTS,
    "texts": st.lists(TEXTS, max_size=3),
    "int": WHOLE,
    "float": NUMBERS,
    "bool": st.booleans(),
    "vector": st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2),
}


def values(column: Column) -> st.SearchStrategy:
    kind = KINDS[column.kind]
    return st.one_of(st.none(), kind) if column.optional else kind


def rows(table: Table) -> st.SearchStrategy:
    one = st.tuples(*(values(column) for column in table.columns))
    key = [table.names.index(name) for name in table.key]
    return st.lists(one, max_size=6, unique_by=lambda row: tuple(row[i] for i in key))


def framed(table: Table, found: list[tuple]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: pd.Series([row[i] for row in found], dtype="object")
            for i, name in enumerate(table.names)
        }
    )


def plain(frame: pd.DataFrame, table: Table) -> list[str]:
    """Rows as text, in one order: types, missing values and every digit count."""

    def value(cell: object, column: Column) -> object:
        if isinstance(cell, list | tuple | np.ndarray):
            return [float(v) if column.kind == "vector" else v for v in cell]
        if cell is None or cell is pd.NA or cell != cell:
            return None
        return {"int": int, "float": float, "bool": bool}.get(column.kind, str)(cell)

    return sorted(
        repr([value(cell, column) for cell, column in zip(row, table.columns, strict=True)])
        for row in frame.astype("object").itertuples(index=False, name=None)
    )


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({name: rows(table) for name, table in TABLES.items()}))
def test_every_table_survives_parquet_and_the_database(tmp_path_factory, drawn):
    folder = Folder(tmp_path_factory.mktemp("tables"))
    for name, found in drawn.items():
        table = TABLES[name]
        frame = framed(table, found)
        retriever = "r" if table.per_retriever else None
        folder.write(name, frame, dataset="d", retriever=retriever)
        expected = plain(check(frame, name), table)
        assert plain(folder.read(name, "d", retriever), table) == expected
    store = Store(make_database(folder))
    try:
        for name, found in drawn.items():
            table = TABLES[name]
            expected = plain(check(framed(table, found), name), table)
            assert plain(store._connection.frame(f"SELECT * FROM stored.{name}"), table) == expected
    finally:
        store.close()


def test_a_dataset_comes_back_as_it_was(tmp_path):
    folder, toy = Folder(tmp_path), toy_dataset()
    save_dataset(folder, toy, inputs={})
    found = read_dataset(folder, "toy")
    assert found.record == toy.record
    for table in ("documents", "queries", "qrels"):
        expected = getattr(toy, table)
        assert plain(getattr(found, table), TABLES[table]) == plain(expected, TABLES[table])


def test_vectors_come_back_to_the_bit(tmp_path):
    folder = Folder(tmp_path)
    rng = np.random.default_rng(0)
    documents = Vectors(
        ["b", "a", "ü🩺"],
        rng.normal(size=(3, 5)).astype(np.float32),
        ["1", "2", "3"],
        np.array([True, False, False]),
    )
    queries = Vectors(["q"], rng.normal(size=(1, 5)).astype(np.float32), ["4"], np.array([False]))
    folder.write_vectors({"document": documents, "query": queries}, dataset="d", retriever="r")
    store = Store(make_database(folder))
    for kind, expected in (("document", documents), ("query", queries)):
        found = folder.vectors("d", "r", kind)
        assert found.ids == expected.ids
        assert found.text_sha256 == expected.text_sha256
        assert found.matrix.dtype == np.float32
        assert (found.matrix == expected.matrix).all()
        assert (found.truncated == expected.truncated).all()
        order = np.argsort(expected.ids)
        ordered = store.vectors("d", "r", kind)
        assert ordered.ids == sorted(expected.ids)
        assert (ordered.matrix == expected.matrix[order]).all()
        assert (ordered.truncated == expected.truncated[order]).all()
    assert folder.vectors("d", "r", "other").ids == []
    with pytest.raises(NothingStored, match="no other vectors of 'd' by 'r'"):
        store.vectors("d", "r", "other")
    store.close()


# --- names -------------------------------------------------------------------------------

#: C16, C21, and whatever else a file system or the separator could stumble over.
ODD = [
    "a:b/c?",
    "données_🩺",
    "..",
    ".",
    "-",
    "--",
    "---",
    "a",
    "a-",
    "a--",
    "-a",
    "a--b",
    "a---b",
    "a b",
    " a ",
    "a%2Db",
    "a+b",
    "%",
    "*",
    "[x]",
    "A",
    "CON",
    "demo",
    "x.parquet",
    "🩺" * 60,
    "é" * 60,
    "🩺" * 59 + "é",
    "x" * 60,
]


def named(name: str) -> pd.DataFrame:
    return toy_dataset().record.frame().assign(dataset=name)


def ranks(name: str, retriever: str) -> pd.DataFrame:
    row = {"dataset": name, "retriever": retriever, "query_id": "q", "rank": 1}
    return pd.DataFrame([row])


def test_odd_names_are_kept_apart_and_come_back(tmp_path):
    folder = Folder(tmp_path / "store")
    for name in ODD:
        folder.write("datasets", named(name), dataset=name)
        for retriever in ("bm25", "-r", "r-", name):
            folder.write("gold_ranks", ranks(name, retriever), dataset=name, retriever=retriever)
    assert folder.datasets() == sorted(ODD)
    for name in ODD:
        assert folder.retrievers("gold_ranks", name) == sorted({"bm25", "-r", "r-", name})
        for retriever in ("bm25", "-r", "r-", name):
            found = folder.read("gold_ranks", name, retriever)
            assert found.loc[0, ["dataset", "retriever"]].tolist() == [name, retriever]
    inside = {path.parent for path in tmp_path.rglob("*.parquet")}
    assert inside == {folder.path / "datasets", folder.path / "gold_ranks"}
    store = Store(make_database(folder))
    assert sorted(store.datasets()["dataset"]) == sorted(ODD)
    assert store.retrievers("a-") == sorted({"bm25", "-r", "r-", "a-"})
    store.close()


def test_removing_a_dataset_leaves_its_namesakes(tmp_path):
    folder = Folder(tmp_path)
    for name in ODD:
        folder.write("datasets", named(name), dataset=name)
        folder.write("gold_ranks", ranks(name, "r"), dataset=name, retriever="r")
    left = list(ODD)
    for name in ("a", "--", "🩺" * 60, "a--b"):
        folder.remove(name)
        left.remove(name)
        assert folder.datasets() == sorted(left)
        assert folder.retrievers("gold_ranks", name) == []
        for other in left:
            assert folder.retrievers("gold_ranks", other) == ["r"], other
    folder.remove("never there")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), unique=True))
@settings(max_examples=200, deadline=None)
def test_two_names_never_share_a_file(names):
    folder = Folder(Path("nowhere"))
    files = [folder.file("runs", a, b) for a in names[:5] for b in [None, *names[:5]]]
    assert len(set(files)) == len(files)
    for file in files:
        assert file.parent == Path("nowhere/runs")
        assert len(os.fsencode(file.name)) < 230


# --- what a file was made from --------------------------------------------------------------


def test_a_file_is_current_for_exactly_its_inputs(tmp_path):
    folder = Folder(tmp_path)
    inputs = {"b": [1, 2], "a": {"x": None, "y": 1.5}, "t": (1, 2)}
    frame = ranks("d", "r")
    assert not folder.is_current("gold_ranks", "d", "r", inputs=inputs)
    folder.write("gold_ranks", frame, dataset="d", retriever="r", inputs=inputs)
    # Order of names does not matter, nor that JSON knows no tuples.
    assert folder.is_current(
        "gold_ranks", "d", "r", inputs={"t": [1, 2], "a": {"y": 1.5, "x": None}, "b": [1, 2]}
    )
    for changed in (
        {},
        {**inputs, "b": [2, 1]},
        {**inputs, "a": {"x": 0, "y": 1.5}},
        {**inputs, "more": 1},
    ):
        assert not folder.is_current("gold_ranks", "d", "r", inputs=changed)
    assert not folder.is_current("gold_ranks", "d", "r2", inputs=inputs)
    assert not folder.is_current("runs", "d", "r", inputs=inputs)


def test_content_is_of_values_and_not_of_when_or_how(tmp_path):
    one, two = Folder(tmp_path / "1"), Folder(tmp_path / "2")
    toy = toy_dataset()
    one.write("documents", toy.documents, dataset="toy", inputs={"x": 1})
    two.write("documents", toy.documents.iloc[:, ::-1], dataset="toy", inputs={"x": 2})
    assert one.content("documents", "toy") == two.content("documents", "toy")
    changed = toy.documents.copy()
    changed.loc[9, "title"] = changed.loc[9, "title"] + " "
    two.write("documents", changed, dataset="toy")
    assert one.content("documents", "toy") != two.content("documents", "toy")
    with pytest.raises(NothingStored, match="no runs of 'toy' by 'bm25'"):
        one.content("runs", "toy", "bm25")


def test_two_large_tables_with_one_differing_cell_differ(tmp_path):
    # C63: a fingerprint taken from a sample would not see it.
    folder = Folder(tmp_path)
    n = 60_000
    frame = pd.DataFrame(
        {"dataset": "d", "retriever": "r", "query_id": [f"q{i}" for i in range(n)], "rank": 1}
    )
    folder.write("gold_ranks", frame, dataset="d", retriever="r")
    first = folder.content("gold_ranks", "d", "r")
    for at in (1, 31_337, n - 2):
        other = frame.copy()
        other.loc[at, "rank"] = 2
        folder.write("gold_ranks", other, dataset="d", retriever="r")
        assert folder.content("gold_ranks", "d", "r") != first
    folder.write("gold_ranks", frame, dataset="d", retriever="r")
    assert folder.content("gold_ranks", "d", "r") == first


def test_a_text_is_hashed_by_its_bytes():
    assert text_sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert text_sha256("é") != text_sha256("e\u0301")
    assert len({text_sha256(t) for t in ("a", "a\ud800", "a\udfff", "a?", "A")}) == 5


def test_the_manifest_is_split_in_shipped_and_local(tmp_path):
    folder = Folder(tmp_path)
    folder.write("datasets", named("demo_x"), dataset="demo_x", inputs={"shipped": "1"})
    folder.write("datasets", named("mine"), dataset="mine", inputs={"path": "p"})
    folder.write("gold_ranks", ranks("mine", "r"), dataset="mine", retriever="r")
    folder.write_manifest(command="the command")
    shipped = json.loads((tmp_path / "MANIFEST.json").read_text(encoding="utf-8"))
    local = json.loads((tmp_path / "MANIFEST.local.json").read_text(encoding="utf-8"))
    assert shipped["command"] == "the command"
    assert set(shipped["files"]) == {"datasets/demo_x.parquet"}
    assert set(local["files"]) == {"datasets/mine.parquet", "gold_ranks/mine--r.parquet"}
    entry = shipped["files"]["datasets/demo_x.parquet"]
    assert entry["rows"] == 1
    assert entry["inputs"] == {"shipped": "1"}
    assert entry["content_sha256"] == folder.content("datasets", "demo_x")
    assert {"python", "biasret", "numpy", "pandas"} <= set(shipped["versions"])
    before = (tmp_path / "MANIFEST.json").read_bytes()
    folder.remove("mine")
    folder.write_manifest(command="the command")
    assert not (tmp_path / "MANIFEST.local.json").exists()
    assert (tmp_path / "MANIFEST.json").read_bytes() == before


def test_the_folder_is_the_one_the_environment_names(monkeypatch, tmp_path):
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "x"))
    assert default_folder() == Folder().path == tmp_path / "x"
    monkeypatch.setenv("BIASRET_STORE", "")
    assert default_folder() == PROJECT / "precomputed"


# --- one step or none ---------------------------------------------------------------------


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    path = folder.write("gold_ranks", ranks("d", "r"), dataset="d", retriever="r")
    before = path.read_bytes()

    def full(_data: object, where: Path, **_: object) -> None:
        where.write_bytes(b"PAR1 half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("biasret.precomputed.parquet.pq.write_table", full)
    with pytest.raises(OSError, match="No space"):
        folder.write("gold_ranks", ranks("d", "r").assign(rank=2), dataset="d", retriever="r")
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path):
    """A second process rewrites a file again and again while it is read here."""
    folder = Folder(tmp_path)
    folder.write("gold_ranks", ranks("d", "r"), dataset="d", retriever="r")
    code = (
        "import sys, pandas as pd\n"
        "from biasret.precomputed import Folder\n"
        "folder = Folder(sys.argv[1])\n"
        "for n in range(2, 150):\n"
        "    rows = [{'dataset': 'd', 'retriever': 'r', 'query_id': f'q{i}', 'rank': n}\n"
        "            for i in range(n)]\n"
        "    folder.write('gold_ranks', pd.DataFrame(rows), dataset='d', retriever='r')\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=PROJECT)
    seen = set()
    try:
        while writer.poll() is None:
            found = folder.read("gold_ranks", "d", "r")
            assert set(found["rank"]) == {len(found)}
            seen.add(len(found))
    finally:
        writer.kill()
        writer.wait()
    assert writer.returncode == 0
    assert len(seen) > 3


@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.98])
def test_a_cut_file_counts_as_missing(tmp_path, keep):
    folder = Folder(tmp_path)
    path = folder.write("gold_ranks", ranks("d", "r"), dataset="d", retriever="r", inputs={"a": 1})
    data = path.read_bytes()
    path.write_bytes(data[: keep if isinstance(keep, int) else int(len(data) * keep)])
    assert folder.footer(path) is None
    assert not folder.is_current("gold_ranks", "d", "r", inputs={"a": 1})
    with pytest.raises(StoreError, match=r"gold_ranks/d--r\.parquet cannot be read"):
        folder.read("gold_ranks", "d", "r")
    with pytest.raises(StoreError, match="could not be made"):
        make_database(folder)
    folder.write("gold_ranks", ranks("d", "r"), dataset="d", retriever="r", inputs={"a": 1})
    assert make_database(folder).exists()


def test_what_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(NothingStored, match=r"no file runs/d--r\.parquet; run `python -m"):
        Folder(tmp_path).read("runs", "d", "r")


def test_a_file_of_somebody_else_is_no_file_of_ours(tmp_path):
    path = Folder(tmp_path).file("runs", "d", "r")
    path.parent.mkdir()
    pd.DataFrame({"a": [1]}).to_parquet(path)
    assert Folder(tmp_path).footer(path) is None


# --- the lock -------------------------------------------------------------------------------

HOLD = (
    "import sys, time\n"
    "from biasret.precomputed import Folder\n"
    "with Folder(sys.argv[1]).lock():\n"
    "    print('held', flush=True)\n"
    "    time.sleep(120)\n"
)


def test_a_lock_held_by_another_process(tmp_path):
    folder = Folder(tmp_path / "new")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError) as caught, folder.lock():
            pytest.fail("two processes hold the lock")
        assert str(caught.value) == (
            f"Another process is writing to {folder.path}; wait until it has finished, or set "
            "BIASRET_STORE to another folder."
        )
    finally:
        # However a process ends, the kernel lets go of its lock.
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with folder.lock():
        pass


def test_taking_the_lock_clears_what_killed_processes_left(tmp_path):
    folder = Folder(tmp_path)
    path = folder.write("gold_ranks", ranks("d", "r"), dataset="d", retriever="r")
    left = path.with_name(f".{path.name}.123.part")
    left.write_bytes(b"half")
    young, old = tmp_path / f".{DATABASE}.1.2.part", tmp_path / f".{DATABASE}.3.4.part"
    model = tmp_path / "models" / ".distil-x.part"
    model.mkdir(parents=True)
    (model / "weights").write_bytes(b"half")
    for file in (young, old):
        file.write_bytes(b"half")
    yesterday = time.time() - 86_400
    os.utime(old, (yesterday, yesterday))
    os.utime(model, (yesterday, yesterday))
    with folder.lock():
        # A database is made without the lock as well: a young one may be in the making.
        assert young.exists()
        assert not left.exists()
        assert not old.exists()
        assert not model.exists()
    assert path.exists()


# --- killed ---------------------------------------------------------------------------------

#: Builds ``demo_health`` with a fake encoder, and kills itself at the moment named.
BUILD = """
import os, signal, sys, time
from pathlib import Path
import pyarrow.parquet as pq
sys.path.insert(0, "tests")
from conftest import QUICK, WordEncoder, record_of, AXES
from biasret import audit, build
from biasret.build import retrieving
from biasret.store import database, make_database
from biasret.datasets import demo
from biasret.precomputed import Folder
from biasret.retrievers.dense import Dense

folder, moment, log = Folder(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
audit.PAPER = QUICK

def now(name, path=None):
    if name != moment:
        return
    if path is not None:
        os.truncate(path, os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)

def kind(path):
    path = Path(path)
    whole = path.name.lstrip(".").split(".parquet")[0]
    return path.parent.name.split("-")[0] if "parquet" in path.name else whole.split(".")[0]

write, replace, fill = pq.write_table, Path.replace, database._fill

def counted_write(data, where, **options):
    write(data, where, **options)
    now(f"write {kind(where)}", where)

def counted_replace(self, target):
    now(f"before {kind(target)}")
    result = replace(self, target)
    now(f"after {kind(target)}")
    return result

def counted_fill(connection, table, files):
    fill(connection, table, files)
    now(f"fill {table.name}")

class Slow(WordEncoder):
    def encode(self, texts, *, prefix=""):
        with log.open("a") as lines:
            print("started", len(texts), file=lines)
        if moment == "encode":
            time.sleep(120)
        found = super().encode([f"{t} {AXES[len(t) % 4]}" for t in texts], prefix=prefix)
        with log.open("a") as lines:
            print("done", len(texts), file=lines)
        return found

pq.write_table, Path.replace, database._fill = counted_write, counted_replace, counted_fill
record = record_of("slow", dimension=4)
retrieving.load = lambda name, models=None: Dense(record, Slow)
with folder.lock():
    dataset = demo.load_health()
    build.save_dataset(folder, dataset, inputs={})
    build.build_dataset(folder, dataset, ["slow"])
    folder.write_manifest(command="test")
    make_database(folder)
print("finished")
"""

#: In the order in which a build passes them; each run goes on where the last was killed.
MOMENTS = [
    "write documents",
    "encode",
    "after slow",  # the vectors of the documents are kept, those of the queries are not
    "write embeddings",
    "after runs",  # the gold ranks of this run are missing
    "after levels",
    "before MANIFEST",
    "fill queries",
    "before biasret",
]


def run_build(path: Path, moment: str, log: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(path), moment, str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )


def test_a_build_killed_at_every_step_is_completed_by_the_next(tmp_path):
    folder, log = Folder(tmp_path / "killed"), tmp_path / "log"
    ranked = 0
    for moment in MOMENTS:
        if moment in ("fill queries", "before biasret"):
            # Made by the last turn of this loop and up to date, it would not be made again.
            (folder.path / DATABASE).unlink()
        process = run_build(folder.path, moment, log)
        if moment == "encode":
            while not log.exists() and process.poll() is None:
                time.sleep(0.02)
            process.kill()
        _, errors = process.communicate(timeout=120)
        assert process.returncode == -9, (moment, errors)
        # Whatever the moment, readers have a whole store.
        store = Store(make_database(folder))
        assert len(store.gaps()) in (0, 7)
        store.close()
        if moment == "after levels":
            ranked = folder.file("gold_ranks", "demo_health", "slow").stat().st_mtime_ns
    log_before = log.read_text()
    health = demo.load_health()
    n_documents, n_queries = len(health.documents), health.queries["text"].nunique()
    process = run_build(folder.path, "never", log)
    out, errors = process.communicate(timeout=120)
    assert out == "finished\n", errors
    # Documents were begun twice, because the first time was cut short; nothing else was.
    assert log.read_text() == log_before
    chunk = record_of("slow", dimension=4).chunk
    chunks = [min(chunk, n_queries - start) for start in range(0, n_queries, chunk)]
    assert log_before.splitlines() == [
        f"started {n_documents}",
        f"started {n_documents}",
        f"done {n_documents}",
        *[f"{what} {n}" for n in chunks for what in ("started", "done")],
    ]
    # The run was redone because its gold ranks were missing; they were then left alone.
    assert folder.file("gold_ranks", "demo_health", "slow").stat().st_mtime_ns == ranked
    assert not list(folder.path.glob("[!.]*/.*.part"))

    whole = Folder(tmp_path / "whole")
    _, errors = (process := run_build(whole.path, "never", tmp_path / "log2")).communicate()
    assert process.returncode == 0, errors
    for table in TABLES:
        contents = [
            {path.name: one.footer(path)["content_sha256"] for path in one.files(table)}
            for one in (folder, whole)
        ]
        assert contents[0] == contents[1], table
    store = Store(make_database(folder))
    assert len(store.gaps("demo_health", metric="rr")) == 1
    assert store.counts("demo_health")["queries"] == len(health.queries)
    store.close()


@pytest.mark.parametrize(
    "table",
    ["documents", "embeddings", "runs", "gold_ranks", "measurements", "levels", "gaps"],
)
def test_a_damaged_file_is_made_again_by_the_next_build(tmp_path, monkeypatch, table):
    from conftest import QUICK, word_retriever

    from biasret import audit, build

    monkeypatch.setattr(retrieving, "load", lambda name, models=None: word_retriever())
    monkeypatch.setattr(audit, "PAPER", QUICK)
    folder, toy = Folder(tmp_path), toy_dataset()
    save_dataset(folder, toy, inputs={})
    assert build.build_dataset(folder, toy, ["words"])
    assert not build.build_dataset(folder, toy, ["words"])
    retriever = "words" if TABLES[table].per_retriever else None
    path = folder.file(table, "toy", retriever)
    content = folder.content(table, "toy", retriever)
    path.write_bytes(path.read_bytes()[:-20])
    save_dataset(folder, toy, inputs={})
    build.build_dataset(folder, toy, ["words"])
    assert folder.content(table, "toy", retriever) == content
    store = Store(make_database(folder))
    assert len(store.gaps("toy")) > 0
    store.close()


def filled(cache, keys):
    """What a cache has among keys: the vectors by key."""
    out = np.full((len(keys), 2), -1.0, dtype=np.float32)
    there = cache.fill(keys, out)
    assert (out[~there] == -1).all(), "rows without a vector are left as they are"
    return {key: row.tolist() for key, row, has in zip(keys, out, there, strict=True) if has}


def test_a_cache_fills_rows_from_any_of_its_files(tmp_path):
    record = record_of("words", dimension=2)
    cache = DiskCache(tmp_path, record)
    cache.put(["a", "b"], np.array([[1, 0], [0, 1]]))
    cache.put(["c"], np.array([[0.5, 0.5]]))
    cache.put([], np.zeros((0, 2)))
    expected = {"c": [0.5, 0.5], "b": [0.0, 1.0]}
    assert filled(cache, ["c", "x", "b", "c"]) == expected
    assert filled(DiskCache(tmp_path, record), ["c", "x", "b"]) == expected
    assert filled(DiskCache(tmp_path / "none", record), ["a"]) == {}


@pytest.mark.parametrize("is_known", [False, True], ids=["before it was read", "after"])
def test_a_damaged_cache_of_vectors_is_worth_no_more_than_none(tmp_path, is_known):
    record = record_of("words", dimension=2)
    cache = DiskCache(tmp_path, record)
    cache.put(["a", "b"], np.array([[1, 0], [0, 1]]))
    (file,) = cache.folder.glob("*.parquet")
    assert set(filled(DiskCache(tmp_path, record), ["a", "b", "c"])) == {"a", "b"}
    reader = cache if is_known else DiskCache(tmp_path, record)
    file.write_bytes(file.read_bytes()[:-20])
    assert filled(reader, ["a", "b"]) == {}
    assert not file.exists()
    reader.put(["a"], np.array([[1, 0]]))
    assert filled(reader, ["a", "b"]) == {"a": [1.0, 0.0]}


def test_vectors_of_another_length_in_a_cache_are_passed_over(tmp_path):
    DiskCache(tmp_path, record_of("words", dimension=2)).put(["a"], np.array([[1, 0, 0]]))
    assert filled(DiskCache(tmp_path, record_of("words", dimension=2)), ["a"]) == {}


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(6)), st.lists(st.integers(0, 5), max_size=9))
def test_fitting_vectors_follow_the_ids_asked_for(order, asked):
    texts = [f"text {i}" for i in range(6)]
    vectors = Vectors(
        ids=[f"d{i}" for i in order],
        matrix=np.array([[i, 1] for i in order], dtype=np.float32),
        text_sha256=[text_sha256(texts[i]) for i in order],
        truncated=np.zeros(6, dtype=bool),
    )
    found = vectors.fitting([f"d{i}" for i in asked], [texts[i] for i in asked])
    assert found[:, 0].tolist() == asked if asked else found.shape == (0, 2)
    if asked:
        wrong = ["gone", *(f"d{i}" for i in asked[1:])]
        changed = ["another text", *(texts[i] for i in asked[1:])]
        with pytest.raises(StoreError, match=f"1 of {len(asked)} queries have no vector or have"):
            vectors.fitting(wrong, [texts[i] for i in asked], what="queries")
        with pytest.raises(StoreError, match=f"1 of {len(asked)} documents"):
            vectors.fitting([f"d{i}" for i in asked], changed)


def test_vectors_read_part_by_part_are_those_written(tmp_path, monkeypatch):
    monkeypatch.setattr("biasret.precomputed.vectors._AT_A_TIME", 3)
    rng = np.random.default_rng(1)
    written = {
        kind: Vectors(
            ids=[f"{kind}{i}" for i in range(n)],
            matrix=rng.normal(size=(n, 4)).astype(np.float32),
            text_sha256=[text_sha256(str(i)) for i in range(n)],
            truncated=rng.random(n) < 0.5,
        )
        for kind, n in (("document", 10), ("query", 4))
    }
    folder = Folder(tmp_path)
    folder.write_vectors(written, dataset="x", retriever="words")
    for kind, expected in written.items():
        found = folder.vectors("x", "words", kind)
        assert found.ids == expected.ids
        assert found.text_sha256 == expected.text_sha256
        assert (found.matrix == expected.matrix).all()
        assert (found.truncated == expected.truncated).all()
    assert folder.vectors("x", "words", "other").ids == []


def test_tokens_are_counted_in_parts():
    sizes = []

    class Counting(WordEncoder):
        def count_tokens(self, texts, *, prefix=""):
            sizes.append(len(texts))
            return super().count_tokens(texts, prefix=prefix)

    retriever = Dense(record_of("words", dimension=4, max_tokens=3), Counting)
    texts = ["tax " * (i % 6) for i in range(2_500)]
    assert retriever.count_tokens(texts).tolist() == [i % 6 for i in range(2_500)]
    assert sizes == [1_024, 1_024, 452]
