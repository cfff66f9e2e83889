"""Residuals and token scores -> sentences, saying no more than the numbers do."""

from __future__ import annotations

import pandas as pd

from biasret.datasets.base import SIGNALS
from biasret.metrics import METRICS
from biasret.sentences import ALPHA, counted, p_text, retriever_label

__all__ = ["remaining", "remaining_by", "residual", "words"]


def remaining(rows: pd.DataFrame, *, signal: str) -> str:
    """What is left of the gaps once vocabulary is held fixed, in one or two sentences.

    Parameters
    ----------
    rows
        ``residuals`` rows of one dataset, metric, depth and filter.
    """
    known = rows.dropna(subset=["p_holm"])
    if known.empty:
        return "What vocabulary accounts for could not be computed here; the table says why."
    first = known.iloc[0]
    name = METRICS[first["metric"]].title(None if pd.isna(first["k"]) else int(first["k"]))
    low, high = known["residual"].min(), known["residual"].max()
    m = len(known)
    spread = f"{low:+.3f}" if m == 1 else f"between {low:+.3f} and {high:+.3f}"
    contrast = f"{name}, {first['minuend']} minus {first['subtrahend']}: {spread}"
    found = known[known["p_holm"] < ALPHA]
    up, down = int((found["residual"] > 0).sum()), int((found["residual"] < 0).sum())
    tested = known.dropna(subset=["gap_p_holm"])
    before = ""
    if len(tested) == m:
        n_before = int((tested["gap_p_holm"] < ALPHA).sum())
        before = f"; before, {n_before} did"
    if up == down == 0:
        return (
            f"Once vocabulary is accounted for, none of {counted(m, 'retriever')} shows a gap "
            f"that can be told from chance ({contrast}){before}. This is not evidence that "
            "there is none."
        )
    if down == 0:
        record = SIGNALS[signal]
        is_own = (first["minuend"], first["subtrahend"]) == (record.minuend, record.subtrahend)
        means = f": {record.positive}" if is_own else ""
        way = f"still show the gap looked for{means}"
        way = way.replace("still show", "still shows") if up == 1 else way
    elif up == 0:
        way = "show a gap in the opposite direction of the one looked for"
    else:
        way = f"show a gap, {up} in the direction looked for and {down} against it"
    return (
        f"Once vocabulary is accounted for, {up + down} of {counted(m, 'retriever')} {way} "
        f"({contrast}){before}."
    )


def remaining_by(rows: pd.DataFrame, by: str, labels: dict[str, str]) -> str:
    """How many retrievers show a gap beyond vocabulary in each of several datasets.

    Parameters
    ----------
    rows
        ``residuals`` rows.
    by, labels
        The column that tells them apart, and what each of its values is called.
    """
    parts = []
    for value, label in labels.items():
        of = rows[rows[by].astype("str") == value].dropna(subset=["residual"])
        if of.empty:
            parts.append(f"{label}: nothing computed")
            continue
        found = int((of["p_holm"] < ALPHA).sum())
        span = f"{of['residual'].min():+.3f} to {of['residual'].max():+.3f}"
        parts.append(f"{label}: {found} of {counted(len(of), 'retriever')}, {span}")
    return f"Gaps that can be told from chance at equal vocabulary: {'; '.join(parts)}."


def residual(row: pd.Series) -> str:
    """One retriever's gap, what remains of it, and what vocabulary accounts for."""
    who = retriever_label(row["retriever"])
    gap = "no gap" if pd.isna(row["gap"]) else f"{row['gap']:+.3f}"
    if pd.isna(row["residual"]):
        why = f": {row['note']}" if isinstance(row["note"], str) else ""
        return f"{who}: {gap} before; what remains could not be computed{why}."
    parts = ["no interval"]
    if not pd.isna(row["residual_low"]):
        parts = [f"95% interval {row['residual_low']:+.3f} to {row['residual_high']:+.3f}"]
    if pd.isna(row["p_value"]):
        parts.append("no p-value")
    else:
        p = f"p {p_text(row['p_value'])}"
        is_raised = not pd.isna(row["p_holm"]) and row["p_holm"] > row["p_value"]
        parts.append(f"{p}, {p_text(row['p_holm'])} after Holm" if is_raised else p)
    parts.append(
        counted(row["n"], "pair")
        if row["design"] == "paired"
        else f"{row['n_minuend']:,} {row['minuend']} and {row['n_subtrahend']:,} "
        f"{row['subtrahend']}"
    )
    return (
        f"{who}: {gap} before, {row['residual']:+.3f} beyond vocabulary ({'; '.join(parts)}). "
        f"{_share(row)}"
    )


def _share(row: pd.Series) -> str:
    """How much of a gap vocabulary accounts for, where that can be said."""
    part = row["contribution"]
    if pd.isna(part) or pd.isna(row["gap"]):
        return "What vocabulary accounts for could not be computed."
    told = f"Vocabulary accounts for {part:+.3f}"
    if pd.isna(row["gap_p_holm"]) or row["gap_p_holm"] >= ALPHA or row["gap"] == 0:
        return f"{told}; no share is stated of a gap that is not told from chance."
    share = part / row["gap"]
    if share < 0:
        return f"{told}, against the gap: at equal vocabulary it is larger."
    if share > 1:
        return f"{told}, more than the whole gap."
    return f"{told}, {share:.0%} of the gap."


def words(tokens: pd.DataFrame, *, n_tokens: int) -> str:
    """Which words carry the signal.

    Parameters
    ----------
    tokens
        ``token_scores`` rows of one contrast, as `biasret.lexical.strongest` picks them.
    n_tokens
        Size of the whole vocabulary.
    """
    if tokens.empty:
        return "No word points to either group."
    first = tokens.iloc[0]
    up = tokens.loc[tokens["zeta"] > 0, "token"].head(3).tolist()
    down = tokens.loc[tokens["zeta"] < 0, "token"].tail(3).tolist()[::-1]
    sides = [
        f"to {group}: {', '.join(found)}" if found else f"none to {group}"
        for group, found in ((first["minuend"], up), (first["subtrahend"], down))
    ]
    return f"Of {counted(n_tokens, 'different word')}, these point most {'; '.join(sides)}."
