"""``audit``: gaps of runs made elsewhere, in memory, and conditions that fail a build."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasret.commands.numbers import gap_line
from biasret.commands.shared import emit, progress_bar, records_of, say
from biasret.errors import InputError, NothingStored, UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from biasret.datasets.base import Dataset
    from biasret.gates import Condition, Verdict
    from biasret.precomputed import Folder
    from biasret.report import Section

    #: Verdicts on each condition, by retriever.
    _Judged = list[tuple[Condition, dict[str, Verdict]]]

__all__ = ["audit"]


def audit(arguments: argparse.Namespace) -> int:
    """``audit``: measure, compare, judge; nothing is written to the store."""
    import pandas as pd

    from biasret import gates, report
    from biasret.audit import PAPER, gaps
    from biasret.build import read_dataset
    from biasret.precomputed import Folder

    conditions = [gates.parse(text) for text in arguments.fail_if]
    if arguments.report is not None:
        report.form(arguments.report)
    folder = Folder()
    name = arguments.dataset
    if name not in folder.datasets():
        raise UnknownName("dataset", name, folder.datasets())
    dataset = read_dataset(folder, name)
    record = dataset.record
    if record.minuend is None or record.subtrahend is None:
        raise InputError(
            f"The queries of {name!r} are not of two groups, so there is no gap to audit."
        )
    _refuse_other_metrics(conditions, dataset)
    notes: list[str] = []
    measured = _measured(arguments, folder, dataset, notes)
    with progress_bar(f"{name}: gaps and intervals", 1) as advance:
        table = gaps(pd.concat(measured.values(), ignore_index=True), dataset.queries, record)
        advance(1)
    main = table[(table["minuend"] == record.minuend) & (table["subtrahend"] == record.subtrahend)]
    judged: _Judged = [
        (one, {r: one.judge(main[main["retriever"] == r]) for r in measured}) for one in conditions
    ]
    n_met = sum(verdict.is_met for _, of in judged for verdict in of.values())
    for note in notes:
        say(arguments, f"note: {note}")
    for row in records_of(_headline(table)):
        say(arguments, gap_line(row))
    for one, of in judged:
        for retriever, verdict in of.items():
            say(arguments, _sentence(one, retriever, verdict))
    n = sum(len(of) for _, of in judged)
    last = f"{n_met} of {n} checks met or undecided" if n else "no condition was given"
    if arguments.report is not None:
        about = {
            "dataset": f"{record.label} ({name})",
            "data": "illustrative, made for this project" if record.is_illustrative else "imported",
            "source": record.source or "not said",
            "licence": record.licence or "not said",
            "queries": f"{len(dataset.queries):,}",
            "documents": f"{len(dataset.documents):,}",
            "gap": f"{record.minuend} minus {record.subtrahend}",
            **{key: str(value) for key, value in PAPER.as_dict().items()},
        }
        _save(arguments.report, dataset, table, _verdicts(judged, last), notes, about)
        say(arguments, f"report: {arguments.report}")
    document = {
        "dataset": name,
        "retrievers": list(measured),
        "settings": PAPER.as_dict(),
        "notes": notes,
        "gaps": records_of(table),
        "conditions": [_document(one, of) for one, of in judged],
        "passed": n_met == 0,
    }
    emit(arguments, document, f"{'FAILED' if n_met else 'passed'}: {last}.")
    return 1 if n_met else 0


def _refuse_other_metrics(conditions: list[Condition], dataset: Dataset) -> None:
    from biasret.datasets.base import SIGNALS

    signal = SIGNALS[dataset.record.signal]
    for condition in conditions:
        for quantity in condition.quantities:
            if quantity.metric not in signal.metrics:
                raise InputError(
                    f"{quantity} cannot be had of {dataset.record.name!r}, whose signal, "
                    f"{signal.name}, is measured by {', '.join(signal.metrics)}."
                )


def _measured(
    arguments: argparse.Namespace, folder: Folder, dataset: Dataset, notes: list[str]
) -> dict[str, pd.DataFrame]:
    """Measurements of the runs and retrievers asked for; of all stored where none is."""
    import pandas as pd

    from biasret import judging
    from biasret.build import given_inputs
    from biasret.datasets.base import SIGNALS
    from biasret.datasets.given_runs import read_ranked
    from biasret.metrics import measure

    name = dataset.record.name
    stored = folder.retrievers("measurements", name)
    for retriever in arguments.retriever or ():
        if retriever not in stored:
            raise UnknownName(f"retriever measured on {name!r}", retriever, stored)
    chosen = arguments.retriever or ([] if arguments.run_file else stored)
    if not chosen and not arguments.run_file:
        raise NothingStored(
            f"No results of {name!r} are stored; name runs with --run, or run "
            f"`python -m biasret build --dataset {name!r}`."
        )
    measured = {one: folder.read("measurements", name, one) for one in dict.fromkeys(chosen)}
    qrels = pd.concat([dataset.qrels, judging.judgments(folder, name)], ignore_index=True)
    for path in arguments.run_file:
        with progress_bar(f"{name}: {path.name}", 1) as advance:
            run = read_ranked(path, dataset, encoding=arguments.encoding, escaped=arguments.escaped)
            advance(1)
        if run.retriever in measured:
            raise InputError(
                f"Two results are called {run.retriever!r}, the second in {path.name}; rename one."
            )
        notes += run.notes
        notes += [f"{path.name}: {n:,} {reason} left out." for reason, n in run.left_out.items()]
        found = measure(
            given_inputs(dataset, {"runs": run.runs, "gold_ranks": run.gold}, qrels),
            dataset=name,
            retriever=run.retriever,
            metrics=SIGNALS[dataset.record.signal].metrics,
        )
        if found.empty:
            notes.append(f"{run.retriever!r}: nothing could be measured; is the run deep enough?")
        measured[run.retriever] = found
    return measured


def _headline(table: pd.DataFrame) -> pd.DataFrame:
    """Gaps over all queries at the depth each metric shows first."""
    from biasret.metrics import METRICS

    first = table["metric"].map(lambda metric: METRICS[metric].headline).astype("Int64")
    same = (table["k"] == first).fillna(False) | (table["k"].isna() & first.isna())
    return table[same.astype(bool) & (table["filter"] == "raw")]


def _sentence(condition: Condition, retriever: str, verdict: Verdict) -> str:
    state = {True: "FAIL", False: "ok  ", None: "FAIL"}[verdict.holds]
    values = ", ".join(
        f"{quantity} {'missing' if value is None else format(value, '.6g')}"
        for quantity, value in verdict.values.items()
    )
    why = " cannot be decided, which counts as met" if verdict.holds is None else ""
    return f"{state}  {retriever}: {condition.text}{why} ({values})"


def _document(condition: Condition, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    return {
        "fail_if": condition.text,
        "verdicts": [
            {
                "retriever": retriever,
                "holds": verdict.holds,
                "failed": verdict.is_met,
                "values": {str(quantity): value for quantity, value in verdict.values.items()},
                "missing": [str(quantity) for quantity in verdict.missing],
            }
            for retriever, verdict in verdicts.items()
        ],
    }


def _verdicts(judged: _Judged, last: str) -> list[Section]:
    """A table of what was checked; no section where nothing was."""
    import pandas as pd

    from biasret.report import Section

    words = {True: "failed: it holds", False: "passed", None: "failed: it cannot be decided"}
    rows = [
        {
            "outcome": words[verdict.holds],
            "retriever": retriever,
            "fails if": condition.text,
            "values": ", ".join(
                f"{quantity} {'missing' if value is None else format(value, '.4g')}"
                for quantity, value in verdict.values.items()
            ),
        }
        for condition, of in judged
        for retriever, verdict in of.items()
    ]
    return [Section("Conditions", [f"{last}."], table=pd.DataFrame(rows))] if rows else []


#: What a report shows first of a gap.
_SHOWN = (
    "retriever estimate ci_low ci_high p_value p_holm test mean_minuend mean_subtrahend"
    " n_minuend n_subtrahend n_pairs n_clusters n_dropped note"
).split()


def _save(
    path: Path,
    dataset: Dataset,
    table: pd.DataFrame,
    verdicts: list[Section],
    notes: list[str],
    about: Mapping[str, str],
) -> None:
    import pandas as pd

    from biasret import charts, sentences
    from biasret.report import Section, save

    every = Section(
        "Every gap measured",
        [sentences.correction(table["retriever"].nunique()).capitalize() + "."],
        table=table,
        about=about,
    )
    sections = verdicts
    for (metric, k, minuend, _), part in _headline(table).groupby(
        ["metric", "k", "minuend", "subtrahend"], dropna=False, sort=False
    ):
        title = charts.plain(f"{metric}" + ("" if pd.isna(k) else f"@{int(k)}"))
        finding = sentences.finding(part, signal=dataset.record.signal)
        sections.append(
            Section(
                title if minuend == dataset.record.minuend else f"{title}, {minuend}",
                [finding, *(sentences.gap(row) for _, row in part.iterrows())],
                charts.forest(part),
                charts.forest_alt(part, finding),
                part[_SHOWN].dropna(axis="columns", how="all"),
                about,
            )
        )
    if path.suffix.lower() == ".csv":
        save(path, f"Audit of {dataset.record.label}", [every], about=about)
        return
    method = Section(
        "How to read this",
        [
            "Queries that ask the same thing for another group are compared. A gap is the first "
            "group's mean minus the second's; intervals are percentile bootstraps over clusters, "
            "and p-values come with the test named beside them.",
            "An interval that spans 0 is not evidence that there is no gap. Groups are what the "
            "dataset labels, never a guess about a person.",
            *notes,
        ],
    )
    save(path, f"Audit of {dataset.record.label}", [*sections, every, method], about=about)
