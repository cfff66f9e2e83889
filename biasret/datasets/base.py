"""What every source delivers: a record of the dataset and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from biasret.catalogue import Catalogue
from biasret.errors import InputError
from biasret.tables import STANCES, check

__all__ = ["SIGNALS", "Dataset", "DatasetRecord", "Given", "Imported", "Loaded", "Signal"]


@dataclass(frozen=True)
class Signal:
    """An identity signal: which two groups are compared, by which metrics.

    `minuend` minus `subtrahend` is oriented so that a positive gap is the hypothesised one
    (Tang et al., section 2.3).

    Attributes
    ----------
    sides
        Which group stands on the left of a comparison and which on the right, everywhere.
    engine
        Which engine writes its wordings.
    """

    name: str
    label: str
    minuend: str
    subtrahend: str
    metrics: tuple[str, ...]
    positive: str
    sides: tuple[str, str]
    engine: str


SIGNALS: Catalogue[Signal] = Catalogue(
    "signal",
    [
        Signal(
            "lean",
            "Political lean",
            "right",
            "left",
            ("lean",),
            "right-framed queries return more right-leaning documents than left-framed ones",
            ("left", "right"),
            "framing",
        ),
        Signal(
            "dialect",
            "Dialect",
            "WME",
            "AAL",
            ("rr", "recall"),
            "questions in WME find their answer nearer the top than questions in AAL",
            ("WME", "AAL"),
            "dialect",
        ),
    ],
)


@dataclass(frozen=True)
class DatasetRecord:
    """What a dataset is, and how its groups are compared.

    Attributes
    ----------
    name
        1 to 60 characters; any text that is printable and not blank.
    signal
        A key of `SIGNALS`.
    is_paired
        Whether a cell holds wordings of both groups.
    is_illustrative
        Whether the texts were made up to show how things work.
    minuend, subtrahend
        The groups compared, or None where the dataset labels no groups.
    """

    name: str
    label: str
    about: str
    signal: str
    is_paired: bool
    is_illustrative: bool
    minuend: str | None
    subtrahend: str | None
    source: str | None = None
    licence: str | None = None
    imported: str | None = None

    def frame(self) -> pd.DataFrame:
        """The record as a one-row ``datasets`` table."""
        row = {
            "dataset": self.name,
            "label": self.label,
            "about": self.about,
            "signal": self.signal,
            "paired": self.is_paired,
            "is_illustrative": self.is_illustrative,
            "minuend": self.minuend,
            "subtrahend": self.subtrahend,
            "source": self.source,
            "licence": self.licence,
            "imported": self.imported,
        }
        return check(pd.DataFrame([row]), "datasets")

    @classmethod
    def from_row(cls, row: dict[str, object]) -> DatasetRecord:
        """The record of one row of a ``datasets`` table."""

        def text(key: str) -> str | None:
            value = row[key]
            return value if isinstance(value, str) else None

        return cls(
            name=str(row["dataset"]),
            label=str(row["label"]),
            about=str(row["about"]),
            signal=str(row["signal"]),
            is_paired=bool(row["paired"]),
            is_illustrative=bool(row["is_illustrative"]),
            minuend=text("minuend"),
            subtrahend=text("subtrahend"),
            source=text("source"),
            licence=text("licence"),
            imported=text("imported"),
        )


@dataclass(frozen=True)
class Dataset:
    """A record with its documents, queries and qrels, each in its table's form."""

    record: DatasetRecord
    documents: pd.DataFrame
    queries: pd.DataFrame
    qrels: pd.DataFrame

    @classmethod
    def checked(
        cls,
        record: DatasetRecord,
        *,
        documents: pd.DataFrame,
        queries: pd.DataFrame,
        qrels: pd.DataFrame,
    ) -> Dataset:
        """Bring the tables into form and check what spans them.

        Raises
        ------
        InputError
            The name cannot be used, a table is out of form or empty, a stance is unknown,
            or a query or judgement names a document that is not there.
        """
        name = record.name
        if not name.strip() or len(name) > 60 or not name.isprintable():
            raise InputError(
                f"A dataset's name needs 1 to 60 printable characters; found {name!r}."
            )
        if record.signal not in SIGNALS:
            SIGNALS[record.signal]
        documents = check(documents.assign(dataset=name), "documents")
        queries = check(queries.assign(dataset=name, signal=record.signal), "queries")
        qrels = check(qrels.assign(dataset=name), "qrels")
        if documents.empty or queries.empty:
            what = "documents" if documents.empty else "queries"
            raise InputError(f"Dataset {name!r} has no {what}; at least one is needed.")
        stances = set(documents["stance"].dropna()) - set(STANCES)
        if stances:
            raise InputError(
                f"Unknown stance {sorted(stances)[0]!r} in the documents of {name!r}; "
                f"a stance is one of {', '.join(STANCES)}, or empty."
            )
        known = set(documents["doc_id"])
        lost = qrels.loc[~qrels["doc_id"].isin(known), "doc_id"]
        if len(lost):
            raise InputError(
                f"{len(lost)} judgements of {name!r} name documents that are not there; "
                f"the first is {lost.iloc[0]!r}."
            )
        asked = set(queries["query_id"])
        lost = qrels.loc[~qrels["query_id"].isin(asked), "query_id"]
        if len(lost):
            raise InputError(
                f"{len(lost)} judgements of {name!r} name queries that are not there; "
                f"the first is {lost.iloc[0]!r}."
            )
        return cls(record, documents, queries, qrels)


@dataclass(frozen=True)
class Given:
    """A table of results that came with a dataset, to be stored as it is.

    Attributes
    ----------
    table
        A key of `TABLES`, such as ``runs``.
    retriever
        Whose results; None for a table that is not kept by retriever.
    """

    table: str
    frame: pd.DataFrame
    retriever: str | None = None


@dataclass(frozen=True)
class Loaded:
    """A dataset, and what happened on the way.

    Attributes
    ----------
    notes
        Sentences on what was detected or assumed.
    left_out
        How many rows were left out, by reason.
    given
        Results that came with it.
    """

    dataset: Dataset
    notes: list[str]
    left_out: dict[str, int]
    given: Sequence[Given] = field(default=())


@dataclass(frozen=True)
class Imported:
    """What one source held: usually one dataset; of a kind that adds to one, that one.

    Attributes
    ----------
    resources
        Frames that belong to no dataset, by name; kept by the store as they are.
    """

    parts: Sequence[Loaded]
    notes: Sequence[str] = field(default=())
    resources: Mapping[str, pd.DataFrame] = field(default_factory=dict)
