"""Frames, queries and ideology: strict reading, rejected answers said, files that come in."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from conftest import toy_dataset

from biasret import llm_tasks
from biasret.asking import Unreadable, ask_all, open_journal
from biasret.datasets import articles
from biasret.errors import InputError, TableError
from biasret.llm import ChatClient, Endpoint
from biasret.llm_tasks import Cell
from biasret.prompts import FRAMES_SYSTEM, IDEOLOGY_SYSTEM, QUERY_SCHEMA, query_system
from biasret.signals.framing import FRAMES

httpx = pytest.importorskip("httpx", reason="httpx is not installed")

DOCUMENTS = toy_dataset().documents
TEN = "one two three four five six seven eight nine ten"


def triple(**sides: str) -> str:
    return json.dumps({"neutral": TEN, "left": f"{TEN} left", "right": f"{TEN} right", **sides})


# -- frames ------------------------------------------------------------------------------


def test_every_frame_is_named_in_the_prompt():
    assert len(FRAMES) == 15
    for name in FRAMES:
        assert f"- {name}: " in FRAMES_SYSTEM


def test_frames_are_sorted_by_salience_and_ties_stay():
    text = json.dumps(
        {
            "frames": [
                {"key": "political", "salience": 0.2},
                {"key": "economic", "salience": 1},
                {"key": "morality", "salience": 0.2},
            ]
        }
    )
    assert [one["key"] for one in llm_tasks.read_frames(text)] == [
        "economic",
        "political",
        "morality",
    ]
    assert llm_tasks.read_frames('{"frames": []}') == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no", "no JSON"),
        ("[]", "no JSON object"),
        ("{}", "no list of frames"),
        ('{"frames": [{"key": "fear", "salience": 1}]}', "names no frame"),
        ('{"frames": ["economic"]}', "names no frame"),
        ('{"frames": [{"key": "economic"}]}', "no number from 0 to 1"),
        ('{"frames": [{"key": "economic", "salience": 1.5}]}', "no number from 0 to 1"),
        ('{"frames": [{"key": "economic", "salience": NaN}]}', "no number from 0 to 1"),
        ('{"frames": [{"key": "economic", "salience": true}]}', "no number from 0 to 1"),
        (
            '{"frames": [{"key": "economic", "salience": 1}, {"key": "economic", "salience": 0}]}',
            "named twice",
        ),
    ],
)
def test_frames_that_cannot_be_used_are_rejected(text, words):
    with pytest.raises(Unreadable, match=words):
        llm_tasks.read_frames(text)


# -- queries -----------------------------------------------------------------------------


def test_queries_are_kept_on_one_line():
    found = llm_tasks.read_queries(triple(left=f"  {TEN}\n left "))
    assert found["left"] == f"{TEN} left"
    assert list(found) == ["neutral", "left", "right"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (triple(left="too short"), "left query has 2 words"),
        (triple(right=" ".join(["w"] * 26)), "right query has 26 words"),
        (triple(neutral=" "), "no neutral query"),
        (json.dumps({"neutral": TEN, "left": f"{TEN} l"}), "no right query"),
        (triple(left=7), "no left query"),  # type: ignore[arg-type]
        (triple(left=TEN.upper()), "are the same"),
    ],
)
def test_queries_that_cannot_be_used_are_rejected(text, words):
    with pytest.raises(Unreadable, match=words):
        llm_tasks.read_queries(text)


def test_words_at_both_limits_are_kept():
    assert llm_tasks.read_queries(triple(right=" ".join(["w"] * 25)))


def test_the_query_prompt_stresses_its_frame_and_gives_no_asker():
    prompt = query_system("economic")
    assert FRAMES["economic"].about in prompt
    assert "10 to 25 words" in prompt
    assert set(QUERY_SCHEMA["required"]) == set(llm_tasks.SIDES)


def test_cells_come_from_the_releases_file_of_frames(tmp_path):
    path = tmp_path / "frames.jsonl"
    path.write_text(
        '{"article_id": "d01", "frames": [{"key": "economic", "salience": 0.9}, '
        '{"key": "morality", "salience": 0.3}]}\n{"article_id": "d02", "frames": []}\n'
    )
    assert llm_tasks.read_cells(path, DOCUMENTS) == [
        Cell("d01", "economic"),
        Cell("d01", "morality"),
    ]
    assert llm_tasks.read_cells(path, DOCUMENTS, least=0.5) == [Cell("d01", "economic")]
    with pytest.raises(InputError, match="no frame of salience"):
        llm_tasks.read_cells(path, DOCUMENTS, least=0.95)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"article_id": "d99", "frames": []}', "line 1: no document has the id 'd99'"),
        ('{"article_id": "d01", "frames": [{"key": "fear"}]}', "names no frame"),
        ('{"article_id": "d01", "frames": "economic"}', "names no frame"),
        (
            '{"article_id": "d01", "frames": [{"key": "economic", "salience": "high"}]}',
            "'high' is no number",
        ),
        ('{"article_id": "d01"}', "no column 'frames'"),
    ],
)
def test_files_of_frames_that_cannot_be_used_are_told(tmp_path, line, words):
    path = tmp_path / "frames.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(TableError, match=words):
        llm_tasks.read_cells(path, DOCUMENTS)


# -- ideology ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("liberal", "liberal"),
        ("Conservative.", "conservative"),
        ("liberal, not conservative", "conservative"),
        ("liberal or centrist", "centrist"),
        ("unclear", "unclear"),
        ("The post does not tell.", "unclear"),
    ],
)
def test_the_first_of_the_substrings_is_the_label(text, label):
    assert llm_tasks.read_ideology(text) == label


def test_an_empty_answer_is_no_label():
    with pytest.raises(Unreadable):
        llm_tasks.read_ideology(" ")


def test_the_prompt_labels_a_text_and_no_person():
    assert "not the person" in IDEOLOGY_SYSTEM


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("post,text\np1,Hi\n", "no column 'id'"),
        ("id,body\np1,Hi\n", "no column 'text'"),
        ("id,title\np1,\n", "line 2: title is blank"),
        ("id,title\np1,a\np1,b\n", "line 3"),
    ],
)
def test_posts_that_cannot_be_used_are_told(tmp_path, content, words):
    path = tmp_path / "posts.csv"
    path.write_text(content)
    with pytest.raises(TableError, match=words):
        llm_tasks.read_posts(path)


# -- through an endpoint -----------------------------------------------------------------


def asked(tmp_path, tasks, answers: dict[str, str], read):
    """What a model that answers by a word in the user's text gives."""

    def respond(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        text = body["messages"][0]["content"] + body["messages"][1]["content"]
        content = next(answer for word, answer in answers.items() if word in text)
        return httpx.Response(200, json={"choices": [{"message": {"content": content}}]})

    client = ChatClient(Endpoint("http://x/v1", "m"), transport=httpx.MockTransport(respond))
    with client, open_journal(tmp_path / "j.jsonl", about={}) as journal:
        ask_all(client, tasks, journal=journal, read=read)
        return journal


def test_written_queries_come_in_as_a_dataset(tmp_path):
    cells = [Cell("d01", "economic"), Cell("d01", "morality"), Cell("d05", "economic")]
    tasks = llm_tasks.query_tasks(cells, DOCUMENTS)
    right_or_wrong = {FRAMES["morality"].label + ".": triple(left="no"), "----- article": triple()}
    journal = asked(tmp_path, tasks, right_or_wrong, llm_tasks.read_queries)
    refused = llm_tasks.rejected(journal, tasks)
    assert [(one.key, one.why) for one in refused] == [
        (("d01", "morality"), "The left query has 1 words; 10 to 25 were asked for.")
    ]
    rows = llm_tasks.query_rows(journal, tasks, origin="generated (m)")
    assert llm_tasks.write_rows(tmp_path / "queries.jsonl", rows) == 6
    (tmp_path / "j.jsonl").unlink()
    DOCUMENTS.drop(columns="dataset").to_parquet(tmp_path / "documents.parquet")
    found = articles.load(tmp_path, name="written").dataset
    assert found.record.minuend == "right"
    assert found.record.is_paired
    queries = found.queries.set_index("query_id")
    row = queries.loc["d05__economic__left"]
    assert (row["group"], row["cell_id"], row["cluster_id"]) == ("left", "d05__economic", "d05")
    assert list(row["source_doc_ids"]) == ["d05"]
    assert (row["frame"], row["origin"]) == ("economic", "generated (m)")
    assert len(queries) == 6


def test_frames_go_to_a_file_that_the_queries_read(tmp_path):
    tasks = llm_tasks.frame_tasks(DOCUMENTS.head(2))
    good = '{"frames": [{"key": "economic", "salience": 0.5}]}'
    journal = asked(tmp_path, tasks, {"D01": good, "D02": "?"}, llm_tasks.read_frames)
    path = tmp_path / "frames.jsonl"
    assert llm_tasks.write_rows(path, llm_tasks.frame_rows(journal, tasks)) == 1
    assert json.loads(path.read_text()) == {
        "article_id": "d01",
        "frames": [{"key": "economic", "salience": 0.5}],
    }
    assert llm_tasks.read_cells(path, DOCUMENTS) == [Cell("d01", "economic")]
    assert not list(tmp_path.glob("*.part"))


def test_labelled_posts_come_in_and_unclear_ones_have_no_group(tmp_path):
    posts = [("p1", "tax the rich"), ("p2", "tax cuts"), ("p3", "hello"), ("p4", "both sides")]
    tasks = llm_tasks.ideology_tasks(posts)
    answers = {
        "rich": "liberal",
        "cuts": "conservative",
        "hello": "unclear",
        "both": "centrist",
    }
    journal = asked(tmp_path, tasks, answers, llm_tasks.read_ideology)
    rows = list(llm_tasks.ideology_rows(journal, tasks, posts))
    assert [row["group"] for row in rows] == ["liberal", "conservative", None, "centrist"]
    llm_tasks.write_rows(tmp_path / "queries.jsonl", iter(rows))
    DOCUMENTS.drop(columns="dataset").to_parquet(tmp_path / "documents.parquet")
    mapping = tmp_path / "reddit.toml"
    mapping.write_text('signal = "lean"\nminuend = "conservative"\nsubtrahend = "liberal"\n')
    found = articles.load(tmp_path, name="posts", mapping=mapping).dataset
    assert (found.record.minuend, found.record.subtrahend) == ("conservative", "liberal")
    assert found.queries["group"].isna().sum() == 1
    assert pd.unique(found.queries["origin"]).tolist() == ["found"]
