"""What commands share: opening the store, printing, progress."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "emit",
    "interval_text",
    "known_dataset",
    "known_filter",
    "open_store",
    "p_text",
    "probe_corpus",
    "progress_bar",
    "records_of",
    "say",
]


def open_store() -> Any:
    """The store, made first where files have changed."""
    from biasret.precomputed import Folder
    from biasret.store import Store, make_database

    return Store(make_database(Folder()))


def known_dataset(store: Any, name: str) -> str:
    """The name itself, or an error that lists the datasets there are."""
    from biasret.errors import UnknownName

    known = store.datasets()["dataset"].tolist()
    if name not in known:
        raise UnknownName("dataset", name, known)
    return name


def known_filter(store: Any, table: str, dataset: str | None, name: str) -> str:
    """The name itself, or an error that lists the filters there are.

    Parameters
    ----------
    table
        Whose rows bear filters: ``gaps`` or ``residuals``.
    """
    from biasret.errors import UnknownName
    from biasret.filters import FILTERS, filter_named

    filter_named(name)
    if name in FILTERS:
        return name
    # A filter that judges make exists where such a judge does.
    made = sorted(set(store.rows(table, dataset)["filter"]))
    if name not in made:
        raise UnknownName("filter", name, dict.fromkeys([*FILTERS, *made]))
    return name


def probe_corpus(store: Any, dataset: str) -> Any:
    """What a probe needs of a dataset, from the store."""
    from biasret import probe
    from biasret.datasets.base import DatasetRecord
    from biasret.retrievers import record_for

    table = store.datasets().set_index("dataset", drop=False)
    record = DatasetRecord.from_row(table.loc[dataset].to_dict())
    groups = {"minuend": record.minuend or "", "subtrahend": record.subtrahend or ""}
    documents = store.documents(dataset)
    stances = documents.set_index("doc_id")["stance"].dropna()
    models = store.path.parent / "models"

    def compare(name: str, pairs: Any, k: int, exclude: Any, gold: Any) -> Any:
        is_lexical = record_for(name, models=models).is_lexical
        vectors = None if is_lexical else store.vectors(dataset, name, "document")
        retriever = probe.ready(name, documents, vectors=vectors, models=models)
        return probe.compare_all(
            retriever,
            pairs,
            k=k,
            stances=stances if len(stances) else None,
            exclude=exclude,
            gold=gold,
        )

    return probe.Corpus(
        record=record,
        find=lambda text: probe.Known.find(store, dataset, text),
        compare=compare,
        differences=lambda name, metric, k: store.differences(
            dataset, name, metric=metric, k=k, **groups
        ),
        overlaps=lambda name, k: store.overlaps(dataset, name, k=k, **groups),
    )


def say(arguments: argparse.Namespace, line: str) -> None:
    """A line for people; nothing where JSON was asked for."""
    if not arguments.json:
        print(line, flush=True)


def emit(arguments: argparse.Namespace, document: Any, line: str) -> None:
    """One JSON document where that was asked for, else the line."""
    if arguments.json:
        # Escaped, so that it is the same document whatever the encoding of the output.
        print(json.dumps(document, allow_nan=False))
    else:
        print(line, flush=True)


def interval_text(low: float | None, high: float | None) -> str:
    """An interval as lines show it; missing ends (None or NaN): there is none."""
    import pandas as pd

    return "no interval" if pd.isna(low) else f"[{low:+.4f}, {high:+.4f}]"


def p_text(row: dict[str, Any], by: str) -> str:
    """A row's p-value, what it came from, and that after Holm, whose stars it carries."""
    from biasret.statistics import stars

    # Stars stand for the corrected p, here as on the pages.
    corrected = f"{row['p_holm']:.2g}{stars(row['p_holm'])}"
    return f"p {row['p_value']:.2g} ({by}; {corrected} after Holm)"


def records_of(frame: Any) -> list[dict[str, Any]]:
    """Rows as plain values with every digit; missing ones are None."""
    rows = frame.astype("object")
    records: list[dict[str, Any]] = rows.where(rows.notna(), None).to_dict(orient="records")
    return records


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, with rate and time left."""
    from tqdm import tqdm

    # Short steps show nothing: a bar that flashes by tells nobody anything.
    with tqdm(total=total, desc=title, unit="", file=sys.stderr, delay=1.0, leave=True) as bar:
        yield lambda n: bar.update(n) and None
