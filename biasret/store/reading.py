"""Every question that is asked of the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biasret.errors import NothingStored, StoreError
from biasret.precomputed import Vectors
from biasret.store.connection import Connection, readable
from biasret.store.moved import Cells, moved_cells, topics_and_frames
from biasret.store.wordings import examples, find_cells, find_text
from biasret.tables import TABLES

__all__ = ["Store"]


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
        self._connection = Connection(path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # -- what is there -----------------------------------------------------------------

    def datasets(self) -> pd.DataFrame:
        """The ``datasets`` table, shipped ones first."""
        return self._connection.frame(
            "SELECT * FROM stored.datasets ORDER BY is_illustrative DESC, dataset"
        )

    def retrievers(self, dataset: str) -> list[str]:
        """Retrievers with a run of `dataset`."""
        found = self._connection.frame(
            "SELECT DISTINCT retriever FROM stored.gold_ranks WHERE dataset = ? ORDER BY 1",
            [dataset],
        )
        return found["retriever"].tolist()

    def counts(self, dataset: str) -> dict[str, int]:
        """Numbers of documents, queries, cells and clusters of a dataset."""
        found = self._connection.frame(
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

    def cut(self, dataset: str) -> pd.DataFrame:
        """How many texts each model read only the beginning of.

        Returns
        -------
        pandas.DataFrame
            ``retriever``, ``kind`` (document or query), ``group`` (missing for documents),
            ``n``, ``n_cut``.
        """
        return self._connection.frame(
            """
            SELECT e.retriever, e.kind, q."group", count(*) AS n,
                count(*) FILTER (e.truncated) AS n_cut
            FROM stored.embeddings e LEFT JOIN stored.queries q
                ON e.kind = 'query' AND q.dataset = e.dataset AND q.query_id = e.id
            WHERE e.dataset = ? GROUP BY ALL ORDER BY e.retriever, e.kind, q."group"
            """,
            [dataset],
        )

    def unmatched(self, dataset: str) -> pd.DataFrame:
        """How many queries each retriever returned no document for.

        Returns
        -------
        pandas.DataFrame
            ``retriever``, ``group``, ``n``, ``n_unmatched``.
        """
        return self._connection.frame(
            """
            SELECT g.retriever, q."group", count(*) AS n,
                count(*) FILTER (r.query_id IS NULL) AS n_unmatched
            FROM stored.gold_ranks g JOIN stored.queries q USING (dataset, query_id)
            LEFT JOIN stored.runs r ON r.dataset = g.dataset AND r.retriever = g.retriever
                AND r.query_id = g.query_id AND r.rank = 1
            WHERE g.dataset = ? GROUP BY ALL ORDER BY g.retriever, q."group"
            """,
            [dataset],
        )

    # -- documents and queries -----------------------------------------------------------

    def documents(self, dataset: str, doc_ids: Sequence[str] | None = None) -> pd.DataFrame:
        """Documents of a dataset, by id or all, in order of doc_id."""
        if doc_ids is None:
            return self._connection.frame(
                "SELECT * FROM stored.documents WHERE dataset = ? ORDER BY doc_id", [dataset]
            )
        return self._connection.frame(
            """
            SELECT * FROM stored.documents
            WHERE dataset = ? AND doc_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY doc_id
            """,
            [dataset, list(doc_ids)],
        )

    def queries(self, dataset: str) -> pd.DataFrame:
        """All queries of a dataset, in order of query_id."""
        return self._connection.frame(
            "SELECT * FROM stored.queries WHERE dataset = ? ORDER BY query_id", [dataset]
        )

    def find_cells(self, dataset: str, words: str, *, limit: int) -> pd.DataFrame:
        """Cells that hold every word typed; see `biasret.store.wordings.find_cells`."""
        return find_cells(self._connection, dataset, words, limit=limit)

    def examples(self, dataset: str, *, limit: int, groups: Sequence[str]) -> pd.DataFrame:
        """A few cells, always the same ones; see `biasret.store.wordings.examples`."""
        return examples(self._connection, dataset, limit=limit, groups=groups)

    def find_text(self, dataset: str, text: str) -> str | None:
        """The cell that holds exactly this wording; the first by id where several do."""
        return find_text(self._connection, dataset, text)

    def cell(self, dataset: str, cell_id: str) -> pd.DataFrame:
        """The queries of one cell, in order of query_id."""
        return self._connection.frame(
            "SELECT * FROM stored.queries WHERE dataset = ? AND cell_id = ? ORDER BY query_id",
            [dataset, cell_id],
        )

    def list_depth(self, dataset: str, retriever: str) -> int:
        """How many documents the longest stored ranking holds; 0 where only ranks are stored."""
        found = self._connection.frame(
            "SELECT coalesce(max(rank), 0) AS depth FROM stored.runs "
            "WHERE dataset = ? AND retriever = ?",
            [dataset, retriever],
        )
        return int(found["depth"].iloc[0])

    def gold(self, dataset: str, query_ids: Sequence[str]) -> pd.DataFrame:
        """Judgements of grade 1 or more for the queries named."""
        return self._connection.frame(
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
        return self._connection.frame(
            """
            SELECT * FROM stored.runs
            WHERE dataset = ? AND retriever = ? AND query_id = ? ORDER BY rank
            """,
            [dataset, retriever, query_id],
        )

    def top(self, dataset: str, k: int) -> pd.DataFrame:
        """The first `k` documents of every stored ranking of a dataset.

        Returns
        -------
        pandas.DataFrame
            ``retriever``, ``query_id``, ``rank``, ``doc_id``.
        """
        return self._connection.frame(
            """
            SELECT retriever, query_id, rank, doc_id FROM stored.runs
            WHERE dataset = ? AND rank <= ? ORDER BY retriever, query_id, rank
            """,
            [dataset, k],
        )

    def gaps(self, dataset: str | None = None, **wanted: object) -> pd.DataFrame:
        """Rows of ``gaps``; see `rows`."""
        return self.rows("gaps", dataset, **wanted)

    def levels(self, dataset: str | None = None, **wanted: object) -> pd.DataFrame:
        """Rows of ``levels``; see `rows`."""
        return self.rows("levels", dataset, **wanted)

    def measurements(self, dataset: str, **wanted: object) -> pd.DataFrame:
        """Rows of ``measurements``; see `rows`."""
        return self.rows("measurements", dataset, **wanted)

    def rows(self, name: str, dataset: str | None = None, **wanted: object) -> pd.DataFrame:
        """Rows of a table, in order of its key.

        Parameters
        ----------
        name
            A key of `TABLES`.
        dataset
            None: of every dataset.
        wanted
            Columns, and the value each must equal; None: any.
        """
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
        return self._connection.frame(f"SELECT * FROM stored.{name} {where} ORDER BY {key}", values)

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
        found = self._connection.frame(
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
        found = self._connection.frame(
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

    def moved(self, cells: Cells, *, order: str, limit: int, offset: int = 0) -> pd.DataFrame:
        """Cells that move most between two groups; see `biasret.store.moved.moved_cells`."""
        words = str(readable(cells.words)).split()
        return moved_cells(
            self._connection.frame_named,
            cells,
            words=words,
            order=order,
            limit=limit,
            offset=offset,
        )

    def topics_and_frames(self, dataset: str) -> tuple[list[str], list[str]]:
        """Topics of a dataset's documents and frames of its queries."""
        return topics_and_frames(self._connection.frame_named, dataset)

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
        data = self._connection.arrow(sql, [dataset, retriever, kind])
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
