"""Every retriever's answer to both wordings: a matrix first, then each one's lists."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from biasret import charts, markup, probe, sentences
from biasret.probe import Answer, Comparison, Failure, ProbeResult, Question, Side
from biasret.retrievers import names as retriever_names
from biasret.retrievers import record_for
from biasret.ui import lists, reads
from biasret.ui.pages import markdown_safe, plot
from biasret.ui.probing.history import remember, show_history
from biasret.ui.probing.setup import SHOWN_IN_PRESENTATION, Setup, corpus_of
from biasret.ui.probing.share import offer

__all__ = ["show_probe"]


def show_probe(setup: Setup, question: Question) -> None:
    """Ask every retriever, showing each answer as soon as it is there."""
    if not setup.retrievers:
        st.info("Choose at least one retriever.", icon=":material/checklist:")
        return
    pair = probe.mitigated(question) if setup.is_mitigated else None
    corpus = corpus_of(setup.record)
    stage = st.container(key="probe_stage")
    with stage:
        place = st.empty()
    found: list[Answer | Failure] = []
    asked = probe.answers(question, setup.retrievers, corpus=corpus, k=setup.k, pair=pair)
    for name in setup.retrievers:
        with st.spinner(f"Asking {sentences.retriever_label(name)}"):
            one = next(asked)
        found.append(one)
        if not setup.is_presented:
            place.html(_matrix(found, question, k=setup.k))
        with stage:
            if isinstance(one, Failure):
                _failed(one)
            elif setup.is_presented:
                _presented(one, setup, question)
            else:
                _opened(one, setup, question, is_first=name == setup.retrievers[0])
    result = ProbeResult(
        dataset=setup.record.name,
        k=setup.k,
        question=question,
        answers=tuple(found),
        mitigated=pair,
    )
    if pair and not setup.is_presented:
        _mitigated_texts(question, pair)
    if not result.is_failed:
        remember(result)
    if not setup.is_presented:
        offer(result, setup)
        show_history(result)


# --- the matrix --------------------------------------------------------------------------------


def _matrix(found: Sequence[Answer | Failure], question: Question, *, k: int) -> str:
    answers = [one for one in found if isinstance(one, Answer)]
    a, b = question.groups
    has_lean = any(one.comparison.a.lean is not None for one in answers)
    has_after = any(one.mitigated for one in answers)
    # Both wordings meet in one neutral wording where an engine took out what it had put in.
    is_framed = probe.SWITCHES[question.switch].signal == "framing"
    has_neutral = (
        has_lean
        and is_framed
        and any(one.mitigated and one.mitigated.a.text == one.mitigated.b.text for one in answers)
    )
    columns = ["Retriever"]
    if has_lean:
        columns += [f"lean@{k} A ({a})", f"lean@{k} B ({b})"]
    if has_neutral:
        columns += [f"lean@{k} neutral"]
    columns += ["Change, A to B"]
    if has_after:
        columns += ["With the signal taken out"]
    columns += [f"overlap@{k}", "rank-biased overlap", "Typical?", "ms"]
    rows = []
    for one in answers:
        cells = []
        if has_lean:
            cells += [_signed(one.comparison.a.lean), _signed(one.comparison.b.lean)]
        if has_neutral:
            cells.append(_signed(one.mitigated.a.lean if one.mitigated else None))
        cells.append(sentences.change(one.comparison, question.groups))
        if has_after:
            after = one.mitigated
            cells.append(sentences.change(after, question.groups) if after else "—")
        cells += [
            _plain(one.comparison.overlap),
            _plain(one.comparison.rbo),
            sentences.short_typical(one.typical[0] if one.typical else None),
            "<1" if one.comparison.milliseconds < 1 else f"{one.comparison.milliseconds:.0f}",
        ]
        rows.append(markup.Row(sentences.retriever_label(one.retriever), _kind(one), cells))
    return markup.matrix(columns, rows, label="Every retriever's answer to both wordings")


def _kind(one: Answer) -> str:
    marks = []
    if one.retriever in retriever_names() and record_for(one.retriever).is_lexical:
        marks.append("lexical baseline")
    cut = [side for side in (one.comparison.a, one.comparison.b) if side.is_truncated]
    if cut:
        marks.append(f"read the first {cut[0].max_tokens} tokens only")
    return ", ".join(marks)


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{value:+.2f}"


def _plain(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


# --- one retriever -----------------------------------------------------------------------------


def _failed(one: Failure) -> None:
    st.error(
        markdown_safe(f"{sentences.retriever_label(one.retriever)} could not be asked. ")
        + markdown_safe(one.reason),
        icon=":material/error:",
    )


def _opened(one: Answer, setup: Setup, question: Question, *, is_first: bool) -> None:
    label = sentences.retriever_label(one.retriever)
    change = sentences.change(one.comparison, question.groups)
    box = st.expander(
        f"{markdown_safe(label)}: {markdown_safe(change)}",
        expanded=is_first,
        key=f"probe_open_{one.retriever}",
        on_change="rerun",
    )
    # What is shut is not drawn, so that eight retrievers open as quickly as one.
    if not box.open:
        return
    with box:
        _sentence(one.comparison)
        if one.comparison.state == "empty":
            return
        lists, flow, typical = st.tabs(["Lists", "Rank flow", "Is this typical?"])
        with lists:
            _lists(one.comparison, setup, question, depth=setup.k)
        with flow:
            _flow(one.comparison, setup, question)
        with typical:
            _typical(one, setup)


def _presented(one: Answer, setup: Setup, question: Question) -> None:
    found = one.comparison
    st.html(markup.lead(sentences.headline(found, question.groups)))
    _lists(found, setup, question, depth=SHOWN_IN_PRESENTATION)
    if found.k > SHOWN_IN_PRESENTATION:
        st.caption(f"The first {SHOWN_IN_PRESENTATION} of {found.k} documents are shown.")
    if one.typical:
        _strip(one, one.typical[0])


def _sentence(found: Comparison) -> None:
    sentence = markdown_safe(sentences.comparison(found))
    if found.state in ("empty", "one empty"):
        st.warning(sentence, icon=":material/search_off:")
    elif found.state == "identical":
        st.success(sentence, icon=":material/equal:")
    else:
        st.markdown(f"**{sentence}**")
    for name, side in (("A", found.a), ("B", found.b)):
        _notes(side, name)


def _notes(side: Side, name: str) -> None:
    if side.is_truncated:
        st.warning(
            f"Wording {name} was cut: {side.max_tokens} of its {side.n_tokens:,} tokens were read.",
            icon=":material/content_cut:",
        )
    if side.ranking.is_tied_at_cut:
        st.caption(
            f"Wording {name}: documents beyond the last one shown have the same score; "
            "the document id decided."
        )


def _lists(found: Comparison, setup: Setup, question: Question, *, depth: int) -> None:
    left, right = st.columns(2)
    sides = ((left, found.a, "A", question.a.group), (right, found.b, "B", question.b.group))
    for column, side, name, group in sides:
        with column:
            _list(side, found, setup, question, name, group, depth)


def _list(
    side: Side,
    found: Comparison,
    setup: Setup,
    question: Question,
    name: str,
    group: str,
    depth: int,
) -> None:
    if side.ranking.is_empty:
        st.warning(
            f"No document matched wording {name}: none of its words occur in the documents.",
            icon=":material/search_off:",
        )
        return
    count = f"{len(side.ranking.doc_ids)} documents{lists.measured(side, found.k)}"
    st.caption(markdown_safe(f"Wording {name} ({group}): {count}"))
    rows = lists.entries(
        side,
        found,
        reads.documents(setup.record.name),
        gold=question.gold,
        is_b=name == "B",
        opens=not setup.is_presented,
    )[:depth]
    label = f"{sentences.retriever_label(found.retriever)}, wording {name}"
    st.html(markup.ranking(rows, label=label))


def _flow(found: Comparison, setup: Setup, question: Question) -> None:
    if found.state == "one empty":
        st.caption("One wording matched nothing, so there is no flow to show.")
        return
    known = reads.documents(setup.record.name)
    titles = {doc_id: lists.title_of(known.loc[doc_id]) for doc_id in found.documents["doc_id"]}
    figure = charts.rank_flow(found.documents, titles, groups=question.groups, k=found.k)
    plot(figure, key=f"flow-{found.retriever}", alt=sentences.comparison(found))


def _typical(one: Answer, setup: Setup) -> None:
    if not one.typical:
        st.caption(markdown_safe(sentences.typical(None)))
        return
    for placed in one.typical:
        _strip(one, placed)
    st.caption(
        markdown_safe(
            f"Stored pairs: {setup.record.minuend} against {setup.record.subtrahend} wordings of "
            f"{setup.record.label}."
        )
    )


def _strip(one: Answer, placed: probe.Typicality) -> None:
    sentence = sentences.typical(placed)
    st.markdown(markdown_safe(sentence))
    plot(
        charts.strip(placed.stored, placed.value, title=placed.quantity),
        key=f"strip-{one.retriever}-{placed.quantity}",
        alt=sentence,
    )


def _mitigated_texts(question: Question, pair: tuple[probe.Wording, probe.Wording]) -> None:
    with st.expander("The wordings with the signal taken out", icon=":material/cleaning_services:"):
        for place, one, before in zip("AB", pair, (question.a, question.b), strict=True):
            if one.text == before.text:
                st.caption(f"Wording {place}: nothing was found to take out.")
                continue
            made = one.flip
            assert made is not None
            marks = made.target_marks
            st.html(markup.wording(f"Wording {place}", one.text, marks, note=made.label))
