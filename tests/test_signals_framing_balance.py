"""Balance between the sides, hygiene of the lexicon, and what can never come out."""

import re
import statistics

import pytest

from biasret.signals.framing import FRAMES, TEMPLATES, TERMS, TOPICS, detect, neutralise, variants
from biasret.signals.framing.blocklist import blocked_words, digest
from biasret.signals.framing.inflect import indefinite
from biasret.signals.framing.lexicon import entries, matches
from biasret.signals.framing.records import STANCES, read_rows
from biasret.signals.framing.tokens import read

SIDES = ("left", "right")

CARRIERS = (
    "How would {} affect families in Ohio?",
    "What do economists say about {}?",
    "Who supports {} in Congress?",
    "Has the debate over {} changed since 2016?",
    "Should states limit {}?",
    "Why do voters care about {}?",
    "Did 3 of 10 mayors talk about {} in 2019?",
)

#: Parties, and people the lexicon or a template could name.
PARTY_WORDS = {
    "democrat", "democrats", "democratic", "republican", "republicans", "gop", "trump", "obama",
    "biden", "clinton", "bush", "reagan", "sanders", "pelosi", "mcconnell", "libertarian", "greens",
}  # fmt: skip


def noun_phrase(wording):
    if wording.needs_the or wording.is_definite:
        return "the " + wording.text
    if wording.number == "sg":
        return f"{indefinite(wording.text)} {wording.text}"
    return wording.text


@pytest.fixture(scope="module")
def triples():
    """Every swappable term, from each of its wordings, in every carrier, at its own level."""
    made = []
    for term in TERMS.values():
        if term.klass != "same" or not term.is_generated or term.neutral.number == "adj":
            continue
        if term.is_generic and term.is_one_sided:
            continue  # an everyday word that is also one side's: it starts no swap
        starts = [s for s in STANCES if not (s == "neutral" and term.is_generic)]
        for start in starts:
            for carrier in CARRIERS:
                text = carrier.format(noun_phrase(term.wording(start)))
                made.append((term, variants(text, intensity=term.intensity)))
    return made


@pytest.fixture(scope="module")
def changed(triples):
    return [triple for _, triple in triples if triple.is_changed]


def test_enough_triples_come_out(triples, changed):
    assert len(changed) >= 2_000
    # What is not changed is held back by a guard of its term, with the reason.
    for term, triple in triples:
        if not triple.is_changed:
            assert triple.skips, triple.original
            assert term.guards or "cannot stand" in triple.skips[0].why, triple.original
    assert len(changed) >= 0.95 * len(triples)


def test_lengths_are_balanced(changed):
    both = [triple for triple in changed if not triple.one_sided]
    for chosen in (changed, both):
        gaps = [len(triple.left.text) - len(triple.right.text) for triple in chosen]
        assert abs(statistics.mean(gaps)) < 3


def test_swaps_and_levels_are_equal(changed):
    for triple in changed:
        if not triple.one_sided:
            assert triple.n_swaps["left"] == triple.n_swaps["right"] == 1
        levels = {
            side: {edit.intensity for edit in triple.variant(side).edits if edit.kind == "term"}
            for side in SIDES
        }
        assert len(levels["left"] | levels["right"]) == 1, triple.original


def test_one_sided_triples_are_those_of_shared_wordings(changed):
    one_sided = {name for triple in changed for name in triple.one_sided}
    assert one_sided
    for name in one_sided:
        term = TERMS[name]
        assert term.neutral.text in (term.left.text, term.right.text)


def test_no_word_of_one_side_in_the_other(changed):
    for triple in changed:
        assert detect(triple.left.text).n_right == 0, triple
        assert detect(triple.right.text).n_left == 0, triple
        neutral = detect(triple.neutral.text)
        assert neutral.n_left == neutral.n_right == 0, triple


def test_both_sides_neutralise_to_one_sentence(changed):
    same = 0
    for triple in changed:
        left, right = neutralise(triple.left.text).text, neutralise(triple.right.text).text
        same += left == right
        assert neutralise(left).text == left
        assert neutralise(right).text == right
    assert same >= 0.95 * len(changed)
    assert same == len(changed)  # what is measured; the line above is what is promised


def test_numbers_names_and_question_stay(changed):
    for triple in changed:
        for stance in STANCES:
            text = triple.variant(stance).text
            assert text.endswith("?")
            for word in ("Ohio", "Congress", "2016", "3 of 10", "2019"):
                if word in triple.original:
                    assert word in text


def test_flipping_again_changes_nothing_and_back_is_the_same(changed):
    for triple in changed:
        for side, other in (("left", "right"), ("right", "left")):
            text = triple.variant(side).text
            again = variants(text, intensity=triple.intensity)
            assert again.variant(side).text == text
            assert again.variant(other).text == triple.variant(other).text


# The lexicon and the templates -----------------------------------------------------------


def generated_wordings():
    """Everything the engine can write for a side, or as neutral."""
    for term in TERMS.values():
        yield term.neutral.text
        if term.is_generated:
            yield from (term.left.text, term.right.text)
    for row in read_rows("aliases.csv"):
        if row["neutral"]:
            yield row["neutral"]
    for row in read_rows("blocked.csv"):
        if row["plain"]:
            yield row["plain"]
    for topic in TOPICS.values():
        yield topic.phrase
        yield from topic.groups.values()
    for template in TEMPLATES.values():
        yield from template.texts.values()


def test_nothing_blocked_can_be_written():
    checked = 0
    for text in generated_wordings():
        assert not blocked_words(read(text)), text
        checked += 1
    assert checked > 800
    # The list itself works: a word it holds is found, by its hash alone.
    assert blocked_words(read("Do libtards vote?"))
    assert len({row["sha256_20"] for row in read_rows("blocked.csv")}) > 200
    assert digest("libtards") in {row["sha256_20"] for row in read_rows("blocked.csv")}


def words(text):
    return {token.base for token in read(text).tokens}


def test_no_party_or_politician_is_written_for_a_side():
    for term in TERMS.values():
        if term.is_generated:
            named = [words(term.wording(stance).text) & PARTY_WORDS for stance in STANCES]
            assert not named[0], term.name
            assert not named[2], term.name
    for template in TEMPLATES.values():
        for side in SIDES:
            assert not words(template.texts[side]) & PARTY_WORDS, template.name
    for topic in TOPICS.values():
        for side in SIDES:
            assert not words(topic.groups[side]) & PARTY_WORDS, topic.name


@pytest.mark.parametrize("mode", ["lexical", "tail", "framed"])
@pytest.mark.parametrize(
    "name",
    ["Democrats", "Republicans", "the GOP", "Donald Trump", "Barack Obama", "Planned Parenthood"],
)
def test_names_typed_are_in_all_three_wordings_or_none(mode, name):
    text = f"Why does {name} want a tax on net worth and tax increases?"
    triple = variants(text, mode=mode, intensity=2)
    held = {stance: name in triple.variant(stance).text for stance in STANCES}
    assert len(set(held.values())) == 1
    if mode != "framed":
        assert all(held.values())
    for stance in STANCES:
        added = words(triple.variant(stance).text) & PARTY_WORDS
        assert added <= words(text)


def recognised_only():
    """Surface forms that may be found and never written."""
    for entry in entries():
        if entry.is_alias or (not entry.term.is_generated and entry.stance != "neutral"):
            yield entry


def test_statute_labels_and_other_aliases_are_never_written(changed):
    written = {text.lower() for text in generated_wordings()}
    assert "illegal aliens" not in " | ".join(written)
    for entry in recognised_only():
        surface = " ".join(entry.words)
        if entry.stance == "neutral":
            continue
        assert surface not in written, surface
    outputs = " | ".join(
        triple.variant(stance).text.lower() for triple in changed for stance in STANCES
    )
    for label in ("illegal aliens?", "gun grabbers?", "climate hoax", "unvetted", "drug addicts?"):
        assert not re.search(rf"\b{label}\b", outputs)


def test_recognised_only_forms_become_neutral_or_canonical():
    for entry in recognised_only():
        if entry.stance == "neutral" or entry.wording.number in ("adj", "verb"):
            continue
        surface = " ".join(entry.words)
        article = "the " if entry.wording.needs_the else ""
        text = f"What do senators in Ohio say about {article}{surface}?"
        triple = variants(text, intensity=2, shift_focus=True)
        if any(skip.term == entry.term.name and "put" not in skip.why for skip in triple.skips):
            continue  # its guard holds it back here
        for side in SIDES:
            outcome = triple.variant(side).text
            assert all(match.entry is not entry for match in matches(read(outcome))), outcome


def test_hygiene():
    for stance in STANCES:
        texts = [term.wording(stance).text.lower() for term in TERMS.values()]
        assert len(texts) == len(set(texts)), stance
    left = {term.left.text.lower() for term in TERMS.values()}
    right = {term.right.text.lower() for term in TERMS.values()}
    assert not left & right
    mean = {s: statistics.mean(len(t.wording(s).text) for t in TERMS.values()) for s in STANCES}
    assert abs(mean["left"] - mean["right"]) < 2.5
    for term in TERMS.values():
        assert term.topic in TOPICS
        assert term.klass in ("same", "focus")
        assert term.intensity in (1, 2)
        assert set(term.common) <= set(SIDES)
        for stance in STANCES:
            assert term.wording(stance).number in ("pl", "sg", "mass", "adj")


def test_every_written_form_is_recognised_as_its_own():
    # Nothing is shadowed: a wording read alone is found whole, on its own side.
    for entry in entries():
        text = ("the " if entry.wording.needs_the else "") + " ".join(entry.words)
        found = matches(
            read(text.replace(" , ", ", ").replace("diversity equity", "diversity, equity"))
        )
        assert any(match.entry is entry for match in found) or "," in entry.wording.text, (
            entry.words
        )


def test_grid_of_templates_is_balanced():
    gaps, word_gaps = [], []
    for topic in TOPICS.values():
        for template in TEMPLATES.values():
            made = {
                stance: template.texts[stance]
                .replace("{X}", topic.phrase)
                .replace("{G}", topic.groups[stance])
                for stance in STANCES
            }
            lengths = {stance: len(text.split()) for stance, text in made.items()}
            assert all(12 <= length <= 25 for length in lengths.values()), made
            assert abs(lengths["left"] - lengths["right"]) <= 4
            gaps.append(len(made["left"]) - len(made["right"]))
            word_gaps.append(lengths["left"] - lengths["right"])
            assert detect(made["left"]).n_right == 0
            assert detect(made["right"]).n_left == 0
            neutral = detect(made["neutral"])
            assert neutral.n_left == neutral.n_right == 0
    assert len(gaps) == len(FRAMES) * len(TOPICS) * 2 == 720
    assert abs(statistics.mean(gaps)) < 3
    assert abs(statistics.mean(word_gaps)) <= 0.5


@pytest.mark.parametrize("mode", ["tail", "framed"])
def test_tail_and_framed_are_balanced_on_questions(mode):
    gaps = []
    for topic in TOPICS.values():
        for frame in FRAMES:
            triple = variants(
                f"What should voters know about {topic.phrase}?",
                mode=mode,
                frame=frame,
                topic=topic.name,
            )
            left, right = triple.left.text, triple.right.text
            assert left != right
            assert abs(len(left.split()) - len(right.split())) <= 4
            assert detect(left).n_right == detect(right).n_left == 0
            gaps.append(len(left) - len(right))
    assert abs(statistics.mean(gaps)) < 3
