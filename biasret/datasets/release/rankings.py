"""Rankings and judgments of the release: one row a (query, document)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from biasret.datasets.base import Given
from biasret.datasets.release.files import Files, refuse
from biasret.tables import STANCES

__all__ = ["JUDGES", "judgments", "known_documents", "rankings", "results", "stated"]

#: File of each judge.
JUDGES = {
    "gpt-5-mini": "judgments.jsonl",
    "Qwen3.5-35B-A3B": "judgments_qwen.jsonl",
}

_COLUMNS = {
    "query_id": "text",
    "encoder": "text",
    "rank": "int",
    "retrieved_article_id": "text",
    "retrieved_stance": "text",
}


def rankings(files: Files, folder: str, *, has_scores: bool) -> dict[str, pd.DataFrame]:
    """The lists of every retriever with a file in a folder.

    Returns
    -------
    dict of str to pandas.DataFrame
        By retriever: ``query_id``, ``rank``, ``doc_id``, ``stance``, ``score`` where there are
        scores; in file order.

    Raises
    ------
    TableError
        A file holds lists of another retriever, a list whose ranks do not run from 1 without a
        gap, a document twice in one list, or an unknown stance.
    """
    kinds = {**_COLUMNS, "score": "float"} if has_scores else _COLUMNS
    found = {}
    for retriever in files.stems(folder):
        name = f"{folder}/{retriever}.csv"
        frame = files.frame(name, kinds)
        path = files.find(name)
        assert frame is not None
        assert path is not None
        frame = frame.rename(
            columns={"retrieved_article_id": "doc_id", "retrieved_stance": "stance"}
        )
        _check_lists(path, frame, retriever)
        found[retriever] = frame.drop(columns="encoder")
    if not found:
        files.absent.append(f"{folder}/*.csv")
    return found


def _check_lists(path: Path, frame: pd.DataFrame, retriever: str) -> None:
    other = frame["encoder"] != retriever
    refuse(path, frame.loc[other, "encoder"], f"are of another retriever than {retriever}")
    unknown = ~frame["stance"].isin(STANCES)
    refuse(path, frame.loc[unknown, "stance"], f"have a stance not among {', '.join(STANCES)}")
    place = frame.groupby("query_id", sort=False).cumcount() + 1
    gap = frame["rank"] != place
    refuse(path, frame.loc[gap, "rank"], "have a rank that does not follow the one before")
    twice = frame.duplicated(["query_id", "doc_id"])
    refuse(path, frame.loc[twice, "doc_id"], "hold a document that its list holds already")


def judgments(files: Files, folder: str) -> pd.DataFrame:
    """Grades of both judges: ``query_id``, ``doc_id``, ``judge``, ``grade``.

    A pair without a grade (its answer could not be read) is left out and counted, and so is a
    pair that a judge graded before.
    """
    parts = []
    for judge, name in JUDGES.items():
        rows = files.rows(f"{folder}/{name}")
        if rows is None:
            continue
        frame = pd.DataFrame(
            {
                "query_id": rows.texts("query_id"),
                "doc_id": rows.texts("article_id"),
                "judge": judge,
                "grade": rows.texts("grade"),
            }
        )
        is_odd = frame["grade"].notna() & ~frame["grade"].isin(["0", "1"])
        refuse(rows.path, frame.loc[is_odd, "grade"], "have a grade other than 0, 1", first_line=1)
        without = frame["grade"].isna()
        repeated = frame.duplicated(["query_id", "doc_id"]) & ~without
        files.left_out[f"{folder}/{name}: no grade"] += int(without.sum())
        files.left_out[f"{folder}/{name}: pair graded before"] += int(repeated.sum())
        parts.append(frame[~without & ~repeated])
    if not parts:
        return pd.DataFrame(columns=["query_id", "doc_id", "judge", "grade"], dtype="object")
    return pd.concat(parts, ignore_index=True).astype({"grade": "int64"})


def known_documents(
    documents: pd.DataFrame, lists: Iterable[pd.DataFrame], named: Iterable[str], notes: list[str]
) -> pd.DataFrame:
    """The documents, and a row without text for each that only a list or judgment names.

    Parameters
    ----------
    documents
        A ``documents`` table without its dataset; may be empty.
    lists
        Frames with ``doc_id`` and ``stance``.
    named
        Ids that judgments or queries name.
    notes
        Gets a sentence where documents lack their text or two sources disagree.
    """
    pairs = [frame[["doc_id", "stance"]].drop_duplicates() for frame in lists]
    seen = pd.concat(pairs).drop_duplicates() if pairs else pd.DataFrame(columns=["doc_id"])
    stances = seen.drop_duplicates("doc_id").set_index("doc_id")
    stance = stances["stance"] if "stance" in stances else pd.Series(dtype="str")
    in_corpus = documents.set_index("doc_id")["stance"] if len(documents) else stance.iloc[:0]
    both = in_corpus.index.intersection(stance.index)
    n_other = int((in_corpus.loc[both] != stance.loc[both]).sum()) + int(
        seen["doc_id"].duplicated().sum()
    )
    if n_other:
        notes.append(
            f"{n_other:,} documents have another stance in a ranking than in the corpus; the "
            "corpus's counts."
        )
    wanted = dict.fromkeys([*stance.index, *named])
    lost = [doc_id for doc_id in wanted if doc_id not in in_corpus.index]
    if not lost:
        return documents
    notes.append(
        f"{len(lost):,} documents are named by rankings, judgments or queries and are not in the "
        "corpus file; they are kept by id, without a text."
    )
    more = pd.DataFrame({"doc_id": lost, "text": "", "stance": stance.reindex(lost).to_numpy()})
    return pd.concat([documents, more], ignore_index=True)


def stated(
    values: Mapping[tuple[str, int | None], pd.Series], *, asked: Iterable[str]
) -> pd.DataFrame:
    """A ``given_values`` table of one retriever, from values by query.

    Parameters
    ----------
    values
        By metric and depth: values by ``query_id``; queries that were not asked are left out.
    """
    known = set(asked)
    parts = [
        pd.DataFrame(
            {
                "query_id": of.index,
                "metric": metric,
                "k": pd.array([k] * len(of), dtype="Int64"),
                "value": of.to_numpy(dtype="float64"),
            }
        )
        for (metric, k), of in values.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame[frame["query_id"].isin(known)]


def results(
    dataset: str,
    retriever: str,
    *,
    ranks: pd.DataFrame,
    run: pd.DataFrame | None = None,
    values: pd.DataFrame | None = None,
) -> list[Given]:
    """What came of one retriever, as tables to be stored.

    Parameters
    ----------
    ranks
        ``query_id`` of every query asked, and ``rank`` of its gold where it is known.
    """
    whose = {"dataset": dataset, "retriever": retriever}
    given = [Given("gold_ranks", ranks.assign(**whose), retriever)]
    if run is not None:
        given.append(Given("runs", run.assign(**whose), retriever))
    if values is not None and len(values):
        given.append(Given("given_values", values.assign(**whose), retriever))
    return given
