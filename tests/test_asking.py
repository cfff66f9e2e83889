"""Asking many questions: what is kept, what is asked again, what a killed run leaves."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import PROJECT

from biasret.asking import Task, Unreadable, ask_all, open_journal
from biasret.errors import FileError, InputError, StoreError
from biasret.llm import AnswerError, ChatClient, Endpoint, EndpointError

httpx = pytest.importorskip("httpx", reason="httpx is not installed")

ABOUT = {"model": "small"}
TASKS = [Task((f"q{i}", "d"), "Be short.", f"Text {i}") for i in range(8)]


class Model:
    """Answers each text with its last character; may be told to fail."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: dict[str, httpx.Response | Exception] = {}
        self.lock = threading.Lock()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        text = json.loads(request.content)["messages"][1]["content"]
        with self.lock:
            self.asked.append(text)
        found = self.fails.get(text)
        if isinstance(found, Exception):
            raise found
        if found is not None:
            return found
        message = {"choices": [{"message": {"content": text[-1]}}]}
        return httpx.Response(
            200, json={**message, "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
        )

    def client(self, **settings: object) -> ChatClient:
        endpoint = Endpoint("http://models.test/v1", "small", "sk-secret", retries=0)
        return ChatClient(endpoint, transport=httpx.MockTransport(self), **settings)  # type: ignore[arg-type]


def read_digit(text: str) -> int:
    if text == "3":
        raise Unreadable("Three is never an answer.")
    return int(text)


def run(model: Model, path: Path, tasks=TASKS, **settings: object):
    with model.client() as client, open_journal(path, about=ABOUT) as journal:
        tally = ask_all(client, tasks, journal=journal, read=read_digit, **settings)
        results = {
            task.key[0]: entry and entry.result for task in tasks for entry in [journal.get(task)]
        }
    return tally, results


@pytest.mark.parametrize("workers", [1, 3])
def test_everything_is_asked_once_and_read(tmp_path, workers):
    model = Model()
    tally, results = run(model, tmp_path / "j.jsonl", workers=workers)
    assert results == {f"q{i}": None if i == 3 else i for i in range(8)}
    assert (tally.n_tasks, tally.n_answered, tally.n_unreadable, tally.n_asked) == (8, 8, 1, 8)
    assert (tally.prompt_tokens, tally.completion_tokens) == (80, 16)
    assert tally.cost((1.0, 10.0)) == pytest.approx(80e-6 + 160e-6)
    again, same = run(model, tmp_path / "j.jsonl", workers=workers)
    assert same == results
    assert len(model.asked) == 8  # nothing is paid for twice, the unreadable answer neither
    assert (again.n_asked, again.prompt_tokens) == (0, 80)


def test_a_limit_asks_so_many_now_and_the_rest_later(tmp_path):
    model = Model()
    tally, results = run(model, tmp_path / "j.jsonl", limit=3)
    assert (tally.n_asked, tally.n_answered, tally.n_tasks) == (3, 3, 8)
    assert results["q5"] is None
    tally, _ = run(model, tmp_path / "j.jsonl")
    assert (tally.n_asked, tally.n_answered) == (5, 8)


def test_a_text_that_changed_is_asked_again(tmp_path):
    model = Model()
    run(model, tmp_path / "j.jsonl")
    changed = [Task(("q0", "d"), "Be short.", "Other 9"), *TASKS[1:]]
    tally, results = run(model, tmp_path / "j.jsonl", changed)
    assert tally.n_asked == 1
    assert results["q0"] == 9


@pytest.mark.parametrize("workers", [1, 4])
def test_what_came_before_a_failure_is_kept(tmp_path, workers):
    model = Model()
    model.fails["Text 5"] = httpx.ConnectError("refused")
    with pytest.raises(EndpointError):
        run(model, tmp_path / "j.jsonl", workers=workers)
    lines = (tmp_path / "j.jsonl").read_text().splitlines()
    kept = {json.loads(line)["key"][0] for line in lines[1:]}
    assert {f"q{i}" for i in range(5)} <= kept
    assert "q5" not in kept
    model.fails.clear()
    before = len(model.asked)
    tally, _ = run(model, tmp_path / "j.jsonl", workers=workers)
    assert tally.n_answered == 8
    assert len(model.asked) - before == 8 - len(kept)


def test_an_interrupt_keeps_what_was_under_way(tmp_path):
    model = Model()

    def stop(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(model, tmp_path / "j.jsonl", workers=2, progress=stop)
    keys = [
        json.loads(line)["key"][0] for line in (tmp_path / "j.jsonl").read_text().splitlines()[1:]
    ]
    assert sorted(keys) == sorted(set(keys))
    assert len(keys) == len(model.asked)


def test_a_text_that_the_server_refuses_is_missing_and_the_rest_goes_on(tmp_path):
    model = Model()
    model.fails["Text 4"] = httpx.Response(400, json={"error": "content filter"})
    tally, results = run(model, tmp_path / "j.jsonl")
    assert tally.n_unreadable == 2
    assert results["q4"] is None
    assert results["q5"] == 5


def test_a_server_that_refuses_the_first_text_in_every_form_stops_the_run(tmp_path):
    model = Model()
    model.fails["Text 0"] = httpx.Response(400)
    with pytest.raises(EndpointError, match="status 400") as caught:
        run(model, tmp_path / "j.jsonl")
    assert not isinstance(caught.value, AnswerError)


def test_no_key_and_no_address_is_written(tmp_path):
    model = Model()
    model.fails["Text 1"] = httpx.Response(400)
    run(model, tmp_path / "j.jsonl")
    content = (tmp_path / "j.jsonl").read_text()
    assert "secret" not in content
    assert "models.test" not in content


def test_a_line_cut_short_is_taken_away(tmp_path):
    path, model = tmp_path / "j.jsonl", Model()
    run(model, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    tally, _ = run(model, path)
    assert tally.n_asked == 1
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_a_killed_process_leaves_a_journal_to_go_on_from(tmp_path):
    """Killed by the system in the middle of its fourth answer."""
    code = f"""
import json, os, signal, sys
sys.path.insert(0, {str(PROJECT / "tests")!r})
from pathlib import Path
from test_asking import Model, TASKS, run
model = Model()
class Dying(Model):
    def __call__(self, request):
        if len(self.asked) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(request)
run(Dying(), Path({str(tmp_path / "j.jsonl")!r}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, timeout=60
    )
    assert done.returncode == -9, done.stderr
    model = Model()
    tally, results = run(model, tmp_path / "j.jsonl")
    assert (tally.n_asked, tally.n_answered) == (5, 8)
    assert results["q7"] == 7


def test_a_journal_of_another_model_is_not_mixed_in(tmp_path):
    run(Model(), tmp_path / "j.jsonl")
    with (
        pytest.raises(InputError, match="under model 'small'; found 'large'"),
        open_journal(tmp_path / "j.jsonl", about={"model": "large"}),
    ):
        raise AssertionError("the journal was opened")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"nonsense", "line 2: not valid JSON"),
        (b"[1]", "no object"),
        (b'{"a": 1}', "no answer kept"),
    ],
)
def test_a_damaged_journal_is_told_by_line(tmp_path, line, words):
    path = tmp_path / "j.jsonl"
    path.write_bytes(json.dumps({"about": ABOUT}).encode() + b"\n" + line + b"\n")
    with pytest.raises(FileError, match=words), open_journal(path, about=ABOUT):
        raise AssertionError("the journal was opened")


def test_two_processes_do_not_write_to_one_journal(tmp_path):
    path = tmp_path / "j.jsonl"
    with (
        open_journal(path, about=ABOUT),
        pytest.raises(StoreError, match="Another process"),
        open_journal(path, about=ABOUT),
    ):
        raise AssertionError("the journal was opened twice")


def test_hostile_texts_and_answers_stay_one_line(tmp_path):
    model = Model()
    task = [Task(("q\n\ud800", "d"), "s", "x\u2028\n4")]
    tally, _ = run(model, tmp_path / "j.jsonl", task)
    assert tally.n_answered == 1
    assert len((tmp_path / "j.jsonl").read_bytes().splitlines()) == 2
    again, _ = run(model, tmp_path / "j.jsonl", task)
    assert again.n_asked == 0
