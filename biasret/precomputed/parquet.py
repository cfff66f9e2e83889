"""One Parquet file: written by rename, with what it was made from in its footer."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from biasret import __version__
from biasret.errors import NothingStored, StoreError
from biasret.tables import Table

__all__ = ["GIVEN", "footer", "read", "reading", "replacing", "schema", "write", "write_bare"]

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


def schema(table: Table) -> pa.Schema:
    """The columns of a table as Arrow types."""
    return pa.schema([(c.name, _ARROW[c.kind]) for c in table.columns])


def write(
    data: pa.Table,
    target: Path,
    *,
    table: Table,
    dataset: str,
    retriever: str | None,
    inputs: dict[str, Any] | None,
) -> None:
    """Put rows of a table in place in one step; untouched where they are there already."""
    target.parent.mkdir(parents=True, exist_ok=True)
    content = _content_sha256(data)
    made = {
        "dataset": dataset,
        "retriever": retriever,
        "inputs": inputs or {},
        "content_sha256": content,
        "biasret": __version__,
    }
    if footer(target) == json.loads(json.dumps(made)):
        return  # the same again: readers need not notice
    data = data.replace_schema_metadata({_FOOTER: json.dumps(made, sort_keys=True)})
    with replacing(target) as beside:
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


def write_bare(data: pa.Table, target: Path) -> bool:
    """Put rows without a footer in place in one step; False where they are there already."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and read(target).equals(data):
        return False
    with replacing(target) as beside:
        pq.write_table(data, beside, compression="zstd")
    return True


def read(path: Path) -> pa.Table:
    """All rows of a file.

    Raises
    ------
    NothingStored
        There is no such file.
    StoreError
        The file cannot be read.
    """
    with reading(path):
        return pq.ParquetFile(path).read()


def footer(path: Path) -> dict[str, Any] | None:
    """What a file says it was made from; None when it is missing or unreadable."""
    try:
        recorded = pq.read_schema(path).metadata
        return json.loads(recorded[_FOOTER]) if recorded else None
    except (OSError, pa.ArrowException, KeyError, ValueError):
        # An unreadable file is a file to be made again.
        return None


@contextmanager
def reading(path: Path) -> Iterator[None]:
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


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` that takes its place when the block ends without an error."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield beside
        with beside.open("rb") as handle:
            os.fsync(handle.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _content_sha256(data: pa.Table) -> str:
    seen = hashlib.sha256(str(data.schema.remove_metadata()).encode())
    for column in data.itercolumns():
        # repr of Python values would be slow; the IPC form of one chunk is canonical.
        batch = pa.record_batch([column.combine_chunks()], names=["c"])
        seen.update(batch.serialize())
    return seen.hexdigest()
