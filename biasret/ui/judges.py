"""Who judged a dataset's documents, how far they agree, and what their filters do to a gap."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret import agreement, charts, sentences
from biasret.charts.judging import confusion, confusion_alt, relevant_lists
from biasret.datasets.base import DatasetRecord
from biasret.filters import filter_named
from biasret.metrics import METRICS
from biasret.ui import reads
from biasret.ui.pages import about_dataset, markdown_safe, pick, save, show

__all__ = ["judging"]

#: Depth of the lists that were pooled for judging (Tang et al., section 2.2).
POOLED = 10


def judging(record: DatasetRecord) -> None:
    """Judges and their counts, agreement, a reference, relevant documents a list, gaps."""
    about_dataset(record)
    qrels = reads.rows("qrels", record.name)
    who = agreement.judges(qrels)
    _counts(record, qrels)
    if not who:
        st.info(
            "Nobody has graded this dataset's documents one by one. To have a model judge the "
            f"first {POOLED} documents of every list: "
            f"`python -m biasret judge --dataset {record.name} --judge NAME --model M "
            "--endpoint URL`; to bring judgements in: `--from FILE`. Then run "
            "`python -m biasret build`.",
            icon=":material/gavel:",
        )
    asked = _asked(record)
    top = reads.in_order(reads.asked("top", record.name, POOLED))
    top = top[top["query_id"].isin(asked["query_id"])]
    if top.empty:
        st.info("No retriever has been run on this dataset yet.", icon=":material/database:")
        return
    if who:
        _agreement(record, qrels, who, asked, top)
    _lists(record, qrels, who, asked, top)
    if who:
        _gaps(record)


def _asked(record: DatasetRecord) -> pd.DataFrame:
    """The queries whose lists are judged: those of the groups compared."""
    queries = reads.rows("queries", record.name)
    if record.minuend is None:
        return queries
    return queries[queries["group"].isin([record.minuend, record.subtrahend])]


def _about(record: DatasetRecord, what: str) -> dict[str, str]:
    return {
        "dataset": record.name,
        "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
        "shown": what,
    }


def _counts(record: DatasetRecord, qrels: pd.DataFrame) -> None:
    st.subheader("Judgements")
    if qrels.empty:
        st.markdown("**The dataset holds no judgement.**")
        return
    by = qrels.groupby("judge")
    counts = by.agg(n_pairs=("grade", "size"), n_queries=("query_id", "nunique"))
    counts["n_relevant"] = by["grade"].agg(lambda grade: int((grade >= 1).sum()))
    counts["relevant"] = counts["n_relevant"] / counts["n_pairs"]
    table = counts.reset_index()
    runs = reads.rows("judges", record.name)
    if not runs.empty:
        table = table.merge(runs.drop(columns=["dataset", "n_pairs"]), on="judge", how="left")
    st.dataframe(
        table,
        hide_index=True,
        placeholder="—",
        key="table-data-judges",
        alt="judgements by judge",
        column_config={"relevant": st.column_config.NumberColumn("relevant", format="percent")},
    )
    save(table, name="data-judges", about=_about(record, "judgements by judge"))
    n_missing = int(table["n_missing"].fillna(0).sum()) if "n_missing" in table else 0
    if n_missing:
        st.caption(
            f"{n_missing:,} answers held no grade that could be read. They are missing, and count "
            "as not relevant under a judge's filter, but in no number of agreement."
        )


def _agreement(
    record: DatasetRecord,
    qrels: pd.DataFrame,
    who: list[str],
    asked: pd.DataFrame,
    top: pd.DataFrame,
) -> None:
    st.subheader("Agreement")
    pairs = top[["query_id", "doc_id"]].drop_duplicates()
    known = agreement.reference(pairs, asked, reads.documents(record.name).reset_index(), qrels)
    sides = {f"judge:{name}": name for name in who}
    if known is not None:
        sides["reference"] = known[0]
    if len(who) < 2:
        st.markdown(
            f"One judge, {markdown_safe(who[0])}, has graded this dataset; how far judges agree "
            "takes two."
        )
        if known is None:
            return
    first, second = "", ""
    left, right = st.columns(2)
    with left:
        first = pick("Rows", "data_first", {n: sides[n] for n in sides if n != "reference"})
    with right:
        second = pick("Columns", "data_second", {n: sides[n] for n in sides if n != first})
    table = reads.computed(
        "agreement",
        record.name,
        lambda: agreement.agreements(
            agreement.grades(qrels, sides[first]),
            known[1]
            if second == "reference" and known is not None
            else agreement.grades(qrels, sides[second]),
            queries=asked,
            top=top,
            record=record,
        ),
        first,
        second,
    )
    whole = table.iloc[0]
    if not whole["n_pairs"]:
        st.info("No pair was graded by both.", icon=":material/info:")
        return
    words = ("relevant", "not relevant")
    if second == "reference":
        words = (sides[second], f"not the {sides[second]}")
    counts = tuple(int(whole[n]) for n in ("n_both", "n_first", "n_second", "n_neither"))
    kappa = "kappa is undefined, since both gave every pair the same grade"
    if pd.notna(whole["kappa"]):
        kappa = f"kappa is {whole['kappa']:.3f}"
        if pd.notna(whole["kappa_low"]):
            kappa += f" (95% interval {whole['kappa_low']:.3f} to {whole['kappa_high']:.3f})"
    show(
        confusion(counts, first=sides[first], second=sides[second], words=words),  # type: ignore[arg-type]
        table.dropna(axis="columns", how="all"),
        name="data-agreement",
        sentence=f"{sides[first]} and {sides[second]} agree on {whole['raw_agreement']:.1%} of "
        f"{whole['n_pairs']:,} pairs; {kappa}.",
        alt=confusion_alt(counts, first=sides[first], second=sides[second]),  # type: ignore[arg-type]
        about=_about(
            record,
            f"first: {sides[first]}; second: {sides[second]}; Cohen's kappa, 95% by resampling "
            "queries, 5,000 times, seed 42",
        ),
    )
    covered = agreement.coverage(top, qrels, asked)
    covered["retriever"] = covered["retriever"].map(sentences.retriever_label)
    least = covered["share"].min()
    st.markdown(
        f"**Every list is judged to depth {POOLED}.**"
        if least == 1
        else f"**Down to {least:.1%} of a retriever's first {POOLED} documents are judged.** What "
        "was not judged counts as not relevant, so its gap under a judge's filter is uncertain."
    )
    with st.expander(f"Share of each list that was judged (judged@{POOLED})"):
        st.dataframe(covered, hide_index=True, key="table-data-coverage", alt="judged share")
        save(covered, name="data-coverage", about=_about(record, f"judged@{POOLED}"))


def _lists(
    record: DatasetRecord,
    qrels: pd.DataFrame,
    who: list[str],
    asked: pd.DataFrame,
    top: pd.DataFrame,
) -> None:
    rules = {name: agreement.grades(qrels, name) for name in who}
    if len(who) > 1:
        joined = pd.concat(rules, axis=1, join="inner")
        rules["every judge"] = joined.all(axis=1)
    pairs = top[["query_id", "doc_id"]].drop_duplicates()
    known = agreement.reference(pairs, asked, reads.documents(record.name).reset_index(), qrels)
    if known is not None:
        rules[known[0]] = known[1]
    if not rules:
        return
    st.subheader("Relevant documents in a list")
    tables, told, n_lists = {}, [], 0
    for name, relevant in rules.items():
        table = agreement.per_list(top, relevant, asked, k=POOLED)
        n, some = int(table["n_lists"].sum()), int(table["n_lists"].iloc[1:].sum())
        median = agreement.median_relevant(table)
        at = "" if median is None else f", median {median:g}"
        tables[f"{name}: {some / n:.0%} of lists{at}"] = table
        told.append(f"{some / n:.1%} by {name}")
        n_lists = n
    sentence = (
        f"Lists of {n_lists:,} whose first {POOLED} documents hold a relevant one: "
        f"{'; '.join(told)}."
    )
    shown = pd.concat(tables, names=["rule"]).reset_index("rule")
    show(
        relevant_lists(tables),
        shown,
        name="data-lists",
        sentence=sentence,
        alt=sentence,
        about=_about(record, f"relevant documents among the first {POOLED} of each list"),
    )


def _gaps(record: DatasetRecord) -> None:
    if record.signal != "lean" or record.minuend is None:
        return
    st.subheader("The gap under each filter")
    rows = reads.gaps(
        record.name,
        metric="lean",
        k=POOLED,
        minuend=record.minuend,
        subtrahend=record.subtrahend,
    )
    judged = rows["filter"].str.startswith("judge") | (rows["filter"] == "retained")
    if not judged.any():
        st.info(
            "No gap has been measured under a judge's filter yet. Run `python -m biasret build`.",
            icon=":material/hourglass_empty:",
        )
        return
    order = {name: at for at, name in enumerate(["raw", "same-story"])}
    stored = sorted(rows["filter"].unique(), key=lambda name: (order.get(name, 2), name))
    labels = {name: filter_named(name).label for name in stored}
    shown = reads.in_order(rows)
    contrast = f"{METRICS['lean'].title(POOLED)}, {record.minuend} minus {record.subtrahend}"
    sentence = sentences.by_split(shown, "filter", labels)
    columns = ["retriever", "filter", "estimate", "ci_low", "ci_high", "p_value", "p_holm", "test"]
    columns += ["n_pairs", "n_minuend", "n_subtrahend", "n_dropped", "note"]
    show(
        charts.gap_by(shown, "filter", labels),
        shown[columns].assign(filter=shown["filter"].map(labels)),
        name="data-filters",
        sentence=sentence,
        alt=sentence,
        about=_about(record, f"{contrast}, by filter"),
    )
    st.caption(
        "Intervals, tests and counts of each filter are in the table. A list without a relevant "
        "document has no value under a judge's filter, so each row compares fewer queries."
    )
