"""Hidden states by layer -> how well a linear probe tells the groups of questions apart.

A probe is a logistic regression on the mean hidden state of a question. The *normal* probe
sees one layer; the *conditional* one sees that layer beside the input embeddings (layer 0);
the *baseline* sees the input embeddings alone. What the conditional probe knows more than
the baseline is the layer's V-information beyond the input: what reading words in context
has added in a form a linear model can use (Tang et al., section 4 and Fig. 4; Hewitt et
al. 2021, Conditional probing).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasret.catalogue import Catalogue
from biasret.datasets.base import Dataset, DatasetRecord
from biasret.errors import InputError
from biasret.precomputed import Folder
from biasret.retrievers import load
from biasret.retrievers.dense import Dense
from biasret.retrievers.layers import layer_states
from biasret.statistics import stable_seed
from biasret.tables import check

__all__ = [
    "BASELINE",
    "CONDITIONAL",
    "NORMAL",
    "SPLIT_RULES",
    "Scores",
    "Split",
    "SplitRule",
    "curves",
    "fit",
    "measure_layers",
    "probe_scores",
    "probed",
    "splits",
]

NORMAL, CONDITIONAL, BASELINE = "normal", "conditional", "baseline"

#: Raised when the same inputs would give other scores.
STEP = 1
SEED = 42
FOLDS = 5
TRAIN_SHARE = 0.8

#: Shows how far a step is; see `biasret.build.Progress`.
Progress = Callable[[str, int], Any]


@dataclass(frozen=True)
class SplitRule:
    """How questions are divided into those a probe is fitted on and those it is tested on."""

    name: str
    label: str
    about: str


SPLIT_RULES: Catalogue[SplitRule] = Catalogue(
    "rule of splits",
    [
        SplitRule(
            "grouped",
            "sources kept whole",
            "all questions of one article or patient are on one side of the split, so that the "
            "probe is tested on sources it has never seen",
        ),
        SplitRule(
            "paper",
            "as in the paper",
            "questions are drawn one by one, so that those of one article or patient can be on "
            "both sides of the split (Tang et al., released code)",
        ),
    ],
)


@dataclass(frozen=True)
class Split:
    """One division of the probed questions.

    Attributes
    ----------
    name
        The fold's number from 1, or the variant whose wordings stand against the other group.
    train, test : int64
        Positions in the table of `probed` questions.
    """

    name: str
    train: np.ndarray
    test: np.ndarray


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


def probed(queries: pd.DataFrame, record: DatasetRecord) -> pd.DataFrame:
    """The questions of the two groups compared, in their table's order.

    The order fixes the paper's splits, as it does in its released code.

    Raises
    ------
    InputError
        The dataset labels no groups, or holds no question of one of them.
    """
    groups = [record.minuend, record.subtrahend]
    rows = queries[queries["group"].isin([g for g in groups if g])].reset_index(drop=True)
    absent = [group for group in groups if group not in set(rows["group"])]
    if None in groups or absent:
        raise InputError(
            f"Layers are compared between two groups, and {record.label} "
            + (f"holds no question of {absent[0]!r}." if absent[0] else "labels none.")
        )
    return rows


def splits(rows: pd.DataFrame, record: DatasetRecord, *, rule: str) -> list[Split]:
    """Divisions of the probed questions into train and test.

    Where a cell holds several wordings of the subtrahend, as synthetic rewrites do, there is
    one split a variant: its wordings on top of the minuend's of the same cells, 80% to
    train, shuffled by a seed that depends on the names of dataset and variant. Elsewhere
    there are five folds over all rows. The rule ``grouped`` divides clusters instead of rows.

    Parameters
    ----------
    rows
        As `probed` returns them.
    rule
        A key of `SPLIT_RULES`.

    Raises
    ------
    InputError
        There are too few questions, or a part holds one group alone.

    References
    ----------
    Tang et al., released code (rule ``paper``).
    """
    is_grouped = SPLIT_RULES[rule].name == "grouped"
    own = rows[rows["group"] == record.subtrahend]
    if record.is_paired and own.duplicated("cell_id").any():
        made = list(_by_variant(rows, record, is_grouped=is_grouped))
    else:
        made = list(_folds(rows, is_grouped=is_grouped))
    is_positive = (rows["group"] == record.subtrahend).to_numpy()
    for split in made:
        if len(np.unique(is_positive[split.train])) < 2 or len(split.test) == 0:
            raise InputError(
                f"The {len(rows)} questions of {record.label} are too few to be split: a part "
                "holds no question of one group. A probe needs some dozens of each."
            )
    return made


def _folds(rows: pd.DataFrame, *, is_grouped: bool) -> Iterator[Split]:
    from sklearn.model_selection import GroupKFold, KFold

    clusters = rows["cluster_id"].to_numpy(dtype=object)
    n = len(np.unique(clusters)) if is_grouped else len(rows)
    if n < FOLDS:
        what = "sources" if is_grouped else "questions"
        raise InputError(f"{FOLDS} folds need at least {FOLDS} {what}; found {n}.")
    kind = GroupKFold if is_grouped else KFold
    folds = kind(FOLDS, shuffle=True, random_state=SEED)
    divided = folds.split(clusters, groups=clusters if is_grouped else None)
    for number, (train, test) in enumerate(divided, start=1):
        yield Split(str(number), train, test)


def _by_variant(rows: pd.DataFrame, record: DatasetRecord, *, is_grouped: bool) -> Iterator[Split]:
    from sklearn.model_selection import GroupShuffleSplit

    is_own = rows["group"] == record.subtrahend
    for variant in dict.fromkeys(rows.loc[is_own, "variant"]):
        own = is_own & (rows["variant"] == variant)
        other = ~is_own & rows["cell_id"].isin(rows.loc[own, "cell_id"])
        at = np.concatenate([np.flatnonzero(own), np.flatnonzero(other)])
        seed = stable_seed(record.name, variant, base=SEED)
        if is_grouped:
            clusters = rows["cluster_id"].to_numpy(dtype=object)[at]
            if len(np.unique(clusters)) < 2:
                raise InputError(f"Sources kept whole need at least 2; {variant!r} has 1.")
            drawn = GroupShuffleSplit(1, train_size=TRAIN_SHARE, random_state=seed)
            train, test = next(drawn.split(at, groups=clusters))
        else:
            order = np.random.default_rng(seed).permutation(len(at))
            n_train = int(TRAIN_SHARE * len(at))
            train, test = order[:n_train], order[n_train:]
        yield Split(str(variant), at[train], at[test])


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


def measure_layers(
    folder: Folder,
    dataset: Dataset,
    name: str,
    *,
    rules: Sequence[str],
    is_final_included: bool = False,
    force: bool = False,
    progress: Progress,
) -> bool:
    """Probe every layer of a retriever on a dataset and put the scores in place.

    States and fits are kept in ``states/`` of the store, so that a run that was killed goes
    on where it stopped; rules that are in place and up to date are not made again.

    Parameters
    ----------
    name
        Of a dense retriever that shows its layers.
    is_final_included
        Also probe the last layer's output, which the model's own pooling reads; the paper
        leaves it out.

    Returns
    -------
    bool
        Whether anything was made.

    Raises
    ------
    InputError
        The retriever shows no layers, or the dataset cannot be split.
    """
    record = dataset.record
    rows = probed(dataset.queries, record)
    retriever = load(name, models=folder.path / "models")
    if not isinstance(retriever, Dense):
        raise InputError(f"{retriever.record.label} is no neural model and has no layers.")
    label = retriever.record.name
    # The paper reads bare questions, but for a model that brings a prompt of its own.
    prefix = retriever.query_prefix() if retriever.record.query_prompt else ""
    inputs = {
        "step": STEP,
        "retriever": retriever.record.fingerprint,
        "prefix": prefix,
        "queries": folder.content("queries", record.name),
        "groups": [record.minuend, record.subtrahend, record.is_paired],
        "final": is_final_included,
    }
    present = None
    if not force and folder.is_current("probe_scores", record.name, label, inputs=inputs):
        present = folder.read("probe_scores", record.name, label)
    wanted = [r for r in rules if present is None or r not in set(present["split_rule"])]
    if not wanted:
        return False
    divided = {rule: splits(rows, record, rule=rule) for rule in wanted}
    title = f"{record.name}: layers of {retriever.record.label}"
    with progress(f"{title}, states", len(rows)) as advance:
        states = layer_states(
            retriever,
            rows["text"].tolist(),
            prefix=prefix,
            root=folder.path / "states",
            progress=advance,
        )
    layers = range(states.n_layers + is_final_included)
    journal = _Journal(states.folder, inputs, rows)
    n_fits = sum(map(len, divided.values())) * (1 + 2 * len(layers))
    with progress(f"{title}, probes", n_fits) as advance:
        found = probe_scores(
            states.read,
            rows,
            record,
            retriever=label,
            layers=layers,
            rules=wanted,
            known={} if force else journal.read(),
            keep=journal.add,
            progress=advance,
        )
    if present is not None:
        found = pd.concat([present, found], ignore_index=True)
    folder.write("probe_scores", found, dataset=record.name, retriever=label, inputs=inputs)
    return True


class _Journal:
    """Fits, a line each, in a file that is only ever added to."""

    def __init__(self, folder: Path, inputs: dict[str, Any], rows: pd.DataFrame) -> None:
        import sklearn

        ids = rows[["query_id", "group", "variant", "cell_id", "cluster_id"]].to_csv(index=False)
        named = json.dumps([inputs, ids, sklearn.__version__], sort_keys=True)
        digest = hashlib.sha256(named.encode()).hexdigest()[:16]
        self.path = folder / f"fits-{digest}.jsonl"

    def read(self) -> dict[tuple[object, ...], Scores]:
        """Fits by key; a line that was being written when the run was killed is left out."""
        if not self.path.exists():
            return {}
        known = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                key, scores = json.loads(line)
            except ValueError:
                continue
            known[tuple(key)] = Scores(*(np.nan if score is None else score for score in scores))
        return known

    def add(self, key: tuple[object, ...], scores: Scores) -> None:
        """Keep one fit."""
        numbers = [scores.accuracy, None if np.isnan(scores.f1) else scores.f1, scores.nce]
        with self.path.open("a", encoding="utf-8") as handle:
            # The line break comes first, so that a torn line spoils no later one.
            handle.write("\n" + json.dumps([key, numbers]))


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
