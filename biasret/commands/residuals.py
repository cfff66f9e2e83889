"""The command that prints what remains of gaps once vocabulary is held fixed."""

from __future__ import annotations

import argparse
from typing import Any

from biasret.commands.shared import (
    emit,
    interval_text,
    known_dataset,
    known_filter,
    open_store,
    p_text,
    records_of,
)

__all__ = ["residual_line", "residuals"]


def residuals(arguments: argparse.Namespace) -> int:
    """``residuals``: stored residual gaps as lines or JSON."""
    from biasret.metrics import METRICS
    from biasret.tables import check

    if arguments.metric is not None:
        METRICS[arguments.metric]
    store = open_store()
    dataset = None if arguments.dataset is None else known_dataset(store, arguments.dataset)
    if arguments.filter is not None:
        known_filter(store, "residuals", dataset, arguments.filter)
    found = store.rows(
        "residuals", dataset, metric=arguments.metric, k=arguments.k, filter=arguments.filter
    )
    if arguments.json:
        emit(arguments, records_of(check(found, "residuals")), "")
        return 1 if found.empty else 0
    if found.empty:
        print("No residuals are stored for this choice; run `python -m biasret build`.")
        return 1
    for row in found.to_dict("records"):
        print(residual_line(row))
    return 0


def residual_line(row: dict[str, Any]) -> str:
    """One gap and what remains of it as a line of text."""
    import pandas as pd

    from biasret.metrics import METRICS

    k = None if pd.isna(row["k"]) else int(row["k"])
    name = METRICS[row["metric"]].title(k)
    head = f"{row['dataset']}  {row['retriever']:<16} {name:<10} {row['filter']:<11}"
    contrast = f"{row['minuend']} minus {row['subtrahend']}"
    gap = "no gap" if pd.isna(row["gap"]) else f"{row['gap']:+.4f}"
    if pd.isna(row["residual"]):
        return f"{head} {contrast} {gap}, no residual: {row['note']}"
    interval = interval_text(row["residual_low"], row["residual_high"])
    p = "no p" if pd.isna(row["p_value"]) else p_text(row, row["covariance"])
    return (
        f"{head} {contrast} {gap}, beyond vocabulary {row['residual']:+.4f} {interval}"
        f"  vocabulary {row['contribution']:+.4f}  n {row['n']}  {p}"
    )
