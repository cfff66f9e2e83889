"""Cached reads of the store, and retrievers made ready.

Cached functions take names and numbers, never frames: streamlit hashes a large frame from
a sample of it, so that two frames can share a key. What they read is keyed by the identity
of the database file, so that a rebuilt store is seen at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from biasret import probe
from biasret.datasets.base import DatasetRecord
from biasret.errors import BiasretError
from biasret.precomputed import Folder
from biasret.retrievers import Retriever, load, names, record_for
from biasret.retrievers.dense import Dense
from biasret.store import DATABASE, Cells, Store, make_database

__all__ = [
    "asked",
    "comparisons",
    "computed",
    "count_moved",
    "counts",
    "datasets",
    "depths",
    "differences",
    "documents",
    "examples",
    "filters",
    "gaps",
    "has_gold",
    "levels",
    "list_depth",
    "moved",
    "overlaps",
    "ready_retriever",
    "rows",
    "run",
    "store",
    "topics_and_frames",
]

_MAKING = threading.Lock()


def _identity() -> tuple[str, int, int]:
    """Names the database file as it is now; makes it when it is missing or out of date."""
    folder = Folder()
    path = folder.path / DATABASE
    with _MAKING:
        fingerprint = folder.fingerprint()
        # While another process writes, what is there goes on being shown.
        if not path.exists() or (
            st.session_state.get("_fingerprint") != fingerprint and not folder.is_locked()
        ):
            path = make_database(folder)
            st.session_state["_fingerprint"] = fingerprint
    stat = path.stat()
    return str(path), stat.st_ino, stat.st_mtime_ns


@st.cache_resource(max_entries=2, show_spinner=False)
def _open(path: str, inode: int, modified: int) -> Store:
    del inode, modified
    return Store(Path(path))


def store() -> Store:
    """The store as it is on disk now."""
    return _open(*_identity())


def datasets(signal: str | None = None) -> dict[str, DatasetRecord]:
    """Records of the datasets in the store, by name."""
    return {
        name: record
        for name, record in _datasets(*_identity()).items()
        if signal is None or record.signal == signal
    }


@st.cache_data(max_entries=4, show_spinner=False)
def _datasets(path: str, inode: int, modified: int) -> dict[str, DatasetRecord]:
    table = _open(path, inode, modified).datasets()
    return {row["dataset"]: DatasetRecord.from_row(row) for row in table.to_dict("records")}


def gaps(dataset: str, **wanted: object) -> pd.DataFrame:
    """Stored gaps in the order of the catalogue of retrievers."""
    return in_order(rows("gaps", dataset, **wanted))


def levels(dataset: str, **wanted: object) -> pd.DataFrame:
    """Stored levels in the order of the catalogue of retrievers."""
    return in_order(rows("levels", dataset, **wanted))


def rows(name: str, dataset: str, **wanted: object) -> pd.DataFrame:
    """Rows of a stored table, in order of its key; keyword arguments as in `Store.rows`."""
    return _table(name, *_identity(), dataset, tuple(sorted(wanted.items())))


@st.cache_data(max_entries=256, show_spinner=False)
def _table(
    name: str,
    path: str,
    inode: int,
    modified: int,
    dataset: str,
    wanted: tuple[tuple[str, object], ...],
) -> pd.DataFrame:
    return _open(path, inode, modified).rows(name, dataset, **dict(wanted))


def asked(question: str, dataset: str, *values: object) -> pd.DataFrame:
    """What a method of the store that counts something answers for a dataset."""
    return _asked(question, *_identity(), dataset, values)


@st.cache_data(max_entries=64, show_spinner=False)
def _asked(
    question: str, path: str, inode: int, modified: int, dataset: str, values: tuple[object, ...]
) -> pd.DataFrame:
    answer: pd.DataFrame = getattr(_open(path, inode, modified), question)(dataset, *values)
    return answer


def computed(
    what: str, dataset: str, make: Callable[[], pd.DataFrame], *choices: object
) -> pd.DataFrame:
    """What `make` returns, kept under its name and choices until the store changes."""
    return _computed(what, *_identity(), dataset, choices, make)


@st.cache_data(max_entries=64, show_spinner=False)
def _computed(
    what: str,
    path: str,
    inode: int,
    modified: int,
    dataset: str,
    choices: tuple[object, ...],
    _make: Callable[[], pd.DataFrame],
) -> pd.DataFrame:
    del what, path, inode, modified, dataset, choices  # they are the key
    return _make()


def filters(dataset: str, metric: str) -> list[str]:
    """Filters under which a metric of a dataset was measured."""
    return sorted(rows("levels", dataset, metric=metric)["filter"].unique())


def depths(dataset: str, metric: str) -> list[int]:
    """Depths at which a metric of a dataset was measured; imported rankings may be short."""
    return sorted({int(k) for k in rows("levels", dataset, metric=metric)["k"].dropna()})


def counts(dataset: str) -> dict[str, int]:
    """Numbers of documents, queries, cells and clusters."""
    return _counts(*_identity(), dataset)


@st.cache_data(max_entries=64, show_spinner=False)
def _counts(path: str, inode: int, modified: int, dataset: str) -> dict[str, int]:
    return _open(path, inode, modified).counts(dataset)


def differences(
    dataset: str, retriever: str, metric: str, k: int | None, *, minuend: str, subtrahend: str
) -> np.ndarray:
    """Differences in a metric of every stored pair, minuend minus subtrahend."""
    return _pairs(*_identity(), metric, dataset, retriever, k, minuend, subtrahend)


def overlaps(dataset: str, retriever: str, k: int, *, minuend: str, subtrahend: str) -> np.ndarray:
    """overlap@k of every stored pair."""
    return _pairs(*_identity(), "overlap", dataset, retriever, k, minuend, subtrahend)


@st.cache_data(max_entries=256, show_spinner=False)
def _pairs(
    path: str,
    inode: int,
    modified: int,
    what: str,
    dataset: str,
    retriever: str,
    k: int | None,
    minuend: str,
    subtrahend: str,
) -> np.ndarray:
    opened = _open(path, inode, modified)
    groups = {"minuend": minuend, "subtrahend": subtrahend}
    if what == "overlap":
        assert k is not None
        return opened.overlaps(dataset, retriever, k=k, **groups)
    return opened.differences(dataset, retriever, metric=what, k=k, **groups)


def has_gold(dataset: str) -> bool:
    """Whether any query of a dataset has a gold document."""
    return _has_gold(*_identity(), dataset)


@st.cache_data(max_entries=64, show_spinner=False)
def _has_gold(path: str, inode: int, modified: int, dataset: str) -> bool:
    return not _open(path, inode, modified).rows("qrels", dataset).empty


def topics_and_frames(dataset: str) -> tuple[list[str], list[str]]:
    """Topics of a dataset's documents and frames of its queries."""
    return _topics_and_frames(*_identity(), dataset)


@st.cache_data(max_entries=64, show_spinner=False)
def _topics_and_frames(
    path: str, inode: int, modified: int, dataset: str
) -> tuple[list[str], list[str]]:
    return _open(path, inode, modified).topics_and_frames(dataset)


def moved(cells: Cells, order: str, limit: int, offset: int) -> pd.DataFrame:
    """A page of the cells that move most; see `Store.moved`."""
    return _moved(*_identity(), astuple(cells), order, limit, offset)


def count_moved(cells: Cells) -> int:
    """How many cells fit."""
    first = moved(cells, "difference", 1, 0)
    return 0 if first.empty else int(first["n_cells"].iloc[0])


@st.cache_data(max_entries=256, show_spinner=False)
def _moved(
    path: str,
    inode: int,
    modified: int,
    cells: tuple[object, ...],
    order: str,
    limit: int,
    offset: int,
) -> pd.DataFrame:
    opened = _open(path, inode, modified)
    wanted = Cells(*cells)  # type: ignore[arg-type]
    return opened.moved(wanted, order=order, limit=limit, offset=offset)


def run(dataset: str, retriever: str, query_id: str) -> pd.DataFrame:
    """One stored ranking."""
    return _run(*_identity(), dataset, retriever, query_id)


@st.cache_data(max_entries=256, show_spinner=False)
def _run(
    path: str, inode: int, modified: int, dataset: str, retriever: str, query_id: str
) -> pd.DataFrame:
    return _open(path, inode, modified).run(dataset, retriever, query_id)


def list_depth(dataset: str, retriever: str) -> int:
    """How many documents the longest stored ranking holds; 0 where only ranks are stored."""
    return _list_depth(*_identity(), dataset, retriever)


@st.cache_data(max_entries=256, show_spinner=False)
def _list_depth(path: str, inode: int, modified: int, dataset: str, retriever: str) -> int:
    return _open(path, inode, modified).list_depth(dataset, retriever)


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Rows in the catalogue's order of retrievers; unknown ones last."""
    place = {name: i for i, name in enumerate(names())}
    key = table["retriever"].map(lambda name: place.get(name, len(place)))
    return table.assign(_key=key).sort_values("_key", kind="stable", ignore_index=True)[
        table.columns.tolist()
    ]


def examples(dataset: str, n: int, groups: tuple[str, ...]) -> dict[str, str]:
    """Texts of a few stored questions by ``cell_id``, from all over the dataset."""
    return _examples(*_identity(), dataset, n, groups)


@st.cache_data(max_entries=64, show_spinner=False)
def _examples(
    path: str, inode: int, modified: int, dataset: str, n: int, groups: tuple[str, ...]
) -> dict[str, str]:
    found = _open(path, inode, modified).examples(dataset, limit=n, groups=groups)
    return dict(zip(found["cell_id"], found["text"], strict=True))


def comparisons(
    dataset: str,
    retriever: str,
    pairs: probe.Pairs,
    k: int,
    exclude: probe.Ids,
    gold: probe.Ids,
) -> list[probe.Comparison]:
    """What a retriever returns for pairs of wordings, as `compare_all` makes it.

    Kept for the visitor's own session alone, since a text may be personal.
    """
    return _comparisons(*_identity(), dataset, retriever, pairs, k, exclude, gold)


@st.cache_data(max_entries=64, ttl=900, scope="session", show_spinner=False)
def _comparisons(
    path: str,
    inode: int,
    modified: int,
    dataset: str,
    retriever: str,
    pairs: probe.Pairs,
    k: int,
    exclude: probe.Ids,
    gold: probe.Ids,
) -> list[probe.Comparison]:
    stances = _stances(path, inode, modified, dataset)
    return probe.compare_all(
        ready_retriever(retriever, dataset),
        pairs,
        k=k,
        stances=stances if len(stances) else None,
        exclude=exclude,
        gold=gold,
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _stances(path: str, inode: int, modified: int, dataset: str) -> pd.Series:
    return _documents(path, inode, modified, dataset)["stance"].dropna()


def ready_retriever(name: str, dataset: str) -> Retriever:
    """A retriever with the documents of a dataset indexed, its model loaded.

    Raises
    ------
    BiasretError
        The model or its vectors are missing; remembered for a minute, so that a failing
        load is not tried by every visitor in turn.
    """
    outcome = _attempt(*_identity(), name, dataset)
    if isinstance(outcome, BiasretError):
        raise outcome
    return outcome


@st.cache_resource(max_entries=64, show_spinner=False, ttl=60)
def _attempt(
    path: str, inode: int, modified: int, name: str, dataset: str
) -> Retriever | BiasretError:
    try:
        return _loaded(path, inode, modified, name, dataset)
    except BiasretError as error:
        return error


@st.cache_resource(max_entries=64, show_spinner=False)
def _loaded(path: str, inode: int, modified: int, name: str, dataset: str) -> Retriever:
    opened = _open(path, inode, modified)
    record = record_for(name, models=opened.path.parent / "models")
    vectors = None if record.is_lexical else opened.vectors(dataset, name, "document")
    documents = opened.documents(dataset)[["doc_id", "text"]]
    models = opened.path.parent / "models"
    return probe.ready(name, documents, vectors=vectors, like=_model(name, str(models)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _model(name: str, models: str) -> Retriever:
    """A retriever without documents: one copy of a model serves every dataset."""
    retriever = load(name, models=Path(models))
    if isinstance(retriever, Dense):
        retriever.load()
        # Some models finish loading with their first text; a visitor's probe shall not pay for it.
        retriever.encode_queries(["warm"])
    return retriever


@st.cache_resource(max_entries=8, show_spinner=False)
def _documents(path: str, inode: int, modified: int, dataset: str) -> pd.DataFrame:
    return _open(path, inode, modified).documents(dataset).set_index("doc_id")


def documents(dataset: str) -> pd.DataFrame:
    """All documents of a dataset by ``doc_id``; shared, so not to be changed."""
    return _documents(*_identity(), dataset)
