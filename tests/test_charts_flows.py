"""The flow of documents from one ranking to the other."""

from __future__ import annotations

import pandas as pd

from biasret.charts import rank_flow

MOVED = pd.DataFrame(
    {
        "doc_id": ["a", "b", "c", "d", "e"],
        "rank_a": pd.array([1, 2, 3, 4, None], dtype="Int64"),
        "rank_b": pd.array([1, 3, 2, None, 4], dtype="Int64"),
        "movement": ["same", "down 1", "up 1", "lost", "new"],
    }
)
TITLES = {"a": "Same", "b": "Down", "c": "Up", "d": "Lost <b>", "e": "New " * 20}


def test_a_line_a_document_from_rank_to_rank():
    figure = rank_flow(MOVED, TITLES, groups=("left", "right"), k=4)
    lines = [(list(trace.y), trace.name) for trace in figure.data]
    assert lines == [
        ([1, 1], "same rank"),
        ([2, 3], "further down"),
        ([3, 2], "nearer the top"),
        ([4, 5], "only for A"),
        ([5, 4], "only for B"),
    ]
    # Each way to move has a marker of its own, so that colour is not the only cue.
    assert len({trace.marker.symbol for trace in figure.data}) == 5
    assert figure.layout.yaxis.ticktext[-1] == "below 4"
    assert figure.layout.xaxis.ticktext == ("A: left", "B: right")


def test_titles_are_short_safe_and_left_out_where_they_would_overlap():
    texts = [
        one.text for one in rank_flow(MOVED, TITLES, groups=("l", "r"), k=4).layout.annotations
    ]
    assert len(texts) == 8  # a document that is below the list on one side is named on the other
    assert "Lost ‹b›" in texts
    assert all(len(text) <= 24 for text in texts)
    assert not rank_flow(MOVED, TITLES, groups=("l", "r"), k=50).layout.annotations


def test_each_way_is_in_the_legend_once():
    twice = pd.concat([MOVED, MOVED.assign(doc_id=list("fghij"))])
    titles = {**TITLES, **dict.fromkeys("fghij", "x")}
    figure = rank_flow(twice, titles, groups=("l", "r"), k=4)
    assert sum(trace.showlegend for trace in figure.data) == 5
