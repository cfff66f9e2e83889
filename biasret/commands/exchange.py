"""Commands that hand results to other tools, and rate a text."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from biasret.commands.shared import emit, say
from biasret.errors import InputError, NothingStored, UnknownName

__all__ = ["export", "score"]


def export(arguments: argparse.Namespace) -> int:
    """``export``: TREC run and qrels files of a dataset."""
    import pandas as pd

    from biasret import judging
    from biasret.datasets.trec import qrels_text, run_text
    from biasret.precomputed import Folder

    folder = Folder()
    name = arguments.dataset
    if name not in folder.datasets():
        raise UnknownName("dataset", name, folder.datasets())
    stored = folder.retrievers("runs", name)
    for retriever in arguments.retriever or ():
        if retriever not in stored:
            raise UnknownName(f"retriever with results of {name!r}", retriever, stored)
    chosen = arguments.retriever or stored
    own = folder.read("qrels", name)
    qrels = pd.concat([own, judging.judgments(folder, name)], ignore_index=True)
    if not chosen and qrels.empty:
        raise NothingStored(
            f"{name!r} has neither results nor judgements; run `python -m biasret build` first."
        )
    texts: dict[str, str] = {}
    notes = []
    for retriever in dict.fromkeys(chosen):
        runs = folder.read("runs", name, retriever)
        ties = int((runs.groupby("query_id")["score"].diff() == 0).sum())
        if ties and not arguments.break_ties:
            notes.append(
                f"{retriever}: {ties:,} documents tie with the one above, which tools that order "
                "by score alone may order otherwise; --break-ties keeps this order everywhere."
            )
        text = run_text(runs, escape=arguments.escape, break_ties=arguments.break_ties)
        texts[_free(texts, retriever, "run")] = text
    for judge, part in qrels.groupby("judge", sort=True):
        texts[_free(texts, str(judge), "qrels")] = qrels_text(part, escape=arguments.escape)
    if qrels.empty:
        notes.append(f"{name} has no judgements, so there is no qrels file.")
    for file, text in texts.items():
        _write(arguments.to / file, text)
    for note in notes:
        say(arguments, f"note: {note}")
    files = {file: text.count("\n") for file, text in texts.items()}
    for file, n in files.items():
        say(arguments, f"{arguments.to / file}: {n:,} lines")
    document = {"dataset": name, "folder": str(arguments.to), "files": files, "notes": notes}
    emit(arguments, document, f"{name}: {len(files)} files.")
    return 0


def _free(taken: dict[str, str], name: str, ending: str) -> str:
    """A file name for a retriever or judge that no other has, on any file system."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] or "data"
    names = [f"{slug}.{ending}", *(f"{slug}-{n}.{ending}" for n in range(2, len(taken) + 3))]
    used = {one.casefold() for one in taken}
    return next(one for one in names if one.casefold() not in used)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.part")
        try:
            beside.write_bytes(text.encode())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(f"{path.parent} is not a folder; name a folder with --to.") from error


def score(arguments: argparse.Namespace) -> int:
    """``score``: how much a text resembles AAL writing, by features and by words."""
    from dataclasses import asdict

    from biasret.precomputed import Folder
    from biasret.signals.dialect import scoring

    path = Folder().resource("twitteraae")
    table = scoring.CountTable.read(path) if path.exists() else None
    found = scoring.score(arguments.text, table=table)
    if arguments.json:
        document: dict[str, Any] = asdict(found)
        if found.share is not None:
            document["share"]["shares"] = dict(
                zip(scoring.COMPONENTS, found.share.shares, strict=True)
            )
        emit(arguments, document, "")
        return 0
    n = len(found.features)
    rate = "" if found.per_clause is None else f", {found.per_clause:.2f} a clause"
    print(
        f"AAL features recognised: {n} in {found.n_clauses} clause"
        f"{'' if found.n_clauses == 1 else 's'}{rate}"
    )
    for one in found.features:
        # A word that AAL leaves out has a place and no text.
        text = repr(one.text) if one.text else "(nothing)"
        print(
            f"  {one.start}-{one.end}  {text}  {one.feature.replace('_', ' ')} "
            f"(confidence {one.confidence:.2f})"
        )
    if found.share is None:
        print(f"Word share: none. {found.share_note}")
    else:
        share = found.share
        parts = ", ".join(
            f"{name.replace('_', ' ')} {value:.3f}"
            for name, value in zip(scoring.COMPONENTS, share.shares, strict=True)
        )
        weak = "; few, so a weak reading" if share.is_weak else ""
        print(f"Word share (twitteraae): {parts}")
        print(f"  {share.n_known} of {share.n_tokens} tokens are in the table{weak}")
    print("What this does not say:")
    for limit in found.limits:
        print(f"  - {limit}")
    return 0
