"""TREC files in and out: nothing lost, nothing re-ordered, and the same numbers elsewhere."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, toy_dataset
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biasret.datasets import given_qrels, given_runs
from biasret.datasets.trec import qrels_text, read_qrels, read_run, run_text
from biasret.errors import FileError, InputError, TableError
from biasret.precomputed import Folder
from biasret.tables import check

#: Ids people have: URLs, numbers, that differ by case alone, with spaces of all kinds.
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda text: "\0" not in text
)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RANKINGS = st.dictionaries(
    IDS,
    st.lists(st.tuples(IDS, SCORES), min_size=1, max_size=5, unique_by=lambda pair: pair[0]),
    min_size=1,
    max_size=4,
)


def runs_of(rankings: dict[str, list[tuple[str, float]]], retriever: str = "r") -> pd.DataFrame:
    rows = [
        (query, rank, doc, score)
        for query, ranking in rankings.items()
        for rank, (doc, score) in enumerate(ranking, 1)
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "rank", "doc_id", "score"])
    return check(frame.assign(dataset="toy", retriever=retriever), "runs")


def read_back(text: str, reader=read_run, **settings: object) -> pd.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.run"
        path.write_bytes(text.encode())
        return reader(path, **settings)


@settings(max_examples=150, deadline=None)
@given(RANKINGS, IDS)
@example({"q%20 1": [("a b", 1.0), ("A B", 1.0), ("a%20b", 0.1 + 0.2)]}, "my run")
def test_an_escaped_run_reads_back_to_the_same_rows(rankings, tag):
    runs = runs_of(rankings, tag)
    text = run_text(runs, escape=True)
    lines = text.splitlines()
    assert len(lines) == len(runs)
    assert all(len(line.split()) == 6 for line in lines)
    back = read_back(text, escaped=True)
    wanted = runs.sort_values(["query_id", "rank"], kind="stable")
    for column in ("query_id", "doc_id", "rank", "score"):
        assert back[column].tolist() == wanted[column].tolist()
    assert set(back["tag"]) == {tag}


@settings(max_examples=100, deadline=None)
@given(RANKINGS)
def test_without_ties_every_tool_sees_strictly_falling_scores(rankings):
    # Best first, as a run is; within what a 32-bit float can hold.
    rankings = {
        query: sorted(
            ((doc, max(-1e30, min(1e30, score))) for doc, score in ranking),
            key=lambda pair: -pair[1],
        )
        for query, ranking in rankings.items()
    }
    back = read_back(run_text(runs_of(rankings), escape=True, break_ties=True), escaped=True)
    for query, ranking in rankings.items():
        rows = back[back["query_id"] == query]
        assert rows["doc_id"].tolist() == [doc for doc, _ in ranking]
        scores = rows["score"].to_numpy().astype(np.float32)
        assert (np.diff(scores) < 0).all()


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.tuples(IDS, IDS), st.integers(-9, 9), min_size=1, max_size=6))
def test_escaped_judgements_read_back(grades):
    rows = [(*pair, grade) for pair, grade in grades.items()]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"])
    back = read_back(qrels_text(qrels, escape=True), read_qrels, escaped=True)
    assert list(back[qrels.columns].itertuples(index=False, name=None)) == rows


def test_ids_are_written_as_they_are():
    url = "https://example.org/a%20b?c=%25"
    text = run_text(runs_of({"007": [(url, 0.1 + 0.2), ("NA", -1e-17)]}))
    assert text == f"007 Q0 {url} 1 0.30000000000000004 r\n007 Q0 NA 2 -1e-17 r\n"
    assert read_back(text)["doc_id"].tolist() == [url, "NA"]


@pytest.mark.parametrize("bad", ["a b", "a\tb", "a\u00a0b", "a\u2028b", "a\nb", "\x07", ""])
def test_ids_with_white_space_are_refused(bad):
    for run in (runs_of({bad: [("d", 1.0)]}), runs_of({"q": [(bad, 1.0)]})):
        with pytest.raises(InputError, match=r"holds white space.*--escape"):
            run_text(run)
    frame = pd.DataFrame({"query_id": ["q"], "doc_id": [bad], "grade": [1]})
    with pytest.raises(InputError, match="--escape"):
        qrels_text(frame)


GOOD = "c1/left Q0 d01 1 2.5 mine\nc1/left Q0 d02 2 1.5 mine\nc1/right\tQ0\td02\t1\t9\tmine\n"


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("c1/left Q0 d01 1 2.5\n", TableError, "line 1: found 5 columns where 6"),
        ("\nc1/left Q0 d 01 1 2.5 mine\n", TableError, "line 2: found 7 columns"),
        ("c1/left Q0 d01 one 2.5 mine\n", TableError, "line 1: the rank 'one'"),
        ("c1/left Q0 d01 1 nan mine\n", TableError, "line 1: the score 'nan' is not a finite"),
        ("c1/left Q0 d01 1 1e999 mine\n", TableError, "the score '1e999'"),
        ("c1/left Q0 d01 1 1_0 mine\n", TableError, "the score '1_0'"),
        ("", FileError, "is empty"),
        (GOOD + "c1/left Q0 d01 3 1 mine\n", TableError, "line 4: document 'd01' stands twice"),
        (GOOD + "c1/left Q0 D02 3 1 mine\n", TableError, "line 4: the run names 1 documents"),
        ("C1/LEFT Q0 d01 1 1 mine\n", InputError, "none of the queries of 'toy'"),
        (GOOD + "c1/left Q0 d03 3 1 other\n", InputError, "holds the runs 'mine', 'other'"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_a_run_that_cannot_be_used(tmp_path, text, kind, words):
    path = tmp_path / "a.run"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        given_runs.load(path, name="toy", into=toy_dataset())
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def test_a_run_becomes_tables(tmp_path):
    text = (
        "\ufeffc2/left Q0 d05 7 1.0 mine\r\n"
        "c1/left Q0 d02 2 1.5 mine\r\n"
        "\r\n"
        "c1/left Q0 d01 1 1.5 mine\r\n"
        "c1/left Q0 d03 3 9 mine\r\n"
        "other Q0 d03 3 9 mine\r\n"
    )
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(text.encode()))
    loaded = given_runs.load(path, name="toy", into=toy_dataset())
    tables = {given.table: given for given in loaded.given}
    assert {given.retriever for given in loaded.given} == {"mine"}
    runs = tables["runs"].frame
    rows = list(runs[["query_id", "rank", "doc_id"]].itertuples(index=False, name=None))
    # The score decides, then the file's rank; queries come in the dataset's order.
    assert rows == [
        ("c1/left", 1, "d03"),
        ("c1/left", 2, "d01"),
        ("c1/left", 3, "d02"),
        ("c2/left", 1, "d05"),
    ]
    gold = tables["gold_ranks"].frame.set_index("query_id")["rank"]
    assert len(gold) == 9
    assert gold["c1/left"] == 2
    assert gold.isna().sum() == 8
    said = " ".join(loaded.notes)
    assert "ranks 2 of 9 queries, to depth 3" in said
    assert "7 queries are not in it" in said
    assert "For 8 of 9 queries with a gold document" in said
    assert "3 rows stand at another rank" in said
    assert "a.run.gz, line 6, 'other'" in said
    assert loaded.left_out == {"rows of queries that the dataset does not hold": 1}


def test_order_of_lines_changes_nothing(tmp_path):
    lines = [f"c1/left Q0 d{i:02d} {i} {10 - i // 2} mine\n" for i in range(1, 9)]
    found = []
    for name, order in (("a", lines), ("b", lines[::-1])):
        path = tmp_path / name
        path.write_text("".join(order))
        found.append(given_runs.load(path, name="toy", into=toy_dataset()).given)
    for one, other in zip(*found, strict=True):
        pd.testing.assert_frame_equal(one.frame, other.frame)


def test_a_tag_can_be_chosen(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(GOOD + "c1/left Q0 d03 3 1 other\n")
    loaded = given_runs.load(path, name="toy", into=toy_dataset(), tag="other")
    assert len(loaded.given[0].frame) == 1
    with pytest.raises(InputError, match="holds no run 'third'"):
        given_runs.load(path, name="toy", into=toy_dataset(), tag="third")
    path.write_text(GOOD)
    loaded = given_runs.load(path, name="toy", into=toy_dataset(), tag="renamed")
    assert loaded.given[0].retriever == "renamed"


def test_ranks_from_0_are_no_fault(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("c1/left Q0 d01 0 2.5 mine\nc1/left Q0 d02 1 1.5 mine\n")
    loaded = given_runs.load(path, name="toy", into=toy_dataset())
    assert "another rank" not in " ".join(loaded.notes)


def test_judgements_stand_beside_those_there(tmp_path):
    path = tmp_path / "panel.txt"
    path.write_text(
        "c1/left 0 d02 1\nc1/left 0 d02 1\nc1/right 0 d02 0\nno 0 d02 1\nc1/left 0 d99 1\n"
    )
    run = runs_of({"c1/left": [("d02", 2.0), ("d01", 1.0)]}, "mine")
    loaded = given_qrels.load(path, name="toy", into=toy_dataset(), runs={"mine": run})
    qrels = loaded.dataset.qrels
    assert len(qrels) == 9 + 2
    assert qrels["judge"].value_counts().to_dict() == {"author": 9, "panel": 2}
    # The gold of a run that is there already moves with the judgements.
    (gold,) = (given.frame for given in loaded.given if given.table == "gold_ranks")
    assert gold.set_index("query_id").loc["c1/left", "rank"] == 1
    assert loaded.left_out == {
        "judgements that are given twice": 1,
        "queries that the dataset does not hold": 1,
        "documents that the dataset does not hold": 1,
    }
    assert any("panel.txt, line 2" in note for note in loaded.notes)
    again = given_qrels.load(path, name="toy", into=loaded.dataset)
    pd.testing.assert_frame_equal(again.dataset.qrels, qrels)
    path.write_text("c1/left 0 d02 0\n")
    with pytest.raises(InputError, match=r"2 other judgements by 'panel'.*--replace"):
        given_qrels.load(path, name="toy", into=loaded.dataset)
    replaced = given_qrels.load(path, name="toy", into=loaded.dataset, replace=True)
    assert (replaced.dataset.qrels["judge"] == "panel").sum() == 1
    other = given_qrels.load(path, name="toy", into=loaded.dataset, judge="other")
    assert (other.dataset.qrels["judge"] == "other").sum() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("c1/left 0 d02\n", "line 1: found 3 columns where 4"),
        ("c1/left 0 d02 1.5\n", "line 1: the grade '1.5'"),
        ("c1/left 0 d02 1\nc1/left 0 d02 2\n", "line 2: this pair was graded 1 at a.qrels, line 1"),
        ("no 0 d02 1\n", "judges nothing that 'toy' holds"),
    ],
)
def test_judgements_that_cannot_be_used(tmp_path, text, words):
    path = tmp_path / "a.qrels"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        given_qrels.load(path, name="toy", into=toy_dataset())


def test_no_percent_encoding_is_said(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("c1%FFleft Q0 d01 1 1 mine\n")
    with pytest.raises(TableError, match="line 1: 'c1%FFleft' is no percent-encoded text"):
        given_runs.load(path, name="toy", into=toy_dataset(), escaped=True)


def test_exported_files_give_the_same_numbers_in_ir_measures(tmp_path):
    """Runs of the shipped health questions, whose ids hold spaces and whose scores tie."""
    folder = Folder(PROJECT / "precomputed")
    runs = folder.read("runs", "demo_health", "bm25")
    qrels = folder.read("qrels", "demo_health")
    queries = folder.read("queries", "demo_health")
    assert (runs.groupby("query_id")["score"].diff() == 0).any(), "no tie shows what ties do"
    assert runs["query_id"].str.contains(" ").any()
    (tmp_path / "a.run").write_text(run_text(runs, escape=True, break_ties=True))
    (tmp_path / "a.qrels").write_text(qrels_text(qrels, escape=True))
    measures = [ir_measures.parse_measure(m) for m in ("RR", "R@1", "R@10", "R@100", "P@5")]
    found: dict[str, dict[str, float]] = {str(m): {} for m in measures}
    for one in ir_measures.iter_calc(
        measures,
        ir_measures.read_trec_qrels(str(tmp_path / "a.qrels")),
        ir_measures.read_trec_run(str(tmp_path / "a.run")),
    ):
        found[str(one.measure)][one.query_id.replace("%20", " ")] = one.value
    gold = given_runs.best_ranks(runs, queries, qrels, dataset="demo_health", retriever="bm25")
    ranks = gold.set_index("query_id")["rank"].dropna()
    assert len(ranks) > 500
    assert (qrels.groupby("query_id").size() == 1).all(), "recall is success@k only with one gold"
    for query in runs["query_id"].unique():
        rank = int(ranks.get(query, 10**9))
        assert found["RR"][query] == (1 / rank if rank <= 100 else 0)
        for k in (1, 10, 100):
            assert found[f"R@{k}"][query] == float(rank <= k)
        assert found["P@5"][query] == (0.2 if rank <= 5 else 0)
    stored = folder.read("gold_ranks", "demo_health", "bm25").set_index("query_id")["rank"]
    assert (stored[ranks.index] == ranks).all()


def test_a_ranking_without_scores_is_written_in_its_order():
    runs = pd.DataFrame(
        {"query_id": "q", "rank": [2, 1, 3], "doc_id": list("bac"), "retriever": "r"}
    ).assign(score=[0.5, None, None])
    written = [line.split() for line in run_text(runs).splitlines()]
    assert [(doc, float(score)) for _, _, doc, _, score, _ in written] == [
        ("a", -1),
        ("b", -2),
        ("c", -3),
    ]
