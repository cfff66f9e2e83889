"""What the Audit page does with a run that someone brings: gaps, a gate, a report.

Nothing of it is kept: results live in the visitor's session, and the file on disk for as long
as it takes to read it.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from biasret import audit, charts, gates, metrics, report, sentences
from biasret.build import given_inputs
from biasret.datasets.base import SIGNALS, Dataset, DatasetRecord
from biasret.datasets.given_runs import read_ranked
from biasret.datasets.trec import run_text
from biasret.errors import BiasretError
from biasret.filters import FILTERS, filter_named
from biasret.metrics import METRICS
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, pick, pick_k, show

__all__ = ["audit_run", "own_corpus"]

#: Largest file taken, in megabytes; a run of 1,000 documents for 10,000 queries has more.
MOST_MB = 50

#: Characters that can be pasted.
MOST_PASTED = 2_000_000

#: Endings that make a file a table; any other is read as a TREC run.
_TABLES = ("csv", "tsv", "jsonl", "parquet")

#: Documents of each list in the sample.
_SAMPLE_DEPTH = 20


@dataclass(frozen=True)
class Audited:
    """Gaps of one run, and what was noticed while reading it."""

    retriever: str
    gaps: pd.DataFrame
    notes: tuple[str, ...]


def audit_run(record: DatasetRecord) -> None:
    """A run of a dataset: choose it, see its gaps, test a condition, take a report."""
    if record.minuend is None or record.subtrahend is None:
        st.info(
            "The queries of this dataset are not of two groups, so there is no gap to audit.",
            icon=":material/info:",
        )
        return
    data, ending = _brought(record)
    if not data:
        return
    digest = hashlib.sha256(data + ending.encode()).hexdigest()
    try:
        with st.spinner("Reading the run and resampling"):
            found = _audited(record.name, digest, ending, data)
    except BiasretError as error:
        st.error(markdown_safe(str(error)), icon=":material/error:")
        return
    _results(record, found)


def _brought(record: DatasetRecord) -> tuple[bytes, str]:
    """The run's bytes, and the ending that says how to read them; empty where there is none."""
    way = pick(
        "Where the run comes from",
        "audit_way",
        {"file": "a file", "paste": "pasted text", "sample": "the sample"},
        help="TREC run lines (query, Q0, document, rank, score, tag), or a CSV table with "
        "query_id, doc_id and rank or score. Ids are those of the dataset.",
    )
    sampler = _sampler(record.name)
    if sampler is not None:
        st.download_button(
            "Sample run to try",
            lambda: _sample(record.name, sampler),
            file_name=f"{_slug(record.name)}-sample.run",
            mime="text/plain",
            on_click="ignore",
            key="audit-sample",
            icon=":material/download:",
        )
    if way == "sample":
        if sampler is None:
            st.info(
                "No ranking of this dataset is stored, so there is no sample. Run "
                "`python -m biasret build`.",
                icon=":material/database:",
            )
        return b"" if sampler is None else _sample(record.name, sampler), "run"
    if way == "paste":
        text = st.text_area("Run", key="audit_text", max_chars=MOST_PASTED, height=200)
        first = (text or "").lstrip().split("\n", 1)[0]
        return (text or "").strip().encode("utf-8", "replace"), "csv" if "," in first else "run"
    upload = st.file_uploader(
        f"Run file, at most {MOST_MB} MB",
        key="audit_file",
        max_upload_size=MOST_MB,
        help="If uploads are refused here, paste the run as text instead.",
    )
    if upload is None:
        return b"", ""
    named = upload.name.lower().rpartition(".")[2]
    return upload.getvalue(), named if named in _TABLES else "run"


def _sampler(dataset: str) -> str | None:
    """The retriever whose stored rankings make the sample; None where there are none."""
    stored = reads.store().retrievers(dataset)
    return "bm25" if "bm25" in stored else next(iter(stored), None)


def _sample(dataset: str, retriever: str) -> bytes:
    rows = reads.rows("runs", dataset, retriever=retriever)
    rows = rows[rows["rank"] <= _SAMPLE_DEPTH].assign(retriever="sample")
    return run_text(rows, escape=_has_blanks(rows)).encode()


def _has_blanks(rows: pd.DataFrame) -> bool:
    """Whether ids of a run cannot be written as they are, so that files hold them encoded."""
    ids = pd.concat([rows["query_id"], rows["doc_id"]])
    return bool(ids.str.contains(r"[\s%]").any())


def _slug(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)


@st.cache_data(scope="session", max_entries=4, show_spinner=False)
def _audited(dataset: str, digest: str, ending: str, _data: bytes) -> Audited:
    del digest  # the key, for the bytes are not hashed
    record = reads.datasets()[dataset]
    whole = Dataset(
        record=record,
        documents=reads.documents(dataset).reset_index(),
        queries=reads.rows("queries", dataset),
        qrels=reads.rows("qrels", dataset),
    )
    with tempfile.TemporaryDirectory() as folder:
        # Never under the name it came with.
        path = Path(folder) / f"run.{ending}"
        path.write_bytes(_data)
        named = pd.DataFrame({"query_id": whole.queries["query_id"], "doc_id": ""})
        named = pd.concat([named, whole.documents[["doc_id"]].assign(query_id="")])
        run = read_ranked(path, whole, escaped=ending == "run" and _has_blanks(named))
    inputs = given_inputs(whole, {"runs": run.runs, "gold_ranks": run.gold}, whole.qrels)
    measured = metrics.measure(
        inputs, dataset=dataset, retriever=run.retriever, metrics=SIGNALS[record.signal].metrics
    )
    notes = [*run.notes, *(f"{n:,} {why} left out." for why, n in run.left_out.items())]
    return Audited(run.retriever, audit.gaps(measured, whole.queries, record), tuple(notes))


def _results(record: DatasetRecord, found: Audited) -> None:
    for note in found.notes:
        st.caption(markdown_safe(note))
    gaps = found.gaps
    gaps = gaps[(gaps["minuend"] == record.minuend) & (gaps["subtrahend"] == record.subtrahend)]
    if gaps.empty:
        st.warning(
            "Nothing could be measured: the rankings are not deep enough for any depth.",
            icon=":material/vertical_align_bottom:",
        )
        return
    names = [name for name in METRICS if name in set(gaps["metric"])]
    labels = {name: METRICS[name].label for name in names}
    metric = names[0] if len(names) == 1 else pick("Metric", "audit_metric", labels)
    depth, which = st.columns([2, 3])
    of = gaps[gaps["metric"] == metric]
    ks = sorted(int(k) for k in of["k"].dropna().unique())
    k = None
    if ks:
        with depth:
            headline = METRICS[metric].headline
            k = pick_k("audit_k", ks, default=headline if headline in ks else ks[-1])
    of = of[of["k"].isna()] if k is None else of[of["k"] == k]
    stored = [name for name in FILTERS if name in set(of["filter"])]
    stored += [name for name in of["filter"].unique() if name not in FILTERS]
    rule = stored[0]
    if len(stored) > 1:
        with which:
            rule = pick("Queries", "audit_filter", {n: filter_named(n).label for n in stored})
    rows = of[of["filter"] == rule].reset_index(drop=True)
    sentence = sentences.finding(rows, signal=record.signal)
    about = {
        "dataset": record.name,
        "world": "measured here, from a run that was brought; nothing of it is stored",
        "metric": METRICS[metric].about,
        "filter": filter_named(rule).about,
        "gap": f"{record.minuend} minus {record.subtrahend}",
        "interval": f"cluster bootstrap, 95%, {audit.PAPER.drawn}",
        "test": f"{rows['test'].iloc[0]}, {sentences.correction(1)}",
    }
    show(
        charts.forest(rows),
        rows,
        name="audit-gaps",
        sentence=sentence,
        alt=charts.forest_alt(rows, sentence),
        about=about,
    )
    for _, row in rows.iterrows():
        st.markdown(f"- {markdown_safe(sentences.gap(row))}")
    verdict = _gate(gaps, metric if k is None else f"{metric}@{k}")
    st.download_button(
        "Download the report",
        lambda: _report(record, found, rows, sentence, verdict, about),
        file_name=f"audit-{_slug(record.name)}.html",
        mime="text/html",
        on_click="ignore",
        key="audit-report",
        icon=":material/description:",
    )


def _gate(gaps: pd.DataFrame, quantity: str) -> str:
    """A condition typed, and whether the run meets it; the sentence for the report."""
    st.subheader("A gate for releases")
    example = f"abs(gap.{quantity}) > 0.05"
    text = st.text_input(
        "Fail if",
        key="audit_gate",
        bind="query-params",
        max_chars=2_000,
        placeholder=f"for example: {example}",
        help="gap, low, high, p or p_holm, a dot, the metric with its depth; comparisons, and, "
        "or, abs(). The command `python -m biasret audit --fail-if` reads the same words and ends "
        "with exit code 1.",
    )
    if not text or not text.strip():
        st.caption("No condition is given, so nothing can fail.")
        return "No condition was given."
    try:
        verdict = gates.parse(text).judge(gaps)
    except BiasretError as error:
        st.warning(markdown_safe(str(error)), icon=":material/edit:")
        return f"The condition {text!r} could not be read."
    values = ", ".join(
        f"{one} {'missing' if value is None else format(value, '+.4f')}"
        for one, value in verdict.values.items()
    )
    if verdict.holds is None:
        said = f"Fails: the condition cannot be decided, which counts as met ({values})."
    elif verdict.holds:
        said = f"Fails: the condition holds ({values})."
    else:
        said = f"Passes: the condition does not hold ({values})."
    tell, icon = (
        (st.error, ":material/block:") if verdict.is_met else (st.success, ":material/check:")
    )
    tell(markdown_safe(said), icon=icon)
    return f"Fail if {text}. {said}"


def _report(
    record: DatasetRecord,
    found: Audited,
    rows: pd.DataFrame,
    sentence: str,
    verdict: str,
    about: dict[str, str],
) -> bytes:
    told = [sentence, *(sentences.gap(row) for _, row in rows.iterrows())]
    sections = [
        report.Section("Condition", [verdict]),
        report.Section(
            "The gap",
            told,
            charts.forest(rows),
            charts.forest_alt(rows, sentence),
            rows.dropna(axis="columns", how="all"),
            about,
        ),
        report.Section("Every gap measured", list(found.notes), table=found.gaps, about=about),
    ]
    return report.page(
        f"Audit of {found.retriever} on {record.label}", sections, about=about
    ).encode()


def own_corpus() -> None:
    """How to bring a corpus and a model of one's own."""
    st.subheader("Your corpus, your model")
    st.markdown(
        "A corpus with questions of its own comes in on the command line (`docs/importing.md`); "
        "then it stands in every picker here. Every retriever of the catalogue, and any "
        "sentence-transformers model on disk (`docs/retrievers.md`), can be run on it."
    )
    st.code(
        "python -m biasret import articles PATH --name mine\n"
        "python -m biasret build --dataset mine --retriever bm25 --retriever st:PATH\n"
        "python -m biasret audit --dataset mine --fail-if 'abs(gap.lean@10) > 0.05' "
        "--report audit.html",
        # Colours of highlighted code fall short of the contrast that reading needs.
        language=None,
    )
