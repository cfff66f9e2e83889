"""The tables of the project: columns, types, keys, and `check`.

Every seam between modules is one of these tables as a pandas frame. `check` is the
only place where a frame is brought into its table's form; what has passed it is trusted.

Text columns are pandas ``str`` with NaN for missing; counts and ranks are ``int64``, or
``Int64`` where they may be missing; measures are ``float64``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasret.catalogue import Catalogue
from biasret.errors import TableError

__all__ = ["LEAN_CODES", "STANCES", "TABLES", "Column", "Table", "check", "empty"]

STANCES = ("left", "center", "right")

#: Code of a document's stance in lean@k (Tang et al., section 3): left -1, center 0, right +1.
LEAN_CODES = {"left": -1.0, "center": 0.0, "right": 1.0}


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind, and whether a value may be missing.

    `kind` is ``text``, ``texts`` (a list of strings), ``int``, ``float``, ``bool``, or
    ``vector`` (a list of float32).
    """

    name: str
    kind: str = "text"
    optional: bool = False


@dataclass(frozen=True)
class Table:
    """One table: columns in order, and the columns that together name a row."""

    name: str
    about: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    per_retriever: bool = False

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]


def _columns(required: str, optional: str = "") -> tuple[Column, ...]:
    def parse(word: str, is_optional: bool) -> Column:
        name, _, kind = word.partition(":")
        return Column(name, kind or "text", is_optional)

    return tuple(
        [parse(word, False) for word in required.split()]
        + [parse(word, True) for word in optional.split()]
    )


TABLES: Catalogue[Table] = Catalogue(
    "table",
    [
        Table(
            "datasets",
            "what each dataset is and how its groups are compared",
            _columns(
                "dataset label about signal paired:bool is_illustrative:bool",
                "minuend subtrahend source licence imported",
            ),
            ("dataset",),
        ),
        Table(
            "documents",
            "what can be retrieved",
            _columns("dataset doc_id text", "title stance source story_id topic date"),
            ("dataset", "doc_id"),
        ),
        Table(
            "queries",
            "what is asked: one row per wording",
            _columns(
                "dataset query_id text signal variant cell_id cluster_id origin",
                "group source_doc_ids:texts frame",
            ),
            ("dataset", "query_id"),
        ),
        Table(
            "qrels",
            "graded judgements: grade 1 or more counts as relevant",
            _columns("dataset query_id doc_id judge grade:int"),
            ("dataset", "query_id", "doc_id", "judge"),
        ),
        Table(
            "judges",
            "how each judge's pool was graded: by a model asked here, or from a file",
            _columns(
                "dataset judge kind n_pool:int n_pairs:int n_missing:int",
                "model rubric prompt_tokens:int completion_tokens:int",
            ),
            ("dataset", "judge"),
        ),
        Table(
            "runs",
            "the first documents each retriever returned, rank from 1",
            # An imported ranking may come without its scores.
            _columns("dataset retriever query_id rank:int doc_id", "score:float"),
            ("dataset", "retriever", "query_id", "rank"),
            per_retriever=True,
        ),
        Table(
            "gold_ranks",
            "rank of the best gold document in the full ranking, and of the best whose text equals "
            "a gold document's; missing: no gold (n_gold is 0), or nothing matched the query",
            _columns("dataset retriever query_id", "rank:int class_rank:int n_gold:int"),
            ("dataset", "retriever", "query_id"),
            per_retriever=True,
        ),
        Table(
            "query_values",
            "what is known of a question beside its text: its length or lexical score where the "
            "text is withheld; dropped_length: of one that is no query, being too short",
            _columns("dataset query_id quantity value:float"),
            ("dataset", "query_id", "quantity"),
        ),
        Table(
            "given_values",
            "values per query that came with an imported ranking and reach deeper than it; metric "
            "story_rank: rank of the best document of the source's story, missing: none",
            _columns("dataset retriever query_id metric", "k:int value:float"),
            ("dataset", "retriever", "query_id", "metric", "k"),
            per_retriever=True,
        ),
        Table(
            "measurements",
            "one value per query, metric and depth",
            _columns("dataset retriever query_id metric filter", "k:int value:float"),
            ("dataset", "retriever", "query_id", "metric", "k", "filter"),
            per_retriever=True,
        ),
        Table(
            "levels",
            "mean of a metric in each group, over every query measured",
            _columns(
                "dataset retriever metric filter group n:int n_clusters:int",
                "k:int mean:float ci_low:float ci_high:float",
            ),
            ("dataset", "retriever", "metric", "k", "filter", "group"),
            per_retriever=True,
        ),
        Table(
            "gaps",
            "minuend minus subtrahend, with interval and test",
            _columns(
                "dataset retriever metric filter minuend subtrahend design test"
                " n_minuend:int n_subtrahend:int n_pairs:int n_clusters:int n_dropped:int",
                "k:int estimate:float ci_low:float ci_high:float p_value:float"
                " p_permutation:float p_holm:float p_bh:float"
                " mean_minuend:float low_minuend:float high_minuend:float"
                " mean_subtrahend:float low_subtrahend:float high_subtrahend:float"
                " detectable:float dropped_why note",
            ),
            ("dataset", "retriever", "metric", "k", "filter", "minuend", "subtrahend"),
        ),
        Table(
            "probe_scores",
            "how well a linear probe on a layer tells the two groups of questions apart; no layer: "
            "the baseline on the input; n_shared: test rows whose cluster is in the train rows "
            "too; counts are missing where they did not come with imported scores",
            _columns(
                "dataset retriever split_rule kind split accuracy:float nce:float",
                "layer:int f1:float n_train:int n_test:int n_shared:int",
            ),
            ("dataset", "retriever", "split_rule", "kind", "layer", "split"),
            per_retriever=True,
        ),
        Table(
            "mitigations",
            "what a mitigation changes: a gap or a quality before, after, and their difference",
            _columns(
                "dataset retriever mitigation quantity metric test"
                " n_pairs:int n_clusters:int n_changed:int n_dropped:int",
                "k:int before:float before_low:float before_high:float"
                " after:float after_low:float after_high:float"
                " change:float change_low:float change_high:float"
                " p_value:float p_permutation:float p_holm:float note",
            ),
            ("dataset", "retriever", "mitigation", "quantity", "metric", "k"),
        ),
        Table(
            "token_scores",
            "how strongly each token of two groups' queries points to the minuend",
            _columns(
                "dataset minuend subtrahend token count_minuend:int count_subtrahend:int"
                " log_odds:float zeta:float"
            ),
            ("dataset", "minuend", "subtrahend", "token"),
        ),
        Table(
            "given_token_scores",
            "token scores that came with an import, turned as those computed here",
            _columns(
                "dataset minuend subtrahend token count_minuend:int count_subtrahend:int"
                " log_odds:float zeta:float"
            ),
            ("dataset", "minuend", "subtrahend", "token"),
        ),
        Table(
            "residuals",
            "the gap, and what remains of it once vocabulary is held fixed",
            _columns(
                "dataset retriever metric filter minuend subtrahend design covariance interval"
                " n:int n_minuend:int n_subtrahend:int n_clusters:int",
                "k:int gap:float gap_low:float gap_high:float gap_p:float gap_p_holm:float"
                " residual:float residual_low:float residual_high:float residual_error:float"
                " p_value:float p_holm:float"
                " slope:float slope_low:float slope_high:float slope_p:float"
                " mean_regressor:float contribution:float r_squared:float note",
            ),
            ("dataset", "retriever", "metric", "k", "filter", "minuend", "subtrahend"),
        ),
        Table(
            "pairing",
            "cosine of a cell's wording with its counterpart, and its mean with those of other "
            "cells of the cluster and of other clusters",
            _columns(
                "dataset retriever cell_id within_cell:float has_sibling:bool",
                "cross_frame:float cross_article:float",
            ),
            ("dataset", "retriever", "cell_id"),
            per_retriever=True,
        ),
        Table(
            "pairing_summary",
            "the cosines of each pairing scheme, and how much closer the wordings of a cell are",
            _columns(
                "dataset retriever scheme n:int n_clusters:int",
                "mean:float ci_low:float ci_high:float q1:float median:float q3:float"
                " median_gap:float gap_low:float gap_high:float statistic:float p_value:float"
                " p_holm:float test note",
            ),
            ("dataset", "retriever", "scheme"),
        ),
        Table(
            "retriever_overlaps",
            "how many of their first documents two retrievers share, over all queries",
            _columns(
                "dataset retriever other k:int n:int n_clusters:int",
                "overlap:float ci_low:float ci_high:float rbo:float note",
            ),
            ("dataset", "retriever", "other", "k"),
        ),
        Table(
            "reproduced",
            "numbers of the paper computed from an imported release, beside the published ones; "
            "tolerance: largest difference that counts as none, a share of the published number "
            "where is_relative; published missing: there is none",
            _columns(
                "dataset exhibit quantity recomputed:float is_relative:bool",
                "retriever item published:float tolerance:float agrees:bool",
            ),
            ("dataset", "exhibit", "retriever", "item", "quantity"),
        ),
        Table(
            "embeddings",
            "one vector per document or query, L2-normalised",
            _columns("dataset retriever kind id vector:vector text_sha256 truncated:bool"),
            ("dataset", "retriever", "kind", "id"),
            per_retriever=True,
        ),
    ],
)

_DTYPES = {"text": "str", "float": "float64"}
_SAFE_DTYPES = {"int": ("Int64", "int64"), "bool": ("boolean", "bool")}


def empty(name: str) -> pd.DataFrame:
    """A frame with the table's columns and no rows."""
    table = TABLES[name]
    return check(pd.DataFrame({column: [] for column in table.names}), name)


def check(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Bring a frame into the form of its table, or say why it cannot be.

    Parameters
    ----------
    frame
        At least the table's required columns; optional ones are filled with missing
        values, others are dropped. Not changed.
    name
        A key of `TABLES`.

    Returns
    -------
    pandas.DataFrame
        The table's columns in order, with its types and a fresh index.

    Raises
    ------
    TableError
        A required column or value is missing, a value has the wrong type, or two rows
        share a key.
    """
    table = TABLES[name]
    absent = [c.name for c in table.columns if not c.optional and c.name not in frame.columns]
    if absent:
        raise TableError(
            f"Table {name!r} lacks the column {', '.join(map(repr, absent))}; "
            f"found {', '.join(map(repr, frame.columns)) or 'none'}."
        )
    columns = {column.name: _cast(frame, column, name) for column in table.columns}
    result = pd.DataFrame(columns).reset_index(drop=True)
    repeated = result.duplicated(list(table.key), keep=False)
    if repeated.any():
        first = result.loc[repeated.idxmax(), list(table.key)].to_dict()
        raise TableError(
            f"Table {name!r} has {int(repeated.sum())} rows that share a key; the first is "
            f"{first}. Keep one row for each {', '.join(table.key)}."
        )
    return result


def _cast(frame: pd.DataFrame, column: Column, table: str) -> pd.Series:
    if column.name not in frame.columns:
        values = pd.Series([None] * len(frame), index=frame.index, dtype="object")
    else:
        values = frame[column.name]
    missing = values.isna()
    if missing.any() and not column.optional:
        at = int(missing.to_numpy().argmax())
        raise TableError(
            f"Table {table!r} has {int(missing.sum())} rows without {column.name!r}; "
            f"the first is row {at + 1}."
        )
    try:
        if column.kind == "texts":
            return _lists(values)
        if column.kind == "vector":
            return values.astype("object")
        if column.kind in _SAFE_DTYPES:
            # The nullable types refuse what would change in the cast: 1.5, "no", 2 for a bool.
            safe, plain = _SAFE_DTYPES[column.kind]
            cast = values.astype(safe)
            return cast if column.optional else cast.astype(plain)
        return values.astype(_DTYPES[column.kind])
    except (TypeError, ValueError, OverflowError) as error:
        raise TableError(
            f"Column {column.name!r} of table {table!r} should hold {column.kind} values: {error}."
        ) from error


def _lists(values: pd.Series) -> pd.Series:
    for value in values[values.notna()]:
        is_list = isinstance(value, list | tuple | np.ndarray)
        if not is_list or not all(isinstance(item, str) for item in value):
            raise ValueError(f"{value!r} is not a list of texts")
    return values.astype("object")
