"""Back-rules for negation: *ain't*, *don't*, concord, inversion."""

from __future__ import annotations

from collections.abc import Iterator

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
    third,
)

__all__ = ["aint", "concord", "dont", "inversion"]

_NEGATIVE = {
    "no": "any", "nothing": "anything", "nobody": "anybody", "nowhere": "anywhere",
    "none": "any",
}  # fmt: skip
_SKIPPED = frozenset({"even", "really", "ever", "yet", "just", "still", "always", "that", "all"})
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
        if view.lower(negator.i + 1) in ("nobody", "nothing", "no") and first.i == 0:
            continue
        subject = view.at(first.i - 1)
        at = negator.i + 1
        while view.lower(at) in _SKIPPED:
            at += 1
        word = view.at(at)
        if word is None:
            continue
        yield _aint(view, first, negator, subject, word)


def _aint(
    view: View, first: Token, negator: Token, subject: Token | None, word: Token
) -> Candidate:
    he = subject is not None and third(view, subject)
    start, end = first.start, negator.end
    if word.lower == "got" and word.i == negator.i + 1:
        verb = "doesn't have" if he else "don't have"
        return _one(view, "aint_have", (start, word.end, verb), "ain't got is negated have", 0.85)
    if is_participle(word) and not is_adjective(view, word):
        return _one(
            view, "aint_have", (start, end, "hasn't" if he else "haven't"),
            f"ain't before the participle {view.quoted(word)}", 0.9,
        )  # fmt: skip
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
        found = [
            t
            for t in scope_of(view, negator)
            if t.lower in _NEGATIVE and t.i not in done and view.lower(t.i + 1) not in ("one", "?")
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
        after = view.at(last.i + 1)
        if first.lower == "ai" and after is not None and is_participle(after):
            aux = "has"
        new = view.cased(first.text, f"{name} {aux}")
        yield Candidate(
            "negative_inversion",
            ((first.start, last.end, new),),
            f"a negated auxiliary before {view.quoted(subject)} in a statement.",
            confidence=0.85,
        )
