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
HOSTILE = {
    "script": "<script>document.title='x'</script><img src=x onerror=alert(1)>",
    "maths": "does $x$ cost $5 and $10 or $y$?",
    "emoji": "🤒👩🏾‍⚕️ fever?",
    "right to left": "ما هو علاج الصداع؟ \u202eabc",
    "markdown": "[link](http://x) **bold** ![i](http://x/y.png) :red[z] `c`",
    "long": "why does my head hurt " * 454,
    "unknown words": "zxczxc qqqqq",
    "control": "a\x00b\x07c",
}


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
    def test_it_shows_both_signals_and_says_that_the_data_is_illustrative(self, store):
        app = opened()
        text = words(app)
        assert "Search that changes with the asker" in text
        assert text.count("illustrative") >= 2
        assert len(charts(app)) == 4

    def test_published_and_measured_numbers_stand_under_their_own_heading(self, store):
        headings = [element.value for element in opened().header]
        assert headings == ["What the paper found", "What this installation measured"]

    def test_its_numbers_are_those_of_the_results_page(self, store):
        overview = charts(opened())[2]["data"]
        page = charts(opened("political_lean"))[0]["data"]
        assert [trace["x"] for trace in overview] == [trace["x"] for trace in page]


class TestLean:
    def test_forest_sweep_table_and_sentence(self, store):
        app = opened("political_lean")
        forest, sweep = charts(app)
        assert {trace["name"] for trace in forest["data"]} == {"left", "right"}
        assert all(trace["error_x"]["array"] for trace in forest["data"])
        assert len(sweep["data"]) == 2
        assert len(app.dataframe) == 2
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


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label.startswith(label)).click().run()
    assert not app.exception, [e.value for e in app.exception]


def asked(a: str, b: str, dataset: str = "demo_news") -> AppTest:
    app = opened("probe")
    app.selectbox(key="probe_dataset").set_value(dataset).run()
    app.text_area(key="probe_a").set_value(a)
    app.text_area(key="probe_b").set_value(b)
    press(app, "Compare")
    return app


class TestProbe:
    def test_nothing_typed(self, store):
        app = opened("probe")
        assert "Type a question in both boxes" in words(app)
        assert not app.get("html")

    def test_two_wordings_give_two_lists_and_the_difference(self, store):
        app = asked("gun storage law protects children", "gun storage mandate burdens owners")
        text = words(app)
        assert "wording B keeps" in text
        assert "lean@10" in text.replace("\\", "")
        assert text.count('<ol class="br-list"') == 2
        table = app.table[0].value
        assert {"shared", "lost", "new", "B minus A"} <= set(table.columns)

    def test_b_left_blank(self, store):
        app = asked("gun storage law protects children", "")
        assert "Wording B is empty" in words(app)
        assert words(app).count('<ol class="br-list"') == 1
        assert not app.table

    def test_identical(self, store):
        app = asked("gun storage law", "gun storage law")
        assert "the same text" in words(app)
        assert "same order" in words(app)

    def test_no_match(self, store):
        text = words(asked("zxczxc", "qqqqq vvvv"))
        assert "No document matched either wording" in text

    def test_one_side_without_a_match(self, store):
        text = words(asked("gun storage law", "qqqqq vvvv"))
        assert "No document matched wording B" in text
        assert text.count('<ol class="br-list"') == 1

    def test_a_failing_retriever_is_named_and_the_page_stays(self, store, monkeypatch):
        from biasret.errors import NotInstalled
        from biasret.ui import reads

        def failing(name, dataset):
            raise NotInstalled("its weights are missing")

        monkeypatch.setattr(reads, "ready_retriever", failing)
        text = words(asked("gun storage law", "gun storage rule")).replace("\\", "")
        assert "BM25 could not be asked. its weights are missing" in text

    def test_an_unexpected_failure_gives_a_reference_and_no_traceback(self, store, monkeypatch):
        from biasret.ui import reads

        def failing(name, dataset):
            raise ZeroDivisionError

        monkeypatch.setattr(reads, "ready_retriever", failing)
        text = words(asked("gun storage law", "gun storage rule"))
        assert "report reference" in text
        assert "ZeroDivisionError" not in text

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_shown_as_typed(self, store, kind):
        text = HOSTILE[kind][:10_000]
        app = asked(text, "gun storage law")
        assert app.text_area(key="probe_a").value == text
        shown = words(app)
        assert "<script>" not in shown
        assert "onerror=alert" not in shown.replace("&gt;", ">") or "&lt;img" in shown

    def test_a_stored_question_fills_both_boxes_and_masks_its_source(self, store):
        app = opened("probe")
        app.selectbox(key="probe_dataset").set_value("demo_news").run()
        app.text_input(key="probe_find_demo_news").set_value("gun storage").run()
        press(app, "Use this question")
        assert app.text_area(key="probe_a").value
        assert app.text_area(key="probe_b").value
        assert "its source article" in words(app)

    def test_a_stored_health_question_shows_the_rank_of_its_answer(self, store):
        app = opened("probe")
        app.selectbox(key="probe_dataset").set_value("demo_health").run()
        app.text_input(key="probe_find_demo_health").set_value("blood pressure").run()
        press(app, "Use this question")
        assert {"gold rank A", "gold rank B"} <= set(app.table[0].value.columns)
        app.button_group(key="probe_k").set_value("100").run()
        assert "gold answer" in words(app)

    def test_no_stored_question_found(self, store):
        app = opened("probe")
        app.selectbox(key="probe_dataset").set_value("demo_news").run()
        app.text_input(key="probe_find_demo_news").set_value("100%_'; DROP").run()
        assert "No stored question holds all of these words" in words(app)

    def test_equal_results_of_one_hundred_documents(self, store):
        app = asked("the law", "the law and")
        app.button_group(key="probe_k").set_value("100").run()
        assert not app.exception
        assert words(app).count("<li>") == 200

    def test_a_long_text_is_reported_as_cut_by_bm25_or_not_at_all(self, store):
        assert "was cut" not in words(asked("storage " * 600, "gun"))


class TestWithoutData:
    @pytest.mark.parametrize("page", [None, "probe", "political_lean", "dialect"])
    def test_an_empty_store_is_explained(self, page, tmp_path, monkeypatch):
        monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
        text = words(opened(page))
        assert "The store holds no dataset" in text

    def test_a_damaged_store_is_made_again(self, store, tmp_path, monkeypatch):
        import shutil

        copy = tmp_path / "copy"
        shutil.copytree(store.path, copy, ignore=shutil.ignore_patterns("*.duckdb"))
        (copy / "biasret.duckdb").write_bytes(b"not a database")
        monkeypatch.setenv("BIASRET_STORE", str(copy))
        assert "Search that changes" in words(opened())
        assert len(charts(opened())) == 4

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


class TestFlip:
    def flipped(self, dataset: str, text: str, **choices: str) -> AppTest:
        app = opened("probe")
        app.selectbox(key="probe_dataset").set_value(dataset).run()
        for key, value in choices.items():
            app.button_group(key=key).set_value(value).run()
        app.text_area(key="probe_a").set_value(text)
        press(app, "Flip A into B")
        return app

    def test_dialect_writes_wording_b_and_marks_the_edits(self, store):
        app = self.flipped("demo_health", "My sister doesn't sleep and her hands are always cold.")
        b = app.text_area(key="probe_b").value
        assert b != app.text_area(key="probe_a").value
        assert "don't sleep" in b or "be cold" in b or "hands always cold" in b
        text = words(app)
        assert "not a speaker" in text
        assert "<del>" in text
        assert "<ins" in text
        assert "stored pairs changed less" in text

    def test_framing_writes_wording_b(self, store):
        app = self.flipped(
            "demo_news",
            "How does the estate tax affect family farms?",
            probe_flip_framing="right",
        )
        assert "death tax" in app.text_area(key="probe_b").value

    def test_b_edited_by_hand_is_said(self, store):
        app = self.flipped("demo_health", "My sister doesn't sleep.")
        app.text_area(key="probe_b").set_value("My sister never sleep.")
        press(app, "Compare")
        assert "edited by hand" in words(app)
        assert "not a speaker" not in words(app)

    def test_nothing_to_flip_is_said(self, store):
        app = self.flipped("demo_news", "What is the weather today?", probe_flip_framing="left")
        assert "lexicon" in words(app)

    def test_blank_text_is_refused_in_words(self, store):
        assert "type a question to flip" in words(self.flipped("demo_news", " "))


class TestStoredAndFlipped:
    def test_a_flip_of_a_stored_question_keeps_its_source_out(self, store):
        app = opened("probe")
        app.selectbox(key="probe_dataset").set_value("demo_news").run()
        app.text_input(key="probe_find_demo_news").set_value("gun storage").run()
        press(app, "Use this question")
        app.button_group(key="probe_mode").set_value("tail").run()
        press(app, "Flip A into B")
        assert "Generated: right wording" in words(app).replace("\\", "")
        assert "its source article" in words(app)

    def test_sides_are_the_same_everywhere(self, store):
        app = opened("probe")
        for dataset, a, b in (("demo_news", "left", "right"), ("demo_health", "WME", "AAL")):
            app.selectbox(key="probe_dataset").set_value(dataset).run()
            assert app.text_area(key="probe_a").label == f"Wording A (for example {a})"
            assert app.text_area(key="probe_b").label == f"Wording B (for example {b})"

    def test_a_step_to_a_neutral_wording_is_not_set_beside_stored_pairs(self, store):
        app = TestFlip().flipped(
            "demo_news", "Will the death tax hurt family farms?", probe_flip_framing="neutral"
        )
        assert "estate tax" in app.text_area(key="probe_b").value
        assert "stored pairs" not in words(app)


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
