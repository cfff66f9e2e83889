"""A dialect query set from any questions: WME, AAL variants, and WME translated back."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from biasret.errors import InputError, TableError
from biasret.signals.dialect.engine import drawn, plans
from biasret.signals.dialect.records import ENGINE_VERSION
from biasret.signals.dialect.wme import to_wme_many
from biasret.tables import check

__all__ = ["ORIGIN", "dialect_queries"]

#: What the origin column says of a generated wording.
ORIGIN = f"generated (dialect {ENGINE_VERSION})"


def dialect_queries(
    questions: pd.DataFrame,
    *,
    densities: Sequence[float] = (0.4,),
    seeds: Sequence[int] = (0, 1, 2),
    back: bool = True,
    profile: str = "grammar+ing",
    backend: str = "auto",
) -> pd.DataFrame:
    """The query set of an experiment: each question in WME and in generated AAL.

    Parameters
    ----------
    questions
        ``question_id`` and ``text``; optionally ``dataset`` (default ``"dialect"``),
        ``cluster_id`` (default the question) and ``origin`` (default ``"found"``).
    densities, seeds
        One AAL wording for each pair of them; one draw of all seeds at density 1, where
        every seed gives the same text. Wordings that repeat another of the same question and
        density are dropped, and so are those without an edit: both are counted in
        ``result.attrs``.
    back
        Whether each AAL wording is also translated back to WME.

    Returns
    -------
    ``queries`` table
        ``cell_id`` is the question; ``group`` is ``WME`` or ``AAL``; ``variant`` is
        ``"original"``, ``"aal d0.4 s0"`` or ``"back d0.4 s0"``. Back-translated wordings have
        the group ``back``, so that no comparison of WME and AAL takes them in unasked.
        ``attrs["n_unchanged"]`` and ``attrs["n_duplicates"]`` count AAL wordings left out.

    Raises
    ------
    TableError
        A column is missing.
    InputError
        A density outside (0, 1], or nothing to draw.
    """
    absent = [name for name in ("question_id", "text") if name not in questions.columns]
    if absent:
        raise TableError(
            f"Questions lack the column {', '.join(map(repr, absent))}; "
            f"found {', '.join(map(repr, questions.columns)) or 'none'}."
        )
    if not densities or not seeds or not all(0 < d <= 1 for d in densities):
        raise InputError(
            "Densities in (0, 1] and at least one seed are needed; found "
            f"{list(densities)} and {list(seeds)}."
        )
    asked = questions.reset_index(drop=True)
    prepared = plans(asked["text"].tolist(), profile=profile, backend=backend)
    rows: list[dict[str, object]] = []
    n_unchanged = n_duplicates = 0
    for question, plan in zip(asked.to_dict("records"), prepared, strict=True):
        rows.append(_row(question, "WME", "original", str(question["text"])))
        for density in densities:
            seen: set[str] = set()
            for seed in seeds if density < 1 else list(seeds)[:1]:
                rewrite = drawn(plan, density=density, min_edits=1, seed=seed, profile=profile)
                if not rewrite.is_changed:
                    n_unchanged += 1
                elif rewrite.target in seen:
                    n_duplicates += 1
                else:
                    seen.add(rewrite.target)
                    variant = f"aal d{density:g} s{seed}"
                    rows.append(_row(question, "AAL", variant, rewrite.target))
    if back:
        aal = [row for row in rows if row["group"] == "AAL"]
        translated = to_wme_many([str(row["text"]) for row in aal])
        rows += [_translated(row, r.target) for row, r in zip(aal, translated, strict=True)]
    table = check(pd.DataFrame(rows), "queries")
    table.attrs = {"n_unchanged": n_unchanged, "n_duplicates": n_duplicates}
    return table


def _row(question: dict[str, object], group: str, variant: str, text: str) -> dict[str, object]:
    identity = str(question["question_id"])
    origin = question.get("origin", "found") if group == "WME" else ORIGIN
    return {
        "dataset": question.get("dataset", "dialect"),
        "query_id": f"{identity} {variant}",
        "text": text,
        "signal": "dialect",
        "group": group,
        "variant": variant,
        "cell_id": identity,
        "cluster_id": question.get("cluster_id", identity),
        "origin": origin,
    }


def _translated(row: dict[str, object], text: str) -> dict[str, object]:
    variant = str(row["variant"]).replace("aal", "back", 1)
    return {
        **row,
        "query_id": f"{row['cell_id']} {variant}",
        "text": text,
        "group": "back",
        "variant": variant,
    }
