"""Imported rankings are measured as they are: no model, and nothing deeper than what came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, TOY_SCORES, HandScored, toy_dataset

from biasret import audit, build, runs
from biasret.build import retrieving
from biasret.datasets.base import SIGNALS, Dataset, DatasetRecord
from biasret.precomputed import GIVEN, Folder

DEPTH = 2


@pytest.fixture(autouse=True)
def no_models(monkeypatch):
    def refuse(name: str, **_: object) -> None:
        raise AssertionError(f"{name} was loaded")

    monkeypatch.setattr(retrieving, "load", refuse)
    monkeypatch.setattr(audit, "PAPER", QUICK)


def ranked(dataset: Dataset, *, depth: int = 100) -> runs.Retrieved:
    retriever = HandScored(TOY_SCORES)
    retriever.index(dataset.documents)
    return runs.retrieve(
        retriever, dataset.queries, dataset.qrels, dataset=dataset.record.name, depth=depth
    )


def put(folder: Folder, dataset: Dataset, **tables: pd.DataFrame) -> None:
    """A dataset with results of a retriever nobody here knows."""
    name = dataset.record.name
    with folder.staged() as stage:
        build.save_dataset(stage, dataset, inputs={"kind": "made"})
        for table, frame in tables.items():
            stage.write(
                table,
                frame.assign(dataset=name, retriever="somebody's"),
                dataset=name,
                retriever="somebody's",
                inputs={GIVEN: "made"},
            )


def measured(folder: Folder, metric: str = "lean", rule: str = "raw") -> pd.DataFrame:
    frame = folder.read("measurements", "toy", "somebody's")
    return frame[(frame["metric"] == metric) & (frame["filter"] == rule)]


def lean_dataset() -> Dataset:
    dataset = toy_dataset()
    return replace(dataset, qrels=dataset.qrels.iloc[:0])


def dialect_dataset() -> Dataset:
    """The same wordings as if they signalled a dialect: right as WME, left as AAL."""
    dataset = toy_dataset()
    signal = SIGNALS["dialect"]
    words = {"right": "WME", "left": "AAL"}
    record = DatasetRecord(
        "toy", "toy", "made for tests", "dialect", True, True, signal.minuend, signal.subtrahend
    )
    queries = dataset.queries.assign(
        signal="dialect", group=dataset.queries["group"].map(words).fillna("other")
    )
    return replace(dataset, record=record, queries=queries)


def test_a_ranking_is_measured_to_its_depth_and_given_values_below(tmp_path):
    dataset, folder = lean_dataset(), Folder(tmp_path)
    found = ranked(dataset)
    shallow = found.runs[found.runs["rank"] <= 5].assign(doc_id="d10")
    # One list is five deep, so that lean@5 is known and lean@10 is not.
    one = dataset.queries["query_id"].iloc[0]
    deep = pd.DataFrame(
        {
            "query_id": one,
            "rank": range(1, 6),
            "doc_id": ["d01", "d02", "d04", "d05", "d07"],
            "score": 1.0,
        }
    )
    listed = pd.concat([deep, shallow[shallow["query_id"] != one]], ignore_index=True)
    below = pd.DataFrame({"query_id": [one, one], "metric": "lean", "k": [10, 20]})
    put(
        folder,
        dataset,
        runs=listed,
        gold_ranks=found.gold_ranks.assign(rank=None, class_rank=None),
        given_values=below.assign(value=[0.25, -0.5]),
    )
    assert build.build_dataset(folder, dataset, [])
    values = measured(folder)
    assert set(values["k"]) == {5, 10, 20}
    of_one = values[values["query_id"] == one].set_index("k")["value"].to_dict()
    assert of_one == {5: (1 + 1 - 1 - 1 - 1) / 5, 10: 0.25, 20: -0.5}
    # The story's rank below the list is not known, so nothing can be said about it there.
    assert set(measured(folder, rule="same-story")["k"]) <= {5}
    assert folder.read("gaps", "toy")["retriever"].unique().tolist() == ["somebody's"]


def test_story_ranks_that_came_with_it_filter_at_every_depth(tmp_path):
    dataset, folder = lean_dataset(), Folder(tmp_path)
    found = ranked(dataset)
    ids = dataset.queries["query_id"].tolist()
    lean = pd.DataFrame({"query_id": ids, "metric": "lean", "k": 20, "value": 0.5})
    ranks = pd.DataFrame({"query_id": ids, "metric": "story_rank"}).assign(
        value=[3.0, 20.0, 21.0, *([np.nan] * 6)]
    )
    top = found.runs[found.runs["rank"] <= DEPTH]
    put(
        folder,
        dataset,
        runs=top,
        gold_ranks=found.gold_ranks.assign(rank=None),
        given_values=pd.concat([lean, ranks]),
    )
    build.build_dataset(folder, dataset, [])
    kept = measured(folder, rule="same-story")
    assert kept["k"].tolist() == [20, 20]
    assert set(kept["query_id"]) == set(ids[:2])
    assert len(measured(folder)) == len(ids)


def test_gold_below_an_imported_ranking_counts_as_never_found(tmp_path):
    dataset, folder = dialect_dataset(), Folder(tmp_path)
    found = ranked(dataset)
    ranks = found.gold_ranks
    top = found.runs[found.runs["rank"] <= 1]
    known = ranks["rank"].where((ranks["rank"] <= 1).fillna(False))
    put(folder, dataset, runs=top, gold_ranks=ranks.assign(rank=known, class_rank=known))
    build.build_dataset(folder, dataset, [])
    values = measured(folder, "rr").set_index("query_id")["value"]
    expected = (1 / known.astype("float64")).fillna(0.0).set_axis(ranks["query_id"])
    assert values.to_dict() == expected.to_dict()
    assert set(expected) == {0.0, 1.0}, "the case holds lists with and without their gold"
    assert set(measured(folder, "recall")["k"]) == {1}


def test_ranks_without_a_ranking_are_of_the_full_ranking(tmp_path):
    dataset, folder = dialect_dataset(), Folder(tmp_path)
    ids = dataset.queries["query_id"].tolist()
    asked = pd.DataFrame({"query_id": ids[:4], "rank": [1, 4, 2500, None]})
    put(folder, dataset, gold_ranks=asked)
    build.build_dataset(folder, dataset, [])
    values = measured(folder, "rr")
    # No rank and no ranking: nothing is known. Queries that were not asked have no value.
    assert values.set_index("query_id")["value"].to_dict() == {
        ids[0]: 1.0,
        ids[1]: 0.25,
        ids[2]: 1 / 2500,
    }
    recall = measured(folder, "recall")
    assert recall[recall["query_id"] == ids[2]]["value"].sum() == 0
    assert set(recall["k"]) == {1, 5, 10, 20, 50, 100}


def test_imported_results_are_measured_again_but_never_made_again(tmp_path):
    dataset, folder = lean_dataset(), Folder(tmp_path)
    listed = pd.DataFrame(
        [
            {"query_id": query, "rank": rank, "doc_id": f"d0{rank}", "score": 1.0}
            for query in dataset.queries["query_id"]
            for rank in range(1, 6)
        ]
    )
    put(folder, dataset, runs=listed, gold_ranks=dataset.queries[["query_id"]])
    assert build.retrievers_of(folder, "toy") == ["somebody's"]
    assert build.build_dataset(folder, dataset, [])
    assert not build.build_dataset(folder, dataset, ["somebody's"])
    at = folder.file("runs", "toy", "somebody's").stat().st_mtime_ns
    judged = replace(dataset, qrels=toy_dataset().qrels)
    build.save_dataset(folder, judged, inputs={})
    assert build.build_dataset(folder, judged, [])
    assert folder.file("runs", "toy", "somebody's").stat().st_mtime_ns == at
    assert len(measured(folder, rule="judge:author"))
