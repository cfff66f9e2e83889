"""The shipped texts keep the rules they were written by, and so does the language about people."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from conftest import PROJECT

from biasret.datasets import SHIPPED, SIGNALS, demo

#: Invented outlets; each tells stories from one side only.
OUTLETS = {
    "left": {
        "The Alder Street Tribune",
        "Northlight Review",
        "The Quarry Observer",
        "Lantern Weekly",
    },
    "center": {
        "Tidewater Wire",
        "Two Rivers Press Service",
        "Bluestem Public Radio",
        "The Marlow Ledger",
    },
    "right": {
        "The Cobbler's Bell",
        "Stonebridge Standard",
        "The Homestead Register",
        "Ironwood Review",
    },
}

#: The frames of Boydstun et al., as the paper names them.
FRAMES = {
    "economic",
    "capacity_and_resources",
    "morality",
    "fairness_and_equality",
    "legality_constitutionality",
    "policy_prescription",
    "crime_and_punishment",
    "security_and_defense",
    "health_and_safety",
    "quality_of_life",
    "cultural_identity",
    "public_sentiment",
    "political",
    "external_regulation",
    "other",
}


def written(dataset):
    """A dataset without the wordings that an engine made."""
    queries = dataset.queries[dataset.queries["origin"] == "written"].reset_index(drop=True)
    qrels = dataset.qrels[dataset.qrels["query_id"].isin(queries["query_id"])]
    return replace(dataset, queries=queries, qrels=qrels.reset_index(drop=True))


@pytest.fixture(scope="module")
def news():
    """The stories with their questions as they were written."""
    return written(demo.load_news())


@pytest.fixture(scope="module")
def health():
    """Both wordings as they were written."""
    return written(demo.load_written())


def n_words(texts: pd.Series) -> pd.Series:
    return texts.str.split().str.len()


def bodies(documents: pd.DataFrame) -> pd.Series:
    return documents["text"].str.split("\n\n", n=1).str[1]


def sentences(texts: pd.Series) -> Counter[str]:
    found: Counter[str] = Counter()
    for text in texts:
        found.update(s.strip() for s in re.split(r"(?<=[.!?])[\"')]*\s+", text))
    return found


# --- news ------------------------------------------------------------------------------------


def test_the_news_have_the_size_they_promise(news):
    documents, queries = news.documents, news.queries
    assert documents["story_id"].nunique() == 60
    assert len(documents) == 360
    assert len(queries) == 540
    assert queries["cell_id"].nunique() == 180
    assert queries["cluster_id"].nunique() == 60
    assert news.qrels.empty
    assert documents["topic"].notna().all()
    assert documents["topic"].nunique() > 30


def test_every_story_is_told_twice_from_each_side(news):
    told = news.documents.groupby(["story_id", "stance"]).size()
    assert len(told) == 180
    assert (told == 2).all()
    assert (news.documents.groupby("story_id")["source"].nunique() == 6).all()
    assert (news.documents.groupby("story_id")["date"].nunique() == 1).all()


def test_outlets_are_the_invented_ones_and_keep_to_their_side(news):
    found = news.documents.groupby("stance")["source"].agg(set).to_dict()
    assert found == OUTLETS
    for one, other in combinations(OUTLETS.values(), 2):
        assert not one & other


def test_articles_are_of_like_length_on_every_side(news):
    documents = news.documents.assign(n=n_words(bodies(news.documents)))
    assert documents["n"].between(85, 135).all()
    means = documents.groupby(["story_id", "stance"])["n"].mean().unstack()
    assert ((means.max(axis=1) - means.min(axis=1)) <= 10).all()
    overall = documents.groupby("stance")["n"].mean()
    assert overall.max() - overall.min() < 1
    assert n_words(documents["title"]).between(5, 13).all()


def test_the_text_is_heading_blank_line_body(news):
    starts = [
        text.startswith(f"{title}\n\n")
        for text, title in zip(news.documents["text"], news.documents["title"], strict=True)
    ]
    assert all(starts)
    assert (bodies(news.documents).str.count("\n") == 0).all()


@pytest.mark.parametrize("name", ["news", "health"])
def test_no_sentence_occurs_twice(request, name):
    documents = request.getfixturevalue(name).documents
    texts = bodies(documents) if name == "news" else documents["text"]
    repeated = {s: n for s, n in sentences(texts).items() if n > 1 and len(s) > 25}
    assert repeated == {}
    if name == "news":
        assert documents["title"].is_unique


def test_questions_are_framed_in_three_ways(news):
    queries = news.queries
    assert set(queries["frame"]) <= FRAMES
    assert queries["frame"].nunique() >= 10
    groups = queries.groupby("cell_id")["group"].agg(sorted)
    assert (groups.map(tuple) == ("left", "neutral", "right")).all()
    assert (queries.groupby("cluster_id")["frame"].nunique() == 3).all()
    assert (queries["origin"] == "written").all()


def test_questions_have_10_to_25_words_and_are_alike_in_length(news):
    queries = news.queries
    assert n_words(queries["text"]).between(10, 25).all()
    assert queries["text"].str.endswith("?").all()
    assert queries["text"].is_unique
    lengths = queries.assign(n=queries["text"].str.len())
    wide = lengths.pivot(index="cell_id", columns="group", values="n")
    assert ((wide["left"] - wide["right"]).abs() <= 25).all()
    assert abs(wide["left"].mean() - wide["right"].mean()) < 2


def test_the_masked_article_is_a_center_one_of_the_same_story(news):
    documents = news.documents.set_index("doc_id")
    for _, query in news.queries.iterrows():
        (source,) = query["source_doc_ids"]
        assert documents.loc[source, "stance"] == "center"
        assert documents.loc[source, "story_id"] == query["cluster_id"]


# --- health ------------------------------------------------------------------------------------


def test_the_questions_have_the_size_they_promise(health):
    assert len(health.documents) == 300
    assert health.queries["cell_id"].nunique() == 300
    assert len(health.queries) == 600
    assert health.documents["topic"].nunique() >= 40
    assert (health.documents["source"] == "invented clinician").all()


def wordings(health) -> pd.DataFrame:
    return health.queries.pivot(index="cell_id", columns="group", values="text")


def test_each_question_has_two_wordings_of_like_length(health):
    wide = wordings(health)
    assert wide.notna().all(axis=None)
    assert (wide["WME"] != wide["AAL"]).all()
    lengths = wide.map(len)
    assert ((lengths["WME"] - lengths["AAL"]).abs() <= 0.25 * lengths["WME"]).all()
    assert n_words(wide["WME"]).between(12, 50).all()
    assert n_words(wide["AAL"]).between(12, 55).all()
    assert health.queries["text"].is_unique


def test_both_wordings_name_the_same_numbers(health):
    wide = wordings(health)

    def numbers(text: str) -> list[str]:
        return re.findall(r"\d+(?:[.,/]\d+)*", text)

    for cell_id, row in wide.iterrows():
        assert numbers(row["WME"]) == numbers(row["AAL"]), cell_id


DOSE = re.compile(
    r"\b\d+(?:[.,]\d+)?\s*(?:mg|mcg|µg|g|ml|cc|iu|units?|milligrams?|micrograms?|milliliters?"
    r"|tablets?|pills?|capsules?|drops?|puffs?|teaspoons?|tablespoons?)\b",
    re.IGNORECASE,
)


def test_no_answer_names_a_dose(health):
    assert DOSE.search("take 200 mg twice")
    found = {text: DOSE.search(text) for text in health.documents["text"]}
    assert not [match.group() for match in found.values() if match]
    assert n_words(health.documents["text"]).between(50, 120).all()


def test_each_question_has_one_answer_of_its_own(health):
    assert (health.qrels.groupby("query_id").size() == 1).all()
    assert set(health.qrels["query_id"]) == set(health.queries["query_id"])
    judged = health.qrels.merge(health.queries[["query_id", "cell_id"]], on="query_id")
    assert (judged["doc_id"] == judged["cell_id"] + "-answer").all()
    assert (judged["grade"] == 1).all()


def test_generated_rewrites_are_told_apart_and_keep_the_question(health):
    rewritten = demo.load_health()
    pd.testing.assert_series_equal(rewritten.documents["text"], health.documents["text"])
    queries = rewritten.queries
    wme = queries[queries["group"] == "WME"].set_index("cell_id")["text"]
    written = health.queries[health.queries["group"] == "WME"].set_index("cell_id")["text"]
    assert wme.to_dict() == written.to_dict()
    aal = queries[queries["group"] == "AAL"]
    # Nobody may take a rule's output for a speaker's words.
    assert aal["origin"].str.startswith("generated").all()
    assert (queries.loc[queries["group"] == "WME", "origin"] == "written").all()
    per_cell = aal.groupby("cell_id").size()
    assert per_cell.between(1, 3).all()
    assert len(per_cell) > 290
    assert queries["text"].is_unique
    for cell_id, text in zip(aal["cell_id"], aal["text"], strict=True):
        assert re.findall(r"\d+", text) == re.findall(r"\d+", wme[cell_id]), cell_id
        assert 0.8 < len(text) / len(wme[cell_id]) < 1.2
    assert set(rewritten.qrels["query_id"]) == set(queries["query_id"])


def test_unpaired_questions_are_one_of_a_cell(health):
    pairs = demo.load_pairs()
    assert not pairs.record.is_paired
    assert pairs.queries["cell_id"].is_unique
    assert pairs.queries["group"].value_counts().to_dict() == {"AAL": 150, "WME": 150}
    assert set(pairs.queries["text"]) < set(health.queries["text"])


def test_documents_say_who_wrote_them():
    for shipped in SHIPPED.values():
        record = shipped.record
        assert record.is_illustrative
        assert "self-written, illustrative, not evidence" in record.about
        dataset = shipped.load()
        assert dataset.record == record
        assert set(dataset.queries["group"]) >= {record.minuend, record.subtrahend}
        signal = SIGNALS[record.signal]
        assert (record.minuend, record.subtrahend) == (signal.minuend, signal.subtrahend)
        assert record.licence
        assert record.name.startswith("demo_")


@pytest.mark.parametrize("name", ["news", "health"])
def test_ids_are_unique_and_texts_are_clean(request, name):
    dataset = request.getfixturevalue(name)
    assert dataset.documents["doc_id"].is_unique
    assert dataset.queries["query_id"].is_unique
    for text in pd.concat([dataset.documents["text"], dataset.queries["text"]]):
        assert text == text.strip()
        assert "  " not in text
        assert not re.search(r"[\x00-\x09\x0b-\x1f\ufffd]|https?://|@|\[|TODO", text)


def test_every_file_is_loaded():
    folder = PROJECT / "biasret" / "datasets"
    assert len(list((folder / "demo_news").glob("*.json"))) == 60
    assert len(list((folder / "demo_health").glob("*.json"))) == 6


# --- how the project speaks ----------------------------------------------------------------

#: AAL is a complete, rule-governed variety; retrievers are assessed and gaps mitigated.
NEVER = re.compile(
    r"\b(?:broken|incorrect|bad|poor|improper|wrong|substandard|sub-standard|non-?standard"
    r"|uneducated|lazy|corrupt(?:ed)?|proper|correct) "
    r"(?:english|grammar|speech|language|dialects?|spelling of aal)\b"
    r"|\bslang\b|\bebonics\b|\bungrammatical|\billiterate|\bghetto\b|\bjive\b"
    r"|\bde-?bias|\bunbiased|\bbias-free|\b(?:fix|solve|remove|eliminat|cure)\w* (?:the |all )?bias"
    r"|\bcorrect(?:s|ed|ing)? (?:the )?(?:aal|dialect)\b",
    re.IGNORECASE,
)
#: To say that something is not done, the word for it is needed.
DENIED = re.compile(r"\b(?:no|not|never)\b[^.!?]{0,40}\bslang\b", re.IGNORECASE)
#: What a program says of itself and its makers.
NOBODY = re.compile(r"\b(?:chatgpt|copilot|as an ai|language model wrote)\b", re.IGNORECASE)


def project_texts() -> list[Path]:
    """All text of the project but its tests and the invented articles."""
    found = [PROJECT / name for name in ("README.md", "CHANGELOG.md", "app.py", "pyproject.toml")]
    found += [*(PROJECT / "docs").rglob("*.md"), *(PROJECT / "docs").rglob("*.toml")]
    found += [*(PROJECT / "pages").glob("*.py"), *(PROJECT / "biasret").rglob("*.py")]
    found += [*(PROJECT / "biasret" / "datasets" / "demo_health").glob("*.json")]
    return [path for path in found if path.exists()]


def test_the_rule_of_language_sees_what_it_should():
    for phrase in (
        "broken English",
        "Incorrect  english".replace("  ", " "),
        "it is slang",
        "debias",
        "de-biasing",
        "unbiased",
        "fixes the bias",
        "correct grammar",
        "nonstandard dialect",
        "corrected AAL",
    ):
        assert NEVER.search(phrase), phrase
    for phrase in ("ties are broken by id", "the correct file", "broken sleep"):
        assert not NEVER.search(phrase), phrase
    assert not NEVER.search(DENIED.sub("", "The engine adds no topic, name, slang or attitude."))
    assert NEVER.search(DENIED.sub("", "There is no doubt. AAL is slang."))


def test_the_project_speaks_of_people_with_respect():
    paths = project_texts()
    assert len(paths) > 40
    found = []
    for path in paths:
        # A phrase may run over the end of a line.
        text = DENIED.sub("", re.sub(r"\s+#?\s*", " ", path.read_text(encoding="utf-8")))
        for rule in (NEVER, NOBODY):
            found += [(str(path.relative_to(PROJECT)), m.group()) for m in rule.finditer(text)]
    assert found == []


def test_the_shipped_rewrites_are_what_the_engine_writes(monkeypatch, tmp_path):
    shipped = demo._REWRITES.read_text(encoding="utf-8")
    monkeypatch.setattr(demo, "_REWRITES", tmp_path / "rewrites.json")
    demo.write_rewrites()
    assert (tmp_path / "rewrites.json").read_text(encoding="utf-8") == shipped
