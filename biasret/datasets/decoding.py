"""Bytes to text, or a sentence on what the bytes probably are."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from biasret.errors import FileError, InputError

__all__ = ["decode"]

_LINE_ENDS = re.compile(r"\r\n|\r|\n")

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _line_of(text: str, position: int) -> int:
    return len(_LINE_ENDS.findall(text, 0, position)) + 1


def _likely_encoding(data: bytes) -> str:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    start = data[:4096]
    for offset, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        # In UTF-16 every other byte of Western text is 0.
        if len(start) > 3 and start[offset::2].count(0) > 0.4 * len(start[offset::2]):
            return name
    return "cp1252" if re.search(rb"[\x80-\x9f]", data) else "latin-1"


def _is_utf8(data: bytes) -> bool:
    try:
        # UTF-16 and UTF-32 of plain text are valid too, but for the NULs in their line ends.
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def decode(path: Path, data: bytes, *, encoding: str | None) -> tuple[str, list[str]]:
    """The text of a file, without its byte order mark, and notes on it.

    Parameters
    ----------
    path
        Names the file in messages.
    encoding
        None: UTF-8.

    Raises
    ------
    FileError
        The bytes are in another encoding (the message names the likely one), hold a NUL,
        or hold nothing.
    InputError
        There is no encoding of that name.
    """
    notes = []
    try:
        codec = codecs.lookup(encoding or "utf-8").name
        text = data.decode("utf-8-sig" if codec == "utf-8" else codec).removeprefix("\ufeff")
        if codec != "utf-8":
            text.encode()  # utf-7 and the like can yield half a surrogate pair
            if _is_utf8(data):
                if codec.startswith(("utf_16", "utf-16", "utf_32", "utf-32")):
                    raise FileError(
                        f"{path.name} is UTF-8 text, not {encoding}; leave the encoding out."
                    )
                if not data.isascii():
                    notes = [f"{path.name} was read as {encoding}, though it is valid UTF-8."]
    except LookupError as error:
        raise InputError(
            f"Unknown encoding {encoding!r}; name one such as utf-8, latin-1, cp1252, utf-16."
        ) from error
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = len(re.findall(rb"\r\n|\r|\n", data[:at])) + 1
        if encoding is not None:
            raise FileError(
                f"{path.name} cannot be read as {encoding} (line {line}: {error}); "
                "name its true encoding, or save it as UTF-8."
            ) from error
        raise _not_utf8(path, data, f"byte 0x{data[at]:02X} on line {line}") from error
    if "\0" in text:
        line = _line_of(text, text.index("\0"))
        likely = _likely_encoding(data)
        if likely.startswith("utf"):
            raise _not_utf8(path, data, f"a NUL byte on line {line}")
        raise FileError(
            f"{path.name}, line {line}: found a NUL byte, which text never holds; "
            "export the file again as text, or remove the byte."
        )
    if not text.strip():
        raise FileError(f"{path.name} is empty; it needs a header and at least one row.")
    return text, notes


def _not_utf8(path: Path, data: bytes, found: str) -> FileError:
    likely = _likely_encoding(data)
    return FileError(
        f"{path.name} is not UTF-8 text ({found}); it is probably {likely}: save it as UTF-8, "
        f'or say encoding = "{likely}" in a mapping file or --encoding {likely}.'
    )
