"""What remains of a gap: identities, orientation, variants, filters, and the shipped tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, QUICK, store_results, toy_dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import audit, lexical
from biasret.datasets.base import DatasetRecord
from biasret.precomputed import Folder
from biasret.residuals import residuals, vocabulary

WORDS = ["tax", "school", "border", "court", "the", "a", "who", "pays"]
SHIPPED = ("demo_news", "demo_health", "demo_written", "demo_pairs")


def record(*, is_paired: bool, **words: str) -> DatasetRecord:
    return DatasetRecord(
        **{"name": "made", "label": "Made", "about": "Made for tests", "signal": "lean", **words},
        is_paired=is_paired,
        is_illustrative=True,
        minuend="right",
        subtrahend="left",
    )


def made(
    seed: int, *, n_cells: int = 24, n_clusters: int = 8, is_paired: bool = True
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Queries of random words, and a metric of two retrievers with some values missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for cell in range(n_cells):
        wordings = (("left", 2), ("right", 1)) if is_paired else ((["left", "right"][cell % 2], 1),)
        for group, n_variants in wordings:
            for variant in range(n_variants):
                lean = np.array([3, 1, 1, 1, 2, 2, 1, 1.0]) if group == "left" else np.ones(8)
                rows.append(
                    {
                        "dataset": "made",
                        "query_id": f"c{cell:02}-{group}-{variant}",
                        "text": " ".join(rng.choice(WORDS, 7, p=lean / lean.sum())),
                        "group": group,
                        "cell_id": f"c{cell:02}",
                        "cluster_id": f"s{cell % n_clusters}" if n_clusters else f"s{cell:02}",
                    }
                )
    queries = pd.DataFrame(rows).astype("str")
    measured = []
    for retriever in ("one", "two"):
        values = rng.normal(0, 0.3, len(queries)) + 0.2 * (queries["group"] == "right")
        values[rng.random(len(queries)) < 0.1] = np.nan
        measured.append(
            pd.DataFrame(
                {
                    "dataset": "made",
                    "retriever": retriever,
                    "query_id": queries["query_id"],
                    "metric": "lean",
                    "k": pd.array([10] * len(queries), dtype="Int64"),
                    "filter": "raw",
                    "value": values,
                }
            )
        )
    return queries, pd.concat(measured, ignore_index=True)


def found(queries: pd.DataFrame, measured: pd.DataFrame, of: DatasetRecord) -> pd.DataFrame:
    tokens = vocabulary(queries, of)
    gaps = audit.gaps(measured, queries, of, settings=QUICK)
    return residuals([measured], queries, of, tokens=tokens, gaps=gaps, settings=QUICK)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_gap_is_residual_plus_slope_times_regressor(seed, is_paired, is_clustered):
    queries, measured = made(seed, is_paired=is_paired, n_clusters=8 if is_clustered else 0)
    rows = found(queries, measured, record(is_paired=is_paired))
    assert len(rows) == 2
    total = rows["residual"] + rows["slope"] * rows["mean_regressor"]
    np.testing.assert_allclose(total, rows["gap"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows["contribution"], rows["gap"] - rows["residual"], atol=1e-12)
    assert set(rows["covariance"]) == {"cluster" if is_clustered else "HC1"}
    assert set(rows["interval"]) == {"cluster bootstrap" if is_clustered else "normal"}


def test_the_gap_is_taken_over_with_its_interval_and_test():
    queries, measured = made(1)
    of = record(is_paired=True)
    gaps = audit.gaps(measured, queries, of, settings=QUICK)
    rows = found(queries, measured, of)
    for mine, theirs in {
        "gap": "estimate",
        "gap_low": "ci_low",
        "gap_high": "ci_high",
        "gap_p": "p_value",
        "gap_p_holm": "p_holm",
    }.items():
        assert rows[mine].tolist() == gaps[theirs].tolist()
    assert rows["n"].tolist() == gaps["n_pairs"].tolist()


def test_the_regressor_averages_a_groups_variants():
    queries, measured = made(2)
    measured["value"] = measured["value"].fillna(0.0)
    score = lexical.query_scores(queries, vocabulary(queries, record(is_paired=True)))
    merged = queries.merge(score, on="query_id")
    by_cell = merged.groupby(["cell_id", "group"])["score"].mean().unstack()
    rows = found(queries, measured, record(is_paired=True))
    expected = (by_cell["right"] - by_cell["left"]).mean()
    assert rows["mean_regressor"].tolist() == pytest.approx([expected] * 2, abs=1e-12)


def test_a_wording_without_a_value_counts_in_neither_mean():
    queries, measured = made(2, n_cells=12)
    measured["value"] = measured["value"].fillna(0.1)
    one = measured["query_id"] == "c00-left-0"
    rows = found(
        queries, measured.assign(value=measured["value"].mask(one)), record(is_paired=True)
    )
    # As if the wording had not been asked, but for the scores, which all wordings make.
    asked = queries[queries["query_id"] != "c00-left-0"]
    tokens = vocabulary(queries, record(is_paired=True))
    gaps = audit.gaps(measured[~one], asked, record(is_paired=True), settings=QUICK)
    again = residuals(
        [measured[~one]], asked, record(is_paired=True), tokens=tokens, gaps=gaps, settings=QUICK
    )
    pd.testing.assert_frame_equal(rows, again)


def test_swapping_minuend_and_subtrahend_negates():
    queries, measured = made(4)
    there = found(queries, measured, record(is_paired=True))
    back = found(
        queries, measured, replace(record(is_paired=True), minuend="left", subtrahend="right")
    )
    for name in ("gap", "residual", "contribution", "slope"):
        np.testing.assert_allclose(there[name], -back[name], atol=1e-12)
    # Scores point to the minuend, so the minuend's wordings score higher whichever it is.
    np.testing.assert_allclose(there["mean_regressor"], back["mean_regressor"], atol=1e-12)
    assert (there["mean_regressor"] > 0).all()
    np.testing.assert_allclose(there["residual_low"], -back["residual_high"], atol=1e-11)


def test_permuting_rows_changes_nothing():
    queries, measured = made(5)
    there = found(queries, measured, record(is_paired=True))
    again = found(
        queries.sample(frac=1, random_state=1),
        measured.sample(frac=1, random_state=2),
        record(is_paired=True),
    )
    pd.testing.assert_frame_equal(there, again)


def test_holm_corrects_over_retrievers():
    queries, measured = made(6)
    rows = found(queries, measured, record(is_paired=True)).sort_values("p_value")
    first, second = rows["p_value"]
    doubled = min(1.0, 2 * first)
    assert rows["p_holm"].tolist() == pytest.approx([doubled, max(doubled, second)])


def test_wordings_that_differ_in_no_word_leave_a_gap_that_vocabulary_cannot_touch():
    queries, measured = made(7)
    same = queries.assign(text="the same words in each")
    rows = found(same, measured, record(is_paired=True))
    assert rows["residual"].isna().all()
    assert rows["gap"].notna().all()
    assert rows["note"].str.contains("the regressor is the same in every row").all()


def test_withheld_wordings_give_a_gap_and_no_residual():
    queries, measured = made(7)
    measured["value"] = measured["value"].fillna(0.0)
    for withheld in (queries["query_id"] == "c03-left-1", queries["query_id"] != ""):
        blank = queries.assign(text=queries["text"].mask(withheld, " "))
        rows = found(blank, measured, record(is_paired=True))
        assert rows["gap"].notna().all()
        for name in ("residual", "slope", "mean_regressor", "p_value", "p_holm"):
            assert rows[name].isna().all(), name
        note = f"{int(withheld.sum())} of 72 queries have no text to score"
        assert set(rows["note"]) == {note}
    # A blank text that was not measured does no harm.
    lost = measured["query_id"] == "c03-left-1"
    some = measured.assign(value=measured["value"].mask(lost))
    blank = queries.assign(text=queries["text"].mask(queries["query_id"] == "c03-left-1", ""))
    assert found(blank, some, record(is_paired=True))["residual"].notna().all()


def test_word_order_alone_is_invisible_to_it():
    """What the page's caveat says: a reordered query has the same score."""
    tokens = pd.DataFrame({"token": ["tax", "the"], "zeta": [1.5, -0.25]})
    asked = pd.DataFrame({"query_id": ["a", "b"], "text": ["the tax", "Tax the!"]})
    assert lexical.query_scores(asked, tokens)["score"].nunique() == 1


def test_a_dataset_without_groups_has_no_rows():
    queries, measured = made(8)
    of = replace(record(is_paired=False), minuend=None, subtrahend=None)
    assert vocabulary(queries, of).empty
    assert found(queries, measured, of).empty


def test_a_translation_is_paired_where_the_rest_is_not():
    queries, measured = made(9, is_paired=False)
    back = queries[queries["group"] == "left"]
    back = back.assign(
        group=audit.TRANSLATED,
        query_id=back["query_id"] + "-back",
        text="who pays the " + back["text"],
    )
    extra = measured[measured["query_id"].str.contains("left")]
    extra = extra.assign(query_id=extra["query_id"] + "-back", value=extra["value"] + 0.1)
    both = pd.concat([queries, back], ignore_index=True)
    values = pd.concat([measured, extra], ignore_index=True)
    rows = found(both, values, record(is_paired=False)).set_index("minuend")
    assert set(rows.loc[audit.TRANSLATED, "design"]) == {"paired"}
    assert set(rows.loc["right", "design"]) == {"unpaired"}
    assert rows.loc[audit.TRANSLATED, "gap"].tolist() == pytest.approx([0.1, 0.1])


def test_translated_wordings_have_their_own_scores_and_residuals():
    queries, measured = made(9)
    back = queries[queries["group"] == "right"]
    back = back.assign(group=audit.TRANSLATED, query_id=back["query_id"] + "-back")
    both = pd.concat([queries, back], ignore_index=True)
    extra = measured[measured["query_id"].str.contains("right")]
    extra = extra.assign(query_id=extra["query_id"] + "-back")
    measured = pd.concat([measured, extra], ignore_index=True)
    rows = found(both, measured, record(is_paired=True))
    assert set(rows["minuend"]) == {"right", audit.TRANSLATED}
    wide = rows.pivot(index="retriever", columns="minuend", values="residual")
    np.testing.assert_allclose(wide["right"], wide[audit.TRANSLATED], atol=1e-12)


def test_the_fakes_of_ten_documents_give_rows_with_reasons(tmp_path):
    folder = Folder(tmp_path)
    toy = toy_dataset()
    store_results(folder, toy)
    rows = folder.read("residuals", "toy")
    gaps = folder.read("gaps", "toy")
    assert len(rows) == len(gaps)
    assert (rows["p_value"].notna() | rows["note"].notna()).all()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_residuals_keep_the_identity(name):
    folder = Folder(PROJECT / "precomputed")
    rows, gaps = folder.read("residuals", name), folder.read("gaps", name)
    assert len(rows) == len(gaps) > 0
    known = rows.dropna(subset=["residual"])
    assert len(known) > 0.9 * len(rows)
    total = known["residual"] + known["slope"] * known["mean_regressor"]
    assert np.abs(total - known["gap"]).max() < 1e-12
    assert (known["residual_low"].isna() | (known["residual_low"] < known["residual_high"])).all()
    tokens, queries = folder.read("token_scores", name), folder.read("queries", name)
    assert set(tokens["minuend"]) == set(rows["minuend"])
    for (minuend, subtrahend), part in tokens.groupby(["minuend", "subtrahend"], sort=False):
        again = lexical.token_scores(queries, minuend=minuend, subtrahend=subtrahend)
        pd.testing.assert_frame_equal(part.reset_index(drop=True), again)
