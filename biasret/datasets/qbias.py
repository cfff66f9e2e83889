"""Qbias: articles of AllSides headline round-ups, with the headings of each as queries.

The file is ``allsides_balanced_news_headlines-texts.csv`` of Haak and Schaer (2023). A
round-up puts outlets rated left, center and right side by side on one story, so a left and a
right heading of the same round-up are two wordings of one thing.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Loaded
from biasret.datasets.fields import is_blank
from biasret.datasets.mapping import find_column
from biasret.datasets.reading import Rows, read, shown
from biasret.datasets.tally import Tally
from biasret.errors import InputError
from biasret.progress import Progress, silent
from biasret.tables import STANCES

__all__ = ["LEAST", "load"]

#: Shorter articles are left out (Tang et al., release).
LEAST = 100

_COLUMNS = ("title", "heading", "source", "text", "bias_rating")


def load(
    path: Path,
    *,
    name: str,
    balanced: bool = False,
    seed: int = 42,
    encoding: str | None = None,
    progress: Progress = silent,
) -> Loaded:
    """Read the file.

    Parameters
    ----------
    balanced
        Keep round-ups with both a left and a right article, and in each as many left as
        right articles, drawn at random, and every center one (Tang et al., release). The
        paper's own draw is not known, so the draw is ours.
    seed
        Of the draw; each round-up has its own stream.

    Returns
    -------
    Loaded
        Document ids are ``qb_`` and the row, from 0, in six digits; the story is the
        round-up's title. The i-th left and the i-th right article of a round-up give a cell:
        two queries, their headings, for which both articles are masked.

    Raises
    ------
    FileError, TableError, InputError
        The file or a column is not there, or no pair is left.
    """
    with progress(f"{name}: reading {path.name}", 1) as advance:
        rows = read(path, encoding=encoding)
        advance(1)
    tally = Tally("articles")
    documents = _documents(rows, tally)
    if balanced:
        documents = _balanced(documents, tally, seed)
    queries = _pairs(documents, tally)
    if queries.empty:
        raise InputError(
            f"{path.name} holds no round-up with a left and a right article, so there is nothing "
            "to ask; check that its title column holds the round-ups."
        )
    record = DatasetRecord(
        name=name,
        label="Qbias (AllSides round-ups)",
        about=(
            "Headings of left- and right-rated outlets on the same round-up, searched in the "
            f"round-ups' articles{', balanced' if balanced else ''}"
        ),
        signal="lean",
        is_paired=True,
        is_illustrative=False,
        minuend="right",
        subtrahend="left",
        source="Haak and Schaer (2023), Qbias: AllSides balanced news to November 2022",
        licence=(
            "Articles belong to their outlets and ratings to AllSides; for your own research, "
            "not to be passed on"
        ),
    )
    dataset = Dataset.checked(
        record,
        documents=documents.drop(columns="place"),
        queries=queries,
        qrels=pd.DataFrame(columns=["query_id", "doc_id", "judge", "grade"]),
    )
    return Loaded(dataset, [*rows.notes, *tally.notes()], dict(tally.left_out))


def _documents(rows: Rows, tally: Tally) -> pd.DataFrame:
    columns = {
        column: rows.texts(find_column(column, rows.names, file=rows.path.name))
        for column in _COLUMNS
    }
    tally.n_read = len(rows.places)
    kept = []
    for row in range(len(rows.places)):
        story, heading, source, body, rating = (columns[column][row] or "" for column in _COLUMNS)
        stance = rating.strip().casefold()
        if stance not in STANCES:
            tally.drop(f"rating is not {', '.join(STANCES)}", f"{rows.place(row)}: {shown(rating)}")
        elif len(body.strip()) < LEAST:
            tally.drop(f"article under {LEAST} characters", rows.place(row))
        else:
            kept.append(
                {
                    "doc_id": f"qb_{row:06d}",
                    "text": f"{heading.strip()}\n\n{body.strip()}",
                    "title": None if is_blank(heading) else heading.strip(),
                    "stance": stance,
                    "source": None if is_blank(source) else source.strip(),
                    "story_id": None if is_blank(story) else story.strip(),
                    "place": rows.place(row),
                }
            )
    if not kept:
        raise InputError(
            f"{rows.path.name} holds no usable article: {'; '.join(tally.notes())} "
            "Check that it is the Qbias file."
        )
    return pd.DataFrame(kept, dtype="object")


def _balanced(documents: pd.DataFrame, tally: Tally, seed: int) -> pd.DataFrame:
    dropped: dict[int, str] = {}
    for story, part in documents.groupby("story_id", sort=True, dropna=False):
        of = {stance: part.index[part["stance"] == stance].to_numpy() for stance in STANCES}
        n = min(len(of["left"]), len(of["right"]))
        if n == 0 or not isinstance(story, str):
            dropped |= dict.fromkeys(part.index, "round-up without a left and a right article")
            continue
        rng = np.random.default_rng([seed, zlib.crc32(story.encode())])
        for stance in ("left", "right"):
            chosen = set(rng.choice(of[stance], size=n, replace=False))
            dropped |= {
                at: "article above the number of the other side in its round-up"
                for at in of[stance]
                if at not in chosen
            }
    for at in sorted(dropped):
        tally.drop(dropped[at], str(documents.loc[at, "place"]))
    return documents.drop(index=list(dropped))


def _pairs(documents: pd.DataFrame, tally: Tally) -> pd.DataFrame:
    sides: dict[str, dict[str, list[pd.Series]]] = defaultdict(lambda: {"left": [], "right": []})
    asked = documents[documents["title"].notna() & documents["story_id"].notna()]
    for _, row in asked.iterrows():
        if row["stance"] in sides[row["story_id"]]:
            sides[row["story_id"]][row["stance"]].append(row)
    queries = []
    for story, of in sides.items():
        for pair in zip(of["left"], of["right"], strict=False):
            ids = [str(row["doc_id"]) for row in pair]
            cell = "+".join(ids)
            for own, row in enumerate(pair):
                queries.append(
                    {
                        "query_id": f"{cell}:{row['stance']}",
                        "text": row["title"],
                        "group": row["stance"],
                        "variant": "heading",
                        "cell_id": cell,
                        "cluster_id": story,
                        "source_doc_ids": [ids[own], ids[1 - own]],
                        "origin": "found",
                    }
                )
    return pd.DataFrame(queries, dtype="object")
