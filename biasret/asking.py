"""Many questions to a chat endpoint, each answer kept as it comes.

Answers stand in a journal, one JSON object a line, so that a run that was killed goes on
where it stopped and pays for nothing twice. No key or address is written there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from biasret.errors import FileError, InputError, StoreError
from biasret.llm import AnswerError, ChatClient

__all__ = ["Entry", "Journal", "Tally", "Task", "Unreadable", "ask_all", "open_journal"]

#: Characters kept of an answer that cannot be read.
_KEPT = 500


class Unreadable(ValueError):
    """An answer that holds nothing of what was asked for; the message says why."""


@dataclass(frozen=True)
class Task:
    """One question.

    Attributes
    ----------
    key
        Names it in the journal; distinct within one.
    """

    key: tuple[str, ...]
    system: str
    user: str

    @property
    def fingerprint(self) -> str:
        """Changes with the texts asked."""
        text = f"{self.system}\0{self.user}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Entry:
    """One answer.

    Attributes
    ----------
    result
        What was read from it; None where nothing could be.
    why, raw
        Then: why not, and the beginning of the answer.
    """

    key: tuple[str, ...]
    fingerprint: str
    result: Any
    prompt_tokens: int = 0
    completion_tokens: int = 0
    why: str | None = None
    raw: str | None = None


@dataclass(frozen=True)
class Tally:
    """What a run did, and what stands in the journal of the tasks given.

    Attributes
    ----------
    n_tasks, n_answered, n_unreadable
        Of all tasks: how many there are, have an answer, have one that cannot be read.
    n_asked
        How many were asked in this run.
    prompt_tokens, completion_tokens
        Of all tasks answered, in this run and earlier ones.
    """

    n_tasks: int
    n_answered: int
    n_unreadable: int
    n_asked: int
    prompt_tokens: int
    completion_tokens: int

    def cost(self, per_million: Sequence[float]) -> float:
        """Price of all tokens, from prices of a million prompt and completion tokens."""
        tokens = (self.prompt_tokens, self.completion_tokens)
        return sum(n * price / 1e6 for n, price in zip(tokens, per_million, strict=True))


class Journal:
    """The answers kept so far, and where the next goes; made by `open_journal`."""

    def __init__(self, entries: dict[tuple[str, ...], Entry], handle: Any) -> None:
        self._entries = entries
        self._handle = handle

    def get(self, task: Task) -> Entry | None:
        """The answer to a task; None where there is none, or its texts have changed since."""
        entry = self._entries.get(task.key)
        return entry if entry is not None and entry.fingerprint == task.fingerprint else None

    def holds(self, entry: Entry) -> bool:
        """Whether this very answer is kept already."""
        return self._entries.get(entry.key) == entry

    def add(self, entry: Entry) -> None:
        """Keep an answer, on disk before this returns."""
        row = {name: value for name, value in vars(entry).items() if value is not None}
        self._handle.write((json.dumps({**row, "result": entry.result}) + "\n").encode("ascii"))
        self._handle.flush()
        self._entries[entry.key] = entry


@contextmanager
def open_journal(path: Path, *, about: Mapping[str, str]) -> Iterator[Journal]:
    """Read a journal, and hold it for writing.

    Parameters
    ----------
    path
        Made when it is missing; a line that was cut short by a killed run is taken away.
    about
        What every answer in it has in common, such as the model's name.

    Raises
    ------
    InputError
        The journal was begun under something else.
    FileError
        A line of it cannot be read.
    StoreError
        Another process is writing to it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(
                f"Another process is writing to {path.name}; wait until it has finished."
            ) from None
        handle.seek(0)
        content = handle.read()
        whole = content[: content.rfind(b"\n") + 1]
        handle.truncate(len(whole))
        lines = whole.split(b"\n")[:-1]
        if lines:
            begun = _parsed(path, 1, lines[0])
            _compare(path, dict(about), begun.get("about"))
        else:
            handle.write((json.dumps({"about": dict(about)}) + "\n").encode("ascii"))
            handle.flush()
        entries = {}
        for number, line in enumerate(lines[1:], 2):
            row = _parsed(path, number, line)
            try:
                entry = Entry(**{**row, "key": tuple(row["key"])})
            except (TypeError, KeyError) as error:
                raise FileError(
                    f"{path}, line {number}: this is no answer kept by an earlier run; remove "
                    "that line."
                ) from error
            entries[entry.key] = entry
        yield Journal(entries, handle)


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}, line {number}: not valid JSON; remove that line.") from error
    if not isinstance(row, dict):
        raise FileError(f"{path}, line {number}: found no object; remove that line.")
    return row


def _compare(path: Path, about: dict[str, str], begun: object) -> None:
    if begun == about:
        return
    known = begun if isinstance(begun, dict) else {}
    differing = next((name for name in about if known.get(name) != about[name]), "about")
    raise InputError(
        f"The answers kept in {path} were given under {differing} {known.get(differing)!r}; found "
        f"{about.get(differing)!r}. Choose another name, or delete that file to begin again."
    )


def ask_all(
    client: ChatClient,
    tasks: Iterable[Task],
    *,
    journal: Journal,
    read: Callable[[str], Any],
    schema: Mapping[str, Any] | None = None,
    max_tokens: int = 64,
    workers: int = 1,
    limit: int | None = None,
    progress: Callable[[int], None] = lambda n: None,
) -> Tally:
    """Ask what the journal does not hold yet.

    Parameters
    ----------
    read
        What an answer's text says; raises `Unreadable`. Such an answer is kept without a
        result and not asked for again.
    workers
        Requests under way at a time.
    limit
        Most tasks asked in this run.
    progress
        Called with the number of tasks just answered.

    Raises
    ------
    EndpointError
        The endpoint gave no answer; those that came before are kept.
    """
    listed = list(tasks)
    assert len({task.key for task in listed}) == len(listed), "two tasks share a key"
    todo = [task for task in listed if journal.get(task) is None]
    todo = todo if limit is None else todo[:limit]

    def ask(task: Task) -> Entry:
        try:
            answer = client.complete(
                system=task.system, user=task.user, schema=schema, max_tokens=max_tokens
            )
        except AnswerError as error:
            return Entry(task.key, task.fingerprint, None, why=str(error))
        tokens = (answer.prompt_tokens, answer.completion_tokens)
        try:
            return Entry(task.key, task.fingerprint, read(answer.text), *tokens)
        except Unreadable as error:
            raw = answer.text[:_KEPT]
            return Entry(task.key, task.fingerprint, None, *tokens, why=str(error), raw=raw)

    rest = iter(todo)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        pending = {pool.submit(ask, task) for task in islice(rest, workers)}
        done: set[Future[Entry]] = set()
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                _keep(done, journal, progress)
                pending |= {pool.submit(ask, task) for task in islice(rest, len(done))}
        except BaseException:
            # What is under way is paid for: it is waited for and kept, and the rest is not begun.
            _keep(wait(pending | done).done, journal, progress, is_failing=True)
            raise
    entries = [entry for task in listed if (entry := journal.get(task)) is not None]
    return Tally(
        n_tasks=len(listed),
        n_answered=len(entries),
        n_unreadable=sum(entry.result is None for entry in entries),
        n_asked=len(todo),
        prompt_tokens=sum(entry.prompt_tokens for entry in entries),
        completion_tokens=sum(entry.completion_tokens for entry in entries),
    )


def _keep(
    done: set[Future[Entry]],
    journal: Journal,
    progress: Callable[[int], None],
    *,
    is_failing: bool = False,
) -> None:
    """Keep every answer that came, and only then raise what one of them failed with."""
    failed = None
    for future in done:
        failed = future.exception() or failed
        if future.exception() is None and not journal.holds(future.result()):
            journal.add(future.result())
            progress(1)
    if failed is not None and not is_failing:
        raise failed
