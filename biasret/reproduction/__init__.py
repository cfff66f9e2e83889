"""Whether the published numbers hold together, and follow from the per-query ones."""

from __future__ import annotations

from pathlib import Path

from biasret import published
from biasret.reproduction import checks
from biasret.reproduction.comparisons import PUBLISHED_GAPS, PublishedGaps
from biasret.reproduction.disagreements import DISAGREEMENTS, disagreements
from biasret.reproduction.gaps import published_gaps, published_means, published_recall
from biasret.reproduction.imported import ENDINGS
from biasret.reproduction.numbers import exhibit_numbers
from biasret.reproduction.pairing import published_pairing
from biasret.reproduction.recomputed import probe_curves
from biasret.reproduction.release import check_release
from biasret.reproduction.residuals import (
    PUBLISHED_RESIDUALS,
    PublishedResiduals,
    published_residuals,
    published_summary,
)
from biasret.reproduction.results import ExhibitCheck

__all__ = [
    "DISAGREEMENTS",
    "ENDINGS",
    "PUBLISHED_GAPS",
    "PUBLISHED_RESIDUALS",
    "ExhibitCheck",
    "PublishedGaps",
    "PublishedResiduals",
    "check",
    "check_release",
    "disagreements",
    "exhibit_numbers",
    "probe_curves",
    "published_gaps",
    "published_means",
    "published_pairing",
    "published_recall",
    "published_residuals",
    "published_summary",
]


def check(folder: Path = published.FOLDER) -> list[ExhibitCheck]:
    """Recompute what the shipped numbers allow, and test how they hang together.

    Tables 12 and 13 and the group means of Figs. 3b and 19 are recomputed from the ranks,
    Recall@k of Figs. 17 and 18 and the curves of Fig. 4 computed; the other exhibits are
    tested against identities between their own numbers, against each other, and, printed
    against full precision, by rounding.

    Parameters
    ----------
    folder
        Where the Parquet files are.

    Returns
    -------
    list of ExhibitCheck
        One for each exhibit and kind of check.
    """
    return checks.run(
        published.load("published", folder=folder),
        published.load("ranks", folder=folder),
        published.load("probe_scores", folder=folder),
    )
