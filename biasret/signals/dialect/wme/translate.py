"""`to_wme`: read, propose, resolve by confidence, check, realise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from biasret.errors import InputError
from biasret.signals.dialect.contract import counts_of, meaning_of
from biasret.signals.dialect.features import FEATURES
from biasret.signals.dialect.parsing import parser_available, read_segments, shared_parser
from biasret.signals.dialect.protection import Shield
from biasret.signals.dialect.records import Edit, Refused, Rewrite, checked_text, realise
from biasret.signals.dialect.tokens import Segment
from biasret.signals.dialect.view import Candidate, View
from biasret.signals.dialect.wme import negation, others, verbs
from biasret.signals.dialect.wme.reading import read_back

__all__ = ["BACK_RULES", "to_wme", "to_wme_many"]

BackRule = Callable[[View], Iterator[Candidate]]

#: In order of priority among equals.
BACK_RULES: tuple[BackRule, ...] = (
    negation.inversion,
    negation.aint,
    negation.dont,
    negation.concord,
    negation.never,
    verbs.habitual,
    verbs.done,
    verbs.been,
    others.where_at,
    others.questions,
    others.yn_question,
    verbs.zero_be,
    others.embedded,
    verbs.leveled,
    verbs.third_person,
    verbs.was,
    others.pointing,
    others.real,
    others.doubled,
    others.yall,
    others.than_what,
    others.articles,
    others.coordinated,
    others.dative,
    others.genitive,
    others.existential,
)


def to_wme(text: str, *, confidence: float = 0.7) -> Rewrite:
    """The WME wording of a text in AAL, as far as rules can tell.

    Spellings are read back first; grammar needs the parser. Words of AAL that carry
    meaning of their own stay, *y'all* aside.

    Parameters
    ----------
    confidence
        In [0, 1]: a change is made from this confidence on; one below is listed in
        `Rewrite.skipped` as a suggestion.

    Examples
    --------
    >>> to_wme("He don't have no fever.").target
    "He doesn't have any fever."
    """
    return to_wme_many([text], confidence=confidence)[0]


def to_wme_many(texts: Iterable[str], *, confidence: float = 0.7) -> list[Rewrite]:
    """`to_wme` of each text; all are parsed in one batch."""
    if not 0 <= confidence <= 1:
        raise InputError(f"The confidence lies in [0, 1]; found {confidence!r}.")
    return [
        _rewrite(source, found, confidence, parsed) for source, found, parsed in _candidates(texts)
    ]


_Found = list[tuple[Segment, list[Candidate]]]


def _candidates(texts: Iterable[str]) -> Iterator[tuple[str, _Found, bool]]:
    sources = [checked_text(text) for text in texts]
    parser = shared_parser() if parser_available() else None
    everything: list[tuple[Segment, Segment, list[Candidate], Shield]] = []
    owners: list[int] = []
    for n, segments in enumerate(read_segments(sources, parser=None)):
        shield = Shield(sources[n], segments=segments)
        for segment in segments:
            read, spellings = read_back(segment, shield)
            everything.append((segment, read, spellings, shield))
            owners.append(n)
    if parser is not None:
        parser.annotate([read for _, read, _, _ in everything if read.tokens])
    results: list[_Found] = [[] for _ in sources]
    for n, (segment, read, spellings, shield) in zip(owners, everything, strict=True):
        candidates = list(spellings)
        if parser is not None:
            view = View(read, enabled=frozenset(FEATURES))
            candidates += [c for rule in BACK_RULES for c in rule(view)]
        results[n].append((segment, [c for c in candidates if _is_free(segment, c, shield)]))
    for source, found in zip(sources, results, strict=True):
        yield source, found, parser is not None


def _is_free(segment: Segment, candidate: Candidate, shield: Shield) -> bool:
    return all(
        shield.reason(segment.start + start, segment.start + end) is None
        for start, end, _ in candidate.edits
    )


def _rewrite(source: str, found: _Found, confidence: float, parsed: bool) -> Rewrite:
    chosen: list[tuple[Segment, Candidate]] = []
    skipped: list[Refused] = []
    for segment, candidates in found:
        kept: list[Candidate] = []
        for candidate in sorted(candidates, key=lambda c: -c.confidence):
            if candidate.confidence < confidence:
                skipped.append(_suggestion(segment, candidate, "suggestion", "below the threshold"))
            elif any(_touch(candidate, other) for other in kept):
                skipped.append(_suggestion(segment, candidate, "lost", "the words went elsewhere"))
            elif fault := _back_fault(segment, candidate):
                skipped.append(_suggestion(segment, candidate, "contract", fault))
            else:
                kept.append(candidate)
        chosen += [(segment, candidate) for candidate in kept]
    target, edits = _placed(source, chosen)
    config: dict[str, object] = {
        "confidence": confidence,
        "backend": "parser" if parsed else "tokens",
        "notices": [] if parsed else ["Without the parser only spellings are read back."],
    }
    skipped.sort(key=lambda r: (r.start, r.end, r.feature))
    return Rewrite(source, target, tuple(edits), tuple(skipped), config, counts_of(source))


def _touch(one: Candidate, other: Candidate) -> bool:
    return any(
        (a < d and c < b) or (a == b == c == d) for a, b, _ in one.edits for c, d, _ in other.edits
    )


def _back_fault(segment: Segment, candidate: Candidate) -> str | None:
    """What a change on the way back did not keep; *usually* may come in for habitual be."""
    old = meaning_of(segment.text)
    new = meaning_of(realise(segment.text, list(candidate.edits)))
    if old.numbers != new.numbers or old.marks != new.marks:
        return "a number or sentence mark changed"
    before, after = Counter(dict(old.content)), Counter(dict(new.content))
    added = set((after - before).keys()) | set((before - after).keys())
    if added - {"usually"} - _spelled_words(candidate):
        return "words with content changed: " + ", ".join(sorted(added))
    return None


def _spelled_words(candidate: Candidate) -> set[str]:
    """The words that a spelling edit itself names, which are one word in two spellings."""
    if not FEATURES[candidate.feature].is_spelling and candidate.feature not in (
        "reflexive_regular", "future_gon", "finna",
    ):  # fmt: skip
        return set()
    named = " ".join(new for _, _, new in candidate.edits) + " " + candidate.why
    return {word.strip("“”.,'").lower() for word in named.split()}


def _suggestion(segment: Segment, candidate: Candidate, code: str, reason: str) -> Refused:
    start, end = candidate.edits[0][0], candidate.edits[-1][1]
    local = [(a - start, b - start, new) for a, b, new in candidate.edits]
    shown = segment.text[start:end]
    return Refused(
        segment.start + start,
        segment.start + end,
        shown,
        candidate.feature,
        code,
        reason,
        realise(shown, local).strip(),
        candidate.confidence,
    )


def _placed(source: str, chosen: list[tuple[Segment, Candidate]]) -> tuple[str, list[Edit]]:
    flat = sorted(
        (
            (segment.start + start, segment.start + end, new, n, candidate)
            for n, (segment, candidate) in enumerate(chosen)
            for start, end, new in candidate.edits
        ),
        key=lambda entry: entry[:2],
    )
    bundles: dict[int, int] = {}
    edits = []
    shift = 0
    for start, end, new, n, candidate in flat:
        feature = FEATURES[candidate.feature]
        edits.append(
            Edit(
                start=start,
                end=end,
                target_start=start + shift,
                target_end=start + shift + len(new),
                original=source[start:end],
                replacement=new,
                feature=feature.name,
                layer=feature.layer,
                bundle=bundles.setdefault(n, len(bundles)),
                ewave=feature.ewave,
                why=candidate.why,
                meaning=feature.meaning,
                shared=feature.shared,
                p=None,
                u=None,
                confidence=candidate.confidence,
                composed=candidate.composed,
            )
        )
        shift += len(new) - (end - start)
    return realise(source, [entry[:3] for entry in flat]), edits
