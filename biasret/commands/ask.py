"""Commands that take a question."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from biasret.commands.shared import emit, known_dataset, open_store, probe_corpus
from biasret.errors import InputError

__all__ = ["probe_text", "search", "variant"]

#: Stored queries by which an approximate index is measured.
_ASKED = 200


def search(arguments: argparse.Namespace) -> int:
    """``search``: one retriever, one question."""
    from biasret.precomputed import Folder
    from biasret.probe import ready
    from biasret.retrievers import record_for
    from biasret.retrievers.dense import Dense
    from biasret.retrievers.index import recall

    record = record_for(arguments.retriever)
    if not arguments.query.strip():
        raise InputError("The query is empty; type a question.")
    if record.is_lexical and arguments.index != "flat":
        raise InputError(f"{record.label} has no vectors to index; leave out --index.")
    store = open_store()
    dataset = known_dataset(store, arguments.dataset)
    documents = store.documents(dataset)
    vectors = None
    if not record.is_lexical:
        vectors = store.vectors(dataset, record.name, "document")
    folder = Folder(store.path.parent)
    retriever = ready(
        arguments.retriever,
        documents,
        vectors=vectors,
        models=folder.path / "models",
        kind=arguments.index,
        index_folder=folder.index_folder(dataset, record.name, arguments.index),
    )
    measured = None
    if isinstance(retriever, Dense) and not retriever.vector_index.is_exact:
        asked = store.vectors(dataset, record.name, "query").matrix
        measured = recall(retriever.vector_index, asked[:: max(1, len(asked) // _ASKED)][:_ASKED])
    ranking = retriever.search([arguments.query], k=arguments.k)[0]
    rows = documents.set_index("doc_id").loc[ranking.doc_ids]
    found = [
        {"rank": rank, "doc_id": doc_id, "score": float(score), **_described(row)}
        for rank, (doc_id, score, (_, row)) in enumerate(
            zip(ranking.doc_ids, ranking.scores, rows.iterrows(), strict=True), start=1
        )
    ]
    if arguments.json:
        index = {"kind": arguments.index, "measured": asdict(measured) if measured else None}
        document = {"dataset": dataset, "retriever": record.name, "index": index, "results": found}
        emit(arguments, document, "")
        return 0
    if not found:
        print("No document matched.")
    for row in found:
        stance = f" [{row['stance']}]" if row["stance"] else ""
        print(f"{row['rank']:>3}  {row['score']:.4f}  {row['title']}{stance}  ({row['doc_id']})")
    if measured:
        print(measured)
    return 0


def _described(row: Any) -> dict[str, str | None]:
    title = row["title"] if isinstance(row["title"], str) else row["text"][:80]
    stance = row["stance"] if isinstance(row["stance"], str) else None
    return {"title": title, "stance": stance}


def _flipped(arguments: argparse.Namespace, text: str, to: str) -> Any:
    from biasret.flip import FLIPS, flip

    if FLIPS[to].signal != arguments.signal:
        fits = ", ".join(name for name, one in FLIPS.items() if one.signal == arguments.signal)
        raise InputError(f"--signal {arguments.signal} goes with --to {fits}; found {to}.")
    own = ("density", "seed") if to == "AAL" else ("mode", "intensity", "seed")
    allowed = () if to == "WME" else own
    return flip(text, to=to, **_given(arguments, allowed, f"--to {to}"))


def variant(arguments: argparse.Namespace) -> int:
    """``variant``: a counterpart of a question."""
    made = _flipped(arguments, arguments.text, arguments.to)
    if arguments.json:
        emit(arguments, made.as_dict(), "")
        return 0
    print(made.target)
    print(f"  {made.label} ({made.engine})")
    for mark in made.marks:
        print(f"  {mark.original!r} -> {mark.replacement!r}  {mark.name}: {mark.why}")
    for notice in made.notices:
        print(f"  note: {notice}")
    return 0


def probe_text(arguments: argparse.Namespace) -> int:
    """``probe``: a question flipped, and what moves; the numbers of the Probe page."""
    from biasret import sentences
    from biasret.probe import SWITCHES, Answer, probe
    from biasret.retrievers import record_for

    store = open_store()
    dataset = known_dataset(store, arguments.dataset)
    models = store.path.parent / "models"
    names = arguments.retriever or store.retrievers(dataset)
    for name in names:
        record_for(name, models=models)
    result = probe(
        arguments.text,
        switch=_switch(arguments),
        settings=_settings(arguments),
        corpus=probe_corpus(store, dataset),
        retrievers=names,
        k=arguments.k,
        is_mitigated=arguments.mitigate,
    )
    if arguments.json:
        documents = store.documents(dataset).set_index("doc_id")
        emit(arguments, result.as_dict(documents), "")
        return 1 if result.is_failed else 0
    question = result.question
    print(f"{SWITCHES[question.switch].label}, {dataset}, k = {result.k}")
    for wording in (question.a, question.b):
        print(f"{wording.group:>5}: {wording.text}")
    for line in (result.detected.sentence, *result.warnings):
        if line:
            print(f"note: {line}")
    for one in result.answers:
        if not isinstance(one, Answer):
            print(f"{one.retriever}: {one.reason}")
            continue
        print(f"{one.retriever}: {sentences.comparison(one.comparison)}")
        if question.gold:
            print(f"  {sentences.change(one.comparison, question.groups)}")
        if one.mitigated:
            print(
                f"  with the signal taken out: {sentences.change(one.mitigated, question.groups)}"
            )
        for placed in one.typical:
            print(f"  {sentences.typical(placed)}")
    return 1 if result.is_failed else 0


def _switch(arguments: argparse.Namespace) -> str:
    to = arguments.to or {"dialect": "AAL", "framing": "framing"}[arguments.signal]
    if arguments.signal == "framing" and arguments.to:
        raise InputError("--to has no meaning for --signal framing: it writes both sides.")
    return str(to)


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    fits = {
        "AAL": ("density", "seed"),
        "WME": (),
        "framing": ("mode", "intensity", "seed"),
    }[_switch(arguments)]
    return _given(arguments, fits, f"--signal {arguments.signal}")


def _given(arguments: argparse.Namespace, fits: tuple[str, ...], of: str) -> dict[str, Any]:
    """The engine's settings among the arguments; one that does not fit is refused."""
    given = {
        name: value
        for name in ("density", "seed", "mode", "intensity")
        if (value := getattr(arguments, name)) is not None
    }
    wrong = [name for name in given if name not in fits]
    if wrong:
        raise InputError(f"--{wrong[0]} has no meaning for {of}; leave it out.")
    return given
