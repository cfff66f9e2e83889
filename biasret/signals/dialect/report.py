"""The rules against people's own writing: pairs of one text in WME and in AAL."""

from __future__ import annotations

import difflib
from collections import Counter

import pandas as pd

from biasret.errors import TableError
from biasret.signals.dialect.features import FEATURES
from biasret.signals.dialect.sites import sites
from biasret.signals.dialect.tokens import straight, tokenise
from biasret.signals.dialect.wme import to_wme_many

__all__ = ["report_on_pairs", "translation_on_pairs"]

_WINDOW = 5


def report_on_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """For each feature: where our rule would fire, and what the writers did there.

    A site is a place in the WME text where the rule is licensed. It is *kept* when the AAL
    text has the WME words of the site with a word of context on one side, *used* when it has
    the rule's own words with such context, and *reworded* when it has neither, because the
    writer put the whole passage otherwise.

    Parameters
    ----------
    pairs
        ``wme`` and ``aal``: the same text in both.

    Returns
    -------
    pandas.DataFrame by ``feature``
        ``n_sites``; ``n_used``, ``n_kept``, ``n_reworded``; ``share_used`` of the sites that
        were not reworded (missing without any); ``n_elsewhere``: times the normaliser finds
        the feature in the AAL texts; ``n_in_wme``: times it finds it in the WME texts, where
        each is a false alarm of the normaliser or the writer's own style.

    Raises
    ------
    TableError
        A column is missing.
    """
    absent = [name for name in ("wme", "aal") if name not in pairs.columns]
    if absent:
        raise TableError(
            f"Pairs lack the column {', '.join(map(repr, absent))}; "
            f"found {', '.join(map(repr, pairs.columns)) or 'none'}."
        )
    names = [f.name for f in FEATURES.values() if f.is_generated and f.layer != "digital"]
    counts: dict[str, Counter[str]] = {name: Counter() for name in FEATURES}
    wme, aal = pairs["wme"].tolist(), pairs["aal"].tolist()
    for found, written in zip(sites(wme, features=names), aal, strict=True):
        other = " " + " ".join(_words(written)) + " "
        for segment, candidate in found:
            counts[candidate.feature][_outcome(segment.text, candidate.edits, other)] += 1
    for column, texts in (("elsewhere", aal), ("in_wme", wme)):
        for rewrite in to_wme_many(texts):
            undone = {edit.bundle: edit.feature for edit in rewrite.edits}
            for feature in undone.values():
                counts[feature][column] += 1
    rows = [
        {
            "feature": name,
            "n_sites": n["used"] + n["kept"] + n["reworded"],
            "n_used": n["used"],
            "n_kept": n["kept"],
            "n_reworded": n["reworded"],
            "share_used": n["used"] / (n["used"] + n["kept"]) if n["used"] + n["kept"] else None,
            "n_elsewhere": n["elsewhere"],
            "n_in_wme": n["in_wme"],
        }
        for name, n in counts.items()
        if sum(n.values())
    ]
    return pd.DataFrame(rows).astype({"share_used": "float64"})


def _words(text: str) -> list[str]:
    """Lower-case words, *-in'* without its apostrophe, contractions in one piece."""
    words = straight(text).lower().replace("in' ", "in ").split()
    return [word.strip('.,;:!?"()') for word in words]


def _outcome(text: str, edits: tuple[tuple[int, int, str], ...], other: str) -> str:
    """``used``, ``kept`` or ``reworded``: which wording of the site stands in the other text."""
    start, end = edits[0][0], edits[-1][1]
    # An edit may begin or end inside a word ("She's"): take whole words on either side.
    left = text[:start].rfind(" ") + 1
    right = text.find(" ", end)
    right = len(text) if right < 0 else right
    old = _words(text[left:right])
    changed, at = "", left
    for a, b, new in edits:
        changed += text[at:a] + new
        at = b
    put = _words(changed + text[at:right])
    before = _words(text[:left])[-1:]
    after = _words(text[right:])[:1]

    def stands(words: list[str]) -> bool:
        if not words:
            return bool(before and after) and f" {before[-1]} {after[0]} " in other
        centre = " ".join(words)
        with_left = f" {' '.join([*before, centre])} "
        with_right = f" {' '.join([centre, *after])} "
        return (bool(before) and with_left in other) or (bool(after) and with_right in other)

    if stands(put):
        return "used"
    return "kept" if stands(old) else "reworded"


def translation_on_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """How near each AAL text is to its WME twin, before and after `to_wme`.

    Parameters
    ----------
    pairs
        ``wme``, ``aal`` and ``source``.

    Returns
    -------
    pandas.DataFrame by ``source``
        ``n``; ``before`` and ``after``: mean similarity of the word sequences (twice the
        words in common, in order, over all words; 1 is equal); ``share_nearer`` and
        ``share_farther`` of the pairs.
    """
    absent = [name for name in ("wme", "aal", "source") if name not in pairs.columns]
    if absent:
        raise TableError(f"Pairs lack the column {', '.join(map(repr, absent))}.")
    rewrites = to_wme_many(pairs["aal"].tolist())
    frame = pd.DataFrame(
        {
            "source": pairs["source"].to_numpy(),
            "before": [_similar(a, w) for a, w in zip(pairs["aal"], pairs["wme"], strict=True)],
            "after": [_similar(r.target, w) for r, w in zip(rewrites, pairs["wme"], strict=True)],
        }
    )
    frame["nearer"] = frame["after"] > frame["before"]
    frame["farther"] = frame["after"] < frame["before"]
    grouped = frame.groupby("source", sort=True)
    return pd.DataFrame(
        {
            "n": grouped.size(),
            "before": grouped["before"].mean(),
            "after": grouped["after"].mean(),
            "share_nearer": grouped["nearer"].mean(),
            "share_farther": grouped["farther"].mean(),
        }
    ).reset_index()


#: *he's* and *he is* count as the same words.
_FULL = {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "'ll": "will", "n't": "not"}


def _similar(one: str, other: str) -> float:
    first = [_FULL.get(t.lower, t.lower) for t in tokenise(one)]
    second = [_FULL.get(t.lower, t.lower) for t in tokenise(other)]
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()
