"""The neutraliser's own rules, each with a text it must leave."""

import pytest

from biasret.signals.framing import neutralise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Evaluative adjectives.
        ("Is the radical, extreme gun control law fair?", "Is the gun law fair?"),
        ("Is it an outrageous tax on Ohio farms?", "Is it a tax on Ohio farms?"),
        ("Draconian rules hit farmers.", "Rules hit farmers."),
        ("Is a reckless amnesty next?", "Is a legalization program next?"),
        # Loaded verbs.
        ("Did they ram the bill through the Senate?", "Did they push the bill through the Senate?"),
        ("Will Congress slash school funding?", "Will Congress reduce school funding?"),
        ("GOP guts welfare programs", "GOP reduces welfare programs"),
        ("Will tariffs ruin the economy?", "Will tariffs affect the economy?"),
        ("Did he attack her speech?", "Did he criticize her speech?"),
        ("Officials admit that the plan cost more.", "Officials say that the plan cost more."),
        # Leading questions.
        ("Why won't Senator Lee admit that tax cuts failed?",
         "What does Senator Lee say about whether tax cuts failed?"),
        ("Why don't Democrats admit that crime fell?",
         "What do Democrats say about whether crime fell?"),
        ("Isn't it true that wages fell?", "Is it true that wages fell?"),
        ("How can anyone support tariffs?", "Why do people support tariffs?"),
        ("Shouldn't we tax robots?", "Should we tax robots?"),
        # Aliases.
        ("Is the climate hoax over?", "Is climate change over?"),
        ("What do gun grabbers want?", "What do supporters of stricter gun laws want?"),
        ("Should we defund the police?", "Should we reallocate police budgets?"),
        ("Are death taxes fair?", "Are estate taxes fair?"),
    ],
)  # fmt: skip
def test_neutral_wording(text, expected):
    plain = neutralise(text)
    assert plain.text == expected
    assert neutralise(expected).text == expected
    parts, at = [], 0
    for edit in plain.edits:
        assert text[edit.start : edit.end] == edit.original
        assert plain.text[edit.target_start : edit.target_end] == edit.replacement
        parts += [text[at : edit.start], edit.replacement]
        at = edit.end
    assert "".join([*parts, text[at:]]) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Is the new law dangerous?",  # the adjective is what is asked
        "Is it dangerous to sail in a storm?",
        "Why did the failed bill lose votes?",  # a fact about the bill
        "Is a historic district taxed?",
        "Who wrote the Radical Reform Act of 1867?",  # a name
        'Did she call it a "radical law"?',
        "Did the judge block the law?",  # what courts do
        "Why does the column block the view?",
        "Did the thief slash tires?",
        "How do I save for college?",
        "Will the school admit 40 students?",
        "Did the army attack the bridge?",
        "Why won't the car start?",
        "What is a gut feeling about the plan?",
        "Did the team force its way through the gate?",
        "Do not raise taxes: was that the 2019 promise?",
    ],
)
def test_left_as_it_is(text):
    assert neutralise(text).text == text


def test_insults_become_plain_names():
    # Assembled here so that the words stand nowhere in plain text.
    party, people = "demon" + "rats", "lib" + "tards"
    plain = neutralise(f"Why do {party} and {people} like taxes?")
    assert plain.text == "Why do Democrats and liberals like taxes?"
    assert {edit.kind for edit in plain.edits} == {"label"}
    assert neutralise(f"Is he a {party[:-1]}?").text == "Is he one of the Democrats?"
    assert neutralise(f'He said "{party}" on air.').text == f'He said "{party}" on air.'


def test_report_of_lean_and_hits():
    plain = neutralise("Does the death tax hurt the wealthy under a climate emergency?")
    assert plain.n_hits == 3
    # One right hit at level 1; left: one at level 1, one at level 2.
    assert plain.lean_before == pytest.approx((1 - 3) / 4)
    assert plain.lean_after is None
    assert all(edit.why for edit in plain.edits)


def test_too_little_left_keeps_the_text():
    plain = neutralise("Reckless, disastrous rules")
    assert plain.text == plain.original
    assert plain.edits == ()
    assert "too few words" in plain.notices[0]


def test_a_mixed_text_keeps_names_numbers_and_negation():
    text = "Why did 41 senators from Ohio not block the 2019 Smith amnesty bill?"
    plain = neutralise(text)
    for kept in ("Why", "41", "Ohio", "not", "2019", "Smith"):
        assert kept in plain.text
    assert "amnesty" not in plain.text
