"""What no rewrite of a real question may do, over thousands of them."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from biasret.signals.dialect import FEATURES, Rewrite
from biasret.signals.dialect.engine import Plan, drawn, plans
from biasret.signals.dialect.protection import is_medical

pytest.importorskip("spacy", reason="the parser is not installed: pip install spacy")

SHARED = Path(os.environ.get("BIASRET_SHARED", Path(__file__).parents[2] / "shared"))
QUESTIONS = SHARED / "data" / "health" / "questions.parquet"
DENSITIES = (0.2, 0.5, 1.0)
#: Questions longer than this are cut at a blank, to keep the test within its time.
LONGEST = 700
PER_SOURCE = 320


def rank(question_id: str) -> str:
    return hashlib.sha256(question_id.encode()).hexdigest()


@pytest.fixture(scope="module")
def questions() -> list[str]:
    if not QUESTIONS.exists():
        pytest.skip(f"no health questions: {QUESTIONS} is absent; set BIASRET_SHARED")
    frame = pd.read_parquet(QUESTIONS, columns=["question_id", "text", "source"])
    frame = frame.assign(rank=frame["question_id"].map(rank)).sort_values("rank")
    sample = frame.groupby("source", sort=True).head(PER_SOURCE)
    texts = [t if len(t) <= LONGEST else t[: t.rindex(" ", 0, LONGEST)] for t in sample["text"]]
    return texts


@pytest.fixture(scope="module")
def prepared(questions: list[str]) -> list[Plan]:
    every = [f.name for f in FEATURES.values() if f.is_generated and f.layer != "digital"]
    return plans(questions, features=every)


@pytest.fixture(scope="module")
def rewrites(prepared: list[Plan]) -> list[tuple[Rewrite, ...]]:
    return [
        tuple(drawn(plan, density=d, min_edits=1, seed=n % 3, profile="custom") for d in DENSITIES)
        for n, plan in enumerate(prepared)
    ]


# Everything below reads the two texts alone, with patterns that the engine does not use.

NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
DOSE = re.compile(
    r"(?i)\d\s?(?:mg|mcg|ml|cc|iu|units?|%|kg|lbs?|cm|mm|weeks?|days?|months?|years?)\b"
)
URL = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+")
QUOTED = re.compile(r"\"[^\"\n]+\"|“[^”\n]+”")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
NEGATIVE = re.compile(
    r"(?i)\bnot\b|\w+n['’]t\b|\bnever\b|\bneva\b|\bcannot\b|\b(?:do|does|did|is|are|was|were|have"
    r"|has|had|could|would|should|ca|ai)nt\b"
)
GENDERED = {
    "he": "m", "him": "m", "his": "m", "himself": "m", "hisself": "m",
    "she": "f", "her": "f", "hers": "f", "herself": "f",
}  # fmt: skip
FIRST_SECOND = {
    "my": "my", "mine": "my", "our": "our", "ours": "our", "your": "your", "yours": "your",
    "myself": "my", "yourself": "your",
}  # fmt: skip
DOUBLED = re.compile(
    r"(?i)\b(?:is is|are are|ain['’]t ain['’]t|ain['’]t is|is ain['’]t|do do|does does|be be|be is"
    r"|is be|been have|have have|has has|a no|no no|gon going|the the da|more more|me me)\b"
)


def words(text: str) -> list[str]:
    return [w.lower().replace("’", "'") for w in WORD.findall(text)]


def heads(text: str) -> list[str]:
    """The words without what is contracted to them: *he* of *he's*."""
    return [w if w == "y'all" else w.split("'")[0] for w in words(text)]


def test_the_sample_is_large_enough(questions: list[str]) -> None:
    assert len(questions) >= 3000
    assert len(set(questions)) >= 3000


def test_numbers_doses_urls_and_quotations_survive(rewrites: list[tuple[Rewrite, ...]]) -> None:
    for group in rewrites:
        for rewrite in group:
            for pattern in (NUMBER, DOSE, URL, QUOTED):
                assert pattern.findall(rewrite.target) == pattern.findall(rewrite.source)


def test_drug_and_disease_terms_survive(rewrites: list[tuple[Rewrite, ...]]) -> None:
    n = 0
    for group in rewrites:
        for rewrite in group:
            before = [w for w in words(rewrite.source) if is_medical(w)]
            after = Counter(words(rewrite.target))
            missing = Counter(before) - after
            # "mother's" may lose its 's, never the noun.
            assert not missing, (missing, rewrite.source, rewrite.target)
            n += len(before)
    assert n > 5000


def test_names_acronyms_and_unlisted_words_survive(rewrites: list[tuple[Rewrite, ...]]) -> None:
    for group in rewrites:
        for rewrite in group:
            acronyms = re.findall(r"\b[A-Z]{2,6}\b", rewrite.source)
            if not rewrite.source.isupper() and sum(map(len, acronyms)) < 0.3 * len(rewrite.source):
                kept = {"DO", "NOT", "DOES", "IS", "ARE", "HAS", "ANY", "THE", "AN", "OF", "OUT"}
                counts = Counter(re.findall(r"\b[A-Z]{2,6}\b", rewrite.target))
                assert not {
                    a for a in Counter(acronyms) - counts if a not in kept and is_shown(a, rewrite)
                }, (rewrite.source, rewrite.target)


def is_shown(acronym: str, rewrite: Rewrite) -> bool:
    """Whether the capitals stand in a word that no edit holds as a function word."""
    return not any(acronym in edit.original.split() for edit in rewrite.edits)


def test_the_number_of_negators_survives(rewrites: list[tuple[Rewrite, ...]]) -> None:
    for group in rewrites:
        for rewrite in group:
            inverted = sum(e.feature == "negative_inversion" for e in rewrite.edits)
            before = len(NEGATIVE.findall(rewrite.source))
            assert len(NEGATIVE.findall(rewrite.target)) == before + inverted


def test_pronouns_keep_gender_and_person(rewrites: list[tuple[Rewrite, ...]]) -> None:
    for group in rewrites:
        for rewrite in group:
            old, new = heads(rewrite.source), heads(rewrite.target)
            doubled = sum(e.feature == "subject_doubling" for e in rewrite.edits)
            before = [GENDERED[w] for w in old if w in GENDERED]
            after = [GENDERED[w] for w in new if w in GENDERED]
            if doubled:
                assert len(after) - len(before) <= doubled
                assert not Counter(before) - Counter(after)
            else:
                assert after == before
            mine = [FIRST_SECOND[w] for w in old if w in FIRST_SECOND]
            now = [FIRST_SECOND[w] for w in new if w in FIRST_SECOND]
            assert sorted(now) == sorted(mine)
            for person in ({"we", "us"}, {"you", "y'all"}):
                assert sum(w in person for w in new) == sum(w in person for w in old)


def test_no_article_becomes_a_count_and_no_auxiliary_doubles(
    rewrites: list[tuple[Rewrite, ...]],
) -> None:
    for group in rewrites:
        for rewrite in group:
            assert words(rewrite.target).count("one") == words(rewrite.source).count("one")
            before = Counter(m.lower() for m in DOUBLED.findall(rewrite.source))
            after = Counter(m.lower() for m in DOUBLED.findall(rewrite.target))
            assert not after - before, (rewrite.source, rewrite.target)


def test_no_word_outside_source_and_declared_replacements(
    rewrites: list[tuple[Rewrite, ...]],
) -> None:
    seen: set[str] = set()
    for group in rewrites:
        for rewrite in group:
            put = {w for e in rewrite.edits for w in words(e.replacement)}
            new = set(words(rewrite.target)) - set(words(rewrite.source))
            # A deletion may part "she's" into "she": the rest of a written word.
            heads = {w.split("'")[0] for w in words(rewrite.source)}
            joined = {h + p for h in heads for p in ("'ma", "'m", "'s")}
            assert new <= put | heads | joined, (new, rewrite.source, rewrite.target)
            seen |= put - set(words(rewrite.source))
    assert "finna" in seen or len(seen) > 100


def test_questions_stay_questions_and_lines_stay(rewrites: list[tuple[Rewrite, ...]]) -> None:
    for group in rewrites:
        for rewrite in group:
            for mark in "?!.\n":
                assert rewrite.target.count(mark) == rewrite.source.count(mark)
            blanks = len(re.findall(r"\s\s", rewrite.source))
            assert len(re.findall(r"\s\s", rewrite.target)) <= blanks


def test_spans_map_source_to_target_exactly(rewrites: list[tuple[Rewrite, ...]]) -> None:
    for group in rewrites:
        for rewrite in group:
            source_at = target_at = 0
            for edit in rewrite.edits:
                assert source_at <= edit.start <= edit.end <= len(rewrite.source)
                assert rewrite.source[edit.start : edit.end] == edit.original
                assert rewrite.target[edit.target_start : edit.target_end] == edit.replacement
                assert edit.original != edit.replacement
                between = rewrite.source[source_at : edit.start]
                assert rewrite.target[target_at : edit.target_start] == between
                source_at, target_at = edit.end, edit.target_end
            assert rewrite.source[source_at:] == rewrite.target[target_at:]


def test_edits_at_a_density_are_among_those_at_a_higher_one(prepared: list[Plan]) -> None:
    for plan in prepared:
        chosen: set[tuple[int, int, str, str]] = set()
        for density in (0.1, 0.3, 0.4, 0.7, 1.0):
            rewrite = drawn(plan, density=density, min_edits=1, seed=7, profile="custom")
            now = {(e.start, e.end, e.replacement, e.feature) for e in rewrite.edits}
            assert chosen <= now
            chosen = now


def test_density_zero_is_the_identity(prepared: list[Plan]) -> None:
    for plan in prepared:
        rewrite = drawn(plan, density=0, min_edits=1, seed=0, profile="custom")
        assert rewrite.target == rewrite.source
        assert rewrite.edits == ()


def test_every_refusal_met_has_a_licence_case(prepared: list[Plan]) -> None:
    table = pd.read_csv(Path(__file__).parent / "data" / "dialect_licences.csv")
    known = set(zip(table["feature"], table["code"], strict=True))
    met = {(r.feature, r.code) for plan in prepared for r in plan.refused}
    assert {p for p in met if p[1] not in ("lost", "protected", "contract")} - known == set()


def test_every_feature_on_by_default_is_met(prepared: list[Plan]) -> None:
    met = {w.candidate.feature for p in prepared for w in p.winners}
    met |= {name for p in prepared for w in p.winners for name in w.candidate.composed}
    on = {f.name for f in FEATURES.values() if f.status == "on"}
    assert len(on & met) >= 35
