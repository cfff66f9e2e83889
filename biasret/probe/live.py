"""A whole probe: one question, every retriever asked, one result for page, command and export."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from biasret.datasets.base import DatasetRecord
from biasret.errors import BiasretError
from biasret.probe.comparison import Comparison, Side
from biasret.probe.guards import Detected, detected, warnings
from biasret.probe.typicality import Typicality, typicality
from biasret.probe.wording import ORIGINS, Known, Question, Wording, mitigated, worded
from biasret.runs import DEPTH

__all__ = ["Answer", "Corpus", "Failure", "Ids", "Pairs", "ProbeResult", "answers", "probe"]


#: Pairs of wordings A and B; ids of documents.
Pairs = tuple[tuple[str, str], ...]
Ids = tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """What a probe needs of a dataset; whoever opens the store provides it.

    Attributes
    ----------
    find
        The stored cell that holds a text, or None.
    compare
        By retriever, pairs of wordings, k, documents left out and gold: one comparison a pair,
        as `compare_all` makes them; raises a `BiasretError` where the retriever cannot be asked.
    differences
        By retriever, metric and k: the stored pairs' minuend minus subtrahend, shape (n,).
    overlaps
        By retriever and k: the stored pairs' overlap@k, shape (n,).
    """

    record: DatasetRecord
    find: Callable[[str], Known | None]
    compare: Callable[[str, Pairs, int, Ids, Ids], list[Comparison]]
    differences: Callable[[str, str, int | None], np.ndarray]
    overlaps: Callable[[str, int], np.ndarray]


@dataclass(frozen=True)
class Answer:
    """One retriever's answer.

    Attributes
    ----------
    comparison
        Wording A beside wording B.
    mitigated
        The same after the signal was taken out of both wordings, where that was asked for.
    typical
        Where each of its changes lies among the stored pairs; empty where the two wordings
        signal other groups than the dataset compares, or nothing is stored.
    """

    retriever: str
    comparison: Comparison
    mitigated: Comparison | None = None
    typical: tuple[Typicality, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A retriever that could not be asked, and why."""

    retriever: str
    reason: str


@dataclass(frozen=True)
class ProbeResult:
    """All that one probe found.

    Attributes
    ----------
    mitigated
        Both wordings with the signal taken out, where that was asked for.
    """

    dataset: str
    k: int
    question: Question
    answers: tuple[Answer | Failure, ...]
    mitigated: tuple[Wording, Wording] | None = None

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What changed between the wordings besides the signal."""
        return warnings(self.question)

    @cached_property
    def detected(self) -> Detected:
        """Signals that the typed question carried already."""
        return detected(self.question.typed, switch=self.question.switch)

    @property
    def is_failed(self) -> bool:
        """Whether no retriever could be asked."""
        return bool(self.answers) and all(isinstance(one, Failure) for one in self.answers)

    def table(self) -> pd.DataFrame:
        """One row per retriever that answered; differences are B minus A.

        Returns
        -------
        pandas.DataFrame
            ``retriever``, ``lean_a``, ``lean_b``, ``lean_difference``, ``gold_rank_a``,
            ``gold_rank_b``, ``rr_difference``, ``n_shared``, ``n_lost``, ``n_new``,
            ``survival`` (shared documents over those of A), ``overlap``, ``rbo``,
            ``mitigated_lean_difference``, ``mitigated_rr_difference``, ``mitigated_overlap``,
            ``truncated_a``, ``truncated_b``, ``milliseconds``.
        """
        rows = [_row(one) for one in self.answers if isinstance(one, Answer)]
        return pd.DataFrame(rows)

    def as_dict(self, documents: pd.DataFrame | None = None) -> dict[str, Any]:
        """Plain values, for JSON.

        Parameters
        ----------
        documents
            Indexed by ``doc_id``; with it every ranked document has its title, stance and
            source.
        """
        question = self.question
        pair = self.mitigated
        return {
            "dataset": self.dataset,
            "k": self.k,
            "typed": question.typed,
            "switch": question.switch,
            "settings": question.settings,
            "wordings": [_wording(one) for one in (question.a, question.b)],
            "mitigated_wordings": [_wording(one) for one in pair] if pair else None,
            "stored_cell": question.known.cell_id if question.known else None,
            "masked": list(question.exclude),
            "gold": list(question.gold),
            "detected": list(self.detected.found),
            "warnings": list(self.warnings),
            "retrievers": [_entry(one, documents) for one in self.answers],
        }


def probe(
    text: str,
    *,
    switch: str,
    corpus: Corpus,
    retrievers: Sequence[str],
    k: int = 10,
    settings: Mapping[str, Any] | None = None,
    a: str | None = None,
    b: str | None = None,
    is_mitigated: bool = False,
) -> ProbeResult:
    """Flip a question and ask every retriever both wordings.

    Parameters
    ----------
    text, switch, settings, a, b
        As `worded` takes them.
    retrievers
        Names; one that cannot be asked gives a `Failure` and does not stop the others.
    k
        Documents of each list.
    is_mitigated
        Whether both wordings are asked once more with the signal taken out.

    Raises
    ------
    InputError
        Nothing was typed, or a setting is out of range.
    """
    question = worded(text, switch=switch, settings=settings, a=a, b=b, find=corpus.find)
    pair = mitigated(question) if is_mitigated else None
    found = answers(question, retrievers, corpus=corpus, k=k, pair=pair)
    return ProbeResult(
        dataset=corpus.record.name,
        k=k,
        question=question,
        answers=tuple(found),
        mitigated=pair,
    )


def answers(
    question: Question,
    retrievers: Sequence[str],
    *,
    corpus: Corpus,
    k: int,
    pair: tuple[Wording, Wording] | None = None,
) -> Iterator[Answer | Failure]:
    """Each retriever's answer as soon as it is there."""
    asked = [(question.a.text, question.b.text)]
    if pair:
        asked.append((pair[0].text, pair[1].text))
    for name in retrievers:
        try:
            found = corpus.compare(name, tuple(asked), k, question.exclude, question.gold)
        except BiasretError as error:
            yield Failure(name, str(error))
            continue
        found = [replace(one, retriever=name) for one in found]
        after = found[1] if pair else None
        yield Answer(name, found[0], after, tuple(_placed(found[0], question, corpus)))


def _placed(found: Comparison, question: Question, corpus: Corpus) -> Iterator[Typicality]:
    groups = (corpus.record.minuend, corpus.record.subtrahend)
    sides = question.groups
    if set(groups) != set(sides) or found.k > DEPTH or not corpus.record.is_paired:
        return
    # Stored differences are minuend minus subtrahend, a probe's are B minus A.
    sign = 1.0 if groups[0] == sides[1] else -1.0
    k, name = found.k, found.retriever
    changes: list[tuple[str, float | None, str, int | None]] = [
        (f"lean@{k}, {sides[1]} minus {sides[0]}", found.lean_difference, "lean", k),
        (f"reciprocal rank, {sides[1]} minus {sides[0]}", found.rr_difference, "rr", None),
    ]
    for quantity, value, metric, depth in changes:
        if value is not None:
            stored = sign * corpus.differences(name, metric, depth)
            placed = typicality(quantity, value, stored)
            if placed:
                yield placed
    if found.overlap is not None:
        placed = typicality(f"overlap@{k}", found.overlap, corpus.overlaps(name, k), rest=1.0)
        if placed:
            yield placed


def _row(one: Answer) -> dict[str, Any]:
    found, after = one.comparison, one.mitigated
    return {
        "retriever": one.retriever,
        "lean_a": found.a.lean,
        "lean_b": found.b.lean,
        "lean_difference": found.lean_difference,
        "gold_rank_a": found.a.gold_rank,
        "gold_rank_b": found.b.gold_rank,
        "rr_difference": found.rr_difference,
        "n_shared": found.n_shared,
        "n_lost": found.n_lost,
        "n_new": found.n_new,
        "survival": found.survival,
        "overlap": found.overlap,
        "rbo": found.rbo,
        "mitigated_lean_difference": after.lean_difference if after else None,
        "mitigated_rr_difference": after.rr_difference if after else None,
        "mitigated_overlap": after.overlap if after else None,
        "truncated_a": found.a.is_truncated,
        "truncated_b": found.b.is_truncated,
        "milliseconds": found.milliseconds,
    }


def _wording(one: Wording) -> dict[str, Any]:
    made = one.flip
    return {
        "group": one.group,
        "text": one.text,
        "origin": ORIGINS[one.origin],
        "engine": made.engine if made else None,
        "label": made.label if made else None,
        "edits": [asdict(mark) for mark in made.marks] if made else [],
        "notices": list(made.notices) if made else [],
    }


def _entry(one: Answer | Failure, documents: pd.DataFrame | None) -> dict[str, Any]:
    if isinstance(one, Failure):
        return {"retriever": one.retriever, "failed": one.reason}
    found = one.comparison
    return {
        **_row(one),
        "state": found.state,
        "typicality": [
            {
                "quantity": placed.quantity,
                "value": placed.value,
                "n_stored": len(placed.stored),
                "share_changed_less": placed.share_less,
                "n_changed_as_much": placed.n_equal,
            }
            for placed in one.typical
        ],
        "tokens": [found.a.n_tokens, found.b.n_tokens],
        "max_tokens": found.a.max_tokens,
        "tied_at_cut": [found.a.ranking.is_tied_at_cut, found.b.ranking.is_tied_at_cut],
        "rankings": [_ranked(side, documents) for side in (found.a, found.b)],
        "movements": dict(zip(found.documents["doc_id"], found.documents["movement"], strict=True)),
    }


def _ranked(side: Side, documents: pd.DataFrame | None) -> list[dict[str, Any]]:
    rows = []
    scored = zip(side.ranking.doc_ids, side.ranking.scores, strict=True)
    for rank, (doc_id, score) in enumerate(scored, start=1):
        row: dict[str, Any] = {"rank": rank, "doc_id": doc_id, "score": float(score)}
        if documents is not None:
            known = documents.loc[doc_id]
            for name in ("title", "stance", "source"):
                row[name] = known[name] if isinstance(known[name], str) else None
        rows.append(row)
    return rows
