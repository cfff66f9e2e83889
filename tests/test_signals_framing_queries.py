"""A query set from any texts."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret.errors import InputError, UnknownName
from biasret.signals.framing.queries import framing_queries, framing_set
from biasret.tables import check

TEXTS = pd.DataFrame(
    {
        "source_id": ["a", "b", "c", "d"],
        "story_id": ["s1", "s1", None, "s2"],
        "source_doc_ids": [["doc-a"], None, ["doc-c", "doc-d"], np.nan],
        "text": [
            "Do voter ID laws lower turnout?",
            "Is Obamacare popular?",
            "What is the best pizza in Chicago?",
            "Would student loan forgiveness raise tuition?",
        ],
    }
)


def test_lexical_set():
    made = framing_set(TEXTS, mode="lexical", dataset="mine")
    queries = made.queries
    pd.testing.assert_frame_equal(check(queries, "queries"), queries)
    assert queries["query_id"].tolist() == [
        f"{cell}/{stance}" for cell in "abd" for stance in ("left", "neutral", "right")
    ]
    assert set(queries["signal"]) == {"lean"}
    assert queries["group"].equals(queries["variant"])
    by_id = queries.set_index("query_id")
    assert by_id.loc["a/left", "text"] == "Do restrictive voter ID laws lower turnout?"
    assert by_id.loc["a/neutral", "text"] == TEXTS["text"][0]
    assert by_id.loc["b/neutral", "text"] == "Is the Affordable Care Act popular?"
    assert by_id.loc["a/left", "cluster_id"] == by_id.loc["b/right", "cluster_id"] == "s1"
    assert by_id.loc["d/left", "cluster_id"] == "s2"
    assert by_id.loc["a/left", "source_doc_ids"] == ["doc-a"]
    assert by_id.loc["a/left", "origin"] == "generated (framing 1.0, lexical)"
    assert made.dropped[["source_id"]].values.tolist() == [["c"]]
    assert "term" in made.dropped["why"][0]
    assert made.cells.set_index("cell_id")["is_one_sided"].to_dict() == {
        "a": False,
        "b": True,
        "d": False,
    }


def test_one_sided_cells_can_be_left_out():
    made = framing_set(TEXTS, mode="lexical", dataset="mine", is_one_sided_kept=False)
    assert set(made.queries["cell_id"]) == {"a", "d"}
    assert set(made.dropped["source_id"]) == {"b", "c"}


def test_framed_set_over_frames():
    frames = ("economic", "political")
    queries = framing_queries(TEXTS, mode="framed", dataset="mine", frames=frames)
    assert set(queries["cell_id"]) == {f"{cell}/{frame}" for cell in "abd" for frame in frames}
    assert set(queries["frame"]) == set(frames)
    assert queries["text"].str.split().str.len().between(10, 25).all()


def test_neutralised_set_pairs_with_the_first_and_closes_the_wording():
    plain = framing_queries(TEXTS, mode="lexical", dataset="mine")
    closed = framing_queries(TEXTS, mode="lexical", dataset="mine", is_neutralised=True)
    assert plain["query_id"].tolist() == closed["query_id"].tolist()
    assert (closed.groupby("cell_id")["text"].nunique() == 1).all()
    assert closed["origin"].str.endswith("neutralised)").all()


def test_a_source_without_a_story_is_its_own_cluster():
    texts = TEXTS.drop(columns=["story_id", "source_doc_ids"])
    queries = framing_queries(texts, mode="auto", dataset="mine")
    assert (queries["cluster_id"] == queries["cell_id"]).all()
    assert queries["source_doc_ids"].isna().all()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (TEXTS.drop(columns="text"), "lack the column 'text'"),
        (TEXTS.assign(source_id="a"), "stands in several rows"),
        (TEXTS.assign(text=[None, "x", "y", "z"]), "needs a source_id and a text"),
    ],
)
def test_wrong_tables_say_what_is_wrong(texts, message):
    with pytest.raises(InputError, match=message):
        framing_queries(texts, mode="lexical", dataset="mine")


def test_unknown_mode():
    with pytest.raises(UnknownName, match="lexical"):
        framing_queries(TEXTS, mode="lexcal", dataset="mine")


def test_nothing_to_vary_gives_an_empty_table():
    made = framing_set(TEXTS.iloc[[2]], mode="lexical", dataset="mine")
    assert made.queries.empty
    assert len(made.dropped) == 1


def test_questions_shipped_with_the_project():
    """The demo's own neutral questions: framed wordings of each, symmetric and without crossing."""
    folder = Path(__file__).parents[1] / "biasret" / "datasets" / "demo_news"
    stories = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    texts = pd.DataFrame(
        [
            {
                "source_id": f"{s['story_id']}/{q['frame']}",
                "story_id": s["story_id"],
                "text": q["neutral"],
            }
            for s in stories
            for q in s["questions"]
        ]
    )
    made = framing_set(texts, mode="framed", dataset="mine")
    assert len(made.cells) >= 0.7 * len(texts)
    lengths = made.queries.assign(n=made.queries["text"].str.len()).pivot_table(
        index="cell_id", columns="group", values="n"
    )
    assert abs((lengths["left"] - lengths["right"]).mean()) < 3
