"""Are the two wordings of a cell about the same thing? Cosines of query vectors.

A gap between two wordings says something about the signal only if the wordings ask for the
same content. So the cosine of a cell's own pair is set beside that of pairs from other cells
of the same cluster (the same article under another frame) and from other clusters (Tang et
al., appendix, Fig. 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from biasret.audit import PAPER, Settings
from biasret.catalogue import Catalogue
from biasret.datasets.base import Dataset, DatasetRecord
from biasret.precomputed import Folder, Vectors
from biasret.progress import Progress, silent
from biasret.statistics import (
    cluster_bootstrap_mean,
    cluster_bootstrap_median,
    holm,
    wilcoxon_greater,
)
from biasret.tables import check

__all__ = ["SCHEMES", "Scheme", "build_pairing", "pairing", "pairing_summary"]

#: Raised when the same inputs would give other numbers.
STEP = 1


#: Cells compared with an anchor, and cells drawn to find as many in other clusters.
N_COMPARED, N_DRAWN = 5, 20


@dataclass(frozen=True)
class Scheme:
    """Which wordings are put beside an anchor's."""

    name: str
    label: str
    about: str


SCHEMES: Catalogue[Scheme] = Catalogue(
    "pairing scheme",
    [
        Scheme(
            "within_cell",
            "same cell",
            "the two wordings of one cell, which every paired gap compares",
        ),
        Scheme(
            "cross_frame",
            "same source, another cell",
            "one wording of a cell and the other wording of up to five cells of its cluster: the "
            "same article under another frame",
        ),
        Scheme(
            "cross_article",
            "another source",
            "one wording of a cell and the other wording of five cells of other clusters",
        ),
    ],
)


def pairing(
    queries: pd.DataFrame,
    record: DatasetRecord,
    vectors: Vectors,
    *,
    retriever: str,
    seed: int = 42,
) -> pd.DataFrame:
    """Cosines of each cell's wording with its counterpart and with those of other cells.

    Cells are anchors in order of first appearance. An anchor's subtrahend wording is compared
    with minuend wordings; several wordings of a group count with their mean cosine. Draws, by
    one generator: first for each anchor with siblings in its cluster min(5, siblings) of
    them, with replacement only where there are fewer than 5; then for each anchor 20 cells
    without replacement, of which the first 5 of other clusters are kept, or if fewer remain,
    5 drawn again from all cells of other clusters.

    Parameters
    ----------
    queries
        A ``queries`` table in its own order; only cells with both groups are used.
    vectors
        Unit vectors of the queries, by query_id.

    Returns
    -------
    pandas.DataFrame
        A ``pairing`` table, in order of first appearance: mean cosines in [-1, 1].
        ``cross_frame`` is missing for a cell alone in its cluster, ``cross_article`` where
        there is one cluster.

    References
    ----------
    Tang et al., released code: draw for draw.
    """
    sides = [_side(queries, group, vectors) for group in (record.subtrahend, record.minuend)]
    both = set(sides[0]) & set(sides[1])
    cells = queries.loc[queries["cell_id"].isin(both), ["cell_id", "cluster_id"]]
    cells = cells.drop_duplicates("cell_id").reset_index(drop=True)
    if cells.empty:
        return check(_columns(record.name, retriever, cells, [], [], []), "pairing")
    # float64: a cosine is exact to the last digits its float32 vectors allow.
    anchors, others = (np.stack([side[c] for c in cells["cell_id"]]) for side in sides)
    codes, _ = pd.factorize(cells["cluster_id"])
    members = {code: np.flatnonzero(codes == code) for code in np.unique(codes)}
    rng = np.random.default_rng(seed)
    within = (anchors * others).sum(axis=1)
    cross_frame = []
    for at, code in enumerate(codes):
        siblings = members[code][members[code] != at]
        if not len(siblings):
            cross_frame.append(np.nan)
            continue
        size, is_few = min(N_COMPARED, len(siblings)), len(siblings) < N_COMPARED
        drawn = rng.choice(siblings, size=size, replace=is_few)
        cross_frame.append(float((others[drawn] @ anchors[at]).mean()))
    cross_article = [
        _elsewhere(rng, codes, at, others, anchors[at]) if len(members) > 1 else np.nan
        for at in range(len(codes))
    ]
    table = _columns(record.name, retriever, cells, within, cross_frame, cross_article)
    return check(table, "pairing")


def _side(queries: pd.DataFrame, group: str | None, vectors: Vectors) -> dict[str, np.ndarray]:
    """Mean vector of a group's wordings by cell: its inner products are mean cosines."""
    at = {query_id: row for row, query_id in enumerate(vectors.ids)}
    own = queries[queries["group"] == group]
    return {
        str(cell): vectors.matrix[[at[q] for q in ids]].astype(np.float64).mean(axis=0)
        for cell, ids in own.groupby("cell_id", sort=False)["query_id"]
    }


def _elsewhere(
    rng: np.random.Generator, codes: np.ndarray, at: int, others: np.ndarray, anchor: np.ndarray
) -> float:
    drawn = rng.choice(len(codes), size=min(N_DRAWN, len(codes)), replace=False)
    kept = drawn[codes[drawn] != codes[at]][:N_COMPARED]
    if len(kept) < N_COMPARED:
        eligible = np.flatnonzero(codes != codes[at])
        kept = rng.choice(eligible, size=min(N_COMPARED, len(eligible)), replace=False)
    return float((others[kept] @ anchor).mean())


def _columns(
    dataset: str, retriever: str, cells: pd.DataFrame, within: Any, frame: Any, article: Any
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dataset": dataset,
            "retriever": retriever,
            "cell_id": cells["cell_id"],
            "within_cell": within,
            "cross_frame": frame,
            "cross_article": article,
            "has_sibling": ~np.isnan(np.asarray(frame, dtype=np.float64)),
        }
    )


def pairing_summary(
    cosines: pd.DataFrame, queries: pd.DataFrame, *, settings: Settings = PAPER
) -> pd.DataFrame:
    """Means, quartiles and tests of the cosines, for each retriever and scheme.

    Parameters
    ----------
    cosines
        A ``pairing`` table of one dataset, of any retrievers, each in order of its cells.
    queries
        The dataset's queries, for the clusters.

    Returns
    -------
    pandas.DataFrame
        A ``pairing_summary`` table. ``median_gap`` is the median of the cells' own cosine
        minus that of the scheme, with a cluster bootstrap interval; ``p_value`` is Wilcoxon's,
        one-sided: the cell's own is greater. ``p_holm`` corrects it over all retrievers and
        schemes. A scheme without cells keeps its row with n = 0.

    References
    ----------
    Tang et al., released code: clusters of the median in order of first appearance, seed 43.
    """
    cluster_of = queries.drop_duplicates("cell_id").set_index("cell_id")["cluster_id"]
    rows = []
    for (dataset, retriever), part in cosines.groupby(["dataset", "retriever"], sort=False):
        clusters = part["cell_id"].map(cluster_of).to_numpy(dtype=object)
        for scheme in SCHEMES:
            values = part[scheme].to_numpy(dtype=np.float64)
            row = _summary(part["within_cell"].to_numpy(), values, clusters, scheme, settings)
            rows.append({"dataset": dataset, "retriever": retriever, "scheme": scheme, **row})
    table = pd.DataFrame(rows)
    table["p_holm"] = np.nan
    tested = table["p_value"].notna()
    table.loc[tested, "p_holm"] = holm(table.loc[tested, "p_value"].to_numpy(dtype=np.float64))
    return check(table, "pairing_summary")


def _summary(
    within: np.ndarray, values: np.ndarray, clusters: np.ndarray, scheme: str, settings: Settings
) -> dict[str, Any]:
    known = np.isfinite(values)
    options: Any = {"resamples": settings.resamples, "level": settings.level}
    mean = cluster_bootstrap_mean(
        values[known], clusters=clusters[known], rng=settings.seed, **options
    )
    quartiles = np.percentile(values[known], [25, 50, 75]) if known.any() else [np.nan] * 3
    row = {
        "n": mean.n,
        "n_clusters": mean.n_clusters,
        "mean": mean.estimate,
        "ci_low": mean.low,
        "ci_high": mean.high,
        **dict(zip(("q1", "median", "q3"), quartiles, strict=True)),
        "note": mean.note,
        "p_value": None,
    }
    if scheme != "within_cell" and known.any():
        gaps = within[known] - values[known]
        median = cluster_bootstrap_median(
            gaps, clusters=clusters[known], rng=settings.seed + 1, **options
        )
        test = wilcoxon_greater(gaps)
        row |= {
            "median_gap": median.estimate,
            "gap_low": median.low,
            "gap_high": median.high,
            "statistic": test.statistic,
            "p_value": test.p_value,
            "test": test.test,
        }
    return row


def build_pairing(
    folder: Folder, dataset: Dataset, *, force: bool = False, progress: Progress = silent
) -> bool:
    """Cosines and summary of every retriever whose query vectors are stored and up to date.

    Cosines that were imported are summed up as they are.

    Returns
    -------
    bool
        Whether anything was made. A dataset that is not paired has neither.
    """
    record = dataset.record
    name = record.name
    if not record.is_paired or record.minuend is None:
        _remove(folder, name)
        return False
    queries = folder.content("queries", name)
    inputs: dict[str, Any] = {
        "step": STEP,
        "queries": queries,
        "groups": [record.minuend, record.subtrahend],
    }
    vectors = {}
    for retriever in folder.retrievers("embeddings", name):
        footer = folder.footer(folder.file("embeddings", name, retriever))
        if footer and footer["inputs"].get("queries") == queries:
            vectors[retriever] = {**inputs, "embeddings": footer["content_sha256"]}
    brought = {r: folder.content("pairing", name, r) for r in folder.given(name, "pairing")}
    vectors = {retriever: of for retriever, of in vectors.items() if retriever not in brought}
    summed = {**inputs, "settings": PAPER.as_dict(), "embeddings": vectors}
    if brought:
        summed["brought"] = brought
    is_current = folder.is_current("pairing_summary", name, inputs=summed) and all(
        folder.is_current("pairing", name, retriever, inputs=of)
        for retriever, of in vectors.items()
    )
    if not (vectors or brought) or (is_current and not force):
        return False
    tables = [folder.read("pairing", name, retriever) for retriever in brought]
    with progress(f"{name}: how queries are paired", len(vectors)) as advance:
        for retriever, of in vectors.items():
            if force or not folder.is_current("pairing", name, retriever, inputs=of):
                found = folder.vectors(name, retriever, "query")
                made = pairing(dataset.queries, record, found, retriever=retriever)
                folder.write("pairing", made, dataset=name, retriever=retriever, inputs=of)
            tables.append(folder.read("pairing", name, retriever))
            advance(1)
    cosines = pd.concat(tables, ignore_index=True)
    if cosines.empty:
        return False
    folder.write(
        "pairing_summary", pairing_summary(cosines, dataset.queries), dataset=name, inputs=summed
    )
    return True


def _remove(folder: Folder, dataset: str) -> None:
    """Delete what was made while the dataset was still paired."""
    folder.file("pairing_summary", dataset).unlink(missing_ok=True)
    for retriever in folder.retrievers("pairing", dataset):
        folder.file("pairing", dataset, retriever).unlink()
