"""A whole probe: answers one by one, their place among stored pairs, and the export."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import TOY, HandScored

from biasret import probe
from biasret.errors import NotInstalled
from biasret.probe import Answer, Corpus, Failure, Known

#: Rankings by hand, best first.
LISTS = {"one": "abc", "other": "abd", "mid": "abe"}
STANCES = pd.Series({"a": "right", "b": "right", "c": "left", "d": "center", "e": "left"})


def retriever() -> HandScored:
    made = HandScored(
        {
            text: {doc_id: 1 - rank / 100 for rank, doc_id in enumerate(ranking)}
            for text, ranking in LISTS.items()
        }
    )
    made.index(pd.DataFrame({"doc_id": list("abcde"), "text": "x"}))
    return made


def corpus(known: Known | None = None, **record: object) -> Corpus:
    one = retriever()

    def compare(name, pairs, k, exclude, gold):
        if name == "gone":
            raise NotInstalled("its weights are missing")
        return probe.compare_all(one, pairs, k=k, stances=STANCES, exclude=exclude, gold=gold)

    def differences(name, metric, k):
        return np.array([0.0, 0.1, -0.2, 0.5]) if metric == "lean" else np.array([0.25])

    return Corpus(
        record=replace(TOY, **record),
        find=lambda text: known,
        compare=compare,
        differences=differences,
        overlaps=lambda name, k: np.array([1.0, 0.5]),
    )


def asked(switch: str = "framing", k: int = 5, known: Known | None = None, **record: object):
    return probe.probe(
        "",
        switch=switch,
        corpus=corpus(known, **record),
        retrievers=["by-hand", "gone"],
        k=k,
        a="one",
        b="other",
    )


def test_one_that_cannot_be_asked_does_not_stop_the_others():
    first, second = asked().answers
    assert isinstance(first, Answer)
    assert second == Failure("gone", "its weights are missing")
    assert not asked().is_failed


def test_only_failures_is_failed():
    found = probe.probe(
        "", switch="framing", corpus=corpus(), retrievers=["gone"], a="one", b="other"
    )
    assert found.is_failed
    assert found.table().empty


def test_numbers_of_a_row():
    (row,) = asked().table().to_dict("records")
    assert row["lean_a"] == pytest.approx(1 / 3)
    assert row["lean_b"] == pytest.approx(2 / 3)
    assert row["lean_difference"] == pytest.approx(1 / 3)
    assert (row["n_shared"], row["n_lost"], row["n_new"]) == (2, 1, 1)
    assert row["survival"] == row["overlap"] == pytest.approx(2 / 3)


def test_place_among_the_stored_pairs_has_the_sign_of_b_minus_a():
    lean, overlap = asked().answers[0].typical
    assert lean.quantity == "lean@5, right minus left"
    assert lean.stored.tolist() == [0.0, 0.1, -0.2, 0.5]
    assert (lean.n_less, lean.n_equal) == (3, 0)
    assert overlap.n_less == 1
    # Stored as left minus right, they are turned before they are compared.
    turned = asked(minuend="left", subtrahend="right").answers[0].typical[0]
    assert turned.stored.tolist() == [-0.0, -0.1, 0.2, -0.5]


def test_another_step_than_the_stored_one_is_not_compared():
    assert asked("AAL").answers[0].typical == ()
    assert asked(minuend="WME", subtrahend="AAL").answers[0].typical == ()
    assert asked(is_paired=False).answers[0].typical == ()
    assert asked(k=101).answers[0].typical == ()


def test_gold_gives_the_change_in_reciprocal_rank():
    known = Known("c", frozenset({"one", "other"}), (), ("d",))
    answer = asked(known=known).answers[0]
    # d is unmatched for A and ranks after a, b, c by id; for B it is third.
    assert (answer.comparison.a.gold_rank, answer.comparison.b.gold_rank) == (4, 3)
    assert answer.comparison.rr_difference == pytest.approx(1 / 3 - 1 / 4)
    assert [one.quantity for one in answer.typical] == [
        "lean@5, right minus left",
        "reciprocal rank, right minus left",
        "overlap@5",
    ]


def test_source_documents_are_left_out():
    known = Known("c", frozenset({"one", "other"}), ("a",), ())
    found = asked(known=known)
    assert found.answers[0].comparison.a.ranking.doc_ids == ["b", "c"]
    assert found.as_dict()["masked"] == ["a"]


def test_all_wordings_go_through_the_model_in_one_call(monkeypatch):
    calls = []
    found = corpus()

    def compare(name, pairs, k, exclude, gold):
        calls.append(pairs)
        return found.compare("by-hand", pairs, k, exclude, gold)

    result = probe.probe(
        "How does the estate tax affect family farms?",
        switch="framing",
        corpus=replace(found, compare=compare),
        retrievers=["by-hand"],
        is_mitigated=True,
    )
    ((pair, after),) = calls
    assert pair[0] != pair[1]
    assert after == (pair[0], pair[0])
    assert result.answers[0].mitigated.state in ("identical", "empty")


def test_the_same_text_is_encoded_once():
    one = retriever()
    seen = []
    real = one.search

    def search(queries, **options):
        seen.append(list(queries))
        return real(queries, **options)

    one.search = search
    first, second = probe.compare_all(one, [("one", "other"), ("one", "one")], k=3)
    assert seen == [["one", "other"]]
    assert second.state == "identical"
    assert first.a is second.a


def test_the_json_is_plain_and_whole():
    documents = pd.DataFrame(
        {"title": ["T", None, "<b>", "D", "E"], "stance": STANCES, "source": [None] * 5},
        index=list("abcde"),
    )
    known = Known("c", frozenset({"one", "other"}), (), ("d",))
    whole = json.loads(json.dumps(asked(known=known).as_dict(documents), allow_nan=False))
    assert whole["stored_cell"] == "c"
    assert [one["origin"] for one in whole["wordings"]] == ["as stored", "as stored"]
    answer, failure = whole["retrievers"]
    assert failure == {"retriever": "gone", "failed": "its weights are missing"}
    assert answer["rankings"][0][0] == {
        "rank": 1,
        "doc_id": "a",
        "score": 1.0,
        "title": "T",
        "stance": "right",
        "source": None,
    }
    assert answer["movements"] == {"a": "same", "b": "same", "c": "lost", "d": "new"}
    assert answer["typicality"][0]["share_changed_less"] == 0.75
