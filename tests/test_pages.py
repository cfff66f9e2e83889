"""Each page in each state, through Streamlit's own runner from app.py."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from biasret.datasets import demo
from biasret.precomputed import Folder

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def store(tmp_path_factory, monkeypatch_module):
    """The shipped datasets built with BM25 alone: no model is needed to see a page."""
    from biasret.build import build_dataset, save_dataset

    folder = Folder(tmp_path_factory.mktemp("store"))
    for load in (demo.load_news, demo.load_health):
        dataset = load()
        save_dataset(folder, dataset, inputs={})
        build_dataset(folder, dataset, ["bm25"])
    monkeypatch_module.setenv("BIASRET_STORE", str(folder.path))
    return folder


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def opened(page: str | None = None, **query: str) -> AppTest:
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    if page:
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, [e.value for e in app.exception]
    return app


def words(app: AppTest) -> str:
    """All text a page shows."""
    parts = []
    for kind in ("title", "header", "subheader", "markdown", "caption", "info", "warning"):
        parts += [str(element.value) for element in getattr(app, kind)]
    for kind in ("success", "error"):
        parts += [str(element.value) for element in getattr(app, kind)]
    parts += [element.proto.body for element in app.get("html")]
    return "\n".join(parts)


def charts(app: AppTest) -> list[dict]:
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


class TestOverview:
    def test_one_chart_and_five_sentences(self, store):
        app = opened()
        text = words(app)
        assert "Search that changes with the asker" in text
        assert len(charts(app)) == 1
        (told,) = [e.value for e in app.markdown if e.value.startswith("1. ")]
        assert [line[:3] for line in told.splitlines()] == ["1. ", "2. ", "3. ", "4. ", "5. "]
        assert "illustrative" in text

    def test_its_chart_shows_the_published_gaps(self, store):
        from biasret.reproduction import published_gaps

        lean, dialect = charts(opened())[0]["data"]
        assert lean["x"] == published_gaps("table07")["estimate"].tolist()
        assert dialect["x"] == published_gaps("table11")["estimate"].tolist()

    def test_what_was_measured_is_said_as_measured_and_as_on_the_results_page(self, store):
        told = next(e.value for e in opened().markdown if e.value.startswith("1. "))
        last = told.splitlines()[-1].replace("\\", "")
        assert "Measured here: Demo news (illustrative data)" in last
        page = words(opened("political_lean")).replace("\\", "")
        finding = last.split("illustrative data): ")[1].split(" Demo health")[0]
        assert finding in page

    def test_it_leads_to_every_page(self, store):
        pages = {path.stem for path in (PROJECT / "pages").glob("*.py")} - {"overview"}
        linked = {e.proto.page.replace("-", "_") for e in opened().get("page_link")}
        assert linked == pages, "name each page in NEXT of biasret/ui/story.py"


class TestLean:
    def test_forest_sweep_table_and_sentence(self, store):
        app = opened("political_lean")
        forest, sweep, filters = charts(app)
        assert [trace["name"] for trace in filters["data"]] == [
            "all queries",
            "queries that find their story",
        ]
        assert {trace["name"] for trace in forest["data"]} == {"left", "right"}
        assert all(trace["error_x"]["array"] for trace in forest["data"])
        assert len(sweep["data"]) == 2
        assert len(app.dataframe) == 3
        assert "180 pairs" in words(app)
        assert "Holm" in words(app) or "no correction" in words(app)

    def test_k_changes_the_chart_and_comes_from_the_link(self, store):
        at_10 = charts(opened("political_lean"))[0]["data"][0]["x"]
        app = opened("political_lean")
        app.button_group(key="lean_k").set_value("20").run()
        at_20 = charts(app)[0]["data"][0]["x"]
        assert at_10 != at_20
        linked = opened("political_lean", lean_k="20")
        assert charts(linked)[0]["data"][0]["x"] == at_20

    def test_a_refused_value_in_the_link_is_said(self, store):
        app = opened("political_lean", lean_k="999")
        assert "lean\\_k=999" in words(app)
        assert "using 10" in words(app)

    def test_the_numbers_shown_are_those_stored(self, store):
        from biasret.store import Store, make_database

        stored = Store(make_database(store)).gaps("demo_news", metric="lean", k=10, filter="raw")
        shown = opened("political_lean").dataframe[0].value
        assert shown["estimate"].tolist() == stored["estimate"].tolist()
        assert shown["ci_low"].tolist() == stored["ci_low"].tolist()


class TestPublished:
    @pytest.mark.parametrize(
        ("page", "exhibit", "gap_of_bge"),
        [("political_lean", 0, 0.02667217175887696), ("dialect", 0, 0.05031616077763246)],
    )
    def test_the_papers_numbers_are_shown_to_the_last_digit(self, store, page, exhibit, gap_of_bge):
        key = {"political_lean": "lean_world", "dialect": "dialect_world"}[page]
        app = opened(page)
        app.button_group(key=key).set_value("published").run()
        assert not app.exception
        assert len(charts(app)) == 2
        assert charts(app)[exhibit]["data"][0]["x"][0] == gap_of_bge
        text = words(app)
        assert text.count("Published by Tang et al.") == 2
        assert "Measured here" not in text


class TestDialect:
    def test_reciprocal_rank_has_no_depth_and_recall_has(self, store):
        app = opened("dialect")
        assert "rule-governed variety" in words(app)
        assert len(charts(app)) == 1
        app.button_group(key="dialect_metric").set_value("recall").run()
        assert not app.exception
        assert len(charts(app)) == 2

    def test_settings_survive_a_visit_to_another_page(self, store):
        app = opened("dialect")
        app.button_group(key="dialect_metric").set_value("recall").run()
        app.switch_page("pages/political_lean.py").run()
        app.switch_page("pages/dialect.py").run()
        assert app.button_group(key="dialect_metric").value == "recall"


class TestWithoutData:
    @pytest.mark.parametrize("page", [None, "probe", "political_lean", "dialect"])
    def test_an_empty_store_is_explained(self, page, tmp_path, monkeypatch):
        monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
        text = words(opened(page))
        assert "The store holds no dataset" in text.replace("\\", "")

    def test_a_damaged_store_is_made_again(self, store, tmp_path, monkeypatch):
        import shutil

        copy = tmp_path / "copy"
        shutil.copytree(store.path, copy, ignore=shutil.ignore_patterns("*.duckdb"))
        (copy / "biasret.duckdb").write_bytes(b"not a database")
        monkeypatch.setenv("BIASRET_STORE", str(copy))
        assert "Search that changes" in words(opened())
        assert "Demo news" in words(opened())

    def test_a_dataset_without_groups_shows_levels(self, store, tmp_path, monkeypatch):
        from dataclasses import replace

        from biasret.build import build_dataset, save_dataset
        from biasret.datasets.base import Dataset

        known = demo.load_health()
        record = replace(known.record, name="asked", minuend=None, subtrahend=None)
        wme = known.queries[known.queries["group"] == "WME"].assign(group=None)
        qrels = known.qrels[known.qrels["query_id"].isin(wme["query_id"])]
        folder = Folder(tmp_path / "levels")
        dataset = Dataset.checked(record, documents=known.documents, queries=wme, qrels=qrels)
        save_dataset(folder, dataset, inputs={})
        build_dataset(folder, dataset, ["bm25"])
        monkeypatch.setenv("BIASRET_STORE", str(folder.path))
        app = opened("dialect")
        assert "labels no groups" in words(app)
        assert len(charts(app)) == 1
        assert os.environ["BIASRET_STORE"] == str(folder.path)


def test_hostile_names_of_groups_and_judges_stay_text(tmp_path, monkeypatch):
    from dataclasses import replace

    import pandas as pd

    from biasret.build import build_dataset, save_dataset
    from biasret.datasets.base import Dataset

    bad = ":red[left] [x](http://e)"
    known = demo.load_news()
    record = replace(known.record, name="hostile", subtrahend=bad)
    queries = known.queries.assign(group=known.queries["group"].replace({"left": bad}))
    qrels = pd.DataFrame(
        {
            "query_id": queries["query_id"].iloc[:9],
            "doc_id": known.documents["doc_id"].iloc[:9].to_numpy(),
            "judge": "gpt_4_o, [j](http://e)",
            "grade": 1,
        }
    )
    folder = Folder(tmp_path / "hostile")
    dataset = Dataset.checked(record, documents=known.documents, queries=queries, qrels=qrels)
    save_dataset(folder, dataset, inputs={})
    build_dataset(folder, dataset, ["bm25"])
    monkeypatch.setenv("BIASRET_STORE", str(folder.path))
    for page in ("political_lean", "probe"):
        app = opened(page)
        labels = [area.label for area in app.text_area] + [words(app)]
        labels += [str(option) for group in app.get("button_group") for option in group.options]
        assert not any("](http" in text.replace("\\", "~") for text in labels)
