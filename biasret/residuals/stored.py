"""The step of a build that makes ``token_scores`` and ``residuals`` of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from biasret import audit, contrasts, lexical, tokens
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder
from biasret.progress import Progress, silent
from biasret.residuals import fits
from biasret.statistics import regression, resampling, results, streams

__all__ = ["store_residuals"]


def store_residuals(
    folder: Folder,
    dataset: Dataset,
    retrievers: Sequence[str],
    *,
    steps: Mapping[str, int],
    source: Callable[[Any], str],
    force: bool = False,
    progress: Progress = silent,
) -> bool:
    """Score tokens, and fit what remains of the stored gaps; redoes what is out of date.

    Parameters
    ----------
    retrievers
        Those whose measurements are current, and whose gaps are stored.
    steps
        Numbers raised when the same inputs would give another file.
    source
        Says what a module's code is, so that a change to it makes its results anew.

    Returns
    -------
    bool
        Whether anything was redone.
    """
    record, settings = dataset.record, audit.PAPER
    pairs = audit.compared(dataset.queries, record)
    if not pairs or not retrievers:
        return False
    queries = folder.content("queries", record.name)
    scored = {
        "step": steps["token_scores"],
        "code": [source(module) for module in (lexical, tokens)],
        "queries": queries,
        "pairs": [[pair.minuend, pair.subtrahend] for pair in pairs],
    }
    did = False
    if force or not folder.is_current("token_scores", record.name, inputs=scored):
        scores = fits.vocabulary(dataset.queries, record)
        folder.write("token_scores", scores, dataset=record.name, inputs=scored)
        did = True
    inputs: dict[str, Any] = {
        "step": steps["residuals"],
        "settings": {"resamples": settings.resamples, "level": settings.level},
        "code": [source(m) for m in (fits, contrasts, regression, resampling, results, streams)],
        "queries": queries,
        "design": [pair.is_paired for pair in pairs],
        "token_scores": folder.content("token_scores", record.name),
        "gaps": folder.content("gaps", record.name),
        "measurements": {r: folder.content("measurements", record.name, r) for r in retrievers},
    }
    if not force and folder.is_current("residuals", record.name, inputs=inputs):
        return did
    with progress(f"{record.name}: gaps beyond vocabulary", len(retrievers)) as advance:
        found = fits.residuals(
            (folder.read("measurements", record.name, r) for r in retrievers),
            dataset.queries,
            record,
            tokens=folder.read("token_scores", record.name),
            gaps=folder.read("gaps", record.name),
            settings=settings,
            progress=advance,
        )
    folder.write("residuals", found, dataset=record.name, inputs=inputs)
    return True
