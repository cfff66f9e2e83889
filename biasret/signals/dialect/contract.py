"""What a change of dialect must keep: compared on the texts, not on what a rule intended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from biasret.signals.dialect.lexicon import base_of_ing, base_of_s, ing_form, pairs, words
from biasret.signals.dialect.rules.spelling import RESPELLINGS
from biasret.signals.dialect.tokens import segments_of, tokenise

__all__ = ["Meaning", "counts_of", "meaning_of", "violation"]


@dataclass(frozen=True)
class Meaning:
    """What is compared of a text.

    Attributes
    ----------
    numbers
        Every token with a digit, in order.
    pronouns
        Person, number and gender of every pronoun, in order.
    modals
        Modals; *will*, *going to*, *gon* are one class, *about to* and *finna* another.
    marks
        Full stops, question and exclamation marks, in order.
    n_negators
        Clausal negators (*not, never, ain't*).
    n_never
        Those of them that are *never* next to another, a pronoun or adverb at most between.
    n_negative
        Negative words (*no, nothing*).
    content
        Words with content, respellings and inflection undone.
    n_tokens
        Tokens, punctuation included.
    """

    numbers: tuple[str, ...]
    pronouns: tuple[str, ...]
    modals: tuple[str, ...]
    marks: tuple[str, ...]
    n_negators: int
    n_never: int
    n_negative: int
    content: frozenset[tuple[str, int]]
    n_tokens: int

    @property
    def counts(self) -> dict[str, int]:
        """How many items each check compared."""
        return {
            "numbers": len(self.numbers),
            "pronouns": len(self.pronouns),
            "modals": len(self.modals),
            "marks": len(self.marks),
            "negators": self.n_negators,
            "content_words": sum(n for _, n in self.content),
        }


@cache
def _plain() -> dict[str, str]:
    """Every respelled or leveled form with the form it stands for."""
    undone = {new: old for table in RESPELLINGS.values() for old, new in table.items()}
    undone |= {past: form for form, past in pairs("participle_to_past").items()}
    undone |= pairs("past_to_participle")
    undone |= {flat: adverb for adverb, flat in pairs("flat_adverbs").items()}
    return undone | {"real": "really", "nothin": "nothing", "somethin": "something"}


@lru_cache(maxsize=20_000)
def _base(word: str) -> str:
    word = _plain().get(word, word)
    word = word.removesuffix("'")
    if word.endswith("in") and word + "g" in base_of_ing():
        word += "g"
    if word.endswith("in") and word + "g" in words("ing_pronouns"):
        word += "g"
    return _bases().get(word, word)


@cache
def _bases() -> dict[str, str]:
    forms = {ing_form(base): base for base in words("verbs")}
    return base_of_s() | base_of_ing() | forms


@lru_cache(maxsize=4096)
def meaning_of(text: str) -> Meaning:
    """What is compared of a text."""
    tokens = tokenise(text)
    low = [token.lower for token in tokens]
    person, modality = pairs("person"), pairs("modality")
    modals = []
    for i, word in enumerate(low):
        if word == "about" and low[i + 1 : i + 2] == ["to"]:
            modals.append("near")
        elif word in ("going", "goin", "gon") and low[i + 1 : i + 2] not in (["to"], ["na"]):
            if word == "gon":
                modals.append("future")
        elif word in modality:
            modals.append(modality[word])
    dropped = words("contentless") | person.keys() | modality.keys()
    dropped |= words("negators") | words("negative_words")
    bases = (_base(t.lower) for t in tokens if t.kind == "word" and t.lower not in dropped)
    content = Counter(word for word in bases if word not in dropped)
    for word in ("going", "try", "about", "be", "have", "do", "let", "get", "go"):
        content.pop(word, None)
    return Meaning(
        numbers=tuple(t.text for t in tokens if any(c.isdigit() for c in t.text)),
        pronouns=tuple(person[word] for word in low if word in person),
        modals=tuple(modals),
        marks=tuple(word for word in low if word in ("?", "!", ".") or word.startswith("..")),
        n_negators=sum(word in words("negators") for word in low),
        n_never=sum(word == "never" and _follows_negator(low, i) for i, word in enumerate(low)),
        n_negative=sum(word in words("negative_words") for word in low),
        content=frozenset(content.items()),
        n_tokens=len(tokens),
    )


def _follows_negator(low: list[str], i: int) -> bool:
    before = low[max(0, i - 2) : i]
    is_near = len(before) == 2 and before[1] in pairs("person").keys() | {"even", "really", "just"}
    return any(word in words("negators") - {"never"} for word in before[0 if is_near else -1 :])


def counts_of(text: str) -> dict[str, int]:
    """How many items each check compares in a text, segment by segment."""
    total: Counter[str] = Counter(dict.fromkeys(meaning_of("").counts, 0))
    for start, end in segments_of(text):
        total.update(meaning_of(text[start:end]).counts)
    return dict(total)


#: What a feature may add to the pronouns by its definition.
_ADDED_PRONOUN = {"exist_it": {"3n"}, "personal_dative": {"1sg"}, "subject_doubling": {"3m", "3f"}}
#: The same for plural subjects named twice.
_ADDED_PRONOUN["subject_doubling"] |= {"3pl"}


def violation(source: str, target: str, *, features: Iterable[str]) -> str | None:
    """The first thing that a change did not keep, as a sentence, or None.

    Parameters
    ----------
    source, target
        A segment before and after.
    features
        The features at work; each may add only what its definition says.
    """
    applied = Counter(features)
    old, new = meaning_of(source), meaning_of(target)
    if old.numbers != new.numbers:
        return f"the numbers changed: {list(old.numbers)} to {list(new.numbers)}"
    if old.marks != new.marks:
        return "a sentence mark changed"
    if Counter(old.modals) != Counter(new.modals):
        return f"the modals changed: {list(old.modals)} to {list(new.modals)}"
    if fault := _pronoun_fault(old, new, applied):
        return fault
    # Next to another negator, *never* and *ever* are one: can't never, can't ever.
    n_never = new.n_never - old.n_never if applied["negative_concord"] else 0
    if new.n_negators - old.n_negators != applied["negative_inversion"] + n_never:
        return "a clausal negator came or went"
    polar = (old.n_negators + old.n_negative > 0) == (new.n_negators + new.n_negative > 0)
    if not polar or (new.n_negative != old.n_negative and not applied["negative_concord"]):
        return "the negation of the clause changed"
    if old.content != new.content:
        changed = sorted({word for word, _ in old.content ^ new.content})
        return f"words with content changed: {', '.join(changed)}"
    if abs(old.n_tokens - new.n_tokens) > max(3, 0.15 * old.n_tokens):
        return "the length changed by more than three words and 15%"
    return None


def _pronoun_fault(old: Meaning, new: Meaning, applied: Counter[str]) -> str | None:
    if old.pronouns == new.pronouns:
        return None
    before, after = Counter(old.pronouns), Counter(new.pronouns)
    if before == after and (applied["me_coordinate"] or applied["embedded_inversion"]):
        return None
    allowed = [_ADDED_PRONOUN[name] for name in applied if name in _ADDED_PRONOUN]
    added = after - before
    if not before - after and allowed and set(added) <= set().union(*allowed):
        return None
    return f"the pronouns changed: {list(old.pronouns)} to {list(new.pronouns)}"
