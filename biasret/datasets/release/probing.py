"""Probe scores of the release, as in Fig. 4."""

from __future__ import annotations

import pandas as pd

from biasret.datasets.release.files import Files, refuse

__all__ = ["probe_scores"]

_KINDS = ("baseline", "conditional", "normal")


def probe_scores(files: Files) -> pd.DataFrame | None:
    """Scores of every probe, in file order; None where the file is not there.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``probe`` (baseline, conditional, normal), ``retriever``, ``split_type``,
        ``split``, ``layer`` (missing for the baseline), ``accuracy``, ``f1``, ``nce`` in nats.
    """
    kinds = {
        "ds_name": "text",
        "source": "text",
        "model": "text",
        "split_type": "text",
        "split": "text",
        "layer": "int?",
        "acc": "float",
        "f1": "float",
        "nce": "float",
    }
    name = "probing/results/consolidated_scores.csv"
    frame = files.frame(name, kinds)
    if frame is None:
        return None
    path = files.find(name)
    assert path is not None
    odd = ~frame["source"].isin(_KINDS)
    refuse(path, frame.loc[odd, "source"], f"are of a probe not among {', '.join(_KINDS)}")
    wild = ~frame["acc"].between(0, 1) | ~frame["f1"].between(0, 1) | (frame["nce"] > 0)
    refuse(path, frame.loc[wild, "nce"], "have a score outside its range")
    return frame.rename(
        columns={"ds_name": "dataset", "source": "probe", "model": "retriever", "acc": "accuracy"}
    )
