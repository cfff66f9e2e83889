"""Political exhibits recomputed from an imported release: Tables 6 to 8, Figs. 9 to 11, judges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from biasret.agreement import agree, same_story
from biasret.reproduction.imported import ImportedDataset
from biasret.statistics import (
    cluster_bootstrap_mean,
    mann_whitney,
    sign_flip,
    two_group_bootstrap,
    wilcoxon,
)

__all__ = [
    "cells",
    "figure_cells",
    "figure_groups",
    "found_relevant",
    "judges",
    "judges_by_retriever",
    "story_agreement",
    "table06",
    "table07",
    "table08",
]

GPT, QWEN = "gpt-5-mini", "Qwen3.5-35B-A3B"

#: Filters of Table 6, and what they are called here.
RULES = {"raw": "raw", "gpt": f"judge:{GPT}", "qwen": f"judge:{QWEN}", "gold": "judges"}

Rows = list[dict[str, Any]]


def cells(data: ImportedDataset, retriever: str, *, k: int, rule: str) -> pd.DataFrame:
    """Cells both of whose sides count, in order of article and frame.

    Returns
    -------
    pandas.DataFrame
        ``cluster_id``, ``frame``, ``left``, ``right`` (lean at k).
    """
    rows = data.values(retriever, "lean", k, rule)
    rows = rows[rows["group"].isin(["left", "right"])]
    wide = rows.pivot(index=["cluster_id", "frame"], columns="group", values="value")
    wide = wide.reindex(columns=["left", "right"]).dropna().reset_index()
    # As plain texts, which is the order that fixes the paper's streams.
    return wide.sort_values(["cluster_id", "frame"], key=lambda of: of.astype("object"))


def table07(data: ImportedDataset) -> Rows:
    """Right minus left at ten, cells whose two lists reach their story.

    The streams run over left minus right, as released; what they give is turned.
    """
    found = []
    for retriever in data.retrievers:
        every = cells(data, retriever, k=10, rule="raw")
        kept = cells(data, retriever, k=10, rule="same-story")
        if kept.empty:
            continue
        turned = (kept["left"] - kept["right"]).to_numpy()
        gap = cluster_bootstrap_mean(turned, clusters=kept["cluster_id"])
        found.append(
            {
                "retriever": retriever,
                "n_cells_total": len(every),
                "n_pairs": gap.n,
                "n_clusters": gap.n_clusters,
                "fraction_cells_kept": gap.n / len(every),
                "gap": _turn(gap.estimate),
                "ci_low": _turn(gap.high),
                "ci_high": _turn(gap.low),
                "p_wilcoxon": wilcoxon(turned).p_value,
                "p_signflip": sign_flip(turned).p_value,
            }
        )
    return found


def _turn(value: float | None) -> float | None:
    return None if value is None else -value


def _groups(data: ImportedDataset, retriever: str, *, k: int, rule: str) -> list[np.ndarray]:
    """Values of conservative and of liberal askers, in the release's order."""
    rows = data.values(retriever, "lean", k, rule)
    return [
        rows.loc[rows["group"] == group, "value"].to_numpy(dtype="float64")
        for group in ("conservative", "liberal")
    ]


def table06(data: ImportedDataset) -> Rows:
    """Conservative minus liberal at ten, under each relevance filter."""
    found = []
    for retriever in data.retrievers:
        for item, rule in RULES.items():
            high, low = _groups(data, retriever, k=10, rule=rule)
            if not (len(high) and len(low)):
                continue
            found.append(
                {
                    "retriever": retriever,
                    "item": item,
                    "gap": high.mean() - low.mean(),
                    "p_mannwhitney": mann_whitney(high, low).p_value,
                    "n_minuend": len(high),
                    "n_subtrahend": len(low),
                }
            )
    return found


def table08(data: ImportedDataset) -> Rows:
    """Conservative minus liberal over what both judges hold relevant among the first ten.

    One stream with seed 42 runs through the gaps of all retrievers, another through the means
    of their groups, liberal askers first.
    """
    of_gaps, of_means = np.random.default_rng(42), np.random.default_rng(42)
    found = []
    for retriever in data.retrievers:
        high, low = _groups(data, retriever, k=10, rule="judges")
        if not (len(high) and len(low)):
            continue
        gap = two_group_bootstrap(high, low, rng=of_gaps)
        mean_low = cluster_bootstrap_mean(low, rng=of_means)
        mean_high = cluster_bootstrap_mean(high, rng=of_means)
        found.append(
            {
                "retriever": retriever,
                "n_minuend": gap.n_minuend,
                "n_subtrahend": gap.n_subtrahend,
                "gap": gap.estimate,
                "ci_low": gap.low,
                "ci_high": gap.high,
                "p_mannwhitney": mann_whitney(high, low).p_value,
                "mean_minuend": mean_high.estimate,
                "mean_minuend_ci_low": mean_high.low,
                "mean_minuend_ci_high": mean_high.high,
                "mean_subtrahend": mean_low.estimate,
                "mean_subtrahend_ci_low": mean_low.low,
                "mean_subtrahend_ci_high": mean_low.high,
            }
        )
    return found


def figure_cells(data: ImportedDataset, rule: str) -> Rows:
    """Figs. 9a and 10: right minus left at ten over cells with both sides."""
    found = []
    for retriever in data.retrievers:
        both = cells(data, retriever, k=10, rule=rule)
        if both.empty:
            continue
        apart = (both["right"] - both["left"]).to_numpy()
        found.append(
            {
                "retriever": retriever,
                "gap": apart.mean(),
                "n": len(apart),
                "p_wilcoxon": wilcoxon(apart).p_value,
            }
        )
    return found


def figure_groups(data: ImportedDataset, rule: str) -> Rows:
    """Figs. 9b and 11: conservative minus liberal at ten."""
    found = []
    for retriever in data.retrievers:
        high, low = _groups(data, retriever, k=10, rule=rule)
        if not (len(high) and len(low)):
            continue
        found.append(
            {
                "retriever": retriever,
                "gap": high.mean() - low.mean(),
                "n": len(high) + len(low),
                "p_mannwhitney": mann_whitney(high, low).p_value,
            }
        )
    return found


# -- judges --------------------------------------------------------------------------------


def _pairs(data: ImportedDataset) -> pd.DataFrame:
    """Pairs that both judges graded: ``query_id``, ``doc_id``, ``gpt``, ``qwen`` (bool)."""
    qrels = data.folder.read("qrels", data.name)
    wide = qrels.pivot(index=["query_id", "doc_id"], columns="judge", values="grade")
    wide = wide.reindex(columns=[GPT, QWEN]).dropna() >= 1
    return wide.rename(columns={GPT: "gpt", QWEN: "qwen"}).reset_index()


def _agreement(pairs: pd.DataFrame) -> dict[str, float | None]:
    found = agree(pairs["gpt"].to_numpy(), pairs["qwen"].to_numpy())
    return {
        "n_pairs": found.n_pairs,
        "kappa": found.kappa,
        "raw_agreement": found.raw_agreement,
        "relevant_rate_gpt": found.rate_first,
        "relevant_rate_qwen": found.rate_second,
        "relevant_rate_both": found.rate_both,
    }


def judges(data: ImportedDataset) -> Rows:
    """Appendix F: how far the two judges agree."""
    pairs = _pairs(data)
    if pairs.empty:
        return []
    both = pairs["gpt"] & pairs["qwen"]
    group = pairs["query_id"].map(data.queries.set_index("query_id")["group"])
    kappas = {
        f"kappa_{name}": _agreement(pairs[group == name])["kappa"]
        for name in ("liberal", "conservative")
        if (group == name).any()
    }
    return [
        {
            **_agreement(pairs),
            **kappas,
            "n_queries": pairs["query_id"].nunique(),
            "n_gold": int(both.sum()),
            "recall_gpt_vs_qwen_gold": both.sum() / pairs["qwen"].sum(),
            "recall_qwen_vs_gpt_gold": both.sum() / pairs["gpt"].sum(),
        }
    ]


def judges_by_retriever(data: ImportedDataset) -> Rows:
    """Appendix F: how far they agree on each retriever's first ten."""
    pairs = _pairs(data)
    found = []
    listed = data.folder.retrievers("runs", data.name)
    for retriever in data.retrievers:
        if retriever not in listed:
            continue
        of = _top(data, retriever).merge(pairs)
        if len(of):
            found.append({"retriever": retriever, **_agreement(of)})
    return found


def found_relevant(data: ImportedDataset) -> float | None:
    """Share of judged lists, over all retrievers, with a document both judges call relevant.

    Returns
    -------
    float or None
        None where no list was judged by both.
    """
    pairs = _pairs(data)
    if pairs.empty:
        return None
    listed = data.folder.retrievers("runs", data.name)
    held = [
        _top(data, retriever)
        .merge(pairs.assign(gold=pairs["gpt"] & pairs["qwen"]), how="left")
        .fillna({"gold": False})
        .groupby("query_id")["gold"]
        .any()
        for retriever in data.retrievers
        if retriever in listed
    ]
    every = pd.concat(held) if held else pd.Series(dtype="bool")
    every = every[every.index.isin(pairs["query_id"])]
    return float(every.mean()) if len(every) else None


def _top(data: ImportedDataset, retriever: str) -> pd.DataFrame:
    run = data.folder.read("runs", data.name, retriever)
    return run.loc[run["rank"] <= 10, ["query_id", "doc_id"]]


def story_agreement(data: ImportedDataset) -> tuple[int, float | None] | None:
    """How many pairs both judges graded, and Cohen's kappa of gold with being of the story.

    A pair is gold if both judges call it relevant, and of the story if query and document come
    from one round-up. None without judged pairs, or where no document's story is known.
    """
    pairs = _pairs(data)
    documents = data.folder.read("documents", data.name)
    if pairs.empty or documents["story_id"].isna().all():
        return None
    same = same_story(pairs, data.queries, documents)
    return len(pairs), agree((pairs["gpt"] & pairs["qwen"]).to_numpy(), same.to_numpy()).kappa
