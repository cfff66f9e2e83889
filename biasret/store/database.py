"""Makes the DuckDB database from the Parquet files, and opens it for reading.

The database is made beside and renamed over, so that a reader never sees half of it.
Readers attach it read-only to a private in-memory instance: DuckDB shares one instance
per path inside a process and would go on serving a file that was replaced.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from biasret.errors import StoreError
from biasret.precomputed import Folder
from biasret.tables import TABLES, Table

__all__ = ["DATABASE", "attached", "first_line", "make_database"]

DATABASE = "biasret.duckdb"

_SQL_TYPES = {
    "text": "VARCHAR",
    "texts": "VARCHAR[]",
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "vector": "FLOAT[]",
}


def make_database(folder: Folder, *, force: bool = False) -> Path:
    """Make the database from the Parquet files, unless it is there and up to date.

    Parameters
    ----------
    force
        Make it even when nothing has changed.

    Returns
    -------
    pathlib.Path
        The database file.

    Raises
    ------
    StoreError
        A file cannot be read, or another process is writing.
    """
    target = folder.path / DATABASE
    fingerprint = folder.fingerprint()
    if not force and _recorded(target) == fingerprint:
        return target
    # The process id keeps two makers apart; the last rename wins and both are whole.
    beside = target.with_name(f".{DATABASE}.{os.getpid()}.{threading.get_ident()}.part")
    folder.path.mkdir(parents=True, exist_ok=True)
    try:
        connection = duckdb.connect(str(beside))
        try:
            for table in TABLES.values():
                _fill(connection, table, folder.files(table.name))
            connection.execute("CREATE TABLE made (fingerprint VARCHAR)")
            connection.execute("INSERT INTO made VALUES (?)", [fingerprint])
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        beside.replace(target)
    except duckdb.Error as error:
        raise StoreError(
            f"The database could not be made from {folder.path}: {first_line(error)}. Run "
            "`python -m biasret build --force`, or import the dataset of that file again."
        ) from error
    finally:
        beside.unlink(missing_ok=True)
        beside.with_name(beside.name + ".wal").unlink(missing_ok=True)
    return target


def _fill(connection: duckdb.DuckDBPyConnection, table: Table, files: list[Path]) -> None:
    columns = ", ".join(f'"{c.name}" {_SQL_TYPES[c.kind]}' for c in table.columns)
    connection.execute(f"CREATE TABLE {table.name} ({columns})")
    expected = 0
    for path in files:
        connection.execute(
            f"INSERT INTO {table.name} BY NAME SELECT * FROM read_parquet(?)", [str(path)]
        )
        expected += _one(connection, "SELECT count(*) FROM read_parquet(?)", [str(path)])
    found = _one(connection, f"SELECT count(*) FROM {table.name}", [])
    if found != expected:
        raise StoreError(f"Table {table.name} has {found} rows where its files hold {expected}.")


def _one(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[object]) -> Any:
    row = connection.execute(sql, values).fetchone()
    assert row is not None
    return row[0]


def _recorded(path: Path) -> str | None:
    """The fingerprint a database was made from; None: missing, unreadable or half made."""
    if not path.exists():
        return None
    try:
        with attached(path) as connection:
            return str(_one(connection, "SELECT fingerprint FROM stored.made", []))
    except (duckdb.Error, StoreError):
        return None


def first_line(error: duckdb.Error) -> str:
    """What DuckDB said; the lines that follow it show our own SQL."""
    return str(error).partition("\n")[0]


def attached(path: Path) -> duckdb.DuckDBPyConnection:
    """A private instance with the database attached read-only as ``stored``."""
    threads = max(1, min(4, os.cpu_count() or 1))
    connection = duckdb.connect(":memory:", config={"threads": threads})
    try:
        quoted = str(path).replace("'", "''")
        connection.execute(f"ATTACH '{quoted}' AS stored (READ_ONLY)")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except duckdb.Error as error:
        connection.close()
        if isinstance(error, duckdb.IOException) and "lock" in str(error).lower():
            raise StoreError(
                "The store is being rebuilt by another process; try again in a moment."
            ) from error
        raise StoreError(
            f"The store {path.name} cannot be opened ({first_line(error)}); run "
            "`python -m biasret build`."
        ) from error
    return connection
