"""The catalogue of what can be imported, and how what a kind returns is put in place."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from conftest import TOY, toy_dataset

from biasret import __main__ as cli
from biasret import kinds
from biasret.build import save_dataset
from biasret.catalogue import Catalogue
from biasret.datasets.base import Given, Imported, Loaded
from biasret.errors import InputError
from biasret.kinds import KINDS, Kind, Option, Request
from biasret.precomputed import GIVEN, Folder


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_a_kind_says_what_it_is_and_takes_what_the_command_line_can_give(kind):
    assert re.fullmatch(r"[a-z][a-z-]*", kind.name)
    assert kind.about
    assert kind.path
    for option in kind.options:
        assert re.fullmatch(r"--[a-z][a-z-]*", option.flag)
        assert kinds.options()[option.flag] == option, "kinds that share a flag share its record"


def test_an_option_of_another_kind_is_refused():
    kind = Kind("sheet", "a", "b", lambda request: Imported(()), options=(kinds.ENCODING,))
    assert kind.given({"encoding": "latin-1", "signal": None, "column": []}) == {
        "encoding": "latin-1"
    }
    with pytest.raises(InputError, match="sheet takes no --signal; it takes --encoding"):
        kind.given({"signal": "lean"})


def ranks(retriever: str, values: list[int]) -> pd.DataFrame:
    queries = toy_dataset().queries["query_id"][: len(values)]
    return pd.DataFrame(
        {"dataset": "toy", "retriever": retriever, "query_id": queries, "rank": values}
    )


def put(folder: Folder, *, given: dict[str, list[int]], source: str = "made") -> None:
    """Import the ten documents with gold ranks of some retrievers."""
    with folder.staged() as stage:
        save_dataset(stage, toy_dataset(), inputs={"kind": source})
        for retriever, values in given.items():
            stage.write(
                "gold_ranks",
                ranks(retriever, values),
                dataset="toy",
                retriever=retriever,
                inputs={GIVEN: source},
            )


def test_what_is_staged_takes_its_place_together(tmp_path):
    folder = Folder(tmp_path)
    put(folder, given={"one": [1, 2]})
    assert folder.datasets() == ["toy"]
    assert folder.given("toy") == ["one"]
    assert not list(tmp_path.glob("**/*.part"))
    assert folder.read("gold_ranks", "toy", "one")["rank"].tolist() == [1, 2]


def stop_halfway(folder: Folder) -> None:
    with folder.staged() as stage:
        save_dataset(stage, toy_dataset(), inputs={"kind": "other"})
        assert stage.datasets() == ["toy"]
        raise KeyboardInterrupt


def test_an_import_that_is_stopped_leaves_what_was_there(tmp_path):
    folder = Folder(tmp_path)
    put(folder, given={"one": [1, 2]})
    before = folder.fingerprint()
    with pytest.raises(KeyboardInterrupt):
        stop_halfway(folder)
    assert folder.fingerprint() == before
    assert not list(tmp_path.glob("**/*.part"))


def test_the_same_again_keeps_files_and_results(tmp_path):
    folder = Folder(tmp_path)
    put(folder, given={"one": [1, 2]})
    folder.write("gold_ranks", ranks("mine", [3]), dataset="toy", retriever="mine", inputs={})
    before = folder.fingerprint()
    put(folder, given={"one": [1, 2]})
    assert folder.fingerprint() == before
    assert folder.given("toy") == ["one"]


@pytest.mark.parametrize("given", [{"one": [1, 9]}, {}, {"two": [1, 2]}], ids=str)
def test_another_import_takes_all_old_results_away(tmp_path, given):
    folder = Folder(tmp_path)
    put(folder, given={"one": [1, 2]})
    folder.write("gold_ranks", ranks("mine", [3]), dataset="toy", retriever="mine", inputs={})
    put(folder, given=given)
    assert folder.retrievers("gold_ranks", "toy") == sorted(given)


def test_results_added_by_another_source_survive_the_same_import(tmp_path):
    folder = Folder(tmp_path)
    put(folder, given={"one": [1, 2]})
    with folder.staged() as stage:
        stage.write(
            "gold_ranks",
            ranks("run", [4]),
            dataset="toy",
            retriever="run",
            inputs={GIVEN: "trec-run"},
        )
    put(folder, given={"one": [1, 2]})
    assert folder.given("toy") == ["one", "run"]


@pytest.fixture
def with_kinds(monkeypatch, tmp_path):
    """Two kinds made up for the test: one makes two datasets, the other adds to one."""
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "store"))

    def two(request: Request) -> Imported:
        assert request.options == {"loud": True}
        parts = []
        for ending in ("_a", "_b"):
            dataset = toy_dataset()
            record = dataset.record.__class__(**{**vars(TOY), "name": request.name + ending})
            tables = {
                name: getattr(dataset, name).assign(dataset=record.name)
                for name in ("documents", "queries", "qrels")
            }
            frame = ranks("one", [1, 2]).assign(dataset=record.name)
            parts.append(
                Loaded(
                    dataset.checked(record, **tables),
                    ["seen"],
                    {"rows without text": 3},
                    given=(Given("gold_ranks", frame, "one"),),
                )
            )
        return Imported(tuple(parts), notes=("all of it",))

    def added(request: Request) -> Imported:
        assert request.into is not None
        name = request.into.record.name
        frame = ranks("more", [5]).assign(dataset=name)
        return Imported(
            (Loaded(request.into, [], {}, given=(Given("gold_ranks", frame, "more"),)),)
        )

    made = [
        Kind(
            "two",
            "made up",
            "any",
            two,
            options=(Option("--loud", "noise", is_switch=True),),
            endings=("_a", "_b"),
        ),
        Kind("added", "made up", "any", added, adds_to=True),
    ]
    catalogue = Catalogue("kind of source", [*KINDS.values(), *made])
    monkeypatch.setattr(kinds, "KINDS", catalogue)
    monkeypatch.setattr(cli, "KINDS", catalogue)
    return Folder(tmp_path / "store")


def test_a_kind_may_hold_several_datasets_and_their_results(with_kinds, capsys):
    arguments = ["import", "two", "x", "--name", "n", "--loud", "--json"]
    assert cli.main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["dataset"] for one in document["imported"]] == ["n_a", "n_b"]
    assert document["imported"][0]["results"] == {"gold_ranks": 2}
    assert document["notes"] == ["all of it"]
    assert document["changed"] is True
    assert with_kinds.datasets() == ["n_a", "n_b"]
    assert with_kinds.given("n_b") == ["one"]

    assert cli.main(arguments) == 2
    assert "'n_a' is already there; add --replace" in capsys.readouterr().err
    assert cli.main([*arguments, "--replace"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] is False


def test_a_kind_may_add_results_to_a_dataset(with_kinds, capsys):
    assert cli.main(["import", "added", "x", "--name", "n_a"]) == 2
    assert "Unknown dataset 'n_a'" in capsys.readouterr().err
    assert cli.main(["import", "two", "x", "--name", "n", "--loud"]) == 0
    assert cli.main(["import", "added", "x", "--name", "n_a"]) == 0
    assert "n_a: " in capsys.readouterr().out
    assert with_kinds.given("n_a") == ["more", "one"]
    assert with_kinds.given("n_b") == ["one"]


def test_the_command_refuses_an_option_of_another_kind(with_kinds, capsys):
    assert cli.main(["import", "added", "x", "--name", "n", "--signal", "lean"]) == 2
    assert "Importing added takes no --signal" in capsys.readouterr().err
