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

__all__ = ["Entry", "Row", "lead", "matrix", "ranking", "terms", "typed", "visible", "wording"]

#: Glyph of each stance; the word stands beside it, so neither shape nor colour is alone.
_STANCE_GLYPHS = {
    "left": ("●", "#4477AA"),
    "center": ("▲", "#888888"),
    "right": ("■", "#E60000"),
}
_MOVES = {"up": "▲", "down": "▼", "new": "+", "lost": "−", "same": "="}

#: Words as BM25 reads them (Tang et al., section 2).
_TERM = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z]+)?")

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
.br-label{font-weight:600;margin:0 0 .25rem}
.br-note{font-size:.85rem;opacity:.85;margin:.35rem 0 0}
.br-lead{font-size:1.25rem;line-height:1.35;font-weight:600;margin:.25rem 0}
.br-text{grid-column:2;font-size:.9rem}
.br-text summary{cursor:pointer;width:fit-content;font-size:.82rem;text-decoration:underline dotted}
.br-text mark{background:color-mix(in srgb,#CCBB44 45%,transparent);color:inherit;font-weight:600}
.br-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.br-matrix{width:100%;border-collapse:collapse;font-size:.95rem}
.br-matrix th,.br-matrix td{text-align:left;padding:.45rem .6rem .45rem 0;vertical-align:top;
 border-top:1px solid color-mix(in srgb,currentColor 18%,transparent);
 font-variant-numeric:tabular-nums}
.br-matrix thead th{border-top:0;font-size:.82rem;opacity:.9}
.br-remark{display:block;font-weight:400;font-size:.8rem;opacity:.9}
@media (max-width:640px){
.br-matrix thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.br-matrix tr{display:block;padding:.4rem 0;
 border-top:1px solid color-mix(in srgb,currentColor 18%,transparent)}
.br-matrix th,.br-matrix td{display:block;border:0;padding:.1rem 0}
.br-matrix td{display:grid;grid-template-columns:9.5rem 1fr;gap:.5rem}
.br-matrix td::before{content:attr(data-label);font-size:.82rem;opacity:.85}
}
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


def wording(
    label: str,
    text: str,
    marks: Sequence[tuple[int, int, str, str]] = (),
    *,
    note: str = "",
) -> str:
    """A wording under its label, with what an engine put in marked and what it took out struck.

    Parameters
    ----------
    marks
        ``(start, end, original, why)`` in code points of `text`, in order, disjoint; `original`
        is what stood there before. `why` becomes the tooltip of the inserted words.
    note
        Stands below the text.
    """
    parts, at = [], 0
    for start, end, original, why in marks:
        parts.append(html.escape(visible(text[at:start])))
        if original:
            parts.append(f"<del>{html.escape(visible(original))}</del>")
        if original and end > start:
            parts.append(" ")
        if end > start:
            parts.append(
                f'<ins title="{_attribute(why)}">{html.escape(visible(text[start:end]))}</ins>'
            )
        at = end
    parts.append(html.escape(visible(text[at:])))
    below = f'<p class="br-note">{html.escape(note)}</p>' if note else ""
    return (
        f'{_STYLE}<p class="br-label">{_text(label)}</p>'
        f'<p class="br-diff" dir="auto">{"".join(parts)}</p>{below}'
    )


def lead(sentence: str) -> str:
    """One sentence that leads a view."""
    return f'{_STYLE}<p class="br-lead">{_text(sentence)}</p>'


@dataclass(frozen=True)
class Row:
    """One row of a matrix: what it is of, a remark on that, and its cells as text."""

    head: str
    remark: str
    cells: Sequence[str]


def matrix(columns: Sequence[str], rows: Sequence[Row], *, label: str) -> str:
    """A table that a screen reader can read, and that turns into a list on a narrow screen.

    Parameters
    ----------
    columns
        Title of the row heads, then those of the cells.
    """
    titles = "".join(f'<th scope="col">{_text(title)}</th>' for title in columns)
    body = "".join(_matrix_row(columns[1:], row) for row in rows)
    return (
        f'{_STYLE}<table class="br-matrix"><caption class="br-hidden">{_text(label)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def _matrix_row(columns: Sequence[str], row: Row) -> str:
    remark = f'<span class="br-remark">{_text(row.remark)}</span>' if row.remark else ""
    cells = "".join(
        f'<td data-label="{_attribute(title)}">{_text(cell)}</td>'
        for title, cell in zip(columns, row.cells, strict=True)
    )
    return f'<tr><th scope="row">{_text(row.head)}{remark}</th>{cells}</tr>'


@dataclass(frozen=True)
class Entry:
    """One row of a ranking as shown.

    `movement` is a word of `biasret.probe.movement`, or empty. `text` can be opened below
    the title, the words of `terms` in it marked.
    """

    rank: int
    title: str
    score: float
    stance: str | None = None
    source: str | None = None
    movement: str = ""
    is_gold: bool = False
    text: str = ""
    terms: frozenset[str] = frozenset()


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
    if entry.score == entry.score:  # an imported ranking may come without its scores
        meta.append(f"<span>score {entry.score:.3f}</span>")
    body = f'<div class="br-text">{_opened(entry)}</div>' if entry.text else ""
    return (
        f'<li><span class="br-rank">{entry.rank}</span>'
        f'<span class="br-title">{_text(entry.title)}</span>'
        f'<span class="br-meta">{"".join(meta)}</span>{body}</li>'
    )


def terms(text: str) -> frozenset[str]:
    """The words of a text, lower-cased, as `Entry.terms` takes them."""
    return frozenset(word.lower() for word in _TERM.findall(text))


def _opened(entry: Entry) -> str:
    """The document's text, shut until it is asked for."""
    parts, at, seen = [], 0, set()
    for match in _TERM.finditer(entry.text):
        if match.group().lower() in entry.terms:
            seen.add(match.group().lower())
            parts.append(html.escape(visible(entry.text[at : match.start()])))
            parts.append(f"<mark>{html.escape(visible(match.group()))}</mark>")
            at = match.end()
    parts.append(html.escape(visible(entry.text[at:])))
    shared = "no word" if not seen else "1 word" if len(seen) == 1 else f"{len(seen)} words"
    return (
        f"<details><summary>Text ({shared} in common with the question)</summary>"
        f'<p class="br-typed" dir="auto">{"".join(parts)}</p></details>'
    )
