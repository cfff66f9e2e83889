"""The article-bias corpus: one JSON file an article, rated left, center or right by its outlet.

Baly, Da San Martino, Glass and Nakov (2020), *We Can Detect Your Bias*, with the fields its
README names. It has no round-ups, so headings of both sides are two groups, not pairs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Loaded
from biasret.datasets.compressed import files_below, unpacked
from biasret.datasets.decoding import decode
from biasret.datasets.fields import is_blank
from biasret.datasets.reading import shown
from biasret.datasets.tally import Tally
from biasret.errors import FileError, InputError
from biasret.progress import Progress, silent
from biasret.tables import STANCES

__all__ = ["load"]

#: Shorter articles are left out.
_LEAST = 100

_OF_NUMBER = dict(enumerate(STANCES))


def load(
    path: Path,
    *,
    name: str,
    queries: int = 1_000,
    seed: int = 42,
    progress: Progress = silent,
) -> Loaded:
    """Read a folder of articles and ask headings of both sides.

    Parameters
    ----------
    path
        The folder ``data/jsons``, or one above it.
    queries
        Headings asked of each side at most, drawn at random.
    seed
        Of the draw.

    Returns
    -------
    Loaded
        Text is title, blank line and ``content_original`` (``content`` is tokenised; it is
        taken where the other is blank). Groups are the outlets' ratings; what is resampled
        together is the outlet, because its headings share a style. The article a heading
        stands above is masked.

    Raises
    ------
    FileError, InputError
        There is no article, or none of one side.
    """
    files = files_below(path, ".json", holding="the articles")
    tally = Tally("articles")
    tally.n_read = len(files)
    documents: dict[str, dict[str, Any]] = {}
    with progress(f"{name}: articles", len(files)) as advance:
        for file in files:
            place = str(file.relative_to(path))
            document, why = _document(file)
            if document is None:
                tally.drop(why, place)
            elif document["doc_id"] in documents:
                tally.drop("the ID of another article", place)
            else:
                documents[document["doc_id"]] = document
            advance(1)
    if not documents:
        raise InputError(f"{path} holds no usable article: {' '.join(tally.notes())}")
    frame = pd.DataFrame(list(documents.values()), dtype="object")
    record = DatasetRecord(
        name=name,
        label="Article bias (AllSides outlets)",
        about=(
            "Headings of left- and right-rated outlets, at most "
            f"{queries:,} a side, searched in the articles of all outlets"
        ),
        signal="lean",
        is_paired=False,
        is_illustrative=False,
        minuend="right",
        subtrahend="left",
        source="Baly et al. (2020), We Can Detect Your Bias; ratings by AllSides",
        licence=(
            "Repository Apache-2.0; the articles belong to their outlets: for your own research, "
            "not to be passed on"
        ),
    )
    dataset = Dataset.checked(
        record,
        documents=frame,
        queries=_headings(frame, most=queries, seed=seed),
        qrels=pd.DataFrame(columns=["query_id", "doc_id", "judge", "grade"]),
    )
    return Loaded(dataset, tally.notes(), dict(tally.left_out))


def _document(file: Path) -> tuple[dict[str, Any] | None, str]:
    """One article, or why it is left out."""
    try:
        text, _ = decode(file, unpacked(file), encoding=None)
        article = json.loads(text)
    except FileError as error:
        return None, f"the file cannot be read ({error})"
    except (ValueError, RecursionError):
        return None, "the file is not valid JSON"
    if not isinstance(article, dict):
        return None, "the file holds no object"

    def field(key: str) -> str:
        value = article.get(key)
        return value.strip() if isinstance(value, str) and _storable(value) else ""

    stance = field("bias_text").casefold()
    number = article.get("bias")
    if stance not in STANCES:
        stance = _OF_NUMBER.get(number, "") if type(number) is int else ""
    elif type(number) is int and _OF_NUMBER.get(number) != stance:
        return None, "bias and bias_text disagree"
    doc_id, body = field("ID"), field("content_original") or field("content")
    if is_blank(doc_id):
        return None, "no ID"
    if not stance:
        return None, f"no rating of {', '.join(STANCES)}"
    if len(body) < _LEAST:
        return None, f"article under {_LEAST} characters"
    title = field("title")
    date = re.match(r"\d{4}-\d{2}-\d{2}", field("date"))
    return {
        "doc_id": doc_id,
        "text": f"{title}\n\n{body}" if title else body,
        "title": None if is_blank(title) else title,
        "stance": stance,
        "source": field("source") or None,
        "topic": field("topic") or None,
        "date": date.group() if date else None,
    }, ""


def _storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return "\0" not in text


def _headings(documents: pd.DataFrame, *, most: int, seed: int) -> pd.DataFrame:
    if most < 1:
        raise InputError(f"At least one heading a side is asked; found --queries {most}.")
    rng = np.random.default_rng(seed)
    parts = []
    titled = documents[documents["title"].notna()].sort_values("doc_id")
    for stance in ("left", "right"):
        side = titled[titled["stance"] == stance]
        if side.empty:
            raise InputError(
                f"No article with a title is rated {stance}, so there are not two sides to "
                f"compare; found {shown(sorted(set(documents['stance'])))}."
            )
        n = min(most, len(side))
        parts.append(side.iloc[np.sort(rng.choice(len(side), size=n, replace=False))])
    asked = pd.concat(parts)
    return pd.DataFrame(
        {
            "query_id": asked["doc_id"] + ":heading",
            "text": asked["title"],
            "group": asked["stance"],
            "variant": "heading",
            "cell_id": asked["doc_id"],
            "cluster_id": asked["source"].fillna(asked["doc_id"]),
            "source_doc_ids": [[doc_id] for doc_id in asked["doc_id"]],
            "origin": "found",
        }
    )
