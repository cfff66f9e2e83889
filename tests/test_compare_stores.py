"""The tool that compares two builds sees what differs and how much."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from compare_stores import compare


def write(folder: Path, name: str, frame: pd.DataFrame) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path, index=False)


def test_numbers_moves_and_missing_files_are_told_apart(tmp_path):
    run = pd.DataFrame({"doc_id": ["a", "b"], "rank": [1, 2], "score": [0.5, np.nan]})
    swapped = run.assign(doc_id=["b", "a"])
    vectors = pd.DataFrame({"id": ["a"], "vector": [np.array([0.0, 1.0], dtype=np.float32)]})
    moved = pd.DataFrame({"id": ["a"], "vector": [np.array([0.0, 0.75], dtype=np.float32)]})
    for side, (first, second, third) in {
        "one": (run, vectors, run),
        "two": (swapped, moved, run.assign(score=[0.5, 0.25])),
    }.items():
        write(tmp_path / side, "runs/x--r.parquet", first)
        write(tmp_path / side, "embeddings/x--r.parquet", second)
        write(tmp_path / side, "gaps/x.parquet", third)
        write(tmp_path / side, "qrels/x.parquet", run)
    write(tmp_path / "one", "qrels/y.parquet", run)
    write(tmp_path / "one", "levels/x.parquet", run)
    write(tmp_path / "two", "levels/x.parquet", run.head(1))

    found = compare(tmp_path / "one", tmp_path / "two")
    assert found["runs"].n_rows_moved == 2
    assert found["runs"].largest == {"rank": 0.0, "score": 0.0}
    assert found["embeddings"].largest == {"vector": 0.25}
    assert found["embeddings"].n_rows_moved == 0
    # A number that only one build has is no small difference.
    assert found["gaps"].largest["score"] == np.inf
    assert (found["qrels"].n_files, found["qrels"].n_same_bytes) == (2, 1)
    assert found["qrels"].missing == ["qrels/y.parquet"]
    assert found["levels"].missing == ["levels/x.parquet: 2 and 1 rows"]
