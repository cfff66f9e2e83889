"""AllSides of the release: articles, framed queries, six lists of ten and what is known below."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Given, Loaded
from biasret.datasets.release import rankings
from biasret.datasets.release.files import Files, refuse
from biasret.errors import FileError, TableError
from biasret.tables import LEAN_CODES

__all__ = ["Corpus", "cell_lexical", "corpus", "load", "pairing"]

_BASE = "allsides_synth"

#: Depth of the search for a document of the query's story.
_STORY_DEPTH = 100

SOURCE = (
    "The public release of Tang et al. 2026 (github.com/Andrewtcr/bias-ret); articles from Qbias, "
    "which gathered AllSides headline round-ups"
)
LICENCE = (
    "Articles stay under the terms of Qbias and of their outlets: for research, not to be passed "
    "on with this project"
)


@dataclass(frozen=True)
class Corpus:
    """The articles, which both political datasets search.

    Attributes
    ----------
    documents
        A ``documents`` table without its dataset; no rows where the file is not there.
    """

    documents: pd.DataFrame
    notes: list[str]


def corpus(files: Files) -> Corpus:
    """The articles, each checked against its stored length and digest.

    Raises
    ------
    TableError
        A text is not the one that was indexed.
    """
    columns = ["doc_id", "text", "title", "stance", "source", "story_id"]
    rows = files.rows(f"{_BASE}/data/corpus.jsonl")
    if rows is None:
        return Corpus(pd.DataFrame(columns=columns, dtype="str"), [])
    frame = pd.DataFrame(
        {
            "doc_id": rows.texts("article_id"),
            "text": rows.texts("text"),
            "title": rows.texts("heading"),
            "stance": rows.texts("stance"),
            "source": rows.texts("source"),
            # A round-up without a title is no story.
            "story_id": [(title or "").strip() or None for title in rows.texts("roundup_title")],
        }
    )
    text = frame["text"].fillna("")
    cut = pd.Series(rows.texts("truncated")) == "true"
    whole = text[~cut]
    length = pd.Series(rows.texts("text_full_len"))[~cut]
    digest = pd.Series(rows.texts("sha1_prefix"))[~cut]
    sha1 = whole.map(lambda one: hashlib.sha1(one.encode(), usedforsecurity=False).hexdigest()[:12])
    is_other = (whole.map(len).astype("str") != length) | (sha1 != digest)
    ids = frame.loc[whole.index, "doc_id"][is_other]
    refuse(rows.path, ids, "hold a text of another length or SHA-1 than stated", first_line=1)
    notes = [f"{len(whole):,} texts have the length and SHA-1 that the release states."]
    if cut.any():
        notes.append(f"{int(cut.sum()):,} texts are cut short in the release and so stand here.")
    return Corpus(frame, notes)


def load(files: Files, name: str, texts: Corpus) -> Loaded | None:
    """The dataset of framed queries; None where the folder holds none of it."""
    lists = rankings.rankings(files, f"{_BASE}/results/retrieval_candidates", has_scores=False)
    lean = _lean(files)
    stories = _story_ranks(files)
    asked = _queries(files)
    if asked is None and not lists and lean.empty:
        return None
    notes = [*texts.notes]
    named = [lean["query_id"], *(frame["query_id"] for frame in lists.values())]
    queries = _with_unwritten(asked, pd.concat(named).unique().tolist(), notes)
    _check_frames(files, queries, notes)
    judged = rankings.judgments(files, f"{_BASE}/results/judge_relevance")
    unknown = ~judged["query_id"].isin(queries["query_id"])
    files.left_out["AllSides judgments of queries that are not there"] += int(unknown.sum())
    judged = judged[~unknown]
    documents = rankings.known_documents(
        texts.documents,
        lists.values(),
        [*judged["doc_id"], *queries["cluster_id"]],
        notes,
    )
    given: list[Given] = []
    scored = cell_lexical(files)
    if scored is not None:
        scored = scored[scored["query_id"].isin(queries["query_id"])]
        given.append(Given("query_values", scored.assign(dataset=name, quantity="lexical")))
    scores = files.token_scores(
        f"{_BASE}/results/lexical_logodds.csv", ("count_R", "count_L"), sign=-1
    )
    if scores is not None:
        of = {"dataset": name, "minuend": "right", "subtrahend": "left"}
        given.append(Given("given_token_scores", scores.assign(**of)))
    for retriever, cosines in pairing(files).items():
        known = cosines[cosines["cell_id"].isin(queries["cell_id"])]
        frame = known.assign(dataset=name, retriever=retriever)
        given.append(Given("pairing", frame, retriever))
    for retriever in dict.fromkeys([*lists, *lean["encoder"].unique()]):
        given += _results(
            name,
            retriever,
            lists.get(retriever),
            lean[lean["encoder"] == retriever],
            stories.get(retriever),
            notes,
        )
    record = DatasetRecord(
        name=name,
        label="AllSides, framed questions (authors' release)",
        about=(
            "Left, neutral and right wordings of one story in one media frame, generated by "
            "gpt-5-mini; the neutral one enters no contrast"
        ),
        signal="lean",
        is_paired=True,
        is_illustrative=False,
        minuend="right",
        subtrahend="left",
        source=SOURCE,
        licence=LICENCE,
    )
    dataset = Dataset.checked(record, documents=documents, queries=queries, qrels=judged)
    return Loaded(dataset, notes, {}, tuple(given))


def _queries(files: Files) -> pd.DataFrame | None:
    rows = files.rows(f"{_BASE}/data/generated_queries.jsonl")
    if rows is None:
        return None
    frame = pd.DataFrame(
        {
            "query_id": rows.texts("query_id"),
            "article": rows.texts("article_id"),
            "frame": rows.texts("frame"),
            "group": rows.texts("stance"),
            "text": rows.texts("text"),
        }
    )
    spelled = frame["article"] + "__" + frame["frame"] + "__" + frame["group"]
    odd = frame.loc[spelled != frame["query_id"], "query_id"]
    refuse(rows.path, odd, "have an id that is not article__frame__stance", first_line=1)
    twice = frame.loc[frame["query_id"].duplicated(), "query_id"]
    refuse(rows.path, twice, "repeat a query id", first_line=1)
    return _placed(frame)


def _placed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        variant=frame["group"],
        cell_id=frame["article"] + "__" + frame["frame"],
        cluster_id=frame["article"],
        source_doc_ids=[[article] for article in frame["article"]],
        origin="written by gpt-5-mini",
    ).drop(columns="article")


def _with_unwritten(asked: pd.DataFrame | None, named: list[str], notes: list[str]) -> pd.DataFrame:
    """The queries, and those that only results name: their ids say all but the wording."""
    known = set() if asked is None else set(asked["query_id"])
    lost = [query_id for query_id in named if query_id not in known]
    if not lost:
        assert asked is not None
        return asked
    parts = [str(query_id).rsplit("__", 2) for query_id in lost]
    odd = next((one for one, part in zip(lost, parts, strict=True) if len(part) != 3), None)
    if odd is not None:
        raise TableError(f"The query id {odd!r} in the results is not article__frame__stance.")
    notes.append(
        f"{len(lost):,} queries have results and no wording in the folder; they are kept by id, "
        "without a text."
    )
    made = pd.DataFrame(parts, columns=["article", "frame", "group"]).assign(query_id=lost, text="")
    made = _placed(made)
    return made if asked is None else pd.concat([asked, made], ignore_index=True)


def _check_frames(files: Files, queries: pd.DataFrame, notes: list[str]) -> None:
    rows = files.rows(f"{_BASE}/data/extracted_frames.jsonl")
    if rows is None:
        return
    found = {
        (article, frame.get("key"))
        for article, frames in zip(rows.texts("article_id"), rows.column("frames"), strict=True)
        for frame in (frames if isinstance(frames, list) else [])
        if isinstance(frame, dict)
    }
    cells = queries[["cluster_id", "frame"]].drop_duplicates()
    n_known = sum((row.cluster_id, row.frame) in found for row in cells.itertuples())
    notes.append(f"{n_known:,} of {len(cells):,} cells ask about a frame found in their article.")


def _lean(files: Files) -> pd.DataFrame:
    """lean@k as released: ``encoder``, ``query_id``, ``k``, ``lean_score``."""
    kinds = {"query_id": "text", "encoder": "text", "k": "int", "lean_score": "float"}
    parts = []
    for part in ("", "bm25/"):
        name = f"{_BASE}/results/{part}bias_metrics.csv"
        frame = files.frame(name, kinds)
        if frame is None:
            continue
        path = files.find(name)
        assert path is not None
        wild = frame["lean_score"].abs() > 1
        refuse(path, frame.loc[wild, "lean_score"], "have a lean outside -1 to 1")
        parts.append(frame)
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(kinds))
    if table.duplicated(["encoder", "query_id", "k"]).any():
        raise TableError("bias_metrics.csv gives a lean of one query, retriever and depth twice.")
    return table


def _story_ranks(files: Files) -> dict[str, pd.Series]:
    """Rank of the best document of the query's story, by retriever and query."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: dict[str, pd.Series] = {}
    for part in ("", "bm25/"):
        path = files.find(f"{_BASE}/results/{part}_min_story_rank.parquet")
        if path is None:
            continue
        columns = ["query_id", "encoder", "min_story_rank"]
        try:
            frame = pq.read_table(path, columns=columns).to_pandas(ignore_metadata=True)
        except (pa.ArrowException, OSError) as error:
            first = str(error).splitlines()[0]
            raise FileError(f"{path.name} cannot be read as Parquet: {first}.") from error
        files.n_read[path.name] = len(frame)
        frame = frame.dropna(subset=["min_story_rank"])
        odd = ~frame["min_story_rank"].between(1, _STORY_DEPTH)
        if odd.any() or frame.duplicated(["query_id", "encoder"]).any():
            raise TableError(
                f"{path.name} holds a story rank outside 1 to {_STORY_DEPTH}, or one twice."
            )
        for retriever, of in frame.groupby("encoder"):
            found[str(retriever)] = of.set_index("query_id")["min_story_rank"].astype("float64")
    return found


def _results(
    name: str,
    retriever: str,
    run: pd.DataFrame | None,
    lean: pd.DataFrame,
    stories: pd.Series | None,
    notes: list[str],
) -> list[Given]:
    listed = [] if run is None else run["query_id"].unique().tolist()
    asked = list(dict.fromkeys([*listed, *lean["query_id"]]))
    values: dict[tuple[str, int | None], pd.Series] = {
        ("lean", int(str(k))): of.set_index("query_id")["lean_score"] for k, of in lean.groupby("k")
    }
    if run is not None:
        depth = int(run["rank"].max())
        n_same, n_both = _agreement(run, values, depth)
        if n_both:
            notes.append(
                f"{retriever}: {n_same:,} of {n_both:,} released lean@k to depth {depth} follow "
                "from its lists."
            )
    if stories is not None:
        values["story_rank", None] = stories.reindex(asked)
    return rankings.results(
        name,
        retriever,
        ranks=pd.DataFrame({"query_id": asked, "rank": None}),
        run=None if run is None else run.drop(columns="stance"),
        values=rankings.stated(values, asked=asked) if values else None,
    )


def _agreement(
    run: pd.DataFrame, values: dict[tuple[str, int | None], pd.Series], depth: int
) -> tuple[int, int]:
    """How many released leans the lists give, and how many could be compared."""
    n_same = n_both = 0
    codes = run.assign(code=run["stance"].map(LEAN_CODES))
    for (metric, k), released in values.items():
        if metric != "lean" or k is None or k > depth:
            continue
        found = codes[codes["rank"] <= k].groupby("query_id")["code"].mean()
        both = found.index.intersection(released.index)
        n_both += len(both)
        n_same += int((np.abs(found[both] - released[both]) < 1e-12).sum())
    return n_same, n_both


def cell_lexical(files: Files) -> pd.DataFrame | None:
    """Lexical score of each wording: ``query_id``, ``value``, positive for left words."""
    kinds = {"article_id": "text", "frame": "text"}
    sides = {"lex_L": "left", "lex_N": "neutral", "lex_R": "right"}
    frame = files.frame(
        f"{_BASE}/results/cell_lex_asymmetry.csv", {**kinds, **dict.fromkeys(sides, "float")}
    )
    if frame is None:
        return None
    cell = frame["article_id"] + "__" + frame["frame"] + "__"
    return pd.concat(
        [
            pd.DataFrame({"query_id": cell + group, "value": frame[column]})
            for column, group in sides.items()
        ],
        ignore_index=True,
    )


def pairing(files: Files) -> dict[str, pd.DataFrame]:
    """Cosines of each cell's wordings with each other and with others', by retriever.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``cell_id``, ``within_cell``, ``has_sibling``, ``cross_frame`` (missing for articles with
        one frame), ``cross_article``; in file order, which fixes the streams of its intervals.
    """
    folder = f"{_BASE}/results/pairing_similarity"
    start = "per_anchor_sims__"
    kinds = {
        "cell_key": "text",
        "within_cell": "float",
        "within_article_cross_frame": "float?",
        "cross_article": "float",
    }
    found = {}
    for retriever in files.stems(folder, start=start):
        frame = files.frame(f"{folder}/{start}{retriever}.csv", kinds)
        assert frame is not None
        found[retriever] = frame.rename(
            columns={"cell_key": "cell_id", "within_article_cross_frame": "cross_frame"}
        ).assign(has_sibling=frame["within_article_cross_frame"].notna())
    return found
