"""The little HTML there is, with hostile text in it."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def seen(markup: str) -> Reader:
    markup.encode("utf-8")  # a lone surrogate would stop the page
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


def assert_no_markup_of(markup: str, plain: str) -> None:
    """Hostile text adds no tag, attribute, or bare "<" and "&" to what plain text gives."""
    found, expected = seen(markup), seen(plain)
    assert found.tags == expected.tags
    assert [name for name, _ in found.attributes] == [name for name, _ in expected.attributes]
    assert markup.count("<") == plain.count("<")
    body = re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL)
    assert not re.search(r"&(?!amp;|lt;|gt;|quot;|#x27;)", body)


def entry(text: str, **more: object) -> Entry:
    return Entry(rank=1, title=text, score=0.5, source=text, **more)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_text(text):
    for markup, plain in (
        (ranking([entry(text)], label=text), ranking([entry("x")], label="x")),
        (typed(text, text), typed("x", "x")),
    ):
        assert_no_markup_of(markup, plain)
        assert visible(text) in "".join(seen(markup).text)


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
    markup = ranking([entry("ما هو")], label="x")
    assert markup.count('<bdi dir="auto">') == 2


def test_a_long_text_is_cut_where_said():
    assert "x" * 20 + "…" in typed("A", "x" * 21, limit=20)
    assert "…" not in typed("A", "x" * 20, limit=20)


def test_a_hundred_thousand_characters():
    assert len(typed("A", "<" * 100_000)) < 60_000
    assert "&lt;" * 100_000 in ranking([entry("<" * 100_000)], label="x")


def test_an_entry_says_everything_in_words():
    markup = ranking(
        [
            Entry(3, "Title", 0.12345, stance="left", source="S", movement="up 2", is_gold=True),
            Entry(4, "Other", 1.0, stance="weird", movement="lost"),
        ],
        label="BM25, wording A",
    )
    words = " ".join("".join(seen(markup).text).split())
    for part in ("3", "Title", "up 2", "left", "gold answer", "score 0.123", "lost", "score 1.000"):
        assert part in words
    # A stance that is none of ours gets no glyph and no colour of ours.
    assert "weird" not in words
    assert ("aria-label", "BM25, wording A") in seen(markup).attributes


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
