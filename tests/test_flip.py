"""Flips of both engines in one form, and where a probe's change lies among stored ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from biasret.errors import InputError, UnknownName
from biasret.flip import FLIPS, flip
from biasret.probe import typicality
from biasret.sentences import typical

CASES = {
    "AAL": "My sister doesn't take her pills and her hands are always cold.",
    "WME": "She been dizzy and she don't eat nothing.",
    "left": "Do voter ID laws stop illegal immigrants?",
    "neutral": "Will the death tax hurt family farms?",
    "right": "How does the estate tax affect family farms?",
}


@pytest.mark.parametrize("to", FLIPS)
class TestEveryFlip:
    def test_marks_turn_the_source_into_the_target(self, to):
        made = flip(CASES[to], to=to)
        assert made.is_changed
        pieces, at = [], 0
        for mark in made.marks:
            assert made.source[mark.start : mark.end] == mark.original
            assert made.target[mark.target_start : mark.target_end] == mark.replacement
            assert mark.why
            pieces += [made.source[at : mark.start], mark.replacement]
            at = mark.end
        assert "".join([*pieces, made.source[at:]]) == made.target

    def test_the_label_says_that_it_is_generated(self, to):
        label = flip(CASES[to], to=to).label
        assert label.startswith(("Synthetic", "Generated"))

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_blank_text_is_refused(self, to, text):
        with pytest.raises(InputError, match="empty"):
            flip(text, to=to)

    @pytest.mark.parametrize(
        "text", ["🤒", "\u202eabc", "a\x00b", "half \ud800 pair", "?" * 10_000]
    )
    def test_hostile_text_comes_back(self, to, text):
        made = flip(text, to=to)
        assert made.source == text
        assert made.notices or made.is_changed


def test_an_unknown_flip_names_those_there_are():
    with pytest.raises(UnknownName, match="AAL, WME, right, left, neutral"):
        flip("a question", to="centre")


class TestTypicality:
    def test_hand_worked(self):
        # |differences| 0, 0.1, 0.2, 0.2, 0.4; the probe's is 0.2.
        stored = np.array([0.0, -0.1, 0.2, -0.2, 0.4])
        found = typicality("lean@10", -0.2, stored)
        assert (found.n_less, found.n_equal, found.share_less) == (2, 2, 0.4)

    def test_an_overlap_is_compared_by_what_is_missing_from_one(self):
        found = typicality("overlap@10", 0.5, np.array([1.0, 0.9, 0.5, 0.1]), rest=1.0)
        assert (found.n_less, found.n_equal) == (2, 1)

    def test_thirds_that_differ_in_their_last_digit_are_equal(self):
        found = typicality("lean@3", 1 / 3, np.array([1 - 2 / 3]))
        assert found.n_equal == 1

    def test_without_stored_pairs_the_sentence_says_so(self):
        assert typicality("lean@10", 0.1, np.array([])) is None
        assert "cannot be said" in typical(None)

    @pytest.mark.parametrize(
        ("n_less", "words"),
        [(0, "smaller change than most"), (50, "typical"), (80, "larger"), (99, "unusually large")],
    )
    def test_the_verdict_follows_the_share(self, n_less, words):
        stored = np.concatenate([np.zeros(n_less), np.ones(100 - n_less)])
        assert words in typical(typicality("lean@10", 0.5, stored))


@pytest.mark.parametrize(
    ("to", "fields"),
    [
        ("AAL", {"text", "edits", "skipped", "config", "engine_version", "marks", "notices"}),
        ("WME", {"text", "edits", "skipped", "config", "engine_version"}),
        ("right", {"text", "edits", "mode", "topic", "frame", "skips", "one_sided", "left"}),
        ("neutral", {"text", "edits", "n_hits", "lean_before", "lean_after", "skips"}),
    ],
)
def test_the_document_holds_all_that_the_engine_said(to, fields):
    made = flip(CASES[to], to=to)
    document = json.loads(json.dumps(made.as_dict()))
    assert fields <= document.keys()
    assert document["text"] == made.target
    for edit in document["edits"]:
        assert CASES[to][edit["start"] : edit["end"]] == edit["original"]
