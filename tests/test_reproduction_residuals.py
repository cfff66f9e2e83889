"""The paper's lexical controls in the form of ours: to the last digit, and consistent."""

from __future__ import annotations

import numpy as np
import pytest

from biasret import published
from biasret.reproduction import (
    PUBLISHED_RESIDUALS,
    exhibit_numbers,
    published_gaps,
    published_residuals,
    published_summary,
)


@pytest.mark.parametrize("name", PUBLISHED_RESIDUALS)
def test_gap_is_residual_plus_contribution(name):
    rows = published_residuals(name)
    assert len(rows) == 6
    assert np.abs(rows["residual"] + rows["contribution"] - rows["gap"]).max() < 1e-12
    assert (rows["residual_low"] < rows["residual"]).all()
    assert (rows["residual"] < rows["residual_high"]).all()


@pytest.mark.parametrize("name", PUBLISHED_RESIDUALS)
def test_the_interval_before_is_of_the_same_gap(name):
    exhibit, rows = PUBLISHED_RESIDUALS[name], published_residuals(name)
    if exhibit.gap is None:
        assert rows["gap_low"].isna().all()
        assert rows["gap_p"].isna().all()
        return
    before = published_gaps(exhibit.gap)
    assert rows["retriever"].tolist() == before["retriever"].tolist()
    assert np.abs(rows["gap"] - before["estimate"]).max() < 1e-12
    assert (exhibit.minuend, exhibit.subtrahend) == (
        before["minuend"].iloc[0],
        before["subtrahend"].iloc[0],
    )
    assert exhibit.is_paired == (before["design"].iloc[0] == "paired")


@pytest.mark.parametrize(
    ("name", "retriever", "column", "value"),
    [
        ("table14", "bm25", "residual", 0.03821328167561032),
        ("table14", "bge-large-en-v1.5", "n", 2422),
        ("table15", "bge-large-en-v1.5", "p_value", 0.41733160395048496),
        ("table16", "qwen3-embedding-8b", "n_minuend", 539),
        ("table17", "llama-embed-nemotron-8b", "slope", 8.396654037760335e-06),
        ("table18", "qwen3-embedding-8b", "residual_high", 0.17894246039577977),
    ],
)
def test_numbers_are_the_releases_to_the_last_digit(name, retriever, column, value):
    rows = published_residuals(name).set_index("retriever")
    assert rows.loc[retriever, column] == value


@pytest.mark.parametrize("name", PUBLISHED_RESIDUALS)
def test_every_released_number_can_be_had(name):
    numbers = exhibit_numbers(name)
    table = published.load()
    of = table[(table["exhibit"] == name) & (table["source"] == "release")]
    assert sorted(numbers["released"].dropna()) == sorted(of["value"].dropna())


def test_table_3_joins_four_tables_without_bm25():
    rows = published_summary()
    assert len(rows) == 20
    assert "bm25" not in set(rows["retriever"])
    for dataset, name in (
        ("allsides_synth", "table14"),
        ("reddit_nat", "table15"),
        ("hcmagic_synth", "table17"),
        ("hcmagic_nat", "table18"),
    ):
        mine = rows[rows["dataset"] == dataset].set_index("retriever")
        theirs = published_residuals(name).set_index("retriever").loc[mine.index]
        for column in ("gap", "residual", "p_value"):
            assert np.abs(mine[column] - theirs[column]).max() < 1e-12, (dataset, column)
    # The depths differ, which the page says.
    assert set(rows.loc[rows["metric"] == "lean", "k"]) == {10, 20}
