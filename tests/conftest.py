"""A dataset of ten documents, a fake encoder with known vectors, and a store made from both.

Nothing here needs weights: the encoder counts four words, so that every cosine can be worked
out by hand, and the other retriever reads its scores from a table.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret import audit, metrics, residuals, runs
from biasret.build import save_dataset
from biasret.datasets.base import Dataset, DatasetRecord
from biasret.precomputed import Folder
from biasret.retrievers import Ranking, RetrieverRecord
from biasret.retrievers.base import checked_documents, checked_queries, rank_all, rounded
from biasret.retrievers.dense import Dense
from biasret.retrievers.embedding import embed
from biasret.store import DATABASE, Store, make_database

PROJECT = Path(__file__).parents[1]

#: The words the fake encoder counts; one dimension each.
AXES = ("tax", "school", "border", "court")


def record_of(name: str, *, dimension: int | None = None, **words: object) -> RetrieverRecord:
    """A retriever's record with made-up words."""
    return RetrieverRecord(
        name=name,
        label=name.title(),
        kind="made for tests",
        about="Made for tests.",
        checkpoint=f"tests/{name}",
        revision="1",
        licence="Apache-2.0",
        requires=(),
        install="nothing to install",
        dimension=dimension,
        **words,
    )


class WordEncoder:
    """Counts of `AXES` in a text; a text with none of them is the zero vector."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: list[str], *, prefix: str = "") -> np.ndarray:
        self.seen += texts
        words = [(prefix + text).lower().split() for text in texts]
        counts = [[row.count(axis) for axis in AXES] for row in words]
        return np.array(counts, dtype=np.float32)

    def count_tokens(self, texts: list[str], *, prefix: str = "") -> np.ndarray:
        return np.array([len((prefix + text).split()) for text in texts], dtype=np.int64)

    def prompts(self) -> Mapping[str, str]:
        return {}


class HandScored:
    """A lexical retriever whose scores are written down, by query text and doc_id.

    Documents that a text does not name score 0; so do all of them for an unknown text.
    """

    def __init__(
        self, scores: Mapping[str, Mapping[str, float]], *, record: RetrieverRecord | None = None
    ) -> None:
        self.record = record or record_of("by-hand")
        self.doc_ids = np.array([], dtype=object)
        self._written = scores

    def index(self, documents: pd.DataFrame) -> None:
        self.doc_ids = checked_documents(documents)["doc_id"].to_numpy(dtype=object)

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        rows = [
            [self._written.get(query, {}).get(doc_id, 0.0) for doc_id in self.doc_ids]
            for query in queries
        ]
        return rounded(np.array(rows, dtype=np.float64).reshape(len(queries), len(self.doc_ids)))

    def search(
        self,
        queries: Sequence[str],
        *,
        k: int,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[Ranking]:
        checked_queries(queries, k=k, exclude=exclude)
        left_out = exclude or [()] * len(queries)
        floor = 0.0 if self.record.is_lexical else -np.inf
        return [
            rank_all(row, self.doc_ids, k=k, exclude=out, floor=floor)
            for row, out in zip(self.scores(queries), left_out, strict=True)
        ]

    def count_tokens(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([len(text.split()) for text in texts], dtype=np.int64)


TOY = DatasetRecord(
    name="toy",
    label="Ten documents",
    about="Made for tests",
    signal="lean",
    is_paired=True,
    is_illustrative=True,
    minuend="right",
    subtrahend="left",
)

#: doc_id, stance, story and words; d10 has neither stance nor story.
TOY_DOCUMENTS = (
    ("d01", "left", "s1", "tax tax school"),
    ("d02", "right", "s1", "tax border"),
    ("d03", "center", "s1", "tax"),
    ("d04", "left", "s2", "school school court"),
    ("d05", "right", "s2", "school border border"),
    ("d06", "center", "s2", "school"),
    ("d07", "left", "s3", "court"),
    ("d08", "right", "s3", "border court"),
    ("d09", "center", "s3", "border"),
    ("d10", None, None, "tax school border court"),
)

#: cell_id, source document, and the wording of each group.
TOY_CELLS = (
    ("c1", "d03", {"left": "tax school", "neutral": "tax", "right": "tax border"}),
    ("c2", "d06", {"left": "school court", "neutral": "school", "right": "school border"}),
    ("c3", "d09", {"left": "court", "neutral": "border court", "right": "border"}),
)

#: Scores of the hand-scored retriever; what is not named scores 0 and is no hit.
TOY_SCORES = {
    "tax school": {"d01": 3.0, "d02": 1.0, "d03": 9.0, "d10": 2.0},
    "tax": {"d03": 1.0, "d01": 1.0, "d02": 1.0},
    "tax border": {"d02": 3.0, "d05": 2.0, "d08": 2.0, "d01": 1.0},
    "school court": {"d04": 2.0, "d07": 2.0, "d06": 5.0, "d05": 1.0},
    "school": {},
    "school border": {"d05": 2.0, "d04": 2.0},
    "court": {"d08": 1.0, "d07": 1.0},
    "border court": {"d08": 1.0},
    "border": {"d09": 4.0, "d02": 1.0, "d05": 2.0},
}


def toy_dataset() -> Dataset:
    """Three cells of three wordings over ten documents; the document of its story is gold."""
    documents = pd.DataFrame(TOY_DOCUMENTS, columns=["doc_id", "stance", "story_id", "text"])
    queries = [
        {
            "query_id": f"{cell}/{group}",
            "text": text,
            "group": group,
            "variant": group,
            "cell_id": cell,
            "cluster_id": cell,
            "source_doc_ids": [source],
            "frame": "economic",
            "origin": "written",
        }
        for cell, source, wordings in TOY_CELLS
        for group, text in wordings.items()
    ]
    gold = {"c1": "d01", "c2": "d04", "c3": "d07"}
    qrels = [
        {"query_id": q["query_id"], "doc_id": gold[q["cell_id"]], "judge": "author", "grade": 1}
        for q in queries
    ]
    return Dataset.checked(
        TOY,
        documents=documents.assign(title=documents["doc_id"].str.upper()),
        queries=pd.DataFrame(queries),
        qrels=pd.DataFrame(qrels),
    )


#: Enough for intervals to exist, few enough to be quick.
QUICK = audit.Settings(resamples=200)


def word_retriever() -> Dense:
    """The dense fake: cosines of word counts."""
    return Dense(record_of("words", dimension=len(AXES), max_tokens=3), WordEncoder)


def store_results(folder: Folder, dataset: Dataset) -> None:
    """Everything pages show of a dataset, by the two fake retrievers, written to a folder."""
    name = dataset.record.name
    save_dataset(folder, dataset, inputs={"made": "for tests"})
    tables = []
    for retriever in (word_retriever(), HandScored(TOY_SCORES)):
        label = retriever.record.name
        retriever.index(dataset.documents)
        if isinstance(retriever, Dense):
            kinds = {
                kind: embed(retriever, frame["text"].tolist(), frame[key].tolist(), prefix="")
                for kind, frame, key in (
                    ("document", dataset.documents, "doc_id"),
                    ("query", dataset.queries, "query_id"),
                )
            }
            folder.write_vectors(kinds, dataset=name, retriever=label)
        found = runs.retrieve(retriever, dataset.queries, dataset.qrels, dataset=name)
        measured = metrics.measure(
            metrics.Inputs(dataset.queries, dataset.documents, found.runs, found.gold_ranks),
            dataset=name,
            retriever=label,
            metrics=("lean", "rr", "recall"),
        )
        for table, frame in (
            ("runs", found.runs),
            ("gold_ranks", found.gold_ranks),
            ("measurements", measured),
            ("levels", audit.levels(measured, dataset.queries, settings=QUICK)),
        ):
            folder.write(table, frame, dataset=name, retriever=label)
        tables.append(measured)
    gaps = audit.gaps(
        pd.concat(tables, ignore_index=True), dataset.queries, dataset.record, settings=QUICK
    )
    folder.write("gaps", gaps, dataset=name)
    tokens = residuals.vocabulary(dataset.queries, dataset.record)
    folder.write("token_scores", tokens, dataset=name)
    remaining = residuals.residuals(
        tables, dataset.queries, dataset.record, tokens=tokens, gaps=gaps, settings=QUICK
    )
    folder.write("residuals", remaining, dataset=name)


@pytest.fixture
def toy() -> Dataset:
    """The ten-document dataset."""
    return toy_dataset()


@dataclass(frozen=True)
class Stored:
    """A folder with results of `toy`, its database, and a reader of it."""

    folder: Folder
    path: Path
    store: Store


@pytest.fixture(scope="session")
def _stored_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Folder(tmp_path_factory.mktemp("stored") / "store")
    store_results(folder, toy_dataset())
    make_database(folder)
    return folder.path


@pytest.fixture
def stored(tmp_path: Path, _stored_once: Path) -> Iterator[Stored]:
    """A temporary store with the results of two fake retrievers."""
    folder = Folder(tmp_path / "store")
    shutil.copytree(_stored_once, folder.path)  # keeps times, so the database stays current
    path = folder.path / DATABASE
    store = Store(path)
    yield Stored(folder, path, store)
    store.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of development data; tests that need it are skipped where it is absent."""
    path = Path(os.environ.get("BIASRET_SHARED", PROJECT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(
            f"There is no development data at {path}; set BIASRET_SHARED to its folder to run this."
        )
    return path
