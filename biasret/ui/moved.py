"""What the page *Query by query* draws: the cells that move most, and two stored lists."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from biasret import markup, sentences
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.filters import filter_named
from biasret.metrics import METRICS
from biasret.probe.comparison import Comparison, Side
from biasret.probe.stored import Stored, compare_stored
from biasret.retrievers import names as retriever_names
from biasret.store import ORDERS, Cells
from biasret.ui import lists, reads
from biasret.ui.pages import markdown_safe, pick, pick_filter, pick_k, save

__all__ = ["choose_cells", "list_cells", "show_cell"]

#: Cells listed at a time.
PER_PAGE = 20

CELL, PAGE = "moved_cell", "moved_page"
_ANY = ""


def choose_cells(record: DatasetRecord) -> tuple[Cells, str] | None:
    """Retriever, measure, order and filters; None, and said so, where no cell holds two groups."""
    if not record.is_paired or record.minuend is None or record.subtrahend is None:
        st.info(
            "The questions of this dataset are not paired, so no question has a counterpart to be "
            "set beside. Choose a paired dataset.",
            icon=":material/info:",
        )
        return None
    stored = reads.store().retrievers(record.name)
    names = [name for name in retriever_names() if name in stored]
    names += [name for name in stored if name not in names]
    measured = set(reads.rows("levels", record.name)["metric"])
    metrics = {name: one.label for name, one in METRICS.items() if name in measured}
    if not names or not metrics:
        st.info(
            "No retriever has been measured on this dataset yet. Run `python -m biasret build`.",
            icon=":material/database:",
        )
        return None
    labels = {name: sentences.retriever_label(name) for name in names}
    name = pick("Retriever", "moved_retriever", labels)
    what, depth, by = st.columns([2, 3, 4])
    with what:
        first = next(iter(metrics))
        metric = first if len(metrics) == 1 else pick("Metric", "moved_metric", metrics)
    with depth:
        # The lists are read this deep, whether or not the metric has a depth.
        known = [k for k in METRICS[metric].ks if k is not None] or [5, 10, 20, 50, 100]
        measured_ks = reads.depths(record.name, metric)
        ks = [k for k in known if k in measured_ks] or known
        k = pick_k("moved_k", ks, default=10 if 10 in ks else ks[0])
    with by:
        orders = {
            "difference": ORDERS["difference"].label,
            "up": f"higher for {record.minuend}",
            "down": f"higher for {record.subtrahend}",
            "overlap": ORDERS["overlap"].label,
        }
        order = pick("Most moved by", "moved_order", orders)
    rule = pick_filter("moved_filter", record, metric=metric)
    words, frame, topic, needs_gold = _narrow(record)
    cells = Cells(
        dataset=record.name,
        retriever=name,
        metric=metric,
        k=k if METRICS[metric].headline is not None else None,
        rule=rule,
        minuend=record.minuend,
        subtrahend=record.subtrahend,
        depth=k,
        words=words,
        frame=frame,
        topic=topic,
        needs_gold=needs_gold,
    )
    return cells, order


def _narrow(record: DatasetRecord) -> tuple[str, str, str, bool]:
    topics, frames = reads.topics_and_frames(record.name)
    columns = st.columns([3, 2, 2, 2], vertical_alignment="bottom")
    with columns[0]:
        words = st.text_input(
            "Words in either wording",
            key="moved_words",
            bind="query-params",
            max_chars=200,
            placeholder="for example: tax, headache",
        )
    chosen = {"frame": _ANY, "topic": _ANY}
    for column, label, options in ((columns[1], "frame", frames), (columns[2], "topic", topics)):
        if len(options) > 1:
            with column:
                chosen[label] = st.selectbox(
                    label.capitalize(),
                    [_ANY, *options],
                    format_func=lambda one: markup.visible(one).replace("_", " ") or "any",
                    key=f"moved_{label}_{record.name}",
                    bind="query-params",
                )
    needs_gold = False
    if reads.has_gold(record.name):
        with columns[3]:
            needs_gold = st.toggle(
                "Gold in the first k",
                key="moved_gold",
                bind="query-params",
                help="Only questions whose answer is among the first k for one of the wordings.",
            )
    return words or "", chosen["frame"], chosen["topic"], needs_gold


def list_cells(record: DatasetRecord, cells: Cells, order: str) -> pd.Series | None:
    """The list of cells, a page at a time, and the one chosen; None where none fits."""
    n = reads.count_moved(cells)
    if n == 0:
        st.info(
            "No question fits these filters. Take one away, or look for other words.",
            icon=":material/filter_alt_off:",
        )
        return None
    n_pages = -(-n // PER_PAGE)
    if st.session_state.get(PAGE, 1) > n_pages:
        del st.session_state[PAGE]
    place = st.container()
    page = 1
    if n_pages > 1:
        page = st.pagination(n_pages, key=PAGE, bind="query-params")
    found = reads.moved(cells, order, PER_PAGE, (page - 1) * PER_PAGE)
    with place:
        _table(found, record, cells, n, page)
    ids = found["cell_id"].tolist()
    if st.session_state.get(CELL) not in ids:
        # A choice made in another list is dropped, never moved to another row.
        st.session_state.pop(CELL, None)
    texts = dict(zip(ids, found["minuend_text"], strict=True))
    cell_id = st.selectbox(
        "Question shown below",
        ids,
        # Some sources withhold their texts; the id is what is left.
        format_func=lambda one: markup.visible(texts[one]) if texts[one].strip() else one,
        key=CELL,
        bind="query-params",
    )
    return found[found["cell_id"] == cell_id].iloc[0]


def _table(found: pd.DataFrame, record: DatasetRecord, cells: Cells, n: int, page: int) -> None:
    title = METRICS[cells.metric].title(cells.k)
    start = (page - 1) * PER_PAGE
    st.markdown(
        f"**{n:,} question{'' if n == 1 else 's'}, those that move most first; "
        f"{start + 1} to {start + len(found)} are shown.** "
        + markdown_safe(
            f"{title}: {METRICS[cells.metric].about}. Difference: {cells.minuend} minus "
            f"{cells.subtrahend}. Queries: {filter_named(cells.rule).label}."
        )
    )
    ids = found["cell_id"].tolist()
    shown = found[["difference", "minuend", "subtrahend", "overlap"]].assign(
        minuend_text=found["minuend_text"].map(markup.visible),
        subtrahend_text=found["subtrahend_text"].map(markup.visible),
        frame=found["frame"],
        topic=found["topic"],
    )
    names = {
        "minuend": f"{title} {cells.minuend}",
        "subtrahend": f"{title} {cells.subtrahend}",
        "overlap": f"overlap@{cells.depth}",
        "minuend_text": f"{cells.minuend} wording",
        "subtrahend_text": f"{cells.subtrahend} wording",
    }
    shown = shown.rename(columns=names).dropna(axis="columns", how="all")
    # Another list is another table: a row chosen in one says nothing about the next.
    digest = hashlib.sha256("\x1f".join(ids).encode("utf-8", "replace")).hexdigest()[:12]
    key = f"moved-table-{digest}"
    numbers = {
        name: st.column_config.NumberColumn(name, format="%.3f")
        for name in shown.select_dtypes("number").columns
    }
    st.dataframe(
        shown,
        hide_index=True,
        column_config=numbers,
        placeholder="—",
        key=key,
        selection_mode="single-row",
        on_select=lambda: _take(st.session_state[key]["selection"]["rows"], ids),
        alt=f"Questions of {record.label} by how far the list of {cells.retriever} moves",
    )
    save(
        found.drop(columns="n_cells"),
        name="moved",
        about={
            "dataset": record.name,
            "world": "measured here" + (" on illustrative data" if record.is_illustrative else ""),
            "retriever": cells.retriever,
            "metric": f"{title}: {METRICS[cells.metric].about}",
            "difference": f"{cells.minuend} minus {cells.subtrahend}",
            "filter": filter_named(cells.rule).about,
            "narrowed to": f"words {cells.words!r}, frame {cells.frame!r}, topic {cells.topic!r}, "
            f"gold in the first {cells.depth}: {cells.needs_gold}",
            "rows": f"{start + 1} to {start + len(found)} of {n}",
        },
    )


def _take(rows: Sequence[int], ids: Sequence[str]) -> None:
    """Show the cell of the row selected; a stable id, for a table may be sorted on screen."""
    if rows and 0 <= rows[0] < len(ids):
        st.session_state[CELL] = ids[rows[0]]


def show_cell(record: DatasetRecord, cells: Cells, row: pd.Series) -> None:
    """Both wordings of a cell, both stored lists, and the way to the Probe."""
    depth = reads.list_depth(record.name, cells.retriever)
    if depth == 0:
        _ranks_only(cells, row)
        return
    groups = (cells.subtrahend, cells.minuend)
    sides = SIGNALS[record.signal].sides
    ordered = sides if set(sides) == set(groups) else groups
    at = {cells.minuend: "minuend", cells.subtrahend: "subtrahend"}
    stored = []
    for group in ordered:
        gold = row[f"{at[group]}_gold"]
        stored.append(
            Stored(
                row[f"{at[group]}_text"],
                reads.run(record.name, cells.retriever, row[f"{at[group]}_id"]),
                None if pd.isna(gold) else int(gold),
            )
        )
    stances = reads.documents(record.name)["stance"].dropna()
    found = compare_stored(
        cells.retriever,
        *stored,
        k=min(cells.depth, depth),
        stances=stances if len(stances) else None,
    )
    st.subheader("What the retriever returned")
    if depth < cells.depth:
        st.caption(f"The stored lists hold {depth} documents at most; those are shown.")
    st.markdown(f"**{markdown_safe(sentences.comparison(found))}**")
    ids = [row["minuend_id"], row["subtrahend_id"]]
    gold = set(reads.store().gold(record.name, ids)["doc_id"])
    columns = st.columns(2)
    for column, side, name, group in zip(columns, (found.a, found.b), "AB", ordered, strict=True):
        with column:
            st.html(markup.typed(f"Wording {name}: {group}", _shown(side.text)))
            _list(side, found, record, group, gold=gold, is_b=name == "B")
    if not any(one.text.strip() for one in stored):
        return
    st.page_link(
        "pages/probe.py",
        label="Open this question in the Probe",
        icon=":material/compare_arrows:",
        query_params={
            "probe_dataset": record.name,
            "probe_a": stored[0].text,
            "probe_b": stored[1].text,
        },
    )


def _shown(text: str) -> str:
    return text if text.strip() else "(its source withholds the text)"


def _ranks_only(cells: Cells, row: pd.Series) -> None:
    """Both wordings, and where their gold answer stood, of a dataset that came without lists."""
    st.subheader("Where the retriever found the answer")
    st.info(
        "Only the rank of the gold answer came with this dataset; the lists were not released.",
        icon=":material/info:",
    )
    sides = ((cells.subtrahend, "subtrahend"), (cells.minuend, "minuend"))
    for column, name, (group, side) in zip(st.columns(2), "AB", sides, strict=True):
        with column:
            st.html(markup.typed(f"Wording {name}: {group}", _shown(row[f"{side}_text"])))
            gold = row[f"{side}_gold"]
            st.caption("No rank is known." if pd.isna(gold) else f"Gold answer at rank {gold:,.0f}")


def _list(
    side: Side,
    found: Comparison,
    record: DatasetRecord,
    group: str,
    *,
    gold: set[str],
    is_b: bool,
) -> None:
    if side.ranking.is_empty:
        st.warning(
            "No document matched this wording: none of its words occur in the documents.",
            icon=":material/search_off:",
        )
        return
    st.caption(f"{len(side.ranking.doc_ids)} documents stored{lists.measured(side, found.k)}")
    label = f"{sentences.retriever_label(found.retriever)}, {group} wording"
    rows = lists.entries(side, found, reads.documents(record.name), gold=gold, is_b=is_b)
    st.html(markup.ranking(rows, label=label))
