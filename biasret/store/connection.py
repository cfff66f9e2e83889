"""One connection that threads share: SQL and values in, frames out, errors as sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import duckdb
import pandas as pd
import pyarrow as pa

from biasret.errors import StoreError
from biasret.store.database import attached, first_line

__all__ = ["Connection", "readable"]

T = TypeVar("T")


def readable(value: object) -> object:
    """A value as DuckDB can take it."""
    # DuckDB refuses a lone surrogate. No stored text holds one, so it shall find nothing: "?"
    # in its place would find questions.
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class Connection:
    """The database, opened for reading.

    Parameters
    ----------
    path
        The database file.
    """

    def __init__(self, path: Path) -> None:
        self._connection = attached(path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def frame(self, sql: str, values: Sequence[object] = ()) -> pd.DataFrame:
        """What a question returns; its values are numbered."""
        given = [readable(value) for value in values]
        return self._asked(lambda cursor: cursor.execute(sql, given).df())

    def frame_named(self, sql: str, values: Mapping[str, object]) -> pd.DataFrame:
        """What a question returns; its values are named."""
        # DuckDB refuses values that the SQL does not name.
        used = {name: readable(value) for name, value in values.items() if f"${name}" in sql}
        return self._asked(lambda cursor: cursor.execute(sql, used).df())

    def arrow(self, sql: str, values: Sequence[object]) -> pa.Table:
        """As `frame`, for vectors, which a frame would hold as lists."""
        given = [readable(value) for value in values]
        return self._asked(lambda cursor: cursor.sql(sql, params=given).to_arrow_table())

    def _asked(self, ask: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        try:
            # One connection shared by threads gives wrong rows without an error; a cursor each.
            with self._connection.cursor() as cursor:
                return ask(cursor)
        except duckdb.Error as error:
            raise StoreError(f"The store could not answer: {first_line(error)}") from error
