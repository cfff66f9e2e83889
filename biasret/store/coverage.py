"""How much of what was asked each retriever read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

__all__ = ["coverage"]


def coverage(frame: Callable[[str, Sequence[object]], pd.DataFrame], dataset: str) -> pd.DataFrame:
    """Truncated and unmatched queries by retriever and group; see `Store.coverage`."""
    return frame(
        """
        WITH matched AS (
            SELECT DISTINCT retriever, query_id FROM stored.runs WHERE dataset = $1 AND rank = 1
        ), read AS (
            SELECT retriever, id AS query_id, truncated FROM stored.embeddings
            WHERE dataset = $1 AND kind = 'query'
        )
        SELECT g.dataset, g.retriever, q."group", count(*) AS n,
            count(*) FILTER (read.truncated) AS n_truncated,
            count(*) FILTER (matched.query_id IS NULL) AS n_unmatched
        FROM stored.gold_ranks g
        JOIN stored.queries q USING (dataset, query_id)
        LEFT JOIN read USING (retriever, query_id)
        LEFT JOIN matched USING (retriever, query_id)
        WHERE g.dataset = $1
        GROUP BY ALL ORDER BY g.retriever, q."group"
        """,
        [dataset],
    )
