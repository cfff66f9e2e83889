"""The local cache of the model hub, read as files: no hub library, no network."""

from __future__ import annotations

import json
import os
from pathlib import Path

__all__ = ["cache", "fetch_command", "is_reachable_by_choice", "snapshot"]

_SINGLE = ("model.safetensors", "pytorch_model.bin")
_SHARDED = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


def cache() -> Path:
    """Where the hub's library keeps models, by the variables it reads itself."""
    named = os.environ.get("HF_HUB_CACHE")
    if named:
        return Path(named).expanduser()
    home = os.environ.get("HF_HOME")
    if home:
        return Path(home).expanduser() / "hub"
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "huggingface" / "hub"


def snapshot(checkpoint: str, revision: str) -> Path | None:
    """Folder of a checkpoint whose weights are whole; None when any file is missing.

    Parameters
    ----------
    revision
        A commit, or the name of a branch the cache has resolved.
    """
    folder = cache() / f"models--{checkpoint.replace('/', '--')}"
    commit = revision
    reference = folder / "refs" / revision
    if reference.is_file():
        commit = reference.read_text(encoding="utf-8").strip()
    found = folder / "snapshots" / commit
    return found if (found / "config.json").is_file() and _is_whole(found) else None


def _is_whole(folder: Path) -> bool:
    if any((folder / name).is_file() for name in _SINGLE):
        return True
    for name in _SHARDED:
        index = folder / name
        if index.is_file():
            try:
                shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
            except (ValueError, KeyError, AttributeError):
                return False
            return bool(shards) and all((folder / shard).is_file() for shard in shards)
    return False


def fetch_command(checkpoint: str, revision: str) -> str:
    """The command that brings a checkpoint into the cache."""
    return f"HF_HUB_OFFLINE=0 hf download {checkpoint} --revision {revision}"


def is_reachable_by_choice() -> bool:
    """Whether the environment allows the hub to be asked (``HF_HUB_OFFLINE=0``)."""
    return os.environ.get("HF_HUB_OFFLINE", "1").strip().lower() in {"0", "false", "no", "off"}
