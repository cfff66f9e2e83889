"""The files of the authors' release: found packed or not, read whole, every fault with its line."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from biasret.datasets.compressed import PACKED, unpacked
from biasret.datasets.reading import Rows, listed, read, shown
from biasret.errors import FileError, TableError

__all__ = ["MOST", "Files", "refuse"]

#: Faulty rows that a message names.
MOST = 5


def refuse(path: Path, faults: pd.Series, what: str, *, first_line: int = 2) -> None:
    """Raise if any row is at fault, naming the first of them by line.

    Parameters
    ----------
    faults
        What was found in each faulty row, by row number from 0.
    what
        Ends the sentence that begins with how many rows there are.
    first_line
        Where row 0 stands.
    """
    if faults.empty:
        return
    first = "; ".join(
        f"line {int(row) + first_line}: {shown(found)}" for row, found in faults[:MOST].items()
    )
    more = f" and {len(faults) - MOST:,} more" if len(faults) > MOST else ""
    raise TableError(f"{path.name}: {len(faults):,} rows {what} ({first}{more}).")


class Files:
    """The release's folder, and an account of what was read from it.

    Attributes
    ----------
    absent
        Files that are not there, relative to the folder.
    left_out
        Rows that were read and not kept, by reason.
    n_read
        Rows read, by file.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise FileError(f"There is no folder {root}; name the folder that holds the release.")
        self.root = root
        self.absent: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.n_read: dict[str, int] = {}

    def find(self, name: str) -> Path | None:
        """The file of this name, packed or not; None and noted where there is none."""
        for ending in ("", *PACKED):
            path = self.root / (name + ending)
            if path.is_file():
                return path
        self.absent.append(name)
        return None

    def folders(self, name: str) -> list[str]:
        """Names of the folders in a folder, in order."""
        return sorted(path.name for path in (self.root / name).glob("*/"))

    def stems(self, name: str, *, start: str = "") -> list[str]:
        """What CSV files in a folder are called, without ending and `start`, in order."""
        found = set()
        for path in (self.root / name).glob(f"{start}*.csv*"):
            stem, _, ending = path.name.partition(".csv")
            if ending in ("", *PACKED):
                found.add(stem.removeprefix(start))
        return sorted(found)

    def rows(self, name: str) -> Rows | None:
        """A file of texts, cell by cell as it stands; None where there is none."""
        path = self.find(name)
        if path is None:
            return None
        rows = read(path)
        self.n_read[name] = len(rows.places)
        return rows

    def token_scores(self, name: str, counts: tuple[str, str], *, sign: int) -> pd.DataFrame | None:
        """A released table of log-odds, turned as ours are; None where there is none.

        Parameters
        ----------
        counts
            Columns of the minuend's and the subtrahend's counts.
        sign
            1 where the released scores are positive for the minuend, else -1.

        Returns
        -------
        pandas.DataFrame
            ``token``, ``count_minuend``, ``count_subtrahend``, ``log_odds``, ``zeta``, the
            last two positive for the minuend; in file order.
        """
        kinds = {"token": "text", **dict.fromkeys(counts, "int"), "log_odds": "float"}
        frame = self.frame(name, {**kinds, "zeta": "float"})
        if frame is None:
            return None
        path = self.find(name)
        assert path is not None
        refuse(path, frame.loc[frame["token"].duplicated(), "token"], "repeat a token")
        names = dict(zip(counts, ("count_minuend", "count_subtrahend"), strict=True))
        turned = {"log_odds": sign * frame["log_odds"], "zeta": sign * frame["zeta"]}
        return frame.rename(columns=names).assign(**turned)

    def frame(self, name: str, kinds: Mapping[str, str]) -> pd.DataFrame | None:
        """A CSV file of numbers and ids, by Arrow; None where there is none.

        Parameters
        ----------
        kinds
            Columns wanted and what each holds: ``text``, ``int`` or ``float``. Empty cells are
            missing in a column of numbers whose kind ends in ``?``, else refused.

        Raises
        ------
        FileError, TableError
            The file is damaged, lacks a column, or holds a cell of another kind; the first
            rows at fault are named by line.
        """
        path = self.find(name)
        if path is None:
            return None
        table = _arrow(path, list(kinds))
        self.n_read[name] = len(table)
        return table.assign(
            **{column: _cast(path, table[column], kind) for column, kind in kinds.items()}
        )


def _arrow(path: Path, columns: list[str]) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import csv

    data = unpacked(path)
    faults: dict[int, str] = {}

    def fault(row: object) -> str:
        number = getattr(row, "number", None) or 0
        faults[number - 2] = (
            f"{getattr(row, 'actual_columns', 0)} fields where the header has "
            f"{getattr(row, 'expected_columns', 0)}"
        )
        return "skip"

    def parsed(*, is_threaded: bool, handler: Callable[[object], str]) -> pa.Table:
        return csv.read_csv(
            io.BytesIO(data),
            read_options=csv.ReadOptions(use_threads=is_threaded),
            parse_options=csv.ParseOptions(invalid_row_handler=handler),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                include_columns=columns,
                strings_can_be_null=False,
            ),
        )

    try:
        table = parsed(is_threaded=True, handler=fault)
        if faults:
            # Only one thread knows which line a row stands on.
            faults.clear()
            parsed(is_threaded=False, handler=fault)
    except KeyError as error:
        missing = [name for name in columns if name in str(error)]
        header = data[:4096].decode("utf-8", "replace").lstrip("\ufeff").splitlines()
        raise TableError(
            f"{path.name} has no column {listed(missing)}; its header is "
            f"{shown(header[0] if header else '')}."
        ) from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise FileError(f"{path.name} cannot be read as CSV: {first}.") from error
    refuse(path, pd.Series(faults, dtype="object"), "do not fit the header")
    if not table.num_rows:
        raise FileError(f"{path.name} has a header and no rows; fetch it again.")
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise FileError(f"{path.name} holds bytes that are not UTF-8; fetch it again.") from error
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _cast(path: Path, cells: pd.Series, kind: str) -> pd.Series:
    name, is_optional = kind.removesuffix("?"), kind.endswith("?")
    is_empty = cells == ""
    if not is_optional:
        refuse(path, cells[is_empty], f"have no {cells.name}")
    if name == "text":
        return cells.where(~is_empty)
    numbers = pd.to_numeric(cells.where(~is_empty), errors="coerce").astype("float64")
    is_wrong = ~is_empty & (numbers.isna() | numbers.isin([float("inf"), float("-inf")]))
    if name == "int":
        is_wrong |= ~is_empty & (numbers % 1 != 0)
    refuse(path, cells[is_wrong], f"have a {cells.name} that is no {name}")
    if name == "int":
        return numbers.astype("Int64") if is_optional else numbers.astype("int64")
    # Python reads a decimal to the nearest float; pandas may be one unit off.
    exact = cells.where(~is_empty, "nan").map(float)
    return exact.astype("float64")
