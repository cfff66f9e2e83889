"""Any string of code points, of any length."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret.signals.framing import detect, neutralise, variants
from biasret.signals.framing.lexicon import entries

HOSTILE = [
    "",
    " \t\n",
    "\ud800",
    "\x00amnesty\x00",
    "amnesty\ud800 illegal aliens\udfff",
    "‮death tax‬ ؟ مرحبا",
    "👩🏽‍🚀" * 40,
    "İLLEGAL ALIENS ﬁrst ǅ",
    "amne\u200bsty de\u00adath tax",
    "e\u0301" * 200 + " death tax",
    "<script>death tax</script> $x$ **death tax** `death tax`",
    "'; DROP TABLE queries; --",
    "{X} {G} {0} %s",
]
LONG = ["amnesty, ", "death tax?", "the rich ", '"', "'a", "_a", "*", "a@", "“", "A.", "is ",
        "How can anyone support ", "Why won't ", "radical law ", "force through Congress ", "x",
        "covid my ", "illegal immigrants ", "\ud800", "👍"]  # fmt: skip


def exact(text, wording, edits):
    parts, at = [], 0
    for edit in edits:
        assert at <= edit.start <= edit.end
        assert text[edit.start : edit.end] == edit.original
        assert wording[edit.target_start : edit.target_end] == edit.replacement
        parts += [text[at : edit.start], edit.replacement]
        at = edit.end
    assert "".join([*parts, text[at:]]) == wording


def everything(text):
    found = detect(text)
    assert found.lean is None or -1 <= found.lean <= 1
    for hit in found.hits:
        assert text[hit.start : hit.end] == hit.text
    plain = neutralise(text)
    exact(text, plain.text, plain.edits)
    assert neutralise(plain.text).text == plain.text
    for mode in ("lexical", "tail", "framed", "auto"):
        triple = variants(text, mode=mode, intensity=2)
        for wording in (triple.left, triple.neutral, triple.right):
            exact(text, wording.text, wording.edits)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text):
    everything(text)


@pytest.mark.parametrize("piece", LONG)
def test_a_hundred_thousand_characters(piece):
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    started = time.process_time()
    detect(text)
    neutralise(text)
    for mode in ("lexical", "tail", "framed"):
        variants(text, mode=mode, intensity=2)
    # Five calls; anything worse than linear would take minutes.
    assert time.process_time() - started < 60


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec=None), max_size=60))
def test_any_unicode(text):
    everything(text)


PIECES = st.sampled_from(
    [" ".join(entry.words) for entry in entries()]
    + ["the", "a", "is", "are", "'", "’", "?", ".", ",", "-", "radical", "block", "bill", "force",
       "through", "Congress", "Why", "do", "How", "that", "\ud83d", "😀", "#", "US", "France", '"']
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(PIECES, st.sampled_from([" ", " ", " ", "", "-", ", "])), max_size=12),
    st.sampled_from([str, str.title, str.upper, str.capitalize]),
)
def test_any_heap_of_lexicon_words(pieces, style):
    everything(style("".join(word + gap for word, gap in pieces)))


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=8))
def test_tails_come_off_whatever_they_stand_on(words):
    # Enough words besides, so that the neutraliser does not hold back a text too short.
    text = "Do mayors in Ohio talk about " + " ".join(words) + "?"
    bare = neutralise(text).text
    for stance in ("left", "neutral", "right"):
        tailed = variants(bare, mode="tail", topic="housing").variant(stance).text
        assert "what would that mean" in tailed
        assert neutralise(tailed).text == bare
