"""The optional chat endpoint: any server that speaks the OpenAI chat protocol.

Nothing in the package needs it. Where an address and a model name are set, callers may ask
it for a JSON object; what it answers is checked by them like any other input.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasret.errors import BiasretError, InputError, NotInstalled

__all__ = ["ChatClient", "Endpoint", "EndpointError", "endpoint_from_environment"]

#: Answers after which another try makes sense.
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT = 20.0
#: More than any answer asked for here; a longer one is refused unread.
_LONGEST_ANSWER = 1_000_000


class EndpointError(BiasretError, RuntimeError):
    """The chat endpoint could not be reached, or its answer cannot be used."""


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
    sleep
        Waits between tries; for tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: Any = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise NotInstalled(
                "A chat endpoint needs the package httpx. Install with: pip install httpx"
            ) from error
        self.endpoint = endpoint
        self._sleep = sleep
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
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "temperature": 0,
            "max_tokens": max_tokens,
            "response_format": {"type": "json_object"},
        }
        if seed is not None:
            body["seed"] = seed
        return _object(self._content(body), keys)

    def _content(self, body: dict[str, Any]) -> str:
        """The text of the answer; without what a server refuses to take, if need be."""
        answer = self._post(body)
        if answer.status_code in (400, 422):
            plain = {k: v for k, v in body.items() if k not in ("response_format", "seed")}
            answer = self._post(plain)
        if answer.status_code != 200:
            raise EndpointError(
                f"The chat endpoint answered with status {answer.status_code}. Check the address, "
                "the model's name and the key."
            )
        if len(answer.content) > _LONGEST_ANSWER:
            raise EndpointError(f"The answer has {len(answer.content):,} bytes; too long to read.")
        try:
            content = answer.json()["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise EndpointError(
                "The chat endpoint's answer holds no message; is the address that of an "
                "OpenAI-compatible server?"
            ) from error
        if not isinstance(content, str):
            raise EndpointError("The chat endpoint's message holds no text.")
        return content

    def _post(self, body: dict[str, Any]) -> Any:
        url = self.endpoint.base_url.rstrip("/") + "/chat/completions"
        payload = json.dumps(body).encode("ascii")
        headers = {"Content-Type": "application/json"}
        fault = ""
        for attempt in range(self.endpoint.retries + 1):
            wait = min(_LONGEST_WAIT, 0.5 * 2**attempt)
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
