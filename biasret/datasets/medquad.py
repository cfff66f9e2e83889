"""MedQuAD: questions and answers of health sites of the NIH, one XML file a page.

Ben Abacha and Demner-Fushman (2019). Three of its folders carry no answers, for reasons of
copyright; their questions are left out and counted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Loaded
from biasret.datasets.compressed import files_below, unpacked
from biasret.datasets.fields import is_blank
from biasret.datasets.tally import Tally
from biasret.errors import FileError, InputError
from biasret.progress import Progress, silent

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["load"]


def load(path: Path, *, name: str, progress: Progress = silent) -> Loaded:
    """Read a folder of MedQuAD's files.

    Parameters
    ----------
    path
        The folder of the collection, or of one of its sites.

    Returns
    -------
    Loaded
        Ids are the folder and the question's own (``1_CancerGov_QA/0000001_1-1``), because
        question ids repeat between folders. No group is labelled; each question's gold is its
        own answer. Questions about one page are resampled together.

    Raises
    ------
    FileError, InputError
        There is no file, or no answer in any.
    """
    files = files_below(path, ".xml", holding="MedQuAD")
    tally = Tally("questions")
    pairs: dict[str, dict[str, Any]] = {}
    notes = []
    with progress(f"{name}: pages", len(files)) as advance:
        for file in files:
            place = str(file.relative_to(path))
            try:
                root = _parsed(file)
            except FileError as error:
                notes.append(f"{place} was passed over: {error}")
            else:
                for pair in _pairs(root, file, place, tally):
                    if pair["id"] in pairs:
                        tally.drop("an id that another question has", f"{place}, {pair['id']}")
                    else:
                        pairs[pair["id"]] = pair
            advance(1)
    if not pairs:
        raise InputError(f"{path} holds no question with an answer: {' '.join(tally.notes())}")
    n_bad = len(notes)
    if n_bad > Tally.MOST:
        notes[Tally.MOST :] = [f"{n_bad - Tally.MOST:,} more files were passed over."]
    left_out = dict(tally.left_out)
    if n_bad:
        left_out["files that cannot be read"] = n_bad
    found = pd.DataFrame(list(pairs.values()), dtype="object")
    record = DatasetRecord(
        name=name,
        label="MedQuAD",
        about=(
            "Questions of NIH health sites with their answers; most follow templates, and no "
            "group is labelled"
        ),
        signal="dialect",
        is_paired=False,
        is_illustrative=False,
        minuend=None,
        subtrahend=None,
        source="Ben Abacha and Demner-Fushman (2019), MedQuAD",
        licence="CC BY 4.0",
    )
    dataset = Dataset.checked(
        record,
        documents=pd.DataFrame(
            {
                "doc_id": found["id"],
                "text": found["answer"],
                "title": found["focus"],
                "source": found["source"],
                "topic": found["focus"],
            }
        ),
        queries=pd.DataFrame(
            {
                "query_id": found["id"],
                "text": found["question"],
                "variant": "original",
                "cell_id": found["id"],
                "cluster_id": found["page"],
                "origin": "found",
            }
        ),
        qrels=pd.DataFrame(
            {"query_id": found["id"], "doc_id": found["id"], "judge": "given", "grade": 1}
        ),
    )
    return Loaded(dataset, [*tally.notes(), *notes], left_out)


def _parsed(file: Path) -> Element:
    """The root of a file; entities, which can grow without bound, are refused."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(unpacked(file), forbid_dtd=True)
    except ParseError as error:
        raise FileError(f"{file.name} is not valid XML ({error}).") from error
    except DefusedXmlException as error:
        raise FileError(
            f"{file.name} declares a document type or entities, which these files never do; "
            "it is not read."
        ) from error
    except (ValueError, LookupError) as error:  # an encoding that is unknown or not kept
        raise FileError(f"{file.name} cannot be decoded ({error}).") from error
    return root


def _pairs(root: Element, file: Path, place: str, tally: Tally) -> list[dict[str, Any]]:
    page = f"{file.parent.name}/{root.get('id') or file.name.partition('.')[0]}"
    focus = _text(root.find("Focus"))
    found = []
    for number, pair in enumerate(root.iter("QAPair"), 1):
        tally.n_read += 1
        asked = pair.find("Question")
        question, answer = _text(asked), _text(pair.find("Answer"))
        own = asked.get("qid") if asked is not None else None
        where = f"{place}, question {own or number}"
        if is_blank(question):
            tally.drop("no question", where)
        elif is_blank(answer):
            tally.drop("no answer", where)
        else:
            found.append(
                {
                    "id": f"{file.parent.name}/{own}" if own else f"{page}-{number}",
                    "question": question,
                    "answer": answer,
                    "focus": focus or None,
                    "source": root.get("source") or None,
                    "page": page,
                }
            )
    return found


def _text(element: Element | None) -> str:
    return "" if element is None else "".join(element.itertext()).strip()
