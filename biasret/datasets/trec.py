"""TREC runs and judgements: six and four columns of text, in and out.

Columns are separated by spaces or tabs, so an id cannot hold either. Ids are written as they
are; where one holds white space, `run_text` and `qrels_text` refuse, or, asked to escape,
write every id percent-encoded (``%`` too, so that it is reversible), and reading takes that
back where it is said again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd

from biasret.datasets.compressed import unpacked
from biasret.datasets.decoding import decode
from biasret.datasets.reading import shown
from biasret.errors import InputError, TableError

__all__ = ["number", "qrels_text", "read_qrels", "read_run", "run_text"]

_BLANKS = re.compile(r"[ \t\v\f]+")


def read_run(path: Path, *, escaped: bool = False, encoding: str | None = None) -> pd.DataFrame:
    """A run file as it stands.

    Returns
    -------
    pandas.DataFrame
        ``query_id``, ``doc_id``, ``rank``, ``score``, ``tag``, ``place``, one row a line.
    """
    rows, places = _lines(path, ("query", "Q0", "document", "rank", "score", "tag"), encoding)
    records = []
    for (query, _, document, rank, score, tag), place in zip(rows, places, strict=True):
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", rank):
            raise TableError(f"{place}: the rank {shown(rank)} is not a whole number.")
        records.append(
            (
                _plain(query, escaped, place),
                _plain(document, escaped, place),
                int(rank),
                number(score, place),
                _plain(tag, escaped, place),
                place,
            )
        )
    columns = ["query_id", "doc_id", "rank", "score", "tag", "place"]
    return pd.DataFrame(records, columns=columns)


def read_qrels(path: Path, *, escaped: bool = False, encoding: str | None = None) -> pd.DataFrame:
    """A file of judgements as it stands.

    Returns
    -------
    pandas.DataFrame
        ``query_id``, ``doc_id``, ``grade``, ``place``, one row a line.
    """
    rows, places = _lines(path, ("query", "iteration", "document", "grade"), encoding)
    records = []
    for (query, _, document, grade), place in zip(rows, places, strict=True):
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", grade):
            raise TableError(f"{place}: the grade {shown(grade)} is not a whole number.")
        ids = (_plain(query, escaped, place), _plain(document, escaped, place))
        records.append((*ids, int(grade), place))
    return pd.DataFrame(records, columns=["query_id", "doc_id", "grade", "place"])


def number(text: str, place: str) -> float:
    """A finite number, or an error that says where it stands."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or "_" in text:
        raise TableError(f"{place}: the score {shown(text)} is not a finite number.")
    return value


# -- out ------------------------------------------------------------------------------------


def run_text(runs: pd.DataFrame, *, escape: bool = False, break_ties: bool = False) -> str:
    """A ``runs`` table of one retriever as a TREC run; its tag is the retriever's name.

    Parameters
    ----------
    break_ties
        Lower tied scores by the least step of a 32-bit float, so that tools which order by
        score alone keep this order. Otherwise scores have every digit and read back the same;
        where one is missing, all are written as minus the rank.

    Raises
    ------
    InputError
        An id or the name holds white space and `escape` is not set.
    """
    ordered = runs.sort_values(["query_id", "rank"], kind="stable")
    # An imported ranking may have come without scores: minus the rank keeps its order.
    is_scored = bool(ordered["score"].notna().all())
    scores = (ordered["score"] if is_scored else -ordered["rank"]).to_numpy(dtype=np.float64)
    if break_ties:
        scores = _untied(ordered["query_id"].to_numpy(), scores)
    written = [
        _written(ordered[column].tolist(), what, escape)
        for column, what in (
            ("query_id", "query"),
            ("doc_id", "document"),
            ("retriever", "retriever"),
        )
    ]
    rows = zip(written[0], written[1], ordered["rank"], scores, written[2], strict=True)
    return "".join(
        f"{query} Q0 {document} {rank} {float(score)!r} {tag}\n"
        for query, document, rank, score, tag in rows
    )


def qrels_text(qrels: pd.DataFrame, *, escape: bool = False) -> str:
    """Judgements of one judge as TREC qrels.

    Raises
    ------
    InputError
        An id holds white space and `escape` is not set.
    """
    queries = _written(qrels["query_id"].tolist(), "query", escape)
    documents = _written(qrels["doc_id"].tolist(), "document", escape)
    rows = zip(queries, documents, qrels["grade"], strict=True)
    return "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in rows)


def _untied(queries: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Scores that fall strictly within each query, as 32-bit floats see them."""
    lowered = scores.astype(np.float32)
    for at in range(1, len(lowered)):
        if queries[at] == queries[at - 1] and lowered[at] >= lowered[at - 1]:
            lowered[at] = np.nextafter(lowered[at - 1], np.float32(-np.inf))
    return lowered.astype(np.float64)


def _written(ids: Sequence[str], what: str, escape: bool) -> list[str]:
    if escape:
        return ["".join(_escaped(c) for c in one) for one in ids]
    for one in ids:
        if not one or any(c.isspace() or not c.isprintable() for c in one):
            raise InputError(
                f"The {what} {shown(one)} holds white space, which separates the columns of a TREC "
                "file; add --escape to write ids percent-encoded."
            )
    return list(ids)


def _escaped(character: str) -> str:
    if character == "%" or character.isspace() or not character.isprintable():
        return "".join(f"%{byte:02X}" for byte in character.encode())
    return character


def _plain(written: str, escaped: bool, place: str) -> str:
    if not escaped:
        return written
    try:
        return unquote(written, errors="strict")
    except UnicodeDecodeError as error:
        raise TableError(
            f"{place}: {shown(written)} is no percent-encoded text; leave out --escaped."
        ) from error


def _lines(
    path: Path, columns: tuple[str, ...], encoding: str | None
) -> tuple[list[list[str]], list[str]]:
    """The cells of each line that is not blank, and where it stands."""
    text, _ = decode(path, unpacked(path), encoding=encoding)
    rows, places = [], []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        cells = _BLANKS.split(line.strip(" \t\v\f"))
        if cells == [""]:
            continue
        place = f"{path.name}, line {number}"
        if len(cells) != len(columns):
            raise TableError(
                f"{place}: found {len(cells)} columns where {len(columns)} are needed "
                f"({', '.join(columns)}); ids cannot hold spaces."
            )
        rows.append(cells)
        places.append(place)
    return rows, places
