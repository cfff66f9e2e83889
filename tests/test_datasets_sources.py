"""Published source corpora: what is kept, what is left out and said, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.datasets import article_bias, healthcaremagic, medquad, qbias
from biasret.datasets.compressed import unpacked
from biasret.datasets.tally import Tally
from biasret.datasets.twitteraae import read_counts
from biasret.errors import FileError, InputError, TableError
from biasret.signals.dialect.scoring import COMPONENTS, CountTable, posterior, posteriors

BODY = (
    "The council met on Tuesday and argued for hours about its budget, its schools and its roads."
)
LONG = BODY + " " + BODY

#: Text that tries to be something else; all of it is kept as it is.
HOSTILE = '<script>alert(1)</script> =1+1 $x$ "q", \u202e\u200b é 🏥 `a` '

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=40)


# --- compressed -------------------------------------------------------------------------------


def packed(path: Path, data: bytes) -> Path:
    codec = {".gz": "gzip", ".zst": "zstd"}[path.suffix]
    with pa.output_stream(str(path), compression=codec) as stream:
        stream.write(data)
    return path


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_packed_files_are_unpacked_whole_or_refused(tmp_path, ending):
    data = BODY.encode() * 1000
    path = packed(tmp_path / f"a.csv{ending}", data)
    assert unpacked(path) == data
    raw = path.read_bytes()
    path.write_bytes(raw + raw)
    assert unpacked(path) == data * 2
    with pytest.raises(FileError, match=r"unpacks to more than 1,000 bytes"):
        unpacked(path, max_bytes=1_000)
    for broken in (raw[:-4], b"plain text"):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=r"a\.csv\.\w+ cannot be unpacked as"):
            unpacked(path)
    with pytest.raises(FileError, match="There is no file"):
        unpacked(tmp_path / f"none{ending}")
    with pytest.raises(FileError, match="is not a file"):
        unpacked(tmp_path)


def test_a_tally_names_the_first_five():
    tally = Tally("rows")
    tally.n_read = 9
    for row in range(7):
        tally.drop("blank", f"a, line {row}")
    count, first = tally.notes()
    assert count == "9 rows were read, 2 kept and 7 left out."
    assert first.count("(blank)") == 5
    assert "line 4" in first
    assert "line 5" not in first


# --- qbias ------------------------------------------------------------------------------------


def qbias_csv(path: Path, rows: list[tuple[str, str, str, str]], *, bom: bool = False) -> Path:
    """Rows of story, heading, body, rating."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["", "title", "tags", "heading", "source", "text", "bias_rating"])
    for number, (story, heading, body, rating) in enumerate(rows):
        writer.writerow([number, story, "['x']", heading, "Gazette", body, rating])
    data = buffer.getvalue().encode("utf-8-sig" if bom else "utf-8")
    if path.suffix in (".gz", ".zst"):
        return packed(path, data)
    path.write_bytes(data)
    return path


#: Story A: two left, one right, one center. B: one side only. C: one of each. D: no title.
STORIES = [
    ("A", "left 0", LONG, "left"),
    ("A", "right 1", LONG, "Right"),
    ("A", "left 2", LONG, "left"),
    ("A", "center 3", LONG, "center"),
    ("B", "left 4", LONG, "left"),
    (" C ", "right 5", LONG, "right"),
    ("C", HOSTILE, LONG, "left"),
    ("", "left 7", LONG, "left"),
    ("", "right 8", LONG, "right"),
    ("C", "short 9", "too short", "left"),
    ("C", "lean 10", LONG, "lean left"),
]


def test_qbias_keeps_articles_and_pairs_headings(tmp_path):
    loaded = qbias.load(qbias_csv(tmp_path / "q.csv", STORIES, bom=True), name="q")
    documents, queries = loaded.dataset.documents, loaded.dataset.queries
    assert documents["doc_id"].tolist() == [f"qb_{row:06d}" for row in range(9)]
    assert documents["text"].iloc[0] == f"left 0\n\n{LONG}"
    assert documents["story_id"].tolist()[5] == "C"
    pairs = queries.groupby("cell_id")["group"].agg(list).to_dict()
    assert pairs == {
        "qb_000000+qb_000001": ["left", "right"],
        "qb_000006+qb_000005": ["left", "right"],
    }
    by_id = queries.set_index("query_id")
    right = by_id.loc["qb_000000+qb_000001:right"]
    # The own article first, because its story is the one looked for; both are masked.
    assert list(right["source_doc_ids"]) == ["qb_000001", "qb_000000"]
    assert right["cluster_id"] == "A"
    assert by_id.loc["qb_000006+qb_000005:left", "text"] == HOSTILE.strip()
    assert loaded.dataset.record.is_paired
    assert loaded.left_out == {
        "article under 100 characters": 1,
        "rating is not left, center, right": 1,
    }
    assert "q.csv, line 11 (article under" in " ".join(loaded.notes)


def test_qbias_balances_each_round_up(tmp_path):
    path = qbias_csv(tmp_path / "q.csv.zst", STORIES)
    loaded = qbias.load(path, name="q", balanced=True, seed=0)
    documents = loaded.dataset.documents
    by_story = documents.groupby("story_id")["stance"].value_counts().unstack(fill_value=0)
    assert by_story.loc["A"].to_dict() == {"center": 1, "left": 1, "right": 1}
    assert sorted(by_story.index) == ["A", "C"]
    assert loaded.left_out["round-up without a left and a right article"] == 3
    assert loaded.left_out["article above the number of the other side in its round-up"] == 1
    again = qbias.load(path, name="q", balanced=True, seed=0)
    pd.testing.assert_frame_equal(again.dataset.documents, documents)
    drawn = {
        tuple(qbias.load(path, name="q", balanced=True, seed=s).dataset.documents["doc_id"])
        for s in range(12)
    }
    assert len(drawn) == 2, "either of the two left articles of A can be drawn"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["A", "B", "C", " "]),
            TEXTS,
            st.sampled_from([LONG, "short"]),
            st.sampled_from(["left", "right", "center", "mixed"]),
        ),
        max_size=20,
    )
)
def test_qbias_counts_every_row(rows):
    rows = [*rows, ("Z", "l", LONG, "left"), ("Z", "r", LONG, "right")]
    with tempfile.TemporaryDirectory() as folder:
        path = qbias_csv(Path(folder) / "q.csv", rows)
        for balanced in (False, True):
            loaded = qbias.load(path, name="q", balanced=balanced)
            documents = loaded.dataset.documents
            assert len(documents) + sum(loaded.left_out.values()) == len(rows)
            assert not documents["doc_id"].duplicated().any()
            if balanced:
                counts = documents.groupby("story_id")["stance"].value_counts().unstack()
                assert (counts["left"] == counts["right"]).all()


def test_qbias_refuses_another_file(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("title,text\na,b\n")
    with pytest.raises(TableError, match=r"q\.csv has no column 'heading'"):
        qbias.load(path, name="q")
    with pytest.raises(InputError, match="no round-up with a left and a right article"):
        qbias.load(qbias_csv(tmp_path / "q.csv", STORIES[:1]), name="q")
    with pytest.raises(InputError, match="holds no usable article"):
        qbias.load(qbias_csv(tmp_path / "q.csv", STORIES[-1:]), name="q")


# --- article-bias -----------------------------------------------------------------------------


def articles(folder: Path, n: int = 12) -> Path:
    folder.mkdir()
    for number in range(n):
        rating = number % 3
        article = {
            "topic": "taxes",
            "source": f"Outlet {number % 2}",
            "bias": rating,
            "url": "https://example.org",
            "title": f"{HOSTILE}{number}",
            "date": "2019-01-05 00:00:00" if number else "yesterday",
            "authors": "",
            "content": "tokenised",
            "content_original": LONG,
            "source_url": "example.org",
            "bias_text": ("left", "center", "right")[rating],
            "ID": f"id{number}" if number else "ID1",
        }
        (folder / f"{number}.json").write_text(json.dumps(article))
    return folder


def test_article_bias_compares_the_headings_of_two_sides(tmp_path):
    folder = articles(tmp_path / "jsons")
    loaded = article_bias.load(tmp_path, name="a")
    documents, queries = loaded.dataset.documents, loaded.dataset.queries
    assert len(documents) == 12
    assert {"ID1", "id1"} <= set(documents["doc_id"])
    assert documents.set_index("doc_id").loc["id1", "date"] == "2019-01-05"
    assert documents["date"].isna().sum() == 1
    assert queries["group"].value_counts().to_dict() == {"left": 4, "right": 4}
    assert all(
        query.startswith(source)
        for query, (source,) in zip(queries["query_id"], queries["source_doc_ids"], strict=True)
    )
    assert set(queries["cluster_id"]) == {"Outlet 0", "Outlet 1"}
    record = loaded.dataset.record
    assert (record.minuend, record.subtrahend, record.is_paired) == ("right", "left", False)
    few = article_bias.load(folder, name="a", queries=2, seed=0)
    assert few.dataset.queries["group"].value_counts().to_dict() == {"left": 2, "right": 2}
    again = article_bias.load(folder, name="a", queries=2, seed=0)
    pd.testing.assert_frame_equal(few.dataset.queries, again.dataset.queries)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("not json", "the file is not valid JSON"),
        ("[1]", "the file holds no object"),
        ('{"ID": 1', "the file is not valid JSON"),
        ({"bias": 2, "bias_text": "left"}, "bias and bias_text disagree"),
        ({"ID": " "}, "no ID"),
        ({"ID": "a\ud800"}, "no ID"),
        ({"ID": "id5"}, "the ID of another article"),
        ({"bias_text": "odd", "bias": 7}, "no rating of left, center, right"),
        ({"content_original": "short", "content": ""}, "article under 100 characters"),
        (b"\xff\xfe\x00", "the file cannot be read"),
    ],
    ids=str,
)
def test_article_bias_leaves_out_and_says_why(tmp_path, change, why):
    folder = articles(tmp_path / "jsons")
    path = folder / "9.json"
    if isinstance(change, dict):
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    else:
        path.write_bytes(change if isinstance(change, bytes) else change.encode())
    loaded = article_bias.load(folder, name="a")
    ((reason, n),) = loaded.left_out.items()
    assert n == 1
    assert reason.startswith(why)
    assert len(loaded.dataset.documents) == 11
    assert "9.json" in " ".join(loaded.notes)


def test_article_bias_takes_what_is_there_of_a_rating_and_a_body(tmp_path):
    folder = articles(tmp_path / "jsons")
    path = folder / "9.json"
    article = json.loads(path.read_text())
    del article["bias_text"]
    path.write_text(json.dumps({**article, "content_original": "", "content": LONG}))
    assert article_bias.load(folder, name="a").left_out == {}


def test_article_bias_refuses(tmp_path):
    with pytest.raises(FileError, match="There is no folder"):
        article_bias.load(tmp_path / "none", name="a")
    with pytest.raises(FileError, match=r"holds no \.json files"):
        article_bias.load(tmp_path, name="a")
    folder = articles(tmp_path / "jsons", 1)
    with pytest.raises(InputError, match="No article with a title is rated right"):
        article_bias.load(folder, name="a")
    with pytest.raises(InputError, match="--queries 0"):
        article_bias.load(folder, name="a", queries=0)


# --- healthcaremagic --------------------------------------------------------------------------

ENTRIES = [
    {
        "instruction": "Answer.",
        "input": f" My knee has been hurting for {number} days. What helps? ",
        "output": f" Rest it, and see a clinician. {number // 2} ",
    }
    for number in range(10)
] + [
    {"instruction": "Answer.", "input": "asdf", "output": "Please describe it."},
    {"instruction": "Answer.", "input": "Is this one ever answered by anybody?", "output": " "},
]

#: Two words of each of two components, so that labels can be worked out by eye.
TABLE = CountTable(
    ["finna", "knee", "hurting", "days", "(others)"],
    np.array(
        [[900, 9, 9, 9], [9, 9, 9, 900], [9, 9, 9, 900], [9, 9, 9, 900], [3000, 3000, 3000, 3000]]
    ),
)


def hcm_json(path: Path, entries: object = None) -> Path:
    path.write_text(json.dumps(ENTRIES if entries is None else entries))
    return path


def test_healthcaremagic_draws_questions_over_all_answers(tmp_path):
    loaded = healthcaremagic.load(hcm_json(tmp_path / "h.json"), name="h", queries=4, seed=0)
    dataset = loaded.dataset
    assert dataset.documents["doc_id"].tolist() == [f"hcm100k_{row}" for row in range(11)]
    assert dataset.documents["text"].iloc[0] == "Rest it, and see a clinician. 0"
    assert len(dataset.queries) == 4
    assert dataset.queries["text"].str.startswith(" My").all(), "questions are not stripped"
    gold = dataset.qrels.set_index("query_id")["doc_id"]
    assert all(gold[q].split("_")[-1] == q.split("_")[-1] for q in dataset.queries["query_id"])
    assert loaded.left_out == {"no answer": 1}
    said = " ".join(loaded.notes)
    assert "12 entries were read, 11 kept" in said
    assert "1 questions of under 20 characters" in said
    every = healthcaremagic.load(tmp_path / "h.json", name="h")
    assert len(every.dataset.queries) == 10
    assert dataset.record.minuend is None


def test_healthcaremagic_reads_rows_too(tmp_path):
    path = tmp_path / "h.jsonl.gz"
    text = "".join(json.dumps(entry) + "\r\n" for entry in ENTRIES)
    path.write_bytes(gzip.compress(text.encode()))
    one = healthcaremagic.load(path, name="h").dataset
    other = healthcaremagic.load(hcm_json(tmp_path / "h.json"), name="h").dataset
    pd.testing.assert_frame_equal(one.documents, other.documents)
    pd.testing.assert_frame_equal(one.queries, other.queries)


def test_labels_follow_the_words(tmp_path):
    entries = [
        *ENTRIES[:6],
        {"instruction": "", "input": "finna finna finna finna knee", "output": "Rest."},
        {"instruction": "", "input": "qwertz uiop asdfg hjkl yxcvb", "output": "Please say more."},
    ]
    path = hcm_json(tmp_path / "h.json", entries)
    paper = healthcaremagic.load(path, name="h", dialect_labels="paper", table=TABLE)
    groups = paper.dataset.queries.groupby("group")["query_id"].agg(list).to_dict()
    # A question without a known word has no share, and counts as AAL in the paper.
    assert groups["AAL"] == ["hcm_aal_6", "hcm_aal_7"]
    assert len(groups["WME"]) == 2
    assert "1 questions have too few known words to be rated; they count as AAL." in paper.notes
    known = healthcaremagic.load(path, name="h", dialect_labels="known-words", table=TABLE)
    groups = known.dataset.queries.groupby("group")["query_id"].agg(list).to_dict()
    assert groups["AAL"] == ["hcm_aal_6"]
    assert len(groups["WME"]) == 1
    record = known.dataset.record
    assert (record.minuend, record.subtrahend, record.is_paired) == ("WME", "AAL", False)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"a": 1}, "holds dict, not a list"),
        ([{"input": "x"}], "entry 0: no text under 'output'"),
        (["x"], "entry 0: no text under 'input'"),
        ([{"input": "a\ud800", "output": "x"}], "half a surrogate pair"),
        ([{"input": "a\0", "output": "x"}], "holds a NUL"),
        ([], "holds no answer"),
    ],
    ids=str,
)
def test_healthcaremagic_refuses_another_file(tmp_path, entries, words):
    with pytest.raises(InputError, match=words):
        healthcaremagic.load(hcm_json(tmp_path / "h.json", entries), name="h")


def test_healthcaremagic_says_what_it_needs(tmp_path):
    path = hcm_json(tmp_path / "h.json")
    with pytest.raises(InputError, match="import twitteraae PATH"):
        healthcaremagic.load(path, name="h", dialect_labels="paper")
    with pytest.raises(InputError, match="Of 10 questions 0 are labelled AAL and 10 WME"):
        healthcaremagic.load(path, name="h", dialect_labels="known-words", table=TABLE)
    with pytest.raises(InputError, match="--queries 0"):
        healthcaremagic.load(path, name="h", queries=0)
    path.write_text('[{"input": "a",\n "output" }]')
    with pytest.raises(FileError, match=r"h\.json, line 2: not valid JSON"):
        healthcaremagic.load(path, name="h")


# --- medquad ----------------------------------------------------------------------------------


def page(pairs: list[tuple[str, str, str]], *, head: str = "", own: str = "1") -> str:
    body = "".join(
        f"<QAPair pid='1'><Question qid={quoteattr(qid)} qtype='x'>{escape(question)}</Question>"
        f"<Answer>{escape(answer)}</Answer></QAPair>"
        for qid, question, answer in pairs
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{head}<Document id="{own}" source="NIH" url="u">'
        f"<Focus>Flu</Focus><QAPairs>{body}</QAPairs></Document>"
    )


def test_medquad_keeps_questions_that_have_answers(tmp_path):
    for folder in ("1_A_QA", "2_B_QA"):
        (tmp_path / folder).mkdir()
        pairs = [("1-1", "What is flu?", f"An infection {HOSTILE}"), ("1-2", "Why?", " ")]
        (tmp_path / folder / "1.xml").write_text(page(pairs), encoding="utf-8")
    loaded = medquad.load(tmp_path, name="m")
    dataset = loaded.dataset
    assert dataset.documents["doc_id"].tolist() == ["1_A_QA/1-1", "2_B_QA/1-1"]
    assert dataset.documents["text"].iloc[0] == f"An infection {HOSTILE}".strip()
    assert dataset.queries["cluster_id"].tolist() == ["1_A_QA/1", "2_B_QA/1"]
    assert (dataset.qrels["query_id"] == dataset.qrels["doc_id"]).all()
    assert dataset.record.licence == "CC BY 4.0"
    assert loaded.left_out == {"no answer": 2}
    assert "1_A_QA/1.xml, question 1-2 (no answer)" in " ".join(loaded.notes)


BOMB = (
    '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (page([("2-1", "q", "a")], head=BOMB), "declares a document type or entities"),
        (
            page([("2-1", "q", "a")], head='<!DOCTYPE b SYSTEM "file:///etc/passwd">'),
            "declares a document type",
        ),
        (page([("2-1", "q", "a")])[:-10], "is not valid XML"),
        ("", "is not valid XML"),
        ('<?xml version="1.0" encoding="klingon"?><Document/>', "cannot be decoded|not valid XML"),
    ],
    ids=["bomb", "external", "cut", "empty", "encoding"],
)
def test_medquad_passes_over_files_it_cannot_trust(tmp_path, content, words):
    (tmp_path / "a.xml").write_text(page([("1-1", "What is flu?", "An infection.")]))
    (tmp_path / "b.xml").write_text(content)
    loaded = medquad.load(tmp_path, name="m")
    assert len(loaded.dataset.documents) == 1
    assert loaded.left_out == {"files that cannot be read": 1}
    (said,) = [note for note in loaded.notes if note.startswith("b.xml was passed over")]
    assert any(word in said for word in words.split("|"))


def test_medquad_counts_ids_that_repeat(tmp_path):
    (tmp_path / "a.xml").write_text(page([("1-1", "What?", "This."), ("1-1", "Why?", "That.")]))
    loaded = medquad.load(tmp_path, name="m")
    assert loaded.left_out == {"an id that another question has": 1}


def test_medquad_refuses(tmp_path):
    with pytest.raises(FileError, match="There is no folder"):
        medquad.load(tmp_path / "none", name="m")
    with pytest.raises(FileError, match=r"holds no \.xml files"):
        medquad.load(tmp_path, name="m")
    (tmp_path / "a.xml").write_text(page([("1", "Why?", "")]))
    with pytest.raises(InputError, match="no question with an answer"):
        medquad.load(tmp_path, name="m")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_medquad_counts_every_question(pairs):
    def xml(text: str) -> str:
        # XML holds no control characters but tab and line breaks.
        return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))

    rows = [(str(n), xml(question), xml(answer)) for n, (question, answer) in enumerate(pairs)]
    rows.append(("last", "What is flu?", "An infection."))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.xml").write_bytes(page(rows).encode())
        loaded = medquad.load(Path(folder), name="m")
    assert len(loaded.dataset.queries) + sum(loaded.left_out.values()) == len(rows)


# --- twitteraae -------------------------------------------------------------------------------


def model_of(folder: Path, counts: str, words: str) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "model").mkdir()
    (folder / "data" / "model_count_table.txt").write_text(counts)
    (folder / "model" / "model_vocab.txt").write_text(words, encoding="utf-8")
    return folder


def test_the_model_is_read_from_its_own_files_and_from_a_table(tmp_path):
    folder = model_of(tmp_path / "m", "1\t2\t3\t4.5\n5\t6\t7\t8\n", "20\thi\n3\t🚿👍\n")
    found = read_counts(folder)
    assert found["word"].tolist() == ["hi", "🚿👍"]
    assert found[list(COMPONENTS)].to_numpy().tolist() == [[1, 2, 3, 4.5], [5, 6, 7, 8]]
    found.to_parquet(tmp_path / "t.parquet")
    found.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        pd.testing.assert_frame_equal(read_counts(tmp_path / name), found)


@pytest.mark.parametrize(
    ("counts", "words", "said"),
    [
        ("1\t2\t3\n", "1\ta\n", "model_count_table.txt, line 1: found"),
        ("1\t2\t3\tx\n", "1\ta\n", "model_count_table.txt, line 1: found"),
        ("1\t2\t3\t4\n", "a\n", "model_vocab.txt, line 1: found 'a'"),
        ("1\t2\t3\t4\n1\t2\t3\t4\n", "1\ta\n", "has 2 lines and model_vocab.txt 1"),
        ("1\t2\t3\t4\n1\t2\t3\t4\n", "1\ta\n1\ta\n", "names each word once"),
        ("1\t2\t3\t-4\n", "1\ta\n", "finite counts of 0 or more"),
    ],
)
def test_a_damaged_model_is_refused(tmp_path, counts, words, said):
    with pytest.raises(InputError, match=said):
        read_counts(model_of(tmp_path / "m", counts, words))


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"should hold one model_count_table\.txt; found none"):
        read_counts(tmp_path)
    with pytest.raises(FileError, match="There is no file or folder"):
        read_counts(tmp_path / "none")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(FileError, match="neither a folder nor one of"):
        read_counts(tmp_path / "a.txt")


def test_many_posteriors_are_those_of_each():
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(40)]
    table = CountTable(words, rng.integers(0, 500, size=(40, 4)))
    texts = [list(rng.choice([*words, "unknown"], size=n)) for n in rng.integers(0, 60, size=200)]
    texts += [["unknown"] * 9 + ["w1"], ["unknown"] * 4 + ["w1"], []]
    found = posteriors(texts, table)
    for text, shares in zip(texts, found, strict=True):
        known, likelihoods = table.likelihoods(text)
        if not known or len(known) / len(text) < 0.2:
            assert np.isnan(shares).all()
        else:
            np.testing.assert_allclose(shares, posterior(likelihoods)[0], rtol=1e-12)
    assert np.isnan(found[[-3, -1]]).all()
    assert not np.isnan(found[-2]).any()


def test_the_published_examples_come_out(shared):
    table = CountTable.read(shared / "data" / "dialect" / "twitteraae_counts.parquet")
    found = posteriors([["hello", "there"], ["af"] * 3], table)
    expected = [
        [0.16603718, 0.27450171, 0.22886004, 0.33060107],
        [0.842944382, 0.132149345, 0.000111905398, 0.0247943681],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
