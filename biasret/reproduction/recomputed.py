"""Published results computed anew from the shipped ranks and probe scores."""

from __future__ import annotations

import numpy as np
import pandas as pd

from biasret import probes
from biasret.published.exhibits import PROBED_ROWS, RETRIEVERS
from biasret.statistics import (
    cluster_bootstrap_mean,
    mann_whitney,
    sign_flip,
    two_group_bootstrap,
    wilcoxon,
)

__all__ = [
    "RECALL_DEPTHS",
    "correct_rows_shortfall",
    "group_intervals",
    "group_means",
    "natural_gaps",
    "probe_curves",
    "recall",
    "recall_intervals",
    "translation_gaps",
]

RECALL_DEPTHS = (1, 5, 10, 20, 50, 100)


def natural_gaps(ranks: pd.DataFrame) -> pd.DataFrame:
    """Table 12: gap in mean reciprocal rank between the natural questions' groups.

    Parameters
    ----------
    ranks
        The table ``ranks`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        One row per retriever; positive gaps mean that WME ranks higher. Columns are
        quantities of exhibit ``table12``.

    References
    ----------
    Tang et al., Table 12: one stream with seed 42 runs through all retrievers.
    """
    rng = np.random.default_rng(42)
    rows = []
    for retriever in _present(ranks):
        of = ranks[ranks["retriever"] == retriever]
        wme = 1 / of.loc[of["variant"] == "wme_real", "rank"].to_numpy()
        aal = 1 / of.loc[of["variant"] == "aal_real", "rank"].to_numpy()
        gap = two_group_bootstrap(wme, aal, rng=rng)
        rows.append(
            {
                "retriever": retriever,
                "n_minuend": gap.n_minuend,
                "n_subtrahend": gap.n_subtrahend,
                "gap": gap.estimate,
                "ci_low": gap.low,
                "ci_high": gap.high,
                "p_mannwhitney": mann_whitney(wme, aal).p_value,
                "mean_minuend": wme.mean(),
                "mean_subtrahend": aal.mean(),
            }
        )
    return pd.DataFrame(rows)


def _present(ranks: pd.DataFrame) -> list[str]:
    """The retrievers that have ranks, in the paper's order."""
    there = set(ranks["retriever"])
    return [retriever for retriever in RETRIEVERS if retriever in there]


def translation_gaps(ranks: pd.DataFrame) -> pd.DataFrame:
    """Table 13: change in reciprocal rank when an AAL question is translated.

    Parameters
    ----------
    ranks
        The table ``ranks`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        One row per retriever; positive gaps mean that the translation ranks higher.
        Columns are quantities of exhibit ``table13``.

    References
    ----------
    Tang et al., Table 13: AAL rows in file order, clusters sorted as text.
    """
    rows = []
    for retriever in _present(ranks):
        of = ranks[ranks["retriever"] == retriever]
        number = of["query_id"].str.rsplit("_", n=1).str[1]
        reciprocal = (1 / of["rank"]).set_axis(number)
        original = reciprocal[(of["variant"] == "aal_real").to_numpy()]
        translated = reciprocal[(of["variant"] == "trans_aal").to_numpy()].loc[original.index]
        differences = translated.to_numpy() - original.to_numpy()
        mean = cluster_bootstrap_mean(differences, clusters=original.index)
        rows.append(
            {
                "retriever": retriever,
                "n_pairs": mean.n,
                "gap": mean.estimate,
                "ci_low": mean.low,
                "ci_high": mean.high,
                "p_wilcoxon": wilcoxon(differences).p_value,
                "p_signflip": sign_flip(differences).p_value,
                "mean_minuend": translated.mean(),
                "mean_subtrahend": original.mean(),
            }
        )
    return pd.DataFrame(rows)


def group_means(ranks: pd.DataFrame) -> pd.DataFrame:
    """Mean reciprocal rank of each variant: Figs. 3b and 19.

    Parameters
    ----------
    ranks
        The table ``ranks`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        ``retriever``, ``variant``, ``mean`` in [0, 1], ``n``.
    """
    values = ranks.assign(value=1 / ranks["rank"])
    grouped = values.groupby(["retriever", "variant"], sort=False)["value"]
    return grouped.agg(mean="mean", n="size").reset_index()


def group_intervals(ranks: pd.DataFrame) -> pd.DataFrame:
    """`group_means` with the 95% interval of each: the bars of Figs. 3b and 19.

    Parameters
    ----------
    ranks
        The table ``ranks`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        ``retriever``, ``variant``, ``mean`` in [0, 1], ``n``, ``ci_low``, ``ci_high``:
        bootstrap over questions, 5,000 resamples, seed 42 for every group.
    """
    rows = []
    for (retriever, variant), of in ranks.groupby(["retriever", "variant"], sort=False):
        mean = cluster_bootstrap_mean(1 / of["rank"].to_numpy())
        rows.append(
            {
                "retriever": retriever,
                "variant": variant,
                "mean": mean.estimate,
                "n": mean.n,
                "ci_low": mean.low,
                "ci_high": mean.high,
            }
        )
    return pd.DataFrame(rows)


def recall_intervals(ranks: pd.DataFrame) -> pd.DataFrame:
    """`recall` with Wilson's 95% interval of each share.

    Parameters
    ----------
    ranks
        The table ``ranks`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        ``retriever``, ``variant``, ``k``, ``mean``, ``n``, ``ci_low``, ``ci_high``, all but
        names and counts in [0, 1]. The release has no intervals for these curves.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    sizes = ranks.groupby(["retriever", "variant"]).size().rename("n").reset_index()
    shares = recall(ranks).merge(sizes, on=["retriever", "variant"], how="left")
    z, n, p = 1.959963984540054, shares["n"], shares["mean"]
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return shares.assign(ci_low=centre - half, ci_high=centre + half)


def recall(ranks: pd.DataFrame) -> pd.DataFrame:
    """Mean Recall@k of each variant: the curves of Figs. 17 and 18.

    Parameters
    ----------
    ranks
        The table ``ranks`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        ``retriever``, ``variant``, ``k``, ``mean``: the share of questions whose gold
        answer is among the first k.
    """
    frames = [
        ranks.assign(mean=(ranks["rank"] <= k).astype("float64"))
        .groupby(["retriever", "variant"], sort=False)["mean"]
        .mean()
        .reset_index()
        .assign(k=k)
        for k in RECALL_DEPTHS
    ]
    return pd.concat(frames, ignore_index=True)[["retriever", "variant", "k", "mean"]]


def probe_curves(probe_scores: pd.DataFrame) -> pd.DataFrame:
    """How decodable the group is, layer by layer: the curves of Fig. 4.

    Parameters
    ----------
    probe_scores
        The table ``probe_scores`` of `biasret.published`.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``retriever``, ``layer`` from 0, ``depth`` = layer over number of
        layers, ``f1`` with ``f1_low`` and ``f1_high`` (mean over splits of the probe on
        that layer alone, and 1.96 standard errors either way), ``v_information`` in nats:
        mean nce of the probe that sees the layer and the input, minus mean nce of the
        baseline that sees the input. Missing where the release has no such probe (layer 0
        of hcmagic_synth).

    References
    ----------
    Tang et al., Fig. 4; Hewitt et al. (2021), Conditional probing.
    """
    named = probe_scores.rename(columns={"probe": "kind"}).assign(split_rule="paper")
    columns = ["dataset", "retriever", "layer", "depth", "f1", "f1_low", "f1_high"]
    return probes.curves(named)[[*columns, "v_information"]]


def correct_rows_shortfall(probe_scores: pd.DataFrame) -> np.ndarray:
    """How far each accuracy is from a whole number of correctly classified rows.

    An accuracy was cut, not rounded, so the release's lies between it and one unit of its
    sixth digit more; some whole number of rows should lie between, too.

    Parameters
    ----------
    probe_scores
        The table ``probe_scores`` of `biasret.published`.

    Returns
    -------
    float64, one per row
        In rows beyond what cutting explains; 0 where a whole number fits.
    """
    of = zip(
        *(probe_scores[name] for name in ("dataset", "probe", "retriever", "split")), strict=True
    )
    tested = np.array(
        [
            (1490 if split == "1" else 1489)
            if dataset == "allsides_synth"
            else PROBED_ROWS[probe, retriever]
            for dataset, probe, retriever, split in of
        ]
    )
    cut = probe_scores["accuracy"].to_numpy() * tested
    short = np.ceil(cut - 1e-9) - cut - 1e-6 * tested
    return np.maximum(short, 0.0)
