"""Parquet at rest: one file per table, dataset and retriever, each written by rename.

A file carries in its own footer what it was made from (`inputs`), so that data and
record can never disagree: a build that was killed leaves whole files or none, and the
next one redoes only what is missing or out of date.
"""

from biasret.precomputed.folder import Folder, default_folder
from biasret.precomputed.manifest import SHIPPED_PREFIX
from biasret.precomputed.parquet import GIVEN
from biasret.precomputed.vectors import Vectors, text_sha256

__all__ = ["GIVEN", "SHIPPED_PREFIX", "Folder", "Vectors", "default_folder", "text_sha256"]
