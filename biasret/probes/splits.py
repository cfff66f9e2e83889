"""Which questions are probed, and how they are divided into train and test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.catalogue import Catalogue
from biasret.datasets.base import DatasetRecord
from biasret.errors import InputError
from biasret.statistics import stable_seed

__all__ = ["SPLIT_RULES", "Split", "SplitRule", "probed", "splits"]

SEED = 42
FOLDS = 5
TRAIN_SHARE = 0.8


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
