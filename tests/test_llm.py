"""The chat client: what it sends, what it makes of answers, when it tries again."""

from __future__ import annotations

import json

import pytest

from biasret.errors import InputError
from biasret.llm import (
    AnswerError,
    ChatClient,
    Endpoint,
    EndpointError,
    endpoint_from_environment,
)

httpx = pytest.importorskip("httpx", reason="httpx is not installed")


def answer(content: object, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json={"choices": [{"message": {"content": content}}]})


class Server:
    """Gives the answers in turn and keeps the requests."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, httpx.Response)
        return found

    def client(self, *, waits: list[float] | None = None, **settings: object) -> ChatClient:
        endpoint = Endpoint("http://models.test/v1/", "small", **settings)  # type: ignore[arg-type]
        kept = waits if waits is not None else []
        return ChatClient(endpoint, transport=httpx.MockTransport(self), sleep=kept.append)


def ask(client: ChatClient) -> dict[str, object]:
    with client:
        return client.ask(system="You are short.", user="Hi \ud800", keys=("a",), seed=7)


def test_the_request_is_the_chat_protocol() -> None:
    server = Server(answer('{"a": 1, "b": 2}'))
    assert ask(server.client(key="secret")) == {"a": 1}
    request = server.requests[0]
    assert str(request.url) == "http://models.test/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer secret"
    body = json.loads(request.content)
    assert body["model"] == "small"
    assert body["temperature"] == 0
    assert body["seed"] == 7
    assert body["response_format"] == {"type": "json_object"}
    assert [m["role"] for m in body["messages"]] == ["system", "user"]


def test_no_key_sends_no_authorisation_and_no_key_is_shown() -> None:
    server = Server(answer('{"a": 1}'))
    ask(server.client())
    assert "authorization" not in server.requests[0].headers
    assert "secret" not in repr(Endpoint("http://models.test", "small", "secret"))


def test_busy_servers_are_tried_again_as_long_as_they_ask() -> None:
    busy = httpx.Response(429, headers={"retry-after": "3"})
    server = Server(busy, httpx.ConnectError("refused"), answer('{"a": 1}'))
    waits: list[float] = []
    assert ask(server.client(waits=waits)) == {"a": 1}
    assert waits == [3.0, 1.0]


def test_retry_after_is_kept_within_reason() -> None:
    waits: list[float] = []
    server = Server(httpx.Response(503, headers={"retry-after": "9999"}), answer('{"a": 1}'))
    ask(server.client(waits=waits))
    assert waits == [20.0]


def test_tries_come_to_an_end() -> None:
    server = Server(*[httpx.ReadTimeout("slow")] * 3)
    with pytest.raises(EndpointError, match=r"3 tries \(ReadTimeout"):
        ask(server.client())
    assert len(server.requests) == 3
    with pytest.raises(EndpointError, match="1 tries"):
        ask(Server(httpx.Response(500)).client(retries=0))


def test_a_server_that_refuses_options_is_asked_without_them() -> None:
    server = Server(httpx.Response(400), answer('{"a": 1}'))
    assert ask(server.client()) == {"a": 1}
    body = json.loads(server.requests[1].content)
    assert "response_format" not in body
    assert "seed" not in body


def test_a_refusal_is_not_tried_again() -> None:
    server = Server(httpx.Response(401))
    with pytest.raises(EndpointError, match="status 401"):
        ask(server.client())
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Sure! Here it is", "no JSON"),
        ("[1]", "found list"),
        ('{"b": 1}', "lacks 'a'"),
        (None, "no text"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_answers_that_are_no_such_object_are_refused(content: object, words: str) -> None:
    with pytest.raises(EndpointError, match=words):
        ask(Server(answer(content)).client())


def test_fenced_json_is_read() -> None:
    assert ask(Server(answer('```json\n{"a": 1}\n```')).client()) == {"a": 1}


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"choices": []}', b'{"choices": 3}', b"[]"])
def test_other_servers_are_told_apart(body: bytes) -> None:
    with pytest.raises(EndpointError, match="holds no message"):
        ask(Server(httpx.Response(200, content=body)).client())


def test_an_endless_answer_is_not_read() -> None:
    with pytest.raises(EndpointError, match="too long"):
        ask(Server(answer("x" * 1_100_000)).client())


def test_the_environment_names_the_endpoint() -> None:
    assert endpoint_from_environment({}) is None
    found = endpoint_from_environment(
        {"BIASRET_LLM_URL": "http://x", "BIASRET_LLM_MODEL": "m", "BIASRET_LLM_TIMEOUT": "5"}
    )
    assert found == Endpoint("http://x", "m", timeout=5.0)
    with pytest.raises(InputError, match="BIASRET_LLM_MODEL is not set"):
        endpoint_from_environment({"BIASRET_LLM_URL": "http://x"})
    with pytest.raises(InputError, match="number of seconds"):
        endpoint_from_environment(
            {"BIASRET_LLM_URL": "http://x", "BIASRET_LLM_MODEL": "m", "BIASRET_LLM_TIMEOUT": "s"}
        )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base_url": "models.test", "model": "m"}, "http"),
        ({"base_url": "http://x", "model": " "}, "name of a model"),
        ({"base_url": "http://x", "model": "m", "timeout": 0}, "timeout"),
        ({"base_url": "http://x", "model": "m", "retries": -1}, "retries"),
    ],
)
def test_endpoints_that_cannot_work_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Endpoint(**settings)  # type: ignore[arg-type]


def test_what_an_answer_cost_is_told() -> None:
    message = {"choices": [{"message": {"content": "hello"}}]}
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    server = Server(
        httpx.Response(200, json={**message, "usage": usage}),
        httpx.Response(200, json={**message, "usage": {"prompt_tokens": "many"}}),
        httpx.Response(200, json={**message, "usage": None}),
        answer(None),
    )
    with server.client() as client:
        found = [client.complete(system="s", user="u") for _ in range(4)]
    assert [one.text for one in found] == ["hello", "hello", "hello", ""]
    assert [(one.prompt_tokens, one.completion_tokens) for one in found] == [(12, 3)] + [(0, 0)] * 3


def test_a_schema_is_sent_and_what_a_server_refuses_is_remembered() -> None:
    refused = [httpx.Response(400)] * 3
    server = Server(*refused, answer("1"), answer("2"), httpx.Response(400), answer("3"))
    schema = {"type": "object"}
    with server.client() as client:
        assert client.complete(system="s", user="u", schema=schema, max_tokens=9).text == "1"
        assert client.complete(system="s", user="u", schema=schema, max_tokens=9).text == "2"
        with pytest.raises(AnswerError, match="refused a text"):
            client.complete(system="s", user="bad", schema=schema, max_tokens=9)
        assert client.complete(system="s", user="u", schema=schema, max_tokens=9).text == "3"
    bodies = [json.loads(request.content) for request in server.requests]
    forms = [body.get("response_format", {}).get("type") for body in bodies]
    assert forms == ["json_schema", "json_object", None, None, None, None, None]
    assert bodies[0]["response_format"]["json_schema"]["schema"] == schema
    assert bodies[2]["temperature"] == 0
    assert "seed" not in bodies[2]
    # The last form is that of models that reason.
    assert all("temperature" not in body for body in bodies[3:])
    assert bodies[3]["max_completion_tokens"] == 9
    assert "max_tokens" not in bodies[3]


def test_requests_are_spaced_to_the_rate_asked_for() -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    server = Server(*[answer("1")] * 4)
    endpoint = Endpoint("http://models.test/v1", "small")
    transport = httpx.MockTransport(server)
    times = []
    with ChatClient(
        endpoint, transport=transport, per_minute=30, sleep=sleep, clock=lambda: now[0]
    ) as client:
        for _ in range(4):
            client.complete(system="s", user="u")
            times.append(now[0])
    assert times == [100.0, 102.0, 104.0, 106.0]
    with pytest.raises(InputError, match="above 0"):
        ChatClient(endpoint, per_minute=0)
