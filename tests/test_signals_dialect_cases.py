"""The cases of the specification, the licensing conditions, and how rules interact."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from biasret.signals.dialect import FEATURES, to_aal, to_wme
from biasret.signals.dialect.rules import RULES
from biasret.signals.dialect.view import REASONS

pytest.importorskip("spacy", reason="the parser is not installed: pip install spacy")

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CASES = rows("dialect_cases.csv")
LICENCES = rows("dialect_licences.csv")
FORWARD = [case for case in CASES if case["direction"] == "wme_to_aal"]
BACK = [case for case in CASES if case["direction"] == "aal_to_wme"]


def enabled(case: dict[str, str]) -> list[str] | None:
    return None if case["features"] == "all default-on" else case["features"].split(";")


def fold(text: str) -> str:
    """Lower case, contractions written out, no punctuation: the round trip's equality."""
    out = text.lower()
    for short, long in (
        ("can't", "can not"), ("won't", "will not"), ("n't", " not"), ("'re", " are"),
        ("'m", " am"), ("'ve", " have"), ("'s", " is"), ("cannot", "can not"),
    ):  # fmt: skip
        out = out.replace(short, long)
    return "".join(c for c in out if c.isalnum() or c == " ")


@pytest.mark.parametrize("case", FORWARD, ids=lambda case: case["id"])
def test_wme_to_aal(case: dict[str, str]) -> None:
    assert to_aal(case["input"], features=enabled(case), density=1).target == case["expected"]


@pytest.mark.parametrize("case", BACK, ids=lambda case: case["id"])
def test_aal_to_wme(case: dict[str, str]) -> None:
    assert to_wme(case["input"]).target == case["expected"]


@pytest.mark.parametrize("row", LICENCES, ids=lambda row: f"{row['feature']}-{row['code']}")
def test_each_condition_holds_its_rule_back(row: dict[str, str]) -> None:
    result = to_aal(row["text"], features=[row["feature"]], density=1)
    assert result.target == row["text"]
    codes = {s.code for s in result.skipped if s.feature == row["feature"]}
    assert row["code"] in codes


def test_every_reason_has_a_licence_case() -> None:
    token_only = {"not_sure"}
    assert set(REASONS) - token_only == {row["code"] for row in LICENCES}


@pytest.mark.parametrize("name", sorted(RULES))
def test_each_feature_makes_its_own_example(name: str) -> None:
    feature = FEATURES[name]
    if not feature.example_aal:
        assert feature.layer == "digital"
        return
    related = {
        "zero_aux_gonna": ["future_gon"], "future_gon": ["zero_aux_gonna"],
    }.get(name, [])  # fmt: skip
    result = to_aal(feature.example_wme, features=[name, *related], density=1)
    assert result.target == feature.example_aal
    assert {edit.feature for edit in result.edits} <= {name, *related}


@pytest.mark.parametrize("name", sorted(RULES))
def test_each_feature_leaves_its_negative_example(name: str) -> None:
    text = FEATURES[name].negative_example
    assert to_aal(text, features=[name], density=1).target == text


INTERACTIONS = [
    ("habitual_be;zero_copula_adj", "She is always tired.", "She always be tired."),
    ("aint_be;zero_copula_adj", "She is not tired.", "She ain't tired."),
    ("invariant_dont;negative_concord", "It doesn't help anyone.", "It don't help nobody."),
    ("aint_have;negative_concord", "I haven't had any rest.", "I ain't had no rest."),
    ("third_sg_zero;invariant_dont", "He doesn't sleep but he eats.", "He don't sleep but he eat."),
    ("third_sg_zero;been_perfect", "She has been coughing a lot.", "She been coughing a lot."),
    (
        "third_sg_zero;habitual_be",
        "My chest hurts every morning.",
        "My chest be hurting every morning.",
    ),
    ("zero_aux_prog;g_drop", "She is taking it.", "She takin it."),
    ("zero_aux_wh;g_drop", "Why are my hands shaking?", "Why my hands shakin?"),
    ("reduction;g_drop", "I am trying to sleep.", "I am tryna sleep."),
    (
        "zero_aux_yn;embedded_inversion",
        "Do you know if it is contagious?",
        "You know is it contagious?",
    ),
    ("exist_it;aint_be", "There is not a cure.", "There ain't a cure."),
    ("completive_done", "I have already taken it.", "I done already taken it."),
    ("me_coordinate;zero_aux_prog", "My husband and I are trying.", "Me and my husband trying."),
    ("possessive_s_zero;third_sg_zero", "My son's knee hurts me.", "My son knee hurts me."),
    ("negative_inversion;negative_concord", "Nobody can do anything.", "Can't nobody do anything."),
    ("aint_did;negative_concord", "I didn't eat any yesterday.", "I ain't eat any yesterday."),
    ("future_gon;aint_be", "He is not going to need it.", "He ain't gon need it."),
    ("future_gon", "He is going to need it.", "He is gon need it."),
    ("zero_copula_adj", "If you are pregnant, wait.", "If you pregnant, wait."),
    ("zero_copula_adj;zero_aux_prog", "We are tired because he is coughing.",
     "We tired because he coughing."),
    ("was_leveling", "Were you sick?", "Was you sick?"),
    ("negative_concord", "I can't sleep without any pills.", "I can't sleep without no pills."),
    ("negative_concord", "I don't have a fever.", "I don't have no fever."),
    ("negative_concord", "I can't find any of them.", "I can't find none of them."),
    ("third_sg_zero", "He eats and sleeps all day.", "He eat and sleep all day."),
    ("invariant_dont", "It doesnt itch.", "It dont itch."),
    ("aint_be", "It isn’t sore.", "It ain’t sore."),
    ("finna;zero_aux_gonna", "She is about to start chemo.", "She finna start chemo."),
    ("yall", "I want to hear from all of you.", "I want to hear from y'all."),
]  # fmt: skip


@pytest.mark.parametrize(("features", "text", "expected"), INTERACTIONS)
def test_interactions(features: str, text: str, expected: str) -> None:
    assert to_aal(text, features=features.split(";"), density=1).target == expected


#: The artefacts of published synthetic AAL (section 1.7 of the specification).
ARTEFACTS = [
    "My mother takes 5 mg of it for this disease.",
    "She doesn't have any signs of it.",
    "There is a dose of 10 mg/ml in a bottle.",
    "Is my mother going to die of the disease?",
    "In a patient undergoing dialysis, how is it monitored?",
]


@pytest.mark.parametrize("text", ARTEFACTS)
@pytest.mark.parametrize("seed", range(5))
def test_known_artefacts_cannot_come_out(text: str, seed: int) -> None:
    every = [f.name for f in FEATURES.values() if f.is_generated and f.layer != "digital"]
    for density in (0.3, 0.7, 1):
        out = f" {to_aal(text, features=every, density=density, seed=seed).target.lower()} "
        for kept in ("mg", "disease", "signs", "mother", "10 mg/ml", "5 mg", "patient"):
            assert (kept in text.lower()) == (kept in out)
        for wrong in (" mist", " sons", "mover", "desis", "for me", " ai no", " one "):
            assert wrong not in out
        assert " he " not in out or " he " in f" {text.lower()} "


def test_round_trip_of_the_table() -> None:
    changed = [case for case in FORWARD if case["input"] != case["expected"]]
    same = [fold(to_wme(c["expected"]).target) == fold(c["input"]) for c in changed]
    assert sum(same) / len(same) >= 0.85


def test_the_normaliser_leaves_wme_alone() -> None:
    assert [c["input"] for c in FORWARD if to_wme(c["input"]).is_changed] == []


#: A second pass may find a site that the first one opened; each with its reason.
NOT_IDEMPOTENT: dict[str, str] = {}


def test_idempotence() -> None:
    unstable = []
    for case in FORWARD:
        once = to_aal(case["input"], features=enabled(case), density=1).target
        if to_aal(once, features=enabled(case), density=1).target != once:
            unstable.append(case["id"])
    assert sorted(unstable) == sorted(NOT_IDEMPOTENT)
    assert len(NOT_IDEMPOTENT) <= 0.02 * len(FORWARD)
