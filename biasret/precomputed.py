"""Parquet at rest: one file per table, dataset and retriever, each written by rename.

A file carries in its own footer what it was made from (`inputs`), so that data and
record can never disagree: a build that was killed leaves whole files or none, and the
next one redoes only what is missing or out of date.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from biasret import __version__
from biasret.errors import NothingStored, StoreError
from biasret.tables import TABLES, Table, check

__all__ = ["GIVEN", "Folder", "Vectors", "default_folder", "text_sha256"]

#: Datasets with this prefix are shipped with the project and listed in its manifest.
SHIPPED_PREFIX = "demo_"

_ARROW = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "vector": pa.list_(pa.float32()),
}
_FOOTER = b"biasret"

#: Key of a file's inputs that says where its rows, which nothing here can make, came from.
GIVEN = "given"

#: Characters of a dataset or retriever in a file name; file systems take 255 bytes in all.
_LONGEST = 100
#: Stands in a name that was cut; `quote` lets it occur in no other.
_CUT = "+"
#: Seconds after which something half written belongs to nobody.
_LEFT_BEHIND = 3_600
#: Vectors read from a file at a time.
_AT_A_TIME = 8_192
_VERSIONED = (
    *("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    *("bm25s", "torch", "sentence-transformers"),
)


def default_folder() -> Path:
    """The folder ``BIASRET_STORE`` names, else ``precomputed`` beside the package."""
    named = os.environ.get("BIASRET_STORE")
    return Path(named) if named else Path(__file__).resolve().parent.parent / "precomputed"


def text_sha256(text: str) -> str:
    """Hex SHA-256 of a text's UTF-8 bytes; lone surrogates count as themselves."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Vectors:
    """Embeddings of the documents or queries of a dataset.

    Kept as one matrix and not as a frame: a frame of 37,463 lists is slow and large.

    Attributes
    ----------
    ids : list of str, length n
    matrix : float32, shape (n, dimension), rows of unit length
    text_sha256 : list of str, length n
    truncated : bool, shape (n,)
        Whether the text was longer than the model reads.
    """

    ids: list[str]
    matrix: np.ndarray
    text_sha256: list[str]
    truncated: np.ndarray

    def fitting(
        self, ids: Sequence[str], texts: Sequence[str], *, what: str = "documents"
    ) -> np.ndarray:
        """The vectors of these texts, row for row; the matrix itself where that is in order.

        Parameters
        ----------
        ids, texts
            Of the same length.
        what
            What the texts are, for the error.

        Raises
        ------
        StoreError
            A text has no vector, or is not the one that was encoded.
        """
        order = pd.Index(self.ids).get_indexer(pd.Index(ids))
        known = np.array([*self.text_sha256, ""], dtype=object)[order]
        found = np.array([text_sha256(text) for text in texts], dtype=object)
        n_wrong = int(((order < 0) | (known != found)).sum())
        if n_wrong:
            raise StoreError(
                f"{n_wrong:,} of {len(found):,} {what} have no vector or have changed since they "
                "were encoded; run `python -m biasret build`."
            )
        if len(order) == len(self.ids) and (order == np.arange(len(order))).all():
            return self.matrix
        return self.matrix[order]


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
        schema = pa.schema([(c.name, _ARROW[c.kind]) for c in record.columns])
        data = pa.Table.from_pandas(checked, schema=schema, preserve_index=False)
        return self._put(record, data, dataset=dataset, retriever=retriever, inputs=inputs)

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
        parts = []
        for kind, vectors in kinds.items():
            n, dimension = vectors.matrix.shape
            flat = pa.array(np.ascontiguousarray(vectors.matrix, dtype=np.float32).ravel())
            offsets = pa.array(np.arange(n + 1, dtype=np.int32) * dimension)
            parts.append(
                pa.table(
                    {
                        "dataset": pa.array([dataset] * n, pa.string()),
                        "retriever": pa.array([retriever] * n, pa.string()),
                        "kind": pa.array([kind] * n, pa.string()),
                        "id": pa.array(vectors.ids, pa.string()),
                        "vector": pa.ListArray.from_arrays(offsets, flat),
                        "text_sha256": pa.array(vectors.text_sha256, pa.string()),
                        "truncated": pa.array(vectors.truncated, pa.bool_()),
                    }
                )
            )
        schema = pa.schema([(c.name, _ARROW[c.kind]) for c in record.columns])
        data = pa.concat_tables(part.cast(schema) for part in parts)
        return self._put(record, data, dataset=dataset, retriever=retriever, inputs=inputs)

    def _put(
        self,
        table: Table,
        data: pa.Table,
        *,
        dataset: str,
        retriever: str | None,
        inputs: dict[str, Any] | None,
    ) -> Path:
        target = self.file(table.name, dataset, retriever)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = _content_sha256(data)
        footer = {
            "dataset": dataset,
            "retriever": retriever,
            "inputs": inputs or {},
            "content_sha256": content,
            "biasret": __version__,
        }
        if self.footer(target) == json.loads(json.dumps(footer)):
            return target  # the same again: readers need not notice
        data = data.replace_schema_metadata({_FOOTER: json.dumps(footer, sort_keys=True)})
        with _replacing(target) as beside:
            pq.write_table(
                data,
                beside,
                compression="zstd",
                row_group_size=122_880,
                # Numbers of a vector hardly repeat: a dictionary makes them larger, while
                # storing their bytes by place lets the exponents compress.
                use_dictionary=[c.name for c in table.columns if c.kind != "vector"],
                use_byte_stream_split=[
                    f"{c.name}.list.element" for c in table.columns if c.kind == "vector"
                ],
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
            self._take(stage)
        finally:
            shutil.rmtree(stage.path, ignore_errors=True)

    def _take(self, stage: Folder) -> None:
        staged = {
            path: footer
            for table in TABLES
            for path in stage.files(table)
            if (footer := stage.footer(path)) is not None
        }
        # Records of datasets come last, so that each is there whole or not at all.
        order = sorted(staged, key=lambda path: path.parent.name == "datasets")
        targets = {path: self.path / path.parent.name / path.name for path in order}
        changed = {
            staged[path]["dataset"] for path in order if self.footer(targets[path]) != staged[path]
        }
        changed |= {
            dataset for dataset in stage.datasets() if self._lacks(stage, dataset, targets.values())
        }
        for dataset in changed & set(stage.datasets()):
            self.remove(dataset)
        for path in order:
            if staged[path]["dataset"] in changed:
                targets[path].parent.mkdir(parents=True, exist_ok=True)
                path.replace(targets[path])

    def _lacks(self, stage: Folder, dataset: str, targets: Collection[Path]) -> bool:
        """Whether results that came with a dataset are here and no longer come with it."""
        record = stage.footer(stage.file("datasets", dataset)) or {"inputs": {}}
        source = record["inputs"].get("kind")
        here = [
            self.file(table.name, dataset, retriever)
            for table in TABLES.values()
            for retriever in self.retrievers(table.name, dataset)
        ]
        return any(
            (footer := self.footer(path)) is not None and footer["inputs"].get(GIVEN, "") == source
            for path in here
            if path not in targets
        )

    def given_vectors(self, dataset: str) -> Path:
        """Root of the vectors that were brought for a dataset."""
        return self.path / "given_vectors" / _safe(dataset)

    def resource(self, name: str) -> Path:
        """Where a frame that belongs to no dataset lies, whether or not it exists."""
        return self.path / "resources" / f"{_safe(name)}.parquet"

    def write_resource(self, name: str, frame: pd.DataFrame) -> bool:
        """Put such a frame in place in one step; False where it is there already."""
        target = self.resource(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        if target.exists() and _read(target).equals(data):
            return False
        with _replacing(target) as beside:
            pq.write_table(data, beside, compression="zstd")
        return True

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
        return check(_read(path).to_pandas(), table)

    def vectors(self, dataset: str, retriever: str, kind: str) -> Vectors:
        """The embeddings of one kind, ``"document"`` or ``"query"``."""
        path = self.file("embeddings", dataset, retriever)
        with _reading(path):
            file = pq.ParquetFile(path)
            kinds = file.read(columns=["kind"])["kind"]
            n = pa.compute.sum(pa.compute.equal(kinds, kind)).as_py() or 0
            parts: dict[str, list[Any]] = {"id": [], "text_sha256": [], "truncated": []}
            matrix = np.zeros((0, 0), dtype=np.float32)
            at = 0
            # Part by part into one matrix: the whole table beside it would double the memory.
            for batch in file.iter_batches(_AT_A_TIME, columns=["kind", "vector", *parts]):
                part = batch.filter(pa.compute.equal(batch["kind"], kind))
                if part.num_rows == 0:
                    continue
                flat = part["vector"].flatten().to_numpy(zero_copy_only=False)
                rows = flat.reshape(part.num_rows, -1)
                if at == 0:
                    matrix = np.empty((n, rows.shape[1]), dtype=np.float32)
                matrix[at : at + len(rows)] = rows
                at += len(rows)
                for name, values in parts.items():
                    values.extend(part[name].to_pylist())
        return Vectors(
            ids=parts["id"],
            matrix=matrix,
            text_sha256=parts["text_sha256"],
            truncated=np.array(parts["truncated"], dtype=bool),
        )

    def given(self, dataset: str, table: str = "gold_ranks") -> list[str]:
        """Retrievers whose results of a dataset were imported; nothing here can remake them."""
        found = {
            r: self.footer(self.file(table, dataset, r)) for r in self.retrievers(table, dataset)
        }
        return [name for name, footer in found.items() if footer and GIVEN in footer["inputs"]]

    def footer(self, path: Path) -> dict[str, Any] | None:
        """What a file says it was made from; None when it is missing or unreadable."""
        try:
            recorded = pq.read_schema(path).metadata
            return json.loads(recorded[_FOOTER]) if recorded else None
        except (OSError, pa.ArrowException, KeyError, ValueError):
            # An unreadable file is a file to be made again.
            return None

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
        shipped: dict[str, Any] = {}
        local: dict[str, Any] = {}
        for table in TABLES:
            for path in self.files(table):
                footer = self.footer(path)
                if footer is None:
                    continue
                kept = shipped if path.stem.startswith(SHIPPED_PREFIX) else local
                kept[f"{table}/{path.name}"] = {"rows": pq.read_metadata(path).num_rows, **footer}
        for name, entries in (("MANIFEST.json", shipped), ("MANIFEST.local.json", local)):
            if not entries:
                (self.path / name).unlink(missing_ok=True)
                continue
            document = {"command": command, "versions": _versions(), "files": entries}
            with _replacing(self.path / name) as beside:
                beside.write_text(
                    json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8"
                )

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for writing; the kernel lets go when the process ends, however it does.

        Raises
        ------
        StoreError
            Another process holds it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / ".lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(
                    f"Another process is writing to {self.path}; wait until it has finished, or "
                    "set BIASRET_STORE to another folder."
                ) from None
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Remove what killed processes left half written."""
        for table in TABLES:
            for path in (self.path / table).glob("*.part"):
                path.unlink(missing_ok=True)
        # The database, vectors and models are also made without the lock: what is young may
        # be in the making.
        oldest = time.time() - _LEFT_BEHIND
        for path in self.path.glob("**/*.part"):
            if path.lstat().st_mtime > oldest:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def is_locked(self) -> bool:
        """Whether another process is writing to the folder."""
        try:
            with (self.path / ".lock").open("r") as handle:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def fingerprint(self) -> str:
        """Changes whenever a table, or a file of one, is added, replaced or removed."""
        seen = hashlib.sha256()
        for table, record in TABLES.items():
            seen.update(f"{table} {record.columns}\n".encode())
            for path in self.files(table):
                stat = path.stat()
                seen.update(f"{table}/{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
        return seen.hexdigest()


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` that takes its place when the block ends without an error."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield beside
        with beside.open("rb") as handle:
            os.fsync(handle.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _safe(name: str) -> str:
    # The separator "--" must not arise inside a name, nor where a name and it meet.
    quoted = re.sub(r"^-|-$|-(?=-)", "%2D", quote(name, safe=" "))
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[: _LONGEST // 2]}{_CUT}{text_sha256(name)[:16]}"


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns what can go wrong in reading a file into a sentence."""
    try:
        yield
    except FileNotFoundError:
        raise NothingStored(
            f"The store has no file {path.parent.name}/{path.name}; run `python -m biasret build`."
        ) from None
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"The file {path.parent.name}/{path.name} cannot be read ({error}); delete it and run "
            "`python -m biasret build`, or import its dataset again."
        ) from error


def _read(path: Path) -> pa.Table:
    with _reading(path):
        return pq.ParquetFile(path).read()


def _content_sha256(data: pa.Table) -> str:
    seen = hashlib.sha256(str(data.schema.remove_metadata()).encode())
    for column in data.itercolumns():
        # repr of Python values would be slow; the IPC form of one chunk is canonical.
        batch = pa.record_batch([column.combine_chunks()], names=["c"])
        seen.update(batch.serialize())
    return seen.hexdigest()


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "biasret": __version__}
    for package in _VERSIONED:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions
