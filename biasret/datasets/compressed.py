"""The bytes of a file, unpacked where its name ends in ``.gz`` or ``.zst``."""

from __future__ import annotations

from pathlib import Path

from biasret.errors import FileError

__all__ = ["MAX_BYTES", "PACKED", "ending", "files_below", "packing", "unpacked"]

#: Codec of each ending.
PACKED = {".gz": "gzip", ".zst": "zstd"}

#: Files that unpack to more are refused: a few bytes can unpack to anything.
MAX_BYTES = 4 * 1024**3

_BLOCK = 1 << 22


def packing(path: Path) -> str | None:
    """The codec that the name says, or None."""
    return PACKED.get(path.suffix.lower())


def ending(path: Path) -> str:
    """What kind of file it is once unpacked.

    Examples
    --------
    >>> ending(Path("corpus.jsonl.gz")), ending(Path("a.CSV")), ending(Path("a.zst"))
    ('.jsonl', '.csv', '')
    """
    return (path.with_suffix("") if packing(path) else path).suffix.lower()


def files_below(folder: Path, kind: str, *, holding: str) -> list[Path]:
    """All files of one ending in a folder and those in it, packed or not, in order of path.

    Parameters
    ----------
    kind
        As `ending` gives it, such as ``".xml"``.
    holding
        What the folder should hold, for the message.

    Raises
    ------
    FileError
        There is no such folder, or no such file in it.
    """
    if not folder.is_dir():
        raise FileError(f"There is no folder {folder}; name the folder that holds {holding}.")
    files = sorted(path for path in folder.rglob(f"*{kind}*") if ending(path) == kind)
    if not files:
        raise FileError(f"{folder} holds no {kind} files; name the folder that holds {holding}.")
    return files


def unpacked(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """All bytes of a file.

    Raises
    ------
    FileError
        It is missing, is no file, may not be read, is cut short or damaged, or unpacks to more
        than `max_bytes`.
    """
    if not path.exists():
        raise FileError(f"There is no file {path}; check the path.")
    if not path.is_file():
        raise FileError(f"{path} is not a file; name a file.")
    codec = packing(path)
    try:
        if codec is None:
            return path.read_bytes()
        return _unpack(path, codec, max_bytes)
    except PermissionError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from error
    except OSError as error:
        if codec is None:
            raise FileError(f"{path} cannot be read: {error.strerror}.") from error
        # Arrow reports damage as an input error without a number.
        raise FileError(
            f"{path.name} cannot be unpacked as {codec} ({error}); fetch or write it again."
        ) from error


def _unpack(path: Path, codec: str, max_bytes: int) -> bytes:
    import pyarrow as pa

    blocks = []
    size = 0
    with pa.input_stream(str(path), compression=codec) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > max_bytes:
                raise FileError(
                    f"{path.name} unpacks to more than {max_bytes:,} bytes; split it, or check "
                    "that it is what it should be."
                )
            blocks.append(block)
    return b"".join(blocks)
