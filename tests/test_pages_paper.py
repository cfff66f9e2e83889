"""The published world of every page: each exhibit in its view, its numbers, its file."""

from __future__ import annotations

import pytest
from test_pages import charts, monkeypatch_module, opened, store, words

from biasret import exports
from biasret.published import EXHIBITS
from biasret.reproduction import disagreements, exhibit_numbers
from biasret.ui.exhibits import SHOWN, VIEWS

__all__ = ["monkeypatch_module", "store"]

#: Prefix of a page's choices in the link.
KEYS = {"political_lean": "lean", "dialect": "dialect", "mitigation": "mitigation"}
PLACES = sorted({(one.page, one.view) for one in SHOWN.values()})


def published_view(page: str, view: str):
    key = KEYS[page]
    app = opened(page)
    app.button_group(key=f"{key}_world").set_value("published").run()
    app.button_group(key=f"{key}_view").set_value(view).run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("page", "view"), PLACES)
def test_each_exhibit_has_chart_numbers_notes_and_title(store, page, view):
    app = published_view(page, view)
    here = [one for one in SHOWN.values() if (one.page, one.view) == (page, view)]
    text = words(app).replace("\\", "")
    assert len(charts(app)) == len(here)
    assert text.count("Published by Tang et al. (2026)") == len(here)
    assert "Measured here" not in text
    # Nothing is imported in this store.
    assert "imported as" not in text
    labels = [expander.label for expander in app.expander]
    for one in here:
        assert one.label in text
        for name in one.exhibits:
            assert EXHIBITS[name].title in text
            assert f"Every number of {EXHIBITS[name].title}" in labels
            for what in disagreements(name):
                assert what in text


@pytest.mark.parametrize("name", SHOWN)
def test_the_chart_draws_what_its_table_holds(store, name):
    drawn = SHOWN[name].draw()
    x = [value for trace in drawn.figure.data for value in (*trace.x, *trace.y)]
    assert drawn.alt
    shown = drawn.table["estimate"].tolist()
    means = [*drawn.table["mean_minuend"], *drawn.table["mean_subtrahend"]]
    assert set(shown) <= set(x) or {m for m in means if m == m} <= set(x)


def test_the_table_of_an_exhibit_is_its_numbers_to_the_last_digit(store):
    app = published_view("political_lean", "gap")
    frames = [element.value for element in app.dataframe]
    numbers = exhibit_numbers("table07")
    listed = next(f for f in frames if "released" in f.columns and len(f) == len(numbers))
    assert listed["released"].dropna().tolist() == numbers["released"].dropna().tolist()
    text = exports.table_csv(numbers, {"exhibit": "Table 7"}).decode()
    assert "0.02667217175887696" in text
    assert "4.4e-6" in text


def test_a_view_that_is_not_there_is_said(store):
    app = opened("political_lean", lean_world="published by the paper", lean_view="by colour")
    assert "lean\\_view=by colour" in words(app).replace("by\\ ", "by ")


def test_views_are_all_used():
    assert {one.view for one in SHOWN.values()} == set(VIEWS)
