"""Every layer of a retriever probed on a dataset, put in place in the store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasret.datasets.base import Dataset
from biasret.errors import InputError
from biasret.precomputed import Folder
from biasret.probes.fits import Scores, probe_scores
from biasret.probes.splits import probed, splits
from biasret.progress import Progress, silent
from biasret.retrievers import load
from biasret.retrievers.dense import Dense
from biasret.retrievers.layers import layer_states

__all__ = ["measure_layers"]

#: Raised when the same inputs would give other scores.
STEP = 1


def measure_layers(
    folder: Folder,
    dataset: Dataset,
    name: str,
    *,
    rules: Sequence[str],
    is_final_included: bool = False,
    force: bool = False,
    progress: Progress = silent,
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
        # Other wordings of the dataset may come and go.
        "rows": _digest(rows),
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
    journal = _Journal(states.folder, inputs)
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


def _digest(rows: pd.DataFrame) -> str:
    """Names the probed questions: their texts, groups, cells and order."""
    columns = ["query_id", "text", "group", "variant", "cell_id", "cluster_id"]
    named = json.dumps(rows[columns].to_numpy(dtype=object).tolist())
    return hashlib.sha256(named.encode()).hexdigest()[:16]


class _Journal:
    """Fits, a line each, in a file that is only ever added to."""

    def __init__(self, folder: Path, inputs: dict[str, Any]) -> None:
        import sklearn

        named = json.dumps([inputs, sklearn.__version__], sort_keys=True)
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
