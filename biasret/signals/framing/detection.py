"""What a text is about, which frame it takes, and which of its words lean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from biasret.signals.framing.guards import blocked
from biasret.signals.framing.inflect import in_number
from biasret.signals.framing.lexicon import Match, matches
from biasret.signals.framing.records import FRAMES, TOPICS
from biasret.signals.framing.results import Detection, Hit, Skip
from biasret.signals.framing.tokens import Document, Token, read
from biasret.signals.framing.wordlists import FUNCTION_WORDS

__all__ = ["Reading", "detect", "lean_of", "read_text", "skip_of", "topics_at"]

#: Words that start like a cue and are not one.
_NOT_CUES = frozenset(
    "important importantly importance taxi taxis bankrupt rentals renter's justicia"
    " immigrate strikeout strikeouts strikers sciences sentencing's costa costar costars"
    " costume costumes workshop workshops faithless wagered marketplace's moralising"
    " patiently".split()
)


@dataclass(frozen=True)
class Reading:
    """A document with its guarded matches, its topic and its frame: found once, used by all.

    `matches` passed their guards; `skipped` did not, each with the reason.
    """

    document: Document
    matches: tuple[Match, ...]
    skipped: tuple[tuple[Match, str], ...]
    topic: str | None
    frame: str

    def skips(self) -> tuple[Skip, ...]:
        """The blocked matches for the reader."""
        return tuple(skip_of(self.document, match, why) for match, why in self.skipped)


def skip_of(document: Document, match: Match, why: str) -> Skip:
    """A match that was not swapped, with the reason."""
    text = document.text[match.start : match.end]
    return Skip(match.start, match.end, text, match.entry.term.name, why)


def detect(text: str) -> Detection:
    """Topic, frame, and the words of the lexicon in a text with their stance.

    Parameters
    ----------
    text
        Any string; English about US public affairs is what the lexicon knows.

    Returns
    -------
    Detection
        `lean` rates wording, never a person, and is None where no word leans.

    Examples
    --------
    >>> found = detect("How will the death tax hit family farms?")
    >>> found.topic, found.frame, found.lean
    ('taxes', 'economic', 1.0)
    >>> [(hit.text, hit.stance, hit.neutral) for hit in found.hits]
    [('death tax', 'right', 'estate tax')]
    """
    reading = read_text(text)
    hits = tuple(_hit(reading.document, match) for match in reading.matches)
    return Detection(
        text=text,
        topic=reading.topic,
        frame=reading.frame,
        hits=hits,
        lean=lean_of(reading.matches),
        n_left=sum(hit.stance == "left" for hit in hits),
        n_right=sum(hit.stance == "right" for hit in hits),
        skips=reading.skips(),
    )


def _hit(document: Document, match: Match) -> Hit:
    entry = match.entry
    same_number = entry.wording.number == entry.neutral.number
    neutral, _ = in_number(entry.neutral, is_other=entry.is_other_number and same_number)
    return Hit(
        start=match.start,
        end=match.end,
        text=document.text[match.start : match.end],
        stance=entry.stance,
        term=entry.term.name,
        topic=entry.term.topic,
        klass=entry.term.klass,
        intensity=entry.term.intensity,
        is_common=entry.stance in entry.term.common,
        neutral=neutral,
    )


def lean_of(found: Iterable[Match]) -> float | None:
    """(right - left) / (right + left), hits weighted by intensity; None where none leans."""
    weight = {"left": 0, "neutral": 0, "right": 0}
    for match in found:
        term = match.entry.term
        if match.entry.stance not in term.common:
            weight[match.entry.stance] += term.intensity
    total = weight["left"] + weight["right"]
    return (weight["right"] - weight["left"]) / total if total else None


def read_text(text: str) -> Reading:
    """Read a text once for every function of the engine."""
    document = read(text)
    found = matches(document)
    # Two rounds: a guard may ask for the topic, which the other matches help to decide.
    first = [(match, blocked(document, match, topic=None)) for match in found]
    sure = [match for match, why in first if why is None]
    asks = {
        id(match)
        for match in found
        if any(guard.startswith(("topic:", "not-topic:")) for guard in match.entry.term.guards)
    }
    topic = _topic(document, sure, [m for m, why in first if why is not None and id(m) not in asks])
    passed: list[Match] = []
    skipped: list[tuple[Match, str]] = []
    for match, why in first:
        if id(match) in asks:
            why = blocked(document, match, topic=topic)
        if why is None:
            passed.append(match)
        else:
            skipped.append((match, why))
    if asks:
        topic = _topic(document, passed, [match for match, _ in skipped])
    return Reading(document, tuple(passed), tuple(skipped), topic, _frame(document, skipped))


# Cues ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cue:
    owner: int
    words: tuple[str, ...]
    is_prefix: bool
    is_cased: bool


@dataclass(frozen=True)
class _Cues:
    """Cues of topics or frames by first word; prefixes by their first three letters."""

    names: tuple[str, ...]
    exact: dict[str, list[_Cue]]
    prefixes: dict[str, list[_Cue]]


def _cues_of(owners: Iterable[tuple[str, tuple[str, ...]]]) -> _Cues:
    names, exact, prefixes = [], {}, {}  # type: ignore[var-annotated]
    for owner, (name, cues) in enumerate(owners):
        names.append(name)
        for cue in cues:
            plain = cue.removesuffix("*")
            words = tuple(token.key for token in read(plain).tokens)
            record = _Cue(
                owner,
                words,
                cue.endswith("*"),
                plain.isupper() or plain in {"Black", "Roe", "House"},
            )
            place = prefixes if record.is_prefix and len(words) == 1 else exact
            key = words[0][:3] if place is prefixes else words[0]
            place.setdefault(key, []).append(record)
    return _Cues(tuple(names), exact, prefixes)


@cache
def _topic_cues() -> _Cues:
    return _cues_of((topic.name, topic.cues) for topic in TOPICS.values())


@cache
def _frame_cues() -> _Cues:
    return _cues_of((frame.name, frame.cues) for frame in FRAMES.values())


@lru_cache(maxsize=65_536)
def _prefix_owners(key: str, is_topic: bool) -> tuple[tuple[int, str], ...]:
    if key in _NOT_CUES:
        return ()
    cues = _topic_cues() if is_topic else _frame_cues()
    return tuple(
        (cue.owner, cue.words[0])
        for cue in cues.prefixes.get(key[:3], ())
        if key.startswith(cue.words[0])
    )


def _owners(tokens: list[Token], at: int, *, is_topic: bool) -> list[tuple[int, str]]:
    """Topics or frames a token is a cue for, each with the cue."""
    token = tokens[at]
    found = list(_prefix_owners(token.base, is_topic))
    cues = _topic_cues() if is_topic else _frame_cues()
    for cue in cues.exact.get(token.base, ()):
        if cue.is_cased and not (token.text.isupper() if len(token.text) < 4 else token.is_capital):
            continue
        rest = tokens[at + 1 : at + len(cue.words)]
        if len(rest) != len(cue.words) - 1:
            continue
        if all(
            other.link == "tight"
            and (
                other.key == word
                or (cue.is_prefix and word is cue.words[-1] and other.key.startswith(word))
            )
            for other, word in zip(rest, cue.words[1:], strict=True)
        ):
            found.append((cue.owner, " ".join(cue.words)))
    return found


def topics_at(document: Document, at: int) -> frozenset[str]:
    """Topics a token is a cue for."""
    names = _topic_cues().names
    return frozenset(names[owner] for owner, _ in _owners(document.tokens, at, is_topic=True))


def _hidden(skipped: Iterable[Match]) -> set[int]:
    places: set[int] = set()
    for match in skipped:
        places.update(range(match.first, match.last + 1))
    return places


def _topic(document: Document, found: list[Match], skipped: list[Match]) -> str | None:
    scores = [0.0] * len(TOPICS)
    order = {name: place for place, name in enumerate(TOPICS)}
    for match in found:
        scores[order[match.entry.term.topic]] += 2.0
    tokens, hidden = document.tokens, _hidden(skipped)
    for at, token in enumerate(tokens):
        owners = _owners(tokens, at, is_topic=True)
        if not owners or at in hidden:
            continue
        if document.protected and document.protection(token.start, token.end):
            continue
        weight = 0.5 if _is_in_name(document, at) else 1.0
        for owner, _ in owners:
            scores[owner] += weight
    best = max(scores)
    return list(TOPICS)[scores.index(best)] if best >= 1.0 else None


def _is_in_name(document: Document, at: int) -> bool:
    """Whether a cue stands in a run of capitals that are neither its own nor a heading's."""
    tokens, token = document.tokens, document.tokens[at]
    if document.is_title_case or not token.is_capital or token.is_first or token.text.isupper():
        return False
    before, after = tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else None
    if (before.text + " " + token.text) in _KNOWN_NAMES:
        return False
    if after is not None and (token.text + " " + after.text) in _KNOWN_NAMES:
        return False
    beside = before.is_capital and not before.is_first and token.link == "tight"
    return beside or (after is not None and after.is_capital and after.link == "tight")


_KNOWN_NAMES = frozenset(
    cue for topic in TOPICS.values() for cue in topic.cues if " " in cue and cue[0].isupper()
)


def _frame(document: Document, skipped: Iterable[tuple[Match, str]]) -> str:
    tokens = document.tokens
    stems: dict[int, set[str]] = {}
    heads = _heads(tokens)
    bonus: set[int] = set()
    for at, token in enumerate(tokens):
        owners = _owners(tokens, at, is_topic=False)
        if not owners or (document.protected and document.protection(token.start, token.end)):
            continue
        for owner, stem in owners:
            stems.setdefault(owner, set()).add(stem)
            if at in heads:
                bonus.add(owner)
    if not stems:
        return "other"
    # Spec: number of distinct stems, one more where a cue heads the main phrase.
    score = {owner: len(found) + (owner in bonus) for owner, found in stems.items()}
    best = max(score.values())
    return _frame_cues().names[min(owner for owner, value in score.items() if value == best)]


def _heads(tokens: list[Token]) -> set[int]:
    """The last word of the first run of content words: near enough its head without a parser."""
    start = next((at for at, t in enumerate(tokens) if t.key not in FUNCTION_WORDS), None)
    if start is None:
        return set()
    end = start
    while (
        end + 1 < len(tokens)
        and tokens[end + 1].link == "tight"
        and tokens[end + 1].key not in FUNCTION_WORDS
    ):
        end += 1
    return {end} if end - start < 4 else {start}
