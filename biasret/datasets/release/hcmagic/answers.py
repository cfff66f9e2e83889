"""The answers that both datasets search, and which of them are gold."""

from __future__ import annotations

import json

import pandas as pd

from biasret.datasets.compressed import unpacked
from biasret.datasets.decoding import decode
from biasret.datasets.release.files import Files, refuse
from biasret.errors import FileError

__all__ = ["DATA", "Shared", "shared"]

DATA = "hcmagic/data/hcmagic_100k"


class Shared:
    """What both datasets search, and which answers count as gold.

    Attributes
    ----------
    documents
        Without a dataset; no rows where the file is not there.
    gold
        By query of the release: every document whose answer is the gold answer's twin.
    """

    def __init__(self, documents: pd.DataFrame, gold: dict[str, list[str]]) -> None:
        self.documents = documents
        self.gold = gold
        self._of_text: dict[str, str] | None = None

    def with_text(self, answer: str) -> str | None:
        """The first document with this answer."""
        if self._of_text is None:
            first = self.documents.drop_duplicates("text")
            self._of_text = dict(zip(first["text"], first["doc_id"], strict=True))
        return self._of_text.get(answer)


def shared(files: Files) -> Shared:
    """Answers and judgments.

    Raises
    ------
    FileError
        A file is damaged.
    """
    rows = files.rows(f"{DATA}/corpus.jsonl")
    columns = ["doc_id", "text", "stance"]
    documents = pd.DataFrame(columns=columns, dtype="str")
    if rows is not None:
        documents = pd.DataFrame(
            {"doc_id": rows.texts("doc_id"), "text": rows.texts("answer"), "stance": None}
        ).fillna({"text": ""})
        twice = documents.loc[documents["doc_id"].duplicated(), "doc_id"]
        refuse(rows.path, twice, "repeat a document id", first_line=1)
    return Shared(documents, _qrels(files))


def _qrels(files: Files) -> dict[str, list[str]]:
    name = f"{DATA}/qrels.json"
    path = files.find(name)
    if path is None:
        return {}
    text, _ = decode(path, unpacked(path), encoding=None)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path.name} is not valid JSON ({error}); fetch it again.") from error
    if not isinstance(found, dict):
        raise FileError(f"{path.name} should be one object of queries; fetch it again.")
    gold: dict[str, list[str]] = {}
    for query_id, grades in found.items():
        if not isinstance(grades, dict) or not all(grade == 1 for grade in grades.values()):
            raise FileError(f"{path.name}: {query_id!r} should name documents of grade 1.")
        gold[query_id] = list(grades)
    files.n_read[name] = len(gold)
    return gold
