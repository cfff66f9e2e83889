"""The Method page: complete, and its numbers are those of the records."""

from __future__ import annotations

import pytest
from test_pages import monkeypatch_module, opened, store, words

from biasret import audit
from biasret.datasets.base import SIGNALS
from biasret.metrics import METRICS
from biasret.reproduction import DISAGREEMENTS
from biasret.retrievers import RETRIEVERS
from biasret.ui.method import SECTIONS

__all__ = ["monkeypatch_module", "store"]


@pytest.fixture(scope="module")
def page(store):
    return opened("method")


def test_every_section_has_a_heading_and_a_link(page):
    assert [element.value for element in page.header] == list(SECTIONS)
    anchors = [element.proto.anchor for element in page.header]
    assert len(set(anchors)) == len(anchors)
    links = page.markdown[1].value
    for title, anchor in zip(SECTIONS, anchors, strict=True):
        assert f"[{title}](#{anchor})" in links


def test_numbers_are_those_of_the_records(page):
    text = words(page)
    assert f"{audit.PAPER.resamples:,}" in text
    measures = next(f.value for f in page.dataframe if "measure" in f.value.columns)
    assert measures["meaning"].tolist() == [one.about for one in METRICS.values()]
    for signal in SIGNALS.values():
        assert f"{signal.minuend} minus {signal.subtrahend}" in text


def test_every_retriever_and_dataset_names_its_licence(page):
    tables = [frame.value for frame in page.dataframe]
    retrievers = next(t for t in tables if "checkpoint" in t.columns)
    wanted = [r.label for r in RETRIEVERS.values() if not r.is_teaching_example]
    assert retrievers["retriever"].tolist() == wanted
    assert (retrievers["licence"].str.len() > 0).all()
    data = next(t for t in tables if "name" in t.columns)
    assert set(data["name"]) == {"demo_news", "demo_health"}


def test_every_difference_between_page_and_release_is_told(page):
    text = words(page).replace("\\", "")
    for one in DISAGREEMENTS:
        assert one.what in text


def test_both_citations_are_there(page):
    codes = [element.value for element in page.code]
    assert any("Retrieval Sensitivity to Identity Signals" in code for code in codes)
    assert any("biasret" in code for code in codes)


def test_it_needs_no_store(tmp_path, monkeypatch):
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
    app = opened("method")
    assert not app.error
    assert "The store holds no dataset yet" in words(app)
