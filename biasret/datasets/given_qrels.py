"""Judgements made elsewhere, added to a dataset that is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from biasret.datasets.base import Dataset, Given, Loaded
from biasret.datasets.given_runs import best_ranks
from biasret.datasets.reading import shown
from biasret.datasets.tally import Tally
from biasret.datasets.trec import read_qrels
from biasret.errors import InputError, TableError
from biasret.progress import Progress, silent
from biasret.tables import check

__all__ = ["load"]

_KEY = ["query_id", "doc_id", "grade"]


def load(
    path: Path,
    *,
    name: str,
    into: Dataset,
    judge: str | None = None,
    escaped: bool = False,
    replace: bool = False,
    encoding: str | None = None,
    runs: Mapping[str, pd.DataFrame] | None = None,
    progress: Progress = silent,
) -> Loaded:
    """Judgements for a dataset that is there, beside those it has.

    Parameters
    ----------
    judge
        Who judged. None: the file's name without its ending.
    replace
        Whether other judgements by this judge may be replaced.
    runs
        Imported ``runs`` tables by retriever; the ranks of their gold are found anew.

    Raises
    ------
    FileError, TableError, InputError
        The first thing wrong, with its line.
    """
    with progress(f"{name}: {path.name}", 1) as advance:
        found = read_qrels(path, escaped=escaped, encoding=encoding)
        advance(1)
    judge = path.name.partition(".")[0] if judge is None else judge
    if not judge.strip() or not judge.isprintable():
        raise InputError(f"A judge needs a printable name; found {judge!r}. Say --judge.")
    tally = Tally("judgements")
    new = _usable(found, into, tally).assign(dataset=name, judge=judge)
    if new.empty:
        raise InputError(
            f"{path.name} judges nothing that {name!r} holds ({' '.join(tally.notes())}); do they "
            "belong together?"
        )
    notes = [
        f"{len(new):,} judgements by {judge!r}, {int((new['grade'] >= 1).sum()):,} relevant.",
        *tally.notes(),
    ]
    own = into.qrels["judge"] == judge
    if own.any() and _same(into.qrels[own], new):
        qrels = into.qrels  # the same again, in the order it has
    elif own.any() and not replace:
        raise InputError(
            f"{name!r} holds {own.sum():,} other judgements by {judge!r}; name another --judge, "
            "or add --replace to replace those."
        )
    else:
        qrels = check(pd.concat([into.qrels[~own], new], ignore_index=True), "qrels")
    given = [Given("qrels", qrels)]
    for retriever, run in (runs or {}).items():
        gold = best_ranks(run, into.queries, qrels, dataset=name, retriever=retriever)
        given.append(Given("gold_ranks", gold, retriever))
    dataset = Dataset.checked(
        into.record, documents=into.documents, queries=into.queries, qrels=qrels
    )
    return Loaded(dataset, notes, dict(tally.left_out), given=tuple(given))


def _usable(found: pd.DataFrame, into: Dataset, tally: Tally) -> pd.DataFrame:
    """Judgements of what is there, each once."""
    queries, documents = set(into.queries["query_id"]), set(into.documents["doc_id"])
    tally.n_read = len(found)
    seen: dict[tuple[str, str], tuple[int, str]] = {}
    for query, document, grade, place in found.itertuples(index=False, name=None):
        before = seen.get((query, document))
        if query not in queries:
            tally.drop("queries that the dataset does not hold", f"{place}, {shown(query)}")
        elif document not in documents:
            tally.drop("documents that the dataset does not hold", f"{place}, {shown(document)}")
        elif before is None:
            seen[query, document] = (grade, place)
        elif before[0] != grade:
            raise TableError(
                f"{place}: this pair was graded {before[0]} at {before[1]} and is graded {grade} "
                "here; keep one."
            )
        else:
            tally.drop("judgements that are given twice", place)
    rows = [(query, document, grade) for (query, document), (grade, _) in seen.items()]
    return pd.DataFrame(rows, columns=_KEY)


def _same(old: pd.DataFrame, new: pd.DataFrame) -> bool:
    return set(old[_KEY].itertuples(index=False, name=None)) == set(
        new[_KEY].itertuples(index=False, name=None)
    )
