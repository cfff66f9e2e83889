"""Articles, agreement, capitals, number, possessives, overlaps."""

import pytest

from biasret.signals.framing import TERMS, Wording, variants
from biasret.signals.framing.editing import Change, apply, compose
from biasret.signals.framing.inflect import capitals_of, in_capitals, indefinite, other_number
from biasret.signals.framing.lexicon import matches
from biasret.signals.framing.tokens import read


@pytest.mark.parametrize(
    ("text", "stance", "expected"),
    [
        # Articles.
        ("Is a legalization program fair?", "right", "Is amnesty fair?"),
        ("Is amnesty fair?", "left", "Is a pathway to citizenship fair?"),
        ("The legalization program failed.", "right", "Amnesty failed."),
        ("A legalization program failed.", "left", "A pathway to citizenship failed."),
        ("Would a carbon tax pass?", "right", "Would an energy tax pass?"),
        ("Would an energy tax pass?", "neutral", "Would a carbon tax pass?"),
        ("Would a carbon tax pass?", "left", "Would carbon pricing pass?"),
        ("Would carbon pricing pass?", "right", "Would an energy tax pass?"),
        ("Is the oil and gas industry in debt?", "right", "Are American energy producers in debt?"),
        ("Are American energy producers in debt?", "left", "Is the fossil fuel industry in debt?"),
        ("Who pays for the welfare state?", "neutral", "Who pays for assistance programs?"),
        ("Who pays for assistance programs?", "left", "Who pays for the social safety net?"),
        ("Obamacare ploy fails", "neutral", "Affordable Care Act ploy fails"),
        # Agreement: in front of the subject, behind it, and where the term is no subject.
        ("Are school vouchers popular?", "right", "Is school choice popular?"),
        ("Why aren't school vouchers popular?", "right", "Why isn't school choice popular?"),
        ("Have spending cuts worked?", "left", "Has austerity worked?"),
        ("Critics say spending cuts were bad.", "left", "Critics say austerity was bad."),
        ("The cost of spending cuts is high.", "left", "The cost of austerity is high."),
        ("Cities have rental regulations.", "right", "Cities have rent control mandates."),
        ("States have spending cuts ahead.", "left", "States have austerity ahead."),
        ("Are school vouchers and loans popular?", "right", "Are school choice and loans popular?"),
        ("Did these spending cuts pass?", "left", "Did this austerity pass?"),
        ("These spending cuts were late.", "left", "This austerity was late."),
        ("School vouchers help pupils.", "right", "School choice helps pupils."),
        ("Will school vouchers help pupils?", "right", "Will school choice help pupils?"),
        # Capitals.
        ("SPENDING CUTS LOOM", "left", "AUSTERITY LOOM"),
        ("Spending Cuts Hit State Library", "right", "Fiscal Responsibility Hit State Library"),
        ("Spending cuts loom.", "right", "Fiscal responsibility loom."),
        ("Is single-payer health care popular?", "left", "Is Medicare for All popular?"),
        ("Medicare for All is popular.", "right", "Socialized medicine is popular."),
        # Number of one.
        ("Did a worker without legal status sue?", "left", "Did an undocumented worker sue?"),
        ("A semiautomatic rifle was sold.", "left", "An assault weapon was sold."),
        ("Is one tax increase enough?", "right", "Is one tax hike enough?"),
        ("Do minimum wages differ?", "left", "Do living wages differ?"),
        ("Is a person without housing counted?", "left", "Is an unhoused person counted?"),
        # Possessives.
        ("Is Obamacare's future safe?", "left", "Is the Affordable Care Act's future safe?"),
        ("Do illegal immigrants' sons enroll?", "left", "Do undocumented immigrants' sons enroll?"),
        ("Is the estate tax’s rate fair?", "right", "Is the death tax’s rate fair?"),
        ("Are spending cuts' effects known?", "left", "Are austerity's effects known?"),
        # Overlaps: the longest wins.
        ("Are school voucher programs fair?", "right", "Are education freedom programs fair?"),
        ("Do restrictive voter ID laws work?", "right", "Do commonsense voter ID laws work?"),
        ("Do voter-ID laws work?", "left", "Do restrictive voter ID laws work?"),
        ("Is right to work law fair?", "left", "Is union-busting law fair?"),
        ("Is diversity, equity & inclusion fair?", "right", "Is DEI bureaucracy fair?"),
        # A term that modifies a noun.
        ("Did the amnesty bill pass?", "neutral", "Did the legalization program bill pass?"),
        ("Is the undocumented immigrant population growing?", "neutral",
         "Is the unauthorized immigrant population growing?"),
    ],
)  # fmt: skip
def test_rewording(text, stance, expected):
    assert variants(text).variant(stance).text == expected


def test_verbs_behind_a_subject_agree_only_where_listed():
    # "Loom" is not listed: a word that no rule knows stays as typed.
    assert variants("Spending cuts loom.").left.text == "Austerity loom."


def test_a_term_that_cannot_stand_there_is_left_and_said():
    triple = variants("Did the amnesty bill pass?")
    for wording in (triple.left, triple.neutral, triple.right):
        assert wording.text == "Did the legalization program bill pass?"
    assert "cannot stand before" in triple.skips[0].why


@pytest.mark.parametrize(
    ("word", "article"),
    [("union", "a"), ("uninsured", "an"), ("unborn", "an"), ("universal", "a"), ("US", "a"),
     ("hour", "an"), ("home", "a"), ("NRA", "an"), ("NATO", "a"), ("LGBTQ", "an"), ("SNAP", "a"),
     ("European", "a"), ("one", "a"), ("illegal", "an"), ("AMNESTY", "an"), ("Obamacare", "an")],
)  # fmt: skip
def test_indefinite_article(word, article):
    assert indefinite(word) == article


@pytest.mark.parametrize(
    ("text", "number", "other"),
    [
        ("immigrants without legal status", "pl", "immigrant without legal status"),
        ("book bans", "pl", "book ban"),
        ("trade policies", "pl", "trade policy"),
        ("ballot drop boxes", "pl", "ballot drop box"),
        ("estate tax", "sg", "estate taxes"),
        ("people without housing", "pl", "person without housing"),
        ("amnesty", "mass", None),
        ("people who use drugs", "pl", None),
    ],
)
def test_other_number(text, number, other):
    assert other_number(Wording(text, number)) == other


def test_number_goes_there_and_back():
    for term in TERMS.values():
        for stance in ("left", "neutral", "right"):
            wording = term.wording(stance)
            other = other_number(wording)
            if other is not None:
                back = Wording(other, "sg" if wording.number == "pl" else "pl")
                assert other_number(back) == wording.text


def test_capitals():
    def style(surface, canonical="death tax", **rest):
        return capitals_of(
            surface, canonical, **{"is_first": False, "is_title_case": False, **rest}
        )

    assert style("DEATH TAX") == "upper"
    assert style("Death Tax") == "title"
    assert style("Death tax", is_first=True) == "sentence"
    assert style("death tax") == "plain"
    assert style("Obamacare", "Obamacare") == "plain"
    assert in_capitals("Affordable Care Act", "plain") == "Affordable Care Act"
    assert in_capitals("tax on net worth", "title") == "Tax on Net Worth"


def test_matches_do_not_overlap_and_are_in_order():
    document = read("restrictive voter ID laws, voter ID laws and the wealthy")
    found = matches(document)
    assert [document.text[match.start : match.end] for match in found] == [
        "restrictive voter ID laws",
        "voter ID laws",
        "the wealthy",
    ]


def test_a_comma_or_stop_ends_a_term():
    assert not matches(read("I bought a gun. Safety first: estate, tax"))


def test_apply_drops_overlaps_and_keeps_order():
    changes = [
        Change(0, 3, "the", "term", "w"),
        Change(2, 5, "X", "article", "w"),
        Change(4, 4, "big ", "article", "w"),
    ]
    text, edits = apply("one two", changes)
    assert text == "the big two"
    assert [(edit.target_start, edit.target_end) for edit in edits] == [(0, 3), (4, 8)]


def test_compose_joins_two_rounds():
    text = "aa bb cc"
    middle, first = apply(text, [Change(0, 2, "x", "term", "w"), Change(6, 8, "zzzz", "verb", "w")])
    final, second = apply(
        middle, [Change(0, 1, "long", "term", "w"), Change(2, 4, "", "verb", "w")]
    )
    edits = compose(text, first, middle, second, final)
    parts, at = [], 0
    for edit in edits:
        assert text[edit.start : edit.end] == edit.original
        assert final[edit.target_start : edit.target_end] == edit.replacement
        parts += [text[at : edit.start], edit.replacement]
        at = edit.end
    assert "".join([*parts, text[at:]]) == final == "long  zzzz"
