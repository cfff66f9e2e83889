"""A probe to take away: CSV, JSON, or one HTML page."""

from __future__ import annotations

import streamlit as st

from biasret import charts, exports, report, sentences
from biasret.probe import Answer, ProbeResult, Wording
from biasret.probe.overlap import RBO_P
from biasret.ui import reads
from biasret.ui.lists import title_of
from biasret.ui.pages import save
from biasret.ui.probing.setup import Setup

__all__ = ["offer"]


def offer(result: ProbeResult, setup: Setup) -> None:
    """Buttons that hand out all of the comparison; each file is made when it is asked for."""
    table = result.table()
    if table.empty:
        return
    question = result.question
    with st.container(horizontal=True, key="probe_share"):
        save(
            table,
            name="probe",
            about={
                "dataset": setup.record.name,
                f"wording A ({question.a.group})": question.a.text,
                f"wording B ({question.b.group})": question.b.text,
                "differences": "B minus A",
                "k": str(result.k),
            },
        )
        st.download_button(
            "Download JSON",
            lambda: exports.document(result.as_dict(reads.documents(setup.record.name))),
            file_name=exports.file_name("probe", setup.record.name, suffix="json"),
            mime="application/json",
            on_click="ignore",
            key="save-probe-json",
            icon=":material/data_object:",
        )
        st.download_button(
            "Download report",
            lambda: _report(result, setup),
            file_name=exports.file_name("probe", setup.record.name, suffix="html"),
            mime="text/html",
            on_click="ignore",
            key="save-probe-html",
            icon=":material/description:",
        )


def _report(result: ProbeResult, setup: Setup) -> bytes:
    """The comparison as one HTML page: what was asked, every answer, how it was computed."""
    question, documents = result.question, reads.documents(setup.record.name)
    asked = [
        f"{place} ({one.group}): {one.text}" for place, one in zip("AB", _pair(result), strict=True)
    ]
    sections = [
        report.Section("The question", [*asked, *result.warnings]),
        report.Section("Every retriever", [_METHOD], table=result.table()),
    ]
    for one in result.answers:
        label = sentences.retriever_label(one.retriever)
        if not isinstance(one, Answer):
            sections.append(report.Section(label, [f"Could not be asked. {one.reason}"]))
            continue
        found = one.comparison
        said = [sentences.comparison(found), *(sentences.typical(at) for at in one.typical)]
        lists = found.documents.assign(
            title=[title_of(documents.loc[doc_id]) for doc_id in found.documents["doc_id"]],
            stance=documents["stance"].reindex(found.documents["doc_id"]).to_numpy(),
        )
        titles = dict(zip(lists["doc_id"], lists["title"], strict=True))
        figure = None
        if found.state not in ("empty", "one empty"):
            figure = charts.rank_flow(found.documents, titles, groups=question.groups, k=found.k)
        sections.append(report.Section(label, said, figure=figure, alt=said[0], table=lists))
    about = {
        "dataset": setup.record.label,
        "kind of data": "illustrative" if setup.record.is_illustrative else "imported",
        "k": str(result.k),
        "left out of every list": ", ".join(question.exclude) or "nothing",
        "gold": ", ".join(question.gold) or "not known for this question",
    }
    return report.page("One question, two wordings", sections, about=about).encode()


_METHOD = (
    "Differences are B minus A. lean@k: share of right-leaning minus share of left-leaning "
    "documents among the first k. overlap: documents in both lists over the longer list. rbo: "
    f"rank-biased overlap, p = {RBO_P}, extrapolated (Webber, Moffat and Zobel 2010). Wordings "
    "marked generated were written by rule and are no person's words."
)


def _pair(result: ProbeResult) -> tuple[Wording, Wording]:
    return result.question.a, result.question.b
