"""What the datasets of both kinds of questions are made of: record, ranks, scores of tokens."""

from __future__ import annotations

import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Given, Loaded
from biasret.datasets.release import rankings
from biasret.datasets.release.files import Files, refuse
from biasret.datasets.release.hcmagic.answers import Shared
from biasret.tokens import tokenise

__all__ = [
    "GROUPS",
    "LABELLED",
    "SHORTEST",
    "assembled",
    "credited",
    "gold_ranks",
    "note_unwritten",
    "record_of",
    "token_scores",
]

LABELLED = "hcmagic/data/healthq_aal"
_RESULTS = "hcmagic/results"

#: Characters a question, its rewrites and its answer need.
SHORTEST = 20

#: Depths of the released recall.
_DEPTHS = (1, 5, 10, 20, 50, 100)

#: Variants of the release, and the group each signals here; ``back`` is AAL translated to WME.
GROUPS = {
    "wme_real": "WME",
    "aal_real": "AAL",
    "aal_synth1": "AAL",
    "aal_synth2": "AAL",
    "aal_synth3": "AAL",
    "trans_aal": "back",
}

SOURCE = (
    "The public release of Tang et al. 2026 (github.com/Andrewtcr/bias-ret); questions and "
    "answers from HealthCareMagic-100k"
)
LICENCE = (
    "Questions and answers stay under the terms of HealthCareMagic-100k: for research, not to be "
    "passed on with this project"
)


def record_of(name: str, label: str, about: str, *, is_paired: bool) -> DatasetRecord:
    """What is known of one of the datasets."""
    return DatasetRecord(
        name=name,
        label=label,
        about=f"{about}; ranks of the gold answer among all answers, without the lists",
        signal="dialect",
        is_paired=is_paired,
        is_illustrative=False,
        minuend="WME",
        subtrahend="AAL",
        source=SOURCE,
        licence=LICENCE,
    )


def gold_ranks(files: Files, file: str) -> dict[str, pd.DataFrame]:
    """Ranks by retriever: ``query_id`` (as here), ``release_id``, ``variant``, ``rank``.

    Raises
    ------
    TableError
        A reciprocal rank is not the reciprocal of a whole number, or recall contradicts it.
    """
    kinds = {
        "query_id": "text",
        "variant": "text",
        "mrr": "float",
        **{f"recall@{k}": "float" for k in _DEPTHS},
    }
    found = {}
    for retriever in files.folders(_RESULTS):
        name = f"{_RESULTS}/{retriever}/{file}"
        frame = files.frame(name, kinds)
        if frame is None:
            continue
        path = files.find(name)
        assert path is not None
        odd = ~frame["variant"].isin(GROUPS)
        refuse(path, frame.loc[odd, "variant"], f"have a variant not among {', '.join(GROUPS)}")
        is_zero = frame["mrr"] <= 0
        refuse(path, frame.loc[is_zero, "mrr"], "have a reciprocal rank that is not above 0")
        rank = (1 / frame["mrr"]).round()
        inexact = 1 / rank != frame["mrr"]
        refuse(path, frame.loc[inexact, "mrr"], "have a reciprocal rank of no whole rank")
        for k in _DEPTHS:
            other = frame[f"recall@{k}"] != (rank <= k)
            refuse(path, frame.loc[other, "mrr"], f"have a recall@{k} that contradicts the rank")
        is_rewrite = file.startswith("hcmagic_synth")
        ids = frame["query_id"] + (":" + frame["variant"] if is_rewrite else "")
        refuse(path, ids[ids.duplicated()], "repeat a query")
        found[retriever] = pd.DataFrame(
            {
                "query_id": ids,
                "release_id": frame["query_id"],
                "variant": frame["variant"],
                "rank": rank.astype("int64"),
            }
        )
    if not found:
        files.absent.append(f"{_RESULTS}/*/{file}")
    return found


def credited(table: pd.DataFrame, gold: dict[str, str], key: pd.Series) -> pd.DataFrame:
    """Judgements: one gold document for each query whose key has one."""
    found = key.map(gold)
    has = found.notna()
    return pd.DataFrame(
        {
            "query_id": table.loc[has, "query_id"],
            "doc_id": found[has],
            "judge": "answered by",
            "grade": 1,
        }
    )


def token_scores(files: Files, file: str) -> pd.DataFrame | None:
    """The released scores of tokens, minuend WME; None where they are not there."""
    return files.token_scores(f"{_RESULTS}/{file}", ("count_WME", "count_AAL"), sign=1)


def note_unwritten(n: int, notes: list[str]) -> None:
    """Say how many queries have results and no text."""
    if n:
        notes.append(
            f"{n:,} queries have results and no wording in the folder; they are kept by id, "
            "without a text."
        )


def assembled(
    record: DatasetRecord,
    queries: pd.DataFrame,
    judged: pd.DataFrame,
    both: Shared,
    metrics: dict[str, pd.DataFrame],
    notes: list[str],
    scores: pd.DataFrame | None,
) -> Loaded:
    """The dataset with its released ranks and scores."""
    queries = queries.assign(source_doc_ids=None, frame=None)
    documents = rankings.known_documents(both.documents, [], judged["doc_id"], notes)
    given: list[Given] = []
    if scores is not None:
        zeta = dict(zip(scores["token"], scores["zeta"], strict=True))
        given += _lexical(record.name, queries, zeta, notes)
        of = {"minuend": record.minuend, "subtrahend": record.subtrahend}
        given.append(Given("given_token_scores", scores.assign(dataset=record.name, **of)))
    for retriever, ranks in metrics.items():
        given += rankings.results(record.name, retriever, ranks=ranks[["query_id", "rank"]])
    dataset = Dataset.checked(record, documents=documents, queries=queries, qrels=judged)
    return Loaded(dataset, notes, {}, tuple(given))


def _lexical(
    name: str, queries: pd.DataFrame, scores: dict[str, float], notes: list[str]
) -> list[Given]:
    """Each question's score: the sum of the released scores of its tokens.

    The scores were fitted on these very texts, so a token that has none shows that the table of
    scores is not whole.
    """
    # Translations took no part in the fit; a text that is not there has no score.
    of = queries[(queries["group"] != "back") & (queries["text"] != "")]
    found = of["text"].map(tokenise)
    lost = {token for tokens in found for token in tokens if token not in scores}
    if lost or of.empty:
        notes.append(
            f"{len(lost):,} tokens of the questions have no released score, so none of the "
            "questions is given one."
        )
        return []
    value = found.map(lambda tokens: sum(scores[token] for token in tokens)).astype("float64")
    frame = of[["query_id"]].assign(dataset=name, quantity="lexical", value=value)
    return [Given("query_values", frame)]
