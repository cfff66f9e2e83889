"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv``.

Read through the generic importer, so that a mapping file or ``--column`` can say where groups,
cells and clusters stand; keys of ``metadata`` are columns called ``metadata.KEY``. What BEIR
tools pass over in silence (documents without text, judgements of documents that are not there,
queries that nobody judged) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from biasret.datasets import articles
from biasret.datasets.base import Loaded
from biasret.datasets.compressed import ending
from biasret.datasets.fields import MappedRows, is_blank
from biasret.datasets.mapping import DatasetMapping, TableMapping, Take, find_column, read_mapping
from biasret.datasets.reading import EXTENSIONS, Rows, listed, read
from biasret.datasets.tally import Tally
from biasret.errors import FileError, InputError
from biasret.progress import Progress, silent

__all__ = ["TEXT", "load"]

#: The column that joins title and text, as BEIR's retrievers read them.
TEXT = "title and text"

_FILES = {"documents": "corpus", "queries": "queries"}


def load(
    path: Path,
    *,
    name: str,
    split: str | None = None,
    mapping: Path | None = None,
    column: Iterable[str] = (),
    signal: str | None = None,
    encoding: str | None = None,
    progress: Progress = silent,
) -> Loaded:
    """Read a folder in BEIR's form.

    Parameters
    ----------
    split
        Which file of ``qrels``. None: ``test``, or the only one.
    mapping, column, signal
        As `biasret.datasets.articles.load`; with neither groups nor a signal the signal must
        be said.

    Returns
    -------
    Loaded
        A document's text is its title, a space and its text. Judge: the split's name.

    Raises
    ------
    FileError, TableError, InputError
        As `biasret.datasets.articles.load`.
    """
    if not path.is_dir():
        raise FileError(f"There is no folder {path}; name the folder that holds corpus.jsonl.")
    plan = DatasetMapping() if mapping is None else read_mapping(mapping)
    plan = plan.with_columns(column)
    plan = replace(plan, signal=signal or plan.signal, about=plan.about or "In BEIR's form.")
    judged, split = _split(path, split)
    files = {table: _one(path, stem) for table, stem in _FILES.items()}
    read_rows = {}
    with progress(f"{name}: files", 3) as advance:
        for table, file in {**files, "qrels": judged}.items():
            given = plan.table(table)
            rows = read(
                file,
                encoding=encoding or given.encoding or plan.encoding,
                separator=given.separator,
                # A quotation mark in a tab-separated file of ids is part of an id.
                is_quoted=given.is_quoted and ending(file) != ".tsv",
            )
            read_rows[table] = _flat(rows)
            advance(1)
    texts = Tally("documents")
    corpus = _with_text(read_rows["documents"], texts)
    fields: Mapping[str, Take] = {"text": Take((TEXT,)), **plan.table("documents").fields}
    documents = replace(plan.table("documents"), fields=fields)
    mapped = {
        "documents": MappedRows("documents", corpus, documents),
        "queries": MappedRows("queries", read_rows["queries"], plan.table("queries")),
    }
    tally = Tally("judgements")
    kept = _judgements(read_rows["qrels"], plan.table("qrels"), mapped, tally)
    judged_fields: Mapping[str, Take] = {"judge": Take(value=split), **plan.table("qrels").fields}
    mapped["qrels"] = MappedRows("qrels", kept, replace(plan.table("qrels"), fields=judged_fields))
    asked = set(mapped["qrels"].required("query_id"))
    queries = read_rows["queries"]
    ids = mapped["queries"].takes["query_id"].columns[0]
    is_asked = [cell in asked for cell in queries.texts(ids)]
    mapped["queries"] = MappedRows("queries", _only(queries, is_asked), plan.table("queries"))
    loaded = articles.assemble(mapped, plan, name=name)
    left_out = {**loaded.left_out, **texts.left_out, **tally.left_out}
    if n_unasked := is_asked.count(False):
        left_out[f"queries without a judgement in {split}"] = n_unasked
    return replace(loaded, notes=[*loaded.notes, *texts.notes(), *tally.notes()], left_out=left_out)


def _one(folder: Path, stem: str) -> Path:
    found = sorted(
        file
        for file in folder.iterdir()
        if file.name.lower().split(".")[0] == stem and ending(file) in EXTENSIONS
    )
    if len(found) != 1:
        held = "none" if not found else " and ".join(file.name for file in found)
        raise FileError(f"{folder} should hold one {stem}.jsonl (or .jsonl.gz); found {held}.")
    return found[0]


def _split(folder: Path, split: str | None) -> tuple[Path, str]:
    place = folder / "qrels"
    files = sorted(f for f in place.iterdir() if ending(f) == ".tsv") if place.is_dir() else []
    of = {file.name.partition(".")[0]: file for file in files}
    if not of:
        raise FileError(f"{folder} holds no qrels/*.tsv; BEIR keeps its judgements there.")
    wanted = split or ("test" if "test" in of else next(iter(of)) if len(of) == 1 else None)
    if wanted not in of:
        asked = f"no split {wanted!r}" if wanted else "several splits and no test"
        raise InputError(f"{place} holds {asked}; found {', '.join(of)}. Say --split.")
    return of[wanted], wanted


def _flat(rows: Rows) -> Rows:
    """The rows with each key of their ``metadata`` objects as a column of its own."""
    if "metadata" not in rows.names:
        return rows
    cells = rows.column("metadata")
    keys = dict.fromkeys(key for cell in cells if isinstance(cell, dict) for key in cell)
    flat = {
        f"metadata.{key}": [cell.get(key) if isinstance(cell, dict) else None for cell in cells]
        for key in keys
        if f"metadata.{key}" not in rows.names
    }
    return replace(
        rows,
        names=(*(name for name in rows.names if name != "metadata"), *flat),
        column=lambda name: flat[name] if name in flat else rows.column(name),
    )


def _with_text(rows: Rows, tally: Tally) -> Rows:
    """Rows with the joined text, without those that have none."""
    body = rows.texts(find_column("text", rows.names, file=rows.path.name))
    titles = rows.texts("title") if "title" in rows.names else [None] * len(body)
    joined: list[object] = [
        " ".join(part.strip() for part in both if part and not is_blank(part))
        for both in zip(titles, body, strict=True)
    ]
    tally.n_read = len(joined)
    for row, text in enumerate(joined):
        if not text:
            tally.drop("documents without title and text", rows.place(row))
    joining = replace(
        rows,
        names=(*rows.names, TEXT),
        column=lambda name: joined if name == TEXT else rows.column(name),
    )
    return _only(joining, [bool(text) for text in joined])


def _only(rows: Rows, keep: Sequence[bool]) -> Rows:
    places = [place for place, is_kept in zip(rows.places, keep, strict=True) if is_kept]
    return replace(
        rows,
        places=places,
        column=lambda name: [
            cell for cell, is_kept in zip(rows.column(name), keep, strict=True) if is_kept
        ],
    )


def _judgements(
    rows: Rows, given: TableMapping, mapped: Mapping[str, MappedRows], tally: Tally
) -> Rows:
    """The judgements of what is there, each once."""
    seen_as = MappedRows("qrels", rows, given)
    tally.n_read = len(seen_as)
    if len(seen_as) < len(rows.places):
        raise InputError("A mapping of a BEIR folder takes no [qrels.where]; use --split.")
    known = {
        "query_id": set(mapped["queries"].required("query_id")),
        "doc_id": set(mapped["documents"].required("doc_id")),
    }
    columns = {field: seen_as.required(field) for field in ("query_id", "doc_id", "grade")}
    seen: set[tuple[str, ...]] = set()
    keep = []
    for row, key in enumerate(zip(*columns.values(), strict=True)):
        if key[0] not in known["query_id"]:
            reason = "judgements of queries that are not there"
        elif key[1] not in known["doc_id"]:
            reason = "judgements of documents that are not there or have no text"
        elif key in seen:
            reason = "judgements that are given twice"
        else:
            reason = ""
            seen.add(key)
        keep.append(not reason)
        if reason:
            tally.drop(reason, rows.place(row))
    if not any(keep):
        raise InputError(
            f"{rows.path.name} judges nothing that {mapped['documents'].file} and "
            f"{mapped['queries'].file} hold: it names queries {listed(columns['query_id'])} and "
            f"documents {listed(columns['doc_id'])}; do the files belong together?"
        )
    return _only(rows, keep)
