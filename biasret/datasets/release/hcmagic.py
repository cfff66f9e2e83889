"""HealthCareMagic of the release: answers, rewritten and natural questions, ranks of their gold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Given, Loaded
from biasret.datasets.compressed import unpacked
from biasret.datasets.decoding import decode
from biasret.datasets.release import rankings
from biasret.datasets.release.files import Files, refuse
from biasret.errors import FileError
from biasret.tokens import tokenise

__all__ = ["Shared", "load_natural", "load_rewritten", "shared"]

_BASE = "hcmagic"
_DATA = f"{_BASE}/data/hcmagic_100k"
_LABELLED = f"{_BASE}/data/healthq_aal"

#: Characters a question, its rewrites and its answer need.
_SHORTEST = 20

#: Depths of the released recall.
_DEPTHS = (1, 5, 10, 20, 50, 100)

#: Variants of the release, and the group each signals here; ``back`` is AAL translated to WME.
_GROUPS = {
    "wme_real": "WME",
    "aal_real": "AAL",
    "aal_synth1": "AAL",
    "aal_synth2": "AAL",
    "aal_synth3": "AAL",
    "trans_aal": "back",
}
_REWRITES = ("aal_synth1", "aal_synth2", "aal_synth3")

SOURCE = (
    "The public release of Tang et al. 2026 (github.com/Andrewtcr/bias-ret); questions and "
    "answers from HealthCareMagic-100k"
)
LICENCE = (
    "Questions and answers stay under the terms of HealthCareMagic-100k: for research, not to be "
    "passed on with this project"
)


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
    rows = files.rows(f"{_DATA}/corpus.jsonl")
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
    name = f"{_DATA}/qrels.json"
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


# -- rewritten questions -------------------------------------------------------------------


def load_rewritten(files: Files, name: str, both: Shared) -> Loaded | None:
    """Questions in WME, each with three generated AAL rewrites; None where there are none."""
    notes: list[str] = []
    metrics = _metrics(files, "hcmagic_synth_per_query_metrics.csv")
    paired = _paired(files, notes)
    if paired is None and not metrics:
        return None
    queries = [] if paired is None else list(_wordings(paired))
    known = {query["query_id"] for query in queries}
    lost = {
        (query_id, variant): None
        for frame in metrics.values()
        for query_id, variant in zip(frame["release_id"], frame["variant"], strict=True)
        if f"{query_id}:{variant}" not in known
    }
    queries += [_wording(query_id, variant, "") for query_id, variant in lost]
    _note_unwritten(len(lost), notes)
    table = pd.DataFrame(queries)
    gold = {} if paired is None else dict(zip(paired["qid"], paired["gold"], strict=True))
    gold = {**{query: ids[0] for query, ids in both.gold.items()}, **gold}
    judged = _credited(table, gold, table["cell_id"])
    record = _record(
        name,
        "HealthCareMagic, rewritten questions (authors' release)",
        "Patients' questions in WME and three AAL rewrites of each by Multi-VALUE and PhonATe; "
        "a question's AAL value is the mean over its rewrites",
        is_paired=True,
    )
    scores = _token_scores(files, "lex_residual_token_logodds.csv")
    return _loaded(record, table, judged, both, metrics, notes, scores)


def _paired(files: Files, notes: list[str]) -> pd.DataFrame | None:
    """Questions with their rewrites: ``qid``, ``gold`` and a column for each variant."""
    source = _source_rows(files, notes)
    rows = files.rows(f"{_DATA}/synth_paired.jsonl")
    if rows is None:
        return source
    frame = pd.DataFrame(
        {
            "qid": rows.texts("qid"),
            "gold": rows.texts("gold_doc_id"),
            **{variant: rows.texts(variant) for variant in ("wme_real", *_REWRITES)},
        }
    )
    twice = frame.loc[frame["qid"].duplicated(), "qid"]
    refuse(rows.path, twice, "repeat a query id", first_line=1)
    blank = frame[["wme_real", *_REWRITES]].isna().any(axis=1)
    refuse(rows.path, frame.loc[blank, "qid"], "lack a wording", first_line=1)
    if source is not None:
        other = frame.merge(source, on="gold", suffixes=("", "_source"))
        same = np.logical_and.reduce(
            [other[v] == other[f"{v}_source"] for v in ("wme_real", *_REWRITES)]
        )
        notes.append(
            f"{int(same.sum()):,} of {len(other):,} questions have the wordings of the table they "
            "were made from."
        )
    return frame


def _source_rows(files: Files, notes: list[str]) -> pd.DataFrame | None:
    """The rows the rewrites were made in, numbered as the release numbers them.

    The rewrites are read from their own columns; the one that shows all three as a printed list
    quotes them in several ways.
    """
    name = f"{_LABELLED}/hcmagic_wme_synth.csv"
    rows = files.rows(name)
    if rows is None:
        return None
    columns = {f"aal_synth{n}": f"aal_message{n}" for n in (1, 2, 3)}
    frame = pd.DataFrame(
        {
            "gold": ["hcm100k_" + (row or "") for row in rows.texts(rows.names[0])],
            "wme_real": rows.texts("input"),
            "output": rows.texts("output"),
            **{variant: rows.texts(column) for variant, column in columns.items()},
        }
    ).fillna("")
    texts = frame[["wme_real", "output", *_REWRITES]]
    is_long = (texts.apply(lambda one: one.str.strip().str.len()) >= _SHORTEST).all(axis=1)
    files.left_out[f"{name}: a text under {_SHORTEST} characters"] += int((~is_long).sum())
    kept = frame[is_long].reset_index(drop=True)
    return kept.assign(qid=[f"hcsynth_q_{row}" for row in kept.index]).drop(columns="output")


def _wordings(paired: pd.DataFrame) -> Iterator[dict[str, object]]:
    for row in paired.to_dict("records"):
        for variant in ("wme_real", *_REWRITES):
            yield _wording(row["qid"], variant, row[variant])


def _wording(query_id: str, variant: str, text: str) -> dict[str, object]:
    is_found = variant == "wme_real"
    return {
        "query_id": f"{query_id}:{variant}",
        "text": text,
        "group": _GROUPS[variant],
        "variant": variant,
        "cell_id": query_id,
        "cluster_id": query_id,
        "origin": "found" if is_found else "rewritten by Multi-VALUE and PhonATe",
    }


# -- natural questions ---------------------------------------------------------------------


def load_natural(files: Files, name: str, both: Shared) -> Loaded | None:
    """Questions as patients asked them, and translations of those in AAL; None without any."""
    notes: list[str] = []
    metrics = _metrics(files, "hcmagic_real_per_query_metrics.csv")
    asked, dropped = _labelled(files)
    translated = _translated(files)
    if asked.empty and not metrics:
        return None
    queries = [*asked.to_dict("records")]
    short = set(dropped["query_id"])
    for query in translated.to_dict("records"):
        if query["cell_id"] in short:
            files.left_out["translations of AAL questions that were dropped"] += 1
        else:
            queries.append(query)
    known = {str(query["query_id"]) for query in queries}
    lost = {
        query_id: variant
        for frame in metrics.values()
        for query_id, variant in zip(frame["release_id"], frame["variant"], strict=True)
        if query_id not in known
    }
    queries += [_natural(query_id, variant, "") for query_id, variant in lost.items()]
    _note_unwritten(len(lost), notes)
    table = pd.DataFrame(queries)
    answers = table["answer"] if "answer" in table else pd.Series(None, index=table.index)
    gold = _gold_of_natural(table, answers, both, notes)
    judged = _credited(table, gold, table["query_id"])
    table = table.drop(columns="answer", errors="ignore")
    record = _record(
        name,
        "HealthCareMagic, natural questions (authors' release)",
        "Questions by different patients, labelled AAL or WME by a model of tweets, and each AAL "
        "question translated to WME by gpt-5-mini",
        is_paired=False,
    )
    scores = _token_scores(files, "lex_residual_real_token_logodds.csv")
    loaded = _loaded(record, table, judged, both, metrics, notes, scores)
    if dropped.empty:
        return loaded
    lengths = dropped.assign(dataset=name, quantity="dropped_length")
    return replace(loaded, given=_with_values(loaded.given, lengths))


def _labelled(files: Files) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The questions that are long enough, and ``query_id`` and ``value``, the length, of others."""
    name = f"{_LABELLED}/hcmagic_aal_wme.csv"
    rows = files.rows(name)
    if rows is None:
        return pd.DataFrame(), pd.DataFrame(columns=["query_id", "value"])
    frame = pd.DataFrame(
        {
            "text": [text or "" for text in rows.texts("input")],
            "answer": [(answer or "").strip() for answer in rows.texts("output")],
            "dial": rows.texts("dial"),
            "idx": rows.texts("idx"),
        }
    )
    odd = frame.loc[~frame["dial"].isin(["aal", "wme"]), "dial"].fillna("")
    refuse(rows.path, odd, "have a dialect label other than aal, wme")
    length = frame["text"].str.strip().str.len()
    is_long = length >= _SHORTEST
    files.left_out[f"{name}: question under {_SHORTEST} characters"] += int((~is_long).sum())
    ids = "hcm_" + frame["dial"] + "_" + frame["idx"].fillna("")
    refuse(rows.path, ids[ids.duplicated()], "repeat a dialect and index")
    kept = pd.DataFrame(
        [
            {**_natural(query_id, f"{row.dial}_real", row.text), "answer": row.answer}
            for query_id, row in zip(ids[is_long], frame[is_long].itertuples(), strict=True)
        ]
    )
    dropped = pd.DataFrame({"query_id": ids[~is_long], "value": length[~is_long].astype("float64")})
    return kept, dropped


def _natural(query_id: str, variant: str, text: str) -> dict[str, object]:
    # A translation shares its cell with the question it was made from.
    cell = query_id.replace("hcm_trans_", "hcm_aal_")
    return {
        "query_id": query_id,
        "text": text,
        "group": _GROUPS[variant],
        "variant": variant,
        "cell_id": cell,
        "cluster_id": cell,
        "origin": "translated by gpt-5-mini" if variant == "trans_aal" else "found",
    }


def _translated(files: Files) -> pd.DataFrame:
    rows = files.rows(f"{_LABELLED}/hcmagic_aal_translated.jsonl")
    if rows is None:
        return pd.DataFrame()
    numbers = pd.Series(rows.texts("row_id"))
    is_number = numbers.fillna("").str.fullmatch(r"[0-9]+")
    refuse(rows.path, numbers[~is_number].fillna(""), "have a row_id that is no number")
    # Rows are numbered from 1 there and from 0 in the questions.
    ids = [f"hcm_trans_{int(number) - 1}" for number in numbers]
    texts = rows.texts("trans_aal")
    return pd.DataFrame(
        [
            _natural(query_id, "trans_aal", text or "")
            for query_id, text in zip(ids, texts, strict=True)
        ]
    )


def _gold_of_natural(
    table: pd.DataFrame, answers: pd.Series, both: Shared, notes: list[str]
) -> dict[str, str]:
    """One gold document a question, which is how the release credits it."""
    gold: dict[str, str] = {}
    n_unsure = 0
    answer_of = dict(zip(table["query_id"], answers, strict=True))
    for query_id, cell in zip(table["query_id"], table["cell_id"], strict=True):
        same = both.gold.get(query_id) or both.gold.get(cell) or []
        own = "hcm100k_" + str(query_id).rsplit("_", 1)[1]
        if str(query_id).startswith("hcm_wme_") and (own in same or not same):
            gold[query_id] = own
        elif same:
            n_unsure += len(same) > 1
            gold[query_id] = same[0]
        elif isinstance(answer := answer_of.get(cell), str) and (found := both.with_text(answer)):
            gold[query_id] = found
    if n_unsure:
        notes.append(
            f"{n_unsure:,} questions have several identical gold answers and the files do not say "
            "which one is credited; the first is named here. Ranks come from the release, so no "
            "number depends on it."
        )
    return gold


# -- both ----------------------------------------------------------------------------------


def _token_scores(files: Files, file: str) -> pd.DataFrame | None:
    return files.token_scores(f"{_BASE}/results/{file}", ("count_WME", "count_AAL"), sign=1)


def _with_values(given: Sequence[Given], values: pd.DataFrame) -> tuple[Given, ...]:
    """Results with more values of queries: they are one table."""
    known = [one.frame for one in given if one.table == "query_values"]
    rest = [one for one in given if one.table != "query_values"]
    return (*rest, Given("query_values", pd.concat([*known, values], ignore_index=True)))


def _note_unwritten(n: int, notes: list[str]) -> None:
    if n:
        notes.append(
            f"{n:,} queries have results and no wording in the folder; they are kept by id, "
            "without a text."
        )


def _record(name: str, label: str, about: str, *, is_paired: bool) -> DatasetRecord:
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


def _credited(table: pd.DataFrame, gold: dict[str, str], key: pd.Series) -> pd.DataFrame:
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


def _metrics(files: Files, file: str) -> dict[str, pd.DataFrame]:
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
    for retriever in files.folders(f"{_BASE}/results"):
        name = f"{_BASE}/results/{retriever}/{file}"
        frame = files.frame(name, kinds)
        if frame is None:
            continue
        path = files.find(name)
        assert path is not None
        odd = ~frame["variant"].isin(_GROUPS)
        refuse(path, frame.loc[odd, "variant"], f"have a variant not among {', '.join(_GROUPS)}")
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
        files.absent.append(f"{_BASE}/results/*/{file}")
    return found


def _loaded(
    record: DatasetRecord,
    queries: pd.DataFrame,
    judged: pd.DataFrame,
    both: Shared,
    metrics: dict[str, pd.DataFrame],
    notes: list[str],
    scores: pd.DataFrame | None,
) -> Loaded:
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
