"""Which column of a file fills which field: mapping files, and names that are recognised.

A mapping file is TOML (``docs/importing.md`` shows it whole). What it does not say is
recognised by column name, whatever the case, spaces, hyphens and underscores.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from biasret.datasets.reading import listed
from biasret.errors import FileError, InputError, TableError, UnknownName

__all__ = ["FIELDS", "DatasetMapping", "Field", "TableMapping", "Take", "read_mapping", "resolve"]


@dataclass(frozen=True)
class Field:
    """One field of a table, and the column names it is recognised by.

    `names` are squeezed: lower case, without spaces, hyphens and underscores.
    """

    name: str
    names: tuple[str, ...]
    is_required: bool = False


def _fields(required: dict[str, str], optional: dict[str, str]) -> dict[str, Field]:
    both = [(name, names, True) for name, names in required.items()]
    both += [(name, names, False) for name, names in optional.items()]
    return {
        name: Field(name, (_squeeze(name), *names.split()), is_required)
        for name, names, is_required in both
    }


def _squeeze(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


#: The fields of each table that files can fill.
FIELDS: dict[str, dict[str, Field]] = {
    "documents": _fields(
        {
            "doc_id": "id articleid documentid docno passageid corpusid",
            "text": "body content contents passage answer documenttext doctext articletext",
        },
        {
            "title": "heading headline",
            "stance": "lean leaning bias biasrating politicallean",
            "source": "outlet publisher publication",
            "story_id": "story storyid eventid",
            "topic": "subject category",
            "date": "published publishedat publicationdate datepublished",
        },
    ),
    "queries": _fields(
        {
            "query_id": "id qid questionid",
            "text": "query querytext question questiontext",
        },
        {
            "group": "identity side stance lean dialect",
            "variant": "wording",
            "cell_id": "cell pairid",
            "cluster_id": "cluster",
            "story_id": "story eventid",
            "source_doc_ids": "sourcedocid sourcearticleid sourcearticleids",
            "gold_doc_ids": "golddocid gold relevantdocids",
            "frame": "",
            "origin": "",
        },
    ),
    "qrels": _fields(
        {
            "query_id": "qid questionid",
            "doc_id": "docid docno articleid documentid passageid corpusid",
            "grade": "relevance rel score label judgment judgement",
        },
        {"judge": "assessor annotator"},
    ),
}

_LISTS = ("source_doc_ids", "gold_doc_ids")


@dataclass(frozen=True)
class Take:
    """What fills a field: a column, several, one per group, one constant, or nothing.

    Attributes
    ----------
    columns
        One column; several for a list of ids; one per group where `groups` is given.
    groups
        The groups whose texts the columns hold, in the same order.
    value
        The same text for every row.
    """

    columns: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    value: str | None = None


@dataclass(frozen=True)
class TableMapping:
    """How one file becomes one table.

    Attributes
    ----------
    where
        By column: the values a row must have one of; None: any that is not empty.
    values
        By field: what stands in the file, and what it means.
    list_separator
        What stands between the ids of a text cell that holds several.
    """

    file: str | None = None
    encoding: str | None = None
    separator: str | None = None
    list_separator: str | None = None
    is_quoted: bool = True
    fields: Mapping[str, Take] = field(default_factory=dict)
    where: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DatasetMapping:
    """How a folder of files becomes a dataset; None is what nobody said."""

    label: str | None = None
    about: str | None = None
    signal: str | None = None
    minuend: str | None = None
    subtrahend: str | None = None
    source: str | None = None
    licence: str | None = None
    encoding: str | None = None
    folder: str | None = None
    tables: Mapping[str, TableMapping] = field(default_factory=dict)

    def table(self, name: str) -> TableMapping:
        """The mapping of a table, or one that says nothing."""
        return self.tables.get(name, TableMapping())

    def with_columns(self, columns: Iterable[str]) -> DatasetMapping:
        """Add what the command line says, such as ``documents.text=body``.

        ``queries.text.left=left_query`` names the column of one group's texts; a list of
        ids may be given several columns, one entry each.
        """
        tables = dict(self.tables)
        given: dict[tuple[str, str], Take] = {}
        for entry in columns:
            target, _, column = entry.partition("=")
            table, _, rest = target.strip().partition(".")
            name, _, group = rest.partition(".")
            if not column or not name:
                raise InputError(
                    f"Cannot read --column {entry!r}; write TABLE.FIELD=COLUMN, such as "
                    "documents.text=body."
                )
            _check_field(table, name)
            if group and (table, name) != ("queries", "text"):
                raise InputError(f"--column {entry!r}: only queries.text has groups.")
            before = given.get((table, name), Take())
            if before.columns and (group in before.groups or not (group or name in _LISTS)):
                raise InputError(f"--column {entry!r}: {target} is given twice; give it once.")
            take = Take((*before.columns, column), (*before.groups, *([group] if group else [])))
            if group and len(take.groups) != len(take.columns):
                raise InputError(f"--column {entry!r}: give queries.text one column, or groups.")
            given[table, name] = take
            old = tables.get(table, TableMapping())
            tables[table] = replace(old, fields={**old.fields, name: take})
        return replace(self, tables=tables)


_TEXT_KEYS = [each.name for each in dataclasses.fields(DatasetMapping) if each.name != "tables"]
_TABLE_SETTINGS = ("file", "encoding", "separator", "list_separator", "quoted")
_TABLE_KEYS = (*_TABLE_SETTINGS, "columns", "where", "values")


def _check_field(table: str, name: str) -> None:
    if table not in FIELDS:
        raise UnknownName("table", table, FIELDS)
    if name not in FIELDS[table]:
        raise UnknownName(f"field of {table}", name, FIELDS[table])


def read_mapping(path: Path) -> DatasetMapping:
    """Read a mapping file.

    Raises
    ------
    FileError
        The file is missing or not TOML.
    InputError
        A key or value in it means nothing; the message names it.
    """
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise FileError(f"The mapping file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FileError(f"The mapping file {path.name} is not UTF-8; save it so.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileError(f"The mapping file {path.name} is not valid TOML: {error}.") from error
    try:
        tables = {name: content.pop(name) for name in FIELDS if name in content}
        texts = {key: _text(value, key) for key, value in content.items() if _known(key)}
        return DatasetMapping(
            **texts, tables={name: _table(name, table) for name, table in tables.items()}
        )
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error


def _known(key: str) -> bool:
    if key not in _TEXT_KEYS:
        raise UnknownName("key", key, (*_TEXT_KEYS, *FIELDS))
    return True


def _text(value: object, key: str) -> str:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{key} should be text that is not blank; found {value!r}.")


def _dict(value: object, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{key} should be a table of names and values; found {value!r}.")
    return value


def _table(name: str, value: object) -> TableMapping:
    content = _dict(value, name)
    for key in content:
        if key not in _TABLE_KEYS:
            raise UnknownName(f"key of [{name}]", key, _TABLE_KEYS)
    fields, values = {}, {}
    for key, entry in _dict(content.get("columns", {}), f"{name}.columns").items():
        _check_field(name, key)
        fields[key] = _take(entry, key, f"{name}.columns.{key}")
    for key, entry in _dict(content.get("values", {}), f"{name}.values").items():
        _check_field(name, key)
        spot = f"{name}.values.{key}"
        # An empty meaning is meant: it makes the value a missing one.
        values[key] = {old: new and _text(new, spot) for old, new in _dict(entry, spot).items()}
    where = {
        key: _allowed(entry, f"{name}.where.{key}")
        for key, entry in _dict(content.get("where", {}), f"{name}.where").items()
    }
    is_quoted = content.get("quoted", True)
    if not isinstance(is_quoted, bool):
        raise InputError(f"{name}.quoted should be true or false; found {is_quoted!r}.")

    def text(key: str) -> str | None:
        entry = content.get(key)
        if key.endswith("separator") and isinstance(entry, str) and entry:
            return entry  # a tab or a space is blank, and a separator
        return None if entry is None else _text(entry, f"{name}.{key}")

    return TableMapping(
        text("file"),
        text("encoding"),
        text("separator"),
        text("list_separator"),
        is_quoted,
        fields,
        where,
        values,
    )


def _take(entry: object, name: str, spot: str) -> Take:
    if entry is False:
        return Take()
    if isinstance(entry, str) and entry:
        return Take((entry,))
    if isinstance(entry, list) and entry and name in _LISTS:
        return Take(tuple(_text(column, spot) for column in entry))
    if isinstance(entry, dict) and entry:
        if name == "text":
            columns = tuple(_text(column, spot) for column in entry.values())
            if spot.startswith("queries"):
                return Take(columns, tuple(_text(group, spot) for group in entry))
        elif set(entry) == {"value"}:
            return Take(value=_text(entry["value"], spot))
    hint = '"column", { value = "constant" }, or false to leave it empty'
    if name in _LISTS:
        hint += ', or ["column", "column"]'
    if spot == "queries.columns.text":
        hint = '"column" or { group = "column", group = "column" }'
    raise InputError(f"{spot} should be {hint}; found {entry!r}.")


def _allowed(entry: object, spot: str) -> tuple[str, ...] | None:
    if entry == {"empty": False}:
        return None
    if isinstance(entry, list) and entry:
        return tuple(value if value == "" else _text(value, spot) for value in entry)
    raise InputError(
        f'{spot} should list the values to keep, as ["a", "b"], or be {{ empty = false }}; '
        f"found {entry!r}."
    )


def find_column(column: str, names: Sequence[str], *, file: str) -> str:
    """The name in `names` that is meant: the same, or the only one that looks the same."""
    if column in names:
        return column
    alike = [name for name in names if _squeeze(name) == _squeeze(column)]
    if len(alike) == 1:
        return alike[0]
    found = f"more than one like it: {listed(alike)}" if alike else listed(names, most=20)
    raise TableError(f"{file} has no column {column!r}; found {found}. Name one of those.")


def resolve(
    table: str, names: Sequence[str], given: Mapping[str, Take], *, file: str
) -> dict[str, Take]:
    """Say for each field of a table what fills it.

    Parameters
    ----------
    names
        The columns of the file.
    given
        What the mapping says; its columns are not recognised a second time.
    file
        What the file is called, for messages.

    Returns
    -------
    dict
        Fields that nothing fills are absent.

    Raises
    ------
    TableError
        A column is not there, two could be the same field, or none could be a required one.
    """
    takes = {
        name: replace(
            take, columns=tuple(find_column(column, names, file=file) for column in take.columns)
        )
        for name, take in given.items()
    }
    if table == "queries" and takes.get("text", Take()).groups:
        if takes.get("group", Take()) != Take():
            raise InputError(
                f"{file}: the columns of queries.text name the groups already; "
                "take queries.columns.group out of the mapping."
            )
        takes["group"] = Take()
    claimed = {column for take in takes.values() for column in take.columns}
    free = [name for name in names if name not in claimed]
    for name, spec in FIELDS[table].items():
        if name in takes:
            continue
        alike = [column for column in free if _squeeze(column) in spec.names]
        if len(alike) > 1:
            raise TableError(
                f"{file}: the columns {' and '.join(map(repr, alike))} could both be {name!r}; "
                f"say which: --column {table}.{name}={alike[0]}"
            )
        if alike:
            takes[name] = Take((alike[0],))
    takes = {name: take for name, take in takes.items() if take != Take()}
    claimed = {column for take in takes.values() for column in take.columns}
    for name, spec in FIELDS[table].items():
        if spec.is_required and name not in takes:
            example = next((column for column in names if column not in claimed), "COLUMN")
            raise TableError(
                f"{file} has no column for {name!r}; found {listed(names, most=20)}. Say which "
                f"it is: --column {table}.{name}={example}"
            )
    return takes
