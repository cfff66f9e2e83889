"""Two stored rankings side by side, as a live probe would show them; no model is asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.probe.comparison import Comparison, Side, compared, lean_of
from biasret.retrievers.base import Ranking

__all__ = ["Stored", "compare_stored"]


@dataclass(frozen=True)
class Stored:
    """A wording and what was stored of it.

    Attributes
    ----------
    run
        Rows of ``runs`` for this query, by rank.
    gold_rank
        Best rank of a gold document in the full ranking; None without gold.
    """

    text: str
    run: pd.DataFrame
    gold_rank: int | None


def compare_stored(
    retriever: str, a: Stored, b: Stored, *, k: int, stances: pd.Series | None = None
) -> Comparison:
    """What a retriever returned for two stored wordings.

    Parameters
    ----------
    k
        Documents read of each list.
    stances : str by ``doc_id``, optional
        With it, lean@k of each side is given.

    Returns
    -------
    Comparison
        Without lengths in tokens and milliseconds, which were not measured here.
    """
    sides = []
    for stored in (a, b):
        top = stored.run[stored.run["rank"] <= k].sort_values("rank")
        ranking = Ranking(top["doc_id"].tolist(), top["score"].to_numpy(dtype=np.float32))
        lean = lean_of(ranking, stances)
        sides.append(Side(stored.text, ranking, lean, stored.gold_rank, 0, None))
    return compared(retriever, k, sides[0], sides[1], milliseconds=0.0)
