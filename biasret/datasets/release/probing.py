"""Released scores of linear probes on the layers of four retrievers."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from biasret.datasets.base import Given, Loaded
from biasret.datasets.release.files import Files, refuse

__all__ = ["DATASETS", "added", "probe_scores"]

_FILE = "probing/results/consolidated_scores.csv"

#: What the release calls the datasets that were probed.
DATASETS = ("allsides_synth", "hcmagic_synth")

_KINDS = ("baseline", "normal", "conditional")


def probe_scores(files: Files) -> dict[str, dict[str, pd.DataFrame]]:
    """Scores by dataset, as the release calls it, and retriever; empty where there are none.

    Returns
    -------
    dict of str to dict of str to pandas.DataFrame
        Rows of a ``probe_scores`` table without their dataset, in file order. How many
        questions a probe was fitted and tested on is not released.

    Raises
    ------
    TableError
        A score lies outside its range, a probe is of no known kind, or one is given twice.
    """
    texts = dict.fromkeys(("ds_name", "source", "model", "split"), "text")
    frame = files.frame(
        _FILE, {**texts, "layer": "int?", "acc": "float", "f1": "float", "nce": "float"}
    )
    if frame is None:
        return {}
    path = files.find(_FILE)
    assert path is not None
    odd = ~frame["source"].isin(_KINDS)
    refuse(path, frame.loc[odd, "source"], f"have a source not among {', '.join(_KINDS)}")
    lacks = frame["layer"].isna() != (frame["source"] == "baseline")
    refuse(path, frame.loc[lacks, "source"], "have a layer though baseline, or none though not")
    wild = ~frame["acc"].between(0, 1) | ~frame["f1"].between(0, 1)
    refuse(path, frame.loc[wild, "acc"], "have an acc or f1 outside 0 to 1")
    refuse(path, frame.loc[frame["nce"] > 0, "nce"], "have an nce above 0")
    known = frame["ds_name"].isin(DATASETS)
    files.left_out[f"{_FILE}: of a dataset other than {', '.join(DATASETS)}"] += int((~known).sum())
    key = ["ds_name", "source", "model", "split", "layer"]
    refuse(path, frame.loc[frame.duplicated(key), "model"], "repeat a probe")
    has_baseline = _has_baseline(frame)
    files.left_out[f"{_FILE}: no baseline of the same split"] += int((known & ~has_baseline).sum())
    named = frame[known & has_baseline].rename(
        columns={"source": "kind", "model": "retriever", "acc": "accuracy"}
    )
    named = named.assign(split_rule="paper")
    return {
        str(dataset): {str(r): rows.drop(columns="ds_name") for r, rows in of.groupby("retriever")}
        for dataset, of in named.groupby("ds_name", sort=False)
    }


def _has_baseline(frame: pd.DataFrame) -> pd.Series:
    """Whether a probe can be set beside what the input says; part of a file may lack that."""
    splits = pd.MultiIndex.from_frame(frame[["ds_name", "model", "split"]])
    return pd.Series(splits.isin(splits[frame["source"] == "baseline"]), index=frame.index)


def added(loaded: Loaded, scores: dict[str, pd.DataFrame]) -> Loaded:
    """A dataset with the scores of probes on it among its results."""
    name = loaded.dataset.record.name
    of = tuple(
        Given("probe_scores", frame.assign(dataset=name), retriever)
        for retriever, frame in scores.items()
    )
    return replace(loaded, given=(*loaded.given, *of))
