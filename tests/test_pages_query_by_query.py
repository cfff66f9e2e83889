"""The page Query by query in each of its states."""

from __future__ import annotations

import pytest
from test_pages import monkeypatch_module, opened, store, words

from biasret.ui import moved

__all__ = ["monkeypatch_module", "store"]


def page(**query: str):
    return opened("query_by_query", **query)


def test_the_most_moved_come_first_with_both_lists(store):
    app = page(moved_dataset="demo_news")
    table = app.dataframe[0].value
    sizes = table["difference"].abs().tolist()
    assert len(table) == moved.PER_PAGE
    assert sizes == sorted(sizes, reverse=True)
    text = words(app)
    assert "180 questions, those that move most first; 1 to 20 are shown" in text
    assert text.count('<ol class="br-list"') == 2
    assert text.count("<li>") == 20


def test_lists_are_the_stored_ones(store):
    from biasret.store import Store, make_database

    app = page(moved_dataset="demo_news")
    cell_id = app.selectbox(key="moved_cell").value
    reader = Store(make_database(store))
    cell = reader.cell("demo_news", cell_id).set_index("group")
    html = words(app)
    for group in ("left", "right"):
        run = reader.run("demo_news", "bm25", cell.loc[group, "query_id"]).query("rank <= 10")
        titles = reader.documents("demo_news", run["doc_id"].tolist())["title"]
        for title in titles:
            assert title.replace("&", "&amp;").replace("'", "&#x27;") in html
    reader.close()


def test_the_second_page_goes_on_where_the_first_ended(store):
    first = page(moved_dataset="demo_news").dataframe[0].value["difference"].abs().min()
    app = page(moved_dataset="demo_news", moved_page="2")
    assert "21 to 40 are shown" in words(app)
    assert app.dataframe[0].value["difference"].abs().max() <= first


def test_a_page_that_is_not_there_is_the_first(store):
    app = page(moved_dataset="demo_news", moved_page="2")
    app.text_input(key="moved_words").set_value("shelter").run()
    assert not app.exception
    assert "1 to " in words(app)


def test_words_narrow_and_nothing_found_is_said(store):
    app = page(moved_dataset="demo_news")
    app.text_input(key="moved_words").set_value("tax").run()
    table = app.dataframe[0].value
    both = table["right wording"].str.lower() + table["left wording"].str.lower()
    assert both.str.contains("tax").all()
    app.text_input(key="moved_words").set_value("zebra $x$ <b>").run()
    assert "No question fits these filters" in words(app)
    assert "br-list" not in words(app)


def test_a_cell_comes_from_the_link_and_a_stale_one_is_dropped(store):
    app = page(moved_dataset="demo_news")
    other = app.dataframe[0].value
    assert len(other) == 20
    ids = app.selectbox(key="moved_cell").options
    app.selectbox(key="moved_cell").select_index(3).run()
    chosen = app.selectbox(key="moved_cell").value
    app.text_input(key="moved_words").set_value("zebra").run()
    app.text_input(key="moved_words").set_value("").run()
    assert app.selectbox(key="moved_cell").value in {chosen, *ids} or not app.exception
    stale = page(moved_dataset="demo_news", moved_cell="nobody")
    assert not stale.exception
    assert stale.selectbox(key="moved_cell").value


def test_a_selected_row_names_its_cell(monkeypatch):
    state: dict[str, str] = {}
    monkeypatch.setattr(moved.st, "session_state", state)
    moved._take([2], ["a", "b", "c"])
    assert state == {"moved_cell": "c"}
    moved._take([], ["a"])
    moved._take([5], ["a"])
    assert state == {"moved_cell": "c"}


def test_health_shows_gold_and_can_ask_for_it(store):
    app = page(moved_dataset="demo_health")
    assert "gold answer at rank" in words(app)
    assert [area.label for area in app.button_group if area.key == "moved_metric"]
    app.toggle(key="moved_gold").set_value(True).run()
    assert not app.exception
    assert "Wording A: WME" in words(app)


@pytest.mark.parametrize("order", ["up", "down", "overlap"])
def test_every_order(store, order):
    app = page(moved_dataset="demo_news")
    app.button_group(key="moved_order").set_value(order).run()
    assert not app.exception
    values = app.dataframe[0].value
    if order == "overlap":
        assert values["overlap@10"].tolist() == sorted(values["overlap@10"])
    else:
        sign = 1 if order == "up" else -1
        signed = (sign * values["difference"]).tolist()
        assert signed == sorted(signed, reverse=True)


def test_unpaired_questions_are_said_to_have_no_counterpart(tmp_path, monkeypatch):
    from biasret.build import build_dataset, save_dataset
    from biasret.datasets import demo
    from biasret.precomputed import Folder

    folder = Folder(tmp_path / "pairs")
    dataset = demo.load_pairs()
    save_dataset(folder, dataset, inputs={})
    build_dataset(folder, dataset, ["bm25"])
    monkeypatch.setenv("BIASRET_STORE", str(folder.path))
    assert "are not paired" in words(page())


def test_an_empty_store_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
    assert "The store holds no dataset" in words(page())


def test_a_dataset_without_results_is_explained(tmp_path, monkeypatch):
    from biasret.build import save_dataset
    from biasret.datasets import demo
    from biasret.precomputed import Folder

    folder = Folder(tmp_path / "bare")
    save_dataset(folder, demo.load_news(), inputs={})
    monkeypatch.setenv("BIASRET_STORE", str(folder.path))
    assert "No retriever has been measured" in words(page())


def test_the_link_to_the_probe_carries_the_question(store):
    app = page(moved_dataset="demo_news")
    link = app.get("page_link")[0].proto
    assert "probe_a=" in link.query_string
    assert "probe_dataset=demo_news" in link.query_string


def test_lists_that_were_not_brought_in_and_texts_that_are_withheld_are_said(store, monkeypatch):
    from biasret.ui import reads

    real = reads.moved

    def withheld(*args):
        return real(*args).assign(minuend_text="", subtrahend_text="")

    monkeypatch.setattr(reads, "moved", withheld)
    app = page(moved_dataset="demo_news")
    assert "its source withholds the text" in words(app)
    assert app.selectbox(key="moved_cell").options[0].startswith("news-")
    assert not app.get("page_link")
    monkeypatch.setattr(reads, "list_depth", lambda *args: 0)
    assert "the lists were not released" in words(page(moved_dataset="demo_news"))
