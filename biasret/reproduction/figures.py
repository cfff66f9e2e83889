"""Exhibits of an import whose published side is no summary table, or is not published at all.

Where the release gives every score or rank of a figure, the figure's numbers are computed from
those and from the import alike. Of Figs. 2a, 14, 15 and 16 nothing is published in numbers; they
are computed from the import alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasret import lexical, published
from biasret.reproduction import recomputed
from biasret.reproduction.dialectal import natural_ranks
from biasret.reproduction.imported import ImportedDataset
from biasret.reproduction.political import cells, found_relevant, story_agreement

__all__ = [
    "agreement_with_stories",
    "depth_cells",
    "depth_groups",
    "dropped_questions",
    "every_probe",
    "natural_recall",
    "published_captions",
    "published_dropped",
    "published_probes",
    "published_recall",
    "published_tokens",
    "relevant_lists",
    "rewritten_recall",
    "token_scores",
]

Rows = list[dict[str, Any]]

_LEAN_DEPTHS = (5, 10, 20, 50, 100)


# -- Table 10 ------------------------------------------------------------------------------


def dropped_questions(data: ImportedDataset) -> Rows:
    """Table 10: characters of each question dropped for being short, and how many there are."""
    lengths = data.query_values("dropped_length")
    if lengths.empty:
        return []
    rows: Rows = [{"item": query, "length": length} for query, length in lengths.items()]
    return [*rows, {"item": "", "n_questions": len(lengths)}]


def published_dropped(_: ImportedDataset, numbers: Path) -> pd.DataFrame:
    """What Table 10 says, and the count of its rows."""
    table = published.load("published", folder=numbers)
    of = table[(table["exhibit"] == "table10") & (table["quantity"] == "length")]
    count = pd.DataFrame([{"item": "", "quantity": "n_questions", "value": float(len(of))}])
    return pd.concat([of[["item", "quantity", "value"]], count], ignore_index=True)


# -- Fig. 4 --------------------------------------------------------------------------------

_SCORES = ["accuracy", "f1", "nce"]


def _probe(kind: pd.Series, layer: pd.Series, split: pd.Series) -> pd.Series:
    at = layer.astype("Int64").astype("str").where(layer.notna(), "none")
    return kind + ", layer " + at + ", split " + split.astype("str")


def every_probe(data: ImportedDataset) -> Rows:
    """Fig. 4: every score of every probe."""
    here = data.folder.given(data.name, "probe_scores")
    frames = [data.folder.read("probe_scores", data.name, retriever) for retriever in here]
    if not frames:
        return []
    scores = pd.concat(frames, ignore_index=True)
    scores["item"] = _probe(scores["kind"], scores["layer"], scores["split"])
    return scores[["retriever", "item", *_SCORES]].to_dict("records")


def published_probes(dataset: str, numbers: Path) -> pd.DataFrame:
    """The same scores as they are shipped here, cut to six or seven digits."""
    scores = published.load("probe_scores", folder=numbers)
    scores = scores[scores["dataset"] == dataset]
    scores = scores.assign(item=_probe(scores["probe"], scores["layer"], scores["split"]))
    return scores.melt(["retriever", "item"], _SCORES, var_name="quantity")


# -- Figs. 12 and 13 -----------------------------------------------------------------------

_LISTS = "{name} lists with >=1 relevant doc in top-10"


def relevant_lists(data: ImportedDataset, name: str) -> Rows:
    """Fig. 12: percent of lists that hold a document both judges call relevant."""
    share = found_relevant(data)
    return (
        [] if share is None else [{"item": "fig12 caption", _LISTS.format(name=name): 100 * share}]
    )


def agreement_with_stories(data: ImportedDataset) -> Rows:
    """Fig. 13: agreement of the judges' relevance with the document's story."""
    found = story_agreement(data)
    if found is None:
        return []
    n_pairs, kappa = found
    return [
        {
            "item": "fig13 caption",
            "judged AllSides top-10 pairs (approx.)": n_pairs,
            "LLM judge vs same-roundup gold agreement": kappa,
        }
    ]


def published_captions(_: ImportedDataset, numbers: Path) -> pd.DataFrame:
    """Single numbers of the captions."""
    table = published.load("published", folder=numbers)
    of = table[(table["exhibit"] == "scalars") & table["value"].notna()]
    return of[["item", "quantity", "value"]]


# -- Figs. 2a, 14 and 15 -------------------------------------------------------------------


def depth_cells(data: ImportedDataset) -> Rows:
    """Fig. 14, and at k = 10 the means of Fig. 2a: mean lean of either side by depth.

    Over cells whose two lists reach their story within that depth.
    """
    found: Rows = []
    for retriever in data.retrievers:
        for k in _LEAN_DEPTHS:
            both = cells(data, retriever, k=k, rule="same-story")
            if not both.empty:
                found += _sides(retriever, k, {g: both[g] for g in ("left", "right")})
    return found


def depth_groups(data: ImportedDataset) -> Rows:
    """Fig. 15: mean lean of either group by depth, unfiltered."""
    found: Rows = []
    for retriever in data.retrievers:
        for k in _LEAN_DEPTHS:
            rows = data.values(retriever, "lean", k, "raw")
            groups = {g: rows.loc[rows["group"] == g, "value"] for g in ("liberal", "conservative")}
            if all(len(of) for of in groups.values()):
                found += _sides(retriever, k, groups)
    return found


def _sides(retriever: str, k: int, groups: dict[str, pd.Series]) -> Rows:
    return [
        {"retriever": retriever, "item": f"{group}, k = {k}", "mean": of.mean(), "n": len(of)}
        for group, of in groups.items()
    ]


# -- Figs. 16 to 18 ------------------------------------------------------------------------


def _recall(ranks: pd.DataFrame) -> pd.DataFrame:
    rows = recomputed.recall(ranks)
    item = rows["variant"] + ", k = " + rows["k"].astype("str")
    return pd.DataFrame({"retriever": rows["retriever"], "item": item, "recall": rows["mean"]})


def rewritten_recall(data: ImportedDataset) -> Rows:
    """Fig. 16: recall by depth of the rewritten questions; AAL is the mean of its rewrites."""
    frames = [
        data.ranks(retriever).assign(retriever=retriever, variant=lambda rows: rows["group"])
        for retriever in data.retrievers
    ]
    ranks = pd.concat(frames) if frames else pd.DataFrame()
    return _recall(ranks).to_dict("records") if len(ranks) else []


def natural_recall(data: ImportedDataset) -> Rows:
    """Figs. 17 and 18: recall by depth of the natural questions and the translations."""
    ranks = natural_ranks(data)
    return _recall(ranks).to_dict("records") if len(ranks) else []


def published_recall(_: ImportedDataset, numbers: Path) -> pd.DataFrame:
    """The same from the ranks that are shipped here."""
    rows = _recall(published.load("ranks", folder=numbers))
    return rows.rename(columns={"recall": "value"}).assign(quantity="recall")


# -- token scores --------------------------------------------------------------------------

_COUNTS, _ODDS = ["count_minuend", "count_subtrahend"], ["log_odds", "zeta"]


def token_scores(data: ImportedDataset) -> Rows:
    """Log-odds of every token from its released counts, and the counts from the questions.

    The counts are left out where the questions are not those that they were made on: in a part of
    a release, and of the natural questions, since dropped ones were counted, too.
    """
    given = _given_tokens(data)
    if given is None:
        return []
    odds, zeta = lexical.log_odds(*(given[name].to_numpy() for name in _COUNTS))
    found = pd.DataFrame({"item": given["token"], "log_odds": odds, "zeta": zeta})
    first = given.iloc[0]
    counted = lexical.token_scores(
        data.queries, minuend=first["minuend"], subtrahend=first["subtrahend"]
    )
    totals = [frame[_COUNTS].sum().to_numpy() for frame in (counted, given)]
    if np.array_equal(*totals):
        own = counted.rename(columns={"token": "item"})[["item", *_COUNTS]]
        found = found.merge(own, on="item", how="outer")
    return found.to_dict("records")


def published_tokens(data: ImportedDataset, _: Path) -> pd.DataFrame:
    """The released scores, which came with the import."""
    given = _given_tokens(data)
    assert given is not None
    named = given.rename(columns={"token": "item"})
    return named.melt("item", [*_COUNTS, *_ODDS], var_name="quantity")


def _given_tokens(data: ImportedDataset) -> pd.DataFrame | None:
    if not data.folder.file("given_token_scores", data.name).exists():
        return None
    return data.folder.read("given_token_scores", data.name)
