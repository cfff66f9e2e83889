"""A framing query set from any questions or headings: left, neutral and right of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from biasret.errors import InputError, UnknownName
from biasret.signals.framing.neutral import neutralise
from biasret.signals.framing.records import ENGINE, STANCES
from biasret.signals.framing.results import FramedTriple
from biasret.signals.framing.variants import MODES, variants
from biasret.tables import check

__all__ = ["FramingSet", "framing_queries", "framing_set"]

_COLUMNS = ("source_id", "text")


@dataclass(frozen=True)
class FramingSet:
    """A query set and what did not come into it.

    Attributes
    ----------
    queries
        A ``queries`` table: three rows for each cell, ``group`` left, neutral or right.
    dropped
        One row for each text left out: ``source_id``, ``text``, ``why``.
    cells
        One row for each cell: ``cell_id``, ``topic``, ``frame``, ``mode``, ``n_swaps``
        (terms swapped on the side that swaps more) and ``is_one_sided``.
    """

    queries: pd.DataFrame
    dropped: pd.DataFrame
    cells: pd.DataFrame


def framing_queries(
    texts: pd.DataFrame,
    *,
    mode: str,
    dataset: str,
    intensity: int = 1,
    seed: int = 0,
    frames: tuple[str, ...] = (),
    is_one_sided_kept: bool = True,
    is_neutralised: bool = False,
) -> pd.DataFrame:
    """The ``queries`` table of `framing_set`.

    Examples
    --------
    >>> texts = pd.DataFrame({"source_id": ["a1"], "text": ["Do voter ID laws lower turnout?"]})
    >>> framing_queries(texts, mode="lexical", dataset="mine")[["group", "text"]].values.tolist()
    ... # doctest: +NORMALIZE_WHITESPACE
    [['left', 'Do restrictive voter ID laws lower turnout?'],
     ['neutral', 'Do voter ID laws lower turnout?'],
     ['right', 'Do commonsense voter ID laws lower turnout?']]
    """
    return framing_set(
        texts,
        mode=mode,
        dataset=dataset,
        intensity=intensity,
        seed=seed,
        frames=frames,
        is_one_sided_kept=is_one_sided_kept,
        is_neutralised=is_neutralised,
    ).queries


def framing_set(
    texts: pd.DataFrame,
    *,
    mode: str,
    dataset: str,
    intensity: int = 1,
    seed: int = 0,
    frames: tuple[str, ...] = (),
    is_one_sided_kept: bool = True,
    is_neutralised: bool = False,
) -> FramingSet:
    """Left, neutral and right wordings of every text that the mode can vary.

    Parameters
    ----------
    texts
        One row for each question or heading: ``source_id`` (distinct, becomes the cell) and
        ``text``; optional ``story_id`` (becomes the cluster; the source where it is missing)
        and ``source_doc_ids`` (documents to mask; a list).
    mode
        A mode of `variants`; ``lexical`` for minimal pairs, ``framed`` for the paper's kind.
    dataset
        Name written into the table.
    intensity, seed
        As in `variants`.
    frames
        Frames to ask for, one cell each; empty for the one detected in each text.
    is_one_sided_kept
        Whether to keep cells in which only one side has a wording of its own, such as
        *Obamacare*. They are no symmetric pair; leave them out to be strict.
    is_neutralised
        Write `neutralise` of each wording instead, to see what the mitigation closes. The
        cells are those of the same call without it, so the two sets pair by cell.

    Returns
    -------
    FramingSet
        A text is dropped where its left and right wordings are the same or repeat each other.

    Raises
    ------
    InputError
        A column is missing, ids repeat or a text is missing.
    UnknownName
        No such mode or frame.
    """
    absent = [column for column in _COLUMNS if column not in texts.columns]
    if absent:
        raise InputError(
            f"The texts lack the column {', '.join(map(repr, absent))}; "
            f"found {', '.join(map(repr, texts.columns)) or 'none'}."
        )
    if texts["source_id"].isna().any() or texts["text"].isna().any():
        raise InputError("Each text needs a source_id and a text; leave rows without them out.")
    if texts["source_id"].astype("str").duplicated().any():
        first = texts.loc[texts["source_id"].astype("str").duplicated(), "source_id"].iloc[0]
        raise InputError(f"The source_id {first!r} stands in several rows; each needs its own.")
    if mode not in MODES:
        raise UnknownName("mode", mode, MODES)
    rows: list[dict[str, Any]] = []
    dropped: list[dict[str, str]] = []
    cells: list[dict[str, Any]] = []
    for source in texts.to_dict("records"):
        for frame in frames or (None,):
            triple = variants(
                source["text"], mode=mode, frame=frame, intensity=intensity, seed=seed
            )
            why = _why_dropped(triple, is_one_sided_kept)
            if why is not None:
                entry = {"source_id": str(source["source_id"]), "text": source["text"], "why": why}
                dropped.append(entry)
                continue
            cell = str(source["source_id"]) if not frames else f"{source['source_id']}/{frame}"
            rows += _rows(source, triple, cell, is_neutralised)
            cells.append(
                {
                    "cell_id": cell,
                    "topic": triple.topic,
                    "frame": triple.frame,
                    "mode": triple.mode,
                    "n_swaps": max(triple.n_swaps.values()),
                    "is_one_sided": bool(triple.one_sided),
                }
            )
    columns = ["query_id", "text", "group", "variant", "cell_id", "cluster_id", "source_doc_ids",
               "frame", "origin"]  # fmt: skip
    queries = pd.DataFrame(rows, columns=columns).assign(dataset=dataset, signal="lean")
    return FramingSet(
        queries=check(queries, "queries"),
        dropped=pd.DataFrame(dropped, columns=["source_id", "text", "why"]),
        cells=pd.DataFrame(
            cells, columns=["cell_id", "topic", "frame", "mode", "n_swaps", "is_one_sided"]
        ),
    )


def _why_dropped(triple: FramedTriple, is_one_sided_kept: bool) -> str | None:
    if not triple.is_changed:
        return triple.notices[0] if triple.notices else "Left and right have the same wording."
    if triple.one_sided and not is_one_sided_kept:
        return "Only one side has a wording of its own."
    return None


def _rows(
    source: dict[str, Any], triple: FramedTriple, cell: str, is_neutralised: bool
) -> Iterator[dict[str, Any]]:
    story = source.get("story_id")
    masked = source.get("source_doc_ids")
    origin = f"generated ({ENGINE}, {triple.mode}"
    origin += ", neutralised)" if is_neutralised else ")"
    for stance in STANCES:
        text = triple.variant(stance).text
        yield {
            "query_id": f"{cell}/{stance}",
            "text": neutralise(text).text if is_neutralised else text,
            "group": stance,
            "variant": stance,
            "cell_id": cell,
            "cluster_id": story if isinstance(story, str) and story else str(source["source_id"]),
            "source_doc_ids": list(masked) if isinstance(masked, (list, tuple)) else None,
            "frame": triple.frame,
            "origin": origin,
        }
