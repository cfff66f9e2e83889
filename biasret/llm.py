"""The optional chat endpoint: any server that speaks the OpenAI chat protocol.

Nothing in the package needs it. Where an address and a model name are set, callers may ask
it for a JSON object; what it answers is checked by them like any other input.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasret.errors import BiasretError, InputError, NotInstalled

__all__ = [
    "Answer",
    "AnswerError",
    "ChatClient",
    "Endpoint",
    "EndpointError",
    "endpoint_from_environment",
]

#: Answers after which another try makes sense.
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT = 20.0
#: More than any answer asked for here; a longer one is refused unread.
_LONGEST_ANSWER = 1_000_000


class EndpointError(BiasretError, RuntimeError):
    """The chat endpoint could not be reached, or its answer cannot be used."""


class AnswerError(EndpointError):
    """The endpoint works, and refused this one text or answered it with nothing."""


@dataclass(frozen=True)
class Answer:
    """What a model wrote, and what it cost.

    Attributes
    ----------
    text
        Empty where the message holds none.
    prompt_tokens, completion_tokens
        As the server counted them; 0 where it does not say.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Endpoint:
    """Where the model is served.

    Attributes
    ----------
    base_url
        Address before ``/chat/completions``: ``"http://localhost:8000/v1"``.
    model
        The name the server knows it by.
    key
        Sent as a bearer token; empty for none. Never shown.
    timeout
        Seconds for one try.
    retries
        Further tries after the first.
    """

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    retries: int = 2

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise InputError(
                f"The address of a chat endpoint starts with http:// or https://; "
                f"found {self.base_url!r}."
            )
        if not self.model.strip():
            raise InputError("A chat endpoint needs the name of a model; found none.")
        if self.timeout <= 0 or self.retries < 0:
            raise InputError(
                "A chat endpoint needs a timeout above 0 seconds and 0 or more retries; found "
                f"{self.timeout!r} and {self.retries!r}."
            )


def endpoint_from_environment(environment: Mapping[str, str] = os.environ) -> Endpoint | None:
    """The endpoint that ``BIASRET_LLM_URL`` and ``BIASRET_LLM_MODEL`` name, or None.

    ``BIASRET_LLM_KEY`` and ``BIASRET_LLM_TIMEOUT`` (seconds) are optional.

    Raises
    ------
    InputError
        Only one of the two is set, or a value cannot be used.
    """
    url, model = environment.get("BIASRET_LLM_URL", ""), environment.get("BIASRET_LLM_MODEL", "")
    if not url and not model:
        return None
    if not url or not model:
        missing = "BIASRET_LLM_MODEL" if url else "BIASRET_LLM_URL"
        raise InputError(f"A chat endpoint needs an address and a model; {missing} is not set.")
    timeout = environment.get("BIASRET_LLM_TIMEOUT", "60")
    try:
        seconds = float(timeout)
    except ValueError as error:
        raise InputError(
            f"BIASRET_LLM_TIMEOUT should be a number of seconds; found {timeout!r}."
        ) from error
    return Endpoint(url, model, environment.get("BIASRET_LLM_KEY", ""), seconds)


class ChatClient:
    """Asks a chat endpoint for JSON objects.

    Parameters
    ----------
    endpoint
        See `Endpoint`.
    transport
        An httpx transport in place of the network; for tests.
    per_minute
        Most requests in a minute, evenly spaced; None: as many as are asked.
    sleep, clock
        Wait between requests and tell the time in seconds; for tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: Any = None,
        per_minute: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if per_minute is not None and not per_minute > 0:
            raise InputError(f"Requests per minute should be above 0; found {per_minute!r}.")
        try:
            import httpx
        except ImportError as error:
            raise NotInstalled(
                "A chat endpoint needs the package httpx. Install with: pip install httpx"
            ) from error
        self.endpoint = endpoint
        self._sleep = sleep
        self._clock = clock
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._lock = threading.Lock()
        self._next = 0.0
        #: How many of `_forms`, from the last, the server may take; 0 until it took one.
        self._known = 0
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._http = httpx.Client(timeout=endpoint.timeout, transport=transport, headers=headers)
        self._transport_error = httpx.HTTPError

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def ask(
        self,
        *,
        system: str,
        user: str,
        keys: Sequence[str],
        seed: int | None = 0,
        max_tokens: int = 1024,
    ) -> dict[str, Any]:
        """The JSON object that the model answers with.

        Temperature is 0; the seed is sent for servers that take one.

        Parameters
        ----------
        keys
            What the object must hold; others are dropped.

        Raises
        ------
        EndpointError
            No answer after all tries, or one that is no such object.
        """
        answer = self.complete(system=system, user=user, seed=seed, max_tokens=max_tokens)
        if not answer.text:
            raise AnswerError("The chat endpoint's message holds no text.")
        return _object(answer.text, keys)

    def complete(
        self,
        *,
        system: str,
        user: str,
        schema: Mapping[str, Any] | None = None,
        seed: int | None = 0,
        max_tokens: int = 1024,
    ) -> Answer:
        """The text that the model answers with, unread, and its tokens.

        What a server refuses to take (a schema, the form of the answer, a seed, a
        temperature) is left out; what it took once is what it is asked from then on. May be
        called by several threads.

        Parameters
        ----------
        schema
            JSON schema of the object wanted, for servers that hold a model to one.

        Raises
        ------
        AnswerError
            The server refused this text, and has taken others.
        EndpointError
            No answer after all tries, or none that a chat server would give.
        """
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        forms = _forms(body, schema, seed)[-self._known :]
        answer = self._post(forms[0])
        while answer.status_code in (400, 422) and len(forms) > 1:
            forms = forms[1:]
            answer = self._post(forms[0])
        if answer.status_code in (400, 422) and self._known:
            raise AnswerError(f"The chat endpoint refused a text (status {answer.status_code}).")
        if answer.status_code != 200:
            raise EndpointError(
                f"The chat endpoint answered with status {answer.status_code}. Check the address, "
                "the model's name and the key."
            )
        self._known = len(forms)
        return _answer(answer)

    def _post(self, body: dict[str, Any]) -> Any:
        url = self.endpoint.base_url.rstrip("/") + "/chat/completions"
        payload = json.dumps(body).encode("ascii")
        headers = {"Content-Type": "application/json"}
        fault = ""
        for attempt in range(self.endpoint.retries + 1):
            wait = min(_LONGEST_WAIT, 0.5 * 2**attempt)
            self._wait_turn()
            try:
                answer = self._http.post(url, content=payload, headers=headers)
            except self._transport_error as error:
                fault = f"{type(error).__name__}: {error}"
            else:
                if answer.status_code not in _RETRIED:
                    return answer
                fault = f"status {answer.status_code}"
                wait = _asked_wait(answer.headers.get("retry-after"), wait)
            if attempt < self.endpoint.retries:
                self._sleep(wait)
        raise EndpointError(
            f"No answer from the chat endpoint in {self.endpoint.retries + 1} tries ({fault})."
        )

    def _wait_turn(self) -> None:
        """Wait until the next request may be sent, whichever thread sends it."""
        if not self._apart:
            return
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._apart
        if turn > now:
            self._sleep(turn - now)


def _forms(
    body: dict[str, Any], schema: Mapping[str, Any] | None, seed: int | None
) -> list[dict[str, Any]]:
    """A request in the forms that servers take, the fullest first."""
    seeded = {} if seed is None else {"seed": seed}
    loose = {**body, "response_format": {"type": "json_object"}, **seeded}
    forms = [loose, body]
    if schema is not None:
        strict = {"name": "answer", "strict": True, "schema": dict(schema)}
        held = {"type": "json_schema", "json_schema": strict}
        forms.insert(0, {**body, "response_format": held, **seeded})
    # Models that reason set their own temperature, and count what they think as well.
    reasoning = {k: v for k, v in body.items() if k not in ("temperature", "max_tokens")}
    forms.append({**reasoning, "max_completion_tokens": body["max_tokens"]})
    return forms


def _answer(response: Any) -> Answer:
    if len(response.content) > _LONGEST_ANSWER:
        raise EndpointError(f"The answer has {len(response.content):,} bytes; too long to read.")
    try:
        found = response.json()
        content = found["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise EndpointError(
            "The chat endpoint's answer holds no message; is the address that of an "
            "OpenAI-compatible server?"
        ) from error
    if content is not None and not isinstance(content, str):
        raise EndpointError("The chat endpoint's message holds no text.")
    usage = found.get("usage") or {}

    def count(name: str) -> int:
        value = usage.get(name) if isinstance(usage, dict) else None
        return value if isinstance(value, int) and value >= 0 else 0

    return Answer(content or "", count("prompt_tokens"), count("completion_tokens"))


def _asked_wait(header: str | None, default: float) -> float:
    """The seconds that a server asks to wait, within reason."""
    if header is None or not header.strip().isdigit():
        return default
    return min(_LONGEST_WAIT, float(header))


def _object(content: str, keys: Sequence[str]) -> dict[str, Any]:
    text = content.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EndpointError(f"The model's answer is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise EndpointError(
            f"The model should answer with an object; found {type(found).__name__}."
        )
    absent = [key for key in keys if key not in found]
    if absent:
        raise EndpointError(f"The model's answer lacks {', '.join(map(repr, absent))}.")
    return {key: found[key] for key in keys}
