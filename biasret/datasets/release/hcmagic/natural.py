"""Questions as patients asked them, in AAL and in WME, and translations of those in AAL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from biasret.datasets.base import Given, Loaded
from biasret.datasets.release.files import Files, refuse
from biasret.datasets.release.hcmagic.answers import Shared
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

__all__ = ["load_natural"]


def load_natural(files: Files, name: str, both: Shared) -> Loaded | None:
    """Questions as patients asked them, and translations of those in AAL; None without any."""
    notes: list[str] = []
    metrics = gold_ranks(files, "hcmagic_real_per_query_metrics.csv")
    asked, dropped = _labelled(files)
    translated = _translated(files)
    if asked.empty and not metrics:
        return None
    queries = [*asked.to_dict("records")]
    short = set(dropped["query_id"])
    for query in translated.to_dict("records"):
        if query["cell_id"] in short:
            files.left_out["translations of AAL questions that were dropped"] += 1
        else:
            queries.append(query)
    known = {str(query["query_id"]) for query in queries}
    lost = {
        query_id: variant
        for frame in metrics.values()
        for query_id, variant in zip(frame["release_id"], frame["variant"], strict=True)
        if query_id not in known
    }
    queries += [_natural(query_id, variant, "") for query_id, variant in lost.items()]
    note_unwritten(len(lost), notes)
    table = pd.DataFrame(queries)
    answers = table["answer"] if "answer" in table else pd.Series(None, index=table.index)
    gold = _gold_of_natural(table, answers, both, notes)
    judged = credited(table, gold, table["query_id"])
    table = table.drop(columns="answer", errors="ignore")
    record = record_of(
        name,
        "HealthCareMagic, natural questions (authors' release)",
        "Questions by different patients, labelled AAL or WME by a model of tweets, and each AAL "
        "question translated to WME by gpt-5-mini",
        is_paired=False,
    )
    scores = token_scores(files, "lex_residual_real_token_logodds.csv")
    loaded = assembled(record, table, judged, both, metrics, notes, scores)
    if dropped.empty:
        return loaded
    lengths = dropped.assign(dataset=name, quantity="dropped_length")
    return replace(loaded, given=_with_values(loaded.given, lengths))


def _labelled(files: Files) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The questions that are long enough, and ``query_id`` and ``value``, the length, of others."""
    name = f"{LABELLED}/hcmagic_aal_wme.csv"
    rows = files.rows(name)
    if rows is None:
        return pd.DataFrame(), pd.DataFrame(columns=["query_id", "value"])
    frame = pd.DataFrame(
        {
            "text": [text or "" for text in rows.texts("input")],
            "answer": [(answer or "").strip() for answer in rows.texts("output")],
            "dial": rows.texts("dial"),
            "idx": rows.texts("idx"),
        }
    )
    odd = frame.loc[~frame["dial"].isin(["aal", "wme"]), "dial"].fillna("")
    refuse(rows.path, odd, "have a dialect label other than aal, wme")
    length = frame["text"].str.strip().str.len()
    is_long = length >= SHORTEST
    files.left_out[f"{name}: question under {SHORTEST} characters"] += int((~is_long).sum())
    ids = "hcm_" + frame["dial"] + "_" + frame["idx"].fillna("")
    refuse(rows.path, ids[ids.duplicated()], "repeat a dialect and index")
    kept = pd.DataFrame(
        [
            {**_natural(query_id, f"{row.dial}_real", row.text), "answer": row.answer}
            for query_id, row in zip(ids[is_long], frame[is_long].itertuples(), strict=True)
        ]
    )
    dropped = pd.DataFrame({"query_id": ids[~is_long], "value": length[~is_long].astype("float64")})
    return kept, dropped


def _natural(query_id: str, variant: str, text: str) -> dict[str, object]:
    # A translation shares its cell with the question it was made from.
    cell = query_id.replace("hcm_trans_", "hcm_aal_")
    return {
        "query_id": query_id,
        "text": text,
        "group": GROUPS[variant],
        "variant": variant,
        "cell_id": cell,
        "cluster_id": cell,
        "origin": "translated by gpt-5-mini" if variant == "trans_aal" else "found",
    }


def _translated(files: Files) -> pd.DataFrame:
    rows = files.rows(f"{LABELLED}/hcmagic_aal_translated.jsonl")
    if rows is None:
        return pd.DataFrame()
    numbers = pd.Series(rows.texts("row_id"))
    is_number = numbers.fillna("").str.fullmatch(r"[0-9]+")
    refuse(rows.path, numbers[~is_number].fillna(""), "have a row_id that is no number")
    # Rows are numbered from 1 there and from 0 in the questions.
    ids = [f"hcm_trans_{int(number) - 1}" for number in numbers]
    texts = rows.texts("trans_aal")
    return pd.DataFrame(
        [
            _natural(query_id, "trans_aal", text or "")
            for query_id, text in zip(ids, texts, strict=True)
        ]
    )


def _gold_of_natural(
    table: pd.DataFrame, answers: pd.Series, both: Shared, notes: list[str]
) -> dict[str, str]:
    """One gold document a question, which is how the release credits it."""
    gold: dict[str, str] = {}
    n_unsure = 0
    answer_of = dict(zip(table["query_id"], answers, strict=True))
    for query_id, cell in zip(table["query_id"], table["cell_id"], strict=True):
        same = both.gold.get(query_id) or both.gold.get(cell) or []
        own = "hcm100k_" + str(query_id).rsplit("_", 1)[1]
        if str(query_id).startswith("hcm_wme_") and (own in same or not same):
            gold[query_id] = own
        elif same:
            n_unsure += len(same) > 1
            gold[query_id] = same[0]
        elif isinstance(answer := answer_of.get(cell), str) and (found := both.with_text(answer)):
            gold[query_id] = found
    if n_unsure:
        notes.append(
            f"{n_unsure:,} questions have several identical gold answers and the files do not say "
            "which one is credited; the first is named here. Ranks come from the release, so no "
            "number depends on it."
        )
    return gold


def _with_values(given: Sequence[Given], values: pd.DataFrame) -> tuple[Given, ...]:
    """Results with more values of queries: they are one table."""
    known = [one.frame for one in given if one.table == "query_values"]
    rest = [one for one in given if one.table != "query_values"]
    return (*rest, Given("query_values", pd.concat([*known, values], ignore_index=True)))
