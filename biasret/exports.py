"""Tables -> files people take away, with what they show written above the numbers."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from datetime import date

import numpy as np
import pandas as pd

from biasret import __version__

__all__ = ["document", "file_name", "table_csv"]

#: A cell that begins like this is run as a formula by spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def table_csv(table: pd.DataFrame, about: Mapping[str, str]) -> bytes:
    """A table as CSV (RFC 4180, UTF-8) at full precision, under comments that say what it is.

    Parameters
    ----------
    about
        What is shown: dataset, metric, test, and so on; one ``# name: value`` line each.

    Returns
    -------
    bytes
        Text that a spreadsheet would run as a formula gets an apostrophe in front;
        numbers, negative ones too, stay numbers. Missing values are empty cells.
    """
    target = io.StringIO(newline="")
    for name, value in {**about, "software": f"biasret {__version__}"}.items():
        one_line = re.sub(r"[\r\n]+", " ", f"{name}: {value}")
        # A comma begins a new cell; with a space after it, and no quotes, it is no formula.
        inert = re.sub(r",\s*", ", ", one_line).replace('"', "'")
        target.write(f"# {inert}\r\n")
    # The writer quotes a line break in a cell only when it is part of the line's own end.
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in table.columns])
    for row in table.itertuples(index=False, name=None):
        writer.writerow([_cell(value) for value in row])
    return target.getvalue().encode("utf-8", "replace")


def document(values: Mapping[str, object]) -> bytes:
    """Plain values as one JSON document (UTF-8, escaped), with the version that made it."""
    whole = {**values, "software": f"biasret {__version__}"}
    return json.dumps(whole, allow_nan=False, indent=1).encode("ascii")


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, list | tuple | np.ndarray):
        return _cell(" ".join(map(str, value)))
    if value is None or value is pd.NA or value != value:  # NaN differs from itself
        return ""
    return repr(float(value)) if isinstance(value, float) else value


def file_name(*parts: str, suffix: str) -> str:
    """A file name that is safe everywhere: the parts as slugs, then the date.

    Examples
    --------
    >>> file_name("gaps", "a:b/c?", suffix="csv")[:10]
    'gaps-a-b-c'
    """
    slug = "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.") or "data" for part in parts)
    return f"{slug[:80]}-{date.today().isoformat()}.{suffix}"
