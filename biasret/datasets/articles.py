"""Files of documents, queries and judgements, brought into a checked dataset.

The generic way in: a folder, or a mapping file that names files and columns
(``docs/importing.md``). Either the whole dataset comes back or one error that says which
file and row is at fault; nothing is half-imported.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from biasret.datasets.base import SIGNALS, Dataset, Loaded
from biasret.datasets.comparison import describe, spelled
from biasret.datasets.fields import MappedRows, refuse_repeated
from biasret.datasets.mapping import FIELDS, DatasetMapping, read_mapping
from biasret.datasets.reading import EXTENSIONS, MAX_CELL_BYTES, listed, read, shown
from biasret.errors import FileError, InputError, TableError
from biasret.tables import STANCES

__all__ = ["Loaded", "assemble", "load"]

_STANCES = {**{stance: stance for stance in STANCES}, "centre": "center"}

#: Query, document, judge, grade.
_Judgement = tuple[str, str, str, int]


def load(
    path: Path | str,
    *,
    name: str,
    mapping: Path | str | None = None,
    columns: Iterable[str] = (),
    folder: Path | str | None = None,
    signal: str | None = None,
    encoding: str | None = None,
    imported: str | None = None,
    max_cell_bytes: int = MAX_CELL_BYTES,
) -> Loaded:
    """Load a dataset from files.

    Parameters
    ----------
    path
        A folder with one ``documents.*``, one ``queries.*`` and at most one ``qrels.*``
        (csv, tsv, jsonl, parquet), or a mapping file (toml).
    name
        The dataset's name, 1 to 60 printable characters.
    mapping
        A mapping file for the folder `path`.
    columns
        Column names as the command line gives them: ``documents.text=body``. They go before
        the mapping file's.
    folder
        Where the files are. None: `path`, or the mapping file's ``folder`` seen from where
        the mapping file is.
    signal
        ``lean`` or ``dialect``. None: the mapping file's, or what the groups' names tell.
    encoding
        Of text files. None: the mapping file's, or UTF-8.
    imported
        When, for the record.
    max_cell_bytes
        Larger cells are refused.

    Raises
    ------
    FileError, TableError, InputError
        The first thing wrong: file, row, what was found, what to do.
    """
    try:
        plan, base = _plan(Path(path), None if mapping is None else Path(mapping))
        plan = plan.with_columns(columns)
        plan = replace(plan, signal=signal or plan.signal)
        if plan.signal is not None:
            SIGNALS[plan.signal]  # an unknown name raises before files are read
        files = _files(base if folder is None else Path(folder), plan)
        tables = {}
        for table, file in files.items():
            given = plan.table(table)
            rows = read(
                file,
                encoding=encoding or given.encoding or plan.encoding,
                separator=given.separator,
                is_quoted=given.is_quoted,
                max_cell_bytes=max_cell_bytes,
            )
            tables[table] = MappedRows(table, rows, given)
    except OSError as error:
        # Folders that may not be listed, names that are too long.
        raise FileError(f"{error.filename or path} cannot be read: {error.strerror}.") from error
    return assemble(tables, plan, name=name, imported=imported)


def assemble(
    tables: Mapping[str, MappedRows],
    plan: DatasetMapping,
    *,
    name: str,
    imported: str | None = None,
) -> Loaded:
    """A dataset from rows that are read and mapped: ``documents``, ``queries``, ``qrels``.

    Raises
    ------
    TableError, InputError
        As `load`.
    """
    notes: list[str] = []
    left_out: Counter[str] = Counter()
    documents = _documents(tables["documents"])
    queries = _queries(tables["queries"], set(documents["doc_id"]), notes, left_out)
    qrels = _qrels(tables, documents["doc_id"], queries, left_out)
    record = describe(name, plan, queries, notes)
    if qrels.empty:
        notes.append("There are no judgements: reciprocal rank and recall cannot be measured.")
    dataset = Dataset.checked(
        replace(record, imported=imported), documents=documents, queries=queries, qrels=qrels
    )
    noted = [note for mapped in tables.values() for note in mapped.notes]
    for mapped in tables.values():
        left_out.update(mapped.left_out)
    return Loaded(dataset, noted + notes, dict(left_out))


def _plan(path: Path, mapping: Path | None) -> tuple[DatasetMapping, Path]:
    """What is said about the dataset, and the folder that file names are relative to."""
    if not path.exists():
        raise FileError(f"There is no file or folder {path}; check the path.")
    if path.is_dir():
        return (DatasetMapping() if mapping is None else read_mapping(mapping)), path
    if path.suffix.lower() != ".toml":
        raise FileError(
            f"{path.name} is neither a folder nor a mapping file (.toml); name the folder that "
            "holds documents.*, queries.* and, where there are judgements, qrels.*."
        )
    if mapping is not None:
        raise InputError(f"Both {path} and {mapping} are mapping files; name a folder and one.")
    plan = read_mapping(path)
    return plan, path.parent / (plan.folder or "")


def _files(base: Path, plan: DatasetMapping) -> dict[str, Path]:
    if not base.is_dir():
        raise FileError(f"There is no folder {base}; say where the files are with --folder.")
    files = {}
    for table in FIELDS:
        named = plan.table(table).file
        if named is not None:
            files[table] = base / named
            continue
        found = sorted(
            file
            for file in base.iterdir()
            if file.name.lower().split(".")[0] == table and file.is_file()
        )
        if len(found) > 1:
            raise FileError(
                f"{base} holds {' and '.join(file.name for file in found)}; keep one {table} file."
            )
        if found:
            files[table] = found[0]
        elif table != "qrels" or table in plan.tables:
            raise FileError(
                f"{base} holds no {table} file; add {table} with one of the extensions "
                f"{', '.join(EXTENSIONS)}, or name it in a mapping file."
            )
    return files


def _documents(rows: MappedRows) -> pd.DataFrame:
    ids = rows.required("doc_id")
    refuse_repeated(ids, rows.place, what="document id")
    stances = []
    for row, found in enumerate(rows.texts("stance")):
        stance = None if found is None else _STANCES.get(found.strip().casefold())
        if found is not None and stance is None:
            old = json.dumps(found.strip(), ensure_ascii=False)
            raise TableError(
                f"{rows.place(row)}: unknown stance {shown(found)}; allowed are left, center "
                "(or centre), right, or an empty cell. To translate others, say in a mapping "
                f'file, under [documents], values.stance = {{ {old} = "left" }}.'
            )
        stances.append(stance)
    n_without = stances.count(None)
    if 0 < n_without < len(stances):
        rows.notes.append(f"{rows.file}: {n_without:,} of {len(stances):,} have no stance.")
    optional = ("title", "source", "story_id", "topic", "date")
    return _frame(
        {
            "doc_id": ids,
            "text": rows.required("text"),
            "stance": stances,
            **{field: rows.texts(field) for field in optional},
        }
    )


def _frame(columns: dict[str, list]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype="object") for name, cells in columns.items()})


def _queries(
    rows: MappedRows, known: set[str], notes: list[str], left_out: Counter[str]
) -> pd.DataFrame:
    """One row per query; beside the table's columns, ``gold_doc_ids`` and the ``row`` it is of."""
    ids = rows.required("query_id")
    is_wide = bool(rows.takes["text"].groups)
    if is_wide:
        refuse_repeated(ids, rows.place, what="query id")
        wordings = _wide_wordings(rows, ids, left_out)
    else:
        texts = rows.required("text")
        wordings = list(zip(range(len(rows)), rows.texts("group"), texts, strict=True))
    respelled: dict[str, str] = {}
    variants, cells, frames = rows.texts("variant"), rows.texts("cell_id"), rows.texts("frame")
    clusters, stories = rows.texts("cluster_id"), rows.texts("story_id")
    origins = rows.texts("origin")
    sources, gold = rows.lists("source_doc_ids"), rows.lists("gold_doc_ids")
    records: list[dict[str, Any]] = []
    for row, written, text in wordings:
        group = written
        if written is not None:
            group = spelled(written)
            if group != written:
                respelled[written] = group
        cell = cells[row] or ids[row]
        records.append(
            {
                "query_id": f"{ids[row]}:{group}" if is_wide else ids[row],
                "text": text,
                "group": group,
                "variant": variants[row] or group or "original",
                "cell_id": cell,
                "cluster_id": clusters[row] or stories[row] or cell,
                "source_doc_ids": sources[row] or None,
                "frame": frames[row],
                "origin": origins[row] or "found",
                "gold_doc_ids": gold[row],
                "row": row,
            }
        )
    refuse_repeated(
        [record["query_id"] for record in records],
        lambda at: rows.place(records[at]["row"]),
        what="query id",
    )
    for written, group in respelled.items():
        notes.append(f"{rows.file}: the group {written!r} was read as {group!r}.")
    lost = dict.fromkeys(doc for docs in sources for doc in docs if doc not in known)
    if lost:
        notes.append(
            f"{rows.file}: {len(lost):,} source documents are not among the documents, so there "
            f"is nothing to mask for them: {listed(list(lost))}."
        )
    return pd.DataFrame(records, dtype="object")


def _wide_wordings(
    rows: MappedRows, ids: list[str], left_out: Counter[str]
) -> list[tuple[int, str | None, str]]:
    texts = rows.by_group("text")
    wordings: list[tuple[int, str | None, str]] = []
    for row in range(len(rows)):
        n_before = len(wordings)
        for group, column in texts.items():
            text = column[row]
            if text is None:
                left_out[f"{rows.file}: no text for the group {group}"] += 1
            else:
                wordings.append((row, group, text))
        if len(wordings) == n_before:
            raise TableError(
                f"{rows.place(row)}: query {shown(ids[row])} has no text for any group "
                f"({', '.join(texts)}); fill at least one, or remove the row."
            )
    return wordings


def _qrels(
    tables: Mapping[str, MappedRows],
    doc_ids: pd.Series,
    queries: pd.DataFrame,
    left_out: Counter[str],
) -> pd.DataFrame:
    asked, judged = tables["queries"], tables.get("qrels")
    rows: list[_Judgement] = []
    places: list[str] = []
    for query, gold, row in zip(
        queries["query_id"], queries["gold_doc_ids"], queries["row"], strict=True
    ):
        rows += [(query, doc, "given", 1) for doc in gold]
        places += [asked.place(row)] * len(gold)
    if judged is not None:
        grades = judged.required("grade")
        for row, (query, doc, judge, grade) in enumerate(
            zip(
                judged.required("query_id"),
                judged.required("doc_id"),
                judged.texts("judge"),
                grades,
                strict=True,
            )
        ):
            if not re.fullmatch(r"\s*[+-]?[0-9]{1,9}(\.0*)?\s*", grade):
                raise TableError(
                    f"{judged.place(row)}: the grade {shown(grade)} is not a whole number; "
                    "write 0 for not relevant, 1 or more for relevant."
                )
            rows.append((query, doc, judge or "given", int(float(grade))))
            places.append(judged.place(row))
    refuse_repeated(
        [row[:3] for row in rows], places.__getitem__, what="judgement (query, document, judge)"
    )
    rows = _known_only(
        rows,
        places,
        {1: tables["documents"], 0: asked},
        {1: list(doc_ids), 0: list(queries["query_id"])},
        left_out,
    )
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "judge", "grade"], dtype="object")


def _known_only(
    rows: list[_Judgement],
    places: list[str],
    tables: dict[int, MappedRows],
    ids: dict[int, list[str]],
    left_out: Counter[str],
) -> list[_Judgement]:
    """Judgements of what is there; those of rows that `where` left out are counted.

    `tables` and `ids` are keyed by where a judgement names them: 0 queries, 1 documents.
    """
    faults: list[str] = []
    first = len(rows)
    gone: set[int] = set()
    for at, table in tables.items():
        known = set(ids[at])
        lost = [row for row, judgement in enumerate(rows) if judgement[at] not in known]
        passed_over = table.all_ids() if lost and table.left_out else set()
        unknown = [row for row in lost if rows[row][at] not in passed_over]
        if unknown:
            first = min(first, unknown[0])
            names = list(dict.fromkeys(rows[row][at] for row in unknown))
            faults.append(
                f"{table.table} that {table.file} does not hold, {listed(names)} "
                f"(it holds {listed(ids[at])})"
            )
        new = set(lost) - gone
        if new:
            left_out[f"judgements of {table.table} that were left out"] += len(new)
            gone |= new
    if faults:
        several = " If a cell holds several ids, say list_separator in a mapping file."
        is_gold = places[first].startswith(f"{tables[0].file}, ")
        raise TableError(
            f"{places[first]}: judgements name {' and '.join(faults)}; make the ids agree to "
            f"the letter, spaces and case too.{several if is_gold else ''}"
        )
    return [row for at, row in enumerate(rows) if at not in gone]
