"""What a mitigation changes: worked by hand, and what must not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, toy_dataset

from biasret import charts, sentences
from biasret.datasets import demo
from biasret.datasets.base import DatasetRecord
from biasret.errors import InputError
from biasret.filters import Inputs
from biasret.mitigation import MITIGATIONS, mitigations, mitigations_for, story_rr
from biasret.tables import empty

HEALTH = DatasetRecord(
    name="made",
    label="Made",
    about="Made for tests",
    signal="dialect",
    is_paired=True,
    is_illustrative=True,
    minuend="WME",
    subtrahend="AAL",
)

#: Reciprocal rank by cell and group; two AAL wordings of c1, c4 lacks a translation's value.
VALUES = {
    "c1": {"WME": [1.0], "AAL": [0.25, 0.75], "back": [1.0, 0.5]},
    "c2": {"WME": [0.5], "AAL": [0.5], "back": [0.5]},
    "c3": {"WME": [1.0], "AAL": [0.2], "back": [0.6]},
    "c4": {"WME": [1.0], "AAL": [0.1], "back": [None]},
}


def made(values: dict = VALUES) -> tuple[pd.DataFrame, pd.DataFrame]:
    queries, measured = [], []
    for cell, groups in values.items():
        for group, numbers in groups.items():
            for i, value in enumerate(numbers):
                query_id = f"{cell}/{group}/{i}"
                queries.append(
                    {
                        "query_id": query_id,
                        "text": "same"
                        if (cell, group) in {("c2", "AAL"), ("c2", "back")}
                        else query_id,
                        "group": group,
                        "cell_id": cell,
                        "cluster_id": cell,
                    }
                )
                if value is not None:
                    measured.append({"query_id": query_id, "value": value})
    table = pd.DataFrame(measured).assign(
        dataset="made", retriever="bm25", metric="rr", k=pd.NA, filter="raw"
    )
    return table, pd.DataFrame(queries)


def changed(**changes: object) -> pd.DataFrame:
    measured, queries = made()
    found = mitigations(measured, queries, HEALTH, settings=QUICK)
    return found.set_index("quantity")


def test_gap_and_quality_by_hand():
    found = changed()
    gap, quality = found.loc["gap"], found.loc["quality"]
    # c1: WME 1, AAL (0.25 + 0.75) / 2, back 0.75; c2: all 0.5; c3: 1, 0.2, 0.6; c4 is dropped.
    assert gap["before"] == pytest.approx(np.mean([0.5, 0.0, 0.8]))
    assert gap["after"] == pytest.approx(np.mean([0.25, 0.0, 0.4]))
    assert gap["change"] == pytest.approx(np.mean([-0.25, 0.0, -0.4]))
    assert quality["before"] == pytest.approx(np.mean([0.5, 0.5, 0.2]))
    assert quality["after"] == pytest.approx(np.mean([0.75, 0.5, 0.6]))
    assert quality["change"] == pytest.approx(-gap["change"])
    assert (gap["n_pairs"], gap["n_clusters"], gap["n_dropped"]) == (3, 3, 0)
    # c2 is translated to itself; c4's translation counts as another wording.
    assert gap["n_changed"] == 3


def test_the_change_is_after_minus_before_and_lies_in_its_interval():
    for _, row in changed().iterrows():
        assert row["change"] == pytest.approx(row["after"] - row["before"])
        assert row["change_low"] <= row["change"] <= row["change_high"]


def test_order_and_names_of_cells_change_nothing():
    measured, queries = made()
    one = mitigations(measured, queries, HEALTH, settings=QUICK)
    mixed = mitigations(
        measured.sample(frac=1, random_state=3),
        queries.sample(frac=1, random_state=4),
        HEALTH,
        settings=QUICK,
    )
    pd.testing.assert_frame_equal(one, mixed)


def test_a_mitigation_that_changes_nothing_has_no_p_and_says_why():
    same = {c: {**g, "back": g["AAL"]} for c, g in VALUES.items()}
    measured, queries = made(same)
    found = mitigations(measured, queries, HEALTH, settings=QUICK).set_index("quantity")
    assert (found["change"] == 0).all()
    assert found["note"].notna().all()
    assert not (found["p_value"] < 1).any()
    assert "cannot" in sentences.mitigated(found.reset_index()) or "No retriever" in (
        sentences.mitigated(found.reset_index())
    )


def test_unpaired_questions_are_compared_with_their_own_rewording_alone():
    from dataclasses import replace

    values = {
        "a1": {"AAL": [0.2], "back": [0.4]},
        "a2": {"AAL": [0.5], "back": [0.5]},
        "w1": {"WME": [1.0]},
    }
    measured, queries = made(values)
    found = mitigations(measured, queries, replace(HEALTH, is_paired=False), settings=QUICK)
    assert found["quantity"].tolist() == ["quality"]
    assert found["change"].item() == pytest.approx(0.1)
    assert found["n_pairs"].item() == 2


def test_a_dataset_without_mitigated_wordings_has_no_rows():
    measured, queries = made()
    queries = queries[queries["group"] != "back"]
    assert mitigations_for(queries) == []
    found = mitigations(measured, queries, HEALTH, settings=QUICK)
    pd.testing.assert_frame_equal(found, empty("mitigations"))


def test_p_is_corrected_over_retrievers():
    measured, queries = made()
    both = pd.concat([measured, measured.assign(retriever="minilm-l6")])
    found = mitigations(both, queries, HEALTH, settings=QUICK)
    gaps = found[found["quantity"] == "gap"]
    assert gaps["p_holm"].tolist() == [min(1.0, 2 * p) for p in gaps["p_value"]]


def test_story_rank_counts_the_first_document_of_the_story():
    toy = toy_dataset()
    runs = pd.DataFrame(
        [
            {"query_id": "c1/left", "rank": 1, "doc_id": "d10"},
            {"query_id": "c1/left", "rank": 2, "doc_id": "d02"},
            {"query_id": "c1/right", "rank": 1, "doc_id": "d04"},
        ]
    )
    gold = pd.DataFrame({"query_id": [], "rank": []})
    found = story_rr(Inputs(toy.queries, toy.documents, runs, gold))
    assert found["c1/left"] == 0.5
    assert found["c1/right"] == 0.0


class TestDemo:
    def test_neutralised_wordings_stand_in_cells_where_a_word_was_found(self):
        queries = demo.load_news().queries
        one = MITIGATIONS["neutralising"]
        assert one in mitigations_for(queries)
        new = queries[queries["group"].isin([new for _, new in one.replaces])]
        wide = queries.pivot(index="cell_id", columns="group", values="text")
        wide = wide.loc[new["cell_id"].unique()]
        assert wide.notna().all().all()
        differs = (wide["left"] != wide["left neutralised"]) | (
            wide["right"] != wide["right neutralised"]
        )
        assert differs.all()
        assert new["origin"].str.startswith("generated").all()

    def test_translations_are_generated_and_keep_their_answer(self):
        dataset = demo.load_written()
        back = dataset.queries[dataset.queries["group"] == "back"]
        assert len(back) == 300
        assert back["origin"].str.contains("translated to WME").all()
        assert set(back["query_id"]) < set(dataset.qrels["query_id"])

    def test_what_is_kept_is_what_the_engines_write(self, monkeypatch, tmp_path):
        from biasret.datasets import demo_mitigated

        shipped = demo_mitigated.FILE.read_text(encoding="utf-8")
        monkeypatch.setattr(demo_mitigated, "FILE", tmp_path / "made.json")
        demo.write_mitigated()
        assert (tmp_path / "made.json").read_text(encoding="utf-8") == shipped

    def test_an_edited_question_is_noticed(self):
        from biasret.datasets import demo_mitigated

        with pytest.raises(InputError, match="edited after their translated wordings"):
            demo_mitigated.translated({"h001": "Another question?"})


def test_the_chart_draws_both_values_and_their_intervals():
    found = changed().reset_index()
    gap = found[found["quantity"] == "gap"]
    figure = charts.before_after(gap, title="RR <b>", zero=True)
    line, before, after = figure.data
    assert list(before.x) == gap["before"].tolist()
    assert list(after.x) == gap["after"].tolist()
    assert list(line.x)[:2] == [gap["before"].item(), gap["after"].item()]
    high = gap["after"].item() + after.error_x.array[0]
    assert high == pytest.approx(gap["after_high"].item())
    assert before.marker.symbol != after.marker.symbol
    assert "<" not in figure.layout.xaxis.title.text


def test_sentences_say_what_shrinks_and_what_cannot_be_told():
    found = changed().reset_index()
    gap = found[found["quantity"] == "gap"].assign(p_holm=0.001)
    assert "The gap shrinks for 1 of 1 retrievers" in sentences.mitigated(gap)
    grown = gap.assign(before=gap["after"], after=gap["before"])
    assert "The gap grows for 1 of 1" in sentences.mitigated(grown)
    untold = sentences.mitigated(gap.assign(p_holm=0.4))
    assert "not evidence that it stays the same" in untold
    quality = found[found["quantity"] == "quality"].assign(p_holm=0.001)
    assert "The quality rises for 1 of 1" in sentences.mitigated(quality)
    assert "3 cells" in sentences.reworded(gap.iloc[0])
    missing = gap.assign(change=np.nan, note="nothing to compare")
    assert "no change could be computed: nothing to compare" in sentences.reworded(missing.iloc[0])
