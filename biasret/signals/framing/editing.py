"""Changes to a text as spans, their joint application, and two rounds of them as one."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from biasret.signals.framing.results import Edit

__all__ = ["Change", "apply", "compose"]


@dataclass(frozen=True)
class Change:
    """A span to replace, and what the reader is told about it; fields as in `Edit`."""

    start: int
    end: int
    replacement: str
    kind: str
    why: str
    term: str | None = None
    topic: str | None = None
    lean_from: str | None = None
    lean_to: str | None = None
    klass: str | None = None
    intensity: int | None = None


def apply(text: str, changes: Iterable[Change]) -> tuple[str, tuple[Edit, ...]]:
    """Carry out changes; a change that overlaps an earlier one in the list is dropped.

    Returns
    -------
    text, edits
        Edits in order of place, without those that change nothing.
    """
    kept: list[Change] = []
    taken: list[tuple[int, int]] = []
    for change in changes:
        if text[change.start : change.end] == change.replacement:
            continue
        place = bisect_left(taken, (change.start, change.end))
        around = taken[max(place - 1, 0) : place + 1]
        if not any(change.start < end and start < change.end for start, end in around):
            kept.append(change)
            if change.start < change.end:
                insort(taken, (change.start, change.end))
    # Stable: insertions at one place stay in the order given, before what they stand before.
    kept.sort(key=lambda change: (change.start, change.end))
    pieces: list[str] = []
    edits: list[Edit] = []
    at = length = 0
    for change in kept:
        same = text[at : change.start]
        pieces += [same, change.replacement]
        start = length + len(same)
        length = start + len(change.replacement)
        edits.append(
            Edit(
                start=change.start,
                end=change.end,
                target_start=start,
                target_end=length,
                original=text[change.start : change.end],
                replacement=change.replacement,
                kind=change.kind,
                why=change.why,
                term=change.term,
                topic=change.topic,
                lean_from=change.lean_from,
                lean_to=change.lean_to,
                klass=change.klass,
                intensity=change.intensity,
            )
        )
        at = change.end
    pieces.append(text[at:])
    return "".join(pieces), tuple(edits)


def compose(
    text: str, first: Sequence[Edit], middle: str, second: Sequence[Edit], final: str
) -> tuple[Edit, ...]:
    """Edits from `text` to `final`, given those to `middle` and from there on.

    Edits of both rounds that touch become one; it keeps the words of the later round.
    """
    if not second:
        return tuple(first)
    if not first:
        return tuple(second)
    # Group, over the middle text, spans of either round that overlap or touch.
    spans = [(edit.target_start, edit.target_end, 0, edit) for edit in first]
    spans += [(edit.start, edit.end, 1, edit) for edit in second]
    spans.sort(key=lambda span: (span[0], span[1], span[2]))
    groups: list[tuple[int, int, list[tuple[int, Edit]]]] = []
    for start, end, round_, edit in spans:
        if groups and start <= groups[-1][1]:
            low, high, members = groups[-1]
            members.append((round_, edit))
            groups[-1] = (low, max(high, end), members)
        else:
            groups.append((start, end, [(round_, edit)]))
    edits = []
    shift_source = shift_target = 0  # source and target place minus middle place
    for start, end, members in groups:
        source_start, target_start = start + shift_source, start + shift_target
        for round_, edit in members:
            if round_ == 0:
                shift_source += (edit.end - edit.start) - (edit.target_end - edit.target_start)
            else:
                shift_target += (edit.target_end - edit.target_start) - (edit.end - edit.start)
        source_end, target_end = end + shift_source, end + shift_target
        last = max(members, key=lambda member: member[0])[1]
        rich = next((edit for _, edit in members if edit.term is not None), last)
        joined = replace(
            rich,
            start=source_start,
            end=source_end,
            target_start=target_start,
            target_end=target_end,
            original=text[source_start:source_end],
            replacement=final[target_start:target_end],
            kind=rich.kind if len(members) > 1 else last.kind,
        )
        if joined.original != joined.replacement:
            edits.append(joined)
    return tuple(edits)
