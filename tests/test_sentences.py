"""Sentences say no more than the numbers do."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from conftest import HandScored
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import probe, sentences
from biasret.retrievers import RETRIEVERS
from biasret.sentences import comparison, correction, finding, gap, level, p_text, retriever_label
from biasret.sentences_published import reproduced


def row(**changed: object) -> dict:
    return {
        "dataset": "toy",
        "retriever": "bm25",
        "metric": "lean",
        "k": 10,
        "filter": "raw",
        "minuend": "right",
        "subtrahend": "left",
        "test": "Wilcoxon",
        "estimate": 0.05,
        "ci_low": 0.03,
        "ci_high": 0.07,
        "p_value": 0.001,
        "p_holm": 0.002,
        "n_pairs": 1791,
        "n_minuend": 1791,
        "n_subtrahend": 1791,
        "note": None,
        **changed,
    }


def gaps(*rows: dict) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows))
    numbers = ["estimate", "ci_low", "ci_high", "p_value", "p_holm"]
    return frame.astype(dict.fromkeys(numbers, "float64")).assign(
        k=pd.array(frame["k"].tolist(), dtype="Int64")
    )


#: Words that claim a gap.
CLAIM = re.compile(r"(?<!No retriever )\bshows? (the|a) gap\b")


# --- what a chart shows ------------------------------------------------------------------------


def test_a_gap_that_cannot_be_told_from_chance_is_not_claimed():
    for p in (0.05, 0.2, 1.0, np.nan):
        said = finding(gaps(row(p_holm=p), row(p_holm=p, estimate=-0.4)), signal="lean")
        assert not CLAIM.search(said)
        assert said == (
            "No retriever shows a gap that can be told from chance (lean@10, right minus left: "
            "between -0.400 and +0.050); this is not evidence that there is none."
        )


def test_the_corrected_p_decides():
    assert not CLAIM.search(finding(gaps(row(p_value=0.04, p_holm=0.08)), signal="lean"))
    assert CLAIM.search(finding(gaps(row(p_value=0.04, p_holm=0.049)), signal="lean"))


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ("+", "The retriever shows the gap looked for: right-framed"),
        ("++", "2 of 2 retrievers show the gap looked for: right-framed"),
        ("+0", "1 of 2 retrievers shows the gap looked for: right-framed"),
        ("-", "The retriever shows a gap in the opposite direction"),
        ("--0", "2 of 3 retrievers show a gap in the opposite direction"),
        ("+-", "2 of 2 retrievers show a gap, 1 in the direction looked for and 1 against it"),
        ("++-0", "3 of 4 retrievers show a gap, 2 in the direction looked for and 1 against it"),
    ],
)
def test_the_direction_is_said(signs, expected):
    values = {"+": (0.05, 0.01), "-": (-0.05, 0.01), "0": (0.02, 0.5)}
    rows = [
        row(estimate=values[sign][0], p_holm=values[sign][1], retriever=f"r{i}")
        for i, sign in enumerate(signs)
    ]
    said = finding(gaps(*rows), signal="lean")
    assert said.startswith(expected)
    assert "lean@10, right minus left" in said


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-1, 1).filter(lambda v: abs(v) > 1e-6) | st.just(np.nan),
            st.floats(0, 1) | st.just(np.nan),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_claim_needs_a_small_p_and_its_direction_an_estimate(found):
    said = finding(gaps(*(row(estimate=e, p_holm=p) for e, p in found)), signal="lean")
    assert "nan" not in said.lower()
    real = [e for e, p in found if not np.isnan(e) and p < 0.05]
    if not real:
        assert not CLAIM.search(said)
        return
    assert CLAIM.search(said)
    assert ("opposite direction" in said) == all(e < 0 for e in real)
    assert ("looked for:" in said) == all(e > 0 for e in real)


def test_the_positive_direction_is_that_of_the_groups_compared():
    said = finding(
        gaps(row(metric="rr", k=None, minuend="WME", subtrahend="AAL")), signal="dialect"
    )
    assert "questions in WME find their answer nearer the top" in said
    assert "RR, WME minus AAL" in said
    # A dataset may compare groups the other way round, or others.
    said = finding(gaps(row(minuend="left", subtrahend="right")), signal="lean")
    assert "right-framed" not in said
    assert "lean@10 is higher for left than for right" in said
    said = finding(gaps(row(minuend="conservative", subtrahend="liberal")), signal="lean")
    assert "higher for conservative than for liberal" in said


def test_nothing_measured_and_nothing_computed_are_two_things():
    assert finding(gaps(row()).iloc[:0], signal="lean") == (
        "No gap has been measured for this choice yet."
    )
    assert finding(gaps(row(estimate=np.nan, p_holm=np.nan)), signal="lean") == (
        "No gap could be computed for this choice; the table says why."
    )


# --- one retriever ---------------------------------------------------------------------------


def said(**changed: object) -> str:
    return gap(gaps(row(**changed)).iloc[0])


def test_one_gap_in_full():
    assert said() == (
        "BM25: lean@10 differs by +0.050 (95% interval +0.030 to +0.070; Wilcoxon p 0.0010, "
        "0.0020 after Holm; 1,791 pairs)."
    )


def test_one_gap_of_two_groups():
    found = said(
        metric="rr",
        k=None,
        n_pairs=0,
        n_minuend=647,
        n_subtrahend=1,
        minuend="WME",
        subtrahend="AAL",
        test="Mann-Whitney",
        estimate=-0.0204,
    )
    assert found == (
        "BM25: RR differs by -0.020 (95% interval +0.030 to +0.070; Mann-Whitney p 0.0010, "
        "0.0020 after Holm; 647 WME and 1 AAL)."
    )


@pytest.mark.parametrize("note", ["no pairs", None, np.nan, pd.NA])
def test_a_gap_that_is_missing_says_why_or_nothing(note):
    found = said(estimate=np.nan, ci_low=np.nan, ci_high=np.nan, p_value=np.nan, note=note)
    why = ": no pairs" if isinstance(note, str) else ""
    assert found == f"BM25: no gap in lean@10{why}."


def test_parts_that_are_missing():
    found = said(ci_low=np.nan, ci_high=np.nan, p_value=np.nan, n_pairs=1)
    assert found == "BM25: lean@10 differs by +0.050 (no interval; no p-value; 1 pair)."


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "BM25: mean RR 0.250 (95% interval 0.200 to 0.300) over 1,200 queries."),
        ({"n": 1, "ci_low": np.nan}, "BM25: mean RR 0.250 over 1 query, no interval."),
        ({"n": 0, "mean": np.nan, "ci_low": np.nan}, "BM25: no mean RR over 0 queries."),
        ({"metric": "recall", "k": 5}, "BM25: mean recall@5 0.250 (95% interval 0.200 to 0.300)"),
    ],
)
def test_a_level_in_words(changed, expected):
    found = pd.Series(
        {
            "retriever": "bm25",
            "metric": "rr",
            "k": None,
            "mean": 0.25,
            "ci_low": 0.2,
            "ci_high": 0.3,
            "n": 1200,
            **changed,
        }
    )
    assert level(found).startswith(expected)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1"),
        (0.5, "0.5"),
        (0.031, "0.031"),
        (0.05, "0.05"),
        (0.0491, "0.049"),
        (0.01, "0.01"),
        (0.0095, "0.0095"),
        (0.004, "0.0040"),
        (0.00099, "9.9e-04"),
        (2.9e-13, "2.9e-13"),
        (0.0, "below 1e-300"),
    ],
)
def test_p_values_as_people_write_them(p, text):
    assert p_text(p) == text


@given(st.floats(0, 1))
def test_a_p_value_is_shown_as_it_is(p):
    shown = p_text(p)
    if shown.startswith("below"):
        assert p < 1e-300
    else:
        assert float(shown) == pytest.approx(p, rel=0.06)


def test_corrections_and_labels():
    assert correction(1) == correction(0) == "one retriever, so no correction"
    assert correction(6) == "Holm correction over 6 retrievers"
    assert retriever_label("bm25") == RETRIEVERS["bm25"].label
    assert retriever_label("somebody's run") == "somebody's run"


# --- two wordings ------------------------------------------------------------------------------


def compared(a: str, b: str, *, stances: dict[str, str] | None = None, k: int = 3) -> str:
    texts = {"A": a, "B": b}
    made = HandScored(
        {t: {d: 1 - i / 100 for i, d in enumerate(ranking)} for t, ranking in texts.items()}
    )
    made.index(pd.DataFrame({"doc_id": sorted({*a, *b, "z"}), "text": "x"}))
    given_stances = None if stances is None else pd.Series(stances)
    return comparison(probe.compare(made, "A", "B", k=k, stances=given_stances))


RIGHT = {"a": "right", "b": "left", "c": "center", "d": "right"}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("", "", "No document matched either wording."),
        ("", "a", "No document matched wording A, so there is nothing to compare it with."),
        ("a", "", "No document matched wording B, so there is nothing to compare it with."),
        ("abc", "abc", "Both wordings return the same 3 documents in the same order."),
        ("abc", "cba", "Both wordings return the same 3 documents, in another order."),
        ("a", "a", "Both wordings return the same single document."),
        ("abc", "abd", "Among the first 3, wording B keeps 2 documents, loses 1 and brings 1 new."),
        ("abc", "a", "Among the first 3, wording B keeps 1 document, loses 2 and brings 0 new."),
        ("a", "b", "Among the first 3, wording B keeps 0 documents, loses 1 and brings 1 new."),
    ],
)
def test_what_changed(a, b, expected):
    assert compared(a, b) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("b", "a", "lean@3 moves 2.00 to the right."),
        ("a", "b", "lean@3 moves 2.00 to the left."),
        ("ab", "ba", "lean@3 is the same, +0.00."),
        ("abc", "abd", "lean@3 moves 0.33 to the right."),
    ],
)
def test_which_way_it_moved(a, b, expected):
    assert compared(a, b, stances=RIGHT).endswith(expected)


def test_a_blank_wording_is_named():
    made = HandScored({"A": {"a": 1.0}})
    made.index(pd.DataFrame({"doc_id": ["a"], "text": "x"}))
    for first, second, name in (("A", " ", "B"), ("", "A", "A")):
        assert comparison(probe.compare(made, first, second, k=3)) == (
            f"Wording {name} is blank, so there is nothing to compare."
        )


@pytest.mark.parametrize(
    ("n_smaller", "n_equal", "verdict"),
    [
        (96, 0, "an unusually large change: 96% of the 100 stored pairs changed less."),
        (80, 0, "a larger change than most: 80%"),
        (50, 0, "a typical change: 50%"),
        (10, 2, "a smaller change than most: 10%"),
        (10, 60, "a typical change: 10% of the 100 stored pairs changed less; 60 changed exactly"),
    ],
)
def test_how_typical_a_change_is_in_words(n_smaller, n_equal, verdict):
    n_larger = 100 - n_smaller - n_equal
    stored = np.array([0.1] * n_smaller + [0.5] * n_equal + [0.9] * n_larger)
    found = sentences.typical(probe.typicality("lean@10, B minus A", -0.5, stored))
    assert found.startswith(f"lean@10, B minus A: -0.50. This is {verdict}")


def test_without_stored_pairs_it_says_so():
    assert sentences.typical(None).startswith("No distribution of pairs is stored")


def test_the_level_of_a_claim_is_the_usual_one():
    assert sentences.ALPHA == 0.05


class TestReproduced:
    def rows(self, *numbers: tuple[str, float, float | None, float, bool]) -> pd.DataFrame:
        """Quantity, recomputed, published, tolerance, and whether that is relative."""
        columns = ["quantity", "recomputed", "published", "tolerance", "is_relative"]
        frame = pd.DataFrame(numbers, columns=columns)
        off = (frame["recomputed"] - frame["published"]).abs()
        off /= frame["published"].abs().where(frame["is_relative"], 1.0)
        agrees = (off <= frame["tolerance"]).astype("boolean")
        return frame.assign(retriever="bm25", item=None, agrees=agrees)

    def test_all_agree(self):
        rows = self.rows(("gap", 0.5, 0.5 + 1e-13, 1e-12, False), ("p", 0.25, 0.25, 1e-9, True))
        assert reproduced(rows) == ("all of 2 numbers agree (largest difference 1e-13).")

    def test_the_furthest_beyond_what_is_allowed_is_named(self):
        rows = self.rows(
            ("n_pairs", 990, 1000, 100, False),  # off by more, and allowed
            ("gap", 0.50, 0.52, 1e-3, False),
            ("p_wilcoxon", 0.02, 0.01, 1e-9, True),
        )
        assert reproduced(rows) == (
            "2 of 3 numbers differ, most of all BM25, p_wilcoxon: 0.02 here, published 0.01."
        )

    def test_what_nobody_published_is_said(self):
        rows = self.rows(("length", 4.0, np.nan, 1e-12, False)).assign(agrees=False)
        assert "most of all BM25, length: 4 here, not published." in reproduced(rows)
        alone = rows.assign(agrees=pd.array([None], dtype="boolean"))
        assert reproduced(alone) == "1 number computed; none is published."


class TestTestAgainstInterval:
    def rows(self, *numbers: tuple[str, float, float, float, float | None]) -> pd.DataFrame:
        columns = ["retriever", "ci_low", "ci_high", "p_holm", "p_permutation"]
        frame = pd.DataFrame(numbers, columns=columns)
        p_value = frame["p_holm"]
        return frame.assign(estimate=0.001, test="Wilcoxon signed-rank", p_value=p_value)

    def test_nothing_where_they_agree(self):
        rows = self.rows(("bm25", 0.01, 0.02, 1e-4, 1e-4), ("minilm-l6", -0.01, 0.02, 0.4, 0.3))
        assert sentences.interval_against_test(rows) is None

    def test_retrievers_are_named_with_the_test_of_the_mean(self):
        rows = self.rows(
            ("bm25", -0.002, 0.008, 5e-12, 0.25),
            ("minilm-l6", 0.1, 0.2, 1e-4, 1e-5),
            ("static-minilm", 0.004, 0.015, 0.11, 0.0012),
        )
        said = sentences.interval_against_test(rows)
        assert said.startswith(
            "BM25 (sign-flip p 0.25): the test finds a difference and the interval includes 0. "
            "Static (from MiniLM) (sign-flip p 0.0012): the interval lies off 0 and the test finds "
            "nothing. "
        )
        assert "Wilcoxon signed-rank goes by ranks" in said
        assert "the interval, like the sign-flip test, is of the mean" in said

    def test_what_only_the_correction_took_away_is_no_contradiction(self):
        rows = self.rows(("bm25", 0.002, 0.04, 0.168, 0.02)).assign(p_value=0.021)
        assert sentences.interval_against_test(rows) is None

    def test_two_groups_have_no_sign_flips(self):
        rows = self.rows(("bm25", -0.002, 0.008, 1e-3, np.nan)).assign(test="Mann-Whitney U")
        said = sentences.interval_against_test(rows)
        assert "Mann-Whitney U goes by ranks" in said
        assert "sign-flip" not in said
