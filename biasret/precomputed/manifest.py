"""The list of a folder's files: rows, inputs, and the versions that made them."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from biasret import __version__
from biasret.precomputed import parquet

__all__ = ["SHIPPED_PREFIX", "write_manifest"]

#: Datasets with this prefix are shipped with the project and listed in its manifest.
SHIPPED_PREFIX = "demo_"

_VERSIONED = (
    *("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    *("bm25s", "torch", "sentence-transformers"),
)


def write_manifest(root: Path, paths: Iterable[Path], *, command: str) -> None:
    """List files with their rows and inputs.

    ``MANIFEST.json`` lists the shipped datasets, ``MANIFEST.local.json`` all others, so
    that work on one's own data does not change a tracked file.
    """
    shipped: dict[str, Any] = {}
    local: dict[str, Any] = {}
    for path in paths:
        footer = parquet.footer(path)
        if footer is None:
            continue
        kept = shipped if path.stem.startswith(SHIPPED_PREFIX) else local
        name = f"{path.parent.name}/{path.name}"
        kept[name] = {"rows": pq.read_metadata(path).num_rows, **footer}
    for name, entries in (("MANIFEST.json", shipped), ("MANIFEST.local.json", local)):
        if not entries:
            (root / name).unlink(missing_ok=True)
            continue
        document = {"command": command, "versions": _versions(), "files": entries}
        with parquet.replacing(root / name) as beside:
            beside.write_text(
                json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8"
            )


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "biasret": __version__}
    for package in _VERSIONED:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions
