"""Questions in WME, each with three AAL rewrites that were generated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from biasret.datasets.base import Loaded
from biasret.datasets.release.files import Files, refuse
from biasret.datasets.release.hcmagic.answers import DATA, Shared
from biasret.datasets.release.hcmagic.questions import (
    GROUPS,
    LABELLED,
    SHORTEST,
    assembled,
    credited,
    gold_ranks,
    note_unwritten,
    record_of,
    token_scores,
)

__all__ = ["load_rewritten"]

_REWRITES = ("aal_synth1", "aal_synth2", "aal_synth3")


def load_rewritten(files: Files, name: str, both: Shared) -> Loaded | None:
    """Questions in WME, each with three generated AAL rewrites; None where there are none."""
    notes: list[str] = []
    metrics = gold_ranks(files, "hcmagic_synth_per_query_metrics.csv")
    paired = _paired(files, notes)
    if paired is None and not metrics:
        return None
    queries = [] if paired is None else list(_wordings(paired))
    known = {query["query_id"] for query in queries}
    lost = {
        (query_id, variant): None
        for frame in metrics.values()
        for query_id, variant in zip(frame["release_id"], frame["variant"], strict=True)
        if f"{query_id}:{variant}" not in known
    }
    queries += [_wording(query_id, variant, "") for query_id, variant in lost]
    note_unwritten(len(lost), notes)
    table = pd.DataFrame(queries)
    gold = {} if paired is None else dict(zip(paired["qid"], paired["gold"], strict=True))
    gold = {**{query: ids[0] for query, ids in both.gold.items()}, **gold}
    judged = credited(table, gold, table["cell_id"])
    record = record_of(
        name,
        "HealthCareMagic, rewritten questions (authors' release)",
        "Patients' questions in WME and three AAL rewrites of each by Multi-VALUE and PhonATe; "
        "a question's AAL value is the mean over its rewrites",
        is_paired=True,
    )
    scores = token_scores(files, "lex_residual_token_logodds.csv")
    return assembled(record, table, judged, both, metrics, notes, scores)


def _paired(files: Files, notes: list[str]) -> pd.DataFrame | None:
    """Questions with their rewrites: ``qid``, ``gold`` and a column for each variant."""
    source = _source_rows(files, notes)
    rows = files.rows(f"{DATA}/synth_paired.jsonl")
    if rows is None:
        return source
    frame = pd.DataFrame(
        {
            "qid": rows.texts("qid"),
            "gold": rows.texts("gold_doc_id"),
            **{variant: rows.texts(variant) for variant in ("wme_real", *_REWRITES)},
        }
    )
    twice = frame.loc[frame["qid"].duplicated(), "qid"]
    refuse(rows.path, twice, "repeat a query id", first_line=1)
    blank = frame[["wme_real", *_REWRITES]].isna().any(axis=1)
    refuse(rows.path, frame.loc[blank, "qid"], "lack a wording", first_line=1)
    if source is not None:
        other = frame.merge(source, on="gold", suffixes=("", "_source"))
        same = np.logical_and.reduce(
            [other[v] == other[f"{v}_source"] for v in ("wme_real", *_REWRITES)]
        )
        notes.append(
            f"{int(same.sum()):,} of {len(other):,} questions have the wordings of the table they "
            "were made from."
        )
    return frame


def _source_rows(files: Files, notes: list[str]) -> pd.DataFrame | None:
    """The rows the rewrites were made in, numbered as the release numbers them.

    The rewrites are read from their own columns; the one that shows all three as a printed list
    quotes them in several ways.
    """
    name = f"{LABELLED}/hcmagic_wme_synth.csv"
    rows = files.rows(name)
    if rows is None:
        return None
    columns = {f"aal_synth{n}": f"aal_message{n}" for n in (1, 2, 3)}
    frame = pd.DataFrame(
        {
            "gold": ["hcm100k_" + (row or "") for row in rows.texts(rows.names[0])],
            "wme_real": rows.texts("input"),
            "output": rows.texts("output"),
            **{variant: rows.texts(column) for variant, column in columns.items()},
        }
    ).fillna("")
    texts = frame[["wme_real", "output", *_REWRITES]]
    is_long = (texts.apply(lambda one: one.str.strip().str.len()) >= SHORTEST).all(axis=1)
    files.left_out[f"{name}: a text under {SHORTEST} characters"] += int((~is_long).sum())
    kept = frame[is_long].reset_index(drop=True)
    return kept.assign(qid=[f"hcsynth_q_{row}" for row in kept.index]).drop(columns="output")


def _wordings(paired: pd.DataFrame) -> Iterator[dict[str, object]]:
    for row in paired.to_dict("records"):
        for variant in ("wme_real", *_REWRITES):
            yield _wording(row["qid"], variant, row[variant])


def _wording(query_id: str, variant: str, text: str) -> dict[str, object]:
    is_found = variant == "wme_real"
    return {
        "query_id": f"{query_id}:{variant}",
        "text": text,
        "group": GROUPS[variant],
        "variant": variant,
        "cell_id": query_id,
        "cluster_id": query_id,
        "origin": "found" if is_found else "rewritten by Multi-VALUE and PhonATe",
    }
