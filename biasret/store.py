"""DuckDB over the Parquet files: every line of SQL is here.

The database is made beside and renamed over, so that a reader never sees half of it.
Readers attach it read-only to a private in-memory instance: DuckDB shares one instance
per path inside a process and would go on serving a file that was replaced.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from biasret.errors import NothingStored, StoreError
from biasret.precomputed import Folder, Vectors
from biasret.tables import TABLES, Table

__all__ = ["DATABASE", "Store", "make_database"]

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
            f"The database could not be made from {folder.path}: {_first_line(error)}. Run "
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
        with _attached(path) as connection:
            return str(_one(connection, "SELECT fingerprint FROM stored.made", []))
    except (duckdb.Error, StoreError):
        return None


def _first_line(error: duckdb.Error) -> str:
    # What follows shows our own SQL.
    return str(error).partition("\n")[0]


def _attached(path: Path) -> duckdb.DuckDBPyConnection:
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
            f"The store {path.name} cannot be opened ({_first_line(error)}); run "
            "`python -m biasret build`."
        ) from error
    return connection


T = TypeVar("T")


def _readable(value: object) -> object:
    # DuckDB refuses a lone surrogate. No stored text holds one, so it shall find nothing: "?"
    # in its place would find questions.
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class Store:
    """Reads the database; safe to share between threads.

    Parameters
    ----------
    path
        The database file, as `make_database` returns it.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise StoreError(f"There is no store at {path}; run `python -m biasret build`.")
        self.path = path
        self._connection = _attached(path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _frame(self, sql: str, values: Sequence[object] = ()) -> pd.DataFrame:
        readable = [_readable(value) for value in values]
        return self._asked(lambda cursor: cursor.execute(sql, readable).df())

    def _asked(self, ask: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        try:
            # One connection shared by threads gives wrong rows without an error; a cursor each.
            with self._connection.cursor() as cursor:
                return ask(cursor)
        except duckdb.Error as error:
            raise StoreError(f"The store could not answer: {_first_line(error)}") from error

    # -- what is there -----------------------------------------------------------------

    def datasets(self) -> pd.DataFrame:
        """The ``datasets`` table, shipped ones first."""
        return self._frame("SELECT * FROM stored.datasets ORDER BY is_illustrative DESC, dataset")

    def retrievers(self, dataset: str) -> list[str]:
        """Retrievers with a run of `dataset`."""
        found = self._frame(
            "SELECT DISTINCT retriever FROM stored.gold_ranks WHERE dataset = ? ORDER BY 1",
            [dataset],
        )
        return found["retriever"].tolist()

    def counts(self, dataset: str) -> dict[str, int]:
        """Numbers of documents, queries, cells and clusters of a dataset."""
        found = self._frame(
            """
            SELECT (SELECT count(*) FROM stored.documents WHERE dataset = $1) AS documents,
                   count(*) AS queries,
                   count(DISTINCT cell_id) AS cells,
                   count(DISTINCT cluster_id) AS clusters
            FROM stored.queries WHERE dataset = $1
            """,
            [dataset],
        )
        return {name: int(found[name].iloc[0]) for name in found.columns}

    # -- documents and queries -----------------------------------------------------------

    def documents(self, dataset: str, doc_ids: Sequence[str] | None = None) -> pd.DataFrame:
        """Documents of a dataset, by id or all, in order of doc_id."""
        if doc_ids is None:
            return self._frame(
                "SELECT * FROM stored.documents WHERE dataset = ? ORDER BY doc_id", [dataset]
            )
        return self._frame(
            """
            SELECT * FROM stored.documents
            WHERE dataset = ? AND doc_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY doc_id
            """,
            [dataset, list(doc_ids)],
        )

    def queries(self, dataset: str) -> pd.DataFrame:
        """All queries of a dataset, in order of query_id."""
        return self._frame(
            "SELECT * FROM stored.queries WHERE dataset = ? ORDER BY query_id", [dataset]
        )

    def find_cells(self, dataset: str, words: str, *, limit: int) -> pd.DataFrame:
        """Cells one of whose wordings holds every word typed, shortest text first.

        Returns
        -------
        pandas.DataFrame
            ``cell_id``, ``text`` (of its first wording), ``wordings``; at most `limit` rows.
        """
        wanted = str(_readable(words)).split()
        return self._frame(
            """
            SELECT cell_id, arg_min(text, query_id) AS text, count(*) AS wordings
            FROM stored.queries WHERE dataset = $1
            GROUP BY cell_id
            HAVING bool_or(
                len(list_filter($2::VARCHAR[], lambda w: contains(lower(text), lower(w))))
                    = len($2::VARCHAR[])
            )
            ORDER BY length(arg_min(text, query_id)), cell_id
            LIMIT $3
            """,
            [dataset, wanted, limit],
        )

    def find_text(self, dataset: str, text: str) -> str | None:
        """The cell that holds exactly this wording; the first by id where several do."""
        found = self._frame(
            "SELECT min(cell_id) AS cell_id FROM stored.queries WHERE dataset = ? AND text = ?",
            [dataset, text],
        )
        cell_id = found["cell_id"].iloc[0]
        return cell_id if isinstance(cell_id, str) else None

    def cell(self, dataset: str, cell_id: str) -> pd.DataFrame:
        """The queries of one cell, in order of query_id."""
        return self._frame(
            "SELECT * FROM stored.queries WHERE dataset = ? AND cell_id = ? ORDER BY query_id",
            [dataset, cell_id],
        )

    def gold(self, dataset: str, query_ids: Sequence[str]) -> pd.DataFrame:
        """Judgements of grade 1 or more for the queries named."""
        return self._frame(
            """
            SELECT * FROM stored.qrels
            WHERE dataset = ? AND grade >= 1 AND query_id IN (SELECT unnest(?::VARCHAR[]))
            ORDER BY query_id, doc_id, judge
            """,
            [dataset, list(query_ids)],
        )

    # -- results -------------------------------------------------------------------------

    def run(self, dataset: str, retriever: str, query_id: str) -> pd.DataFrame:
        """One stored ranking."""
        return self._frame(
            """
            SELECT * FROM stored.runs
            WHERE dataset = ? AND retriever = ? AND query_id = ? ORDER BY rank
            """,
            [dataset, retriever, query_id],
        )

    def gaps(self, dataset: str | None = None, **wanted: object) -> pd.DataFrame:
        """Rows of ``gaps``; keyword arguments name columns and the values they must equal."""
        return self._where("gaps", dataset, wanted)

    def levels(self, dataset: str | None = None, **wanted: object) -> pd.DataFrame:
        """Rows of ``levels``; keyword arguments name columns and the values they must equal."""
        return self._where("levels", dataset, wanted)

    def measurements(self, dataset: str, **wanted: object) -> pd.DataFrame:
        """Rows of ``measurements``; keyword arguments as in `gaps`."""
        return self._where("measurements", dataset, wanted)

    def _where(self, name: str, dataset: str | None, wanted: dict[str, object]) -> pd.DataFrame:
        table = TABLES[name]
        conditions, values = [], []
        if dataset is not None:
            wanted = {"dataset": dataset, **wanted}
        for column, value in wanted.items():
            assert column in table.names, column
            if value is None:
                continue
            conditions.append(f'"{column}" = ?')
            values.append(value)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        key = ", ".join(f'"{column}"' for column in table.key)
        return self._frame(f"SELECT * FROM stored.{name} {where} ORDER BY {key}", values)

    def differences(
        self,
        dataset: str,
        retriever: str,
        *,
        metric: str,
        k: int | None,
        minuend: str,
        subtrahend: str,
    ) -> np.ndarray:
        """Minuend minus subtrahend of every cell that has both, over all queries.

        Returns
        -------
        float64, shape (n,), in order of cell_id
        """
        found = self._frame(
            """
            SELECT avg(m.value) FILTER (q."group" = $5) - avg(m.value) FILTER (q."group" = $6)
                AS difference
            FROM stored.measurements m JOIN stored.queries q USING (dataset, query_id)
            WHERE m.dataset = $1 AND m.retriever = $2 AND m.metric = $3 AND m.filter = 'raw'
                AND m.k IS NOT DISTINCT FROM $4
            GROUP BY q.cell_id HAVING difference IS NOT NULL ORDER BY q.cell_id
            """,
            [dataset, retriever, metric, k, minuend, subtrahend],
        )
        return found["difference"].to_numpy(dtype=np.float64)

    def overlaps(
        self, dataset: str, retriever: str, *, k: int, minuend: str, subtrahend: str
    ) -> np.ndarray:
        """Share of the first `k` documents that both wordings of a cell return.

        Where a cell has several wordings of a group, its first by query_id counts.

        Returns
        -------
        float64, shape (n,), in [0, 1], in order of cell_id
        """
        found = self._frame(
            """
            WITH sides AS (
                SELECT cell_id, min(query_id) FILTER ("group" = $4) AS one,
                    min(query_id) FILTER ("group" = $5) AS other
                FROM stored.queries WHERE dataset = $1 GROUP BY cell_id
                HAVING one IS NOT NULL AND other IS NOT NULL
            ), listed AS (
                SELECT query_id, list(doc_id) AS docs FROM stored.runs
                WHERE dataset = $1 AND retriever = $2 AND rank <= $3 GROUP BY query_id
            )
            SELECT len(list_intersect(a.docs, b.docs)) / greatest(len(a.docs), len(b.docs))
                AS overlap
            FROM sides JOIN listed a ON a.query_id = one JOIN listed b ON b.query_id = other
            ORDER BY cell_id
            """,
            [dataset, retriever, k, minuend, subtrahend],
        )
        return found["overlap"].to_numpy(dtype=np.float64)

    # -- vectors -------------------------------------------------------------------------

    def vectors(self, dataset: str, retriever: str, kind: str) -> Vectors:
        """Stored embeddings of one kind, ``"document"`` or ``"query"``, in order of id.

        Raises
        ------
        NothingStored
            There are none.
        """
        sql = """
            SELECT id, vector, text_sha256, truncated FROM stored.embeddings
            WHERE dataset = ? AND retriever = ? AND kind = ? ORDER BY id
            """
        values = [_readable(dataset), _readable(retriever), kind]
        data: pa.Table = self._asked(lambda cursor: cursor.sql(sql, params=values).to_arrow_table())
        if data.num_rows == 0:
            raise NothingStored(
                f"The store holds no {kind} vectors of {dataset!r} by {retriever!r}; run "
                f"`python -m biasret build --dataset {dataset} --retriever {retriever}`."
            )
        flat = data["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return Vectors(
            ids=data["id"].to_pylist(),
            matrix=np.ascontiguousarray(flat.reshape(data.num_rows, -1), dtype=np.float32),
            text_sha256=data["text_sha256"].to_pylist(),
            truncated=data["truncated"].to_numpy(zero_copy_only=False),
        )
