"""The authors' public release, read as datasets with the results that came with them.

Whatever of the release a folder holds is imported; what it lacks is listed. Nothing is asked of
a network, and no model is loaded: rankings, ranks and values are taken as they were released.
"""

from __future__ import annotations

from pathlib import Path

from biasret.datasets.base import Imported, Loaded
from biasret.datasets.release import allsides, hcmagic, probing, reddit
from biasret.datasets.release.files import Files
from biasret.errors import FileError
from biasret.progress import Progress, silent

__all__ = ["ENDINGS", "load"]

#: What the released scores of probes call the dataset.
_PROBED = {"allsides": "allsides_synth", "rewritten": "hcmagic_synth"}

#: What follows the name asked for, by dataset.
ENDINGS = {
    "allsides": "_allsides",
    "reddit": "_reddit",
    "rewritten": "_hcmagic_synth",
    "natural": "_hcmagic_nat",
}


def load(path: Path | str, *, name: str, progress: Progress = silent) -> Imported:
    """Every dataset of the release that a folder holds.

    Parameters
    ----------
    path
        A clone of the release, or part of one, with its own layout.
    name
        First part of the datasets' names; `ENDINGS` are the second.
    progress
        Told of each source.

    Raises
    ------
    FileError, TableError, InputError
        A file is damaged or contradicts another; the message names file, line and what to do.
    """
    files = Files(Path(path))
    found: dict[str, Loaded | None] = {}
    with progress("reading the release", 7) as advance:
        articles = allsides.corpus(files)
        advance(1)
        found["allsides"] = allsides.load(files, name + ENDINGS["allsides"], articles)
        advance(1)
        found["reddit"] = reddit.load(files, name + ENDINGS["reddit"], articles)
        advance(1)
        answers = hcmagic.shared(files)
        advance(1)
        found["rewritten"] = hcmagic.load_rewritten(files, name + ENDINGS["rewritten"], answers)
        advance(1)
        found["natural"] = hcmagic.load_natural(files, name + ENDINGS["natural"], answers)
        advance(1)
        scores = probing.probe_scores(files)
        advance(1)
    parts = {key: loaded for key, loaded in found.items() if loaded is not None}
    if not parts:
        raise FileError(
            f"{path} holds no part of the release; name the folder that holds allsides_synth, "
            "reddit_nat or hcmagic."
        )
    for key, probed in _PROBED.items():
        if key in parts:
            parts[key] = probing.added(parts[key], scores.get(probed, {}))
        elif probed in scores:
            n_rows = sum(map(len, scores[probed].values()))
            files.left_out[f"probe scores of {probed}, which is not in the folder"] += n_rows
    notes = [f"{file}: {n:,} rows read." for file, n in files.n_read.items()]
    notes += [f"left out: {n:,} rows, {why}." for why, n in files.left_out.items() if n]
    if files.absent:
        notes.append(f"Not in the folder: {', '.join(dict.fromkeys(files.absent))}.")
    return Imported(tuple(parts.values()), tuple(notes))
