"""DuckDB over the files: threads, locks, hostile words, and replacement under way."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from conftest import PROJECT, TOY_DOCUMENTS, store_results, toy_dataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasret.build import save_dataset
from biasret.contrasts import paired
from biasret.errors import NothingStored, StoreError
from biasret.precomputed import Folder
from biasret.store import DATABASE, Store, make_database
from biasret.tables import TABLES, Column

# --- what is read ----------------------------------------------------------------------------


def test_it_holds_what_was_written(stored):
    store = stored.store
    assert store.datasets()["dataset"].tolist() == ["toy"]
    assert store.retrievers("toy") == ["by-hand", "words"]
    assert store.counts("toy") == {"documents": 10, "queries": 9, "cells": 3, "clusters": 3}
    assert store.documents("toy")["doc_id"].tolist() == [row[0] for row in TOY_DOCUMENTS]
    assert store.documents("toy", ["d09", "d01", "absent"])["doc_id"].tolist() == ["d01", "d09"]
    assert store.documents("toy", [])["doc_id"].tolist() == []
    assert store.queries("toy")["query_id"].is_monotonic_increasing
    assert store.cell("toy", "c1")["group"].tolist() == ["left", "neutral", "right"]
    assert store.gold("toy", ["c1/left", "c2/left"])["doc_id"].tolist() == ["d01", "d04"]
    assert store.run("toy", "by-hand", "c1/left")["doc_id"].tolist() == ["d01", "d10", "d02"]
    assert store.run("toy", "by-hand", "c1/left")["rank"].tolist() == [1, 2, 3]


def test_rows_are_chosen_by_column(stored):
    gaps = stored.store.gaps
    assert set(gaps()["metric"]) == {"lean", "rr", "recall"}
    found = gaps("toy", metric="lean", k=10, filter="raw")
    assert found["retriever"].tolist() == ["by-hand", "words"]
    # None is no condition.
    assert len(gaps("toy", metric="lean", k=None)) == 2 * 5 * 2
    assert gaps("toy", metric="rr")["k"].isna().all()
    assert len(gaps("other")) == 0
    levels = stored.store.levels("toy", metric="rr", retriever="words")
    assert levels["group"].tolist() == ["left", "neutral", "right"]
    one = stored.store.measurements("toy", retriever="words", metric="rr", query_id="c1/left")
    assert one["value"].tolist() == [1.0]
    with pytest.raises(AssertionError):
        gaps("toy", **{'k" = 1 OR "k': 1})


def test_what_was_cut_and_what_nothing_matched_is_counted_by_group(stored):
    folder = Folder(stored.folder.path.parent / "cut")
    toy = toy_dataset()
    longer = toy.queries["text"].where(toy.queries["query_id"] != "c1/right", "tax border tax law")
    store_results(folder, replace(toy, queries=toy.queries.assign(text=longer)))
    store = Store(make_database(folder))
    # The fake model reads three words; the hand-scored retriever knows no such question, and
    # nothing was written for "school".
    found = store.cut("toy")
    asked = found[found["kind"] == "query"].set_index("group")
    assert set(found["retriever"]) == {"words"}
    assert asked["n"].tolist() == [3] * 3
    assert asked["n_cut"].to_dict() == {"left": 0, "neutral": 0, "right": 1}
    found = store.unmatched("toy").set_index(["retriever", "group"])
    assert found["n"].tolist() == [3] * 6
    assert found["n_unmatched"].to_dict() == {
        **dict.fromkeys(found.index, 0),
        ("by-hand", "right"): 1,
        ("by-hand", "neutral"): 1,
    }
    assert store.cut("another").empty
    assert store.unmatched("another").empty
    store.close()


def test_nothing_is_found_of_what_is_not_there(stored):
    store = stored.store
    assert store.counts("other") == {"documents": 0, "queries": 0, "cells": 0, "clusters": 0}
    for frame in (store.documents("other"), store.queries("other"), store.cell("toy", "c9")):
        assert frame.empty
        assert "dataset" in frame.columns
    assert store.retrievers("other") == []
    with pytest.raises(NothingStored, match="run `python -m biasret build --dataset toy"):
        store.vectors("toy", "by-hand", "document")


@pytest.mark.parametrize("retriever", ["words", "by-hand"])
@pytest.mark.parametrize(("metric", "k"), [("lean", 10), ("lean", 5), ("rr", None), ("recall", 1)])
def test_stored_differences_are_those_of_the_contrast(stored, retriever, metric, k):
    groups = {"minuend": "right", "subtrahend": "left"}
    found = stored.store.differences("toy", retriever, metric=metric, k=k, **groups)
    measured = stored.folder.read("measurements", "toy", retriever)
    at = measured["k"].isna() if k is None else measured["k"] == k
    part = measured[(measured["metric"] == metric) & at & (measured["filter"] == "raw")]
    expected = paired(part, stored.store.queries("toy"), **groups).cells["difference"]
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-15)
    assert len(found) == 3


def test_stored_overlaps_by_hand(stored):
    groups = {"minuend": "right", "subtrahend": "left"}
    # c1: d01 d10 d02 and d02 d05 d08 d01; c2: d04 d07 d05 and d04 d05; c3: d07 d08 and d05 d02.
    found = stored.store.overlaps("toy", "by-hand", k=10, **groups)
    assert found.tolist() == [2 / 4, 2 / 3, 0.0]
    assert stored.store.overlaps("toy", "by-hand", k=1, **groups).tolist() == [0.0, 1.0, 0.0]
    assert stored.store.overlaps("toy", "nobody", k=1, **groups).tolist() == []


# --- hostile words ---------------------------------------------------------------------------

HOSTILE = [
    "%",
    "_",
    "'",
    '"',
    "'; DROP TABLE queries; --",
    "' OR 1=1 --",
    "$1",
    "?",
    "\\",
    "a\x00b",
    "\ud800",
    "x\udfffy",
    "🩺",
    "\u202e",
    "*",
    "x" * 100_000,
]


@pytest.mark.parametrize("words", HOSTILE, ids=ascii)
def test_words_are_looked_for_as_typed(stored, words):
    store = stored.store
    assert store.find_cells("toy", words, limit=10).empty
    assert store.find_text("toy", words) is None
    for found in (
        store.cell("toy", words),
        store.queries(words),
        store.run(words, words, words),
        store.gaps(words),
        store.gaps("toy", retriever=words),
    ):
        assert found.empty
    assert len(store.queries("toy")) == 9


def test_a_question_mark_in_a_stored_text_is_no_stand_in_for_a_surrogate(tmp_path):
    folder, toy = Folder(tmp_path), toy_dataset()
    queries = toy.queries.copy()
    queries.loc[queries["cell_id"] == "c1", "text"] = ["why?", "100% of it", "Ärger_über 'İ'"]
    save_dataset(folder, type(toy)(toy.record, toy.documents, queries, toy.qrels), inputs={})
    store = Store(make_database(folder))
    assert store.find_text("toy", "why?") == "c1"
    assert store.find_text("toy", "why\ud800") is None
    assert store.find_text("toy", "Why?") is None
    for words in ("WHY?", "%", "100%  of", "ärger_ÜBER", "'i", "'İ'", "İ"):
        assert store.find_cells("toy", words, limit=9)["cell_id"].tolist() == ["c1"], words
    for words in ("why\ud800", "why? zebra", "1_0"):
        assert store.find_cells("toy", words, limit=9).empty
    store.close()


def test_cells_hold_every_word_in_one_wording_shortest_first(stored):
    find = stored.store.find_cells
    # "school" and "border" stand together in c2/right alone; "tax border" is another cell.
    assert find("toy", "border school", limit=9)["cell_id"].tolist() == ["c2"]
    # First wordings: c3 "court" (5), c1 "tax school" (10), c2 "school court" (12).
    everything = find("toy", "", limit=9)
    assert everything["cell_id"].tolist() == ["c3", "c1", "c2"]
    assert everything["text"].tolist() == ["court", "tax school", "school court"]
    assert everything["wordings"].tolist() == [3, 3, 3]
    assert find("toy", " \t\n ", limit=2)["cell_id"].tolist() == ["c3", "c1"]
    assert find("toy", "tax court", limit=9).empty
    assert find("toy", "tax", limit=0).empty


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    folder = Folder(tmp_path_factory.mktemp("shared"))
    save_dataset(folder, toy_dataset(), inputs={})
    store = Store(make_database(folder))
    yield store
    store.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=st.text())
def test_no_words_break_the_search(shared_store, words):
    found = shared_store.find_cells("toy", words, limit=5)
    assert set(found["cell_id"]) <= {"c1", "c2", "c3"}
    if words.split():
        assert found.empty or all(
            word.lower() in " ".join(row[3] for row in TOY_DOCUMENTS) for word in words.split()
        )
    shared_store.find_text("toy", words)


# --- threads -----------------------------------------------------------------------------------


def test_twelve_threads_of_three_hundred_reads_each_are_all_right(stored):
    # P1, C75: one connection shared by threads gave wrong rows without an error.
    store = stored.store
    texts = {row[0]: row[3] for row in TOY_DOCUMENTS}
    ids = list(texts)
    start = threading.Barrier(12)

    def read(worker: int) -> int:
        start.wait()
        right = 0
        for i in range(300):
            doc_id = ids[(worker * 7 + i) % len(ids)]
            found = store.documents("toy", [doc_id])
            right += found["doc_id"].tolist() == [doc_id] and found["text"][0] == texts[doc_id]
        return right

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(read, range(12))) == [300] * 12


# --- what a reader may not do ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/never'",
        "ATTACH '/tmp/never.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET threads = 1",
        "DELETE FROM stored.queries",
        "CREATE TABLE stored.x (a INT)",
        "DROP TABLE stored.queries",
    ],
)
def test_readers_reach_no_files_and_change_nothing(stored, sql):
    with pytest.raises(StoreError, match="The store could not answer"):
        stored.store._connection.frame(sql)
    assert len(stored.store.queries("toy")) == 9
    assert not Path("/tmp/never").exists()


def test_a_closed_store_says_so_in_our_own_error(stored):
    store = Store(stored.path)
    store.close()
    with pytest.raises(StoreError):
        store.datasets()
    with pytest.raises(StoreError):
        store.vectors("toy", "words", "document")


# --- made, replaced, damaged, held ---------------------------------------------------------


def test_it_is_made_once_and_again_when_a_file_changes(stored):
    before = stored.path.stat()
    assert make_database(stored.folder) == stored.path
    assert stored.path.stat().st_mtime_ns == before.st_mtime_ns
    assert make_database(stored.folder, force=True).stat().st_ino != before.st_ino
    before = stored.path.stat()
    stored.folder.file("gaps", "toy").unlink()
    assert make_database(stored.folder).stat().st_ino != before.st_ino
    store = Store(stored.path)
    assert store.gaps().empty
    store.close()


def test_it_is_made_again_when_the_tables_are_others(stored, monkeypatch):
    # A newer version asks for columns that the database of an older one does not have.
    before = stored.path.stat().st_ino
    gold = TABLES["gold_ranks"]
    wider = replace(gold, columns=(*gold.columns, Column("extra", "int", optional=True)))
    monkeypatch.setitem(TABLES._records, "gold_ranks", wider)
    path = make_database(stored.folder)
    assert path.stat().st_ino != before
    store = Store(path)
    assert store.rows("gold_ranks", "toy")["extra"].isna().all()
    store.close()


def test_an_open_store_goes_on_while_a_new_one_sees_the_new_data(stored):
    toy = toy_dataset()
    changed = toy.documents.assign(text=toy.documents["text"] + " changed")
    stored.folder.write("documents", changed, dataset="toy")
    make_database(stored.folder)
    for _ in range(3):
        assert stored.store.documents("toy", ["d03"])["text"].tolist() == ["tax"]
    new = Store(stored.path)
    assert new.documents("toy", ["d03"])["text"].tolist() == ["tax changed"]
    assert stored.store.documents("toy", ["d03"])["text"].tolist() == ["tax"]
    new.close()


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, 0.5, 0.95])
def test_a_database_cut_short_is_made_again(stored, keep):
    stored.store.close()
    data = stored.path.read_bytes()
    stored.path.write_bytes(data[: keep if isinstance(keep, int) else int(len(data) * keep)])
    store = Store(make_database(stored.folder))
    assert len(store.queries("toy")) == 9
    assert len(store.gaps("toy")) > 0
    store.close()


def test_what_is_no_database_is_made_again_or_refused(stored):
    stored.store.close()
    stored.path.write_bytes(b"not a database " * 1000)
    with pytest.raises(StoreError, match=r"cannot be opened .*run `python -m biasret build`"):
        Store(stored.path)
    store = Store(make_database(stored.folder))
    assert len(store.queries("toy")) == 9
    store.close()


def test_a_missing_database_is_said_to_be_missing(tmp_path):
    with pytest.raises(StoreError, match="There is no store at"):
        Store(tmp_path / DATABASE)


def test_a_folder_with_nothing_in_it_is_an_empty_store(tmp_path):
    # C23
    store = Store(make_database(Folder(tmp_path / "new")))
    assert store.datasets().empty
    assert store.gaps().empty
    assert store.levels().empty
    assert store.queries("toy").empty
    assert store.find_cells("toy", "tax", limit=5).empty
    assert store.find_text("toy", "tax") is None
    store.close()


def test_making_fails_as_a_whole(stored):
    path = stored.folder.file("runs", "toy", "words")
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(StoreError, match=r"could not be made from .*build --force") as caught:
        make_database(stored.folder)
    assert "\n" not in str(caught.value)
    assert "toy--words.parquet" in str(caught.value)
    assert sorted(p.name for p in stored.folder.path.iterdir() if p.is_file()) == [DATABASE]
    assert len(stored.store.queries("toy")) == 9


def test_an_apostrophe_in_the_path_is_no_matter(tmp_path):
    folder = Folder(tmp_path / 'it\'s a "store"; é')
    save_dataset(folder, toy_dataset(), inputs={})
    store = Store(make_database(folder))
    assert len(store.queries("toy")) == 9
    store.close()


WRITER = (
    "import duckdb, sys, time\n"
    "connection = duckdb.connect(sys.argv[1])\n"
    "print('held', flush=True)\n"
    "time.sleep(120)\n"
)


def test_a_database_held_by_a_writer_is_being_rebuilt(stored):
    # C76
    stored.store.close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(stored.path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    try:
        assert writer.stdout.readline() == "held\n"
        with pytest.raises(StoreError) as caught:
            Store(stored.path)
        assert str(caught.value) == (
            "The store is being rebuilt by another process; try again in a moment."
        )
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    store = Store(stored.path)
    assert len(store.queries("toy")) == 9
    store.close()


def test_several_processes_read_at_once(stored):
    code = (
        "import sys\nfrom pathlib import Path\nfrom biasret.store import Store\n"
        "print(len(Store(Path(sys.argv[1])).queries('toy')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(stored.path)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=60,
    )
    assert (done.stdout, done.returncode) == ("9\n", 0), done.stderr


def test_two_makers_at_once_leave_one_whole_database(stored):
    stored.store.close()
    start = threading.Barrier(4)

    def make(_: int) -> Path:
        start.wait()
        return make_database(stored.folder, force=True)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(make, range(4))) == {stored.path}
    store = Store(stored.path)
    assert len(store.queries("toy")) == 9
    store.close()
    assert not list(stored.folder.path.glob(".*.part*"))


def test_rows_that_got_lost_on_the_way_are_noticed(stored, monkeypatch):
    real = duckdb.connect

    class Lossy:
        """A connection whose database forgets the qrels."""

        def __init__(self, *arguments: object, **options: object) -> None:
            self._connection = real(*arguments, **options)

        def execute(self, sql: str, *values: object) -> object:
            if sql.startswith("INSERT INTO qrels"):
                return None
            return self._connection.execute(sql, *values)

        def __getattr__(self, name: str) -> object:
            return getattr(self._connection, name)

    monkeypatch.setattr("biasret.store.database.duckdb.connect", Lossy)
    with pytest.raises(StoreError, match="Table qrels has 0 rows where its files hold 9"):
        make_database(stored.folder, force=True)


def test_frames_from_the_store_pass_as_tables(stored):
    from biasret.tables import check

    for name, frame in (
        ("queries", stored.store.queries("toy")),
        ("documents", stored.store.documents("toy")),
        ("gaps", stored.store.gaps("toy")),
        ("levels", stored.store.levels("toy")),
    ):
        assert len(check(frame, name)) == len(frame) > 0
    assert isinstance(stored.store.gaps("toy"), pd.DataFrame)
