"""Reddit of the release: ids and inferred labels of posts, their lists and judgments, no texts.

The posts' texts are withheld for their writers' sake; nothing here asks for them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from biasret.datasets.base import Dataset, DatasetRecord, Given, Loaded
from biasret.datasets.release import rankings
from biasret.datasets.release.allsides import LICENCE, SOURCE, Corpus
from biasret.datasets.release.files import Files, refuse
from biasret.errors import TableError
from biasret.tables import LEAN_CODES

__all__ = ["load"]

_BASE = "reddit_nat"
_LABELS = ("liberal", "conservative", "centrist")

#: Characters a title needs to be evaluated.
_SHORTEST = 30

#: Depth of the lean that stands beside the lexical scores.
_LEXICAL_DEPTH = 20


def load(files: Files, name: str, texts: Corpus) -> Loaded | None:
    """The dataset of posts; None where the folder holds none of it."""
    notes: list[str] = []
    posts = _posts(files, notes)
    lists = rankings.rankings(files, f"{_BASE}/results/retrieval_candidates", has_scores=True)
    lexical = _lexical(files)
    if posts is None and not lists and lexical is None:
        return None
    if posts is None:
        posts = _posts_of_results(lists, lexical, notes)
    known = set(posts["query_id"])
    lists = {name: _of_known(files, frame, known, name) for name, frame in lists.items()}
    judged = rankings.judgments(files, f"{_BASE}/results/judge_relevance")
    is_known = judged["query_id"].isin(known)
    files.left_out["Reddit judgments of posts that are not there"] += int((~is_known).sum())
    judged = judged[is_known]
    documents = rankings.known_documents(
        texts.documents, lists.values(), dict.fromkeys(judged["doc_id"]), notes
    )
    given = _query_values(name, posts, lexical)
    scored = [] if lexical is None else lexical["encoder"].unique().tolist()
    for retriever in dict.fromkeys([*lists, *scored]):
        of = None if lexical is None else lexical[lexical["encoder"] == retriever]
        given += _results(name, retriever, lists.get(retriever), of, notes)
    record = DatasetRecord(
        name=name,
        label="Reddit, askers' own titles (authors' release)",
        about=(
            "Titles of posts whose askers two language models took for liberal, conservative or "
            "centrist; the texts are withheld, so questions show no wording here, and centrist "
            "posts enter no contrast"
        ),
        signal="lean",
        is_paired=False,
        is_illustrative=False,
        minuend="conservative",
        subtrahend="liberal",
        source=f"{SOURCE}; posts from r/AskALiberal and r/AskConservatives, by id",
        licence=f"Ids and inferred labels of posts, for aggregate use only. {LICENCE}",
    )
    queries = posts.drop(columns="title_n_chars")
    dataset = Dataset.checked(record, documents=documents, queries=queries, qrels=judged)
    return Loaded(dataset, notes, {}, tuple(given))


def _posts(files: Files, notes: list[str]) -> pd.DataFrame | None:
    name = f"{_BASE}/data/reddit_nat_raw.csv"
    rows = files.rows(name)
    if rows is None:
        return None
    frame = pd.DataFrame(
        {
            "query_id": rows.texts("id"),
            "subreddit": rows.texts("subreddit"),
            "group": [(label or "").strip() for label in rows.texts("ideology")],
            "length": rows.texts("title_n_chars"),
        }
    )
    length = pd.to_numeric(frame["length"], errors="coerce")
    refuse(rows.path, frame.loc[length.isna(), "length"], "have a title length that is no number")
    # In this order, which decides which row of a repeated id counts (Tang et al., section 1.2).
    is_labelled = frame["group"].isin(_LABELS)
    is_long = length >= _SHORTEST
    kept = frame[is_labelled & is_long].assign(title_n_chars=length)
    files.left_out[f"{name}: no label of the three"] += int((~is_labelled).sum())
    files.left_out[f"{name}: title under {_SHORTEST} characters"] += int(
        (is_labelled & ~is_long).sum()
    )
    is_first = ~kept["query_id"].duplicated()
    files.left_out[f"{name}: id seen before"] += int((~is_first).sum())
    labels = kept.groupby("query_id")["group"].nunique()
    notes.append(
        f"{int((~is_first).sum()):,} rows repeat the id of a post; the first counts. "
        f"{int((labels > 1).sum()):,} posts bear two labels; the first counts."
    )
    return _asked(kept[is_first].drop(columns="length"))


def _asked(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        text="",
        variant="title",
        cell_id=frame["query_id"],
        cluster_id=frame["query_id"],
        source_doc_ids=None,
        frame=None,
        origin="found in r/" + frame["subreddit"].fillna("?"),
    ).drop(columns="subreddit")


def _posts_of_results(
    lists: dict[str, pd.DataFrame], lexical: pd.DataFrame | None, notes: list[str]
) -> pd.DataFrame:
    """Posts that only results name: they say who asked, where the table of posts is absent."""
    notes.append("The table of posts is not in the folder; posts with results are known by id.")
    if lexical is None:
        raise TableError(
            "The Reddit rankings stand without reddit_nat_raw.csv, which says who asked; add it."
        )
    frame = lexical.drop_duplicates("query_id").rename(columns={"ideology": "group"})
    return _asked(frame[["query_id", "subreddit", "group"]].assign(title_n_chars=np.nan))


def _of_known(files: Files, frame: pd.DataFrame, known: set[str], retriever: str) -> pd.DataFrame:
    is_known = frame["query_id"].isin(known)
    reason = f"Reddit ranks by {retriever} of posts that are not there"
    files.left_out[reason] += int((~is_known).sum())
    return frame[is_known]


def _lexical(files: Files) -> pd.DataFrame | None:
    kinds = {
        "encoder": "text",
        "query_id": "text",
        "ideology": "text",
        "subreddit": "text",
        "n_tok": "int",
        "lex": "float",
        "lean": "float",
    }
    name = f"{_BASE}/results/lex_residual_per_query.csv"
    frame = files.frame(name, kinds)
    if frame is not None and frame.duplicated(["encoder", "query_id"]).any():
        raise TableError(f"{name} holds a query of one retriever twice.")
    return frame


def _query_values(name: str, posts: pd.DataFrame, lexical: pd.DataFrame | None) -> list[Given]:
    """What is known of each title without its text: its length and its lexical score."""
    lengths = posts.dropna(subset="title_n_chars")
    parts = [
        pd.DataFrame(
            {
                "query_id": lengths["query_id"],
                "quantity": "length",
                "value": lengths["title_n_chars"].astype("float64"),
            }
        )
    ]
    if lexical is not None:
        once = lexical.drop_duplicates("query_id")
        once = once[once["query_id"].isin(posts["query_id"])]
        for column, quantity in (("lex", "lexical"), ("n_tok", "tokens")):
            parts.append(
                pd.DataFrame(
                    {
                        "query_id": once["query_id"],
                        "quantity": quantity,
                        "value": once[column].astype("float64"),
                    }
                )
            )
    return [Given("query_values", pd.concat(parts, ignore_index=True).assign(dataset=name))]


def _results(
    name: str,
    retriever: str,
    run: pd.DataFrame | None,
    lexical: pd.DataFrame | None,
    notes: list[str],
) -> list[Given]:
    listed = [] if run is None else run["query_id"].unique().tolist()
    scored = [] if lexical is None else lexical["query_id"].tolist()
    asked = list(dict.fromkeys([*listed, *scored]))
    values = None
    if lexical is not None and len(lexical):
        lean = lexical.set_index("query_id")["lean"]
        values = rankings.stated({("lean", _LEXICAL_DEPTH): lean}, asked=asked)
        if run is not None:
            top = run[run["rank"] <= _LEXICAL_DEPTH]
            found = top["stance"].map(LEAN_CODES).groupby(top["query_id"]).mean()
            both = found.index.intersection(lean.index)
            n_same = int((np.abs(found[both] - lean[both]) < 1e-12).sum())
            notes.append(
                f"{retriever}: {n_same:,} of {len(both):,} released lean@{_LEXICAL_DEPTH} follow "
                "from its lists."
            )
    return rankings.results(
        name,
        retriever,
        ranks=pd.DataFrame({"query_id": asked, "rank": None}),
        run=None
        if run is None
        else run[["query_id", "rank", "doc_id", "score"]].reset_index(drop=True),
        values=values,
    )
