"""Every published exhibit can be found: its place is a page, and its title stands there."""

from __future__ import annotations

from functools import cache

import pytest
from test_pages import monkeypatch_module, opened, store, words

from biasret.published import EXHIBITS
from biasret.ui.places import Place, places

__all__ = ["monkeypatch_module", "store"]

PROSE = {"captions and notes": "Every number of captions and notes"}


@cache
def text_at(place: Place) -> str:
    app = opened(place.page)
    for key, value in place.choices:
        app.button_group(key=key).set_value(value).run()
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error
    labels = [expander.label for expander in app.expander]
    return "\n".join([words(app).replace("\\", ""), *labels])


def test_every_exhibit_has_a_place():
    assert set(places()) == set(EXHIBITS)


@pytest.mark.parametrize("name", EXHIBITS)
def test_its_title_stands_in_its_place(store, name):
    title = EXHIBITS[name].title
    shown = text_at(places()[name])
    assert PROSE.get(title, title) in shown
    assert "Measured here" not in shown or places()[name].page == "method"
