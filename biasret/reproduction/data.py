"""The paper's numbers on its data and its judges, one wide table an exhibit."""

from __future__ import annotations

import pandas as pd

from biasret import published

__all__ = [
    "length_sentence",
    "published_agreement",
    "published_confusion",
    "published_dropped",
    "published_lengths",
    "published_relevance",
    "published_retrievers",
]


def _released(exhibit: str) -> pd.DataFrame:
    numbers = published.load()
    return numbers[(numbers["exhibit"] == exhibit) & (numbers["source"] == "release")]


def _wide(rows: pd.DataFrame, keys: list[str], quantities: list[str]) -> pd.DataFrame:
    """One row a key, in the order of the release; one column a quantity."""
    order = rows[keys].drop_duplicates()
    wide = rows.pivot(index=keys, columns="quantity", values="value").reset_index()
    table = order.merge(wide, on=keys, how="left")[[*keys, *quantities]]
    for name in quantities:
        if name.startswith("n_") or name in ("min", "max"):
            table[name] = table[name].astype("Int64")
    return table.reset_index(drop=True)


def published_lengths() -> pd.DataFrame:
    """Table 4: ``dataset``, ``group``, ``n_queries``, ``median``, ``mean``, ``min``, ``max``.

    Characters, at the release's precision (means to one decimal).
    """
    rows = _released("table04").rename(columns={"item": "group"})
    return _wide(rows, ["dataset", "group"], ["n_queries", "median", "mean", "min", "max"])


def length_sentence(lengths: pd.DataFrame) -> str:
    """How the mean lengths of the two groups of each dataset compare.

    Parameters
    ----------
    lengths
        As `published_lengths` returns them: two groups a dataset.
    """
    parts = []
    for dataset, pair in lengths.groupby("dataset", sort=False):
        first, other = pair.to_dict("records")
        longer, shorter = (first, other) if first["mean"] > other["mean"] else (other, first)
        parts.append(
            f"{dataset}: {longer['group']} longer than {shorter['group']} by "
            f"{longer['mean'] - shorter['mean']:.1f}"
        )
    return f"Mean length in characters, {'; '.join(parts)}."


def published_retrievers() -> pd.DataFrame:
    """Table 5 as printed: ``retriever``, and ``text`` columns for size and checkpoint."""
    numbers = published.load()
    rows = numbers[numbers["exhibit"] == "table05"]
    order = rows["retriever"].drop_duplicates()
    wide = rows.pivot(index="retriever", columns="quantity", values="text").loc[order]
    return wide.reset_index().rename_axis(columns=None)


def published_dropped() -> pd.DataFrame:
    """Table 10: ``query``, ``length`` in characters; the release's nine rows."""
    rows = _released("table10").rename(columns={"item": "query"})
    return _wide(rows, ["query"], ["length"]).astype({"length": "int64"})


def published_agreement() -> pd.DataFrame:
    """Appendix F: agreement of the two judges over all pairs, by group, and by retriever.

    Returns
    -------
    pandas.DataFrame
        ``of`` (all pairs, a group of askers, a retriever's top 10), ``n_pairs``, ``kappa``,
        ``raw_agreement``, ``relevant_rate_gpt``, ``relevant_rate_qwen``,
        ``relevant_rate_both``, ``recall_gpt`` (of Qwen's relevant pairs), ``recall_qwen`` (of
        GPT's); missing where the release has no number.
    """
    one = _released("judges").set_index("quantity")["value"]
    rates = ["relevant_rate_gpt", "relevant_rate_qwen", "relevant_rate_both"]
    columns = ["n_pairs", "kappa", "raw_agreement", *rates]
    first = {
        "of": "all pairs",
        **one.loc[columns].to_dict(),
        "recall_gpt": one["recall_gpt_vs_qwen_gold"],
        "recall_qwen": one["recall_qwen_vs_gpt_gold"],
    }
    groups = [{"of": g, "kappa": one[f"kappa_{g}"]} for g in ("liberal", "conservative")]
    by = _wide(_released("judges_by_retriever"), ["retriever"], columns)
    table = pd.concat(
        [pd.DataFrame([first, *groups]), by.rename(columns={"retriever": "of"})],
        ignore_index=True,
    )
    return table.astype({"n_pairs": "Int64"})


def published_confusion() -> tuple[int, int, int, int]:
    """Pairs that both judges, only GPT, only Qwen, and neither hold relevant (Appendix F).

    The release has the counts of pairs and of pairs relevant to both, and each judge's rate;
    the four follow.
    """
    one = _released("judges").set_index("quantity")["value"]
    n, both = int(one["n_pairs"]), int(one["n_gold"])
    gpt, qwen = (round(n * one[f"relevant_rate_{name}"]) for name in ("gpt", "qwen"))
    return both, gpt - both, qwen - both, n - gpt - qwen + both


def published_relevance() -> pd.DataFrame:
    """What the captions of Figs. 12 and 13 say: ``where``, ``quantity``, ``printed``, ``unit``."""
    numbers = published.load()
    rows = numbers[
        (numbers["exhibit"] == "scalars") & numbers["item"].isin(["fig12 caption", "fig13 caption"])
    ]
    names = {"item": "where", "text": "printed"}
    return rows.rename(columns=names)[["where", "quantity", "printed", "unit"]].reset_index(
        drop=True
    )
