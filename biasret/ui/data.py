"""What went into a dataset, and what was left out of its gaps."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret import inventory, sentences
from biasret.charts.lengths import length_histogram, lengths_alt
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.filters import filter_named
from biasret.ui import reads
from biasret.ui.judges import judging
from biasret.ui.pages import about_dataset, markdown_safe, save, show
from biasret.ui.pairing import overlaps, pairs

__all__ = ["MEASURED", "PARTS", "contents", "dropped"]

#: The parts of the page, in the order of its question.
PARTS = {
    "contents": "what went in",
    "dropped": "what was dropped",
    "judges": "who judged",
    "pairs": "how questions are paired",
    "overlap": "how alike retrievers rank",
}


def contents(record: DatasetRecord) -> None:
    """The dataset's record, its counts, the length of its queries, and which texts were cut."""
    about_dataset(record)
    _record(record)
    queries = reads.rows("queries", record.name)
    st.subheader("Documents and queries")
    left, right = st.columns([2, 3])
    with left:
        stances = inventory.stances(reads.documents(record.name))
        st.table(stances.style.format({"share": "{:.1%}", "n_documents": "{:,}"}))
    with right:
        groups = inventory.groups(queries, record)
        st.table(groups.style.format({n: "{:,}" for n in groups.columns if n.startswith("n_")}))
    st.subheader("How long are the queries?")
    known = inventory.with_lengths(queries, reads.rows("query_values", record.name))
    if len(known) < len(queries):
        st.info(
            f"The length of {len(queries) - len(known):,} of {len(queries):,} queries is not "
            "known, because their texts are not stored.",
            icon=":material/visibility_off:",
        )
    if not known.empty:
        _lengths(record, known)
    _cut(record)


def _lengths(record: DatasetRecord, queries: pd.DataFrame) -> None:
    lengths = inventory.lengths(queries, record)
    counts = inventory.length_counts(queries, record)
    show(
        length_histogram(counts, lengths),
        lengths,
        name="data-lengths",
        sentence=inventory.length_sentence(lengths, record),
        alt=lengths_alt(lengths),
        about=_about(record, "length of queries in characters (Unicode code points), as stored"),
    )


def _about(record: DatasetRecord, what: str) -> dict[str, str]:
    return {
        "dataset": record.name,
        "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
        "shown": what,
    }


def _record(record: DatasetRecord) -> None:
    compared = "nothing: it labels no groups"
    if record.minuend is not None:
        design = "the same cell in both wordings" if record.is_paired else "different people"
        compared = f"{record.minuend} minus {record.subtrahend}, {design}"
    rows = {
        "label": record.label,
        "signal": SIGNALS[record.signal].label,
        "compared": compared,
        "texts": "made up to show how things work" if record.is_illustrative else "brought in",
        "source": record.source or "not said",
        "licence and terms": record.licence or "not said; ask whoever holds the texts",
        "imported on": record.imported or "not said",
    }
    if record.is_illustrative:
        del rows["imported on"]
    st.table({name: markdown_safe(value) for name, value in rows.items()})


def _cut(record: DatasetRecord) -> None:
    st.subheader("Were texts cut?")
    found = reads.asked("cut", record.name)
    if found.empty:
        st.info(
            "No model with a limit has read this dataset yet; BM25 reads every word.",
            icon=":material/info:",
        )
        return
    table = reads.in_order(inventory.share_of(found, "n_cut", record=record))
    table["group"] = table["group"].where(table["kind"] == "query", "all documents")
    table["limit"] = table["retriever"].map(sentences.reading_limit)
    table["retriever"] = table["retriever"].map(sentences.retriever_label)
    models = table["retriever"].drop_duplicates().tolist()
    cut = table[table["n_cut"] > 0]
    if cut.empty:
        st.markdown(
            f"**No text was cut: every one fits what {markdown_safe(', '.join(models))} read.**"
        )
        return
    who = cut["retriever"].drop_duplicates().tolist()
    st.markdown(
        f"**{len(who)} of {len(models)} models saw only the beginning of some texts: "
        f"{markdown_safe(', '.join(who))}.** Where one group's texts are cut more often, part of "
        "a gap may be the limit's."
    )
    _table(record, cut, name="data-cut", what="texts longer than a model reads, by model")


def _table(record: DatasetRecord, table: pd.DataFrame, *, name: str, what: str) -> None:
    st.dataframe(
        table,
        hide_index=True,
        placeholder="—",
        key=f"table-{name}",
        alt=what,
        column_config={"share": st.column_config.NumberColumn("share", format="percent")},
    )
    save(table, name=name, about=_about(record, what))


def dropped(record: DatasetRecord) -> None:
    """Cells or queries left out of the gaps, and queries that found no document."""
    about_dataset(record)
    st.subheader("Left out of a gap")
    rows = reads.gaps(record.name)
    if rows.empty:
        st.info("No gap has been measured on this dataset yet.", icon=":material/hourglass_empty:")
    else:
        columns = ["retriever", "metric", "k", "filter", "n_pairs", "n_minuend", "n_subtrahend"]
        lost = rows.loc[rows["n_dropped"] > 0, [*columns, "n_dropped", "dropped_why"]]
        unit = "cells" if record.is_paired else "queries"
        if lost.empty:
            st.markdown(f"**All {unit} are in all {len(rows):,} gaps measured; none was dropped.**")
        else:
            worst = int(lost["n_dropped"].max())
            st.markdown(
                f"**{len(lost):,} of {len(rows):,} gaps leave {unit} out, at most {worst:,}.** "
                "A filter drops a query for each retriever apart, so retrievers may be compared "
                "on different ones."
            )
            lost["retriever"] = lost["retriever"].map(sentences.retriever_label)
            lost["filter"] = lost["filter"].map(lambda name: filter_named(name).label)
            _table(record, lost, name="data-dropped", what=f"{unit} left out of a gap, and why")
    st.subheader("Queries that found nothing")
    found = reads.asked("unmatched", record.name)
    if found.empty:
        st.info("No retriever has been run on this dataset yet.", icon=":material/database:")
        return
    table = reads.in_order(inventory.share_of(found, "n_unmatched", record=record))
    table["retriever"] = table["retriever"].map(sentences.retriever_label)
    some = table[table["n_unmatched"] > 0]
    if some.empty:
        names = ", ".join(table["retriever"].drop_duplicates())
        st.markdown(f"**Every query found a document by {markdown_safe(names)}.**")
        return
    n = int(some["n_unmatched"].sum())
    st.markdown(
        f"**{n:,} of {int(table['n'].sum()):,} rankings {'is' if n == 1 else 'are'} empty.** BM25 "
        "returns nothing for a query that shares no word with any document; its lean@k and its "
        "reciprocal rank count as 0."
    )
    _table(record, some, name="data-unmatched", what="queries without any document, by retriever")


#: What draws each part from what was measured here.
MEASURED = {
    "contents": contents,
    "dropped": dropped,
    "judges": judging,
    "pairs": pairs,
    "overlap": overlaps,
}
