"""The page "Data and judging" in each of its states."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from test_pages import charts, monkeypatch_module, opened, store, words  # noqa: F401

from biasret import ui
from biasret.build import build_dataset, save_dataset
from biasret.datasets import demo
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder

PAGE = "data_and_judging"


def shown(**choices: str) -> AppTest:
    """The page with what a link would ask for; links name choices by their labels."""
    words_of = {"world": ui.WORLDS, "part": ui.PARTS, "dataset": {}}
    return opened(PAGE, **{f"data_{k}": words_of[k].get(v, v) for k, v in choices.items()})


class TestPublished:
    def test_lengths_have_one_row_a_group(self, store):  # noqa: F811
        app = shown(world="published")
        text = words(app)
        assert "hcmagic\\_nat\\: WME longer than AAL by 82\\.7" in text
        assert "Measured here" not in text
        assert app.dataframe[0].value["mean"].tolist()[:2] == [138.7, 138.8]
        assert len(charts(app)[0]["data"]) == 8 * 3
        assert "Okapi variant" in text

    def test_dropped_questions_are_nine_and_their_texts_stay_out(self, store):  # noqa: F811
        app = shown(world="published", part="dropped")
        table = app.dataframe[0].value
        assert len(table) == 9
        assert "zzxczxc" not in str(table)
        assert "six of the nine" in words(app)

    def test_judges_at_full_precision_and_with_signs_in_words(self, store):  # noqa: F811
        app = shown(world="published", part="judges")
        text = words(app)
        assert "kappa is 0\\.502" in text
        assert "positive means conservative" in text
        tables = [frame.value for frame in app.dataframe]
        agreement = tables[0]
        filters = next(t for t in tables if "filter" in t.columns)
        captions = next(t for t in tables if "where" in t.columns)
        assert agreement["kappa"].iloc[0] == 0.5020690857603984
        assert len(filters) == 24
        assert captions["printed"].tolist() == ["83", "40", "242000", "0.17"]
        heat, dots = charts(app)
        assert heat["data"][0]["text"][0][0].startswith("7,047")
        assert len(dots["data"]) == 4
        assert "0\\.1035" in text


class TestContents:
    def test_record_counts_lengths_and_cuts(self, store):  # noqa: F811
        app = shown(dataset="demo_news")
        text = words(app)
        assert "illustrative" in text
        stances, groups = (table.value for table in app.table[1:3])
        assert stances["stance"].tolist() == ["left", "center", "right"]
        assert len(charts(app)) == 1
        lengths = app.dataframe[0].value
        expected = demo.load_news().queries.groupby("group").size().to_dict()
        assert lengths["group"].tolist()[:2] == groups["group"].tolist()[:2] == ["left", "right"]
        assert dict(zip(lengths["group"], lengths["n_queries"], strict=True)) == expected
        assert "BM25 reads every word" in text

    def test_cut_texts_are_counted(self, stored, monkeypatch):
        monkeypatch.setenv("BIASRET_STORE", str(stored.folder.path))
        app = shown()
        assert "1 of 1 models saw only the beginning" in words(app)
        assert app.dataframe[1].value[["n", "n_cut"]].to_numpy().tolist() == [[10, 1]]


class TestDropped:
    def test_what_was_dropped_and_why(self, tmp_path, monkeypatch):
        known = demo.load_health()
        without = known.queries["cell_id"].drop_duplicates().iloc[:4]
        is_left_out = known.queries["cell_id"].isin(without) & (known.queries["group"] == "AAL")
        queries = known.queries[~is_left_out]
        dataset = Dataset.checked(
            replace(known.record, name="gappy"),
            documents=known.documents,
            queries=queries,
            qrels=known.qrels[known.qrels["query_id"].isin(queries["query_id"])],
        )
        folder = Folder(tmp_path / "gappy")
        save_dataset(folder, dataset, inputs={})
        build_dataset(folder, dataset, ["bm25"])
        monkeypatch.setenv("BIASRET_STORE", str(folder.path))
        app = shown(part="dropped")
        text = words(app)
        assert "leave cells out, at most 4" in text
        assert set(app.dataframe[0].value["dropped_why"]) == {"4 no value for AAL"}
        assert "Every query found a document by BM25" in text

    def test_nothing_was_dropped(self, store):  # noqa: F811
        assert "none was dropped" in words(shown(part="dropped", dataset="demo_news"))

    def test_empty_rankings_are_counted(self, stored, monkeypatch):
        monkeypatch.setenv("BIASRET_STORE", str(stored.folder.path))
        app = shown(part="dropped")
        assert "1 of 18 rankings is empty" in words(app)


def judged_store(tmp_path, monkeypatch, *, judges: tuple[str, ...]) -> Folder:
    """The demo news, cut to a few cells, with made-up grades of the names given."""
    known = demo.load_news()
    kept = known.queries["cell_id"].drop_duplicates().iloc[:12]
    queries = known.queries[known.queries["cell_id"].isin(kept)]
    ids = known.documents["doc_id"].tolist()
    rows = [
        (query, doc, judge, int((i * 7 + j * 3) % (len(judge) - 1) == 0))
        for judge in judges
        for i, query in enumerate(queries["query_id"])
        for j, doc in enumerate(ids)
    ]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "judge", "grade"])
    record = replace(known.record, name="judged")
    dataset = Dataset.checked(record, documents=known.documents, queries=queries, qrels=qrels)
    folder = Folder(tmp_path / "judged")
    save_dataset(folder, dataset, inputs={})
    build_dataset(folder, dataset, ["bm25"])
    monkeypatch.setenv("BIASRET_STORE", str(folder.path))
    return folder


class TestJudges:
    def test_nobody_has_judged(self, store):  # noqa: F811
        text = words(shown(part="judges", dataset="demo_news"))
        assert "Nobody has graded" in text
        assert "python -m biasret judge --dataset demo_news" in text
        assert "by same story" in text
        assert "of 360 whose first 10" in text

    def test_gold_answers_are_no_judge(self, store):  # noqa: F811
        app = shown(part="judges", dataset="demo_health")
        assert "Nobody has graded" in words(app)
        assert app.dataframe[0].value["judge"].tolist() == ["author"]
        assert "by gold answer" in words(app)

    def test_one_judge_is_set_against_the_story(self, tmp_path, monkeypatch):
        judged_store(tmp_path, monkeypatch, judges=("gpt",))
        app = shown(part="judges")
        text = words(app)
        assert "takes two" in text
        assert "gpt and same story agree on" in text
        heat, lists, gaps = charts(app)
        assert heat["data"][0]["type"] == "heatmap"
        assert len(lists["data"]) == 2
        assert next(t["name"] for t in gaps["data"]) == "all queries"

    def test_two_judges_agree_to_a_degree(self, tmp_path, monkeypatch):
        judged_store(tmp_path, monkeypatch, judges=("gpt", "qwen3"))
        app = shown(part="judges")
        text = words(app)
        assert "gpt and qwen3 agree on" in text
        assert "Every list is judged to depth 10" in text
        assert "by every judge" in text
        names = [trace["name"] for trace in charts(app)[-1]["data"]]
        assert {"relevant to gpt", "relevant to qwen3", "relevant to every judge"} <= set(names)
        app.button_group(key="data_second").set_value("reference").run()
        assert not app.exception
        assert "gpt and same story agree on" in words(app)

    def test_hostile_names_of_judges_stay_text(self, tmp_path, monkeypatch):
        bad = "[j](http://e) <b>*x*</b>"
        judged_store(tmp_path, monkeypatch, judges=(bad, "second"))
        app = shown(part="judges")
        assert not app.exception
        labels = [words(app)]
        labels += [str(option) for group in app.get("button_group") for option in group.options]
        assert not any("](http" in text.replace("\\", "~") for text in labels)
        assert "<b>" not in str(charts(app)[0]["layout"])


class TestWithoutData:
    def test_an_empty_store_is_explained(self, tmp_path, monkeypatch):
        monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
        assert "The store holds no dataset" in words(opened(PAGE))

    @pytest.mark.parametrize("part", ["contents", "dropped", "judges"])
    def test_a_dataset_without_results_says_so(self, part, tmp_path, monkeypatch):
        folder = Folder(tmp_path / "bare")
        save_dataset(folder, demo.load_news(), inputs={})
        monkeypatch.setenv("BIASRET_STORE", str(folder.path))
        text = words(shown(part=part))
        wanted = {
            "contents": "No model with a limit",
            "dropped": "No gap has been measured",
            "judges": "No retriever has been run",
        }
        assert wanted[part] in text
