"""The engine's promises: density, seed, spans, protection, backends, hostile text."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.errors import InputError, UnknownName
from biasret.signals.dialect import FEATURES, PROFILES, to_aal, to_wme, variants
from biasret.signals.dialect.contract import meaning_of, violation
from biasret.signals.dialect.engine import plan
from biasret.signals.dialect.features import enabled_features
from biasret.signals.dialect.protection import Shield, is_medical
from biasret.signals.dialect.sites import sites
from biasret.signals.dialect.tokens import Segment, segments_of, tokenise

pytest.importorskip("spacy", reason="the parser is not installed: pip install spacy")

TEXT = (
    "My mother is taking metformin 500 mg twice a day and she doesn't have any pain. "
    "Is she going to need surgery? I don't know if it is serious."
)


def every() -> list[str]:
    return [f.name for f in FEATURES.values() if f.is_generated]


# -- density, seed, spans -------------------------------------------------------------------


def test_density_zero_and_no_features_are_the_identity() -> None:
    assert to_aal(TEXT, density=0).target == TEXT
    assert to_aal(TEXT, density=0).edits == ()
    assert to_aal(TEXT, density=1, features=[]).target == TEXT
    assert to_aal(TEXT, density=1, profile="custom").target == TEXT


def test_the_draw_is_the_stated_hash() -> None:
    import hashlib

    winner = plan("He doesn't itch.", features=["invariant_dont"]).winners[0]
    key = b"5|S10|He doesn't itch.|3|doesn't"
    u = int.from_bytes(hashlib.sha256(key).digest()[:8], "big") / 2**64
    assert winner.draw(5) == u
    assert winner.threshold(5) == pytest.approx(u**0.9)
    below, above = u**0.9 - 1e-6, u**0.9 + 1e-6
    one = {"features": ["invariant_dont"], "min_edits": 0, "seed": 5}
    assert not to_aal("He doesn't itch.", density=below, **one).edits
    edit = to_aal("He doesn't itch.", density=above, **one).edits[0]
    assert edit.u == u
    assert edit.p == pytest.approx(above ** (1 / 0.9))


def test_a_feature_is_silent_below_its_least_density() -> None:
    text = "I didn't eat yesterday."
    for seed in range(20):
        one = {"features": ["aint_did"], "min_edits": 0, "seed": seed}
        assert not to_aal(text, density=0.49, **one).edits
    assert to_aal(text, features=["aint_did"], density=1).edits


def test_min_edits_raises_the_density_as_far_as_needed() -> None:
    prepared = to_aal(TEXT, density=0.01, min_edits=2, seed=3)
    assert len({e.bundle for e in prepared.edits}) == 2
    effective = prepared.config["effective_density"]
    assert isinstance(effective, float)
    assert effective > 0.01
    assert to_aal(TEXT, density=effective, min_edits=0, seed=3).target == prepared.target
    few = to_aal("Pain.", density=0.5, min_edits=3)
    assert few.edits == ()
    assert few.config["notices"] == ["No feature has a place in this text."]


def test_another_process_gives_the_same_output() -> None:
    code = (
        "from biasret.signals.dialect import to_aal, to_wme\n"
        f"r = to_aal({TEXT!r}, density=0.5, seed=11, profile='full')\n"
        "print(r.target); print([(e.start, e.end, e.replacement, e.u) for e in r.edits])\n"
        "print(to_wme(r.target).target)\n"
    )
    here = to_aal(TEXT, density=0.5, seed=11, profile="full")
    expected = (
        f"{here.target}\n{[(e.start, e.end, e.replacement, e.u) for e in here.edits]}\n"
        f"{to_wme(here.target).target}\n"
    )
    for hash_seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env=environment, encoding="utf-8",
        )  # fmt: skip
        assert done.stdout == expected


def test_what_follows_changes_nothing_before() -> None:
    first = "She is taking it and he doesn't want any help."
    alone = to_aal(first, density=0.6, seed=2, min_edits=0)
    longer = to_aal(first + " My knee hurts when I walk.", density=0.6, seed=2, min_edits=0)
    kept = [e for e in longer.edits if e.end <= len(first)]
    assert [(e.start, e.end, e.replacement) for e in kept] == [
        (e.start, e.end, e.replacement) for e in alone.edits
    ]


def test_edits_of_a_bundle_go_together_and_name_what_they_compose() -> None:
    result = to_aal("I have already taken it.", density=1)
    bundle = [e for e in result.edits if e.feature == "completive_done"]
    assert [(e.original, e.replacement) for e in bundle] == [("have", "done"), ("taken", "took")]
    assert len({e.bundle for e in bundle}) == 1
    assert bundle[0].composed == ("participle_leveling",)
    assert "“have”" in bundle[0].why
    assert bundle[0].meaning
    assert bundle[0].confidence == 1


def test_variants_share_the_plan_and_report_duplicates() -> None:
    found = variants(TEXT, k=4, density=0.5, seed=1)
    assert [r.config["seed"] for r in found] == [1, 2, 3, 4]
    assert [r.target for r in found] == [
        to_aal(TEXT, density=0.5, seed=s).target for s in (1, 2, 3, 4)
    ]
    same = variants("He doesn't itch.", k=3, density=1)
    assert [r.config["duplicate_of"] for r in same] == [None, 0, 0]


def test_skipped_says_why() -> None:
    result = to_aal(
        "I am weak. The \"he doesn't\" quote. He doesn't itch.", density=0.01, min_edits=0
    )
    reasons = {(s.feature, s.code): s.reason for s in result.skipped}
    assert reasons["zero_copula_adj", "first_person"] == "am is never dropped"
    assert "quotation" in reasons["invariant_dont", "protected"]
    drawn = next(s for s in result.skipped if s.code == "not_drawn")
    assert drawn.suggestion == "don't"
    lost = to_aal("I am trying to sleep.", density=1, features=["g_drop", "reduction"])
    assert ("g_drop", "lost") in {(s.feature, s.code) for s in lost.skipped}


# -- arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize("density", [-0.1, 1.1, float("nan")])
def test_a_density_out_of_range_is_refused(density: float) -> None:
    with pytest.raises(InputError, match="density"):
        to_aal("x", density=density)


def test_other_wrong_arguments_are_refused() -> None:
    with pytest.raises(UnknownName, match="habitual_be"):
        to_aal("x", features=["habitual_bee"])
    with pytest.raises(InputError, match="never generated"):
        to_aal("x", features=["indef_one"])
    with pytest.raises(InputError, match="list of names"):
        to_aal("x", features="g_drop")
    with pytest.raises(UnknownName, match="profile"):
        to_aal("x", profile="loud")
    with pytest.raises(InputError, match="Protection"):
        to_aal("x", protect="none")
    with pytest.raises(InputError, match="backend"):
        to_aal("x", backend="magic")
    with pytest.raises(InputError, match="text is needed"):
        to_aal(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k = 0"):
        variants("x", k=0)
    with pytest.raises(InputError, match="least number"):
        to_aal("x", min_edits=-1)


def test_profiles_hold_what_they_promise() -> None:
    assert PROFILES["grammar"] < PROFILES["grammar+ing"] < PROFILES["full"]
    assert PROFILES["full"] - PROFILES["grammar+ing"] == {
        "th_stop", "th_final", "r_less", "cluster_red",
    }  # fmt: skip
    assert not any(FEATURES[name].layer == "digital" for name in PROFILES["full"])
    assert enabled_features(None, "custom") == frozenset()


def test_excluded_features_have_no_rule() -> None:
    from biasret.signals.dialect.rules import RULES

    generated = {f.name for f in FEATURES.values() if f.is_generated}
    assert set(RULES) == generated
    excluded = {f.name for f in FEATURES.values() if f.status == "excluded"}
    assert {"indef_one", "demonstrative_article", "gender_and_it_swaps"} <= excluded


# -- protection and contract ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("take 500 mg now", ["500", "mg"]),
        ("it was 155/90 and 98.6 °F", ["155/90", "98.6 °F"]),
        ("see https://example.org/taking-it today", ["https://example.org/taking-it"]),
        ("mail me.at@example.org or @someone or #tag", ["me.at@example.org", "@someone", "#tag"]),
        ("he said “it isn’t any good” twice", ["“it isn’t any good”", "twice"]),
        ("run `is any` in [DATE]", ["`is any`", "[DATE]"]),
        ("she has IBS and takes Zoloft", ["IBS", "Zoloft"]),
        ("the tonsillitis after a gastroscopy", ["tonsillitis", "gastroscopy"]),
        ("the left and upper arm", ["left", "upper", "arm"]),
        ("I live in Ohio", ["Ohio"]),
    ],
)
def test_what_is_protected(text: str, kept: list[str]) -> None:
    segments = [Segment(text[a:b], a, tokenise(text[a:b])) for a, b in segments_of(text)]
    shield = Shield(text, segments=segments)
    spans = {text[s.start : s.end] for s in shield.spans}
    for piece in kept:
        start = text.index(piece)
        assert all(
            shield.reason(i, i + 1) for i in range(start, start + len(piece)) if text[i] > " "
        )
        assert any(piece in span or span in piece for span in spans)


def test_strict_protection_keeps_symptom_words() -> None:
    text = "My leg keeps swelling and I keep walking."
    one = {"features": ["g_drop"], "density": 1.0}
    assert to_aal(text, **one).target == "My leg keeps swellin and I keep walkin."
    assert (
        to_aal(text, protect="strict", **one).target == "My leg keeps swelling and I keep walkin."
    )


def test_medical_words() -> None:
    assert all(map(is_medical, ("metformin", "appendicitis", "nephrology", "fevers", "amlodipine")))
    assert not any(map(is_medical, ("walking", "mother", "nice", "taking", "any")))


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("Take 5 mg.", "Take 6 mg.", "numbers"),
        ("It hurts.", "It hurts?", "mark"),
        ("I can go.", "I might can go.", "modals"),
        ("My leg.", "Her leg.", "pronouns"),
        ("He is sick.", "She is sick.", "pronouns"),
        ("It is sore.", "It is not sore.", "negator"),
        ("No signs of it.", "Any signs of it.", "negation"),
        ("No signs of it.", "No sons of it.", "content"),
        ("mother", "mover", "content"),
        ("the disease", "the desis", "content"),
    ],
)
def test_the_contract_refuses_a_change_of_meaning(source: str, target: str, words: str) -> None:
    fault = violation(source, target, features=[])
    assert fault is not None
    assert words in fault


def test_the_contract_lets_declared_changes_pass() -> None:
    pairs = [
        ("I am really tired.", "I am real tired.", "degree_adv_flat"),
        ("There is a rash.", "It's a rash.", "exist_it"),
        ("I need to find a nurse.", "I need to find me a nurse.", "personal_dative"),
        ("I don't have any pain.", "I don't have no pain.", "negative_concord"),
        ("Nobody can say.", "Can't nobody say.", "negative_inversion"),
    ]
    for source, target, feature in pairs:
        assert violation(source, target, features=[feature]) is None
    for source, target, feature in pairs[1:]:
        assert violation(source, target, features=[]) is not None, feature


def test_checks_count_what_was_compared() -> None:
    result = to_aal(TEXT)
    assert result.checks["numbers"] == 1
    assert result.checks["marks"] == 3
    assert result.checks["protected"] >= 3
    assert meaning_of(TEXT).n_negators == 2


# -- backends -------------------------------------------------------------------------------


def test_the_token_backend_runs_its_subset_and_names_the_rest() -> None:
    result = to_aal("She isn't sick and he doesn't want any help.", density=1, backend="tokens")
    assert result.target == "She ain't sick and he don't want no help."
    needs = result.config["needs_parser"]
    assert isinstance(needs, list)
    assert "zero_copula_adj" in needs
    assert "aint_be" not in needs
    assert result.config["backend"] == "tokens"


@pytest.mark.parametrize(
    ("feature", "text", "expected"),
    [
        ("aint_be", "The cream is not working.", "The cream ain't working."),
        ("aint_have", "I haven't seen it.", "I ain't seen it."),
        ("aint_have", "I have not a clue.", "I have not a clue."),
        ("invariant_dont", "It doesn't itch.", "It don't itch."),
        ("negative_concord", "I can't find any relief.", "I can't find no relief."),
        ("negative_concord", "I don't know if any work.", "I don't know if any work."),
        ("exist_it", "There is a lump here.", "It's a lump here."),
        ("exist_it", "The pain there is bad.", "The pain there is bad."),
        ("future_gon", "He is going to need it.", "He is gon need it."),
        ("future_gon", "He is going to the clinic.", "He is going to the clinic."),
        ("finna", "I am about to start it.", "I'm finna start it."),
        ("been_perfect", "I have been coughing.", "I been coughing."),
        ("been_perfect", "My ears have been ringing.", "My ears have been ringing."),
        ("was_leveling", "They were late.", "They was late."),
        ("was_leveling", "The dose were late.", "The dose were late."),
        ("cond_was", "If I were you, would you?", "If I was you, would you?"),
        ("them_demonstrative", "Those pills work.", "Them pills work."),
        ("them_demonstrative", "Those who smoke.", "Those who smoke."),
        ("yall", "Do you guys know?", "Do y'all know?"),
        ("reflexive_regular", "He fed himself.", "He fed hisself."),
        ("degree_adv_flat", "I am really tired.", "I am real tired."),
        ("degree_adv_flat", "I really need it.", "I really need it."),
        ("than_what", "It is worse than I thought.", "It is worse than what I thought."),
        ("g_drop", "I keep walking.", "I keep walkin."),
    ],
)
def test_token_safe_rules_without_a_parse(feature: str, text: str, expected: str) -> None:
    result = to_aal(text, features=[feature], density=1, backend="tokens")
    assert result.target == expected
    assert FEATURES[feature].token_safe


def test_a_token_doubt_is_said() -> None:
    found = to_aal("My ears have been ringing.", features=["been_perfect"], backend="tokens")
    assert {s.code for s in found.skipped} == {"not_sure"}
    there = to_aal("The pain there is bad.", features=["exist_it"], backend="tokens")
    assert {s.code for s in there.skipped} == {"not_sure"}


def test_importing_the_package_loads_no_parser() -> None:
    code = (
        "import sys, biasret.signals.dialect as d\n"
        "d.to_aal('He does not itch.', backend='tokens')\n"
        "print([m for m in ('spacy', 'torch', 'thinc', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from biasret.errors import NotInstalled

    monkeypatch.setenv("BIASRET_SPACY_MODEL", "no_such_model_package")
    with pytest.raises(NotInstalled, match="pip install"):
        to_aal("x", backend="parser")
    assert to_aal("He does not itch.", density=1).config["backend"] == "tokens"


def test_sites_lists_every_licensed_place() -> None:
    found = sites(["She is weak and he is sick."], features=["zero_copula_adj"])
    assert len(found[0]) == 2


def test_threads_share_one_parser() -> None:
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"She is taking {n} pills and doesn't have any help." for n in range(40)]
    expected = [to_aal(text, density=1).target for text in texts]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda text: to_aal(text, density=1).target, texts * 3))
    assert found == expected * 3


# -- hostile text ---------------------------------------------------------------------------

HOSTILE = [
    "", " ", "\n\n", "\x00", "\ud800", "is \udfff not", "‮is not any", "😀 isn't 😀", "." * 3000,
    "a" * 100_000, "isn't " * 1_500, "'" * 500, '"' * 501, "[" * 400, "`" * 99, "İSN'T Any ǅ",
    "he doesn't\u200bwant any", "She's's's", "''s", "n't", "'re 'm", "I’m not — he’s “not",
    "\t\tam",
    "م هذا not any", "is/are not/any", "_is_ *not*", "can'tn't", "don't" * 200,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_crashes_nothing(text: str) -> None:
    for backend in ("tokens", "parser"):
        rewrite = to_aal(text, density=1, features=every(), backend=backend)
        assert rewrite.source == text
        at = 0
        for edit in rewrite.edits:
            assert text[edit.start : edit.end] == edit.original
            assert rewrite.target[edit.target_start : edit.target_end] == edit.replacement
            assert edit.start >= at
            at = edit.end
    to_wme(text)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_unicode_text_is_handled(text: str) -> None:
    rewrite = to_aal(text, density=1, features=every(), backend="parser")
    assert to_aal(rewrite.source, density=0).target == text
    assert to_wme(text).source == text


PIECES = [
    "is", "not", "n't", "any", "'s", "He", "they", "going", "to", "take", "5", "mg", " ", "  ",
    "?", ".", ",", "\n", "'", '"', "I", "am", "been", "there", "the", "pills", "have",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from(["", " "]))
def test_any_order_of_trigger_words_keeps_the_contract(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)
    rewrite = to_aal(text, density=1, features=[n for n in every() if n != "informal_digital"])
    assert meaning_of(rewrite.target).numbers == meaning_of(text).numbers
    assert meaning_of(rewrite.target).marks == meaning_of(text).marks


# -- speed ----------------------------------------------------------------------------------


def test_speed_of_one_question() -> None:
    questions = [
        f"My {kin} is taking {n} pills a day and doesn't have any relief, is it serious?"
        for kin in ("mother", "son", "aunt", "wife") for n in range(2, 12)
    ]  # fmt: skip
    to_aal("Warm up.", backend="parser")
    to_aal("Warm up.", backend="tokens")
    for backend, median in (("parser", 0.060), ("tokens", 0.004)):
        times = []
        for question in questions:
            start = time.process_time()
            to_aal(question, backend=backend)
            times.append(time.process_time() - start)
        # Processor time, doubled: other processes may share the machine.
        assert sorted(times)[len(times) // 2] < median
