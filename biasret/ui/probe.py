"""What the Probe page draws: two wordings, every retriever's two lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import streamlit as st

from biasret import charts, markup, probe, runs, sentences
from biasret.datasets.base import SIGNALS, DatasetRecord
from biasret.errors import BiasretError
from biasret.flip import FLIPS
from biasret.ui import reads
from biasret.ui.flips import Switch, show_flip
from biasret.ui.pages import markdown_safe, plot, save

__all__ = ["MAX_TEXT", "Question", "choose_stored", "show_comparisons", "show_one", "type_wordings"]

#: Longest wording taken; far beyond what any model here reads.
MAX_TEXT = 10_000

#: Stored pairs offered at a time: long option lists freeze a page.
MAX_OFFERED = 50

TEXT_A, TEXT_B = "probe_a", "probe_b"


@dataclass(frozen=True)
class Question:
    """Two wordings, and what is known of them.

    Attributes
    ----------
    exclude, gold
        Source documents and gold of the stored question that wording A is.
    is_comparable
        Whether the step from A to B may be set beside the stored pairs: a step to a neutral
        wording, or back to WME, is another kind of step.
    """

    text_a: str
    text_b: str
    exclude: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    is_comparable: bool = True


def choose_stored(record: DatasetRecord) -> None:
    """Search the dataset's own questions and fill both wordings from one of them."""
    with st.expander("Start from a stored question", icon=":material/search:"):
        words = st.text_input(
            "Words to look for",
            key=f"probe_find_{record.name}",
            max_chars=200,
            placeholder="for example: tax, school, headache",
        )
        found = reads.store().find_cells(record.name, words or "", limit=MAX_OFFERED)
        if found.empty:
            st.caption("No stored question holds all of these words.")
            return
        texts = dict(zip(found["cell_id"], found["text"], strict=True))
        cell_id = st.selectbox(
            f"Stored questions ({len(found)} shown, {MAX_OFFERED} at most)",
            list(texts),
            format_func=lambda cell: markup.visible(texts[cell]),
            key=f"probe_pick_{record.name}",
        )
        st.button(
            "Use this question",
            on_click=_fill,
            args=(record.name, cell_id, *SIGNALS[record.signal].sides),
            key="probe_use",
            icon=":material/south:",
        )


def _fill(dataset: str, cell_id: str, first: str, second: str) -> None:
    cell = reads.store().cell(dataset, cell_id)
    by_group = dict(zip(cell["group"], cell["text"], strict=True))
    texts = cell["text"].tolist()
    st.session_state[TEXT_A] = by_group.get(first, texts[0])
    st.session_state[TEXT_B] = by_group.get(second, "")


def _write_b(switch: Switch) -> None:
    text = st.session_state.get(TEXT_A) or ""
    try:
        made = switch.write(text)
    except BiasretError as error:
        st.session_state["_flip_failed"] = str(error)
        return
    st.session_state[TEXT_B] = made.target
    st.session_state["_flipped"] = True


def type_wordings(record: DatasetRecord, switch: Switch) -> Question:
    """Two boxes for two wordings; nothing runs before the button is pressed."""
    private = st.toggle(
        "Leave my text out of the link",
        key="probe_private",
        help="The address of this page holds your choices, so that it can be shared, and your "
        "text with them. Health questions can be personal: switch this on to keep the text out.",
    )
    bind: Literal["query-params"] | None = None if private else "query-params"
    first, second = _sides(record)
    with st.form("probe_form", border=False):
        left, right = st.columns(2)
        with left:
            text_a = st.text_area(
                first, key=TEXT_A, max_chars=MAX_TEXT, bind=bind, placeholder="Type a question"
            )
        with right:
            text_b = st.text_area(
                second,
                key=TEXT_B,
                max_chars=MAX_TEXT,
                bind=bind,
                placeholder="The same question in another wording",
            )
        with st.container(horizontal=True):
            st.form_submit_button("Compare", type="primary", icon=":material/compare_arrows:")
            st.form_submit_button(
                f"Flip A into B: {FLIPS[switch.to].label}",
                icon=":material/swap_horiz:",
                on_click=_write_b,
                args=(switch,),
            )
    failed = st.session_state.pop("_flip_failed", None)
    if failed:
        st.warning(markdown_safe(failed), icon=":material/edit:")
    is_flip = show_flip(switch, text_a or "", text_b or "")
    return _question(record, text_a or "", text_b or "", switch if is_flip else None)


def _sides(record: DatasetRecord) -> tuple[str, str]:
    # A dataset may compare groups of its own; they take the places of its signal's.
    names = dict(zip(SIGNALS[record.signal].sides, "AB", strict=True))
    groups = {
        names.get(group or "", place): group
        for group, place in ((record.subtrahend, "A"), (record.minuend, "B"))
        if group is not None
    }
    shown = [
        f"Wording {place}" + (f" (for example {markdown_safe(groups[place])})" if groups else "")
        for place in "AB"
    ]
    return shown[0], shown[1]


def _question(record: DatasetRecord, text_a: str, text_b: str, flipped: Switch | None) -> Question:
    """What is known of wording A where it is a stored question.

    Its source documents and gold hold for wording B too, if that is stored in the same cell or
    was made from A by the switch: the content is the same.
    """
    is_towards_b = flipped is None or flipped.to == SIGNALS[record.signal].sides[1]
    cell_id = reads.store().find_text(record.name, text_a) if text_a.strip() else None
    if cell_id is None:
        return Question(text_a, text_b, is_comparable=is_towards_b)
    cell = reads.store().cell(record.name, cell_id)
    if text_b and flipped is None and text_b not in set(cell["text"]):
        return Question(text_a, text_b)
    exclude = {doc_id for ids in runs.excluded(cell) for doc_id in ids}
    gold = reads.store().gold(record.name, cell["query_id"].tolist())["doc_id"].tolist()
    return Question(text_a, text_b, tuple(sorted(exclude)), tuple(sorted(set(gold))), is_towards_b)


def _masked(question: Question) -> None:
    if question.exclude:
        st.caption(
            "This is a stored question: its source article is left out of every list, as it is "
            "in the measured results."
        )


def show_one(record: DatasetRecord, question: Question, names: Sequence[str], *, k: int) -> None:
    """Wording A alone, where B was left blank: nothing is compared."""
    st.info(
        "Wording B is empty, so there is nothing to compare yet: type it, or start from a stored "
        "question. The lists for wording A are shown.",
        icon=":material/edit:",
    )
    _masked(question)
    for name in names:
        st.subheader(sentences.retriever_label(name))
        try:
            found = _ask(name, record, question, k=k)
        except BiasretError as error:
            _failed(name, error)
            continue
        _notes(found.a, "A")
        _list(found.a, found, record, question, "A", moved=False)


def show_comparisons(
    record: DatasetRecord, question: Question, names: Sequence[str], *, k: int
) -> None:
    """A summary of all retrievers, then each one's two lists side by side."""
    if question.text_a == question.text_b:
        st.info(
            "Both wordings are the same text, so every retriever returns the same list twice.",
            icon=":material/equal:",
        )
    _masked(question)
    summary = st.container()
    rows = []
    for name in names:
        st.subheader(sentences.retriever_label(name))
        try:
            with st.spinner(f"Asking {sentences.retriever_label(name)}"):
                found = _ask(name, record, question, k=k)
        except BiasretError as error:
            _failed(name, error)
            continue
        rows.append(_summary(found))
        _sides_of(found, record, question)
        if question.is_comparable:
            _typical(found, record)
    if rows:
        with summary:
            table = pd.DataFrame(rows)
            st.table(table.set_index("retriever").map(_shown))
            save(
                table,
                name="probe",
                about={
                    "dataset": record.name,
                    "wording A": question.text_a,
                    "wording B": question.text_b,
                    "k": str(k),
                },
            )


def _ask(name: str, record: DatasetRecord, question: Question, *, k: int) -> probe.Comparison:
    stances = reads.documents(record.name)["stance"].dropna()
    return probe.compare(
        reads.ready_retriever(name, record.name),
        question.text_a,
        question.text_b,
        k=k,
        stances=stances if len(stances) else None,
        exclude=question.exclude,
        gold=question.gold,
    )


def _failed(name: str, error: BiasretError) -> None:
    st.error(
        markdown_safe(f"{sentences.retriever_label(name)} could not be asked. {error}"),
        icon=":material/error:",
    )


def _summary(found: probe.Comparison) -> dict[str, object]:
    row: dict[str, object] = {"retriever": sentences.retriever_label(found.retriever)}
    if found.a.lean is not None or found.b.lean is not None:
        row[f"lean@{found.k} A"] = found.a.lean
        row[f"lean@{found.k} B"] = found.b.lean
        row["B minus A"] = found.lean_difference
    if found.a.gold_rank is not None or found.b.gold_rank is not None:
        row["gold rank A"] = found.a.gold_rank
        row["gold rank B"] = found.b.gold_rank
    row["shared"] = found.n_shared
    row["lost"] = found.n_lost
    row["new"] = found.n_new
    row[f"overlap@{found.k}"] = found.overlap
    row["rank-biased overlap"] = found.rbo
    row["ms"] = round(found.milliseconds)
    return row


def _shown(value: object) -> str:
    if value is None or value is pd.NA or value != value:
        return "—"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:+.2f}" if value < 0 else f"{value:.2f}"
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _sides_of(found: probe.Comparison, record: DatasetRecord, question: Question) -> None:
    sentence = markdown_safe(sentences.comparison(found))
    messages = {
        "empty": (st.warning, ":material/search_off:"),
        "one empty": (st.warning, ":material/search_off:"),
        "identical": (st.success, ":material/equal:"),
    }
    if found.state in messages:
        show, icon = messages[found.state]
        show(sentence, icon=icon)
    else:
        st.markdown(f"**{sentence}**")
    if found.state == "empty":
        return
    left, right = st.columns(2)
    for column, side, name in ((left, found.a, "A"), (right, found.b, "B")):
        with column:
            _notes(side, name)
            _list(side, found, record, question, name, moved=name == "B")


def _typical(found: probe.Comparison, record: DatasetRecord) -> None:
    """Whether the change is typical among the stored pairs of this retriever."""
    if found.overlap is None or record.minuend is None or record.subtrahend is None:
        return
    if found.k > runs.DEPTH:
        return
    groups = {"minuend": record.minuend, "subtrahend": record.subtrahend}
    with st.expander("Is this change typical?", icon=":material/query_stats:"):
        shown = []
        if found.lean_difference is not None:
            stored = reads.differences(record.name, found.retriever, found.k, **groups)
            name = f"lean@{found.k}, B minus A"
            shown.append((name, found.lean_difference, stored, 0.0))
        stored = reads.overlaps(record.name, found.retriever, found.k, **groups)
        shown.append((f"overlap@{found.k}", found.overlap, stored, 1.0))
        for name, value, stored, rest in shown:
            placed = probe.typicality(name, value, stored, rest=rest)
            sentence = sentences.typical(placed)
            st.markdown(markdown_safe(sentence))
            if placed is not None:
                plot(
                    charts.strip(placed.stored, placed.value, title=name),
                    key=f"strip-{found.retriever}-{name}",
                    alt=sentence,
                )
        st.caption(
            markdown_safe(
                f"Stored pairs: {record.minuend} against {record.subtrahend} wordings of "
                f"{record.label}."
            )
        )


def _notes(side: probe.Side, name: str) -> None:
    if side.is_truncated:
        st.caption(
            f"Wording {name} was cut: {side.max_tokens} of its {side.n_tokens:,} tokens were read."
        )
    if side.ranking.is_tied_at_cut:
        st.caption(
            f"Wording {name}: documents beyond the last one shown have the same score; "
            "the document id decided."
        )


def _list(
    side: probe.Side,
    found: probe.Comparison,
    record: DatasetRecord,
    question: Question,
    name: str,
    *,
    moved: bool,
) -> None:
    if side.ranking.is_empty:
        st.warning(
            f"No document matched wording {name}: none of its words occur in the documents.",
            icon=":material/search_off:",
        )
        return
    lean = "" if side.lean is None else f"; lean@{found.k} {side.lean:+.2f}"
    st.caption(f"Wording {name}: {len(side.ranking.doc_ids)} documents{lean}")
    rows = _entries(side, found, record.name, gold=question.gold, moved=moved)
    label = f"{sentences.retriever_label(found.retriever)}, wording {name}"
    st.html(markup.ranking(rows, label=label))


def _entries(
    side: probe.Side, found: probe.Comparison, dataset: str, *, gold: Sequence[str], moved: bool
) -> list[markup.Entry]:
    known = reads.documents(dataset)
    moves = dict(zip(found.documents["doc_id"], found.documents["movement"], strict=True))
    rows = []
    ranked = zip(side.ranking.doc_ids, side.ranking.scores, strict=True)
    for rank, (doc_id, score) in enumerate(ranked, start=1):
        row = known.loc[doc_id]
        # On the first side only what is lost is news; the second says how each got there.
        movement = moves[doc_id] if moved or moves[doc_id] == "lost" else ""
        rows.append(
            markup.Entry(
                rank=rank,
                title=row["title"] if isinstance(row["title"], str) else _opening(row["text"]),
                score=float(score),
                stance=row["stance"] if isinstance(row["stance"], str) else None,
                source=row["source"] if isinstance(row["source"], str) else None,
                movement=movement if question_has_b(found) else "",
                is_gold=doc_id in gold,
            )
        )
    return rows


def question_has_b(found: probe.Comparison) -> bool:
    """Whether there is a second wording to have moved to."""
    return bool(found.b.text.strip())


def _opening(text: str) -> str:
    first = text.strip().split("\n", 1)[0]
    return first if len(first) <= 160 else first[:157].rsplit(" ", 1)[0] + "…"
