"""A dict of records that says what it holds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from biasret.catalogue import Catalogue
from biasret.datasets import SHIPPED, SIGNALS
from biasret.errors import InputError, UnknownName
from biasret.filters import FILTERS
from biasret.metrics import METRICS
from biasret.retrievers import RETRIEVERS
from biasret.tables import TABLES


@dataclass(frozen=True)
class Bird:
    name: str


BIRDS = Catalogue("bird", [Bird("wren"), Bird("rook"), Bird("a/b")])


def test_it_is_a_mapping_in_the_order_given():
    assert list(BIRDS) == ["wren", "rook", "a/b"]
    assert len(BIRDS) == 3
    assert BIRDS["rook"] == Bird("rook")
    assert dict(BIRDS) == {name: Bird(name) for name in ("wren", "rook", "a/b")}
    assert BIRDS.get("owl") is None


@pytest.mark.parametrize("name", ["owl", "", "WREN", 7, None, ("wren",)])
def test_an_unknown_name_lists_those_there_are(name):
    with pytest.raises(UnknownName) as caught:
        BIRDS[name]
    assert str(caught.value).startswith(f"Unknown bird {name!r}.")
    assert str(caught.value).endswith("Available: wren, rook, a/b.")
    assert name not in BIRDS


@pytest.mark.parametrize("name", [["wren"], {"wren": 1}])
def test_what_cannot_be_a_key_is_an_unknown_name(name):
    assert name not in BIRDS
    with pytest.raises(UnknownName):
        BIRDS[name]


def test_a_near_miss_is_suggested():
    with pytest.raises(UnknownName, match=r"Did you mean 'rook'\?"):
        BIRDS["rok"]
    with pytest.raises(UnknownName) as caught:
        BIRDS["zzzz"]
    assert "Did you mean" not in str(caught.value)


def test_an_empty_one_says_none():
    with pytest.raises(UnknownName, match=r"Available: none\."):
        Catalogue("bird", [])["wren"]


def test_an_unknown_name_is_both_an_input_error_and_a_key_error():
    for kind in (InputError, KeyError, ValueError):
        with pytest.raises(kind):
            BIRDS["owl"]


def test_two_records_of_one_name_are_our_own_mistake():
    with pytest.raises(AssertionError, match="wren"):
        Catalogue("bird", [Bird("wren"), Bird("wren")])


@pytest.mark.parametrize(
    "catalogue", [TABLES, METRICS, FILTERS, SIGNALS, SHIPPED, RETRIEVERS], ids=lambda c: c.kind
)
def test_every_catalogue_of_the_package_is_keyed_by_name(catalogue):
    assert len(catalogue) > 0
    for name, record in catalogue.items():
        assert record.name == name
        assert name == name.strip()
        assert name
