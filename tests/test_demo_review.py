"""The demo texts keep the standard of their editors, and each hard case was looked at."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import combinations

import demo_review
import pytest

from biasret.datasets import demo
from biasret.signals import dialect
from biasret.signals.dialect import FEATURES


@pytest.fixture(scope="module")
def stories():
    return demo_review.stories()


@pytest.fixture(scope="module")
def questions():
    return demo_review.questions()


# --- phrases ---------------------------------------------------------------------------------


def test_the_tool_finds_a_shared_phrase():
    texts = {"a": ["One two, three four."], "b": ["zero one TWO three five"], "c": ["two three"]}
    assert demo_review.shared_phrases(texts, 3) == {"one two three": ["a", "b"]}
    assert demo_review.shared_phrases(texts, 2)["two three"] == ["a", "b", "c"]


def test_no_two_stories_share_a_phrase_of_seven_words(stories):
    texts = {s["story_id"]: [a["text"] for a in s["articles"]] for s in stories}
    assert demo_review.shared_phrases(texts, 7) == {}


def test_outlets_tell_a_story_in_their_own_words(stories):
    for story in stories:
        texts = {a["source"]: [a["text"]] for a in story["articles"]}
        assert demo_review.shared_phrases(texts, 12) == {}, story["story_id"]


def test_no_two_answers_share_a_phrase_of_eight_words(questions):
    texts = {q["id"]: [q["answer"]] for q in questions}
    assert demo_review.shared_phrases(texts, 8) == {}


def content(text: str) -> set[str]:
    common = set(
        "and but can did does doing for from get got had has have her him his how just know like "
        "not now off out said say she should that the them then there they this was what when "
        "will with would you".split()
    )
    return {w for w in re.findall(r"[a-z]+", text.lower()) if len(w) > 2 and w not in common}


def test_no_two_questions_are_alike(questions):
    words = {q["id"]: content(q["wme"]) for q in questions}
    for (one, a), (other, b) in combinations(words.items(), 2):
        assert len(a & b) / len(a | b) < 0.4, (one, other)


def test_every_topic_has_neighbours(questions):
    topics = defaultdict(int)
    for question in questions:
        topics[question["topic"]] += 1
    assert min(topics.values()) >= 2
    assert len(topics) >= 40


# --- news ------------------------------------------------------------------------------------

#: Offices, institutions and kinds of place, which any story may name.
OFFICES = frozenset(
    {
        "Air Force",
        "City Council",
        "City Hall",
        "County Commissioner",
        "Democratic Senator",
        "Disability Law",
        "High School",
        "House Bill",
        "Main Street",
        "Middle School",
        "Minority Leader",
        "New Year",
        "Police Chief",
        "Policy Forum",
        "Republican Senator",
        "State Representative",
        "State Senator",
        "State University",
        "Valley College",
    }
)
#: People, outlets, firms and places that exist. Surnames stand alone where they are rare enough.
REAL = re.compile(
    r"\b(?:Trump|Biden|Obama|Kamala|Clinton|Pence|Vance|Walz|Bernie|Elizabeth Warren|Pelosi"
    r"|McConnell|Schumer|Jeffries|McCarthy|Mike Johnson|Newsom|DeSantis|Whitmer|Greg Abbott"
    r"|Ocasio-Cortez|Romney|Rubio|Ted Cruz|Hawley|Manchin|Sinema|Fetterman|Haley|Ramaswamy"
    r"|Buttigieg|Garland|Barr|Comey|Fauci|Kennedy|Roberts|Alito|Gorsuch|Kavanaugh|Sotomayor"
    r"|Kagan|Ketanji|Amy Coney|Clarence Thomas|Scalia|Ginsburg|Reagan|Nixon|Carter Page|Bannon"
    r"|Musk|Bezos|Zuckerberg|Bill Gates|Buffett|Soros|Koch|Murdoch|Hannity|Ingraham|Maddow"
    r"|Carlson|Limbaugh|Shapiro|Rogan|Stewart|Colbert|Oprah|Swift"
    r"|New York Times|Washington Post|Washington Times|Wall Street Journal|USA Today|Los Angeles"
    r"|Fox News|CNN|MSNBC|NBC|CBS|ABC News|NPR|PBS|C-SPAN|BBC|Reuters|Associated Press|Bloomberg"
    r"|Politico|Axios|The Hill|HuffPost|Breitbart|Newsmax|Vox|Slate|Salon|Mother Jones|The Nation"
    r"|National Review|The Atlantic|Time Magazine|Newsweek|ProPublica|Daily Wire|Daily Caller"
    r"|Epoch Times|AllSides|The Guardian|The Economist"
    r"|Google|Facebook|Instagram|TikTok|Twitter|YouTube|Amazon|Apple|Microsoft|Uber|Lyft|DoorDash"
    r"|Tesla|Ford Motor|Pfizer|Moderna|Walmart|Starbucks|Exxon|Chevron|Boeing|Lockheed|Intel"
    r"|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia"
    r"|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts"
    r"|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey"
    r"|New Mexico|New York|North Carolina|South Carolina|Dakota|Ohio|Oklahoma|Oregon"
    r"|Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|Virginia|Wisconsin|Wyoming"
    r"|Chicago|Boston|Houston|Dallas|Seattle|Denver|Atlanta|Miami|Philadelphia|Phoenix|Detroit"
    r"|Baltimore|San Francisco|San Diego|Las Vegas|New Orleans|Minneapolis|Cleveland)\b"
)


def test_no_real_person_outlet_firm_or_place_is_named(stories):
    assert REAL.search("as Senator Bernie told the Associated Press")
    assert not REAL.search("The Marlow Ledger asked Governor Helen Strand of Wexmoor.")
    for story in stories:
        assert not REAL.search(json.dumps(story, ensure_ascii=False)), story["story_id"]


def test_no_invented_name_is_used_in_two_stories(stories):
    assert demo_review.names("On Tuesday Sheriff Tom Hascall spoke.") == {
        "Sheriff Tom Hascall",
        "Sheriff Tom",
        "Tom Hascall",
    }
    used = defaultdict(set)
    for story in stories:
        for article in story["articles"]:
            for name in demo_review.names(article["text"]):
                used[name].add(story["story_id"])
    repeated = {name: sorted(ids) for name, ids in used.items() if len(ids) > 1}
    assert set(repeated) <= OFFICES, {n: i for n, i in repeated.items() if n not in OFFICES}


def test_facts_are_kept_by_the_articles(stories):
    number = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
    day = re.compile(
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November"
        r"|December) (\d+)"
    )
    for story in stories:
        assert isinstance(story["facts"], list)
        assert len(story["facts"]) >= 3
        stated = " ".join(story["facts"])
        # The day is told by the date of the story, and a year is mostly understood.
        facts = set(number.findall(stated)) - set(day.findall(stated)) - {"2024", "2025", "2026"}
        told = set(
            number.findall(" ".join(a["title"] + " " + a["text"] for a in story["articles"]))
        )
        assert len(facts & told) >= 0.75 * len(facts), (story["story_id"], facts - told)


def test_one_style_in_all_stories(stories):
    for story in stories:
        for article in story["articles"]:
            where = (story["story_id"], article["source"])
            text = article["text"]
            assert not re.search(r"\b(?:Gov|Sen|Rep|Rev|Col|Nov|Oct|Sept|Dec|Jan|Feb)\.", text), (
                where
            )
            assert not re.search(r"\b(?:vot\w+|vote of|passed|approved) \d+ to \d+\b", text), where
            words = [w for w in article["title"].split() if w[0].isalpha()]
            assert sum(w[0].isupper() for w in words) <= 0.6 * len(words), article["title"]


# --- health ----------------------------------------------------------------------------------

#: A quantity of medicine, or how often to take it, in figures or words.
DOSING = re.compile(
    r"\b(?:one|two|three|four|half an?|\d+) (?:tablets?|pills?|capsules?|puffs?|doses?|sprays?)\b"
    r"|\btake (?:one|two|three|\d+)\b(?! to )"
    r"|\bevery (?:\d+|four|six|eight|twelve)(?: to \w+)? hours\b"
    r"|\b(?:double|triple|halve) (?:the|your|her|his) (?:dose|tablets?|pills?)\b",
    re.IGNORECASE,
)
#: Where to turn.
CARE = re.compile(
    r"\b(?:emergency|ambulance|urgent|urgently|hospital|doctors?|clinics?|clinicians?"
    r"|pharmac\w+|dentists?|nurses?|specialists?|surgeons?|surgical|therapists?|optometrist"
    r"|podiatrist|pediatric\w*|midwife|dermatolog\w+|prescriber|dietitian|neurolog\w+"
    r"|gynecolog\w+|counselor|audiologist|allergist|examin\w+|team|unit|crisis|promptly|quickly"
    r"|right away|right now|at once|immediately|without delay|same[- ]day|that day|soon|sooner"
    r"|visit|appointment|checked|assessed|reported|looked at|call|see someone|referral|shown to"
    r"|(?:medical|prompt) care|prompt (?:review|testing)|blood (?:tests?|work)|scan)\b",
    re.IGNORECASE,
)


def test_no_answer_gives_a_dose_in_words(questions):
    assert DOSING.search("Take two tablets every six hours.")
    assert not DOSING.search("Never take two to catch up on a pill you forgot.")
    found = {q["id"]: m.group() for q in questions if (m := DOSING.search(q["answer"]))}
    assert found == {}


def test_every_answer_says_where_to_turn(questions):
    assert [q["id"] for q in questions if not CARE.search(q["answer"])] == []


def test_the_first_person_is_left_to_the_patient(questions):
    # A lone "I" among 300 answers would draw every question to it in a lexical ranking.
    assert [q["id"] for q in questions if re.search(r"\b(?:I|my|me)\b", q["answer"])] == []


# --- AAL -------------------------------------------------------------------------------------

#: What no speaker of AAL says, whatever an imitation may do.
UNLICENSED = {
    "a first person without its verb": (
        r"(?<![Aa]m )\bI (?:gon|finna|tryna|tired|sick|scared|pregnant|\d+)\b"
    ),
    "two forms of be": r"\b(?:am|is|are|was|were) be\b|\bbe (?:am|is|are|was|were|been)\b",
    "ain't before the verb it stands for": r"\bain't (?:am|is|are|have|has|did)\b",
    "habitual be of this moment": (
        r"\b(?:I|he|she|it|they|we) be \w+[^.?!]*\b(?:right now|tonight|currently|at the moment)\b"
    ),
    "a clause that ends in nothing": r"\b(?:how|where|what) \w+ (?:he|she|they|it|you)[.?!]",
    "don't in the past": r"\bdon't \w+ (?:yesterday|last (?:night|week|year))\b",
    "respelled sounds": r"\b(?:dat|dis|dem|dey|wit|neva|betta|doe|bruh|fam|dawg)\b",
}
#: Forms after completive *done* that do not end in -ed.
PAST = frozenset(
    "been blistered broke came caught fell gave got grew had let lost made paid put quit saw took "
    "went wet wrote about having".split()
)


def test_aal_follows_its_rules(questions):
    samples = {
        "a first person without its verb": "I gon call",
        "two forms of be": "he is be tired",
        "ain't before the verb it stands for": "she ain't is here",
        "habitual be of this moment": "it be hurting right now",
        "a clause that ends in nothing": "I know how tired she.",
        "don't in the past": "I don't eat yesterday",
        "respelled sounds": "what is dat",
    }
    for name, pattern in UNLICENSED.items():
        rule = re.compile(pattern, re.IGNORECASE if name == "respelled sounds" else 0)
        assert rule.search(samples[name]), name
        assert [q["id"] for q in questions if rule.search(q["aal"])] == [], name
    after = re.compile(r"\bdone (?:(?:already|just|mostly|slowly) )?(\w+)")
    for question in questions:
        for form in after.findall(question["aal"]):
            assert form.endswith("ed") or form in PAST, (question["id"], form)


def test_both_wordings_differ_in_grammar_and_not_in_content(questions):
    # Kin terms, symptoms and medicines are the same words, so that only dialect is signalled.
    kin = re.compile(r"\b(?:mother|mama|mom|father|daddy|dad|grandmother|grandma|wife|husband)\b")
    for question in questions:
        assert kin.findall(question["wme"]) == kin.findall(question["aal"]), question["id"]


def test_the_scorer_tells_the_two_wordings_apart(questions):
    entries = json.loads((demo_review.DATA / "demo_aal_reviewed.json").read_text("utf-8"))
    by_hand = {e["question"]: e for e in entries["questions"]}
    for question in questions:
        if dialect.score(question["aal"]).features:
            continue
        # The scorer knows fewer features than speakers use: a person named these.
        entry = by_hand.get(question["id"])
        assert entry, f"no feature found in {question['id']}: name it in demo_aal_reviewed.json"
        assert entry["features"]
        for found in entry["features"]:
            assert found["feature"] in FEATURES
            assert found["text"] in question["aal"], question["id"]
    marked = [q["id"] for q in questions if dialect.score(q["wme"]).features]
    assert len(marked) <= 0.02 * len(questions), marked


def test_not_every_sentence_of_aal_is_marked(questions):
    n_same = n_sentences = 0
    for question in questions:
        wme = set(re.split(r"(?<=[.?!]) ", question["wme"]))
        aal = re.split(r"(?<=[.?!]) ", question["aal"])
        n_same += sum(sentence in wme for sentence in aal)
        n_sentences += len(aal)
    assert 0.2 < n_same / n_sentences < 0.6


def test_each_question_has_three_rewrites():
    rewrites = json.loads(demo._REWRITES.read_text(encoding="utf-8"))["rewrites"]
    assert [key for key, texts in rewrites.items() if len(set(texts)) != 3] == []


# --- hard cases ------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["demo_news", "demo_written", "demo_health"])
def test_each_hard_case_was_looked_at(dataset):
    """A document that beats the right one is either no answer, or the texts were changed.

    ``python tests/demo_review.py hard`` prints what is new, with both texts. Change question or
    answer so that only the right document answers, or write down in
    ``tests/data/demo_hard_cases.json`` why the question stays clear.
    """
    assert demo_review.unreviewed(dataset) == {}


@pytest.mark.parametrize("dataset", ["demo_news", "demo_written", "demo_health"])
def test_reviews_are_of_questions_and_documents_that_exist(dataset):
    cells = set(demo_review._queries(dataset)["cell_id"])
    documents = set(demo_review._documents(dataset)["doc_id"])
    entries = demo_review.reviewed(dataset)
    assert entries
    for (cell, document), reason in entries.items():
        assert cell in cells
        assert document in documents
        assert 20 < len(reason) < 160, reason
        assert f"{cell}-answer" != document
