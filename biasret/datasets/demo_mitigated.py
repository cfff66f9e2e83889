"""Mitigated wordings of the demo questions: translated to WME, or with leaning words replaced.

They are made by the project's engines and kept as text, so that what is shipped does not
depend on whether a parser is installed; a test makes them again and compares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasret.errors import InputError

__all__ = ["neutralised", "translated", "write"]

#: Beside the folders, which hold only what was written.
FILE = Path(__file__).with_name("demo_mitigated.json")

_REMAKE = "python -c 'from biasret.datasets import demo; demo.write_mitigated()'"


def _mark(*texts: str) -> str:
    """Names the texts a wording was made from, so that an edited question is noticed."""
    return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()[:12]


def _kept(part: str, sources: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, Any], str]:
    """Entries of one part of the file, and the engine that made them."""
    content = json.loads(FILE.read_text(encoding="utf-8"))[part]
    marks = {name: _mark(*texts) for name, texts in sources.items()}
    changed = sorted(name for name in marks if content["made_from"].get(name) != marks[name])
    if changed or set(content["made_from"]) != set(marks):
        first = changed[0] if changed else "one that is gone"
        raise InputError(
            f"{len(changed)} demo questions were edited after their {part} wordings were made; the "
            f"first is {first}. Make them again: {_REMAKE}."
        )
    return content["wordings"], content["engine"]


def translated(aal: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Translations to WME of questions in AAL, by question, and their engine.

    A question in which the rules find nothing to translate stays as it is.

    Raises
    ------
    InputError
        A question was edited since.
    """
    wordings, engine = _kept("translated", {name: (text,) for name, text in aal.items()})
    return {name: wordings.get(name, text) for name, text in aal.items()}, engine


def neutralised(cells: Mapping[str, tuple[str, str]]) -> tuple[dict[str, list[str]], str]:
    """Left and right wordings without leaning words, of the cells where any was found.

    Parameters
    ----------
    cells
        Left and right wording by cell.

    Raises
    ------
    InputError
        A question was edited since.
    """
    return _kept("neutralised", cells)


def write(aal: Mapping[str, str], cells: Mapping[str, tuple[str, str]]) -> None:
    """Make every mitigated wording anew.

    Parameters
    ----------
    aal, cells
        As in `translated` and `neutralised`.
    """
    from biasret.signals import dialect, framing

    rewrites = dialect.to_wme_many(list(aal.values()))
    neutral = {
        cell: [framing.neutralise(text).text for text in texts] for cell, texts in cells.items()
    }
    content = {
        "note": "Generated from the demo questions by rule. Illustrative.",
        "translated": {
            "engine": f"dialect {dialect.ENGINE_VERSION}",
            "made_from": {name: _mark(text) for name, text in aal.items()},
            "wordings": {
                name: made.target
                for name, made in zip(aal, rewrites, strict=True)
                if made.is_changed
            },
        },
        "neutralised": {
            "engine": framing.ENGINE,
            "made_from": {cell: _mark(*texts) for cell, texts in cells.items()},
            "wordings": {
                cell: texts for cell, texts in neutral.items() if texts != list(cells[cell])
            },
        },
    }
    FILE.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
