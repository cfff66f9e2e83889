"""Tables -> sentences a stakeholder can quote, saying no more than the numbers do."""

from __future__ import annotations

import pandas as pd

from biasret.datasets.base import SIGNALS
from biasret.metrics import METRICS
from biasret.probe import Comparison
from biasret.retrievers import RETRIEVERS

__all__ = ["comparison", "correction", "finding", "gap", "level", "retriever_label"]

#: A gap counts as found when its Holm-corrected p lies below this.
ALPHA = 0.05


def retriever_label(name: str) -> str:
    """The label of a retriever, or its name where it has no record (an uploaded run)."""
    return RETRIEVERS[name].label if name in RETRIEVERS else name


def correction(n_retrievers: int) -> str:
    """How p-values of several retrievers were corrected."""
    if n_retrievers < 2:
        return "one retriever, so no correction"
    return f"Holm correction over {n_retrievers} retrievers"


def finding(gaps: pd.DataFrame, *, signal: str) -> str:
    """What one forest chart shows, in one or two sentences.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric, depth and filter.
    """
    if gaps.empty:
        return "No gap has been measured for this choice yet."
    known = gaps.dropna(subset=["estimate"])
    if known.empty:
        return "No gap could be computed for this choice; the table says why."
    first = known.iloc[0]
    name = METRICS[first["metric"]].title(_k(first["k"]))
    contrast = f"{name}, {first['minuend']} minus {first['subtrahend']}"
    found = known[known["p_holm"] < ALPHA]
    n, m = len(found), len(known)
    low, high = known["estimate"].min(), known["estimate"].max()
    spread = f"{low:+.3f}" if m == 1 else f"between {low:+.3f} and {high:+.3f}"
    if n == 0:
        return (
            f"No retriever shows a gap that can be told from chance ({contrast}: {spread}); "
            "this is not evidence that there is none."
        )
    up, down = int((found["estimate"] > 0).sum()), int((found["estimate"] < 0).sum())
    who = f"{n} of {m} retrievers show" if m > 1 else "The retriever shows"
    if down == 0:
        return f"{who} the gap looked for: {SIGNALS[signal].positive} ({contrast}: {spread})."
    if up == 0:
        return (
            f"{who} a gap in the opposite direction of the one looked for ({contrast}: {spread})."
        )
    return (
        f"{who} a gap, {up} in the direction looked for and {down} against it "
        f"({contrast}: {spread})."
    )


def gap(row: pd.Series) -> str:
    """One retriever's gap in words, with its interval, test and n."""
    who = retriever_label(row["retriever"])
    name = METRICS[row["metric"]].title(_k(row["k"]))
    if pd.isna(row["estimate"]):
        return f"{who}: no gap in {name}. {row['note']}"
    if pd.isna(row["ci_low"]):
        interval = "no interval"
    else:
        interval = f"95% interval {row['ci_low']:+.3f} to {row['ci_high']:+.3f}"
    n = (
        f"{row['n_pairs']:,} pairs"
        if row["n_pairs"]
        else (
            f"{row['n_minuend']:,} {row['minuend']} and {row['n_subtrahend']:,} {row['subtrahend']}"
        )
    )
    p = "no p-value" if pd.isna(row["p_value"]) else f"{row['test']} p {p_text(row['p_value'])}"
    return f"{who}: {name} differs by {row['estimate']:+.3f} ({interval}; {p}; {n})."


def level(row: pd.Series) -> str:
    """One group's mean in words."""
    who = retriever_label(row["retriever"])
    name = METRICS[row["metric"]].title(_k(row["k"]))
    if pd.isna(row["ci_low"]):
        return f"{who}: mean {name} {row['mean']:.3f} over {row['n']:,} queries."
    return (
        f"{who}: mean {name} {row['mean']:.3f} (95% interval {row['ci_low']:.3f} to "
        f"{row['ci_high']:.3f}) over {row['n']:,} queries."
    )


def p_text(p: float) -> str:
    """A p-value as people write it: ``0.031``, ``2.9e-13``, ``1``."""
    if p >= 0.0095:
        return f"{p:.2f}".rstrip("0").rstrip(".")
    return f"{p:.1e}" if p < 0.001 else f"{p:.4f}"


def comparison(found: Comparison) -> str:
    """What changed from wording A to wording B for one retriever."""
    k, state = found.k, found.state
    if state == "empty":
        return "No document matched either wording."
    if state == "one empty":
        side = "A" if found.a.ranking.is_empty else "B"
        return f"No document matched wording {side}, so there is nothing to compare it with."
    n_a, n_b = len(found.a.ranking.doc_ids), len(found.b.ranking.doc_ids)
    shown = f"{n_a} documents" if n_a == n_b else f"{n_a} and {n_b} documents"
    if state == "identical":
        head = f"Both wordings return the same {shown} in the same order."
    elif state == "reordered":
        head = f"Both wordings return the same {shown}, in another order."
    else:
        head = (
            f"Of the first {k}, {found.n_shared} documents stay, {found.n_lost} go and "
            f"{found.n_new} come with wording B."
        )
    difference = found.lean_difference
    if difference is None:
        return head
    if abs(difference) < 5e-7:
        return f"{head} lean@{k} is the same, {found.a.lean:+.2f}."
    way = "to the right" if difference > 0 else "to the left"
    return f"{head} lean@{k} moves {abs(difference):.2f} {way}."


def _k(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]
