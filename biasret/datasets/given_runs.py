"""Rankings made elsewhere, checked against the dataset they rank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from biasret.datasets.base import Dataset, Given, Loaded
from biasret.datasets.compressed import ending
from biasret.datasets.fields import is_blank
from biasret.datasets.reading import EXTENSIONS, Rows, listed, read, shown
from biasret.datasets.tally import Tally
from biasret.datasets.trec import number, read_run
from biasret.errors import InputError, TableError
from biasret.progress import Progress, silent
from biasret.tables import check

__all__ = ["Ranked", "best_ranks", "load", "ranked", "read_ranked"]

#: Column names that fill each field of a run in a table, in lower case.
_NAMES = {
    "query_id": ("query_id", "qid", "query-id", "query"),
    "doc_id": ("doc_id", "docid", "docno", "corpus-id", "document"),
    "rank": ("rank",),
    "score": ("score",),
}


def load(
    path: Path,
    *,
    name: str,
    into: Dataset,
    tag: str | None = None,
    escaped: bool = False,
    encoding: str | None = None,
    progress: Progress = silent,
) -> Loaded:
    """A run as results of a dataset that is there, by a retriever called as its tag.

    Parameters
    ----------
    tag
        What to call the retriever instead; needed where the file holds several tags.
    escaped
        Whether ids are percent-encoded, as `run_text` writes them when asked to.

    Returns
    -------
    Loaded
        Ranks follow the score, as trec_eval's do; of equal scores the file's own rank decides,
        then the document id. A gold document that is not in the run has no rank.

    Raises
    ------
    FileError, TableError, InputError
        The first thing wrong, with its line.
    """
    with progress(f"{name}: {path.name}", 1) as advance:
        found = read_run(path, escaped=escaped, encoding=encoding)
        advance(1)
    run = ranked(found, into, file=path.name, tag=tag)
    given = (Given("runs", run.runs, run.retriever), Given("gold_ranks", run.gold, run.retriever))
    return Loaded(into, run.notes, run.left_out, given=given)


def read_ranked(
    path: Path, dataset: Dataset, *, escaped: bool = False, encoding: str | None = None
) -> Ranked:
    """A run of a dataset from a TREC file, or from a table of query, document, rank or score.

    Parameters
    ----------
    path
        A table by its ending (csv, tsv, jsonl, parquet), whose retriever is called as the file;
        anything else is a TREC run.

    Raises
    ------
    FileError, TableError, InputError
        The first thing wrong, with its line.
    """
    if ending(path) not in EXTENSIONS:
        found = read_run(path, escaped=escaped, encoding=encoding)
    else:
        found = _tabled(read(path, encoding=encoding))
    return ranked(found, dataset, file=path.name)


def _tabled(rows: Rows) -> pd.DataFrame:
    file = rows.path.name
    of = {
        field: next((name for name in rows.names if name.strip().casefold() in names), None)
        for field, names in _NAMES.items()
    }
    for field, what in (("query_id", "query"), ("doc_id", "document")):
        if of[field] is None:
            raise TableError(
                f"{file} has no column for the {what}; call it {field}. Found {listed(rows.names)}."
            )
    if of["rank"] is None and of["score"] is None:
        raise TableError(f"{file} needs a rank or a score; found {listed(rows.names)}.")
    columns = {field: rows.texts(name) for field, name in of.items() if name is not None}
    records = []
    for row in range(len(rows.places)):
        place = rows.place(row)
        cells = {field: cells[row] for field, cells in columns.items()}
        for field, cell in cells.items():
            if is_blank(cell):
                raise TableError(f"{place}: {field} is blank.")
        rank, score = (str(cells.get(field, "")) for field in ("rank", "score"))
        if rank and not rank.strip().isdecimal():
            raise TableError(f"{place}: the rank {shown(rank)} is not a whole number.")
        records.append(
            (
                cells["query_id"],
                cells["doc_id"],
                int(rank) if rank else None,
                number(score.strip(), place) if score else None,
                file.partition(".")[0],
                place,
            )
        )
    frame = pd.DataFrame(records, columns=["query_id", "doc_id", "rank", "score", "tag", "place"])
    return frame.astype({"rank": "float64", "score": "float64"})


@dataclass(frozen=True)
class Ranked:
    """One retriever's rankings of a dataset's queries: ``runs`` and ``gold_ranks`` tables."""

    retriever: str
    runs: pd.DataFrame
    gold: pd.DataFrame
    notes: list[str]
    left_out: dict[str, int]


def ranked(found: pd.DataFrame, dataset: Dataset, *, file: str, tag: str | None = None) -> Ranked:
    """A run that was read, checked against the dataset it ranks.

    Parameters
    ----------
    found
        As `read_run` returns it; ``rank`` or ``score`` may be missing for all rows, not both.
    tag
        The retriever's name instead of the run's own.

    Raises
    ------
    TableError, InputError
        It holds several tags, a document twice for one query, documents that the dataset does
        not hold, or none of its queries.
    """
    tags = list(dict.fromkeys(found["tag"]))
    if tag is None and len(tags) != 1:
        raise InputError(f"{file} holds the runs {listed(tags)}; split it, or name one: --tag.")
    retriever = tags[0] if tag is None else tag
    if not retriever.strip() or not retriever.isprintable() or len(retriever) > 100:
        raise InputError(f"A run's tag needs 1 to 100 printable characters; found {retriever!r}.")
    if tag is not None and len(tags) > 1:
        found = found[found["tag"] == tag]
        if found.empty:
            raise InputError(f"{file} holds no run {tag!r}; found {listed(tags)}.")
    name = dataset.record.name
    asked = found["query_id"].isin(set(dataset.queries["query_id"]))
    if not asked.any():
        raise InputError(
            f"{file} ranks documents for none of the queries of {name!r}: it names "
            f"{listed(list(dict.fromkeys(found['query_id'])))}, and {name!r} holds "
            f"{listed(dataset.queries['query_id'].tolist())}."
        )
    tally = Tally("rows")
    tally.n_read = len(found)
    for row in found.loc[~asked, ["place", "query_id"]].itertuples(index=False):
        reason = "rows of queries that the dataset does not hold"
        tally.drop(reason, f"{row.place}, {shown(row.query_id)}")
    rows = found[asked]
    lost = rows[~rows["doc_id"].isin(set(dataset.documents["doc_id"]))]
    if len(lost):
        documents = list(dict.fromkeys(lost["doc_id"]))
        raise TableError(
            f"{lost['place'].iloc[0]}: the run names {len(documents):,} documents that {name!r} "
            f"does not hold, {listed(documents)}; without them its ranks would be others. Do they "
            "belong together?"
        )
    twice = rows[rows.duplicated(["query_id", "doc_id"])]
    if len(twice):
        row = twice.iloc[0]
        raise TableError(
            f"{row['place']}: document {shown(row['doc_id'])} stands twice in the ranking of query "
            f"{shown(row['query_id'])}; a ranking holds each once."
        )
    table, n_moved = _in_order(rows, dataset.queries)
    table = check(table.assign(dataset=name, retriever=retriever), "runs")
    gold = best_ranks(table, dataset.queries, dataset.qrels, dataset=name, retriever=retriever)
    return Ranked(
        retriever,
        table,
        gold,
        [
            *_notes(table, gold, dataset, retriever, n_moved),
            *(tally.notes() if tally.left_out else ()),
        ],
        dict(tally.left_out),
    )


def _in_order(rows: pd.DataFrame, queries: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Rows by query, best first, ranked from 1; and how many stand elsewhere than they say."""
    at = pd.Series(range(len(queries)), index=queries["query_id"])
    has_scores = rows["score"].notna().all()
    ordered = rows.assign(
        _query=rows["query_id"].map(at),
        # Without scores the rank stands for them, so that order and score agree.
        score=rows["score"] if has_scores else -rows["rank"].astype("float64"),
        _worst_last=-rows["score"] if has_scores else rows["rank"],
    ).sort_values(["_query", "_worst_last", "rank", "doc_id"], kind="stable")
    position = ordered.groupby("_query").cumcount() + 1
    n_moved = 0
    if rows["rank"].notna().all():
        first = ordered.groupby("_query")["rank"].transform("min")  # some tools count from 0
        n_moved = int((ordered["rank"] - first + 1 != position).sum())
    table = ordered.assign(rank=position)[["query_id", "rank", "doc_id", "score"]]
    return table, n_moved


def _notes(
    table: pd.DataFrame, gold: pd.DataFrame, dataset: Dataset, retriever: str, n_moved: int
) -> list[str]:
    n_ranked = table["query_id"].nunique()
    depth = int(table["rank"].max())
    notes = [
        f"{retriever!r} ranks {n_ranked:,} of {len(dataset.queries):,} queries, to depth {depth:,}."
    ]
    if n_ranked < len(dataset.queries):
        n = len(dataset.queries) - n_ranked
        notes.append(f"{n:,} queries are not in it; they count as having found nothing.")
    if n_moved:
        notes.append(
            f"{n_moved:,} rows stand at another rank than they say: the score decides, then the "
            "rank, then the document id."
        )
    judged = set(dataset.qrels.loc[dataset.qrels["grade"] >= 1, "query_id"])
    n_below = int((gold["query_id"].isin(judged) & gold["rank"].isna()).sum())
    if judged:
        notes.append(
            f"For {n_below:,} of {len(judged):,} queries with a gold document the run does not "
            "hold it: their reciprocal rank counts as 0."
        )
    return notes


def best_ranks(
    runs: pd.DataFrame,
    queries: pd.DataFrame,
    qrels: pd.DataFrame,
    *,
    dataset: str,
    retriever: str,
) -> pd.DataFrame:
    """Rank of the best gold document that a run holds, for every query.

    Returns
    -------
    pandas.DataFrame
        A ``gold_ranks`` table; missing where a query has no gold or the run does not hold it.
    """
    relevant = qrels.loc[qrels["grade"] >= 1, ["query_id", "doc_id"]].drop_duplicates()
    hits = runs[["query_id", "doc_id", "rank"]].merge(relevant, on=["query_id", "doc_id"])
    best = hits.groupby("query_id")["rank"].min()
    ranks = best.reindex(queries["query_id"]).astype("Int64")
    table = pd.DataFrame(
        {"query_id": queries["query_id"].to_numpy(), "rank": ranks.array, "class_rank": ranks.array}
    )
    return check(table.assign(dataset=dataset, retriever=retriever), "gold_ranks")
