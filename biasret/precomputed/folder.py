"""The tables of a store as files under one folder."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pandas as pd
import pyarrow as pa

from biasret.errors import NothingStored
from biasret.precomputed import lock, manifest, parquet, staging
from biasret.precomputed.parquet import GIVEN
from biasret.precomputed.vectors import Vectors, arrow, read_vectors, text_sha256
from biasret.tables import TABLES, check

__all__ = ["Folder", "default_folder"]

#: Characters of a dataset or retriever in a file name; file systems take 255 bytes in all.
_LONGEST = 100
#: Stands in a name that was cut; `quote` lets it occur in no other.
_CUT = "+"


def default_folder() -> Path:
    """The folder ``BIASRET_STORE`` names, else ``precomputed`` beside the package."""
    named = os.environ.get("BIASRET_STORE")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "precomputed"


class Folder:
    """The tables of a store, as Parquet files under one folder.

    Parameters
    ----------
    path
        Made when something is first written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = Path(path) if path is not None else default_folder()

    def file(self, table: str, dataset: str, retriever: str | None = None) -> Path:
        """Where a table of a dataset (and retriever) lies, whether or not it exists."""
        name = _safe(dataset) + (f"--{_safe(retriever)}" if retriever is not None else "")
        return self.path / TABLES[table].name / f"{name}.parquet"

    def index_folder(self, dataset: str, retriever: str, kind: str) -> Path:
        """Where an approximate index over the documents of a dataset is kept."""
        stem = self.file("embeddings", dataset, retriever).stem
        return self.path / "indexes" / f"{stem}--{kind}"

    def files(self, table: str) -> list[Path]:
        """The files of a table, sorted by name."""
        return sorted((self.path / table).glob("*.parquet"))

    def datasets(self) -> list[str]:
        """Names of the datasets that are completely there."""
        return sorted(self._name(path, path.stem, "dataset") for path in self.files("datasets"))

    def retrievers(self, table: str, dataset: str) -> list[str]:
        """Names of the retrievers for which `table` holds a file of `dataset`."""
        prefix = _safe(dataset) + "--"
        return sorted(
            self._name(path, path.stem[len(prefix) :], "retriever")
            for path in self.files(table)
            if path.stem.startswith(prefix)
        )

    def _name(self, path: Path, part: str, kind: str) -> str:
        """What a part of a file's name stands for; a name that was cut is in the footer."""
        footer = self.footer(path) if _CUT in part else None
        return str(footer[kind]) if footer else unquote(part)

    # -- writing -----------------------------------------------------------------------

    def write(
        self,
        table: str,
        frame: pd.DataFrame,
        *,
        dataset: str,
        retriever: str | None = None,
        inputs: dict[str, Any] | None = None,
    ) -> Path:
        """Check a frame against its table and put it in place in one step.

        Parameters
        ----------
        inputs
            What the content depends on; `is_current` compares it. Results that were imported
            rather than computed hold `GIVEN`.
        """
        record = TABLES[table]
        checked = check(frame, table)
        data = pa.Table.from_pandas(checked, schema=parquet.schema(record), preserve_index=False)
        target = self.file(table, dataset, retriever)
        parquet.write(
            data, target, table=record, dataset=dataset, retriever=retriever, inputs=inputs
        )
        return target

    def write_vectors(
        self,
        kinds: dict[str, Vectors],
        *,
        dataset: str,
        retriever: str,
        inputs: dict[str, Any] | None = None,
    ) -> Path:
        """Put the ``embeddings`` of a dataset and retriever in place, by kind."""
        record = TABLES["embeddings"]
        target = self.file("embeddings", dataset, retriever)
        data = arrow(kinds, dataset=dataset, retriever=retriever)
        parquet.write(
            data, target, table=record, dataset=dataset, retriever=retriever, inputs=inputs
        )
        return target

    @contextmanager
    def staged(self) -> Iterator[Folder]:
        """A folder beside this one whose datasets take their places together.

        Whatever ends the block early leaves this folder as it was. A dataset of the same name
        is replaced with all its results, unless it is the same to the byte: then nothing is
        touched.

        Yields
        ------
        Folder
            Write with `write`; what is written is not seen here until the block has ended.
        """
        stage = Folder(self.path / f".import.{os.getpid()}.part")
        try:
            yield stage
            staging.take(stage, into=self)
        finally:
            shutil.rmtree(stage.path, ignore_errors=True)

    def given_vectors(self, dataset: str) -> Path:
        """Root of the vectors that were brought for a dataset."""
        return self.path / "given_vectors" / _safe(dataset)

    def resource(self, name: str) -> Path:
        """Where a frame that belongs to no dataset lies, whether or not it exists."""
        return self.path / "resources" / f"{_safe(name)}.parquet"

    def write_resource(self, name: str, frame: pd.DataFrame) -> bool:
        """Put such a frame in place in one step; False where it is there already."""
        data = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        return parquet.write_bare(data, self.resource(name))

    def remove(self, dataset: str) -> None:
        """Delete every file of a dataset; its record goes first, so that it is gone at once."""
        self.file("datasets", dataset).unlink(missing_ok=True)
        for table in TABLES:
            self.file(table, dataset).unlink(missing_ok=True)
            for retriever in self.retrievers(table, dataset):
                self.file(table, dataset, retriever).unlink(missing_ok=True)
        shutil.rmtree(self.given_vectors(dataset), ignore_errors=True)
        for path in (self.path / "indexes").glob(f"{glob.escape(_safe(dataset))}--*"):
            shutil.rmtree(path)

    def remove_results(self, dataset: str, retriever: str) -> None:
        """Delete what a retriever was found to do on a dataset; its vectors stay."""
        for table in TABLES.values():
            if table.per_retriever and table.name != "embeddings":
                self.file(table.name, dataset, retriever).unlink(missing_ok=True)

    # -- reading -----------------------------------------------------------------------

    def read(self, table: str, dataset: str, retriever: str | None = None) -> pd.DataFrame:
        """One file as a checked frame.

        Raises
        ------
        NothingStored
            There is no such file.
        StoreError
            The file cannot be read.
        """
        path = self.file(table, dataset, retriever)
        return check(parquet.read(path).to_pandas(), table)

    def vectors(self, dataset: str, retriever: str, kind: str) -> Vectors:
        """The embeddings of one kind, ``"document"`` or ``"query"``."""
        return read_vectors(self.file("embeddings", dataset, retriever), kind)

    def given(self, dataset: str, table: str = "gold_ranks") -> list[str]:
        """Retrievers whose results of a dataset were imported; nothing here can remake them."""
        found = {
            r: self.footer(self.file(table, dataset, r)) for r in self.retrievers(table, dataset)
        }
        return [name for name, footer in found.items() if footer and GIVEN in footer["inputs"]]

    def footer(self, path: Path) -> dict[str, Any] | None:
        """What a file says it was made from; None when it is missing or unreadable."""
        return parquet.footer(path)

    def content(self, table: str, dataset: str, retriever: str | None = None) -> str:
        """SHA-256 of a file's content (values and types, not its encoding)."""
        footer = self.footer(self.file(table, dataset, retriever))
        if footer is None:
            raise NothingStored(
                f"The store holds no {table} of {dataset!r}"
                + (f" by {retriever!r}." if retriever else ".")
            )
        return str(footer["content_sha256"])

    def is_current(
        self, table: str, dataset: str, retriever: str | None = None, *, inputs: dict[str, Any]
    ) -> bool:
        """Whether a file is there and was made from exactly these inputs."""
        footer = self.footer(self.file(table, dataset, retriever))
        return footer is not None and footer["inputs"] == json.loads(json.dumps(inputs))

    # -- manifest and lock -------------------------------------------------------------

    def write_manifest(self, *, command: str) -> None:
        """List every file with its rows and inputs.

        ``MANIFEST.json`` lists the shipped datasets, ``MANIFEST.local.json`` all others, so
        that work on one's own data does not change a tracked file.
        """
        paths = [path for table in TABLES for path in self.files(table)]
        manifest.write_manifest(self.path, paths, command=command)

    def lock(self) -> AbstractContextManager[None]:
        """Hold the folder for writing; the kernel lets go when the process ends, however it does.

        Raises
        ------
        StoreError
            Another process holds it.
        """
        return lock.hold(self.path)

    def is_locked(self) -> bool:
        """Whether another process is writing to the folder."""
        return lock.is_held(self.path)

    def fingerprint(self) -> str:
        """Changes whenever a table, or a file of one, is added, replaced or removed."""
        seen = hashlib.sha256()
        for table, record in TABLES.items():
            seen.update(f"{table} {record.columns}\n".encode())
            for path in self.files(table):
                stat = path.stat()
                seen.update(f"{table}/{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
        return seen.hexdigest()


def _safe(name: str) -> str:
    # The separator "--" must not arise inside a name, nor where a name and it meet.
    quoted = re.sub(r"^-|-$|-(?=-)", "%2D", quote(name, safe=" "))
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[: _LONGEST // 2]}{_CUT}{text_sha256(name)[:16]}"
