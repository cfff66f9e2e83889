"""Tables and charts -> one file that needs nothing else: HTML, JSON or CSV.

The HTML holds its charts' library inside it and asks no server for anything; a policy in
its head keeps browsers to that. Data never becomes a script: charts lie in blocks of inert
JSON, and the only scripts that run are the library and `_DRAW`, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biasret import __version__
from biasret.errors import InputError
from biasret.exports import table_csv
from biasret.markup import visible

__all__ = ["FORMATS", "Section", "document", "form", "page", "save", "versions"]

#: File endings that `save` understands.
FORMATS = (".html", ".json", ".csv")

#: A table of more rows is folded away.
_LONG = 12
#: Rows of a table written into the page; its CSV holds all of them.
_MOST = 500
_VERSIONED = ("numpy", "pandas", "scipy", "plotly", "bm25s", "sentence-transformers", "torch")


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it, in this order.

    Attributes
    ----------
    sentences
        The finding first; one paragraph each, as plain text.
    figure
        A chart; `alt` says what it shows for those who do not see it.
    table
        The numbers, shown short and handed out as CSV at full precision.
    about
        What the numbers are; stands above them in the CSV.
    """

    heading: str
    sentences: Sequence[str] = ()
    figure: go.Figure | None = None
    alt: str = ""
    table: pd.DataFrame | None = None
    about: Mapping[str, str] | None = None


def versions() -> dict[str, str]:
    """What made a report: the project, Python, and the packages behind the numbers."""
    found = {"biasret": __version__, "Python": platform.python_version()}
    for package in _VERSIONED:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def page(title: str, sections: Sequence[Section], *, about: Mapping[str, str] | None = None) -> str:
    """A self-contained HTML page.

    Parameters
    ----------
    about
        Settings and sources by name; a table at the end, followed by the versions.

    Returns
    -------
    str
        Valid UTF-8 whatever the texts hold. Text is shown as it is: markup in it does
        nothing, and characters that show nothing are made visible.
    """
    body = [_section(section, number) for number, section in enumerate(sections)]
    scripts = _scripts() if any(section.figure is not None for section in sections) else []
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:"
    if scripts:
        policy += "; script-src " + " ".join(f"'sha256-{_sha256(one)}'" for one in scripts)
    facts = {**(about or {}), **versions(), "date": date.today().isoformat()}
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_escaped(title)}</title>",
            f"<style>{_STYLE}</style></head><body><main>",
            f"<h1>{_escaped(title)}</h1>",
            *body,
            '<section class="about"><h2>How this was made</h2><dl>',
            *(f"<dt>{_escaped(k)}</dt><dd>{_escaped(v)}</dd>" for k, v in facts.items()),
            "</dl></section></main>",
            *(f"<script>{one}</script>" for one in scripts),
            "</body></html>\n",
        ]
    )


def document(
    title: str, sections: Sequence[Section], *, about: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The same as a JSON document: sentences, and tables with every digit; no charts.

    Missing values are None; there is no NaN or infinity in it.
    """
    return {
        "title": title,
        "about": dict(about or {}),
        "versions": versions(),
        "date": date.today().isoformat(),
        "sections": [
            {
                "heading": section.heading,
                "sentences": list(section.sentences),
                "table": None if section.table is None else _records(section.table),
            }
            for section in sections
        ],
    }


def form(path: Path) -> str:
    """The ending of a report's file; worth asking before long work.

    Raises
    ------
    InputError
        The ending is none of `FORMATS`, or there is no such folder.
    """
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise InputError(
            f"A report ends in {', '.join(FORMATS)}; found {path.name!r}. Choose one of these."
        )
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for the report; make it first.")
    return kind


def save(
    path: Path,
    title: str,
    sections: Sequence[Section],
    *,
    about: Mapping[str, str] | None = None,
) -> None:
    """Write a report in the form that the file's ending names; whole, or not at all.

    Raises
    ------
    InputError
        As `form`, or CSV was asked of several tables.
    """
    kind = form(path)
    if kind == ".html":
        data = page(title, sections, about=about).encode()
    elif kind == ".json":
        made = document(title, sections, about=about)
        data = (json.dumps(made, allow_nan=False, indent=1) + "\n").encode()
    else:
        tables = [section for section in sections if section.table is not None]
        if len(tables) != 1:
            raise InputError(
                f"A CSV file holds one table and this report has {len(tables)}; choose .html "
                "or .json."
            )
        assert tables[0].table is not None
        data = table_csv(tables[0].table, {**(about or {}), **(tables[0].about or {})})
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _escaped(value: object) -> str:
    return html.escape(visible(str(value)), quote=True)


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _section(section: Section, number: int) -> str:
    parts = [f"<section><h2>{_escaped(section.heading)}</h2>"]
    parts += [f'<p dir="auto">{_escaped(sentence)}</p>' for sentence in section.sentences]
    if section.figure is not None:
        # Every "<" is written as an escape, so that no text in it can close the block.
        figure = section.figure.to_json(validate=False, engine="json").replace("<", "\\u003c")
        alt = _escaped(section.alt or section.heading)
        parts.append(
            f'<div class="wide" tabindex="0" role="region" aria-label="Chart {number + 1}">'
            f'<div class="chart" id="chart-{number}" role="group" aria-label="{alt}"></div></div>'
            f'<script type="application/json" data-chart="chart-{number}">{figure}</script>'
        )
    if section.table is not None:
        parts.append(_table(section.table, section))
    return "\n".join([*parts, "</section>"])


def _table(table: pd.DataFrame, section: Section) -> str:
    n = len(table)
    shown = table.head(_MOST)
    numeric = [pd.api.types.is_numeric_dtype(table[name].dtype) for name in table.columns]
    head = "".join(f'<th scope="col">{_escaped(name)}</th>' for name in table.columns)
    rows = "\n".join(
        "<tr>"
        + "".join(
            f"<td{' class=n' if is_number else ''}>{_cell(value)}</td>"
            for value, is_number in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for row in shown.itertuples(index=False, name=None)
    )
    data = base64.b64encode(table_csv(table, section.about or {})).decode()
    words = f"{n:,} row{'' if n == 1 else 's'}"
    if n > _MOST:
        words += f", the first {_MOST:,} shown"
    return (
        f"<details{' open' if n <= _LONG else ''}><summary>Numbers: {words}</summary>"
        f'<div class="wide" tabindex="0" role="region" aria-label="{_escaped(section.heading)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
        f'<p><a download="table.csv" href="data:text/csv;charset=utf-8;base64,{data}">'
        "All rows and digits as CSV</a></p></details>"
    )


def _cell(value: object) -> str:
    if isinstance(value, list | tuple | np.ndarray):
        return _escaped(" ".join(map(str, value)))
    if value is None or value is pd.NA or value != value:  # NaN differs from itself
        return "—"
    if isinstance(value, float):
        return _escaped(f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}")
    return _escaped(value)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    def plain(value: Any) -> Any:
        if isinstance(value, list | tuple | np.ndarray):
            return [plain(one) for one in value]
        if value is None or value is pd.NA or value != value:
            return None
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value) if np.isfinite(value) else None
        return str(value)

    names = [str(name) for name in table.columns]
    return [
        dict(zip(names, map(plain, row), strict=True))
        for row in table.itertuples(index=False, name=None)
    ]


def _scripts() -> list[str]:
    """The chart library and what draws with it."""
    from plotly.offline import get_plotlyjs

    # HTML would read these as its own; in strings and expressions they mean the same escaped.
    library = get_plotlyjs().replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return [library, _DRAW]


_DRAW = """
const charts = document.querySelectorAll("script[data-chart]");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function draw() {
  const ink = getComputedStyle(document.body).color;
  for (const block of charts) {
    const figure = JSON.parse(block.textContent);
    const layout = figure.layout;
    layout.font = {...layout.font, color: ink};
    for (const key of Object.keys(layout).filter((name) => /^[xy]axis/.test(name))) {
      layout[key] = {...layout[key], automargin: true, tickfont: {color: ink},
        gridcolor: "rgba(128,128,128,.25)"};
    }
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    delete layout.width;
    Plotly.react(block.dataset.chart, figure.data, layout,
      {displaylogo: false, responsive: true});
  }
}
draw();
dark.addEventListener("change", draw);
"""

_STYLE = """
:root{color-scheme:light dark;--ink:#1f2429;--soft:#5a636c;--line:#d5d9de;--ground:#fff}
@media(prefers-color-scheme:dark){
 :root{--ink:#e3e6ea;--soft:#a4adb6;--line:#3a4149;--ground:#14171a}}
body{margin:0;background:var(--ground);color:var(--ink);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.8rem;line-height:1.2}h2{font-size:1.25rem;margin-top:2.2rem}
h1,h2,p,dd{overflow-wrap:anywhere}td{overflow-wrap:break-word}
p{max-width:44rem;white-space:pre-line}h2+p{font-weight:600}
.chart{min-height:8rem;min-width:34rem;margin:1rem 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:left;
 vertical-align:top;max-width:22rem}
td{min-width:3.5rem}th{white-space:nowrap}
.n{text-align:right;white-space:nowrap}
summary{cursor:pointer;color:var(--soft)}
a{color:inherit}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.15rem 1rem;
 font-size:.9rem;color:var(--soft)}dt{font-weight:600}dd{margin:0}
@media print{details::details-content{content-visibility:visible}}
"""
