"""The paper's own numbers as tables.

Three tables are shipped, made by `build` from a folder of source files:

``published``
    One number a row: ``exhibit``, ``dataset``, ``retriever`` (missing where the number is
    of none), ``item`` (which of several: group, filter, pairing or row; missing where
    there is one), ``quantity``, ``value`` (NaN where what is printed is no number),
    ``text`` (as printed on the page, with its trailing zeros; from the release only what
    is no number), ``unit``, ``sign`` (what a positive value means; missing where it
    compares nothing), ``source`` (``paper`` as printed, ``release`` in full precision).
``ranks``
    ``dataset``, ``query_id``, ``variant`` (``aal_real``, ``trans_aal``, ``wme_real``),
    ``retriever``, ``rank`` of the credited gold answer in the full ranking, from 1.
``probe_scores``
    ``dataset``, ``probe``, ``retriever``, ``split_type``, ``split``, ``layer`` (missing
    for the baseline), ``accuracy``, ``f1``, ``nce`` (nats, not above 0).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasret.errors import FileError, UnknownName
from biasret.published.exhibits import EXHIBITS, Exhibit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXHIBITS", "FOLDER", "TABLES", "Exhibit", "build", "load"]

#: Where the shipped tables are.
FOLDER = Path(__file__).resolve().parents[2] / "precomputed" / "published"

TABLES = ("published", "ranks", "probe_scores")


def load(table: str = "published", *, folder: Path = FOLDER) -> pd.DataFrame:
    """One of the shipped tables.

    Parameters
    ----------
    table
        A name of `TABLES`.
    folder
        Where the Parquet files are.

    Returns
    -------
    pandas.DataFrame
        Columns as in the module's docstring.

    Raises
    ------
    UnknownName
        No such table.
    FileError
        Its file is missing.

    Examples
    --------
    >>> published = load()
    >>> row = published.query("exhibit == 'table12' and retriever == 'bm25'"
    ...                       " and quantity == 'gap' and source == 'paper'")
    >>> row.text.item(), row.value.item(), row.sign.item()
    ('0.040', 0.04, 'WME - AAL')
    """
    import pandas as pd

    if table not in TABLES:
        raise UnknownName("published table", table, TABLES)
    path = Path(folder) / f"{table}.parquet"
    if not path.is_file():
        raise FileError(f"{path} is missing. Restore precomputed/published from the release.")
    return pd.read_parquet(path)


def build(source_folder: Path, target_folder: Path = FOLDER) -> dict[str, int]:
    """Make the shipped tables from the source files.

    Parameters
    ----------
    source_folder
        Holds the files named in `EXHIBITS`, with ``repo/`` and ``per_query/``.
    target_folder
        Made if missing; files of the same name are replaced.

    Returns
    -------
    dict
        Rows written, by table.

    Raises
    ------
    FileError
        A source file is missing, or the release's files contradict the tables.
    """
    from biasret.published import sources

    tables = {
        "published": sources.numbers(Path(source_folder)),
        "ranks": sources.ranks(Path(source_folder)),
        "probe_scores": sources.probe_scores(Path(source_folder)),
    }
    target = Path(target_folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, frame in tables.items():
        frame.to_parquet(target / f"{name}.parquet", compression="zstd", index=False)
    return {name: len(frame) for name, frame in tables.items()}
