"""Which matches of a text get a side's wording, and the changes that give it to them."""

from __future__ import annotations

from dataclasses import dataclass

from biasret.signals.framing.detection import Reading, skip_of
from biasret.signals.framing.editing import Change
from biasret.signals.framing.grammar import Rewording, reword
from biasret.signals.framing.lexicon import Match
from biasret.signals.framing.neutral import label_changes, why_neutral
from biasret.signals.framing.records import STANCES, Term
from biasret.signals.framing.results import Skip

__all__ = ["LexicalChanges", "lexical_changes", "why_not_swapped"]


@dataclass(frozen=True)
class LexicalChanges:
    """Changes for each stance, and what they amount to.

    Attributes
    ----------
    changes
        By stance; all from the same text.
    n_swaps
        Terms whose wording on that side is not the neutral one.
    one_sided
        Swapped terms with no distinct wording on one side.
    skips
        Matches without a side's wording, and why.
    """

    changes: dict[str, list[Change]]
    n_swaps: dict[str, int]
    one_sided: tuple[str, ...]
    skips: tuple[Skip, ...]


def why_not_swapped(match: Match, *, intensity: int, shift_focus: bool) -> str | None:
    """Why a match gets no side's wording, or None where it may be swapped."""
    entry, term = match.entry, match.entry.term
    leans = entry.stance != "neutral"
    put = "put neutrally in all three wordings: " if leans else "left as it is: "
    if entry.instead is not None or not term.is_generated:
        return put + "recognised only, never written for a side"
    if term.klass == "focus" and not shift_focus:
        return (
            put + "its counterparts stress another side of the issue, which is not the same thing"
        )
    if term.intensity > intensity:
        return put + f"its wordings are loaded (level {term.intensity}, asked for {intensity})"
    if term.is_generic and not leans:
        return "left as it is: everyday word, which never starts a swap"
    return None


def lexical_changes(reading: Reading, *, intensity: int, shift_focus: bool) -> LexicalChanges:
    """Swap each term that may be swapped; put the other leaning ones neutrally everywhere.

    The three wordings change at the same matches and at one level, and no word of one side
    stays in the other's wording.
    """
    document = reading.document
    changes: dict[str, list[Change]] = {stance: [] for stance in STANCES}
    n_swaps = dict.fromkeys(STANCES, 0)
    one_sided: list[str] = []
    skips = list(reading.skips())
    for match in reading.matches:
        entry, term = match.entry, match.entry.term
        why_not = why_not_swapped(match, intensity=intensity, shift_focus=shift_focus)
        if why_not is not None:
            skips.append(skip_of(document, match, why_not))
            if entry.stance == "neutral":
                continue
            made = reword(document, match, entry.neutral, stance="neutral", why=why_neutral(match))
            if made.why_not is not None:
                skips[-1] = skip_of(document, match, f"left as it is: {made.why_not}")
            for stance in STANCES:
                changes[stance] += made.changes
            continue
        rewordings = {stance: _rewording(reading, match, stance) for stance in STANCES}
        failed = next((made.why_not for made in rewordings.values() if made.why_not), None)
        if failed is not None:
            neutral = rewordings["neutral"]
            is_put = entry.stance != "neutral" and neutral.why_not is None
            put = "put neutrally in all three wordings" if is_put else "left as it is"
            skips.append(skip_of(document, match, f"{put}: {failed}"))
            for stance in STANCES if is_put else ():
                changes[stance] += neutral.changes
            continue
        for stance, made in rewordings.items():
            changes[stance] += made.changes
            if stance != "neutral" and term.wording(stance).text != term.neutral.text:
                n_swaps[stance] += 1
        if term.is_one_sided:
            one_sided.append(term.name)
    labels = label_changes(document)
    for stance in STANCES:
        changes[stance] += labels
    skips.sort(key=lambda skip: skip.start)
    return LexicalChanges(changes, n_swaps, tuple(dict.fromkeys(one_sided)), tuple(skips))


def _rewording(reading: Reading, match: Match, stance: str) -> Rewording:
    entry, term = match.entry, match.entry.term
    shared = term.wording(stance).text == term.neutral.text
    is_there = entry.stance == stance or (entry.stance == "neutral" and shared)
    if is_there and (stance == "neutral" or not entry.is_alias):
        return Rewording(())
    wording = term.wording("neutral" if shared else stance)
    return reword(reading.document, match, wording, stance=stance, why=_why(match, term, stance))


def _why(match: Match, term: Term, stance: str) -> str:
    if stance == "neutral":
        return (
            why_neutral(match)
            if match.entry.stance != "neutral"
            else "A spelling of the same term."
        )
    same = "names the same thing" if term.klass == "same" else "stresses another side of the issue"
    return f"“{term.wording(stance).text}” {same}; used mostly by {stance}-leaning speakers."
