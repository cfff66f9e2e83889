"""Sentences about what remains: no more than the numbers say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_charts_residuals import rows

from biasret import sentences_vocabulary


def test_nothing_found_is_not_no_gap():
    said = sentences_vocabulary.remaining(rows(p_holm=[0.2, 0.4, np.nan]), signal="lean")
    assert said.startswith("Once vocabulary is accounted for, none of 2 retrievers shows a gap")
    assert said.endswith("before, 1 did. This is not evidence that there is none.")


def test_what_is_found_in_the_direction_looked_for():
    said = sentences_vocabulary.remaining(rows(), signal="lean")
    assert "1 of 2 retrievers still shows the gap looked for: right-framed queries" in said
    assert "(lean@10, right minus left: between +0.020 and +0.150)" in said


def test_both_directions_and_the_opposite_one():
    table = rows(residual=[0.15, -0.2, np.nan], p_holm=[0.01, 0.02, np.nan])
    assert "1 in the direction looked for and 1 against it" in sentences_vocabulary.remaining(
        table, signal="lean"
    )
    table = rows(residual=[-0.15, -0.2, np.nan], p_holm=[0.01, 0.02, np.nan])
    assert "opposite direction" in sentences_vocabulary.remaining(table, signal="lean")


def test_without_a_test_of_the_gap_nothing_is_said_of_before():
    said = sentences_vocabulary.remaining(rows(gap_p_holm=np.nan), signal="lean")
    assert "before" not in said


def test_nothing_computed():
    table = rows(residual=np.nan, p_value=np.nan, p_holm=np.nan)
    assert "could not be computed" in sentences_vocabulary.remaining(table, signal="lean")


def test_other_groups_than_the_signals_own_are_not_given_its_meaning():
    said = sentences_vocabulary.remaining(
        rows(minuend="conservative", subtrahend="liberal"), signal="lean"
    )
    assert "right-framed" not in said


@pytest.mark.parametrize(
    ("contribution", "expected"),
    [
        (0.05, "Vocabulary accounts for +0.050, 25% of the gap."),
        (-0.05, "Vocabulary accounts for -0.050, against the gap: at equal vocabulary it is"),
        (0.25, "Vocabulary accounts for +0.250, more than the whole gap."),
    ],
)
def test_the_share_in_words(contribution, expected):
    row = rows(contribution=contribution).iloc[0]
    assert expected in sentences_vocabulary.residual(row)
    assert "+0.200 before, +0.150 beyond vocabulary (95% interval +0.050 to +0.250" in (
        sentences_vocabulary.residual(row)
    )


def test_no_share_of_a_gap_that_is_not_told_from_chance():
    said = sentences_vocabulary.residual(rows(contribution=0.08).iloc[1])
    assert "no share is stated of a gap that is not told from chance" in said
    assert "no interval" in said


def test_a_residual_that_cannot_be_had_says_why():
    said = sentences_vocabulary.residual(rows().iloc[2])
    assert said == "three: -0.100 before; what remains could not be computed: no line."


def test_datasets_side_by_side():
    table = pd.concat([rows(), rows(dataset="other", p_holm=0.001)], ignore_index=True)
    said = sentences_vocabulary.remaining_by(
        table, "dataset", {"made": "A", "other": "B", "lost": "C"}
    )
    assert said.endswith(
        "A: 1 of 2 retrievers, +0.020 to +0.150; B: 2 of 2 retrievers, +0.020 to +0.150; "
        "C: nothing computed."
    )


def test_words_of_each_side():
    top = pd.DataFrame(
        {
            "token": ["tax", "cost", "school"],
            "zeta": [2.0, 1.0, -3.0],
            "minuend": "right",
            "subtrahend": "left",
        }
    )
    assert sentences_vocabulary.words(top, n_tokens=1491) == (
        "Of 1,491 different words, these point most to right: tax, cost; to left: school."
    )
    assert "none to left" in sentences_vocabulary.words(top.head(2), n_tokens=2)
    assert sentences_vocabulary.words(top.head(0), n_tokens=0) == "No word points to either group."
