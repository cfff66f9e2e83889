"""The question behind *Query by query*: which cells move most, found and paged by the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from biasret.catalogue import Catalogue

__all__ = ["ORDERS", "Cells", "Order", "moved_cells", "topics_and_frames"]


@dataclass(frozen=True)
class Order:
    """What the cells are sorted by; the SQL of the key, largest first."""

    name: str
    label: str
    key: str


ORDERS: Catalogue[Order] = Catalogue(
    "order",
    [
        Order("difference", "size of the difference", "abs(difference)"),
        Order("up", "minuend ahead", "difference"),
        Order("down", "subtrahend ahead", "-difference"),
        Order("overlap", "least overlap", "-overlap"),
    ],
)


@dataclass(frozen=True)
class Cells:
    """Which cells, seen through which measurement.

    Attributes
    ----------
    k
        Depth of the metric; None where it has none.
    depth
        Documents of each list that the overlap reads.
    words
        Every one of them must stand in one of the two wordings; empty: any.
    frame, topic
        Empty: any.
    needs_gold
        Whether a gold document must be among the first `depth` for one of the wordings.
    """

    dataset: str
    retriever: str
    metric: str
    k: int | None
    rule: str
    minuend: str
    subtrahend: str
    depth: int
    words: str = ""
    frame: str = ""
    topic: str = ""
    needs_gold: bool = False


_CELLS = """
WITH wording AS (
    SELECT q.cell_id, q."group", q.query_id, q.text, q.frame, m.value, r.rank AS gold,
        d.topic AS source_topic
    FROM stored.queries q
    JOIN stored.measurements m USING (dataset, query_id)
    LEFT JOIN stored.gold_ranks r
        ON r.dataset = q.dataset AND r.query_id = q.query_id AND r.retriever = m.retriever
    LEFT JOIN stored.documents d
        ON d.dataset = q.dataset AND d.doc_id = q.source_doc_ids[1]
    WHERE q.dataset = $dataset AND m.retriever = $retriever AND m.metric = $metric
        AND m.filter = $rule AND m.k IS NOT DISTINCT FROM $k
        AND q."group" IN ($minuend, $subtrahend)
), cell AS (
    SELECT cell_id,
        avg(value) FILTER ("group" = $minuend) AS minuend,
        avg(value) FILTER ("group" = $subtrahend) AS subtrahend,
        min(query_id) FILTER ("group" = $minuend) AS minuend_id,
        min(query_id) FILTER ("group" = $subtrahend) AS subtrahend_id,
        arg_min(text, query_id) FILTER ("group" = $minuend) AS minuend_text,
        arg_min(text, query_id) FILTER ("group" = $subtrahend) AS subtrahend_text,
        min(gold) FILTER ("group" = $minuend) AS minuend_gold,
        min(gold) FILTER ("group" = $subtrahend) AS subtrahend_gold,
        any_value(frame) AS frame, any_value(source_topic) AS source_topic
    FROM wording GROUP BY cell_id
    HAVING minuend IS NOT NULL AND subtrahend IS NOT NULL
), answered AS (
    SELECT j.query_id, any_value(d.topic) AS topic
    FROM stored.qrels j JOIN stored.documents d USING (dataset, doc_id)
    WHERE j.dataset = $dataset AND j.grade >= 1 GROUP BY j.query_id
), named AS (
    SELECT cell.*, minuend - subtrahend AS difference,
        coalesce(source_topic, answered.topic) AS topic
    FROM cell LEFT JOIN answered ON answered.query_id = minuend_id
), listed AS (
    SELECT query_id, list(doc_id) AS docs FROM stored.runs
    WHERE dataset = $dataset AND retriever = $retriever AND rank <= $depth GROUP BY query_id
)
"""

_CHOSEN = """
SELECT cell_id, frame, topic, minuend, subtrahend, difference,
    len(list_intersect(a.docs, b.docs)) / greatest(len(a.docs), len(b.docs)) AS overlap,
    minuend_gold, subtrahend_gold, minuend_text, subtrahend_text, minuend_id, subtrahend_id,
    count(*) OVER () AS n_cells
FROM named
LEFT JOIN listed a ON a.query_id = minuend_id
LEFT JOIN listed b ON b.query_id = subtrahend_id
WHERE ($frame = '' OR frame = $frame) AND ($topic = '' OR topic = $topic)
    AND (NOT $needs_gold OR least(minuend_gold, subtrahend_gold) <= $depth)
    AND len(list_filter($words::VARCHAR[], lambda w:
        contains(lower(minuend_text), lower(w)) OR contains(lower(subtrahend_text), lower(w))))
        = len($words::VARCHAR[])
ORDER BY {key} DESC NULLS LAST, abs(difference) DESC, cell_id
LIMIT $limit OFFSET $offset
"""

#: Asks the store with named values.
Ask = Callable[[str, dict[str, object]], pd.DataFrame]


def moved_cells(
    ask: Ask, cells: Cells, *, words: Sequence[str], order: str, limit: int, offset: int
) -> pd.DataFrame:
    """Cells that hold both groups, those that move most first.

    Parameters
    ----------
    order
        A key of `ORDERS`.
    limit, offset
        Which part of the list.

    Returns
    -------
    pandas.DataFrame
        ``cell_id``, ``frame``, ``topic``, the value of each group and ``difference`` (minuend
        minus subtrahend, several wordings of a group averaged), ``overlap`` of the first
        `depth` documents (missing where a wording found none), best gold ranks, texts and ids
        of each group's first wording, and ``n_cells`` that fit in all.
    """
    values: dict[str, object] = {
        "dataset": cells.dataset,
        "retriever": cells.retriever,
        "metric": cells.metric,
        "k": cells.k,
        "rule": cells.rule,
        "minuend": cells.minuend,
        "subtrahend": cells.subtrahend,
        "depth": cells.depth,
        "words": list(words),
        "frame": cells.frame,
        "topic": cells.topic,
        "needs_gold": cells.needs_gold,
        "limit": limit,
        "offset": offset,
    }
    return ask(_CELLS + _CHOSEN.format(key=ORDERS[order].key), values)


def topics_and_frames(ask: Ask, dataset: str) -> tuple[list[str], list[str]]:
    """Topics of a dataset's documents and frames of its queries, in alphabetical order."""
    topics = ask(
        "SELECT DISTINCT topic FROM stored.documents WHERE dataset = $dataset "
        "AND topic IS NOT NULL ORDER BY 1",
        {"dataset": dataset},
    )
    frames = ask(
        "SELECT DISTINCT frame FROM stored.queries WHERE dataset = $dataset "
        "AND frame IS NOT NULL ORDER BY 1",
        {"dataset": dataset},
    )
    return topics["topic"].tolist(), frames["frame"].tolist()
