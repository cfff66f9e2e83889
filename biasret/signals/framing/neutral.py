"""The neutraliser: the most descriptive wording we could find for a text."""

from __future__ import annotations

from collections.abc import Iterable

from biasret.signals.framing.blocklist import blocked_words
from biasret.signals.framing.detection import Reading, lean_of, read_text, skip_of
from biasret.signals.framing.editing import Change, apply, compose
from biasret.signals.framing.grammar import article_change, reword
from biasret.signals.framing.inflect import in_capitals
from biasret.signals.framing.lexicon import Match
from biasret.signals.framing.loaded import EVALUATIVE, leading, verbs
from biasret.signals.framing.records import Wording
from biasret.signals.framing.results import Neutralised, Skip
from biasret.signals.framing.tails import find_tail
from biasret.signals.framing.tokens import Document
from biasret.signals.framing.wordlists import FUNCTION_WORDS, POLICY_NOUNS

__all__ = ["label_changes", "neutral_changes", "neutralise", "why_neutral"]

#: Rounds until nothing changes; a round can bring a word beside another rule's word.
_ROUNDS = 5
_FEWEST_WORDS = 3


def why_neutral(match: Match) -> str:
    """The sentence shown for a term put into its neutral wording."""
    side = {"left": "left-leaning", "right": "right-leaning"}[match.entry.stance]
    lead = f"Used mostly by {side} speakers; “{match.entry.neutral.text}” "
    if match.entry.term.klass == "focus" or match.entry.instead is not None:
        return lead + "describes the subject without that emphasis."
    return lead + "names the same thing."


def neutralise(text: str) -> Neutralised:
    """Take the lean out of a text's wording: the mitigation.

    Terms of either side become their neutral wording, insults the plain name of the group;
    evaluative adjectives before a policy are dropped, loaded verbs and leading questions
    rephrased, the engine's own tails removed. Negations, numbers, names and quotations
    stay. Doing it twice is doing it once.

    Parameters
    ----------
    text
        Any string.

    Returns
    -------
    Neutralised
        With the query lean before and after, and every edit against `text`.

    Examples
    --------
    >>> neutralise("Do commonsense voter ID laws stop ballot fraud?").text
    'Do voter ID laws stop ballot fraud?'
    """
    before = read_text(text)
    # The engine's own tail goes first: what it says is not what the text is about.
    current, edits = apply(text, _tail(text))
    bare, untailed = current, edits
    reading = first = read_text(current) if edits else before
    n_hits = 0
    skips: list[Skip] = list(first.skips())
    for round_ in range(_ROUNDS):
        changes, missed = _round(reading)
        following, made = apply(current, changes)
        if round_ == 0:
            skips += missed
        n_hits += sum(edit.kind == "term" for edit in made)
        if not made:
            break
        edits = compose(text, edits, current, made, following)
        current = following
        reading = read_text(current)
    notices = []
    fewest = min(_FEWEST_WORDS, _n_content(first.document))
    if edits != untailed and _n_content(reading.document) < fewest:
        current, edits, reading, n_hits = bare, untailed, first, 0
        notices.append("Neutralising would leave too few words, so the text stays as it was.")
    return Neutralised(
        original=text,
        text=current,
        edits=edits,
        n_hits=n_hits,
        lean_before=lean_of(before.matches),
        lean_after=lean_of(reading.matches),
        skips=tuple(sorted(skips, key=lambda skip: skip.start)),
        notices=tuple(notices),
    )


def _tail(text: str) -> list[Change]:
    tail = find_tail(text)
    if tail is None:
        return []
    return [Change(tail.start, tail.end, "", "tail", "The tail this engine added.")]


def _n_content(document: Document) -> int:
    return sum(token.key not in FUNCTION_WORDS for token in document.tokens)


def _round(reading: Reading) -> tuple[list[Change], list[Skip]]:
    document = reading.document
    changes: list[Change] = leading(document)
    terms, skips = neutral_changes(reading, reading.matches, adjectives=frozenset(EVALUATIVE))
    changes += terms
    changes += label_changes(document)
    changes += verbs(reading)
    changes += _adjectives(reading)
    return changes, skips


def neutral_changes(
    reading: Reading, chosen: Iterable[Match], *, adjectives: frozenset[str] = frozenset()
) -> tuple[list[Change], list[Skip]]:
    """Changes that put leaning matches into neutral wording, and those that cannot be."""
    changes: list[Change] = []
    skips: list[Skip] = []
    for match in chosen:
        if match.entry.stance == "neutral":
            continue
        made = reword(
            reading.document,
            match,
            match.entry.neutral,
            stance="neutral",
            why=why_neutral(match),
            adjectives=adjectives,
        )
        changes += made.changes
        if made.why_not is not None:
            skips.append(skip_of(reading.document, match, made.why_not))
    return changes, skips


def label_changes(document: Document) -> list[Change]:
    """Insults of people and parties put into the plain name of the group."""
    changes = []
    for word in blocked_words(document):
        first, last = document.tokens[word.first], document.tokens[word.last]
        if not word.plain or document.protection(first.start, last.end):
            continue
        plain = Wording(word.plain, "pl").text
        style = "sentence" if first.is_first and first.is_capital else "plain"
        possessive = last.text[len(last.base) :] if last.key != last.base else ""
        if word.number == "sg":
            plain = "one of the " + plain
            before = document.tokens[word.first - 1] if word.first else None
            if before is not None and before.key in {"a", "an"} and first.link == "tight":
                changes.append(
                    Change(before.start, first.start, "", "article", "Belongs to the insult.")
                )
        changes.append(
            Change(
                first.start,
                last.end,
                in_capitals(plain, style) + possessive,
                "label",
                "An insult; the plain name of the group stands for it.",
            )
        )
    return changes


def _adjectives(reading: Reading) -> list[Change]:
    """Evaluative adjectives directly before a lexicon match or a policy noun, dropped."""
    document = reading.document
    tokens = document.tokens
    starts = {match.first for match in reading.matches}
    inside = {at for m in reading.matches for at in range(m.first, m.last + 1)}
    changes: list[Change] = []
    at = 0
    while at < len(tokens):
        if tokens[at].key not in EVALUATIVE or at in inside:
            at += 1
            continue
        end = at + 1
        while (
            end < len(tokens)
            and end not in inside
            and tokens[end].key in EVALUATIVE
            and tokens[end].link != "break"
        ):
            end += 1
        first = at
        at = end
        if end >= len(tokens) or tokens[end].link != "tight":
            continue
        noun = tokens[end].key
        if (
            end not in starts
            and noun not in POLICY_NOUNS
            and not _is_policy_compound(document, end, starts)
        ):
            continue
        if any(EVALUATIVE[t.key] and noun in EVALUATIVE[t.key] for t in tokens[first:end]):
            continue  # the adjective states a fact: *a failed bill*
        named = any(t.is_capital and not t.is_first for t in tokens[first:end])
        if (
            named and not document.is_title_case and not tokens[first].text.isupper()
        ) or document.protection(tokens[first].start, tokens[end - 1].end):
            continue
        text = document.text
        start, stop = tokens[first].start, tokens[end].start
        before = tokens[first - 1] if first else None
        changes.append(
            Change(start, stop, "", "evaluative", "Judges the policy instead of naming it.")
        )
        if tokens[first].is_first and tokens[first].is_capital and tokens[end].text[:1].islower():
            letter = tokens[end].start
            if end not in starts:
                changes.append(
                    Change(
                        letter,
                        letter + 1,
                        text[letter].upper(),
                        "evaluative",
                        "Opens the sentence now.",
                    )
                )
        if (
            before is not None
            and before.key in {"a", "an"}
            and tokens[first].link == "tight"
            and end not in starts
        ):
            changes += article_change(before, tokens[end].text)
    return changes


def _is_policy_compound(document: Document, at: int, starts: set[int]) -> bool:
    """Whether a policy noun or a match ends the short run of words that starts here."""
    tokens = document.tokens
    for place in range(at + 1, min(at + 3, len(tokens))):
        if tokens[place].link != "tight" or tokens[place - 1].key in FUNCTION_WORDS:
            return False
        if place in starts or tokens[place].key in POLICY_NOUNS:
            return True
    return False
