"""Sense guards: for each, texts it blocks and texts it lets through."""

import pytest

from biasret.signals.framing import TERMS, detect, neutralise, variants
from biasret.signals.framing.guards import GUARDS

# term: texts in which its words mean something else, texts in which they are meant.
TERM_GUARDS = {
    "immigration/pathway-to-citizenship": (
        ["Is amnesty available for parking tickets?", "Does tax amnesty raise revenue?"],
        ["Would amnesty change the labor market?"],
    ),
    "immigration/dreamers": (
        ["Are dreamers more creative than planners?"],
        ["Should Congress protect Dreamers?", "Does DACA protect dreamers?"],
    ),
    "immigration/newcomers": (
        ["Is the chess club open to newcomers?"],
        ["Should the border be open to newcomers?"],
    ),
    "guns/gun-safety": (
        ["When is the gun safety course in Dayton?"],
        ["Does gun safety matter to voters?"],
    ),
    "guns/weapons-of-war": (
        ["Did Ukraine and NATO send weapons of war, troops and sanctions?"],
        ["Should stores sell weapons of war?"],
    ),
    "guns/gun-violence": (
        ["Did violent crime pay in the film?"],
        ["Do police reports show a drop in violent crime?"],
    ),
    "abortion/pro-choice": (
        ["Is she pro-choice?"],
        ["Do pro-choice voters turn out?"],
    ),
    "taxes/the-wealthy": (
        ["Did the rich sauce win?", "Do the rich and famous pay?"],
        ["Should the rich pay more?", "Is it time to tax the wealthy?"],
    ),
    "policing/people-who-are-incarcerated": (
        ["Was the convicted criminals exchange a swap?"],
        ["How are convicted criminals housed in Ohio?"],
    ),
    "policing/protesters": (
        ["Were the peaceful protesters heard?", "Were convicted rioters fined?"],
        ["Did protesters block the road in Ohio?"],
    ),
    "policing/uprising": (
        ["Was the movie a laugh riot?", "Did a voter uprising sink the mayor?"],
        ["Did police stop the riots in Baltimore?", "Was it an uprising against police?"],
    ),
    "policing/community-safety": (
        ["Which Law and Order episode starred him?"],
        ["Do voters want law and order?"],
    ),
    "elections/vote-by-mail": (
        ["Can residents vote by mail in Ohio?"],
        ["Is vote by mail safe in Ohio?"],
    ),
    "education/educators": (
        ["Did the museum honor its educators?"],
        ["Do school boards listen to educators?"],
    ),
    "education/fully-funded-public-schools": (
        ["Are fully funded public schools in the border visa plan for immigrants?"],
        ["Do voters want fully funded public schools and better teachers?"],
    ),
    "gender/sex-assigned-at-birth": (
        ["Can Ohio certificates list sex assigned at birth?"],
        ["Do bathroom rules depend on sex assigned at birth?"],
    ),
    "labour/corporate-greed": (
        ["Is the novel about corporate greed any good?"],
        ["Does corporate greed keep wages low?"],
    ),
    "labour/working-families": (
        ["Which working families live at the zoo?"],
        ["Do tax cuts help working families?"],
    ),
    "trade/trade-war": (
        ["Did the NFL start a trade war over quarterbacks?"],
        ["Did the trade war raise prices?"],
    ),
    "foreign-policy/diplomatic-engagement": (
        ["Was appeasement right in 1938 at Munich?"],
        ["Is a nuclear deal with sanctions relief appeasement by US diplomacy?"],
    ),
    "foreign-policy/military-aggression": (
        ["Was the missile test a show of strength by US allies?"],
        ["Was the troop parade a show of strength?"],
    ),
    "religion/license-to-discriminate": (
        ["What does the Religious Freedom Restoration Act say?"],
        ["Does the ruling protect religious freedom?"],
    ),
    "religion/holiday-season": (
        ["When does the holiday season start at the mall?"],
        ["Is there a war on the Christmas season?"],
    ),
    "speech/disinformation": (
        ["Is disinformation about polling places common?"],
        ["Should platforms remove disinformation?"],
    ),
    "speech/social-justice": (
        ["Where is the social justice institute?"],
        ["Do voters care about social justice?"],
    ),
    "speech/independent-media": (
        ["Is social independent media a thing?"],
        ["Do voters trust independent media?"],
    ),
    "welfare/earned-benefits": (
        ["Which iOS entitlements does the app need?"],
        ["Should Congress cut entitlements?"],
    ),
    "race/racial-justice": (
        ["What does the Racial Justice Act say?"],
        ["Do voters care about racial justice?"],
    ),
    "economy/price-gouging": (
        ["Was the price gouging at the concert real?"],
        ["Do higher wages and inflation hide price gouging?"],
    ),
    "politics/far-right": (
        ["Is he in the far right lane?", "Did the far-right candidate win in Ohio?"],
        ["Will the far right win seats in Ohio?"],
    ),
    "politics/big-donors": (
        ["Who are the big donors of organs?"],
        ["Do big donors pick senators?"],
    ),
    "public-health/public-health-measures": (
        ["Was the school on lockdown after the bomb threat?", "Do lockdowns on phones work?"],
        ["Did the coronavirus lockdown slow the virus?"],
    ),
}


def leaning(text):
    return {hit.term for hit in detect(text).hits if hit.stance != "neutral"}


def found(text):
    return {hit.term for hit in detect(text).hits}


def test_every_guarded_term_has_its_texts():
    # "fixed" is no test of the text: it says that a term has one number.
    guarded = {
        name for name, term in TERMS.items() if any(guard != "fixed" for guard in term.guards)
    }
    assert guarded == set(TERM_GUARDS)


def test_every_kind_of_guard_is_used():
    used = {guard.partition(":")[0] for term in TERMS.values() for guard in term.guards}
    assert used == set(GUARDS)


@pytest.mark.parametrize(
    ("term", "text"), [(term, text) for term, (texts, _) in TERM_GUARDS.items() for text in texts]
)
def test_another_sense_is_left(term, text):
    assert term not in found(text)
    triple = variants(text, intensity=2, shift_focus=True)
    edited = {edit.term for w in (triple.left, triple.right, triple.neutral) for edit in w.edits}
    assert term not in edited


@pytest.mark.parametrize(
    ("term", "text"), [(term, text) for term, (_, texts) in TERM_GUARDS.items() for text in texts]
)
def test_the_meant_sense_is_found(term, text):
    assert term in found(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('He said "amnesty" twice in Ohio.', "quotation"),
        ("He said “amnesty” twice in Ohio.", "quotation"),
        ("He said 'amnesty' twice in Ohio.", "quotation"),
        ("See www.example.org/death-tax now", "web address"),
        ("Write to death-tax@example.org now", "e-mail"),
        ("Is #amnesty trending? See #Amnesty", "hashtag"),
        ("Have you read *Death tax* yet?", "italics"),
        ("What does the Social Justice Institute do?", "name"),
        ("Is Obamacare popular in Canada, or single-payer health care in France?", None),
        ("Does single-payer health care work in France?", "another country"),
        ("Does gun confiscation-style amnesty-talk help?", "compound"),
        ("What is the dose of methadone for drug abuse?", "medical"),
        ("Is substance use disorder treatment safe for my pregnancy?", "medical"),
    ],
)
def test_protected_stretches_and_senses(text, why):
    detection = detect(text)
    if why is None:
        assert detection.n_right == 1
    else:
        assert not leaning(text)
        assert any(why in skip.why for skip in detection.skips)
        assert variants(text, intensity=2, shift_focus=True).is_changed is False
        assert neutralise(text).text == text


def test_foreign_context_needs_another_country_and_no_us_word():
    assert detect("Did austerity hurt Greece?").n_left == 0
    assert detect("Did austerity hurt Texas and Greece?").n_left == 1
    assert detect("Did austerity hurt New Mexico?").n_left == 1


def test_a_policy_question_by_a_person_is_no_medical_one():
    assert leaning("Should I vote for late-term abortion bills?")
    triple = variants("Can I get pregnant again after an abortion?", mode="framed")
    assert not triple.is_changed
    assert "medical" in triple.notices[0].lower()


@pytest.mark.parametrize("mode", ["lexical", "tail", "framed", "auto", "llm"])
def test_medical_questions_stay_in_every_mode(mode):
    text = "Is the COVID vaccine safe with blood thinners under vaccine mandates?"
    triple = variants(text, mode=mode, intensity=2)
    assert {triple.left.text, triple.neutral.text, triple.right.text} == {text}
