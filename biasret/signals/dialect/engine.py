"""WME to AAL: propose, resolve, draw, realise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from biasret.errors import InputError
from biasret.signals.dialect.contract import counts_of, violation
from biasret.signals.dialect.features import FEATURES, enabled_features
from biasret.signals.dialect.parsing import parser_available, read_segments, shared_parser
from biasret.signals.dialect.protection import Shield
from biasret.signals.dialect.records import Edit, Refused, Rewrite, checked_text, realise
from biasret.signals.dialect.rules import RULES
from biasret.signals.dialect.tokens import Segment
from biasret.signals.dialect.view import Candidate, Proposal, View

__all__ = ["BACKENDS", "Plan", "drawn", "plan", "plans", "to_aal", "variants"]

#: ``auto`` takes the parser where it is installed.
BACKENDS = ("auto", "parser", "tokens")


@dataclass(frozen=True)
class Planned:
    """A candidate that won its place, before any draw."""

    candidate: Candidate
    segment: Segment
    weight: float
    min_density: float

    def draw(self, seed: int) -> float:
        """The draw in [0, 1): a hash of seed, rule, sentence, place and words.

        No other sentence, process or platform can change it.
        """
        text = self.segment.text
        start, end, _ = self.candidate.edits[0]
        name = FEATURES[self.candidate.feature].id
        key = f"{seed}|{name}|{text}|{start}|{text[start:end]}"
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def threshold(self, seed: int) -> float:
        """The lowest density at which the candidate is used: u < d ** (1 / w)."""
        return max(self.min_density, self.draw(seed) ** self.weight)


@dataclass(frozen=True)
class Plan:
    """All that can be done with a text, for every density and seed."""

    source: str
    winners: tuple[Planned, ...]
    refused: tuple[Refused, ...]
    n_protected: int
    enabled: frozenset[str]
    backend: str
    needs_parser: tuple[str, ...]
    protect: str


def to_aal(
    text: str,
    *,
    density: float = 0.4,
    min_edits: int = 1,
    seed: int = 0,
    features: Iterable[str] | None = None,
    profile: str = "grammar+ing",
    protect: str = "standard",
    backend: str = "auto",
) -> Rewrite:
    """A WME text with features of AAL, each with the reason it is licensed.

    The result is synthetic: rule-based features laid over WME, not a speaker's words.

    Parameters
    ----------
    density
        In [0, 1]: a candidate of weight w is used with probability ``density ** (1 / w)``;
        0 leaves the text as it is, 1 uses every candidate (a stress test). What is used at
        a density is also used at any higher one.
    min_edits
        At least this many candidates where there are so many, by raising the density;
        ``config["effective_density"]`` says to what. Ignored at density 0.
    seed
        Another seed draws other candidates.
    features
        Keys of `FEATURES` to use, all others off; by default those of the profile.
    profile
        ``"grammar"``, ``"grammar+ing"``, ``"full"`` or ``"custom"``.
    protect
        ``"standard"`` or ``"strict"`` (symptom words in *-ing* stay too).
    backend
        ``"parser"``, ``"tokens"`` (only the features that need no parse) or ``"auto"``.

    Raises
    ------
    InputError
        An argument is out of range, or no such feature, profile or level.
    NotInstalled
        The parser is asked for and missing.

    Examples
    --------
    >>> result = to_aal("He doesn't want any pills.", density=1, backend="tokens")
    >>> result.target
    "He don't want no pills."
    >>> [(edit.original, edit.replacement, edit.feature) for edit in result.edits]
    [("doesn't", "don't", 'invariant_dont'), ('any', 'no', 'negative_concord')]
    """
    prepared = plan(text, features=features, profile=profile, protect=protect, backend=backend)
    return drawn(prepared, density=density, min_edits=min_edits, seed=seed, profile=profile)


def variants(
    text: str,
    *,
    k: int = 3,
    density: float = 0.4,
    min_edits: int = 1,
    seed: int = 0,
    features: Iterable[str] | None = None,
    profile: str = "grammar+ing",
    protect: str = "standard",
    backend: str = "auto",
) -> tuple[Rewrite, ...]:
    """`k` rewrites with the seeds ``seed``, ``seed + 1``, ...; parsed once.

    Two may be alike: ``config["duplicate_of"]`` is then the seed of the first, else None.
    The other parameters are those of `to_aal`.
    """
    if k < 1:
        raise InputError(f"At least one variant is needed; found k = {k}.")
    prepared = plan(text, features=features, profile=profile, protect=protect, backend=backend)
    found: list[Rewrite] = []
    first_seed: dict[str, int] = {}
    for at in range(seed, seed + k):
        rewrite = drawn(prepared, density=density, min_edits=min_edits, seed=at, profile=profile)
        config = {**rewrite.config, "duplicate_of": first_seed.get(rewrite.target)}
        first_seed.setdefault(rewrite.target, at)
        found.append(replace(rewrite, config=config))
    return tuple(found)


def plan(
    text: str,
    *,
    features: Iterable[str] | None = None,
    profile: str = "grammar+ing",
    protect: str = "standard",
    backend: str = "auto",
) -> Plan:
    """What can be done with one text; see `plans`."""
    return plans([text], features=features, profile=profile, protect=protect, backend=backend)[0]


def plans(
    texts: Iterable[str],
    *,
    features: Iterable[str] | None = None,
    profile: str = "grammar+ing",
    protect: str = "standard",
    backend: str = "auto",
) -> list[Plan]:
    """What can be done with each text; all are parsed in one batch.

    The parameters are those of `to_aal`.
    """
    enabled = enabled_features(features, profile)
    if backend not in BACKENDS:
        raise InputError(f"The backend is {', '.join(map(repr, BACKENDS))}; found {backend!r}.")
    with_parser = backend == "parser" or (backend == "auto" and parser_available())
    needs = () if with_parser else tuple(n for n in FEATURES if n in enabled and _needs(n))
    usable = enabled - set(needs)
    sources = [checked_text(text) for text in texts]
    read = read_segments(sources, parser=shared_parser() if with_parser else None)
    return [
        _plan(source, segments, usable, needs, protect)
        for source, segments in zip(sources, read, strict=True)
    ]


def _needs(name: str) -> bool:
    return not FEATURES[name].token_safe


def _plan(
    source: str,
    segments: list[Segment],
    enabled: frozenset[str],
    needs: tuple[str, ...],
    protect: str,
) -> Plan:
    shield = Shield(source, segments=segments, level=protect)
    winners: list[Planned] = []
    refused: list[Refused] = []
    for segment in segments:
        kept: list[Candidate] = []
        for proposal in proposals(segment, enabled):
            if not isinstance(proposal, Candidate):
                refused.append(_refused(segment, proposal.start, proposal.end, proposal.feature,
                                        proposal.code, proposal.reason))  # fmt: skip
                continue
            fault = protected(segment, proposal, shield)
            if fault is None:
                kept.append(proposal)
            else:
                refused.append(_of_candidate(segment, proposal, "protected", fault))
        for candidate, rival in _resolved(kept):
            if rival is not None:
                lost = f"the same words went to {rival.feature}"
                refused.append(_of_candidate(segment, candidate, "lost", lost))
                continue
            fault = contract_fault(segment, candidate)
            if fault is not None:
                refused.append(_of_candidate(segment, candidate, "contract", fault))
                continue
            feature = FEATURES[candidate.feature]
            lowest = max(
                [candidate.min_density, feature.min_density]
                + [FEATURES[name].min_density for name in candidate.composed]
            )
            weight = min(1.0, feature.weight * candidate.weight)
            winners.append(Planned(candidate, segment, weight, lowest))
    backend = "tokens" if needs or not any(s.is_parsed for s in segments) else "parser"
    return Plan(
        source, tuple(winners), tuple(refused), len(shield.spans), enabled, backend, needs, protect
    )


def proposals(segment: Segment, enabled: frozenset[str]) -> Iterator[Proposal]:
    """What the enabled rules say about a segment; a rule shared by features runs once."""
    view = View(segment, enabled=enabled)
    for rule in dict.fromkeys(RULES[name] for name in RULES if name in enabled):
        for proposal in rule(view):
            if proposal.feature in enabled:
                yield proposal


def protected(segment: Segment, candidate: Candidate, shield: Shield) -> str | None:
    for start, end, _ in candidate.edits:
        reason = shield.reason(segment.start + start, segment.start + end)
        if reason is not None:
            return f"it is part of {reason}"
    return None


def contract_fault(segment: Segment, candidate: Candidate) -> str | None:
    target = realise(segment.text, list(candidate.edits))
    return violation(segment.text, target, features=[candidate.feature, *candidate.composed])


def _resolved(candidates: list[Candidate]) -> Iterator[tuple[Candidate, Candidate | None]]:
    """Each candidate with the one it lost to, or None for a winner; before any draw."""

    def priority(candidate: Candidate) -> tuple[int, int, int, str]:
        feature = FEATURES[candidate.feature]
        start = min(edit[0] for edit in candidate.edits)
        return feature.order, start, -len(candidate.edits), feature.id

    winners: list[Candidate] = []
    for candidate in sorted(candidates, key=priority):
        rival = next((w for w in winners if _overlap(w, candidate)), None)
        if rival is None:
            winners.append(candidate)
        yield candidate, rival


def _overlap(one: Candidate, other: Candidate) -> bool:
    return any(
        (a < d and c < b) or (a == b == c == d) for a, b, _ in one.edits for c, d, _ in other.edits
    )


def _refused(
    segment: Segment,
    start: int,
    end: int,
    feature: str,
    code: str,
    reason: str,
    suggestion: str | None = None,
) -> Refused:
    at = segment.start
    return Refused(at + start, at + end, segment.text[start:end], feature, code, reason, suggestion)


def _of_candidate(segment: Segment, candidate: Candidate, code: str, reason: str) -> Refused:
    start, end = candidate.edits[0][0], candidate.edits[-1][1]
    shown = segment.text[start:end]
    local = [(a - start, b - start, new) for a, b, new in candidate.edits]
    return _refused(
        segment, start, end, candidate.feature, code, reason, realise(shown, local).strip()
    )


def drawn(prepared: Plan, *, density: float, min_edits: int, seed: int, profile: str) -> Rewrite:
    """The rewrite of a plan at one density and seed."""
    if not 0 <= density <= 1:
        raise InputError(f"The density lies in [0, 1]; found {density!r}.")
    if min_edits < 0:
        raise InputError(f"The least number of edits is 0 or more; found {min_edits!r}.")
    thresholds = [winner.threshold(seed) for winner in prepared.winners]
    effective = float(density)
    if density > 0 and len(thresholds) > 0 and min_edits > 0:
        effective = max(effective, sorted(thresholds)[min(min_edits, len(thresholds)) - 1])
    chosen = [
        (winner, winner.draw(seed))
        for winner, threshold in zip(prepared.winners, thresholds, strict=True)
        if effective > 0 and (threshold <= effective or effective == 1)
    ]
    used = {id(winner) for winner, _ in chosen}
    skipped = list(prepared.refused) + [
        _of_candidate(w.segment, w.candidate, "not_drawn", f"not drawn; it is from {t:.2f} on")
        for w, t in zip(prepared.winners, thresholds, strict=True)
        if id(w) not in used
    ]
    target, edits = _placed(prepared.source, chosen, effective)
    config: dict[str, object] = {
        "density": float(density),
        "effective_density": effective,
        "min_edits": min_edits,
        "seed": seed,
        "profile": profile,
        "features": sorted(prepared.enabled),
        "protect": prepared.protect,
        "backend": prepared.backend,
        "needs_parser": list(prepared.needs_parser),
        "notices": [] if edits or density == 0 else ["No feature has a place in this text."],
    }
    checks = counts_of(prepared.source) | {"protected": prepared.n_protected}
    skipped.sort(key=lambda r: (r.start, r.end, r.feature))
    return Rewrite(prepared.source, target, tuple(edits), tuple(skipped), config, checks)


def _placed(
    source: str, chosen: list[tuple[Planned, float]], density: float
) -> tuple[str, list[Edit]]:
    """The target, and the edits with their offsets in it."""
    flat = sorted(
        (
            (w.segment.start + start, w.segment.start + end, new, w, u)
            for w, u in chosen
            for start, end, new in w.candidate.edits
        ),
        key=lambda entry: entry[:2],
    )
    bundles: dict[int, int] = {}
    edits = []
    shift = 0
    for start, end, new, winner, u in flat:
        feature = FEATURES[winner.candidate.feature]
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
                bundle=bundles.setdefault(id(winner), len(bundles)),
                ewave=feature.ewave,
                why=winner.candidate.why,
                meaning=feature.meaning,
                shared=feature.shared,
                p=min(1.0, density ** (1 / winner.weight)),
                u=u,
                confidence=1.0,
                composed=winner.candidate.composed,
            )
        )
        shift += len(new) - (end - start)
    return realise(source, [entry[:3] for entry in flat]), edits
