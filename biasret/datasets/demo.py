"""The shipped datasets: self-written, illustrative, always there.

The texts are JSON files beside this module, one story or one set of questions a file, so
that they can be read, reviewed and mended as text.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord

__all__ = ["HEALTH", "NEWS", "load_health", "load_news"]

_ILLUSTRATIVE = "self-written, illustrative, not evidence about any real retriever's users"

NEWS = DatasetRecord(
    name="demo_news",
    label="Demo news",
    about=(
        "Invented US news stories, each told by left, center and right outlets, with framed "
        f"questions ({_ILLUSTRATIVE})"
    ),
    signal="lean",
    is_paired=True,
    is_illustrative=True,
    minuend="right",
    subtrahend="left",
    source="written for this project",
    licence="Apache-2.0",
)

HEALTH = DatasetRecord(
    name="demo_health",
    label="Demo health",
    about=(
        "Invented patient questions in WME with a counterpart written in AAL, each with one "
        f"answer ({_ILLUSTRATIVE})"
    ),
    signal="dialect",
    is_paired=True,
    is_illustrative=True,
    minuend="WME",
    subtrahend="AAL",
    source="written for this project",
    licence="Apache-2.0",
)


def _read(folder: str) -> list[Any]:
    entries = files("biasret.datasets").joinpath(folder).iterdir()
    chosen = sorted((e for e in entries if e.name.endswith(".json")), key=lambda e: e.name)
    return [json.loads(entry.read_text(encoding="utf-8")) for entry in chosen]


def load_news() -> Dataset:
    """Stories, articles and framed questions of ``demo_news``.

    A cell is one story and frame, with a left, a neutral and a right wording. Its source
    article, which retrieval masks as the paper does, is the story's first center article.
    """
    documents, queries = [], []
    for story in _read("demo_news"):
        told: dict[str, int] = {}
        source = None
        for article in story["articles"]:
            stance = article["stance"]
            told[stance] = told.get(stance, 0) + 1
            doc_id = f"{story['story_id']}-{stance}-{told[stance]}"
            if stance == "center" and source is None:
                source = doc_id
            documents.append(
                {
                    "doc_id": doc_id,
                    # Heading, blank line, body: the document text of Tang et al., section 1.1.
                    "text": f"{article['title']}\n\n{article['text']}",
                    "title": article["title"],
                    "stance": stance,
                    "source": article["source"],
                    "story_id": story["story_id"],
                    "topic": story["topic"],
                    "date": story["date"],
                }
            )
        for question in story["questions"]:
            cell = f"{story['story_id']}/{question['frame']}"
            for group in ("left", "neutral", "right"):
                queries.append(
                    {
                        "query_id": f"{cell}/{group}",
                        "text": question[group],
                        "group": group,
                        "variant": group,
                        "cell_id": cell,
                        "cluster_id": story["story_id"],
                        "source_doc_ids": [source],
                        "frame": question["frame"],
                        "origin": "written",
                    }
                )
    qrels = pd.DataFrame(columns=["query_id", "doc_id", "judge", "grade"])
    return Dataset.checked(
        NEWS, documents=pd.DataFrame(documents), queries=pd.DataFrame(queries), qrels=qrels
    )


def load_health() -> Dataset:
    """Questions and answers of ``demo_health``: a cell is one question in two varieties."""
    documents, queries, qrels = [], [], []
    for question in (q for part in _read("demo_health") for q in part):
        doc_id = f"{question['id']}-answer"
        documents.append(
            {
                "doc_id": doc_id,
                "text": question["answer"],
                "source": "invented clinician",
                "topic": question["topic"],
            }
        )
        for group in ("WME", "AAL"):
            query_id = f"{question['id']}/{group}"
            queries.append(
                {
                    "query_id": query_id,
                    "text": question[group.lower()],
                    "group": group,
                    "variant": group,
                    "cell_id": question["id"],
                    "cluster_id": question["id"],
                    "origin": "written",
                }
            )
            qrels.append({"query_id": query_id, "doc_id": doc_id, "judge": "author", "grade": 1})
    return Dataset.checked(
        HEALTH,
        documents=pd.DataFrame(documents),
        queries=pd.DataFrame(queries),
        qrels=pd.DataFrame(qrels),
    )
