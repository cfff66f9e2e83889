"""Vectors from any OpenAI-compatible embeddings endpoint.

The key is read from the environment for each request. It is in no record, file, log line
or error text, it is not sent over plain HTTP to another machine, and a redirection is not
followed.
"""

from __future__ import annotations

import email.utils
import http.client
import ipaddress
import json
import os
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

import numpy as np

from biasret.errors import InputError, RetrieverError
from biasret.retrievers.base import RetrieverRecord

__all__ = ["Endpoint"]

#: Answers after which the same request may succeed.
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}

#: Most of a server's own words that an error repeats.
_QUOTED = 200


class Endpoint:
    """An encoder behind ``POST <base_url>/embeddings``.

    Options of the record, all text: ``base_url``; ``dimensions`` (sent only when given);
    ``timeout`` seconds for one request (60); ``attempts`` for one request (6);
    ``per_minute`` requests at most (no limit).

    Parameters
    ----------
    sleep, clock
        Replaced in tests.
    """

    def __init__(
        self,
        record: RetrieverRecord,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        options = dict(record.options)
        self._record = record
        self._url = _checked_url(options.get("base_url", ""), has_key=bool(record.key_variable))
        self._host = urlsplit(self._url).hostname or ""
        self._dimensions = options.get("dimensions")
        self._timeout = _number(options, "timeout", 60.0, least=0.001)
        self._attempts = int(_number(options, "attempts", 6.0, least=1))
        per_minute = _number(options, "per_minute", 0.0, least=0.0)
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0
        self._turn = threading.Lock()
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if _is_this_machine(self._host):
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    # -- Encoder -------------------------------------------------------------------------

    def encode(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """Vectors, float32, shape (n, dimension); one request for each batch of the record.

        A text that is empty is sent as one space: endpoints refuse the empty string.
        """
        size = self._record.batch
        whole = [prefix + text or " " for text in texts]
        parts = [self._ask(whole[i : i + size]) for i in range(0, len(whole), size)]
        return np.concatenate(parts)

    def count_tokens(self, texts: list[str], *, prefix: str) -> np.ndarray:
        """White-space separated words: an endpoint does not tell tokens beforehand."""
        return np.array([len((prefix + text).split()) for text in texts], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        """An endpoint tells none."""
        return {}

    # -- one request ---------------------------------------------------------------------

    def _ask(self, texts: list[str]) -> np.ndarray:
        body: dict[str, Any] = {
            "model": self._record.checkpoint,
            "input": texts,
            "encoding_format": "float",
        }
        if self._dimensions:
            body["dimensions"] = int(self._dimensions)
        data = json.dumps(body).encode()
        reason = ""
        for attempt in range(1, self._attempts + 1):
            self._wait_for_turn()
            asked: float | None = None
            try:
                answer = self._send(data)
            except urllib.error.HTTPError as error:
                with error:
                    reason = self._refusal(error)
                    if error.code not in _PASSING:
                        self._fail(reason)
                    asked = _retry_after(error.headers.get("Retry-After"))
            except (TimeoutError, http.client.HTTPException, OSError) as error:
                # URLError is an OSError; a socket's own timeout is a TimeoutError.
                cause = getattr(error, "reason", error)
                is_late = isinstance(cause, TimeoutError) or isinstance(error, TimeoutError)
                reason = (
                    f"no answer within {self._timeout:g} s"
                    if is_late
                    else f"the connection failed ({type(cause).__name__})"
                )
            except json.JSONDecodeError:
                reason = "its answer was cut off or is not JSON"
            else:
                return self._matrix(answer, len(texts))
            if attempt < self._attempts:
                self._sleep(_pause(attempt, asked))
        self._fail(f"{reason}, {self._attempts} times")

    def _send(self, data: bytes) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url, data=data, headers={"Content-Type": "application/json"}, method="POST"
        )
        key = self._key()
        if key:
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        with self._opener.open(request, timeout=self._timeout) as response:
            raw = response.read()
        return json.loads(raw.decode("utf-8", "replace"))

    def _key(self) -> str:
        return os.environ.get(self._record.key_variable, "") if self._record.key_variable else ""

    def _wait_for_turn(self) -> None:
        with self._turn:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
        if start > now:
            self._sleep(start - now)

    def _refusal(self, error: urllib.error.HTTPError) -> str:
        if error.code in (401, 403):
            # Its own words may repeat the key, whole or in part.
            return (
                f"it refused the key (status {error.code}); check the environment variable "
                f"{self._record.key_variable or 'that should hold one'}"
            )
        try:
            said = error.read(4096).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            said = ""
        key = self._key()
        if key:
            said = said.replace(key, "[key]")
        said = " ".join(said.split())[:_QUOTED]
        return f"it answered with status {error.code}" + (f": {said}" if said else "")

    def _fail(self, reason: str) -> NoReturn:
        raise RetrieverError(
            f"{self._record.label} at {self._host} gave no vectors: {reason}. Batches finished "
            "before are kept; run the command again to go on."
        ) from None

    def _matrix(self, answer: Any, n: int) -> np.ndarray:
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(rows) != n:
            found = f"{len(rows)}" if isinstance(rows, list) else "no"
            self._fail(f"{n} texts were sent and {found} vectors came back")
        dimension = self._record.dimension or 0
        matrix = np.full((n, dimension), np.nan, dtype=np.float32)
        for position, row in enumerate(rows):
            at = row.get("index", position) if isinstance(row, dict) else None
            vector = row.get("embedding") if isinstance(row, dict) else None
            if not isinstance(at, int) or not 0 <= at < n or not isinstance(vector, list):
                self._fail("an entry of its answer has no valid index and embedding")
            if len(vector) != dimension:
                self._fail(
                    f"its vectors have {len(vector):,} numbers where {dimension:,} were expected; "
                    "correct the dimension, or name the right model"
                )
            try:
                matrix[at] = vector
            except (TypeError, ValueError):
                self._fail("a vector of its answer is not made of numbers")
        if not np.isfinite(matrix).all():
            self._fail("a vector is missing from its answer or is not finite")
        return matrix


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Texts and key go to the address given or nowhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _checked_url(base: str, *, has_key: bool) -> str:
    try:
        parts = urlsplit(base)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(
            f"The base URL of an endpoint begins with http:// or https://; found {base!r}."
        )
    if parts.username or parts.password:
        raise InputError(
            "The base URL holds a name or password; put the key into an environment variable."
        )
    if has_key and parts.scheme == "http" and not _is_this_machine(host):
        raise InputError(
            f"A key is not sent to {host} over plain HTTP; use https://, or leave the key out "
            "with key=none."
        )
    if parts.query or parts.fragment:
        raise InputError("The base URL ends with its path, for example https://host/v1.")
    return base.rstrip("/") + "/embeddings"


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _number(options: Mapping[str, str], name: str, default: float, *, least: float) -> float:
    text = options.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value < float("inf"):
        raise InputError(f"The option {name} is a number of at least {least:g}; found {text!r}.")
    return value


def _retry_after(header: str | None) -> float | None:
    """Seconds a server asks to wait: a number, or a date; None when it asks nothing."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        until = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _pause(attempt: int, asked: float | None) -> float:
    """Seconds before the next attempt: what the server asks, else 1, 2, 4 … to 60; jittered.

    A server's wish is honoured up to five minutes.
    """
    jitter = secrets.SystemRandom().uniform(0.0, 0.5)
    if asked is not None and asked == asked:
        return min(asked, 300.0) + jitter
    return float(min(2.0 ** (attempt - 1), 60.0) * (0.75 + jitter))
