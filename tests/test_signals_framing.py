"""The framing engine's contract: cases, edits, errors, determinism."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biasret.errors import InputError, UnknownName
from biasret.signals.framing import (
    FRAMES,
    TEMPLATES,
    TERMS,
    TOPICS,
    detect,
    neutralise,
    variants,
)

CASES = list(
    csv.DictReader(
        Path(__file__).with_name("test_signals_framing_cases.csv").read_text("utf-8").splitlines()
    )
)

#: Cases whose expected text we do not share, with the text we give and the reason.
AMENDED = {
    "L18": (
        "Would a student loan bailout raise tuition?",
        "A bailout is one thing, so it takes an article, as the rule on articles itself says.",
    ),
}


def rebuilt(text, edits):
    """The wording that the edits make of the text; fails where their spans do not fit."""
    parts, at = [], 0
    for edit in edits:
        assert at <= edit.start <= edit.end
        assert text[edit.start : edit.end] == edit.original
        parts += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*parts, text[at:]])


def expected(case):
    return AMENDED.get(case["id"], (case["expected"],))[0]


def cases(*kinds):
    chosen = [case for case in CASES if case["id"][0] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[case["id"] for case in chosen])


def test_all_cases_are_here():
    assert len(CASES) == 115
    assert {case["id"][0] for case in CASES} == set("LNGDFA")


@cases("L")
def test_lexical(case):
    triple = variants(case["input"], intensity=2 if "intensity 2" in case["note"] else 1)
    wording = triple.variant(case["direction"].rpartition("_to_")[2])
    assert wording.text == expected(case)
    assert rebuilt(case["input"], wording.edits) == wording.text


@cases("N")
def test_neutralise(case):
    plain = neutralise(case["input"])
    assert plain.text == expected(case)
    assert plain.lean_after is None
    assert rebuilt(case["input"], plain.edits) == plain.text
    assert neutralise(plain.text).text == plain.text


@cases("G")
@pytest.mark.parametrize("mode", ["lexical", "auto"])
def test_unchanged(case, mode):
    triple = variants(case["input"], mode=mode, intensity=2)
    assert {triple.left.text, triple.neutral.text, triple.right.text} == {case["input"]}
    assert neutralise(case["input"]).text == case["input"]
    assert triple.notices


@cases("D")
def test_detect(case):
    found = detect(case["input"])
    assert (found.topic or "(none)", found.frame) == (case["topic"], case["frame"])


@cases("F")
def test_framed(case):
    # The cases are written for the first template of their frame; the seed chooses it.
    for seed in range(40):
        triple = variants(
            case["input"], mode="framed", topic=case["topic"], frame=case["frame"], seed=seed
        )
        if triple.template == f"{case['frame']}/0":
            break
    assert triple.template == f"{case['frame']}/0"
    wording = triple.variant(case["direction"])
    assert wording.text == expected(case)
    assert rebuilt(case["input"], wording.edits) == wording.text


@cases("A")
def test_tail(case):
    triple = variants(case["input"], mode="tail")
    assert triple.topic == case["topic"]
    wording = triple.variant(case["direction"])
    assert wording.text == expected(case)
    assert neutralise(wording.text).text == case["input"]


def test_one_call_gives_everything():
    text = "How would a tax on net worth and school vouchers affect teachers?"
    triple = variants(text)
    assert triple.left.text == (
        "How would a tax on net worth and public school privatization affect teachers?"
    )
    assert triple.right.text == "How would a tax on net worth and school choice affect teachers?"
    assert triple.neutral.text == text
    assert triple.neutral.edits == ()
    assert (triple.mode, triple.path, triple.topic) == ("lexical", "rules", "education")
    assert triple.n_swaps == {"left": 1, "right": 1}
    why = {skip.text: skip.why for skip in triple.skips}
    assert "loaded" in why["tax on net worth"]
    assert "another side of the issue" in why["teachers"]
    (edit,) = triple.right.edits
    assert (edit.kind, edit.lean_from, edit.lean_to) == ("term", "neutral", "right")
    assert edit.term == "education/public-school-privatization"
    assert triple.right.text[edit.target_start : edit.target_end] == "school choice"
    assert json.loads(json.dumps(triple.as_dict()))["right"]["text"] == triple.right.text


def test_loaded_words_need_intensity_two_and_are_neutral_below():
    text = "Is voter suppression a problem in Ohio?"
    calm = variants(text)
    assert {calm.left.text, calm.neutral.text, calm.right.text} == {
        "Are voting restrictions a problem in Ohio?"
    }
    assert "level 2" in calm.skips[0].why
    loud = variants(text, intensity=2)
    assert loud.left.text == text
    assert loud.right.text == "Are ballot security measures a problem in Ohio?"


def test_focus_shifts_only_on_request():
    text = "Will working families pay more?"
    still = variants(text, topic="taxes")
    assert not still.is_changed
    moved = variants("Will working families pay higher wages and taxes?", shift_focus=True)
    assert moved.right.text == "Will hardworking taxpayers pay higher wages and taxes?"


def test_a_term_of_one_side_is_marked():
    triple = variants("Is the estate tax fair?")
    assert triple.left.text == triple.original
    assert triple.right.text == "Is the death tax fair?"
    assert triple.one_sided == ("taxes/estate-tax",)
    assert triple.n_swaps == {"left": 0, "right": 1}


def test_auto_takes_the_tail_where_nothing_can_be_swapped():
    assert variants("Do voter ID laws work?", mode="auto").mode == "lexical"
    triple = variants("What will the new zoning rule change?", mode="auto")
    assert triple.mode == "tail"
    assert triple.left.text.endswith("renters and unhoused people?")
    mine = variants("Should I sell my house when zoning changes?", mode="auto")
    assert mine.left.text == mine.right.text == mine.original


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("Zoning vote delayed", "delayed: what would that mean for renters and owners?"),
        ("The zoning vote is off.", "off. What would that mean for renters and owners?"),
        ("Is zoning fair??", "fair, and what would that mean for renters and owners??"),
    ],
)
def test_tails_of_other_texts_come_off_exactly(text, ending):
    triple = variants(text, mode="tail")
    assert triple.neutral.text.endswith(ending)
    for wording in (triple.left, triple.neutral, triple.right):
        assert neutralise(wording.text).text == text
        assert rebuilt(text, wording.edits) == wording.text
    again = variants(triple.left.text, mode="tail")
    assert (again.left.text, again.right.text) == (triple.left.text, triple.right.text)
    assert rebuilt(triple.left.text, again.right.edits) == again.right.text


def test_framed_shares_phrase_and_template():
    text = "How will the Green New Deal affect energy prices in Ohio?"
    triple = variants(text, mode="framed", frame="economic")
    for wording in (triple.left, triple.neutral, triple.right):
        assert triple.topic_phrase in wording.text
        assert rebuilt(text, wording.edits) == wording.text
        assert 10 <= len(wording.text.split()) <= 25
    assert {"template", "slot"} <= {edit.kind for edit in triple.left.edits}
    seen = {variants(text, mode="framed", frame="economic", seed=s).template for s in range(20)}
    assert seen == {"economic/0", "economic/1"}


def test_framed_phrase_is_put_neutrally():
    triple = variants("Is the death tax ruining farms?", mode="framed", frame="economic")
    assert "death tax" not in triple.left.text + triple.neutral.text + triple.right.text
    assert "the estate tax" in triple.right.text


def test_no_topic_leaves_only_neutral():
    for mode in ("tail", "framed", "auto"):
        triple = variants("What is the best pizza in Chicago?", mode=mode)
        assert not triple.is_changed
        assert triple.notices


def test_lean_is_weighted_signed_and_bounded():
    assert detect("Is amnesty fair to illegal immigrants?").lean == 1.0
    assert detect("Do undocumented workers face wage theft?").lean == -1.0
    # One loaded left term against one common right one: (1 - 2) / 3.
    assert detect("Does voter suppression worry fans of school choice?").lean == pytest.approx(
        -1 / 3
    )
    assert detect("What is the capital of Peru?").lean is None


def test_words_common_to_all_sides_have_no_weight():
    found = detect("Is gerrymandering legal in Ohio?")
    assert [(hit.text, hit.stance, hit.is_common) for hit in found.hits] == [
        ("gerrymandering", "left", True)
    ]
    assert found.lean is None


def test_a_shared_wording_counts_as_neutral():
    assert [hit.stance for hit in detect("Is the estate tax fair?").hits] == ["neutral"]


def test_catalogues():
    assert len(TERMS) >= 198
    assert len(FRAMES) == 15
    assert next(iter(FRAMES)) == "economic"
    assert len(TOPICS) == 24
    assert len(TEMPLATES) == 30
    with pytest.raises(UnknownName, match="Did you mean 'economic'"):
        FRAMES["economics"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mode": "lexicl"}, UnknownName, "lexical"),
        ({"frame": "moral"}, UnknownName, "morality"),
        ({"topic": "gun"}, UnknownName, "guns"),
        ({"intensity": 3}, InputError, "found 3"),
    ],
)
def test_wrong_arguments_say_what_to_do(arguments, error, message):
    with pytest.raises(error, match=message):
        variants("Do gun laws work?", **arguments)


def test_a_text_is_needed():
    with pytest.raises(InputError, match="found int"):
        variants(3)


def test_the_same_bytes_in_every_process():
    script = (
        "import json; from biasret.signals.framing import variants, neutralise, detect\n"
        "texts = ['Do voter ID laws help the wealthy?', 'How do tariffs and gun laws work?',"
        " 'Will the radical left force amnesty through Congress?']\n"
        "print(json.dumps([variants(t, mode=m, intensity=2).as_dict() for t in texts"
        " for m in ('lexical', 'tail', 'framed')] + [neutralise(t).as_dict() for t in texts]"
        " + [detect(t).as_dict() for t in texts]))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1_000
