"""The tree of exceptions and what their messages look like."""

from __future__ import annotations

import pytest

from biasret import errors
from biasret.errors import BiasretError, InputError, UnknownName

#: Parent among ours, and the built-in that callers may catch instead.
TREE = {
    "InputError": ("BiasretError", ValueError),
    "UnknownName": ("InputError", KeyError),
    "TableError": ("InputError", ValueError),
    "FileError": ("InputError", ValueError),
    "StoreError": ("BiasretError", RuntimeError),
    "NothingStored": ("StoreError", LookupError),
    "RetrieverError": ("BiasretError", RuntimeError),
    "NotInstalled": ("RetrieverError", ImportError),
}


def test_the_tree_is_the_one_in_the_docstring():
    assert set(errors.__all__) == {"BiasretError", *TREE}
    assert all(name in (errors.__doc__ or "") for name in errors.__all__)


@pytest.mark.parametrize(("name", "parents"), TREE.items())
def test_each_derives_from_ours_and_from_a_built_in(name, parents):
    ours, builtin = parents
    kind = getattr(errors, name)
    assert kind.__bases__[0] is getattr(errors, ours)
    assert issubclass(kind, BiasretError)
    assert issubclass(kind, builtin)


@pytest.mark.parametrize("name", [name for name in TREE if name != "UnknownName"])
def test_a_message_is_shown_as_written(name):
    sentence = "The file 'a' has no \"text\"; found b."
    assert str(getattr(errors, name)(sentence)) == sentence


def test_an_unknown_name_shows_no_quotes_around_its_message():
    found = str(UnknownName("retriever", "bge-lage", ["bge-large", "bm25"]))
    assert found == (
        "Unknown retriever 'bge-lage'. Did you mean 'bge-large'? Available: bge-large, bm25."
    )


def test_an_error_without_words_is_empty():
    assert str(BiasretError()) == ""


def test_only_wrong_input_is_an_input_error():
    wrong = {name for name in TREE if issubclass(getattr(errors, name), InputError)}
    assert wrong == {"InputError", "UnknownName", "TableError", "FileError"}
