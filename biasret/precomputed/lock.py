"""Who may write to a folder, and what killed writers left in it."""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from biasret.errors import StoreError
from biasret.tables import TABLES

__all__ = ["hold", "is_held"]

#: Seconds after which something half written belongs to nobody.
_LEFT_BEHIND = 3_600


@contextmanager
def hold(root: Path) -> Iterator[None]:
    """Hold a folder for writing; the kernel lets go when the process ends, however it does.

    Raises
    ------
    StoreError
        Another process holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(
                f"Another process is writing to {root}; wait until it has finished, or "
                "set BIASRET_STORE to another folder."
            ) from None
        _sweep(root)
        yield


def is_held(root: Path) -> bool:
    """Whether another process is writing to a folder."""
    try:
        with (root / ".lock").open("r") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _sweep(root: Path) -> None:
    """Remove what killed processes left half written."""
    for table in TABLES:
        for path in (root / table).glob("*.part"):
            path.unlink(missing_ok=True)
    # The database, vectors and models are also made without the lock: what is young may
    # be in the making.
    oldest = time.time() - _LEFT_BEHIND
    for path in root.glob("**/*.part"):
        if path.lstat().st_mtime > oldest:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
