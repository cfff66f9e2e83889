"""Hidden states of many texts by layer, kept on disk so that a killed run goes on.

A model of 36 layers and 4,096 numbers gives 2 GB for 7,446 texts in float16: states are
written layer by layer as they come and read one layer at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biasret.precomputed import text_sha256
from biasret.retrievers.dense import Dense

__all__ = ["LayerStates", "layer_states"]

#: Batches between two marks of how far it got.
_BATCHES = 8


@dataclass(frozen=True)
class LayerStates:
    """Mean hidden states of n texts, one file a layer.

    Attributes
    ----------
    folder
        Holds ``00.npy`` (the input embeddings) and so on, each float16, shape (n, width).
    n_layers
        Layers of the model, so that there are ``n_layers + 1`` files.
    """

    folder: Path
    n_layers: int

    def read(self, layer: int) -> np.ndarray:
        """States of one layer, float64, shape (n, width); what is not finite is 0.

        References
        ----------
        Tang et al., released code: stored as float16, whose range some models leave.
        """
        return np.nan_to_num(
            np.load(_file(self.folder, layer)).astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0
        )


def layer_states(
    retriever: Dense,
    texts: Sequence[str],
    *,
    prefix: str,
    root: Path,
    progress: Callable[[int], None] | None = None,
) -> LayerStates:
    """Hidden states of texts at every layer, from disk as far as they are there.

    Batches are fixed by the texts alone, so a run that was killed and continued gives the
    same numbers as one that was not.

    Parameters
    ----------
    root
        Holds a folder for each model and list of texts.
    progress
        Called with the number of texts just finished.

    Raises
    ------
    InputError
        The model's engine shows no hidden states.
    """
    record = retriever.record
    named = json.dumps([record.fingerprint, record.batch, prefix, [text_sha256(t) for t in texts]])
    folder = root / f"{record.name}-{hashlib.sha256(named.encode()).hexdigest()[:16]}"
    mark = folder / "done.json"
    n_done, n_states = (json.loads(mark.read_text()) if mark.exists() else None) or (0, 0)
    if progress:
        progress(n_done)
    # Texts of like length together, so that little of a batch is padding.
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i], i))
    step = record.batch * _BATCHES
    while n_done < len(texts):
        at = order[n_done : n_done + step]
        parts = [
            retriever.layers([texts[i] for i in at[start : start + record.batch]], prefix=prefix)
            for start in range(0, len(at), record.batch)
        ]
        states = np.concatenate(parts, axis=1)
        if not n_states:
            n_states = len(states)
            folder.mkdir(parents=True, exist_ok=True)
        _write(folder, at, states, n=len(texts), is_new=n_done == 0)
        n_done += len(at)
        beside = mark.with_name(f".{mark.name}.{os.getpid()}.part")
        beside.write_text(json.dumps([n_done, n_states]))
        beside.replace(mark)
        if progress:
            progress(len(at))
    return LayerStates(folder, n_states - 1)


def _write(folder: Path, at: list[int], states: np.ndarray, *, n: int, is_new: bool) -> None:
    with np.errstate(over="ignore"):
        narrow = states.astype(np.float16)
    for layer, rows in enumerate(narrow):
        path = _file(folder, layer)
        kept = (
            np.lib.format.open_memmap(path, "w+", np.float16, (n, rows.shape[1]))
            if is_new
            else np.lib.format.open_memmap(path, "r+")
        )
        kept[at] = rows
        kept.flush()


def _file(folder: Path, layer: int) -> Path:
    return folder / f"{layer:02d}.npy"
