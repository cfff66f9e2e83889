"""How long the engines take for one question, and for many."""

from __future__ import annotations

from collections.abc import Callable
from statistics import quantiles
from time import perf_counter
from typing import Any

from biasret.datasets import demo
from biasret.signals import dialect, framing

__all__ = ["run"]


def run(*, calls: int = 300) -> dict[str, Any]:
    """Both engines on the questions of the demo data, warm.

    Returns
    -------
    dict
        Median and p95 in milliseconds of one call, and questions a second of a batch.
    """
    health = demo.load_written().queries
    questions = health.loc[health["group"] == "WME", "text"].tolist()[:calls]
    news = demo.load_news().queries
    asked = news.loc[news["group"] == "neutral", "text"].tolist()[:calls]
    started = perf_counter()
    dialect.to_wme_many(questions)
    batch = len(questions) / (perf_counter() - started)
    return {
        "questions": len(questions),
        "milliseconds": {
            "dialect, to AAL": _timed(dialect.to_aal, questions),
            "dialect, to WME": _timed(dialect.to_wme, questions),
            "framing, lexical": _timed(framing.variants, asked),
            "framing, neutralise": _timed(framing.neutralise, asked),
        },
        "questions a second, to WME in one batch": round(batch),
        "budgets": {"dialect p95 ms": 40, "framing p95 ms": 2, "batch a second": 60},
    }


def _timed(write: Callable[[str], object], texts: list[str]) -> dict[str, float]:
    write(texts[0])
    taken = []
    for text in texts:
        started = perf_counter()
        write(text)
        taken.append((perf_counter() - started) * 1000)
    cuts = quantiles(taken, n=20)
    return {"median": round(cuts[9], 2), "p95": round(cuts[18], 2)}
