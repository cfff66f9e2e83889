"""The Mitigation page in its measured states; the published ones are in test_pages_paper."""

from __future__ import annotations

from dataclasses import replace

from test_pages import charts, monkeypatch_module, opened, store, words

from biasret.build import build_dataset, save_dataset
from biasret.datasets import demo
from biasret.datasets.base import Dataset
from biasret.precomputed import Folder

__all__ = ["monkeypatch_module", "store"]


def test_gap_and_quality_before_and_after(store):
    app = opened("mitigation")
    text = words(app).replace("\\", "")
    assert "Measured here on Demo news (illustrative data)" in text
    assert "The wording differs in 42 cells" in text
    assert "Which word is descriptive can be contested" in text
    assert [element.value for element in app.header] == [
        "What it wins: the gap",
        "What it costs: finding the answer",
    ]
    gap, quality = charts(app)
    stored = store.read("mitigations", "demo_news")
    row = stored[(stored["quantity"] == "gap") & (stored["k"] == 10)].iloc[0]
    assert gap["data"][1]["x"] == [row["before"]]
    assert gap["data"][2]["x"] == [row["after"]]
    row = stored[stored["quantity"] == "quality"].iloc[0]
    assert quality["data"][1]["x"] == [row["before"]]
    assert app.dataframe[0].value["change"].tolist() == [
        stored[(stored["quantity"] == "gap") & (stored["k"] == 10)]["change"].item()
    ]


def test_depth_comes_from_the_link(store):
    at_10 = charts(opened("mitigation"))[0]["data"][1]["x"]
    at_50 = charts(opened("mitigation", mitigation_k="50"))[0]["data"][1]["x"]
    assert at_10 != at_50


def made(tmp_path, monkeypatch, change) -> None:
    dataset = change(demo.load_written())
    folder = Folder(tmp_path / "made")
    save_dataset(folder, dataset, inputs={})
    build_dataset(folder, dataset, ["bm25"])
    monkeypatch.setenv("BIASRET_STORE", str(folder.path))


def cut(dataset: Dataset, **words: object) -> Dataset:
    """The dataset under another name, with its first forty questions alone."""
    cells = dataset.queries["cell_id"].drop_duplicates().iloc[:40]
    queries = dataset.queries[dataset.queries["cell_id"].isin(cells)]
    return Dataset.checked(
        replace(dataset.record, name="made", **words),
        documents=dataset.documents,
        queries=queries,
        qrels=dataset.qrels[dataset.qrels["query_id"].isin(queries["query_id"])],
    )


def test_translation_has_two_measures_and_names_its_caution(tmp_path, monkeypatch):
    made(tmp_path, monkeypatch, cut)
    app = opened("mitigation")
    text = words(app).replace("\\", "")
    assert "AAL needs no mending" in text
    assert "40 cells" in text
    assert len(charts(app)) == 2
    app.button_group(key="mitigation_metric").set_value("recall").run()
    assert not app.exception
    assert app.button_group(key="mitigation_k").value == "10"


def test_unpaired_questions_have_no_gap_to_compare(tmp_path, monkeypatch):
    made(tmp_path, monkeypatch, lambda dataset: cut(dataset, is_paired=False))
    app = opened("mitigation")
    assert "are not paired" in words(app)
    assert len(charts(app)) == 1


def test_nothing_to_compare_is_said(tmp_path, monkeypatch):
    folder = Folder(tmp_path / "plain")
    dataset = demo.load_health()
    save_dataset(folder, dataset, inputs={})
    build_dataset(folder, dataset, ["bm25"])
    monkeypatch.setenv("BIASRET_STORE", str(folder.path))
    assert "holds mitigated wordings" in words(opened("mitigation"))
