"""A typed question becomes two wordings; what is known of them; what gives pause about them."""

from __future__ import annotations

import pandas as pd
import pytest

from biasret.errors import InputError
from biasret.probe import SWITCHES, Known, Question, Wording, detected, mitigated, warnings, worded

SISTER = "My sister doesn't sleep and her hands are always cold."
ESTATE = "How does the estate tax affect family farms?"


def pair(a: str, b: str, *, switch: str = "AAL", origin: str = "edited") -> Question:
    sides = SWITCHES[switch].sides
    return Question("", switch, Wording(sides[0], a, origin), Wording(sides[1], b, origin))


class TestSwitches:
    @pytest.mark.parametrize("name", SWITCHES)
    def test_sides_stand_in_the_same_order_everywhere(self, name):
        assert SWITCHES[name].sides in (("WME", "AAL"), ("left", "right"))
        text = ESTATE if SWITCHES[name].signal == "framing" else SISTER
        made = worded(text, switch=name)
        assert (made.a.group, made.b.group) == SWITCHES[name].sides

    def test_to_aal_the_typed_text_is_wme(self):
        made = worded(SISTER, switch="AAL", settings={"density": 0.4})
        assert (made.a.text, made.a.origin, made.a.flip) == (SISTER, "typed", None)
        assert made.b.origin == "generated"
        assert made.b.flip.source == SISTER

    def test_to_wme_the_typed_text_is_aal(self):
        text = "He don't have no fever."
        made = worded(text, switch="WME")
        assert (made.b.text, made.b.origin) == (text, "typed")
        assert made.a.text == "He doesn't have any fever."

    def test_framing_writes_both_sides(self):
        made = worded(ESTATE, switch="framing", settings={"mode": "lexical"})
        assert made.a.text == ESTATE
        assert "death tax" in made.b.text
        assert made.a.flip is not None

    def test_nothing_typed_is_refused(self):
        for a, b in ((None, None), ("one", None), (None, "other"), ("one", " ")):
            with pytest.raises(InputError, match="type a question"):
                worded("  ", switch="AAL", a=a, b=b)

    def test_both_wordings_given_need_no_typed_text(self):
        made = worded("", switch="framing", a="one", b="other")
        assert [(one.text, one.origin) for one in (made.a, made.b)] == [
            ("one", "edited"),
            ("other", "edited"),
        ]

    def test_a_setting_out_of_range_is_refused(self):
        with pytest.raises(InputError):
            worded(SISTER, switch="AAL", settings={"density": 7})


class TestKnown:
    known = Known("c1", frozenset({SISTER, "stored counterpart"}), ("source",), ("answer",))

    def find(self, text: str) -> Known | None:
        return self.known if text in self.known.texts else None

    def test_what_an_engine_wrote_keeps_the_gold(self):
        made = worded(SISTER, switch="AAL", find=self.find)
        assert (made.exclude, made.gold) == (("source",), ("answer",))

    def test_what_is_stored_in_the_cell_keeps_it_and_is_called_stored(self):
        made = worded("", switch="AAL", a=SISTER, b="stored counterpart", find=self.find)
        assert made.gold == ("answer",)
        assert (made.a.origin, made.b.origin) == ("stored", "stored")

    def test_what_a_hand_wrote_may_have_another_answer(self):
        made = worded(SISTER, switch="AAL", b="My knee hurt.", find=self.find)
        assert made.known is None
        assert made.gold == ()
        assert worded("My knee hurt.", switch="AAL", a=SISTER, find=self.find).known is None

    def test_both_sides_of_a_stored_question_framed(self):
        known = Known("c", frozenset({ESTATE}), ("s",))
        made = worded(ESTATE, switch="framing", find=lambda text: known if text == ESTATE else None)
        assert made.exclude == ("s",)

    def test_from_the_rows_of_a_cell(self):
        cell = pd.DataFrame({"text": ["a", "b"], "source_doc_ids": [["d2", "d1"], None]})
        gold = pd.DataFrame({"doc_id": ["g", "g"]})
        assert Known.of("c", cell, gold) == Known("c", frozenset("ab"), ("d1", "d2"), ("g",))


class TestMitigation:
    def test_aal_is_translated_and_wme_left_alone(self):
        question = worded("He don't have no fever.", switch="WME")
        a, b = mitigated(question)
        assert a is question.a
        assert b.text == "He doesn't have any fever."
        assert b.group == "AAL"

    def test_both_framings_meet_in_the_middle(self):
        a, b = mitigated(worded(ESTATE, switch="framing"))
        assert a.text == b.text == ESTATE

    def test_blank_stays_blank(self):
        assert mitigated(pair("a", " "))[1].text == " "


class TestDetected:
    def test_aal_where_wme_was_expected(self):
        found = detected("He don't have no fever.", switch="AAL")
        assert found.switch == "WME"
        assert any(name.startswith("negative concord") for name in found.found)

    def test_it_suggests_nothing_where_aal_was_expected(self):
        assert detected("He don't have no fever.", switch="WME").switch is None
        assert "No AAL feature" in detected("He has a fever.", switch="WME").sentence

    def test_wme_says_nothing(self):
        assert detected("He has a fever.", switch="AAL").sentence == ""
        assert detected("  ", switch="AAL").sentence == ""

    def test_leaning_words_with_their_side(self):
        found = detected("Will the death tax hurt farms?", switch="framing")
        assert found.found == ("right: “death tax”",)
        assert detected("Is it raining?", switch="framing").found == ()
        # A neutral term of the lexicon is no lean.
        assert detected(ESTATE, switch="framing").found == ()


class TestWarnings:
    @pytest.mark.parametrize("switch", ["AAL", "framing"])
    def test_what_the_engines_write_gives_no_pause(self, switch):
        assert warnings(worded(ESTATE if switch == "framing" else SISTER, switch=switch)) == ()

    def test_length(self):
        said = warnings(pair("how to treat my cold", "how to treat my cold " * 3))
        assert any("5 and 15 words" in one for one in said)

    def test_content(self):
        said = warnings(pair("flour prices rise again", "school buses run late"))
        assert any("share only 0%" in one for one in said)

    def test_numbers_and_negation_of_dialect(self):
        said = warnings(pair("take 5 mg of it daily", "take 50 mg of it daily"))
        assert said == ("Meaning: the numbers changed: ['5'] to ['50'].",)
        (said,) = warnings(pair("the pills help my fever", "the pills don't help my fever"))
        assert "negator" in said or "negation" in said

    def test_numbers_and_negation_of_framing(self):
        said = warnings(pair("cut 5 jobs in town", "cut 9 jobs in town", switch="framing"))
        assert said == ("Meaning: the numbers differ, 5 and 9.",)
        a, b = "should the town tax farms", "should the town not tax farms"
        assert warnings(pair(a, b, switch="framing")) == (
            "Meaning: one wording is negated and the other is not.",
        )

    def test_negative_concord_is_no_second_negation(self):
        said = warnings(pair("He doesn't have any fever.", "He don't have no fever."))
        assert said == ()

    def test_the_same_text_or_a_blank_side_gives_none(self):
        assert warnings(pair("a", "a")) == ()
        assert warnings(pair("a", "")) == ()
