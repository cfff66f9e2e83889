"""Commands that print numbers and check them."""

from __future__ import annotations

import argparse
import json
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

__all__ = ["BENCHES", "bench", "gap_line", "gaps", "published"]

#: What can be measured, and the module that does it.
BENCHES = {
    "statistics": "biasret.bench_statistics",
    "embed": "biasret.bench_embed",
    "store": "biasret.bench_store",
    "probe": "biasret.bench_probe",
    "signals": "biasret.bench_signals",
}


def gaps(arguments: argparse.Namespace) -> int:
    """``gaps``: stored gaps as lines or JSON."""
    from biasret.metrics import METRICS

    if arguments.metric is not None:
        METRICS[arguments.metric]
    store = open_store()
    dataset = None if arguments.dataset is None else known_dataset(store, arguments.dataset)
    if arguments.filter is not None:
        known_filter(store, "gaps", dataset, arguments.filter)
    found = store.gaps(dataset, metric=arguments.metric, k=arguments.k, filter=arguments.filter)
    if arguments.json:
        emit(arguments, _records(found), "")
        return 1 if found.empty else 0
    if found.empty:
        print("No gaps are stored for this choice; run `python -m biasret build`.")
        return 1
    for row in found.itertuples(index=False):
        print(gap_line(row._asdict()))
    return 0


def _records(frame: Any) -> list[dict[str, Any]]:
    """Rows with every digit that is stored; missing values are None, whole numbers ints."""
    from biasret.tables import check

    return records_of(check(frame, "gaps"))


def gap_line(row: dict[str, Any]) -> str:
    """One gap as a line of text."""
    import pandas as pd

    from biasret.metrics import METRICS

    k = None if pd.isna(row["k"]) else int(row["k"])
    name = METRICS[row["metric"]].title(k)
    head = f"{row['dataset']}  {row['retriever']:<14} {name:<10} {row['filter']:<11}"
    if pd.isna(row["estimate"]):
        return f"{head} no estimate: {row['note']}"
    interval = interval_text(row["ci_low"], row["ci_high"])
    p = f"no p ({row['test']})" if pd.isna(row["p_value"]) else p_text(row, row["test"])
    n = row["n_pairs"] or f"{row['n_minuend']}/{row['n_subtrahend']}"
    return (
        f"{head} {row['minuend']} minus {row['subtrahend']} {row['estimate']:+.4f} {interval}"
        f"  n {n}  {p}"
    )


def published(arguments: argparse.Namespace) -> int:
    """``published``: the paper's own numbers, checked, alone or against an imported release."""
    from dataclasses import asdict

    from biasret import reproduction
    from biasret.precomputed import Folder

    numbers = None
    missing: list[str] = []
    if arguments.release is None:
        made = reproduction.check()
    else:
        made, numbers, missing = reproduction.check_release(Folder(), arguments.release)
    failed = [one for one in made if not one.passed]
    if arguments.json:
        document: dict[str, Any] = {
            "checks": [asdict(one) for one in made],
            "failed": len(failed),
        }
        if numbers is not None:
            document |= {"numbers": records_of(numbers), "missing": missing}
        emit(arguments, document, "")
        return 1 if failed else 0
    for one in made:
        worst = "" if one.worst is None else f", worst deviation {one.worst:.2g}"
        note = f" ({one.note})" if one.note else ""
        state = "ok  " if one.passed else "FAIL"
        print(f"{state}  {one.exhibit:<10} {one.what}: {one.n_cells:,} cells{worst}{note}")
    for line in missing:
        print(f"----  {line}")
    print(f"{len(made)} checks, {len(failed)} failed")
    return 1 if failed else 0


def bench(arguments: argparse.Namespace) -> int:
    """``bench``: speed as ratios within one run."""
    from importlib import import_module

    report = import_module(BENCHES[arguments.what]).run()
    if arguments.json:
        emit(arguments, report, "")
    else:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    return 0
