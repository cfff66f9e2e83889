"""Stored questions by their words: those that hold some, those that are one, and examples."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from biasret.store.connection import Connection, readable

__all__ = ["examples", "find_cells", "find_text"]


def find_cells(connection: Connection, dataset: str, words: str, *, limit: int) -> pd.DataFrame:
    """Cells one of whose wordings holds every word typed, shortest text first.

    Questions whose text is withheld are not among them.

    Returns
    -------
    pandas.DataFrame
        ``cell_id``, ``text`` (of its first wording), ``wordings``; at most `limit` rows.
    """
    wanted = str(readable(words)).split()
    return connection.frame(
        """
        SELECT cell_id, arg_min(text, query_id) AS text, count(*) AS wordings
        FROM stored.queries WHERE dataset = $1 AND trim(text) <> ''
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


def examples(
    connection: Connection, dataset: str, *, limit: int, groups: Sequence[str]
) -> pd.DataFrame:
    """A few cells, evenly spread over the order of cell_id, always the same ones.

    Parameters
    ----------
    groups
        Whose wording is shown, by preference; the first by query_id where there is none.

    Returns
    -------
    pandas.DataFrame
        ``cell_id``, ``text``.
    """
    return connection.frame(
        """
        WITH cells AS (
            SELECT cell_id, arg_min(text, coalesce(
                    nullif(list_position($3::VARCHAR[], "group"), 0), 99
                ) || '/' || query_id) AS text,
                row_number() OVER (ORDER BY cell_id) - 1 AS place, count(*) OVER () AS n
            FROM stored.queries WHERE dataset = $1 AND trim(text) <> '' GROUP BY cell_id
        )
        SELECT cell_id, text FROM cells
        WHERE (place * $2) // n > ((place - 1) * $2) // n OR place = 0
        ORDER BY cell_id LIMIT $2
        """,
        [dataset, limit, list(groups)],
    )


def find_text(connection: Connection, dataset: str, text: str) -> str | None:
    """The cell that holds exactly this wording; the first by id where several do."""
    found = connection.frame(
        "SELECT min(cell_id) AS cell_id FROM stored.queries WHERE dataset = ? AND text = ?",
        [dataset, text],
    )
    cell_id = found["cell_id"].iloc[0]
    return cell_id if isinstance(cell_id, str) else None
