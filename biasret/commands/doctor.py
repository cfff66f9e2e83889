"""The command that says what is installed, stored and missing."""

from __future__ import annotations

import argparse
import platform
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from biasret import __version__
from biasret.commands.shared import emit, progress_bar, records_of
from biasret.errors import BiasretError

__all__ = ["doctor"]

_PACKAGES = ("duckdb", "faiss-cpu", "numpy", "pandas", "plotly", "streamlit", "torch")


def doctor(arguments: argparse.Namespace) -> int:
    """``doctor``: what is installed, stored and missing; with ``--speed``, how fast it is."""
    from biasret.precomputed import Folder
    from biasret.retrievers import names
    from biasret.runtime import cpu_count
    from biasret.store import Store, make_database

    folder = Folder()
    packages = {name: _version(name) for name in _PACKAGES}
    problems = [f"{name} is missing" for name, found in packages.items() if found == "missing"]
    models = folder.path / "models"
    retrievers = {name: _described(name, models) for name in names(models=models)}
    if arguments.speed:
        ready = [name for name, one in retrievers.items() if one["is_offline"] and one["is_ready"]]
        with progress_bar("speed", len(ready)) as advance:
            for name in ready:
                try:
                    retrievers[name].update(_speed(name, models))
                except BiasretError as error:
                    problems.append(f"{name}: {error}")
                advance(1)
    datasets: dict[str, Any] = {}
    try:
        store = Store(make_database(folder))
        for name in store.datasets()["dataset"]:
            datasets[name] = {
                **store.counts(name),
                "retrievers": store.retrievers(name),
                "cut": records_of(store.cut(name)),
                "unmatched": records_of(store.unmatched(name)),
            }
        store.close()
    except BiasretError as error:
        problems.append(str(error))
    if not datasets:
        problems.append("The store holds no dataset; run `python -m biasret build`.")
    report = {
        "biasret": __version__,
        "python": platform.python_version(),
        "processors": cpu_count(),
        "packages": packages,
        "retrievers": retrievers,
        "store": str(folder.path),
        "datasets": datasets,
        "problems": problems,
    }
    emit(arguments, report, "\n".join(_lines(report)))
    return 1 if problems else 0


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _described(name: str, models: Path) -> dict[str, Any]:
    """What is known of a retriever without loading it."""
    from biasret.retrievers import available, facts, record_for

    record = record_for(name, models=models)
    shown = facts(record)
    return {
        "label": record.label,
        "state": shown.state,
        "is_ready": available(record).is_available,
        "is_offline": record.is_offline,
        "weights": shown.weights,
        "licence": record.licence,
    }


def _speed(name: str, models: Path) -> dict[str, Any]:
    from biasret.bench_embed import speed
    from biasret.retrievers import load

    found = speed(load(name, models=models))
    return {} if found is None else {"speed": asdict(found)}


def _lines(report: dict[str, Any]) -> list[str]:
    """The report for people."""
    lines = [
        f"biasret {report['biasret']}, Python {report['python']}, "
        f"{report['processors']} processors",
        f"store    {report['store']}",
    ]
    lines += [f"package  {name} {found}" for name, found in report["packages"].items()]
    for name, one in report["retrievers"].items():
        parts = [one["state"].rstrip("."), one["weights"], one["licence"]]
        if "speed" in one:
            speed = one["speed"]
            parts.append(
                f"{speed['texts_per_second']:,.1f} texts/s, one question "
                f"{speed['milliseconds']:,.1f} ms"
            )
        lines.append(f"ranks    {name}: {'; '.join(part for part in parts if part)}")
    for name, held in report["datasets"].items():
        lines.append(
            f"data     {name}: {held['documents']:,} documents, {held['queries']:,} queries; "
            f"results of {', '.join(held['retrievers']) or 'no retriever yet'}"
        )
        lines += [f"         {line}" for line in _unread(held["cut"], held["unmatched"])]
    lines += [f"problem  {problem}" for problem in report["problems"]]
    return lines


def _unread(cut: list[dict[str, Any]], unmatched: list[dict[str, Any]]) -> list[str]:
    """A line for each retriever that did not read all texts, or found nothing for a query."""
    by_retriever: dict[str, list[str]] = {}
    for rows, count, what in (
        (cut, "n_cut", "cut"),
        (unmatched, "n_unmatched", "matched by nothing"),
    ):
        for row in rows:
            if row[count]:
                whose = "documents" if row.get("kind") == "document" else row["group"]
                by_retriever.setdefault(row["retriever"], []).append(
                    f"{whose or 'unlabelled'} {row[count]:,} of {row['n']:,} {what}"
                )
    return [f"{name}: {', '.join(parts)}" for name, parts in by_retriever.items()]
