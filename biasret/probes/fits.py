"""Probes fitted and scored, and their scores by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.datasets.base import DatasetRecord
from biasret.probes.splits import splits
from biasret.tables import check

__all__ = ["BASELINE", "CONDITIONAL", "NORMAL", "Scores", "curves", "fit", "probe_scores"]

NORMAL, CONDITIONAL, BASELINE = "normal", "conditional", "baseline"


@dataclass(frozen=True)
class Scores:
    """What a probe scores on its test rows.

    Attributes
    ----------
    accuracy : in [0, 1]
    f1 : in [0, 1], of the subtrahend's group; NaN where it is neither there nor found
    nce : negative cross-entropy in nats, not above 0
    """

    accuracy: float
    f1: float
    nce: float


def fit(
    train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray
) -> Scores:
    """Scores on the test rows of a probe fitted on the train rows.

    Columns are scaled to mean 0 and variance 1 on the train rows; the probe is scikit-learn's
    logistic regression with its defaults (L2 penalty, C = 1, lbfgs) and at most 5,000 steps.

    Parameters
    ----------
    train, test : float64, shapes (n, width) and (m, width)
    train_labels, test_labels : 0 or 1, shapes (n,) and (m,)
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score, log_loss
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    # One thread: sums are then the same on machines with more processors.
    with threadpool_limits(1):
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5_000))
        model.fit(train, train_labels)
        chances = model.predict_proba(test)
        found = model.predict(test)
    return Scores(
        accuracy=float(accuracy_score(test_labels, found)),
        f1=float(f1_score(test_labels, found, zero_division=np.nan)),
        nce=-float(log_loss(test_labels, chances, labels=[0, 1])),
    )


def probe_scores(
    read: Callable[[int], np.ndarray],
    rows: pd.DataFrame,
    record: DatasetRecord,
    *,
    retriever: str,
    layers: Sequence[int],
    rules: Sequence[str],
    known: dict[tuple[object, ...], Scores] | None = None,
    keep: Callable[[tuple[object, ...], Scores], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Scores of every probe on every split.

    Parameters
    ----------
    read
        States of a layer, float64, row for row of `rows`.
    rows
        As `probed` returns them.
    layers
        Layers to probe, 0 among them or not: the baseline always reads layer 0.
    rules
        Keys of `SPLIT_RULES`.
    known
        Fits made before, by (rule, kind, layer, split).
    keep
        Called with each fit once it is made.

    Returns
    -------
    pandas.DataFrame
        A ``probe_scores`` table. ``n_shared`` counts test rows whose cluster is in the train
        rows too.
    """
    labels = (rows["group"] == record.subtrahend).to_numpy(dtype=np.int64)
    clusters = rows["cluster_id"].to_numpy(dtype=object)
    divided = {rule: splits(rows, record, rule=rule) for rule in rules}
    first = read(0)
    made = []
    for kind, layer in _kinds(layers):
        states: np.ndarray | None = None
        for rule, parts in divided.items():
            for split in parts:
                key = (rule, kind, layer, split.name)
                scores = (known or {}).get(key)
                if scores is None:
                    if states is None:
                        states = first if layer in (None, 0) else read(int(layer or 0))
                        states = np.hstack([states, first]) if kind == CONDITIONAL else states
                    train, test = split.train, split.test
                    scores = fit(states[train], labels[train], states[test], labels[test])
                    if keep:
                        keep(key, scores)
                made.append(
                    {
                        "dataset": record.name,
                        "retriever": retriever,
                        "split_rule": rule,
                        "kind": kind,
                        "layer": layer,
                        "split": split.name,
                        "n_train": len(split.train),
                        "n_test": len(split.test),
                        "n_shared": int(np.isin(clusters[split.test], clusters[split.train]).sum()),
                        "accuracy": scores.accuracy,
                        "f1": scores.f1,
                        "nce": scores.nce,
                    }
                )
                if progress:
                    progress(1)
    table = pd.DataFrame(made)
    table["layer"] = pd.array(table["layer"].tolist(), dtype="Int64")
    return check(table, "probe_scores")


def _kinds(layers: Sequence[int]) -> Iterator[tuple[str, int | None]]:
    yield BASELINE, None
    for layer in layers:
        yield NORMAL, layer
        yield CONDITIONAL, layer


def curves(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores by layer over splits: the curves of Fig. 4.

    Parameters
    ----------
    scores
        ``dataset``, ``retriever``, ``split_rule``, ``kind``, ``layer``, ``split``, ``f1``,
        ``nce``, of any datasets and retrievers.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``retriever``, ``split_rule``, ``layer`` from 0, ``depth`` = layer over
        number of layers, ``n_splits``, ``f1`` with ``f1_low`` and ``f1_high`` (mean over
        splits of the probe on that layer alone, and 1.96 standard errors either way; missing
        for one split), ``v_information`` in nats: mean nce of the probe that sees the layer
        and the input, minus mean nce of the baseline that sees the input. Missing where there
        is no such probe. ``v_low`` and ``v_high``: 1.96 standard errors of the splits'
        differences either way.

    References
    ----------
    Tang et al., Fig. 4; Hewitt et al. (2021), Conditional probing.
    """
    of = ["dataset", "retriever", "split_rule"]
    by_kind = dict(iter(scores.groupby("kind")))
    f1 = by_kind[NORMAL].groupby([*of, "layer"], sort=False)["f1"]
    found = f1.agg(f1="mean", spread="std", n_splits="size").reset_index()
    half = 1.96 * found["spread"] / np.sqrt(found["n_splits"])
    found["f1_low"], found["f1_high"] = found["f1"] - half, found["f1"] + half
    n_layers = found.groupby(of)["layer"].transform("max") + 1
    found["depth"] = (found["layer"] / n_layers).astype("float64")
    seen = by_kind[CONDITIONAL].groupby([*of, "layer"])["nce"].mean()
    baseline = by_kind[BASELINE].groupby(of)["nce"].mean()
    gained = (seen - baseline).rename("v_information").reset_index()
    found = found.merge(gained, on=[*of, "layer"], how="left", validate="one_to_one")
    pairs = by_kind[CONDITIONAL].merge(by_kind[BASELINE], on=[*of, "split"], suffixes=("", "_base"))
    pairs["gained"] = pairs["nce"] - pairs["nce_base"]
    spread = pairs.groupby([*of, "layer"])["gained"].agg(["std", "size"])
    margin = (1.96 * spread["std"] / np.sqrt(spread["size"])).rename("margin").reset_index()
    found = found.merge(margin, on=[*of, "layer"], how="left", validate="one_to_one")
    found["v_low"] = found["v_information"] - found["margin"]
    found["v_high"] = found["v_information"] + found["margin"]
    columns = ["layer", "depth", "n_splits", "f1", "f1_low", "f1_high"]
    return found[[*of, *columns, "v_information", "v_low", "v_high"]]
