"""Rankings as rows for `biasret.markup.ranking`."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from biasret import markup
from biasret.probe.comparison import Comparison, Side

__all__ = ["entries", "measured", "title_of"]

#: Shortest word marked as shared: shorter ones are in every text.
_TERM_LETTERS = 4

#: Characters of a text that stand for a title.
_OPENING = 160


def entries(
    side: Side,
    found: Comparison,
    documents: pd.DataFrame,
    *,
    gold: Collection[str] = (),
    is_b: bool,
    opens: bool = True,
) -> list[markup.Entry]:
    """One side of a comparison, best document first.

    Parameters
    ----------
    documents
        Of the dataset, by ``doc_id``.
    is_b
        On the first side only what is lost is news; the second says how each got there.
    opens
        Whether each text can be opened, the words it shares with the wording marked.
    """
    terms = frozenset(word for word in markup.terms(side.text) if len(word) >= _TERM_LETTERS)
    moves = dict(zip(found.documents["doc_id"], found.documents["movement"], strict=True))
    rows = []
    ranked = zip(side.ranking.doc_ids, side.ranking.scores, strict=True)
    for rank, (doc_id, score) in enumerate(ranked, start=1):
        document = documents.loc[doc_id]
        stance, source = document["stance"], document["source"]
        rows.append(
            markup.Entry(
                rank=rank,
                title=title_of(document),
                score=float(score),
                stance=stance if isinstance(stance, str) else None,
                source=source if isinstance(source, str) else None,
                movement=moves[doc_id] if is_b or moves[doc_id] == "lost" else "",
                is_gold=doc_id in gold,
                text=document["text"] if opens else "",
                terms=terms,
            )
        )
    return rows


def measured(side: Side, k: int) -> str:
    """Lean and gold rank of a side as they follow a count of documents; empty without either."""
    lean = "" if side.lean is None else f"; lean@{k} {side.lean:+.2f}"
    gold = "" if side.gold_rank is None else f"; gold answer at rank {side.gold_rank:,}"
    return lean + gold


def title_of(document: pd.Series) -> str:
    """A document's title, or the beginning of its text."""
    if isinstance(document["title"], str):
        return document["title"]
    first = str(document["text"]).strip().split("\n", 1)[0]
    return first if len(first) <= _OPENING else first[: _OPENING - 3].rsplit(" ", 1)[0] + "…"
