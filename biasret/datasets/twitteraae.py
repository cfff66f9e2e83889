"""The count table of the twitteraae model, from its repository's files or a table.

Blodgett, Green and O'Connor (2016). The repository keeps counts and words apart:
``model_count_table.txt`` (four numbers a line) and ``model_vocab.txt`` (frequency, tab, word).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from biasret.datasets.compressed import unpacked
from biasret.datasets.decoding import decode
from biasret.datasets.reading import EXTENSIONS, shown
from biasret.errors import FileError
from biasret.signals.dialect.scoring import COMPONENTS, CountTable

__all__ = ["read_counts"]

_COUNTS, _WORDS = "model_count_table.txt", "model_vocab.txt"


def read_counts(path: Path) -> pd.DataFrame:
    """The table as a frame: ``word`` and the columns of `COMPONENTS`.

    Parameters
    ----------
    path
        The model's repository, a folder with its two files, or one CSV or Parquet file.

    Raises
    ------
    FileError, InputError
        A file is missing, or what it holds is no such table.
    """
    if not path.exists():
        raise FileError(f"There is no file or folder {path}; check the path.")
    if path.is_dir():
        found = _of_model(path)
    elif path.suffix.lower() in (".csv", ".parquet"):
        found = CountTable.read(path).frame()
    else:
        raise FileError(
            f"{path.name} is neither a folder nor one of {EXTENSIONS[0]}, {EXTENSIONS[-1]}; name "
            f"the folder that holds {_COUNTS} and {_WORDS}."
        )
    CountTable(found["word"].tolist(), found[list(COMPONENTS)].to_numpy(np.float64))
    return found


def _of_model(folder: Path) -> pd.DataFrame:
    lines = {}
    for name in (_COUNTS, _WORDS):
        files = sorted(folder.rglob(name))
        if len(files) != 1:
            found = "none" if not files else ", ".join(str(f.relative_to(folder)) for f in files)
            raise FileError(f"{folder} should hold one {name}; found {found}.")
        text, _ = decode(files[0], unpacked(files[0]), encoding=None)
        lines[name] = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if len(lines[_COUNTS]) != len(lines[_WORDS]):
        raise FileError(
            f"{_COUNTS} has {len(lines[_COUNTS]):,} lines and {_WORDS} {len(lines[_WORDS]):,}; "
            "they belong together line by line, so fetch both again."
        )
    words, counts = [], []
    for number, (numbers, entry) in enumerate(zip(lines[_COUNTS], lines[_WORDS], strict=True), 1):
        _, tab, word = entry.partition("\t")
        try:
            row = [float(part) for part in numbers.split("\t")]
        except ValueError:
            row = []
        if len(row) != len(COMPONENTS):
            raise FileError(
                f"{_COUNTS}, line {number}: found {shown(numbers)} where {len(COMPONENTS)} "
                "numbers with tabs between are needed."
            )
        if not tab or not word:
            raise FileError(f"{_WORDS}, line {number}: found {shown(entry)}, not a count and word.")
        words.append(word)
        counts.append(row)
    frame = pd.DataFrame(np.array(counts), columns=list(COMPONENTS))
    frame.insert(0, "word", words)
    return frame
