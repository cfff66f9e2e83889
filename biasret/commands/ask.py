"""Commands that take a question."""

from __future__ import annotations

import argparse
from typing import Any

from biasret.commands.shared import emit, known_dataset, open_store, records_of
from biasret.errors import InputError

__all__ = ["probe_text", "search", "variant"]


def search(arguments: argparse.Namespace) -> int:
    """``search``: one retriever, one question."""
    from biasret.probe import ready
    from biasret.retrievers import record_for

    record = record_for(arguments.retriever)
    if not arguments.query.strip():
        raise InputError("The query is empty; type a question.")
    store = open_store()
    dataset = known_dataset(store, arguments.dataset)
    documents = store.documents(dataset)
    vectors = None
    if not record.is_lexical:
        vectors = store.vectors(dataset, record.name, "document")
    models = store.path.parent / "models"
    retriever = ready(arguments.retriever, documents, vectors=vectors, models=models)
    ranking = retriever.search([arguments.query], k=arguments.k)[0]
    rows = documents.set_index("doc_id").loc[ranking.doc_ids]
    found = [
        {"rank": rank, "doc_id": doc_id, "score": float(score), **_described(row)}
        for rank, (doc_id, score, (_, row)) in enumerate(
            zip(ranking.doc_ids, ranking.scores, rows.iterrows(), strict=True), start=1
        )
    ]
    if arguments.json:
        emit(arguments, {"dataset": dataset, "retriever": record.name, "results": found}, "")
        return 0
    if not found:
        print("No document matched.")
    for row in found:
        stance = f" [{row['stance']}]" if row["stance"] else ""
        print(f"{row['rank']:>3}  {row['score']:.4f}  {row['title']}{stance}  ({row['doc_id']})")
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
    given = {
        name: value
        for name in ("density", "seed", "mode", "intensity")
        if (value := getattr(arguments, name)) is not None
    }
    wrong = [name for name in given if name not in allowed]
    if wrong:
        raise InputError(f"--{wrong[0]} has no meaning for --to {to}; leave it out.")
    return flip(text, to=to, **given)


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
    """``probe``: a question flipped, and what moves."""
    from biasret import sentences
    from biasret.errors import RetrieverError, StoreError
    from biasret.probe import compare, ready, typicality
    from biasret.retrievers import record_for
    from biasret.runs import DEPTH, excluded

    store = open_store()
    dataset = known_dataset(store, arguments.dataset)
    row = store.datasets().set_index("dataset").loc[dataset]
    if arguments.signal == "dialect":
        sides = [arguments.text, _flipped(arguments, arguments.text, "AAL").target]
        groups = ("WME", "AAL")
    else:
        sides = [_flipped(arguments, arguments.text, to).target for to in ("left", "right")]
        groups = ("left", "right")
    documents = store.documents(dataset)
    stances = documents.set_index("doc_id")["stance"].dropna()
    # Only steps between the groups that the dataset compares may be set beside its pairs.
    is_comparable = {row["minuend"], row["subtrahend"]} == set(groups) and arguments.k <= DEPTH
    cell_id = store.find_text(dataset, arguments.text)
    exclude: set[str] = set()
    if cell_id is not None:
        exclude = {doc for ids in excluded(store.cell(dataset, cell_id)) for doc in ids}
    results: list[dict[str, Any]] = []
    for name in arguments.retriever or store.retrievers(dataset):
        record = record_for(name)
        try:
            vectors = None if record.is_lexical else store.vectors(dataset, record.name, "document")
            retriever = ready(name, documents, vectors=vectors, models=store.path.parent / "models")
            found = compare(
                retriever,
                sides[0],
                sides[1],
                k=arguments.k,
                stances=stances if len(stances) else None,
                exclude=exclude,
            )
        except (RetrieverError, StoreError) as error:
            results.append({"retriever": record.name, "failed": str(error)})
            continue
        placed = None
        if found.overlap is not None and is_comparable:
            stored = store.overlaps(
                dataset,
                record.name,
                k=arguments.k,
                minuend=row["minuend"],
                subtrahend=row["subtrahend"],
            )
            placed = typicality(f"overlap@{arguments.k}", found.overlap, stored, rest=1.0)
        results.append(
            {
                "retriever": record.name,
                "sentence": sentences.comparison(found),
                f"lean@{arguments.k}": [found.a.lean, found.b.lean],
                "difference": found.lean_difference,
                f"overlap@{arguments.k}": found.overlap,
                "rank_biased_overlap": found.rbo,
                "truncated": [found.a.is_truncated, found.b.is_truncated],
                "milliseconds": round(found.milliseconds, 1),
                "typicality": sentences.typical(placed),
                "documents": records_of(found.documents),
            }
        )
    if arguments.json:
        document = {
            "masked": sorted(exclude),
            "dataset": dataset,
            "groups": groups,
            "texts": sides,
            "results": results,
        }
        emit(arguments, document, "")
    else:
        for group, text in zip(groups, sides, strict=True):
            print(f"{group:>5}: {text}")
        for one in results:
            print(f"{one['retriever']}: {one.get('failed') or one['sentence']}")
            if "typicality" in one:
                print(f"  {one['typicality']}")
    return 1 if results and all("failed" in one for one in results) else 0
