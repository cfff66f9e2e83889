"""Conditions on gaps: what they mean, and that nothing else is read as one."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.errors import InputError, UnknownName
from biasret.gates import Quantity, parse

ROW = {
    "metric": "lean",
    "k": 10,
    "filter": "raw",
    "estimate": -0.08,
    "ci_low": -0.12,
    "ci_high": -0.04,
    "p_value": 0.01,
    "p_holm": 0.03,
}


def gaps_of(*rows: dict) -> pd.DataFrame:
    frame = pd.DataFrame([{**ROW, **row} for row in rows or ({},)])
    return frame.assign(k=pd.array(frame["k"].tolist(), dtype="Int64"))


#: Two retrievals of one metric without a depth, and one under a filter.
GAPS = gaps_of(
    {},
    {"k": 5, "estimate": 0.2, "ci_high": None},
    {"metric": "rr", "k": None, "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6},
    {"filter": "same-story", "estimate": 0.3},
    {"filter": "judge:a b", "estimate": 0.4},
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("gap.lean@10 < 0", True),
        ("gap.lean@10 > 0", False),
        ("abs(gap.lean@10) > 0.05", True),
        ("abs(gap.lean@10) > .08", False),
        ("abs(gap.lean@10) >= 8e-2", True),
        ("0.05 < abs(gap.lean@10)", True),
        ("gap.lean@10 == -0.08", True),
        ("gap.lean@10 != -0.08", False),
        ("upper(gap.lean@10) < -0.03", True),
        ("high.lean@10 < -0.03", True),
        ("lower(gap.lean@10) < -0.1 and p_holm.lean@10 < 0.05", True),
        ("low.lean@10 > gap.lean@10", False),
        ("p.lean@10 <= 0.01", True),
        ("gap.rr > 0.4", True),
        ("gap.lean@10[same-story] == 0.3", True),
        ("gap.lean@10[judge:a b] == 0.4", True),
        # "and" binds more tightly than "or".
        ("gap.rr > 9 and gap.rr > 9 or gap.rr > 0", True),
        ("gap.rr > 0 or gap.rr > 9 and gap.rr > 9", True),
        ("(gap.rr > 0 or gap.rr > 9) and gap.rr > 9", False),
        ("((gap.rr>0))", True),
        # What is missing is not known, unless the rest decides.
        ("upper(gap.lean@5) < 0.1", None),
        ("gap.lean@20 > 0", None),
        ("gap.lean@20 > 0 or gap.rr > 0", True),
        ("gap.lean@20 > 0 and gap.rr < 0", False),
        ("gap.lean@20 > 0 or gap.rr < 0", None),
        ("gap.lean@20 > 0 and gap.rr > 0", None),
    ],
)
def test_what_a_condition_means(text, holds):
    verdict = parse(text).judge(GAPS)
    assert verdict.holds is holds
    assert verdict.is_met is (holds is not False)


def test_what_is_missing_is_named():
    verdict = parse("abs(gap.lean@20) > 0 and upper(gap.lean@5) > 0 and gap.rr > 0").judge(GAPS)
    assert [str(one) for one in verdict.missing] == ["gap.lean@20", "high.lean@5"]
    assert verdict.values[Quantity("gap", "rr", None)] == 0.5
    assert str(Quantity("p", "lean", 10, "same-story")) == "p.lean@10[same-story]"


def test_a_condition_without_any_row_cannot_be_decided():
    assert parse("gap.rr > 0").judge(GAPS.iloc[:0]).is_met


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a number or a quantity"),
        ("gap.lean@10", "needs one of <, <=, >, >=, ==, != where it has its end"),
        (
            "gap.lean@10 >",
            "needs a number or a quantity, such as gap.lean@10, where it has its end",
        ),
        ("gap.lean@10 > 0 1", "'and', 'or' or the end where it has '1' at character 17"),
        ("gap.lean@10 > 0 xor gap.rr > 0", "has 'xor'"),
        ("(gap.lean@10 > 0", "needs '\\)' where it has its end"),
        ("gap.lean@10 > 0)", "has '\\)'"),
        ("gap.lean@10 = 0", "cannot be read from '= 0'"),
        ("__import__('os') > 0", "cannot be read from"),
        ("__import__(os) > 0", "has '__import__'"),
        ("gap.lean@10 > 0; import os", "cannot be read from '; import os'"),
        ("gap.rr.real > 0", "cannot be read from '.real > 0'"),
        ("abs > 0", "needs '\\('"),
        ("abs(0.1) > 0", "needs a quantity"),
        ("abs(gap.rr", "needs '\\)'"),
        ("upper(p.rr) > 0", "needs a gap"),
        ("upper(", "needs a gap, as gap.lean@10, where it has its end"),
        ("sqrt(gap.rr) > 0", "has 'sqrt'"),
        ("1 < 2", "compares numbers alone"),
        ("gap.lean > 0", "measured are lean@5, lean@10, lean@20, lean@50, lean@100"),
        ("gap.lean@11 > 0", "asks for 'gap.lean@11'"),
        ("gap.rr@10 > 0", "measured are rr"),
        ("nan > 0", "has 'nan'"),
        ("(" * 41 + "gap.rr > 0" + ")" * 41, "nests at most 40"),
        ("gap.rr > 0 or " * 200, "at most 2,000 characters"),
    ],
)
def test_what_is_no_condition(text, words):
    with pytest.raises(InputError, match=words) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gap.leen@10 > 0", "Unknown metric 'leen'. Did you mean 'lean'"),
        ("gab.lean@10 > 0", "Unknown quantity 'gab'. Did you mean 'gap'"),
        ("gap.lean@10[rew] > 0", "Unknown filter 'rew'. Did you mean 'raw'"),
        ("gap.lean@10[] > 0", "Unknown filter ''"),
    ],
)
def test_unknown_names_are_listed(text, words):
    with pytest.raises(UnknownName, match=words.replace("[", "\\[")):
        parse(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40) | st.text("abgplenr.@10()<>= and or[]x", max_size=40))
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        condition = parse(text)
    except InputError:
        return  # with a message of its own; any other exception fails the test
    assert condition.quantities


def test_three_valued_logic_agrees_with_its_table():
    sure = {True: "gap.rr > 0", False: "gap.rr < 0", None: "gap.lean@20 > 0"}

    def known(*found: bool | None, is_any: bool) -> bool | None:
        if is_any in found:
            return is_any
        return None if None in found else not is_any

    for one, other in itertools.product(sure, repeat=2):
        both = parse(f"{sure[one]} and {sure[other]}").judge(GAPS).holds
        either = parse(f"{sure[one]} or {sure[other]}").judge(GAPS).holds
        assert both is known(one, other, is_any=False)
        assert either is known(one, other, is_any=True)
