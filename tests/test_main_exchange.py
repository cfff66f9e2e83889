"""The commands around exchange: import of each kind, export and back, score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import toy_dataset
from test_datasets_beir import GROUPS, folder_of
from test_datasets_sources import STORIES, articles, hcm_json, model_of, page, qbias_csv
from test_main import document, one_line, run

from biasret.build import save_dataset
from biasret.datasets import SHIPPED, qbias
from biasret.precomputed import GIVEN

__all__ = ["run"]  # the fixture


@pytest.fixture
def sources(tmp_path):
    """One small source of each kind: the arguments that import it."""
    pages = tmp_path / "medquad" / "1_A_QA"
    pages.mkdir(parents=True)
    (pages / "1.xml").write_text(page([("1-1", "What is flu?", "An infection.")]))
    columns = [part for group in GROUPS for part in ("--column", group)]
    return {
        "qbias": [str(qbias_csv(tmp_path / "q.csv", STORIES)), "--balanced", "--seed", "0"],
        "article-bias": [str(articles(tmp_path / "jsons")), "--queries", "2"],
        "healthcaremagic": [str(hcm_json(tmp_path / "h.json")), "--queries", "3"],
        "medquad": [str(tmp_path / "medquad")],
        "beir": [str(folder_of(tmp_path / "beir")), *columns],
    }


@pytest.mark.parametrize("kind", ["qbias", "article-bias", "healthcaremagic", "medquad", "beir"])
def test_each_kind_comes_in_whole_and_only_once(run, stored, sources, kind):
    arguments = ("import", kind, *sources[kind], "--name", "new", "--json")
    code, out, err = run(*arguments)
    assert code == 0, err
    (told,) = document(out)["imported"]
    assert told["documents"] > 0
    assert told["queries"] > 0
    record = stored.folder.read("datasets", "new").iloc[0]
    assert isinstance(record["label"], str)
    if kind != "beir":
        assert isinstance(record["licence"], str)
        assert isinstance(record["source"], str)
    before = stored.folder.fingerprint()
    code, _, err = run(*arguments)
    assert code == 2
    assert "'new' is already there; add --replace" in one_line(err)
    code, out, _ = run(*arguments, "--replace")
    assert code == 0
    assert document(out)["changed"] is False
    assert stored.folder.fingerprint() == before


def test_a_seed_of_0_is_a_seed(run, stored, sources):
    names = {}
    for seed in ("0", "42", "7"):
        code, _, _ = run(
            "import", "qbias", *sources["qbias"][:2], "--seed", seed, "--name", f"s{seed}"
        )
        assert code == 0
        names[seed] = tuple(stored.folder.read("documents", f"s{seed}")["doc_id"])
    path = Path(sources["qbias"][0])
    for seed, found in names.items():
        wanted = qbias.load(path, name="x", balanced=True, seed=int(seed))
        assert found == tuple(wanted.dataset.documents["doc_id"])


def test_names_are_asked_for_where_they_are_needed(run, tmp_path, sources):
    code, _, err = run("import", "medquad", *sources["medquad"])
    assert code == 2
    assert "Importing medquad needs --name" in one_line(err)
    model = model_of(tmp_path / "m", "1\t2\t3\t4\n", "1\ta\n")
    code, _, err = run("import", "twitteraae", str(model), "--name", "x")
    assert code == 2
    assert "Importing twitteraae takes no name" in one_line(err)


def test_the_table_is_kept_by_the_store_and_used(run, stored, tmp_path):
    code, out, _ = run("score", "finna go", "--json")
    assert code == 0
    assert document(out)["share"] is None
    words = "9\tfinna\n9\tgo\n9\tthe\n"
    model = model_of(tmp_path / "m", "90\t1\t1\t1\n5\t5\t5\t5\n10\t90\t90\t90\n", words)
    datasets = stored.folder.datasets()
    code, out, err = run("import", "twitteraae", str(model), "--json")
    assert code == 0, err
    assert document(out) == {
        "imported": [],
        "notes": ["The table holds 3 words; `score` and --dialect-labels use it from now on."],
        "changed": True,
    }
    assert stored.folder.datasets() == datasets
    code, out, _ = run("import", "twitteraae", str(model))
    assert "Nothing has changed." in out
    code, out, _ = run("score", "finna go", "--json")
    share = document(out)["share"]
    assert list(share["shares"]) == ["african_american", "hispanic", "asian", "white"]
    assert share["shares"]["african_american"] > 0.5
    code, out, _ = run("score", "He don't have no fever.")
    assert "'no'  negative concord" in out
    assert "clause" in out
    assert "It rates a text, not a person" in out
    assert "Only 0" not in out


def test_a_text_without_features_is_scored_too(run):
    code, out, _ = run("score", "\u202e<b>$x$ 1")
    assert code == 0
    assert "AAL features recognised: 0" in out


def test_results_leave_and_come_back(run, stored, tmp_path):
    to = tmp_path / "out"
    code, out, err = run("export", "--dataset", "toy", "--to", str(to), "--json")
    assert code == 0, err
    assert document(out)["files"] == {"by-hand.run": 19, "words.run": 81, "author.qrels": 9}
    assert sorted(path.name for path in to.iterdir()) == [
        "author.qrels",
        "by-hand.run",
        "words.run",
    ]
    assert any("by-hand" in note and "tie" in note for note in document(out)["notes"])
    code, _, err = run("import", "trec-run", str(to / "by-hand.run"), "--name", "toy")
    assert code == 2
    assert "'by-hand' has been computed on 'toy' here" in one_line(err)
    name = ("--name", "toy", "--tag", "again")
    code, out, err = run("import", "trec-run", str(to / "by-hand.run"), *name)
    assert code == 0, err
    assert "again' ranks" in out
    columns = ["query_id", "rank", "doc_id", "score"]
    old = stored.folder.read("runs", "toy", "by-hand")[columns]
    new = stored.folder.read("runs", "toy", "again")[columns]
    assert old.sort_values(columns, ignore_index=True).equals(
        new.sort_values(columns, ignore_index=True)
    )
    footer = stored.folder.footer(stored.folder.file("runs", "toy", "again"))
    assert footer["inputs"][GIVEN] == "trec-run"
    code, out, _ = run("import", "trec-run", str(to / "by-hand.run"), *name)
    assert "Nothing has changed." in out
    code, _, err = run("import", "trec-run", str(to / "words.run"), *name)
    assert code == 2
    assert "holds another run by 'again'" in one_line(err)
    code, _, _ = run("import", "trec-run", str(to / "words.run"), *name, "--replace")
    assert code == 0
    assert len(stored.folder.read("runs", "toy", "again")) == 81


def test_judgements_come_in_beside_those_there(run, stored, tmp_path):
    run("export", "--dataset", "toy", "--to", str(tmp_path))
    tag = ("--tag", "again")
    run("import", "trec-run", str(tmp_path / "by-hand.run"), "--name", "toy", *tag)
    path = tmp_path / "panel.qrels"
    path.write_text("c1/right 0 d02 1\n")
    before = stored.folder.read("gold_ranks", "toy", "again").set_index("query_id")["rank"]
    code, _, err = run("import", "trec-qrels", str(path), "--name", "toy")
    assert code == 0, err
    qrels = stored.folder.read("qrels", "toy")
    assert qrels["judge"].value_counts().to_dict() == {"author": 9, "panel": 1}
    after = stored.folder.read("gold_ranks", "toy", "again").set_index("query_id")["rank"]
    assert before["c1/right"] == 4
    assert after["c1/right"] == 1
    code, out, _ = run("import", "trec-qrels", str(path), "--name", "toy")
    assert "Nothing has changed." in out
    code, _, err = run("import", "trec-qrels", str(path), "--name", "toi")
    assert code == 2
    assert "Unknown dataset 'toi'" in one_line(err)


def test_judges_of_the_pooled_lists_keep_their_names(run, stored, tmp_path):
    graded = stored.folder.read("qrels", "toy").head(1).assign(judge="panel", grade=0)
    stored.folder.write("qrels", graded, dataset="toy", retriever="panel")
    path = tmp_path / "panel.qrels"
    path.write_text("c1/right 0 d02 1\n")
    code, _, err = run("import", "trec-qrels", str(path), "--name", "toy")
    assert code == 2
    assert "'panel' has judged the pooled lists of 'toy' here" in one_line(err)
    assert run("import", "trec-qrels", str(path), "--name", "toy", "--judge", "other")[0] == 0
    assert run("export", "--dataset", "toy", "--to", str(tmp_path / "out"))[0] == 0
    names = {file.name for file in (tmp_path / "out").glob("*.qrels")}
    assert names == {"author.qrels", "other.qrels", "panel.qrels"}


@pytest.mark.parametrize("kind", ["trec-run", "trec-qrels"])
def test_shipped_datasets_take_nothing_in(run, stored, tmp_path, kind):
    save_dataset(stored.folder, SHIPPED["demo_written"].load(), inputs={})
    before = stored.folder.fingerprint()
    path = tmp_path / "a.txt"
    path.write_text("x 0 y 1\n")
    code, _, err = run("import", kind, str(path), "--name", "demo_written")
    assert code == 2
    assert "each build puts back; found 'demo_written'. `audit --run`" in one_line(err)
    assert stored.folder.fingerprint() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dataset", "toi"), "Unknown dataset 'toi'. Did you mean 'toy'?"),
        (("--dataset", "toy", "--retriever", "wordz"), "Did you mean 'words'?"),
    ],
)
def test_what_cannot_be_exported(run, tmp_path, arguments, words):
    code, _, err = run("export", *arguments, "--to", str(tmp_path / "out"))
    assert code == 2
    assert words in one_line(err)
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_way_of_the_folder(run, tmp_path):
    (tmp_path / "out").write_text("x")
    code, _, err = run("export", "--dataset", "toy", "--to", str(tmp_path / "out"))
    assert code == 2
    assert "is not a folder" in one_line(err)


def test_ids_with_spaces_need_a_word(run, stored, tmp_path):
    dataset = toy_dataset()
    spaced = dataset.queries.assign(query_id=dataset.queries["query_id"].str.replace("/", " "))
    stored.folder.write("queries", spaced, dataset="toy")
    runs = stored.folder.read("runs", "toy", "words")
    runs = runs.assign(query_id=runs["query_id"].str.replace("/", " "))
    stored.folder.write("runs", runs, dataset="toy", retriever="words")
    only = ("export", "--dataset", "toy", "--retriever", "words", "--to", str(tmp_path / "out"))
    code, _, err = run(*only)
    assert code == 2
    assert "'c1 left' holds white space" in one_line(err)
    assert not (tmp_path / "out").exists()
    assert run(*only, "--escape")[0] == 0
    assert (tmp_path / "out" / "words.run").read_text().startswith("c1%20left Q0 ")
    code, _, err = run(
        *("import", "trec-run", str(tmp_path / "out" / "words.run"), "--name", "toy"),
        *("--tag", "back", "--escaped"),
    )
    assert code == 0, err
    assert len(stored.folder.read("runs", "toy", "back")) == len(runs)


def test_a_stopped_import_leaves_nothing(run, stored, monkeypatch, sources):
    before = sorted(stored.folder.path.rglob("*"))

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("biasret.precomputed.staging.take", stop)
    code, _, err = run("import", "medquad", *sources["medquad"], "--name", "new")
    assert code == 1
    assert "stopped" in err
    after = [path for path in sorted(stored.folder.path.rglob("*")) if path.name != ".lock"]
    assert after == [path for path in before if path.name != ".lock"]


def test_an_imported_run_is_measured_without_a_model(run, stored, tmp_path):
    old = stored.folder.read("measurements", "toy", "words")
    run("export", "--dataset", "toy", "--to", str(tmp_path))
    run("import", "trec-run", str(tmp_path / "words.run"), "--name", "toy", "--tag", "mine")
    code, _, err = run("build", "--dataset", "toy", "--retriever", "mine")
    assert code == 0, err
    rows = stored.folder.read("measurements", "toy", "mine")
    # The run is nine deep: what is read deeper is not known, and not measured.
    assert set(rows["k"]) == {5}
    keys = ["query_id", "metric", "k", "filter"]
    both = rows.merge(old, on=keys)
    assert len(both) == (rows["filter"] == "raw").sum() + (rows["filter"] == "same-story").sum()
    assert (both["value_x"] == both["value_y"]).all()
    code, out, _ = run("gaps", "--dataset", "toy", "--json")
    assert code == 0
    assert "mine" in {row["retriever"] for row in json.loads(out)}
