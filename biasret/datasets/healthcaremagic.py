"""HealthCareMagic-100k: patients' questions, each with a clinician's answer.

The file of Li et al. (2023, ChatDoctor): a JSON list of ``{"instruction", "input",
"output"}``. Every answer can be retrieved; questions are drawn, or labelled by their words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasret.catalogue import Catalogue
from biasret.datasets.base import Dataset, DatasetRecord, Loaded
from biasret.datasets.compressed import ending, unpacked
from biasret.datasets.decoding import decode
from biasret.datasets.reading import read
from biasret.datasets.tally import Tally
from biasret.errors import FileError, InputError
from biasret.progress import Progress, silent

if TYPE_CHECKING:
    from biasret.signals.dialect.scoring import CountTable

__all__ = ["LABELS", "LEAST", "Labelling", "load"]

#: Questions of fewer characters, stripped, are not asked (Tang et al., release).
LEAST = 20
#: Questions asked where nobody says how many (the paper's synthetic base).
_MOST = 5_000

#: Row of a question asked, and its group in lower case.
_Chosen = tuple[int, str | None]


@dataclass(frozen=True)
class Labelling:
    """How questions get a dialect label from the shares of their words.

    Attributes
    ----------
    takes_unknown
        Whether a question too few of whose words are in the table counts as AAL.
    """

    name: str
    about: str
    takes_unknown: bool


LABELS: Catalogue[Labelling] = Catalogue(
    "labelling",
    [
        Labelling(
            "paper",
            "the largest share decides, and a question without shares counts as AAL, as in the "
            "paper; keyboard noise is then among the AAL questions",
            takes_unknown=True,
        ),
        Labelling(
            "known-words",
            "the largest share decides, and a question without shares is left out",
            takes_unknown=False,
        ),
    ],
)


def load(
    path: Path,
    *,
    name: str,
    queries: int | None = None,
    dialect_labels: str | None = None,
    table: CountTable | None = None,
    seed: int = 42,
    encoding: str | None = None,
    progress: Progress = silent,
) -> Loaded:
    """Read the file and draw questions.

    Parameters
    ----------
    path
        A ``.json`` list, or JSON Lines or Parquet with the same names.
    queries
        Questions asked at most; of each group where they are labelled. None: 5,000, or all
        that are labelled AAL.
    dialect_labels
        A key of `LABELS`; None labels nobody.
    table
        The twitteraae counts; needed to label.
    seed
        Of the draw.

    Returns
    -------
    Loaded
        Document ids are ``hcm100k_`` and the row, from 0; the text is the stripped answer.
        A question's gold is its own row's answer; `class_rank` credits equal answers.
        Labelled, questions are ``hcm_aal_<row>`` and ``hcm_wme_<row>``, as many WME as AAL,
        drawn at random: AAL where the African American share is the largest of the four, WME
        where the White share is (Tang et al., section 3; ties to the earlier component).
        The labels rate words, never who wrote them.

    Raises
    ------
    FileError, TableError, InputError
        The file is not of this form, the table is missing, or a group is empty.
    """
    labelling = None if dialect_labels is None else LABELS[dialect_labels]
    if labelling is not None and table is None:
        raise InputError(
            "Labels need the twitteraae table, which has not been imported; run "
            "`python -m biasret import twitteraae PATH` first."
        )
    if queries is not None and queries < 1:
        raise InputError(f"At least one question is asked; found --queries {queries}.")
    with progress(f"{name}: reading {path.name}", 1) as advance:
        asked, answers, places = _entries(path, encoding)
        advance(1)
    tally = Tally("entries")
    tally.n_read = len(answers)
    kept = [row for row, answer in enumerate(answers) if answer.strip()]
    for row, answer in enumerate(answers):
        if not answer.strip():
            tally.drop("no answer", places[row])
    if not kept:
        raise InputError(f"{path.name} holds no answer: {' '.join(tally.notes())}")
    askable = [row for row in kept if len(asked[row].strip()) >= LEAST]
    notes = [
        *tally.notes(),
        f"{len(kept) - len(askable):,} questions of under {LEAST} characters are not asked; "
        "their answers can be retrieved.",
    ]
    rng = np.random.default_rng(seed)
    if labelling is None:
        chosen: list[_Chosen] = [(row, None) for row in _drawn(askable, queries or _MOST, rng)]
        about = f"{len(chosen):,} of its questions, drawn at random; no group is labelled"
    else:
        assert table is not None
        chosen = _labelled(asked, askable, labelling, table, queries, rng, notes, name, progress)
        about = (
            "Questions whose words the twitteraae model rates African American or White; "
            f"{labelling.about}"
        )
    record = DatasetRecord(
        name=name,
        label="HealthCareMagic-100k",
        about=about,
        signal="dialect",
        is_paired=False,
        is_illustrative=False,
        minuend=None if labelling is None else "WME",
        subtrahend=None if labelling is None else "AAL",
        source="HealthCareMagic-100k of Li et al. (2023), ChatDoctor",
        licence=(
            "As its publishers state (academic use); patients' texts: for your own research, not "
            "to be passed on"
        ),
    )
    dataset = Dataset.checked(
        record,
        documents=pd.DataFrame(
            {
                "doc_id": [f"hcm100k_{row}" for row in kept],
                "text": [answers[row].strip() for row in kept],
            }
        ),
        queries=_queries(asked, chosen),
        qrels=pd.DataFrame(
            {
                "query_id": [_query_id(row, group) for row, group in chosen],
                "doc_id": [f"hcm100k_{row}" for row, _ in chosen],
                "judge": "given",
                "grade": 1,
            }
        ),
    )
    return Loaded(dataset, notes, dict(tally.left_out))


def _entries(path: Path, encoding: str | None) -> tuple[list[str], list[str], list[str]]:
    """Questions, answers and where each stands; blank where there is none."""
    if ending(path) != ".json":
        rows = read(path, encoding=encoding)
        absent = [key for key in ("input", "output") if key not in rows.names]
        if absent:
            raise FileError(
                f"{path.name} has no column {absent[0]!r}; found {', '.join(rows.names)}."
            )
        asked, answers = ([cell or "" for cell in rows.texts(key)] for key in ("input", "output"))
        return asked, answers, [rows.place(row) for row in range(len(asked))]
    text, _ = decode(path, unpacked(path), encoding=encoding)
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{path.name}, line {error.lineno}: not valid JSON ({error.msg}); fetch it again."
        ) from error
    except RecursionError as error:
        raise FileError(f"{path.name} is nested too deeply to be this file.") from error
    if not isinstance(entries, list):
        raise FileError(
            f"{path.name} holds {type(entries).__name__}, not a list of entries with instruction, "
            "input and output."
        )
    places = [f"{path.name}, entry {row}" for row in range(len(entries))]
    both: tuple[list[str], list[str]] = ([], [])
    for place, entry in zip(places, entries, strict=True):
        for key, found in zip(("input", "output"), both, strict=True):
            value = entry.get(key) if isinstance(entry, dict) else None
            if not isinstance(value, str):
                raise FileError(f"{place}: no text under {key!r}; is this HealthCareMagic-100k?")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise FileError(f"{place}: {key!r} holds half a surrogate pair.") from error
            if "\0" in value:
                raise FileError(f"{place}: {key!r} holds a NUL; remove it.")
            found.append(value)
    return both[0], both[1], places


def _drawn(rows: Sequence[int], n: int, rng: np.random.Generator) -> list[int]:
    """`n` of the rows, in order; all where there are not more."""
    if len(rows) <= n:
        return list(rows)
    return [rows[at] for at in np.sort(rng.choice(len(rows), size=n, replace=False))]


def _labelled(
    asked: Sequence[str],
    rows: Sequence[int],
    labelling: Labelling,
    table: CountTable,
    most: int | None,
    rng: np.random.Generator,
    notes: list[str],
    name: str,
    progress: Progress,
) -> list[_Chosen]:
    from biasret.signals.dialect.scoring import posteriors

    parts = []
    with progress(f"{name}: labels", len(rows)) as advance:
        for start in range(0, len(rows), 2_048):
            part = rows[start : start + 2_048]
            parts.append(posteriors([asked[row].lower().split() for row in part], table))
            advance(len(part))
    shares = np.concatenate(parts) if parts else np.empty((0, 4))
    unknown = np.isnan(shares[:, 0])
    largest = np.argmax(np.nan_to_num(shares), axis=1)  # without shares all are 0: the first
    if not labelling.takes_unknown:
        largest[unknown] = -1
    aal = [row for row, at in zip(rows, largest, strict=True) if at == 0]
    wme = [row for row, at in zip(rows, largest, strict=True) if at == 3]
    n_unknown = int(unknown.sum())
    what = "count as AAL" if labelling.takes_unknown else "are left out"
    notes.append(f"{n_unknown:,} questions have too few known words to be rated; they {what}.")
    notes.append(f"{len(aal):,} questions are labelled AAL and {len(wme):,} WME.")
    if not aal or not wme:
        raise InputError(
            f"Of {len(rows):,} questions {len(aal):,} are labelled AAL and {len(wme):,} WME, so "
            "there are not two groups to compare; leave out --dialect-labels."
        )
    n = min(len(aal), len(wme), most or len(aal))
    drawn = {"aal": _drawn(aal, n, rng), "wme": _drawn(wme, n, rng)}
    return [(row, group) for group, of in drawn.items() for row in of]


def _query_id(row: int, group: str | None) -> str:
    return f"hcm_{group or 'q'}_{row}"


def _queries(asked: Sequence[str], chosen: Sequence[_Chosen]) -> pd.DataFrame:
    ids = [_query_id(row, group) for row, group in chosen]
    return pd.DataFrame(
        {
            "query_id": ids,
            "text": [asked[row] for row, _ in chosen],
            "group": pd.Series([group and group.upper() for _, group in chosen], dtype="object"),
            "variant": [group or "original" for _, group in chosen],
            "cell_id": ids,
            "cluster_id": ids,
            "origin": "found",
        }
    )
