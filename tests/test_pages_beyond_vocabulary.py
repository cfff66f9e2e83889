"""The page Beyond vocabulary in each of its states."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from test_pages import charts, monkeypatch_module, opened, store, words

from biasret.build import build_dataset, save_dataset
from biasret.datasets import demo
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder
from biasret.published import EXHIBITS
from biasret.reproduction import disagreements, exhibit_numbers
from biasret.ui.exhibits_vocabulary import CONTROL_VIEWS, CONTROLS

__all__ = ["monkeypatch_module", "store"]

PAGE = "beyond_vocabulary"


def published_view(view: str):
    app = opened(PAGE)
    app.button_group(key="vocabulary_world").set_value("published").run()
    app.button_group(key="vocabulary_view").set_value(view).run()
    assert not app.exception
    return app


class TestMeasured:
    def test_residuals_words_caveats_and_world(self, store):
        app = opened(PAGE, vocabulary_dataset="demo_news")
        forest, bars = charts(app)
        assert [trace["name"] for trace in forest["data"]] == ["gap", "beyond vocabulary"]
        assert [trace["name"] for trace in bars["data"]] == ["points to right", "points to left"]
        text = words(app).replace("\\", "")
        assert "Once vocabulary is accounted for" in text
        assert "cannot see their order" in text
        assert "Measured here on Demo news (illustrative data)" in text
        assert "clustered over 60 clusters" in text
        assert "Published by" not in text

    def test_the_numbers_shown_are_those_stored(self, store):
        stored = store.read("residuals", "demo_news")
        stored = stored[(stored["k"] == 10) & (stored["filter"] == "raw")]
        shown, tokens = (
            element.value for element in opened(PAGE, vocabulary_dataset="demo_news").dataframe
        )
        for column in ("gap", "residual", "p_value", "p_holm", "slope", "contribution"):
            assert shown[column].tolist() == stored[column].tolist()
        assert {"count right", "count left", "zeta"} <= set(tokens.columns)

    def test_depth_and_filter_come_from_the_link(self, store):
        plain = charts(opened(PAGE, vocabulary_dataset="demo_news"))[0]["data"][1]["x"]
        app = opened(PAGE, vocabulary_dataset="demo_news", vocabulary_k_lean="50")
        assert charts(app)[0]["data"][1]["x"] != plain
        app = opened(
            PAGE,
            vocabulary_dataset="demo_news",
            vocabulary_filter="queries that find their story",
        )
        assert "Filter: queries that find their story" in words(app).replace("\\", "")

    def test_dialect_has_metrics_and_hc1_errors(self, store):
        app = opened(PAGE, vocabulary_dataset="demo_health")
        text = words(app).replace("\\", "")
        assert "HC1 standard errors" in text
        assert "RR, WME minus AAL" in charts(app)[0]["layout"]["xaxis"]["title"]["text"]
        app.button_group(key="vocabulary_metric_dialect").set_value("recall").run()
        assert not app.exception
        assert "recall@10" in charts(app)[0]["layout"]["xaxis"]["title"]["text"].lower()

    def test_settings_survive_a_visit_to_another_page(self, store):
        app = opened(PAGE)
        app.selectbox(key="vocabulary_dataset").set_value("demo_news").run()
        app.button_group(key="vocabulary_k_lean").set_value("20").run()
        app.switch_page("pages/dialect.py").run()
        app.switch_page(f"pages/{PAGE}.py").run()
        assert app.button_group(key="vocabulary_k_lean").value == "20"

    def test_it_opens_fast_when_warm(self, store):
        app = opened(PAGE)
        best = 9.0
        for _ in range(3):
            start = time.perf_counter()
            app.run()
            best = min(best, time.perf_counter() - start)
        assert best < 0.5


class TestPublished:
    @pytest.mark.parametrize("view", CONTROL_VIEWS)
    def test_each_exhibit_has_chart_numbers_notes_and_sign(self, store, view):
        app = published_view(view)
        here = [one for one in CONTROLS if one.view == view]
        text = words(app).replace("\\", "")
        assert len(charts(app)) == len(here)
        assert text.count("Published by Tang et al. (2026)") == len(here)
        assert "Measured here" not in text
        frames = [element.value for element in app.dataframe]
        for one in here:
            title = EXHIBITS[one.exhibits[0]].title
            assert title in text
            assert f"Every number of {title}" in [expander.label for expander in app.expander]
            sign = EXHIBITS[one.exhibits[0]].sign
            assert f"sign: positive means {sign}" in text
            numbers = exhibit_numbers(one.exhibits[0])
            listed = next(f for f in frames if "released" in f and len(f) == min(250, len(numbers)))
            assert listed["released"].dropna().tolist() == (
                numbers["released"].head(250).dropna().tolist()
            )
            for what in disagreements(*one.exhibits):
                assert what in text

    def test_the_tables_asked_for_are_all_there(self):
        shown = {name for one in CONTROLS for name in one.exhibits}
        assert shown == {"table03", *(f"table{n}" for n in range(14, 19))}

    def test_the_mixed_depths_of_table_3_are_said(self, store):
        assert "Table 3 mixes depths" in words(published_view("summary"))

    def test_a_chart_draws_what_its_table_holds(self, store):
        for one in CONTROLS:
            drawn = one.draw()
            x = [value for trace in drawn.figure.data for value in trace.x]
            assert set(x) == {*drawn.table["gap"], *drawn.table["residual"]}
            assert drawn.alt


class TestWithoutData:
    def test_an_empty_store_is_explained(self, tmp_path, monkeypatch):
        monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
        assert "The store holds no dataset" in words(opened(PAGE))

    def test_a_dataset_without_groups_has_no_gap_to_account_for(self, tmp_path, monkeypatch):
        known = demo.load_health()
        record = replace(known.record, name="asked", minuend=None, subtrahend=None)
        wme = known.queries[known.queries["group"] == "WME"].assign(group=None)
        qrels = known.qrels[known.qrels["query_id"].isin(wme["query_id"])]
        folder = Folder(tmp_path / "levels")
        dataset = Dataset.checked(record, documents=known.documents, queries=wme, qrels=qrels)
        save_dataset(folder, dataset, inputs={})
        build_dataset(folder, dataset, ["bm25"])
        monkeypatch.setenv("BIASRET_STORE", str(folder.path))
        app = opened(PAGE)
        assert "labels no groups" in words(app)
        assert not charts(app)

    def test_results_that_are_not_built_yet_are_named(self, store, tmp_path, monkeypatch):
        import shutil

        copy = tmp_path / "copy"
        shutil.copytree(store.path, copy, ignore=shutil.ignore_patterns("*.duckdb"))
        for table in ("residuals", "token_scores"):
            for path in (copy / table).glob("*.parquet"):
                path.unlink()
        monkeypatch.setenv("BIASRET_STORE", str(copy))
        text = words(opened(PAGE))
        assert "python -m biasret build" in text
        assert "No words are scored here" in text

    def test_withheld_wordings_leave_the_gap_and_say_why(self, tmp_path, monkeypatch):
        known = demo.load_news()
        record = replace(known.record, name="withheld")
        queries = known.queries[known.queries["group"].isin(["left", "right"])].assign(text="")
        qrels = known.qrels[known.qrels["query_id"].isin(queries["query_id"])]
        folder = Folder(tmp_path / "withheld")
        dataset = Dataset.checked(record, documents=known.documents, queries=queries, qrels=qrels)
        save_dataset(folder, dataset, inputs={})
        build_dataset(folder, dataset, ["bm25"])
        monkeypatch.setenv("BIASRET_STORE", str(folder.path))
        app = opened(PAGE)
        text = words(app).replace("\\", "")
        assert "360 of 360 queries have no text to score" in text
        assert "wordings of this dataset are withheld" in text
        assert len(charts(app)) == 1
