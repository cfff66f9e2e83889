"""Relevance judging: pooled lists -> pairs -> grades, by a model or from a file.

Follows section 2.2 of Tang et al.: the first ten documents of every retriever are pooled, and
each unique pair of query and document is graded 0 or 1. A judge's grades lie in a file of
their own beside the dataset's own judgements, so that neither another judge nor the gold
answers are ever touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from biasret.asking import Journal, Tally, Task, Unreadable
from biasret.datasets.base import Dataset, DatasetRecord
from biasret.datasets.fields import MappedRows, refuse_repeated
from biasret.datasets.mapping import TableMapping
from biasret.datasets.reading import listed, read, shown
from biasret.errors import InputError, TableError
from biasret.precomputed import Folder
from biasret.prompts import RUBRICS, Rubric, material
from biasret.tables import check

__all__ = [
    "DEPTH",
    "SIDE",
    "Graded",
    "checked_name",
    "default_rubric",
    "document_side",
    "graded_by_model",
    "graded_in_file",
    "judgments",
    "pool",
    "read_grade",
    "save",
    "tasks",
]

#: Documents of each list that are pooled, and characters of each side that are shown.
DEPTH, SIDE = 10, 600


@dataclass(frozen=True)
class Graded:
    """One judge's grades.

    Attributes
    ----------
    qrels : ``query_id``, ``doc_id``, ``grade``
    n_pool
        Pairs that were to be graded; of a file, its rows.
    n_missing
        Answers without a readable grade; they have no row.
    left_out
        How many rows of a file were left out, by reason.
    """

    qrels: pd.DataFrame
    n_pool: int
    n_missing: int
    left_out: dict[str, int]


def default_rubric(record: DatasetRecord) -> Rubric:
    """The rubric that fits a dataset.

    Wordings made from a news story are judged by story; people's own questions by whether a
    document helps.
    """
    return RUBRICS["story" if record.signal == "lean" and record.is_paired else "question"]


def checked_name(judge: str, taken: Sequence[str]) -> str:
    """The name a judge goes by in tables, files and links.

    Raises
    ------
    InputError
        It is blank, long or unprintable, or the dataset's own judgements go by it.
    """
    if not judge.strip() or len(judge) > 60 or not judge.isprintable():
        raise InputError(f"A judge's name needs 1 to 60 printable characters; found {judge!r}.")
    if judge in taken:
        raise InputError(
            f"The dataset's own judgements go by the name {judge!r}; choose another for this judge."
        )
    return judge


def pool(top: pd.DataFrame, queries: pd.DataFrame, record: DatasetRecord) -> pd.DataFrame:
    """Unique pairs of query and document, in the order they first appear.

    Parameters
    ----------
    top : ``retriever``, ``query_id``, ``doc_id``
        The first `DEPTH` documents of every list.
    queries
        Of the dataset; only those of the two groups compared are judged.
    """
    if record.minuend is not None:
        queries = queries[queries["group"].isin([record.minuend, record.subtrahend])]
    kept = top[top["query_id"].isin(queries["query_id"])]
    return kept[["query_id", "doc_id"]].drop_duplicates().reset_index(drop=True)


def document_side(text: str, *, title: str | None, source: str | None) -> str:
    r"""What a judge sees of a document: ``[source] title``, a blank line, text; cut at `SIDE`.

    Examples
    --------
    >>> document_side("Words.", title="News", source="The Paper")
    '[The Paper] News\n\nWords.'
    >>> document_side("Words.", title=None, source=None)
    'Words.'
    """
    head = " ".join([*([f"[{source}]"] if source else []), *([title] if title else [])])
    return (f"{head}\n\n{text}" if head else text)[:SIDE]


def tasks(
    pairs: pd.DataFrame, queries: pd.DataFrame, documents: pd.DataFrame, rubric: Rubric
) -> list[Task]:
    """One question a pair.

    Parameters
    ----------
    pairs
        As `pool` returns them.
    """

    def optional(value: object) -> str | None:
        return value if isinstance(value, str) else None

    asked = dict(zip(queries["query_id"], queries["text"].str[:SIDE], strict=True))
    columns = (documents[name] for name in ("doc_id", "text", "title", "source"))
    sides = {
        doc: document_side(text, title=optional(title), source=optional(source))
        for doc, text, title, source in zip(*columns, strict=True)
    }
    return [
        Task(
            (query, doc), rubric.system, material(query=str(asked[query]), document=str(sides[doc]))
        )
        for query, doc in zip(pairs["query_id"], pairs["doc_id"], strict=True)
    ]


def read_grade(text: str) -> int:
    """The grade in a model's answer.

    JSON is read as such; of anything else the first digit after the word "grade" counts
    (Tang et al., Fig. 8).

    Raises
    ------
    Unreadable
        There is no grade, or it is neither 0 nor 1.

    Examples
    --------
    >>> read_grade('{"grade": 1}'), read_grade("Sure! The grade is: 0.")
    (1, 0)
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    grade = found.get("grade") if isinstance(found, dict) else None
    if grade is None:
        match = re.search(r"grade[^0-9]*([0-9])", text, flags=re.IGNORECASE)
        if match is None:
            raise Unreadable("The answer holds no grade.")
        grade = match.group(1)
    if str(grade) not in ("0", "1"):
        raise Unreadable(f"The grade {shown(grade)} is neither 0 nor 1.")
    return int(grade)


def graded_by_model(journal: Journal, asked: Sequence[Task], tally: Tally) -> Graded:
    """The grades that a journal holds for the tasks given."""
    rows = [
        (*task.key, entry.result)
        for task in asked
        if (entry := journal.get(task)) is not None and entry.result is not None
    ]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"])
    return Graded(qrels, tally.n_tasks, tally.n_unreadable, {})


def graded_in_file(path: Path, dataset: Dataset, *, judge: str) -> Graded:
    """Grades from a file: CSV, TSV, JSON Lines or Parquet.

    Columns as in a qrels file (``query_id``, ``doc_id`` or ``article_id``, ``grade``, and
    maybe ``judge``, of which only rows of this judge are read). A grade that is null or blank
    is missing; rows on queries or documents that the dataset does not hold are left out and
    counted.

    Raises
    ------
    FileError, TableError
        The file cannot be read, a grade is no whole number, or a pair stands twice.
    InputError
        No row is on the dataset's queries and documents.
    """
    rows = MappedRows("qrels", read(path), TableMapping())
    names = rows.texts("judge")
    keys = list(zip(rows.required("query_id"), rows.required("doc_id"), strict=True))
    queries, documents = set(dataset.queries["query_id"]), set(dataset.documents["doc_id"])
    left_out: dict[str, int] = {}
    kept, places, n_missing = [], [], 0
    for row, ((query, doc), name, grade) in enumerate(
        zip(keys, names, rows.texts("grade"), strict=True)
    ):
        reason = None
        if name is not None and name != judge:
            reason = "by another judge"
        elif query not in queries:
            reason = "on a query that the dataset does not hold"
        elif doc not in documents:
            reason = "on a document that the dataset does not hold"
        if reason is not None:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        if grade is not None and not re.fullmatch(r"\s*[0-9]{1,9}(\.0*)?\s*", grade):
            raise TableError(
                f"{rows.place(row)}: the grade {shown(grade)} is not a whole number; write 0 for "
                "not relevant, 1 or more for relevant, and leave it empty where it is missing."
            )
        places.append(row)
        n_missing += grade is None
        kept.append((query, doc, None if grade is None else int(float(grade))))
    if not kept:
        found = listed(list(dict.fromkeys(query for query, _ in keys)))
        raise InputError(
            f"No row of {path.name} is by {judge!r} on queries and documents of "
            f"{dataset.record.name!r} ({'; '.join(f'{n:,} {why}' for why, n in left_out.items())}; "
            f"its queries are {found}). Make the ids agree to the letter."
        )
    refuse_repeated(
        [row[:2] for row in kept], lambda at: rows.place(places[at]), what="pair (query, document)"
    )
    graded = [row for row in kept if row[2] is not None]
    qrels = pd.DataFrame(graded, columns=["query_id", "doc_id", "grade"])
    return Graded(qrels, len(kept), n_missing, left_out)


def save(
    folder: Folder,
    dataset: str,
    judge: str,
    graded: Graded,
    *,
    kind: str,
    model: str | None = None,
    rubric: str | None = None,
    tally: Tally | None = None,
) -> None:
    """Put a judge's grades in place of that judge's earlier ones.

    Parameters
    ----------
    kind
        ``model`` or ``file``.
    """
    qrels = graded.qrels.assign(dataset=dataset, judge=judge).astype({"grade": "int64"})
    folder.write("qrels", qrels, dataset=dataset, retriever=judge)
    about = {
        "dataset": dataset,
        "judge": judge,
        "kind": kind,
        "n_pool": graded.n_pool,
        "n_pairs": len(qrels),
        "n_missing": graded.n_missing,
        "model": model,
        "rubric": rubric,
        "prompt_tokens": tally.prompt_tokens if tally else None,
        "completion_tokens": tally.completion_tokens if tally else None,
    }
    folder.write("judges", pd.DataFrame([about]), dataset=dataset, retriever=judge)


def judgments(folder: Folder, dataset: str) -> pd.DataFrame:
    """Every judge's grades of a dataset, without the dataset's own judgements.

    Returns
    -------
    pandas.DataFrame
        A ``qrels`` table.
    """
    parts = [folder.read("qrels", dataset, judge) for judge in folder.retrievers("qrels", dataset)]
    columns = ["dataset", "query_id", "doc_id", "judge", "grade"]
    return check(
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns), "qrels"
    )
