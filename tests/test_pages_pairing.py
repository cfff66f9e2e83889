"""How questions are paired and how alike retrievers rank, on the page "Data and judging"."""

from __future__ import annotations

import pytest
from conftest import PROJECT
from test_pages import charts, monkeypatch_module, opened, words  # noqa: F401

from biasret import ui
from biasret.build import save_dataset
from biasret.datasets import demo
from biasret.precomputed import Folder

SHIPPED = Folder(PROJECT / "precomputed")


@pytest.fixture(scope="module")
def small(tmp_path_factory, monkeypatch_module):  # noqa: F811
    """The shipped datasets with what is stored of pairs, overlaps and layers, and no run."""
    folder = Folder(tmp_path_factory.mktemp("pairs"))
    loaders = (demo.load_news, demo.load_health, demo.load_pairs)
    for dataset in (load() for load in loaders):
        name = dataset.record.name
        save_dataset(folder, dataset, inputs={})
        for table in ("pairing_summary", "retriever_overlaps"):
            if SHIPPED.file(table, name).exists():
                folder.write(table, SHIPPED.read(table, name), dataset=name)
        for retriever in SHIPPED.retrievers("probe_scores", name):
            scores = SHIPPED.read("probe_scores", name, retriever)
            folder.write("probe_scores", scores, dataset=name, retriever=retriever)
    monkeypatch_module.setenv("BIASRET_STORE", str(folder.path))
    return folder


def shown(part: str, dataset: str = "demo_news", **choices: str):
    link = {"data_part": ui.PARTS[part], "data_dataset": dataset, **choices}
    return opened("data_and_judging", **link)


class TestPairs:
    def test_three_boxes_a_retriever_and_what_they_mean(self, small):
        app = shown("pairs")
        text = words(app)
        assert "of the same source for all 6 retrievers" in text
        assert "Measured here" in text
        assert "illustrative" in text
        assert "Holm" in text
        assert "not sufficient" in text
        assert len([t for t in charts(app)[0]["data"] if t["type"] == "box"]) == 3
        table = app.dataframe[0].value
        assert table["scheme"].tolist()[:3] == ["within_cell", "cross_frame", "cross_article"]
        assert table["n"].tolist()[:3] == [180, 180, 180]

    def test_one_cell_a_cluster_is_said(self, small):
        app = shown("pairs", "demo_health")
        assert "no other of the same source" in words(app)
        assert len([t for t in charts(app)[0]["data"] if t["type"] == "box"]) == 2

    def test_an_unpaired_dataset_says_so(self, small):
        app = shown("pairs", "demo_pairs")
        assert "not paired" in words(app)
        assert not charts(app)

    def test_published(self, small):
        app = opened(
            "data_and_judging",
            data_world=ui.WORLDS["published"],
            data_part=ui.PARTS["pairs"],
        )
        text = words(app)
        assert "Fig. 5" in text
        assert "underflows" in text
        assert "Measured here" not in text
        assert len(app.dataframe[0].value) == 15


class TestOverlap:
    def test_every_pair_of_retrievers_at_the_depth_chosen(self, small):
        app = shown("overlap")
        text = words(app)
        assert "share on average" in text
        assert "first 10 documents" in text
        heat = charts(app)[0]["data"][0]
        assert len(heat["x"]) == len(heat["y"]) == 7
        assert len(app.dataframe[0].value) == 28
        deeper = shown("overlap", data_k="50")
        assert "first 50 documents" in words(deeper)

    def test_the_numbers_are_those_stored(self, small):
        table = shown("overlap", "demo_pairs").dataframe[0].value
        stored = SHIPPED.read("retriever_overlaps", "demo_pairs").query("k == 10")
        key = ["retriever", "other"]
        found = table.set_index(key)["overlap"]
        assert found.to_dict() == stored.set_index(key)["overlap"].to_dict()

    def test_the_paper_reports_none(self, small):
        app = opened(
            "data_and_judging",
            data_world=ui.WORLDS["published"],
            data_part=ui.PARTS["overlap"],
        )
        assert "does not report" in words(app)
        assert not charts(app)


@pytest.mark.parametrize("part", ["pairs", "overlap"])
def test_nothing_stored_names_the_command(part, tmp_path, monkeypatch):
    save_dataset(Folder(tmp_path), demo.load_news(), inputs={})
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path))
    app = shown(part)
    assert "python -m biasret build" in words(app)
    assert not charts(app)


LAYERS = """
import streamlit as st
from biasret import ui

st.session_state["_link"] = {}
with ui.page("Layers", "On a page of its own."):
    if st.query_params.get("world") == "published":
        ui.published_layers(key="own")
    else:
        name = st.query_params.get("dataset", "demo_news")
        ui.layers(ui.datasets()[name], key="own")
"""


def layers(**query: str):
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_string(LAYERS, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]
    return app


class TestLayers:
    def test_curves_of_every_model_with_what_they_show(self, small):
        app = layers()
        text = words(app)
        f1, information = charts(app)
        assert {t["name"] for t in f1["data"]} == {"MiniLM-L6", "Paraphrase-MiniLM-L3"}
        assert information["layout"]["shapes"]
        assert "does not show that the retriever uses that to rank" in text
        assert "5 splits with 288 questions to train and 72 to test" in text
        assert "No source is on both sides" in text
        assert len(app.dataframe) == 2

    def test_the_papers_splits_tell_how_many_straddle(self, small):
        app = layers()
        app.button_group(key="own_splits").set_value("paper").run()
        text = words(app)
        assert "of test questions have one of the same source in training" in text
        scores = SHIPPED.read("probe_scores", "demo_news", "minilm-l6")
        rows = scores[(scores["split_rule"] == "paper") & (scores["kind"] == "baseline")]
        assert f"{rows['n_shared'].sum() / rows['n_test'].sum():.0%}".rstrip("%") in text
        lines = [t for t in charts(app)[0]["data"] if t["mode"] == "lines+markers"]
        normal = scores[(scores["split_rule"] == "paper") & (scores["kind"] == "normal")]
        expected = normal.groupby("layer")["f1"].mean().tolist()
        assert lines[0]["y"] == pytest.approx(expected)

    def test_published_curves_with_the_note_on_their_test_sets(self, small):
        app = layers(world="published")
        text = words(app)
        assert "Published by Tang et al" in text
        assert "4,434 to 4,537 rows" in text.replace("\\", "")
        assert "BGE-large" in str(charts(app)[0])
        assert "AAL from WME" in text
        app.button_group(key="own_questions").set_value("allsides_synth").run()
        assert "left from right" in words(app)

    def test_nothing_probed_names_the_command(self, tmp_path, monkeypatch):
        save_dataset(Folder(tmp_path), demo.load_news(), inputs={})
        monkeypatch.setenv("BIASRET_STORE", str(tmp_path))
        app = layers()
        assert "python -m biasret layers --dataset 'demo_news'" in words(app)
        assert not charts(app)

    def test_they_stand_on_the_page_about_vocabulary(self, small):
        app = opened(
            "beyond_vocabulary",
            vocabulary_part="what the layers know",
            vocabulary_dataset="demo_news",
        )
        text = words(app)
        assert "What do the layers know?" in text
        assert "Measured here" in text
        assert len(charts(app)) == 2
        published = opened(
            "beyond_vocabulary",
            vocabulary_part="what the layers know",
            vocabulary_world=ui.WORLDS["published"],
        )
        assert "Fig. 4" in words(published)
        assert "Measured here" not in words(published)
