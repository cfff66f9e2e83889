"""The little HTML there is, with hostile text in it."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasret import markup
from biasret.markup import Entry, ranking, typed, visible

#: The whole Unicode range, lone surrogates among it.
ANY = st.text(st.characters())
HOSTILE = [
    "<script>alert(1)</script>",
    "</bdi></li><img src=x onerror=alert(1)>",
    "&amp; &lt;b&gt; & <",
    "\"' onmouseover='x",
    "<b>bold</b> &amp; more",
    "a\x00b",
    "\ud800",
    "\u202eabc",
    "]]>",
    "<!--",
    "$x$ **b** [l](u)",
]


class Reader(HTMLParser):
    """Tags and text as a browser sees them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self._style = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._style = tag == "style"

    def handle_endtag(self, tag):
        self._style = False

    def handle_comment(self, data):
        pytest.fail(f"a comment: {data!r}")

    def handle_data(self, data):
        if not self._style:
            self.text.append(data)


def seen(shown: str) -> Reader:
    shown.encode("utf-8")  # a lone surrogate would stop the page
    reader = Reader()
    reader.feed(shown)
    reader.close()
    return reader


def assert_no_markup_of(shown: str, plain: str) -> None:
    """Hostile text adds no tag, attribute, or bare "<" and "&" to what plain text gives."""
    found, expected = seen(shown), seen(plain)
    assert found.tags == expected.tags
    assert [name for name, _ in found.attributes] == [name for name, _ in expected.attributes]
    assert shown.count("<") == plain.count("<")
    body = re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    assert not re.search(r"&(?!amp;|lt;|gt;|quot;|#x27;)", body)


def entry(text: str, **more: object) -> Entry:
    return Entry(rank=1, title=text, score=0.5, source=text, **more)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_text(text):
    for shown, plain in (
        (ranking([entry(text)], label=text), ranking([entry("x")], label="x")),
        (typed(text, text), typed("x", "x")),
    ):
        assert_no_markup_of(shown, plain)
        assert visible(text) in "".join(seen(shown).text)


@settings(max_examples=200, deadline=None)
@given(ANY, ANY, ANY)
def test_any_text_is_text(title, source, label):
    listed = ranking([Entry(1, title, 0.5, source=source or "s")], label=label)
    assert_no_markup_of(listed, ranking([Entry(1, "x", 0.5, source="s")], label="x"))
    assert_no_markup_of(typed(label, title), typed("x", "x"))


@settings(max_examples=200, deadline=None)
@given(ANY)
def test_the_reader_sees_the_characters_that_were_typed(text):
    # C78, its spirit: escaping must not change what is read. A browser reads both line breaks
    # of HTML as one; `visible` leaves no carriage return.
    assert visible(text) in "".join(seen(typed("label", text)).text)
    shown = visible(text)
    assert html.unescape(html.escape(shown)) == shown
    assert visible(shown) == shown


@settings(max_examples=300, deadline=None)
@given(st.characters())
def test_nothing_invisible_stays_invisible(character):
    shown = visible(character)
    shown.encode("utf-8")
    code = ord(character)
    if character in "\n\t\u200c\u200d":
        assert shown == character
    elif code < 0x20:
        assert shown == chr(0x2400 + code)
    elif 0xD800 <= code <= 0xDFFF:
        assert shown == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünï, 漢字, ما", "plain, ünï, 漢字, ما"),
        ("👩🏾‍⚕️", "👩🏾‍⚕️"),  # joiners are part of emoji
        ("a\u202eb", "a⟦202E⟧b"),
        ("a\u2066b\u2069", "a⟦2066⟧b⟦2069⟧"),
        ("a\u200bb", "a⟦200B⟧b"),
        ("\ufeffa", "a"),
        ("a\x85b\x7f", "a⟦0085⟧b⟦007F⟧"),
        ("a\r\nb", "a␍\nb"),
        ("\U000e0041", "⟦E0041⟧"),  # tag characters hide text from readers, not from models
    ],
)
def test_what_is_made_visible(text, shown):
    assert visible(text) == shown


def test_each_text_keeps_its_own_direction():
    shown = ranking([entry("ما هو")], label="x")
    assert shown.count('<bdi dir="auto">') == 2


def test_a_long_text_is_cut_where_said():
    assert "x" * 20 + "…" in typed("A", "x" * 21, limit=20)
    assert "…" not in typed("A", "x" * 20, limit=20)


def test_a_hundred_thousand_characters():
    assert len(typed("A", "<" * 100_000)) < 60_000
    assert "&lt;" * 100_000 in ranking([entry("<" * 100_000)], label="x")


def test_an_entry_says_everything_in_words():
    shown = ranking(
        [
            Entry(3, "Title", 0.12345, stance="left", source="S", movement="up 2", is_gold=True),
            Entry(4, "Other", 1.0, stance="weird", movement="lost"),
        ],
        label="BM25, wording A",
    )
    words = " ".join("".join(seen(shown).text).split())
    for part in ("3", "Title", "up 2", "left", "gold answer", "score 0.123", "lost", "score 1.000"):
        assert part in words
    # A stance that is none of ours gets no glyph and no colour of ours.
    assert "weird" not in words
    assert ("aria-label", "BM25, wording A") in seen(shown).attributes


@pytest.mark.parametrize("stance", ["left", "center", "right"])
def test_a_stance_has_a_word_and_a_shape_beside_its_colour(stance):
    glyphs = {
        s: re.search(r'color:#\w+">(.)</span> ' + s, ranking([entry("x", stance=s)], label=""))
        for s in ("left", "center", "right")
    }
    assert all(glyphs.values())
    assert len({match.group(1) for match in glyphs.values()}) == 3
    assert f"</span> {stance}</span>" in ranking([entry("x", stance=stance)], label="")


def test_an_empty_list():
    assert seen(ranking([], label="x")).tags == ["style", "ol"]


class TestWording:
    def test_what_came_in_is_marked_and_what_went_out_struck(self):
        shown = markup.wording("B", "her hands be cold", [(10, 12, "are", "habitual be")])
        assert 'her hands <del>are</del> <ins title="habitual be">be</ins> cold' in shown

    def test_a_pure_deletion_and_a_pure_insertion(self):
        assert "he <del>is </del>cold" in markup.wording("B", "he cold", [(3, 3, "is ", "why")])
        shown = markup.wording("B", "he be cold", [(3, 6, "", "why")])
        assert 'he <ins title="why">be </ins>cold' in shown

    @given(
        text=st.text(max_size=60),
        label=st.text(max_size=20),
        why=st.text(max_size=20),
        original=st.text(max_size=20),
        note=st.text(max_size=20),
    )
    def test_any_text_is_text(self, text, label, why, original, note):
        at = min(3, len(text))
        shown = markup.wording(label, text, [(0, at, original, why)], note=note)
        assert set(seen(shown).tags) <= {"style", "p", "bdi", "ins", "del"}


class TestMatrix:
    rows = (markup.Row("<b>BM25", "lexical", ["+0.20", "a&b"]),)

    def test_heads_cells_and_labels(self):
        shown = markup.matrix(["Retriever", "lean", "x"], self.rows, label="all <i>")
        assert set(seen(shown).tags) <= {
            *("style", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "span"),
        }
        assert 'data-label="lean"' in shown
        assert 'scope="row"' in shown
        assert "&lt;b&gt;BM25" in shown
        assert "a&amp;b" in shown

    def test_a_row_of_another_length_is_our_mistake(self):
        with pytest.raises(ValueError, match="zip"):
            markup.matrix(["Retriever", "lean"], self.rows, label="x")


def test_shared_words_of_a_document_are_marked_and_counted():
    one = Entry(
        1, "Title", 0.5, text="The tax on farms. Taxes & <b>farms", terms=markup.terms("Tax FARMS")
    )
    shown = markup.ranking([one], label="x")
    assert shown.count("<mark>") == 3
    assert "<mark>tax</mark>" in shown
    assert "2 words in common" in shown
    assert "&lt;b&gt;<mark>farms</mark>" in shown
    assert "no word in common" in markup.ranking([Entry(1, "T", 0.5, text="else")], label="x")
    assert "<details>" not in markup.ranking([entry("T")], label="x")


def test_the_leading_sentence_is_text():
    assert "&lt;b&gt;" in markup.lead("<b>")
