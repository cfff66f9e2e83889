"""Whether a retriever can be loaded here, answered without importing anything heavy."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

from biasret.retrievers import hub
from biasret.retrievers.base import Availability, RetrieverRecord

__all__ = ["available"]


def available(record: RetrieverRecord) -> Availability:
    """Whether a retriever's packages, weights and key are there; loads none of them.

    Weights count as there when they lie whole in a package or in the local cache of the
    model hub. Nothing is asked of a network.
    """
    missing = [name for name in record.requires if find_spec(name) is None]
    missing += [name for name in record.distributions if not _has_distribution(name)]
    if missing:
        return Availability(
            False, f"{record.label} needs {', '.join(missing)}; install with `{record.install}`."
        )
    if record.in_hub and hub.snapshot(record.checkpoint, record.revision) is None:
        return Availability(
            False,
            f"The weights of {record.label} are not on this machine; fetch them with "
            f"`{record.install}`.",
        )
    if record.key_variable and not os.environ.get(record.key_variable):
        return Availability(
            False,
            f"{record.label} needs a key; set the environment variable {record.key_variable}.",
        )
    return Availability(True)


def _has_distribution(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
