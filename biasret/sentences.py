"""Tables -> sentences a stakeholder can quote, saying no more than the numbers do."""

from __future__ import annotations

import pandas as pd

from biasret.datasets.base import SIGNALS
from biasret.metrics import METRICS
from biasret.probe import Comparison, Typicality
from biasret.retrievers import names, record_for

__all__ = [
    "by_split",
    "change",
    "comparison",
    "correction",
    "finding",
    "gap",
    "headline",
    "level",
    "mitigated",
    "reading_limit",
    "retriever_label",
    "reworded",
    "short_typical",
    "typical",
]

#: A gap counts as found when its Holm-corrected p lies below this.
ALPHA = 0.05


def retriever_label(name: str) -> str:
    """The label of a retriever, or its name where it has no record (an uploaded run)."""
    return record_for(name).label if name in names() else name


def reading_limit(name: str) -> str:
    """How much of a text a retriever reads."""
    limit = record_for(name).max_tokens if name in names() else None
    return "not known" if limit is None else f"{limit:,} tokens"


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
    who = "The retriever" if m == 1 else f"{n} of {m} retrievers"
    who += " shows" if n == 1 else " show"
    if n < m:
        spread += f" over all {m}"
    if down == 0:
        return f"{who} the gap looked for: {_positive(first, signal)} ({contrast}: {spread})."
    if up == 0:
        return (
            f"{who} a gap in the opposite direction of the one looked for ({contrast}: {spread})."
        )
    return (
        f"{who} a gap, {up} in the direction looked for and {down} against it "
        f"({contrast}: {spread})."
    )


def interval_against_test(gaps: pd.DataFrame) -> str | None:
    """Why stars and intervals can say different things, where they do.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset, metric, depth and filter.
    """
    known = gaps.dropna(subset=["p_holm", "ci_low", "ci_high"])
    includes_0 = (known["ci_low"] <= 0) & (known["ci_high"] >= 0)
    is_found = known["p_holm"] < ALPHA
    parts = []
    for torn, what in (
        (known[is_found & includes_0], "the test finds a difference and the interval includes 0"),
        (
            known[(known["p_value"] >= ALPHA) & ~includes_0],
            "the interval lies off 0 and the test finds nothing",
        ),
    ):
        if torn.empty:
            continue
        named = [
            retriever_label(row["retriever"])
            + (
                ""
                if pd.isna(row["p_permutation"])
                else f" (sign-flip p {p_text(row['p_permutation'])})"
            )
            for _, row in torn.iterrows()
        ]
        parts.append(f"{', '.join(named)}: {what}.")
    if not parts:
        return None
    like = ", like the sign-flip test," if known["p_permutation"].notna().any() else ""
    parts.append(
        f"The two ask different things: {known['test'].iloc[0]} goes by ranks, so that many small "
        f"differences one way count; the interval{like} is of the mean, which a few large ones "
        "decide."
    )
    return " ".join(parts)


def by_split(gaps: pd.DataFrame, by: str, labels: dict[str, str]) -> str:
    """How many retrievers show a gap under each of several filters or depths.

    Parameters
    ----------
    gaps
        ``gaps`` rows of one dataset and metric.
    by, labels
        As in `biasret.charts.gap_by`.
    """
    parts = []
    for value, label in labels.items():
        of = gaps[gaps[by].astype("str") == value].dropna(subset=["estimate"])
        if of.empty:
            parts.append(f"{label}: nothing measured")
            continue
        span = f"{of['estimate'].min():+.3f} to {of['estimate'].max():+.3f}"
        tested = of.dropna(subset=["p_holm"])
        told = f"{int((tested['p_holm'] < ALPHA).sum())} of {len(tested)} retrievers, "
        parts.append(f"{label}: {told if len(tested) else ''}{span}")
    first = gaps.iloc[0]
    tested_at_all = gaps["p_holm"].notna().any()
    head = "Gaps that can be told from chance" if tested_at_all else "Gaps"
    return f"{head} ({first['minuend']} minus {first['subtrahend']}): {'; '.join(parts)}."


def _positive(row: pd.Series, signal: str) -> str:
    """What a positive gap means; a dataset may compare other groups than its signal does."""
    record = SIGNALS[signal]
    if (row["minuend"], row["subtrahend"]) == (record.minuend, record.subtrahend):
        return record.positive
    name = METRICS[row["metric"]].title(_k(row["k"]))
    return f"{name} is higher for {row['minuend']} than for {row['subtrahend']}"


def counted(n: int, noun: str) -> str:
    """A number with its noun: ``1 pair``, ``1,791 pairs``, ``2 queries``."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else many}"


def gap(row: pd.Series) -> str:
    """One retriever's gap in words, with its interval, test and n."""
    who = retriever_label(row["retriever"])
    name = METRICS[row["metric"]].title(_k(row["k"]))
    if pd.isna(row["estimate"]):
        why = f": {row['note']}" if isinstance(row["note"], str) else ""
        return f"{who}: no gap in {name}{why}."
    if pd.isna(row["ci_low"]):
        interval = "no interval"
    else:
        interval = f"95% interval {row['ci_low']:+.3f} to {row['ci_high']:+.3f}"
    n = (
        counted(row["n_pairs"], "pair")
        if row["n_pairs"]
        else (
            f"{row['n_minuend']:,} {row['minuend']} and {row['n_subtrahend']:,} {row['subtrahend']}"
        )
    )
    p = "no p-value" if pd.isna(row["p_value"]) else f"{row['test']} p {p_text(row['p_value'])}"
    if not pd.isna(row["p_value"]) and row["p_holm"] > row["p_value"]:
        p += f", {p_text(row['p_holm'])} after Holm"
    return f"{who}: {name} differs by {row['estimate']:+.3f} ({interval}; {p}; {n})."


def mitigated(rows: pd.DataFrame) -> str:
    """What a mitigation changes over all retrievers, in one or two sentences.

    Parameters
    ----------
    rows
        ``mitigations`` rows of one mitigation, quantity, metric and depth.
    """
    known = rows.dropna(subset=["change"])
    if known.empty:
        return "No change could be computed for this choice; the table says why."
    is_gap = known["quantity"].iloc[0] == "gap"
    what = "gap" if is_gap else "quality"
    sizes = known[["before", "after"]].abs() if is_gap else known[["before", "after"]]
    found = known["p_holm"] < ALPHA
    less = int((found & (sizes["after"] < sizes["before"])).sum())
    more = int((found & (sizes["after"] > sizes["before"])).sum())
    m = len(known)
    ends = [f(known[side]) for side in ("before", "after") for f in (min, max)]
    low, high, low_after, high_after = (_level(end, is_gap) for end in ends)
    spans = f"before {low} to {high}, after {low_after} to {high_after}"
    if less + more == 0:
        return (
            f"No retriever's {what} changes so much that it can be told from chance ({spans}); "
            "this is not evidence that it stays the same."
        )
    down, up = ("shrinks", "grows") if is_gap else ("falls", "rises")
    parts = [f"{way} for {n}" for way, n in ((down, less), (up, more)) if n]
    return f"The {what} {' and '.join(parts)} of {m} retrievers, beyond chance ({spans})."


def _level(value: float, is_gap: bool) -> str:
    """A gap with its sign; a quality without one."""
    return f"{value:+.3f}" if is_gap else f"{value:.3f}"


def reworded(row: pd.Series) -> str:
    """What a mitigation changes for one retriever, with interval, test and n."""
    who = retriever_label(row["retriever"])
    if pd.isna(row["change"]):
        why = f": {row['note']}" if isinstance(row["note"], str) else ""
        return f"{who}: no change could be computed{why}."
    interval = (
        "no interval"
        if pd.isna(row["change_low"])
        else f"95% interval {row['change_low']:+.3f} to {row['change_high']:+.3f}"
    )
    p = "no p-value" if pd.isna(row["p_value"]) else f"{row['test']} p {p_text(row['p_value'])}"
    if not pd.isna(row["p_value"]) and row["p_holm"] > row["p_value"]:
        p += f", {p_text(row['p_holm'])} after Holm"
    before, after = (_level(row[side], row["quantity"] == "gap") for side in ("before", "after"))
    return (
        f"{who}: from {before} to {after}, a change of "
        f"{row['change']:+.3f} ({interval}; {p}; {counted(row['n_pairs'], 'cell')})."
    )


def level(row: pd.Series) -> str:
    """One group's mean in words."""
    who = retriever_label(row["retriever"])
    name = METRICS[row["metric"]].title(_k(row["k"]))
    n = counted(row["n"], "query")
    if pd.isna(row["mean"]):
        return f"{who}: no mean {name} over {n}."
    if pd.isna(row["ci_low"]):
        return f"{who}: mean {name} {row['mean']:.3f} over {n}, no interval."
    return (
        f"{who}: mean {name} {row['mean']:.3f} (95% interval {row['ci_low']:.3f} to "
        f"{row['ci_high']:.3f}) over {n}."
    )


def p_text(p: float) -> str:
    """A p-value as people write it: ``0.031``, ``2.9e-13``, ``1``."""
    if p >= 0.01:
        return f"{p:.3f}".rstrip("0").rstrip(".")
    if p < 1e-300:
        return "below 1e-300"
    return f"{p:.1e}" if p < 0.001 else f"{p:.4f}"


def comparison(found: Comparison) -> str:
    """What changed from wording A to wording B for one retriever."""
    k, state = found.k, found.state
    if state == "empty":
        return "No document matched either wording."
    if state == "one empty":
        name, side = ("A", found.a) if found.a.ranking.is_empty else ("B", found.b)
        if not side.text.strip():
            return f"Wording {name} is blank, so there is nothing to compare."
        return f"No document matched wording {name}, so there is nothing to compare it with."
    n_a = len(found.a.ranking.doc_ids)
    shown = counted(n_a, "document")
    if state == "identical" and n_a == 1:
        head = "Both wordings return the same single document."
    elif state == "identical":
        head = f"Both wordings return the same {shown} in the same order."
    elif state == "reordered":
        head = f"Both wordings return the same {shown}, in another order."
    else:
        head = (
            f"Among the first {k}, wording B keeps {counted(found.n_shared, 'document')}, "
            f"loses {found.n_lost} and brings {found.n_new} new."
        )
    difference = found.lean_difference
    if difference is None:
        return head
    if abs(difference) < 5e-7:
        return f"{head} lean@{k} is the same, {found.a.lean:+.2f}."
    way = "to the right" if difference > 0 else "to the left"
    return f"{head} lean@{k} moves {abs(difference):.2f} {way}."


def change(found: Comparison, groups: tuple[str, str]) -> str:
    """What matters most of a comparison, with an arrow, for a cell of a table.

    Parameters
    ----------
    groups
        What wordings A and B signal.
    """
    if found.state in ("empty", "one empty"):
        return "nothing to compare"
    if found.rr_difference is not None:
        return _gold_change(found, groups)
    difference = found.lean_difference
    if difference is None:
        n = len(found.a.ranking.doc_ids)
        return f"{found.n_shared} of {n} survive"
    if abs(difference) < 5e-7:
        return "= same lean"
    return f"{'→ right' if difference > 0 else '← left'} by {abs(difference):.2f}"


def _gold_change(found: Comparison, groups: tuple[str, str]) -> str:
    a, b = found.a.gold_rank, found.b.gold_rank
    assert a is not None
    assert b is not None
    if a == b:
        return f"= answer stays at rank {a:,}"
    way = "▼ further down" if b > a else "▲ nearer the top"
    return f"{way} for {groups[1]}: rank {a:,} to {b:,}"


def headline(found: Comparison, groups: tuple[str, str]) -> str:
    """One sentence for people who see this for the first time."""
    who = retriever_label(found.retriever)
    a, b = groups
    if found.state == "empty":
        return f"{who} finds nothing for either wording."
    if found.state == "one empty":
        return f"{who} finds nothing for one of the two wordings."
    if found.rr_difference is not None:
        ranks = (found.a.gold_rank, found.b.gold_rank)
        if ranks[0] == ranks[1]:
            return f"{who} puts the answer at rank {ranks[0]:,} for both wordings."
        return f"{who} puts the answer at rank {ranks[0]:,} for {a} and {ranks[1]:,} for {b}."
    n = len(found.a.ranking.doc_ids)
    kept = f"Of the {n} documents {who} returns for {a}, {found.n_shared} are returned for {b}"
    difference = found.lean_difference
    if difference is None:
        return f"{kept}."
    if abs(difference) < 5e-7:
        return f"{kept}; their lean is the same."
    way = "right" if difference > 0 else "left"
    return f"{kept}; the list moves {abs(difference):.2f} to the {way}."


def short_typical(found: Typicality | None) -> str:
    """`typical` for a cell of a table."""
    if found is None:
        return "—"
    return f"larger than {found.share_less:.0%} of {len(found.stored):,} pairs"


def typical(found: Typicality | None) -> str:
    """Whether a probe's change is typical for its retriever and dataset."""
    if found is None:
        return (
            "No distribution of pairs is stored for this retriever and dataset, so it cannot be "
            "said whether this change is typical."
        )
    n = len(found.stored)
    equal = f"; {found.n_equal:,} changed exactly as much" if found.n_equal else ""
    head = (
        f"{found.quantity}: {found.value:+.2f}"
        if found.value < 0
        else (f"{found.quantity}: {found.value:.2f}")
    )
    share = found.share_less
    if share >= 0.95:
        verdict = "an unusually large change"
    elif share >= 0.75:
        verdict = "a larger change than most"
    elif share + found.n_equal / n <= 0.25:
        verdict = "a smaller change than most"
    else:
        verdict = "a typical change"
    return f"{head}. This is {verdict}: {share:.0%} of the {n:,} stored pairs changed less{equal}."


def _k(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]
