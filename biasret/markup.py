"""The little HTML of the pages, built from escaped pieces and nowhere else.

Corpus and query text is hostile until shown safe: it passes through `visible` and
`html.escape`, stands inside ``<bdi>`` so that its direction stays its own, and never
meets Markdown.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Entry", "marked", "ranking", "typed", "visible"]

#: Glyph of each stance; the word stands beside it, so neither shape nor colour is alone.
_STANCE_GLYPHS = {
    "left": ("●", "#4477AA"),
    "center": ("▲", "#888888"),
    "right": ("■", "#E60000"),
}
_MOVES = {"up": "▲", "down": "▼", "new": "+", "lost": "−", "same": "="}

_STYLE = """<style>
.br-list{list-style:none!important;margin:0!important;padding:0!important}
.br-list li{display:grid;grid-template-columns:1.6rem 1fr;gap:.1rem .55rem;
 padding:.5rem 0;border-top:1px solid color-mix(in srgb,currentColor 18%,transparent);
 margin:0!important}
.br-rank{font-variant-numeric:tabular-nums;font-weight:600;text-align:right;opacity:.85}
.br-title{overflow-wrap:anywhere;line-height:1.35}
.br-meta{grid-column:2;display:flex;flex-wrap:wrap;gap:.15rem .7rem;font-size:.82rem;opacity:.92}
.br-move{font-weight:600;white-space:nowrap}
.br-chip{white-space:nowrap}
.br-gold{font-weight:600}
.br-typed{margin:0;padding:.5rem .75rem;border-radius:.5rem;overflow-wrap:anywhere;
 white-space:pre-wrap;background:color-mix(in srgb,currentColor 7%,transparent);
 max-height:11rem;overflow-y:auto}
.br-diff{margin:.2rem 0!important;overflow-wrap:anywhere;white-space:pre-wrap;line-height:1.5}
.br-diff ins{text-decoration:underline;text-decoration-thickness:2px;font-weight:600;
 background:color-mix(in srgb,#009988 22%,transparent);border-radius:.2rem;padding:0 .1rem}
.br-diff del{background:color-mix(in srgb,#E65100 18%,transparent);border-radius:.2rem}
.br-side{font-weight:700;opacity:.7;margin-right:.35rem}
.br-label{font-weight:600;margin:0 0 .25rem}
</style>"""


def visible(text: str) -> str:
    r"""Text with everything invisible shown: controls, bidirectional marks, lone surrogates.

    Line breaks and tabs stay as they are.

    Examples
    --------
    >>> visible("a\x00b\u202ec")
    'a␀b⟦202E⟧c'
    """
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20 and character not in "\n\t":
        return chr(0x2400 + code)
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    # Joiners are part of words and emoji; other format characters could hide or reorder text.
    if unicodedata.category(character) in ("Cc", "Cf") and code not in (0x0A, 0x09, 0x200C, 0x200D):
        return "" if code == 0xFEFF else f"⟦{code:04X}⟧"
    return character


def _text(value: str) -> str:
    return f'<bdi dir="auto">{html.escape(visible(value), quote=True)}</bdi>'


def _attribute(value: str) -> str:
    return html.escape(visible(value), quote=True)


def typed(label: str, text: str, *, limit: int = 10_000) -> str:
    """A wording as it was typed, with its label."""
    shown = text if len(text) <= limit else text[:limit] + "…"
    return (
        f'{_STYLE}<p class="br-label">{_text(label)}</p>'
        f'<p class="br-typed" dir="auto">{html.escape(visible(shown))}</p>'
    )


def marked(source: str, target: str, marks: Sequence[tuple[int, int, int, int, str]]) -> str:
    """Two texts with what left the first struck through and what came into the second marked.

    Parameters
    ----------
    marks
        ``(start, end, target_start, target_end, why)`` in code points, in order, disjoint.
        `why` becomes the tooltip of the inserted words.
    """
    old, new, at, target_at = [], [], 0, 0
    for start, end, target_start, target_end, why in marks:
        old.append(html.escape(visible(source[at:start])))
        new.append(html.escape(visible(target[target_at:target_start])))
        if end > start:
            old.append(f"<del>{html.escape(visible(source[start:end]))}</del>")
        if target_end > target_start:
            tip = html.escape(visible(why), quote=True)
            words = html.escape(visible(target[target_start:target_end]))
            new.append(f'<ins title="{tip}">{words}</ins>')
        at, target_at = end, target_end
    old.append(html.escape(visible(source[at:])))
    new.append(html.escape(visible(target[target_at:])))
    return (
        f'{_STYLE}<p class="br-diff" dir="auto"><span class="br-side">A</span> {"".join(old)}</p>'
        f'<p class="br-diff" dir="auto"><span class="br-side">B</span> {"".join(new)}</p>'
    )


@dataclass(frozen=True)
class Entry:
    """One row of a ranking as shown.

    `movement` is a word of `biasret.probe.movement`, or empty.
    """

    rank: int
    title: str
    score: float
    stance: str | None = None
    source: str | None = None
    movement: str = ""
    is_gold: bool = False


def ranking(entries: Sequence[Entry], *, label: str) -> str:
    """An ordered list of documents."""
    items = "".join(_item(entry) for entry in entries)
    return f'{_STYLE}<ol class="br-list" aria-label="{_attribute(label)}">{items}</ol>'


def _item(entry: Entry) -> str:
    meta = []
    if entry.movement:
        word = re.split(r"\s", entry.movement, maxsplit=1)[0]
        glyph = _MOVES.get(word, "")
        meta.append(
            f'<span class="br-move"><span aria-hidden="true">{glyph}</span> '
            f"{html.escape(entry.movement)}</span>"
        )
    if entry.stance in _STANCE_GLYPHS:
        glyph, colour = _STANCE_GLYPHS[entry.stance]
        meta.append(
            f'<span class="br-chip"><span aria-hidden="true" style="color:{colour}">{glyph}</span> '
            f"{entry.stance}</span>"
        )
    if entry.is_gold:
        meta.append('<span class="br-gold"><span aria-hidden="true">★</span> gold answer</span>')
    if entry.source:
        meta.append(f"<span>{_text(entry.source)}</span>")
    meta.append(f"<span>score {entry.score:.3f}</span>")
    return (
        f'<li><span class="br-rank">{entry.rank}</span>'
        f'<span class="br-title">{_text(entry.title)}</span>'
        f'<span class="br-meta">{"".join(meta)}</span></li>'
    )
