"""Published numbers in words: how those computed from an import compare with them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from biasret.reproduction.release import deviation
from biasret.sentences import counted, retriever_label

__all__ = ["reproduced"]


def reproduced(rows: pd.DataFrame) -> str:
    """How numbers computed from an imported release compare with the published ones.

    Parameters
    ----------
    rows
        ``reproduced`` rows of one dataset and exhibit, at least one.
    """
    n = len(rows)
    numbers = counted(n, "number")
    if rows["agrees"].isna().all():
        return f"{numbers} computed; none is published."
    apart = deviation(rows)
    off = rows[~rows["agrees"].fillna(True).astype(bool)]
    if off.empty:
        return f"all of {numbers} agree (largest difference {apart.max():.2g})."
    # In units of what is allowed; what has no published counterpart comes first.
    furthest = (apart / rows["tolerance"])[off.index].fillna(np.inf).idxmax()
    worst = rows.loc[furthest]
    names = [worst["retriever"], worst["item"], worst["quantity"]]
    what = ", ".join(retriever_label(one) for one in names if isinstance(one, str) and one)
    published = (
        "not published" if pd.isna(worst["published"]) else f"published {worst['published']:.6g}"
    )
    return (
        f"{len(off):,} of {numbers} differ, most of all {what}: {worst['recomputed']:.6g} here, "
        f"{published}."
    )
