"""What `check` brings into form, and the sentence it has for the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from biasret.errors import InputError, TableError, UnknownName
from biasret.tables import LEAN_CODES, STANCES, TABLES, check, empty

QREL = {"dataset": "d", "query_id": "q1", "doc_id": "a", "judge": "j", "grade": 1}
QUERY = {
    "dataset": "d",
    "query_id": "q1",
    "text": "Why?",
    "signal": "lean",
    "variant": "left",
    "cell_id": "c",
    "cluster_id": "c",
    "origin": "written",
}
DATASET = {
    "dataset": "d",
    "label": "D",
    "about": "x",
    "signal": "lean",
    "paired": True,
    "is_illustrative": False,
}


def frame(row: dict, *rows: dict) -> pd.DataFrame:
    """Rows with the values as they are: nothing is inferred."""
    columns = {name: pd.Series([r[name] for r in (row, *rows)], dtype="object") for name in row}
    return pd.DataFrame(columns)


def refusal(table: str, *rows: dict) -> str:
    with pytest.raises(TableError) as caught:
        check(frame(*rows), table)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_has_its_columns_and_types(name):
    table = empty(name)
    assert list(table.columns) == TABLES[name].names
    assert len(table) == 0
    expected = {"int": ("int64", "Int64"), "float": ("float64",) * 2, "bool": ("bool", "boolean")}
    for column in TABLES[name].columns:
        if column.kind in expected:
            assert str(table[column.name].dtype) == expected[column.kind][column.optional]
        elif column.kind == "text":
            assert table[column.name].dtype == "str"
    assert set(TABLES[name].key) <= set(TABLES[name].names)


def test_the_tables_are_those_of_the_design():
    assert {"documents", "queries", "qrels", "runs", "gold_ranks", "measurements", "gaps"} <= set(
        TABLES
    )
    assert set(LEAN_CODES) == set(STANCES)
    assert [LEAN_CODES[s] for s in ("left", "center", "right")] == [-1.0, 0.0, 1.0]


def test_columns_come_in_order_with_optional_ones_filled_and_others_dropped():
    given = frame(QUERY).assign(extra=1)[["text", "extra", *(c for c in QUERY if c != "text")]]
    found = check(given, "queries")
    assert list(found.columns) == TABLES["queries"].names
    assert found.loc[0, "text"] == "Why?"
    assert found["group"].isna().all()
    assert found["source_doc_ids"].isna().all()


def test_what_is_given_is_not_changed():
    given = frame(QREL).set_index(pd.Index([7]))
    before = given.copy(deep=True)
    found = check(given, "qrels")
    pd.testing.assert_frame_equal(given, before)
    assert list(found.index) == [0]
    found.loc[0, "doc_id"] = "changed"
    pd.testing.assert_frame_equal(given, before)


def test_a_missing_column_is_named_beside_those_found():
    row = {name: value for name, value in QREL.items() if name != "judge"}
    assert refusal("qrels", row) == (
        "Table 'qrels' lacks the column 'judge'; found 'dataset', 'query_id', 'doc_id', 'grade'."
    )
    with pytest.raises(TableError, match="found none"):
        check(pd.DataFrame(), "qrels")


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_a_missing_value_is_counted_and_placed(nothing):
    rows = [QREL, {**QREL, "doc_id": nothing}, {**QREL, "query_id": "q3", "doc_id": nothing}]
    assert refusal("qrels", *rows) == (
        "Table 'qrels' has 2 rows without 'doc_id'; the first is row 2."
    )


def test_rows_that_share_a_key_are_shown():
    rows = [QREL, {**QREL, "query_id": "q2"}, {**QREL, "grade": 2}]
    assert refusal("qrels", *rows) == (
        "Table 'qrels' has 2 rows that share a key; the first is {'dataset': 'd', 'query_id': 'q1',"
        " 'doc_id': 'a', 'judge': 'j'}. Keep one row for each dataset, query_id, doc_id, judge."
    )


def test_keys_that_differ_only_by_case_or_spaces_are_two():
    # C10
    rows = [{**QUERY, "query_id": q, "text": q} for q in ("Nike", "nike", "nike ", "ｎike")]
    assert check(frame(*rows), "queries")["query_id"].tolist() == ["Nike", "nike", "nike ", "ｎike"]


def test_a_missing_part_of_a_key_counts_as_a_value():
    row = {
        "dataset": "d",
        "retriever": "r",
        "query_id": "q",
        "metric": "rr",
        "filter": "raw",
        "k": None,
        "value": 1.0,
    }
    assert len(check(frame(row, {**row, "k": 5}), "measurements")) == 2
    assert "share a key" in refusal("measurements", row, row)


@pytest.mark.parametrize("grade", [1.5, "x", "", np.inf, -np.inf, 2**70, [1]])
def test_what_is_no_whole_number_is_refused_not_cut(grade):
    assert "Column 'grade' of table 'qrels' should hold int values" in refusal(
        "qrels", {**QREL, "grade": grade}
    )


@pytest.mark.parametrize(("grade", "expected"), [(2, 2), (2.0, 2), ("3", 3), (np.int8(4), 4)])
def test_whole_numbers_in_other_types_are_taken(grade, expected):
    found = check(frame({**QREL, "grade": grade}), "qrels")
    assert found["grade"].tolist() == [expected]
    assert found["grade"].dtype == "int64"


@pytest.mark.parametrize("rank", [1.5, "x", np.inf])
def test_ranks_that_may_be_missing_are_not_cut_either(rank):
    row = {"dataset": "d", "retriever": "r", "query_id": "q", "rank": rank}
    assert "should hold int values" in refusal("gold_ranks", row)


@pytest.mark.parametrize("paired", ["False", "no", "", 2, 0.5, []])
def test_a_text_is_no_truth_value(paired):
    assert "should hold bool values" in refusal("datasets", {**DATASET, "paired": paired})


@pytest.mark.parametrize(("paired", "expected"), [(False, False), (np.True_, True), (0, False)])
def test_truth_values(paired, expected):
    found = check(frame({**DATASET, "paired": paired}), "datasets")
    assert found["paired"].tolist() == [expected]
    assert found["paired"].dtype == "bool"


@pytest.mark.parametrize("value", ["x", [1.0], object()])
def test_what_is_no_number_is_refused(value):
    row = {
        "dataset": "d",
        "retriever": "r",
        "query_id": "q",
        "rank": 1,
        "doc_id": "a",
        "score": value,
    }
    assert "should hold float values" in refusal("runs", row)


@pytest.mark.parametrize("value", ["d1", 5, [1], ["a", None], {"a": 1}])
def test_a_list_of_texts_is_nothing_else(value):
    assert "should hold texts values" in refusal("queries", {**QUERY, "source_doc_ids": value})


@pytest.mark.parametrize("value", [[], ["a"], ("a", "b"), np.array(["a"], dtype=object)])
def test_lists_of_texts(value):
    found = check(frame({**QUERY, "source_doc_ids": value}), "queries")
    assert list(found.loc[0, "source_doc_ids"]) == list(value)


def test_a_lone_surrogate_is_refused_with_a_sentence():
    assert "should hold text values" in refusal("queries", {**QUERY, "text": "a\ud800b"})


@pytest.mark.parametrize("text", ["", " ", "nothing", "NA", "null", "007", "None", "nan", "a\x00b"])
def test_text_stays_text(text):
    # C80
    found = check(frame({**QUERY, "text": text, "group": text}), "queries")
    assert found["text"].tolist() == [text]
    assert found["group"].tolist() == [text]
    assert not found["group"].isna().any()


def test_a_text_column_misses_values_as_nan():
    found = check(
        frame({**QUERY, "group": None}, {**QUERY, "query_id": "q2", "group": "left"}), "queries"
    )
    assert found["group"].isna().tolist() == [True, False]
    assert found["group"].dtype == "str"


def test_an_unknown_table_is_an_unknown_name():
    with pytest.raises(UnknownName, match="Did you mean 'queries'"):
        check(pd.DataFrame(), "querys")
    with pytest.raises(InputError):
        empty("x")


def test_checking_twice_changes_nothing():
    once = check(frame(QREL, {**QREL, "doc_id": "b"}), "qrels")
    pd.testing.assert_frame_equal(check(once, "qrels"), once)
