"""Back-rules for negation: *ain't*, *don't*, concord, inversion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.rules.aint import has_past_anchor
from biasret.signals.dialect.rules.concord import scope_of
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import Candidate, View
from biasret.signals.dialect.wme.asking import (
    SUBJECTS,
    is_adjective,
    is_base,
    is_participle,
    opens_clause,
    participle_of,
    third,
)

__all__ = ["aint", "concord", "dont", "inversion", "never"]

_NEGATIVE = {
    "no": "any", "nothing": "anything", "nobody": "anybody", "nowhere": "anywhere",
    "none": "any",
}  # fmt: skip
_SKIPPED = frozenset(
    {"even", "really", "ever", "never", "yet", "just", "still", "always", "that", "all"}
)
_INVERTED = {
    "ca": "can", "could": "could", "wo": "will", "would": "would", "did": "did", "do": "does",
    "ai": "is", "does": "does", "should": "should",
}  # fmt: skip


def _ain(view: View) -> Iterator[tuple[Token, Token]]:
    for first in view.tokens:
        negator = view.at(first.i + 1)
        if first.lower == "ai" and negator is not None and negator.lower in ("n't", "nt"):
            yield first, negator


def aint(view: View) -> Iterator[Candidate]:
    """*ain't* by what follows: be, have or did."""
    for first, negator in _ain(view):
        if _is_inverted(view, negator) or (view.lower(negator.i + 1) == "no" and first.i == 0):
            continue
        subject = view.at(first.i - 1)
        at = negator.i + 1
        while view.lower(at) in _SKIPPED:
            at += 1
        word = view.at(at)
        if word is None:
            continue
        yield _aint(view, first, negator, subject, word)


def _is_inverted(view: View, negator: Token) -> bool:
    """Whether an auxiliary with this *n't* opens a clause before *nobody* or *nothing*."""
    first = view.at(negator.i - 1)
    before_subject = view.lower(negator.i + 1) in ("nobody", "nothing")
    return before_subject and first is not None and opens_clause(view, first)


def _aint(
    view: View, first: Token, negator: Token, subject: Token | None, word: Token
) -> Candidate:
    he = subject is not None and third(view, subject)
    start, end = first.start, negator.end
    have = (start, end, "hasn't" if he else "haven't")
    if word.lower == "got" and _is_become(view, word):
        found = _one(view, "aint_have", have, "ain't got before an adjective is a change", 0.8)
        return replace(found, edits=(*found.edits, view.swap(word, "gotten")))
    if word.lower == "got" and word.i == negator.i + 1:
        verb = "doesn't have" if he else "don't have"
        return _one(view, "aint_have", (start, word.end, verb), "ain't got is negated have", 0.85)
    if _is_past_participle(view, word):
        reason = f"ain't before the participle {view.quoted(word)}"
        return _one(view, "aint_have", have, reason, 0.9)
    if participle_of(word.lower) != word.lower:
        # A past form where WME has a participle of its own: ain't took, haven't taken.
        found = _one(view, "aint_have", have, f"ain't before the past {view.quoted(word)}", 0.8)
        return replace(found, edits=(*found.edits, view.swap(word, participle_of(word.lower))))
    base = is_base(word) and (word.tag in ("VB", "VBP") or has_past_anchor(view))
    if base and not is_adjective(view, word):
        return _one(
            view, "aint_did", (start, end, "didn't"),
            f"ain't before the base verb {view.quoted(word)}", 0.85,
        )  # fmt: skip
    reason = f"ain't before {view.quoted(word)}"
    if subject is not None and subject.lower == "i":
        return _one(view, "aint_be", (subject.end, end, "'m not"), reason, 0.95)
    plural = subject is not None and not he and subject.lower != "there"
    return _one(view, "aint_be", (start, end, "aren't" if plural else "isn't"), reason, 0.95)


def _is_past_participle(view: View, word: Token) -> bool:
    if is_adjective(view, word) or (word.lower == "used" and view.lower(word.i + 1) == "to"):
        return False
    return is_participle(word) or word.lower in words("past_and_participle")


def _is_perfect(view: View, word: Token) -> bool:
    """Whether *has* and not *is* goes before a verb: *nothing has come*, *nobody has changed*."""
    is_change = word.lower.endswith("ed") and word.tag in ("VBD", "VBN")
    return is_change or word.lower in ("come", "become") or _is_past_participle(view, word)


def _is_become(view: View, got: Token) -> bool:
    """Whether *got* says that something changed: *got better*, *got sick*, with no noun after."""
    after = view.at(got.i + 1)
    if after is None:
        return False
    is_quality = after.tag in ("JJR", "RBR") or is_adjective(view, after)
    return is_quality and view.tag(after.i + 1)[:2] != "NN"


def _one(
    view: View, feature: str, edit: tuple[int, int, str], why: str, confidence: float
) -> Candidate:
    start, end, new = edit
    model = view.segment.text[start : start + 1]
    return Candidate(
        feature, ((start, end, view.cased(model, new)),), why + ".", confidence=confidence
    )


def dont(view: View) -> Iterator[Candidate]:
    """*he don't* to *he doesn't*."""
    for verb in view.tokens:
        negator = view.at(verb.i + 1)
        if verb.lower != "do" or negator is None or negator.lower not in ("n't", "nt", "not"):
            continue
        subject = view.at(verb.i - 1)
        if subject is None or not _is_third_subject(view, subject):
            continue
        yield _one(
            view, "invariant_dont", (verb.start, verb.end, "does"),
            f"don't with the third person singular subject {view.quoted(subject)}", 0.95,
        )  # fmt: skip


def _is_third_subject(view: View, subject: Token) -> bool:
    if subject.lower in SUBJECTS:
        return subject.lower in ("he", "she", "it")
    if subject.lower in ("this", "that") and subject.tag in ("DT", "WDT"):
        if subject.tag == "WDT":
            return view.tag(subject.i - 1) == "NN"
        return opens_clause(view, subject)
    if subject.tag not in ("NN", "NNP"):
        return False
    before = [view.lower(i) for i in range(max(0, subject.i - 5), subject.i)]
    return "and" not in before and "or" not in before and subject.dep in ("nsubj", "compound", "")


def concord(view: View) -> Iterator[Candidate]:
    """A negative word in the scope of a clausal negator: *don't have no* to *don't have any*."""
    done: set[int] = set()
    for negator in view.tokens:
        if negator.lower not in ("n't", "nt", "not", "never"):
            continue
        # An inverted subject carries the negation itself.
        subject = negator.i + 1 if _is_inverted(view, negator) else None
        found = [
            t
            for t in scope_of(view, negator)
            if t.lower in _NEGATIVE and t.i not in done and t.i != subject
            and view.lower(t.i + 1) not in ("one", "?")
            and not (t.lower == "no" and view.lower(t.i + 1) in ("matter", "longer", ",", "."))
            and "," not in view.lowers[negator.i : t.i]
        ]  # fmt: skip
        done.update(t.i for t in found)
        if found:
            yield Candidate(
                "negative_concord",
                tuple(view.swap(t, _NEGATIVE[t.lower]) for t in sorted(found, key=lambda t: t.i)),
                f"{view.quoted(negator)} commands {', '.join(map(view.quoted, found))}: "
                "one negation.",
                confidence=0.95,
            )


def never(view: View) -> Iterator[Candidate]:
    """*never* in the scope of another negator: *ain't never been* to *hasn't ever been*."""
    done: set[int] = set()
    for negator in view.tokens:
        if negator.lower not in ("n't", "nt", "not"):
            continue
        for found in scope_of(view, negator):
            if found.lower != "never" or found.i in done:
                continue
            done.add(found.i)
            yield Candidate(
                "negative_concord",
                (view.swap(found, "ever"),),
                f"{view.quoted(negator)} commands {view.quoted(found)}: one negation.",
                confidence=0.9,
            )


def inversion(view: View) -> Iterator[Candidate]:
    """*Can't nobody tell me* to *Nobody can tell me*."""
    if view.is_question:
        return
    for first in view.tokens:
        negator, subject = view.at(first.i + 1), view.at(first.i + 2)
        if first.lower not in _INVERTED or negator is None or subject is None:
            continue
        if negator.lower not in ("n't", "nt") or not opens_clause(view, first):
            continue
        last = subject
        name = subject.lower
        if subject.lower == "no" and view.lower(subject.i + 1) == "one":
            last = view.tokens[subject.i + 1]
            name = "no one"
        elif subject.lower not in ("nobody", "nothing"):
            continue
        aux = _INVERTED[first.lower]
        at = last.i + 1
        while view.lower(at) in _SKIPPED:
            at += 1
        after = view.at(at)
        if after is not None and after.tag == "IN":
            continue  # the verb, before which the auxiliary belongs, stands further on
        if first.lower == "ai" and after is not None and _is_perfect(view, after):
            aux = "has"
        new = view.cased(first.text, f"{name} {aux}")
        yield Candidate(
            "negative_inversion",
            ((first.start, last.end, new),),
            f"a negated auxiliary before {view.quoted(subject)} in a statement.",
            confidence=0.85,
        )
