"""Commands that ask a chat model: relevance, frames, framed queries, ideology."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biasret.commands.shared import emit, known_dataset, open_store, progress_bar, say
from biasret.errors import InputError

__all__ = ["frames", "ideology", "judge", "queries"]


@contextmanager
def _client(arguments: argparse.Namespace) -> Iterator[Any]:
    """The chat client that the command line, or else the environment, names."""
    import os

    from biasret.llm import ChatClient, endpoint_from_environment

    given = {"BIASRET_LLM_URL": arguments.endpoint, "BIASRET_LLM_MODEL": arguments.model}
    endpoint = endpoint_from_environment(
        {**os.environ, **{name: value for name, value in given.items() if value}}
    )
    if endpoint is None:
        raise InputError(
            "No chat endpoint is named; say --endpoint URL --model M, or set BIASRET_LLM_URL and "
            "BIASRET_LLM_MODEL. A key is read from BIASRET_LLM_KEY alone."
        )
    for name, least in (("workers", 1), ("limit", 0), ("max_tokens", 1)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise InputError(
                f"--{name.replace('_', '-')} should be at least {least}; found {value}."
            )
    with ChatClient(endpoint, per_minute=arguments.per_minute) as client:
        yield client


def _ask(
    arguments: argparse.Namespace,
    client: Any,
    tasks: Sequence[Any],
    *,
    title: str,
    journal: Any,
    read: Callable[[str], Any],
    schema: Any = None,
) -> Any:
    from biasret.asking import ask_all

    n = sum(journal.get(task) is None for task in tasks)
    with progress_bar(title, n if arguments.limit is None else min(n, arguments.limit)) as advance:
        return ask_all(
            client,
            tasks,
            journal=journal,
            read=read,
            schema=schema,
            max_tokens=arguments.max_tokens,
            workers=arguments.workers,
            limit=arguments.limit,
            progress=advance,
        )


def _counts(arguments: argparse.Namespace, tally: Any) -> dict[str, Any]:
    """What a run did and cost, for people and programs."""
    counts = {
        "asked": tally.n_asked,
        "answered": tally.n_answered,
        "unreadable": tally.n_unreadable,
        "left": tally.n_tasks - tally.n_answered,
        "prompt_tokens": tally.prompt_tokens,
        "completion_tokens": tally.completion_tokens,
    }
    if arguments.price is not None:
        counts["cost"] = tally.cost(arguments.price)
    cost = f", cost {counts['cost']:.4f}" if "cost" in counts else ""
    say(
        arguments,
        f"asked {tally.n_asked:,} now; {tally.n_answered:,} of {tally.n_tasks:,} answered, "
        f"{tally.n_unreadable:,} without a readable answer; "
        f"{tally.prompt_tokens + tally.completion_tokens:,} tokens in all{cost}",
    )
    return counts


def judge(arguments: argparse.Namespace) -> int:
    """``judge``: grade the pooled documents of every list, or bring grades in."""
    from biasret import judging
    from biasret.build import read_dataset
    from biasret.precomputed import Folder
    from biasret.store import make_database

    folder = Folder()
    store = open_store()
    name = known_dataset(store, arguments.dataset)
    dataset = read_dataset(folder, name)
    who = judging.checked_name(arguments.judge, dataset.qrels["judge"].unique().tolist())
    kinds = store.rows("judges", name, judge=who)["kind"].tolist()
    about: dict[str, Any] = {"dataset": name, "judge": who}
    if arguments.source is not None:
        if kinds and not arguments.replace:
            raise InputError(f"{who!r} has judged {name!r} already; add --replace to replace that.")
        graded = judging.graded_in_file(arguments.source, dataset, judge=who)
        kept: dict[str, Any] = {"kind": "file"}
        for reason, n in graded.left_out.items():
            say(arguments, f"left out: {n:,} rows {reason}")
        about["left_out"] = graded.left_out
    elif kinds == ["file"]:
        raise InputError(
            f"The grades of {who!r} on {name!r} came from a file; choose another name for a model."
        )
    else:
        graded, kept, counts = _graded(arguments, folder, store, dataset, who)
        about.update(counts)
    store.close()
    with folder.lock():
        judging.save(folder, name, who, graded, **kept)
        folder.write_manifest(command="python -m biasret judge")
        make_database(folder)
    n_relevant = int((graded.qrels["grade"] >= 1).sum())
    about.update(
        pool=graded.n_pool,
        graded=len(graded.qrels),
        relevant=n_relevant,
        missing=graded.n_missing,
    )
    emit(
        arguments,
        about,
        f"{who} on {name}: {len(graded.qrels):,} of {graded.n_pool:,} pairs graded, "
        f"{n_relevant:,} relevant, {graded.n_missing:,} missing. Next: python -m biasret build "
        f"--dataset {name!r}",
    )
    return 0


def _graded(
    arguments: argparse.Namespace, folder: Any, store: Any, dataset: Any, who: str
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    from biasret import judging
    from biasret.asking import open_journal
    from biasret.prompts import GRADE_SCHEMA, RUBRICS

    name = dataset.record.name
    rubric = judging.default_rubric(dataset.record)
    if arguments.rubric is not None:
        rubric = RUBRICS[arguments.rubric]
    pairs = judging.pool(store.top(name, judging.DEPTH), dataset.queries, dataset.record)
    if pairs.empty:
        raise InputError(
            f"No retriever has been run on {name!r}, so there is nothing to judge; run "
            f"`python -m biasret build --dataset {name!r}`."
        )
    tasks = judging.tasks(pairs, dataset.queries, dataset.documents, rubric)
    path = folder.path / "judging" / folder.file("qrels", name, who).with_suffix(".jsonl").name
    with _client(arguments) as client:
        model = client.endpoint.model
        with open_journal(path, about={"model": model, "rubric": rubric.name}) as journal:
            tally = _ask(
                arguments,
                client,
                tasks,
                title=f"{name}: {who}",
                journal=journal,
                read=judging.read_grade,
                schema=GRADE_SCHEMA,
            )
            graded = judging.graded_by_model(journal, tasks, tally)
    counts = {"model": model, "rubric": rubric.name, **_counts(arguments, tally)}
    return graded, {"kind": "model", "model": model, "rubric": rubric.name, "tally": tally}, counts


def _to_file(
    arguments: argparse.Namespace,
    tasks: Sequence[Any],
    *,
    what: str,
    read: Callable[[str], Any],
    rows: Callable[[Any, str], Iterator[dict[str, Any]]],
    schema: Any = None,
) -> int:
    """Ask, and write what was answered to a file of JSON Lines."""
    from biasret import llm_tasks
    from biasret.asking import open_journal

    out: Path = arguments.out
    if out.suffix != ".jsonl":
        raise InputError(f"--out names a file of JSON Lines (.jsonl); found {out.name!r}.")
    if not tasks:
        raise InputError(f"There is nothing to ask about: no {what} fits what was chosen.")
    with (
        _client(arguments) as client,
        open_journal(
            # Not named as the file is: an import of its folder would take it for one.
            out.with_name(f"answers-{out.name}"),
            about={"task": what, "model": client.endpoint.model},
        ) as journal,
    ):
        tally = _ask(
            arguments, client, tasks, title=what, journal=journal, read=read, schema=schema
        )
        n_rows = llm_tasks.write_rows(out, rows(journal, client.endpoint.model))
        refused = llm_tasks.rejected(journal, tasks)
        counts = _counts(arguments, tally)
    for one in refused[:20]:
        say(arguments, f"rejected: {' / '.join(one.key)}: {one.why}")
    if len(refused) > 20:
        say(arguments, f"rejected: {len(refused) - 20:,} more")
    document = {
        **counts,
        "out": str(out),
        "rows": n_rows,
        "rejected": [{"key": list(one.key), "why": one.why} for one in refused],
    }
    emit(arguments, document, f"{out}: {n_rows:,} rows")
    return 0


def frames(arguments: argparse.Namespace) -> int:
    """``frames``: which of the fifteen media frames each article uses."""
    from biasret import llm_tasks
    from biasret.prompts import FRAME_SCHEMA

    store = open_store()
    documents = store.documents(known_dataset(store, arguments.dataset))
    if arguments.stance is not None:
        documents = documents[documents["stance"] == arguments.stance]
    tasks = llm_tasks.frame_tasks(documents)
    return _to_file(
        arguments,
        tasks,
        what="frames",
        read=llm_tasks.read_frames,
        rows=lambda journal, model: llm_tasks.frame_rows(journal, tasks),
        schema=FRAME_SCHEMA,
    )


def queries(arguments: argparse.Namespace) -> int:
    """``queries``: a neutral, a left and a right query for every article and frame."""
    from biasret import llm_tasks
    from biasret.prompts import QUERY_SCHEMA

    store = open_store()
    documents = store.documents(known_dataset(store, arguments.dataset))
    cells = llm_tasks.read_cells(arguments.frames, documents, least=arguments.salience)
    tasks = llm_tasks.query_tasks(cells, documents)
    return _to_file(
        arguments,
        tasks,
        what="queries",
        read=llm_tasks.read_queries,
        rows=lambda journal, model: llm_tasks.query_rows(
            journal, tasks, origin=f"generated ({model})"
        ),
        schema=QUERY_SCHEMA,
    )


def ideology(arguments: argparse.Namespace) -> int:
    """``ideology``: which political views the wording of each post suggests."""
    from biasret import llm_tasks

    posts = llm_tasks.read_posts(arguments.path)
    tasks = llm_tasks.ideology_tasks(posts)
    return _to_file(
        arguments,
        tasks,
        what="ideology",
        read=llm_tasks.read_ideology,
        rows=lambda journal, model: llm_tasks.ideology_rows(journal, tasks, posts),
    )
