r"""Files of rows, read as text: CSV, TSV, JSON Lines and Parquet.

Nothing is guessed from what a cell looks like: ``007``, ``NA`` and ``null`` stay the text
they are. Every row knows its place (the line it begins on, the header being line 1, or its
record number in a Parquet file), so that whoever finds a fault can say where.

A cell is text, None where there is none, or, in JSON Lines and Parquet, a list or another
value. Half a surrogate pair (``"\ud800"`` in JSON) is refused rather than replaced: no
encoding can store it, and a replaced character would be a changed query.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from biasret.datasets.compressed import PACKED, ending, packing, unpacked
from biasret.datasets.decoding import decode
from biasret.errors import FileError, InputError, TableError

__all__ = ["EXTENSIONS", "MAX_CELL_BYTES", "Rows", "listed", "read", "shown"]

#: The largest cell accepted, in bytes of UTF-8.
MAX_CELL_BYTES = 1_000_000

EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True)
class Rows:
    """The rows of one file.

    Attributes
    ----------
    names
        Column names in order, all different.
    places
        The line each row begins on, or its record number, counted from 1.
    unit
        What `places` counts: ``line`` or ``record``.
    notes
        What a reader of the result should know, such as a separator that was detected.
    column
        The cells of the column of that name, one per row.
    """

    path: Path
    names: tuple[str, ...]
    places: Sequence[int]
    unit: str
    notes: tuple[str, ...]
    column: Callable[[str], list[object]]

    def place(self, row: int) -> str:
        """Where a row stands, for messages: ``documents.csv, line 17``."""
        return f"{self.path.name}, {self.unit} {self.places[row]}"

    def texts(self, name: str) -> list[str | None]:
        """The column as text; numbers are written out, other values are refused."""
        cells = self.column(name)
        return [
            cell if cell is None or type(cell) is str else self._text(cell, name, row)
            for row, cell in enumerate(cells)
        ]

    def _text(self, cell: object, name: str, row: int) -> str | None:
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, float):
            if cell != cell:  # NaN stands for a missing value in frames written by pandas
                return None
            return str(int(cell)) if cell.is_integer() else repr(cell)
        if isinstance(cell, (int, decimal.Decimal)):
            return str(cell)
        if isinstance(cell, datetime.date):
            return cell.isoformat()
        kinds: dict[type, str] = {list: "a list", dict: "an object", bytes: "bytes"}
        found = kinds.get(type(cell), f"a {type(cell).__name__}")
        raise TableError(
            f"{self.place(row)}: column {name!r} holds {found} ({shown(cell)}) where text is "
            "needed; write it as text, or map another column."
        )


def shown(value: object) -> str:
    """A value in quotes, cut if it is long."""
    text = str(value)
    return repr(text if len(text) <= 80 else text[:77] + "...")


def listed(values: Sequence[object], *, most: int = 5) -> str:
    """The first few values in quotes, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    >>> listed([])
    'none'
    """
    first = ", ".join(shown(value) for value in values[:most])
    more = len(values) - most
    return f"{first} and {more:,} more" if more > 0 else first or "none"


def read(
    path: Path,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    is_quoted: bool = True,
    max_cell_bytes: int = MAX_CELL_BYTES,
) -> Rows:
    """Read a file of rows; its extension says which kind it is.

    Parameters
    ----------
    path
        A file ending in one of `EXTENSIONS`; text files may be packed as ``.gz`` or ``.zst``.
    encoding
        Of text files. None: UTF-8, with or without a byte order mark.
    separator
        One character between cells. None: what the extension says, unless the header has
        more cells by another of ``, ; | tab``, which is then noted.
    is_quoted
        Whether ``"`` encloses cells. False takes quotation marks as text.
    max_cell_bytes
        Larger cells are refused.

    Raises
    ------
    FileError
        The file is missing, of another kind, empty, or damaged; the message says where.
    TableError
        A row does not fit the header, or a cell cannot be kept.
    """
    kind = ending(path)
    if not path.exists():
        raise FileError(f"There is no file {path}; check the path.")
    if kind not in EXTENSIONS or (kind == ".parquet" and packing(path)):
        raise FileError(
            f"{path.name} has the unknown extension {path.suffix!r}; "
            f"save it as one of {', '.join(EXTENSIONS)}; text may be packed "
            f"({', '.join(PACKED)})."
        )
    if not path.is_file():
        raise FileError(f"{path} is not a file; name a file ending in {kind}.")
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise InputError(f"A separator is one character, such as ';'; found {separator!r}.")
    if kind == ".parquet":
        rows = _read_parquet(path, max_cell_bytes)
    else:
        text, notes = decode(path, unpacked(path), encoding=encoding)
        if kind == ".jsonl":
            rows = _read_jsonl(path, text, notes, max_cell_bytes)
        else:
            natural = "," if kind == ".csv" else "\t"
            if separator is None:
                separator = _separator(text, natural)
                if separator != natural:
                    words = f"{_SEPARATORS[separator]}, not {_SEPARATORS[natural]}"
                    notes = [*notes, f"{path.name} is separated by {words}; it was read so."]
            rows = _read_csv(path, text, notes, separator, is_quoted, max_cell_bytes)
    if not rows.places:
        raise FileError(f"{path.name} has a header and no rows; add rows, or take the file away.")
    return rows


def _check_size(cell: str, limit: int, place: str, name: str) -> None:
    if len(cell) * 4 > limit and (size := len(cell.encode())) > limit:
        raise TableError(
            f"{place}: the cell in column {name!r} has {size:,} bytes, more than the limit of "
            f"{limit:,}; shorten it, or check for a missing quotation mark."
        )


def _check_names(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name in seen:
            raise TableError(
                f"{path.name} has two columns named {name!r} (number {seen[name]} and {number}); "
                "rename or remove one."
            )
        seen[name] = number
    return tuple(names)


def _separator(text: str, natural: str) -> str:
    first = re.search(r"\S[^\r\n]*", text)
    assert first is not None, "decode refuses blank files"
    bare = re.sub(r'"[^"]*"', "", first.group())
    return max(_SEPARATORS, key=lambda mark: (bare.count(mark), mark == natural))


def _read_csv(
    path: Path, text: str, notes: list[str], separator: str, is_quoted: bool, limit: int
) -> Rows:
    # The limit is one for the whole process; it is only ever raised. Ours is checked below.
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE,
    )
    names: tuple[str, ...] | None = None
    kept: list[list[str]] = []
    places: list[int] = []
    line, n_blank = 1, 0
    try:
        for row in reader:
            start, line = line, reader.line_num + 1
            if not row or (len(row) == 1 and not row[0].strip() and len(names or "ab") > 1):
                n_blank += 1
            elif names is None:
                header = [cell.strip() or f"(column {at})" for at, cell in enumerate(row, 1)]
                names = _check_names(path, header)
            elif len(row) != len(names):
                lines = f"line {start}" if line == start + 1 else f"lines {start} to {line - 1}"
                raise TableError(
                    f"{path.name}, {lines}: found {len(row)} fields where the header has "
                    f"{len(names)}; put cells that hold {_SEPARATORS.get(separator, separator)} "
                    "or line breaks in quotation marks, close those, and add what is missing."
                )
            else:
                if max(map(len, row)) * 4 > limit:
                    for name, cell in zip(names, row, strict=True):
                        _check_size(cell, limit, f"{path.name}, line {start}", name)
                kept.append(row)
                places.append(start)
    except csv.Error as error:
        cause = "a quotation mark is opened and never closed"
        if "unexpected end" not in str(error):
            cause = f"a quotation mark stands where none can ({error})"
        raise FileError(
            f"{path.name}, line {line}: in the row that begins here, {cause}; close it, double "
            "it inside a quoted cell, or say quoted = false in a mapping file."
        ) from error
    if names is None:
        raise FileError(f"{path.name} is empty; it needs a header and at least one row.")
    if n_blank:
        notes = [*notes, f"{path.name}: {n_blank:,} blank lines were skipped."]
    index = {name: at for at, name in enumerate(names)}
    return Rows(
        path,
        names,
        places,
        "line",
        tuple(notes),
        lambda name: [row[index[name]] for row in kept],
    )


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return result


def _constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON value")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _read_jsonl(path: Path, text: str, notes: list[str], limit: int) -> Rows:
    # Numbers keep their spelling: 1.10 stays "1.10", as it would in a CSV file.
    parse = json.JSONDecoder(
        object_pairs_hook=_pairs, parse_constant=_constant, parse_int=str, parse_float=str
    ).decode
    kept: list[dict[str, object]] = []
    places: list[int] = []
    names: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = parse(line)
        except RecursionError as error:
            raise FileError(f"{place}: the JSON is nested too deeply; flatten it.") from error
        except ValueError as error:
            cause = str(error)
            if isinstance(error, json.JSONDecodeError):
                # The decoder's own message would say "line 1", of the one line it was given.
                cause = f"{error.msg} at character {error.pos + 1}"
            raise FileError(f"{place}: not valid JSON ({cause}); correct that line.") from error
        if not isinstance(row, dict):
            raise FileError(
                f"{place}: found {shown(line.strip())}, which is no object; write one a line, "
                'such as {"id": "a1", "text": "..."}.'
            )
        if "\\u" in line:
            _check_escapes(row, place)
        if len(line) * 4 > limit:
            for name, cell in row.items():
                for part in _strings(cell):
                    _check_size(part, limit, place, name)
        names.update(dict.fromkeys(row))
        kept.append(row)
        places.append(number)
    return Rows(
        path,
        tuple(names),
        places,
        "line",
        tuple(notes),
        lambda name: [row.get(name) for row in kept],
    )


def _check_escapes(row: dict[str, object], place: str) -> None:
    for part in _strings(row):
        if "\0" in part:
            raise TableError(f"{place}: found a NUL character (\\u0000); remove it.")
        try:
            part.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(part[error.start]):04x}"
            raise TableError(
                f"{place}: found half a surrogate pair ({half}), which is no character; "
                "write the whole pair, or remove it."
            ) from error


def _read_parquet(path: Path, limit: int) -> Rows:
    # Heavy to load, and of no use to those who bring text files.
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.stat().st_size == 0:
        raise FileError(f"{path.name} is empty; it needs columns and at least one row.")
    try:
        with pq.ParquetFile(path) as file:
            names = _check_names(path, file.schema_arrow.names)
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise FileError(
            f"{path.name} cannot be read as Parquet ({first}); write the file again."
        ) from error

    def column(name: str) -> list[object]:
        try:
            cells: list[object] = table.column(name).to_pylist()
        except UnicodeDecodeError as error:
            raise TableError(
                f"{path.name}: column {name!r} holds bytes that are not UTF-8; write it as text."
            ) from error
        for record, cell in enumerate(cells, 1):
            for part in (cell,) if isinstance(cell, str) else _strings(cell):
                if "\0" in part:
                    raise TableError(f"{path.name}, record {record}: found a NUL; remove it.")
                _check_size(part, limit, f"{path.name}, record {record}", name)
        return cells

    return Rows(path, names, range(1, table.num_rows + 1), "record", (), column)
