"""The step of a build that makes ``reproduced`` of an imported release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from biasret import agreement, lexical, published
from biasret.precomputed import Folder
from biasret.progress import Progress, silent
from biasret.reproduction import (
    dialectal,
    figures,
    imported,
    pairing,
    political,
    recomputed,
    release,
    vocabulary,
)
from biasret.reproduction.imported import ENDINGS
from biasret.statistics import rank_tests, regression, resampling, results, streams

__all__ = ["store_reproduced"]

#: What the exhibits are computed from, where it is there.
_TABLES = ("documents", "queries", "qrels", "query_values", "given_token_scores")
_BY_RETRIEVER = ("measurements", "gold_ranks", "runs", "pairing", "probe_scores")


def store_reproduced(
    folder: Folder,
    name: str,
    *,
    source: Callable[[Any], str],
    force: bool = False,
    progress: Progress = silent,
    numbers: Path = published.FOLDER,
) -> bool:
    """Compute the paper's numbers anew from one dataset of an imported release.

    Parameters
    ----------
    name
        Any dataset; nothing is done for those that came another way.
    source
        Says what a module's code is, so that a change to it makes its results anew.

    Returns
    -------
    bool
        Whether anything was redone.
    """
    record = folder.footer(folder.file("datasets", name)) or {"inputs": {}}
    of = next((exhibit for exhibit, end in ENDINGS.items() if name.endswith(end)), None)
    if of is None or record["inputs"].get("kind") != "release":
        return False
    code = (dialectal, figures, imported, pairing, political, recomputed, release, vocabulary)
    of_statistics = (agreement, lexical, rank_tests, regression, resampling, results, streams)
    inputs: dict[str, Any] = {
        "step": 1,
        "code": [source(module) for module in (*code, *of_statistics)],
        "published": [_digest(numbers / f"{table}.parquet") for table in published.TABLES],
        **{
            table: folder.content(table, name)
            for table in _TABLES
            if folder.file(table, name).exists()
        },
        **{
            table: {r: folder.content(table, name, r) for r in folder.retrievers(table, name)}
            for table in _BY_RETRIEVER
        },
    }
    if not force and folder.is_current("reproduced", name, inputs=inputs):
        return False
    with progress(f"{name}: published numbers, computed anew", 1) as advance:
        found = release.reproduced(folder, name, of, numbers=numbers)
        advance(1)
    folder.write("reproduced", found, dataset=name, inputs=inputs)
    return True


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
