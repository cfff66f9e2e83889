"""The rows of one file seen through its mapping: fields in, checked values out."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from biasret.datasets.mapping import TableMapping, Take, find_column, resolve
from biasret.datasets.reading import Rows, listed, shown
from biasret.errors import TableError

__all__ = ["MappedRows", "is_blank", "refuse_repeated"]

#: Characters that show nothing: controls, invisible marks and all kinds of space.
_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp"}

#: One text of a list as Python prints it.
_ITEM = r"""(?:'[^'\\]*'|"[^"\\]*")"""


def is_blank(text: str | None) -> bool:
    r"""Whether a text shows nothing: none, empty, white space, or invisible marks.

    Examples
    --------
    >>> [is_blank(text) for text in (None, "", " \n", "\u200b", "0", "-")]
    [True, True, True, True, False, False]
    """
    if text and text[0].isalnum():  # nearly every text; the rest is looked at in full
        return False
    return text is None or all(unicodedata.category(mark) in _INVISIBLE for mark in text)


class MappedRows:
    """One file as the fields of a table, without the rows its mapping leaves out.

    Parameters
    ----------
    table
        A key of `biasret.datasets.mapping.FIELDS`.
    rows
        The file.
    mapping
        What the mapping says about the table.

    Attributes
    ----------
    left_out
        How many rows were left out, by reason.
    notes
        What a reader of the result should know.
    """

    def __init__(self, table: str, rows: Rows, mapping: TableMapping) -> None:
        self.table = table
        self.file = rows.path.name
        self.left_out: Counter[str] = Counter()
        self.notes = list(rows.notes)
        self._rows = rows
        self._mapping = mapping
        self.takes = resolve(table, rows.names, mapping.fields, file=self.file)
        self._kept: Sequence[int] = range(len(rows.places))
        for column, allowed in mapping.where.items():
            self._leave_out(find_column(column, rows.names, file=self.file), allowed)
        if not self._kept:
            raise TableError(
                f"{self.file}: no row is left after [{table}.where] "
                f"({', '.join(self.left_out)}); widen it."
            )

    def __len__(self) -> int:
        return len(self._kept)

    def place(self, row: int) -> str:
        """Where a row stands in its file."""
        return self._rows.place(self._kept[row])

    def _leave_out(self, column: str, allowed: tuple[str, ...] | None) -> None:
        if allowed is None:
            filled = [
                bool(cell) if isinstance(cell, list) else not is_blank(str(cell or ""))
                for cell in self._rows.column(column)
            ]
            reason = f"{self.file}: {column} is empty"
        else:
            cells = [cell or "" for cell in self._rows.texts(column)]
            unused = sorted(set(allowed) - set(cells))
            if unused:
                self.notes.append(f"{self.file}: no row has {listed(unused)} in {column}.")
            filled = [cell in allowed for cell in cells]
            reason = f"{self.file}: {column} is another than {listed(allowed, most=8)}"
        before = len(self._kept)
        self._kept = [row for row in self._kept if filled[row]]
        if before > len(self._kept):
            self.left_out[reason] += before - len(self._kept)

    def all_ids(self) -> set[str | None]:
        """The ids in the file, those of rows that were left out among them."""
        take = self.takes["doc_id" if self.table == "documents" else "query_id"]
        ids = {cell for column in take.columns for cell in self._rows.texts(column)}
        groups = self.takes["text"].groups
        return {f"{cell}:{group}" for cell in ids for group in groups} if groups else ids

    def texts(self, field: str) -> list[str | None]:
        """A field by row; None where nothing fills it or its cell is blank."""
        take = self.takes.get(field, Take())
        if not take.columns:
            return [take.value] * len(self)
        return self._column(field, take.columns[0])

    def _column(self, field: str, column: str) -> list[str | None]:
        cells = self._rows.texts(column)
        kept = [cells[row] for row in self._kept]
        meanings = self._mapping.values.get(field)
        if meanings:
            folded = {old.strip().casefold(): new for old, new in meanings.items()}
            kept = [
                cell if cell is None else folded.get(cell.strip().casefold(), cell) for cell in kept
            ]
        return [None if is_blank(cell) else cell for cell in kept]

    def required(self, field: str) -> list[str]:
        """A field that every row must fill.

        Raises
        ------
        TableError
            Cells are blank; the message counts them and says where the first is.
        """
        cells = self.texts(field)
        blank = [row for row, cell in enumerate(cells) if cell is None]
        if blank:
            raise TableError(
                f"{self.place(blank[0])}: {field} is blank ({len(blank):,} of {len(cells):,} "
                "rows are); fill it, or remove such rows."
            )
        return [cell for cell in cells if cell is not None]

    def by_group(self, field: str) -> dict[str, list[str | None]]:
        """The column of each group, for a field that has one column per group."""
        take = self.takes[field]
        pairs = zip(take.groups, take.columns, strict=True)
        return {group: self._column(field, column) for group, column in pairs}

    def lists(self, field: str) -> list[list[str]]:
        """A field that holds several ids: a list column, a delimited text, or several columns.

        Ids named twice in a row are kept once.
        """
        take = self.takes.get(field, Take())
        if len(take.columns) > 1:
            columns = [self._column(field, column) for column in take.columns]
            found = [[cell for cell in cells if cell] for cells in zip(*columns, strict=True)]
        elif not take.columns:
            found = [[] if take.value is None else [take.value]] * len(self)
        else:
            cells = self._rows.column(take.columns[0])
            found = [self._split(cells[at], field, row) for row, at in enumerate(self._kept)]
        return [list(dict.fromkeys(ids)) for ids in found]

    def _split(self, cell: object, field: str, row: int) -> list[str]:
        if cell is None or (isinstance(cell, str) and is_blank(cell)):
            return []
        given, separator = cell, self._mapping.list_separator
        if isinstance(cell, str) and separator is None:
            bare = cell.strip()
            if bare.startswith("[") and bare.endswith("]"):
                cell = _printed_list(bare)
        if isinstance(cell, str):
            parts = [part.strip() for part in cell.split(separator or ";")]
            return [part for part in parts if part]
        if isinstance(cell, list) and all(type(part) in (str, int) for part in cell):
            return [str(part) for part in cell if not is_blank(str(part))]
        raise TableError(
            f"{self.place(row)}: {field} should be a list of ids; found {shown(given)}. "
            'Write ["a", "b"] or a;b, or say list_separator in a mapping file.'
        )


def _printed_list(text: str) -> object:
    """The list that a text shows, as JSON or Python write it; None if it shows none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if not re.fullmatch(rf"\[\s*(?:{_ITEM}(?:\s*,\s*{_ITEM})*)?\s*,?\s*\]", text):
            return None
        return [item[1:-1] for item in re.findall(_ITEM, text)]


def refuse_repeated(keys: Sequence[object], place: Callable[[int], str], *, what: str) -> None:
    """Raise if two rows share a key, saying where both stand."""
    if len(set(keys)) == len(keys):
        return
    first: dict[object, int] = {}
    for row, key in enumerate(keys):
        before = first.setdefault(key, row)
        if before != row:
            raise TableError(
                f"{place(row)}: the {what} {key!r} stands at {place(before)} already; "
                "keep one of the two, or give them different ids."
            )
