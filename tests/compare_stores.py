"""How far two builds of the same texts lie apart, table by table.

``python tests/compare_stores.py precomputed /tmp/other`` reads the Parquet files of both folders
and writes, for each kind of table, how many files are the same byte for byte, how many rows
differ in anything but a number, and the largest difference of each column of numbers.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass
class Difference:
    """What was found for one kind of table.

    `largest` has the greatest absolute difference of each column of numbers.
    """

    n_files: int = 0
    n_same_bytes: int = 0
    n_rows: int = 0
    n_rows_moved: int = 0
    largest: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _numbers(column: pd.Series) -> np.ndarray | None:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    first = column.dropna()
    if len(first) and isinstance(first.iloc[0], np.ndarray) and first.iloc[0].dtype.kind == "f":
        return np.stack(column.tolist()).astype(np.float64)
    return None


def compare(one: Path, other: Path) -> dict[str, Difference]:
    """Differences by kind of table; a file that only one folder has is `missing`."""
    found: dict[str, Difference] = {}
    paths = {p.relative_to(f) for f in (one, other) for p in f.glob("*/*.parquet")}
    for path in sorted(paths):
        result = found.setdefault(path.parts[0], Difference())
        result.n_files += 1
        if not ((one / path).exists() and (other / path).exists()):
            result.missing.append(str(path))
            continue
        if _digest(one / path) == _digest(other / path):
            result.n_same_bytes += 1
            result.n_rows += len(pd.read_parquet(one / path))
            continue
        a, b = pd.read_parquet(one / path), pd.read_parquet(other / path)
        if len(a) != len(b) or list(a.columns) != list(b.columns):
            result.missing.append(f"{path}: {len(a)} and {len(b)} rows")
            continue
        result.n_rows += len(a)
        moved = np.zeros(len(a), dtype=bool)
        for name in a.columns:
            x, y = _numbers(a[name]), _numbers(b[name])
            if x is None or y is None:
                moved |= (a[name].astype(str) != b[name].astype(str)).to_numpy()
                continue
            apart = np.where(np.isnan(x) & np.isnan(y), 0.0, np.abs(x - y))
            largest = float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
            result.largest[name] = max(result.largest.get(name, 0.0), largest)
        result.n_rows_moved += int(moved.sum())
    return found


def main(one: str, other: str) -> None:
    for table, result in compare(Path(one), Path(other)).items():
        columns = ", ".join(f"{n} {v:.2g}" for n, v in result.largest.items() if v > 0) or "none"
        sys.stdout.write(
            f"{table}: {result.n_files} files, {result.n_same_bytes} the same; "
            f"{result.n_rows:,} rows, {result.n_rows_moved:,} in another place; "
            f"largest differences: {columns}\n"
        )
        for path in result.missing:
            sys.stdout.write(f"  not compared: {path}\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
