"""Frames of articles, framed queries, ideology of posts: three tasks for a chat model.

Stages A and B and the labelling of section 1 of Tang et al. (2026). Each has tasks, a reader of
answers, and rows that a file of JSON Lines takes; the queries' file is one that
``import articles`` reads.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from biasret.asking import Journal, Task, Unreadable
from biasret.datasets.fields import refuse_repeated
from biasret.datasets.mapping import find_column
from biasret.datasets.reading import Rows, listed, read, shown
from biasret.errors import InputError, TableError
from biasret.prompts import (
    FRAMES_SYSTEM,
    IDEOLOGY_SYSTEM,
    QUERY_WORDS,
    material,
    query_system,
)
from biasret.signals.framing import FRAMES

__all__ = [
    "SIDES",
    "Cell",
    "Rejected",
    "frame_rows",
    "frame_tasks",
    "ideology_rows",
    "ideology_tasks",
    "query_rows",
    "query_tasks",
    "read_cells",
    "read_frames",
    "read_ideology",
    "read_posts",
    "read_queries",
    "rejected",
    "write_rows",
]

SIDES = ("neutral", "left", "right")

#: Characters of an article or post that a model is shown.
SHOWN = 6_000

#: In the order in which they are looked for: the first that an answer holds is the label
#: (Tang et al., section 1.2).
IDEOLOGIES = ("conservative", "centrist", "liberal")


@dataclass(frozen=True)
class Cell:
    """One article in one frame."""

    doc_id: str
    frame: str


@dataclass(frozen=True)
class Rejected:
    """A task whose answer cannot be used, and why."""

    key: tuple[str, ...]
    why: str


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("The answer is no JSON.") from error
    if not isinstance(found, dict):
        raise Unreadable("The answer is no JSON object.")
    return found


def _article(documents: pd.DataFrame) -> dict[str, str]:
    titles = documents["title"].fillna("")
    return {
        doc: (f"{title}\n\n{text}" if title else text)[:SHOWN]
        for doc, title, text in zip(documents["doc_id"], titles, documents["text"], strict=True)
    }


# -- frames ------------------------------------------------------------------------------


def frame_tasks(documents: pd.DataFrame) -> list[Task]:
    """One question an article: which frames it uses."""
    return [
        Task((doc,), FRAMES_SYSTEM, material(article=text))
        for doc, text in _article(documents).items()
    ]


def read_frames(text: str) -> list[dict[str, Any]]:
    """The frames in a model's answer, the most salient first.

    Returns
    -------
    list of dict
        ``key`` (of `FRAMES`) and ``salience`` (0 to 1).

    Raises
    ------
    Unreadable
        A frame is unknown or named twice, or a salience is no number from 0 to 1.
    """
    frames = _object(text).get("frames")
    if not isinstance(frames, list):
        raise Unreadable("The answer holds no list of frames.")
    found: dict[str, float] = {}
    for one in frames:
        if not isinstance(one, dict) or one.get("key") not in FRAMES:
            raise Unreadable(f"{shown(one)} names no frame of the fifteen.")
        salience = _salience(one.get("salience"))
        if salience is None:
            raise Unreadable(f"The salience {shown(one.get('salience'))} is no number from 0 to 1.")
        if one["key"] in found:
            raise Unreadable(f"The frame {one['key']!r} is named twice.")
        found[one["key"]] = salience
    ordered = sorted(found.items(), key=lambda pair: -pair[1])  # stable: ties as the model has them
    return [{"key": key, "salience": salience} for key, salience in ordered]


def _salience(value: object) -> float | None:
    """A number from 0 to 1, as a number or a text that spells one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number <= 1 else None


def frame_rows(journal: Journal, tasks: Sequence[Task]) -> Iterator[dict[str, Any]]:
    """``article_id`` and ``frames`` of every article answered, as the release has them."""
    for task, result in _results(journal, tasks):
        yield {"article_id": task.key[0], "frames": result}


# -- queries -----------------------------------------------------------------------------


def read_cells(path: Path, documents: pd.DataFrame, *, least: float = 0.0) -> list[Cell]:
    """The cells of a file of frames.

    Parameters
    ----------
    path
        JSON Lines with ``article_id`` and ``frames``, as `frame_rows` writes them.
    least
        Frames of a smaller salience are passed over.

    Raises
    ------
    TableError
        A frame or article is unknown; the message says where.
    """
    rows = read(path)
    known = set(documents["doc_id"])
    cells: dict[Cell, None] = {}
    ids = rows.texts(find_column("article_id", rows.names, file=path.name))
    refuse_repeated(ids, rows.place, what="article id")
    for row, (doc, frames) in enumerate(
        zip(ids, rows.column(find_column("frames", rows.names, file=path.name)), strict=True)
    ):
        if doc not in known:
            raise TableError(f"{rows.place(row)}: no document has the id {shown(doc)}.")
        for one in frames if isinstance(frames, list) else [frames]:
            given = one if isinstance(one, dict) else {}
            if given.get("key") not in FRAMES:
                raise TableError(
                    f"{rows.place(row)}: {shown(one)} names no frame; the frames are "
                    f"{listed(list(FRAMES), most=15)}."
                )
            salience = _salience(given.get("salience", 1))
            if salience is None:
                raise TableError(
                    f"{rows.place(row)}: the salience {shown(given['salience'])} is no number from "
                    "0 to 1."
                )
            if salience >= least:
                cells[Cell(str(doc), str(given["key"]))] = None
    if not cells:
        raise InputError(f"{path.name} holds no frame of salience {least} or more.")
    return list(cells)


def query_tasks(cells: Sequence[Cell], documents: pd.DataFrame) -> list[Task]:
    """One question a cell: a neutral, a left and a right query."""
    articles = _article(documents)
    return [
        Task((cell.doc_id, cell.frame), query_system(cell.frame), material(article=articles[doc]))
        for cell in cells
        for doc in [cell.doc_id]
    ]


def read_queries(text: str) -> dict[str, str]:
    """The three queries in a model's answer, by side.

    Raises
    ------
    Unreadable
        One is missing, has fewer or more words than asked for, or is worded as another is.
    """
    found = _object(text)
    fewest, most = QUERY_WORDS
    queries = {}
    for side in SIDES:
        query = found.get(side)
        if not isinstance(query, str) or not query.strip():
            raise Unreadable(f"The answer holds no {side} query.")
        queries[side] = re.sub(r"\s+", " ", query).strip()
        n = len(queries[side].split())
        if not fewest <= n <= most:
            raise Unreadable(f"The {side} query has {n} words; {fewest} to {most} were asked for.")
    if len({query.casefold() for query in queries.values()}) < len(SIDES):
        raise Unreadable("Two of the three queries are the same.")
    return queries


def query_rows(journal: Journal, tasks: Sequence[Task], *, origin: str) -> Iterator[dict[str, Any]]:
    """A row a query, in the columns that ``import articles`` reads.

    Parameters
    ----------
    origin
        Who wrote the texts, such as ``"generated (MODEL)"``.
    """
    for task, result in _results(journal, tasks):
        doc, frame = task.key
        for side in SIDES:
            yield {
                "query_id": f"{doc}__{frame}__{side}",
                "text": result[side],
                "group": side,
                "cell_id": f"{doc}__{frame}",
                "cluster_id": doc,
                "source_doc_ids": [doc],
                "frame": frame,
                "origin": origin,
            }


# -- ideology ----------------------------------------------------------------------------


def read_posts(path: Path) -> list[tuple[str, str]]:
    """Id and text of every post of a file (CSV, TSV, JSON Lines, Parquet).

    Raises
    ------
    TableError
        There is no ``id`` or ``text`` (or ``title``) column, a cell is blank, or an id stands
        twice.
    """
    rows = read(path)
    ids = _filled(rows, ("id", "query_id", "post_id"))
    texts = _filled(rows, ("text", "title"))
    refuse_repeated(ids, rows.place, what="post id")
    return list(zip(ids, texts, strict=True))


def _filled(rows: Rows, names: Sequence[str]) -> list[str]:
    name = next((name for name in names if name in rows.names), None)
    if name is None:
        raise TableError(
            f"{rows.path.name} has no column {' or '.join(map(repr, names))}; found "
            f"{listed(rows.names, most=20)}."
        )
    cells = rows.texts(name)
    filled = [cell for cell in cells if cell is not None and cell.strip()]
    if len(filled) < len(cells):
        row = next(row for row, cell in enumerate(cells) if cell is None or not cell.strip())
        raise TableError(f"{rows.place(row)}: {name} is blank; fill it, or remove the row.")
    return filled


def ideology_tasks(posts: Sequence[tuple[str, str]]) -> list[Task]:
    """One question a post: which views its wording suggests."""
    return [Task((post,), IDEOLOGY_SYSTEM, material(post=text[:SHOWN])) for post, text in posts]


def read_ideology(text: str) -> str:
    """The first of conservative, centrist, liberal that an answer holds, else ``unclear``.

    The order is that of the names and not of the answer, as in Tang et al., section 1.2; "not
    conservative but liberal" is read as conservative.

    Raises
    ------
    Unreadable
        The answer is empty.

    Examples
    --------
    >>> read_ideology("Liberal."), read_ideology("unclear"), read_ideology("hard to say")
    ('liberal', 'unclear', 'unclear')
    """
    if not text.strip():
        raise Unreadable("The answer is empty.")
    folded = text.casefold()
    return next((name for name in IDEOLOGIES if name in folded), "unclear")


def ideology_rows(
    journal: Journal, tasks: Sequence[Task], posts: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """A row a post, in the columns that ``import articles`` reads.

    ``group`` is the label and empty for unclear posts: what a model cannot tell is no group.
    """
    texts = dict(posts)
    for task, result in _results(journal, tasks):
        yield {
            "query_id": task.key[0],
            "text": texts[task.key[0]],
            "group": None if result == "unclear" else result,
            "origin": "found",
        }


# -- all three ---------------------------------------------------------------------------


def _results(journal: Journal, tasks: Sequence[Task]) -> Iterator[tuple[Task, Any]]:
    for task in tasks:
        entry = journal.get(task)
        if entry is not None and entry.result is not None:
            yield task, entry.result


def rejected(journal: Journal, tasks: Sequence[Task]) -> list[Rejected]:
    """Tasks whose answers could not be used, with the reasons."""
    entries = [journal.get(task) for task in tasks]
    return [
        Rejected(entry.key, entry.why or "")
        for entry in entries
        if entry is not None and entry.result is None
    ]


def write_rows(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    """Write rows as JSON Lines, in one step; the number written."""
    beside = path.with_name(f".{path.name}.part")
    n = 0
    try:
        with beside.open("w", encoding="ascii") as handle:
            for row in rows:
                handle.write(json.dumps(row) + "\n")
                n += 1
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return n
