"""What an editor of the demo texts needs to see; the tests read the same functions.

Run from the project: ``python tests/demo_review.py hard`` lists the questions whose first
document is not theirs and which nobody has looked at yet, ``overlap`` the phrases that two
stories or answers share, ``names`` the capitalised names of each story, ``aal`` the questions
in AAL in which the scorer finds nothing.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

PROJECT = Path(__file__).parents[1]
DATA = PROJECT / "tests" / "data"
#: A lexical and a dense retriever.
RETRIEVERS = ("bm25", "minilm-l6")

#: What was written, and the rewrites; mitigated wordings are made from these.
GROUPS = frozenset({"left", "neutral", "right", "WME", "AAL"})
#: What a sentence may begin with before a name.
_OPENERS = frozenset(
    "A After Along An At Before Beginning Between By Come For From If In Last Next On Since So "
    "Starting The Three To Two Under Until When Whether With "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
)
_WORD = re.compile(r"[a-z0-9$]+(?:['.,%-][a-z0-9]+)*")
_NAME = re.compile(
    r"\b[A-Z][a-z]+(?: [A-Z]\.)?(?: (?:Mc|Mac|O'|D')?[A-Z][a-z]+(?:-[A-Z][a-z]+)?)+(?:'s)?"
)


def grams(text: str, n: int) -> set[tuple[str, ...]]:
    """All runs of `n` words, case and punctuation aside."""
    words = _WORD.findall(text.lower())
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def shared_phrases(texts: Mapping[str, Iterable[str]], n: int) -> dict[str, list[str]]:
    """Runs of `n` words that occur under more than one key, with the keys."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for key, group in texts.items():
        for text in group:
            for gram in grams(text, n):
                found[gram].add(key)
    return {" ".join(gram): sorted(keys) for gram, keys in found.items() if len(keys) > 1}


def stories() -> list[dict]:
    """The files of ``demo_news``, by id."""
    folder = PROJECT / "biasret" / "datasets" / "demo_news"
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]


def questions() -> list[dict]:
    """The questions of ``demo_health``, by id."""
    folder = PROJECT / "biasret" / "datasets" / "demo_health"
    parts = (json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json")))
    return [question for part in parts for question in part]


def names(text: str) -> set[str]:
    """Runs of two and more capitalised words: people, places, institutions."""
    found = set()
    for match in _NAME.finditer(text):
        words = match.group().removesuffix("'s").split()
        while words and words[0] in _OPENERS:
            del words[0]
        if len(words) < 2:
            continue
        found.add(" ".join(words))
        # "Sheriff Tom Hascall" holds the name whatever office stands before it.
        found.update(" ".join(words[i : i + 2]) for i in range(len(words) - 1))
    return found


def _table(name: str, dataset: str, retriever: str) -> pd.DataFrame:
    return pd.read_parquet(PROJECT / "precomputed" / name / f"{dataset}--{retriever}.parquet")


def hard_cases(dataset: str) -> dict[tuple[str, str], list[str]]:
    """Questions whose first document is another's, from the shipped rankings.

    Returns
    -------
    ``(question, document)`` to the wordings and retrievers that rank so. A question is a cell:
    its wordings ask the same. In news any article of the story will do, as the masked source
    is not in the ranking.
    """
    queries = _queries(dataset).set_index("query_id")
    story = _documents(dataset).set_index("doc_id")["story_id"]
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for retriever in RETRIEVERS:
        runs = _table("runs", dataset, retriever)
        for row in runs[runs["rank"] == 1].itertuples():
            query = queries.loc[row.query_id]
            if query["group"] not in GROUPS:
                continue
            if dataset == "demo_news":
                is_own = story[row.doc_id] == query["cluster_id"]
            else:
                is_own = row.doc_id == f"{query['cell_id']}-answer"
            if not is_own:
                found[(query["cell_id"], row.doc_id)].append(f"{query['variant']} {retriever}")
    return dict(found)


def _queries(dataset: str) -> pd.DataFrame:
    return pd.read_parquet(PROJECT / "precomputed" / "queries" / f"{dataset}.parquet")


def _documents(dataset: str) -> pd.DataFrame:
    return pd.read_parquet(PROJECT / "precomputed" / "documents" / f"{dataset}.parquet")


def reviewed(dataset: str) -> dict[tuple[str, str], str]:
    """The pairs that somebody looked at, each with the reason why the question stays clear."""
    content = json.loads((DATA / "demo_hard_cases.json").read_text(encoding="utf-8"))
    return {(e["question"], e["document"]): e["reason"] for e in content[dataset]}


def unreviewed(dataset: str) -> dict[tuple[str, str], list[str]]:
    """Hard cases that nobody has looked at."""
    known = reviewed(dataset)
    return {pair: who for pair, who in hard_cases(dataset).items() if pair not in known}


def main(what: str) -> None:
    out = sys.stdout.write
    if what == "hard":
        for dataset in ("demo_news", "demo_written", "demo_health"):
            texts = _documents(dataset).set_index("doc_id")["text"]
            asked = _queries(dataset).drop_duplicates("cell_id").set_index("cell_id")["text"]
            for (cell, document), who in sorted(unreviewed(dataset).items()):
                out(f"{dataset} {cell} -> {document} ({', '.join(who)})\n")
                out(f"  Q {asked[cell]}\n  D {texts[document]}\n\n")
    elif what == "overlap":
        news = {s["story_id"]: [a["text"] for a in s["articles"]] for s in stories()}
        health = {q["id"]: [q["answer"]] for q in questions()}
        for texts in (news, health):
            for phrase, keys in sorted(shared_phrases(texts, 6).items()):
                out(f"{', '.join(keys)}: {phrase}\n")
    elif what == "names":
        for story in stories():
            found = set().union(*(names(a["text"]) for a in story["articles"]))
            out(f"{story['story_id']}: {', '.join(sorted(found))}\n")
    elif what == "aal":
        from biasret.signals import dialect

        for question in questions():
            if not dialect.score(question["aal"]).features:
                out(f"{question['id']}: {question['aal']}\n")
    else:
        raise SystemExit(f"Unknown list {what!r}; there are hard, overlap, names and aal.")


if __name__ == "__main__":
    sys.path.insert(0, str(PROJECT))
    main(sys.argv[1] if len(sys.argv) > 1 else "hard")
