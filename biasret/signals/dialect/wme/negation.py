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
_NEGATIVE_SUBJECTS = frozenset({"nobody", "nothing", "none", "neither"})
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
        subject, at = view.at(first.i - 1), negator.i + 1
        asked = view.at(at)
        is_asked = asked is not None and asked.lower in SUBJECTS and _opens_question(view, first)
        if is_asked:
            subject, at = asked, at + 1
        if subject is not None and subject.lower in _NEGATIVE_SUBJECTS:
            continue  # the subject carries the negation; two would cancel in WME
        while view.lower(at) in _SKIPPED:
            at += 1
        word, base = view.at(at), view.at(at + 2)
        if view.lower(at) == "used" and view.lower(at + 1) == "to" and base and is_base(base):
            continue  # WME itself writes both didn't use to and didn't used to
        if word is not None:
            yield _aint(view, first, negator, subject, word, is_asked=is_asked)


def _opens_question(view: View, first: Token) -> bool:
    return opens_clause(view, first) or view.lower(first.i - 1) in ("why", "how", "what", "where")


def _is_inverted(view: View, negator: Token) -> bool:
    """Whether an auxiliary with this *n't* opens a clause before *nobody* or *nothing*."""
    first = view.at(negator.i - 1)
    before_subject = view.lower(negator.i + 1) in ("nobody", "nothing")
    return before_subject and first is not None and opens_clause(view, first)


def _aint(
    view: View,
    first: Token,
    negator: Token,
    subject: Token | None,
    word: Token,
    *,
    is_asked: bool,
) -> Candidate:
    he = subject is not None and third(view, subject)
    start, end = first.start, negator.end
    have = (start, end, "hasn't" if he else "haven't")
    never = "never" in view.lowers[negator.i : word.i]
    if word.lower == "got" and (never or _is_become(view, word)):
        found = _one(view, "aint_have", have, "ain't got is a change that has not come", 0.8)
        return replace(found, edits=(*found.edits, view.swap(word, "gotten")))
    if word.lower == "got":
        verb = "doesn't" if he else "don't"
        found = _one(view, "aint_have", (start, end, verb), "ain't got is negated have", 0.85)
        return replace(found, edits=(*found.edits, view.swap(word, "have")))
    if _is_past_participle(view, word):
        reason = f"ain't before the participle {view.quoted(word)}"
        return _one(view, "aint_have", have, reason, 0.9)
    if participle_of(word.lower) != word.lower:
        # A past form where WME has a participle of its own: ain't took, haven't taken.
        found = _one(view, "aint_have", have, f"ain't before the past {view.quoted(word)}", 0.8)
        return replace(found, edits=(*found.edits, view.swap(word, participle_of(word.lower))))
    base = is_base(word) and (word.tag in ("VB", "VBP") or has_past_anchor(view))
    if base and not is_adjective(view, word):
        reason = f"ain't before the base verb {view.quoted(word)}"
        return _one(view, "aint_did", (start, end, "didn't"), reason, 0.85)
    reason = f"ain't before {view.quoted(word)}"
    if subject is not None and subject.lower == "i" and not is_asked:
        return _one(view, "aint_be", (subject.end, end, "'m not"), reason, 0.95)
    plural = subject is not None and not he and subject.lower != "there"
    return _one(view, "aint_be", (start, end, "aren't" if plural else "isn't"), reason, 0.95)


def _is_past_participle(view: View, word: Token) -> bool:
    """Whether *have* goes before a form: it can only be a participle, or has its object."""
    if is_adjective(view, word) or word.lower in words("states"):
        return False
    if word.lower in words("past_and_participle"):
        return _has_object(view, word)
    return is_participle(word)


def _has_object(view: View, word: Token) -> bool:
    """Whether what follows is acted upon: *found nothing*, and not *found on the scan*."""
    after = view.at(word.i + 1)
    if after is None:
        return False
    marks = {"heard": ("back", "from", "of", "about"), "left": ("yet",)}
    if after.lower in marks.get(word.lower, ()):
        return True
    is_named = after.tag in ("DT", "PRP", "PRP$", "NN", "NNS", "NNP", "NNPS", "CD")
    return is_named or after.lower in _NEGATIVE or after.lower in ("any", "anything", "anybody")


def _is_perfect(view: View, word: Token) -> bool:
    """Whether *has* and not *is* goes before a verb: *nothing has come*, *nobody has changed*."""
    return word.lower in ("come", "become") or _is_past_participle(view, word)


def _is_become(view: View, got: Token) -> bool:
    """Whether *got* says that something changed: *got better*, *got sick*, with no noun after."""
    at = got.i + 1
    while view.lower(at) in ("no", "any", "much", "so", "too", "real", "really"):
        at += 1
    after = view.at(at)
    if after is None or view.tag(after.i + 1)[:2] == "NN":
        return False
    is_more = after.tag in ("JJR", "RBR")
    # After *no* only a comparative is none of a noun: got no better, but got no cold.
    is_counted = any(word in ("no", "any") for word in view.lowers[got.i : after.i])
    return is_more or (is_adjective(view, after) and not is_counted)


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
    """*never* next to another negator: *ain't never been* to *hasn't ever been*.

    Only where no more than the subject of a question and adverbs stand between: *it is not good
    to never eat* says something else.
    """
    for negator in view.tokens:
        if negator.lower not in ("n't", "nt", "not"):
            continue
        first = view.at(negator.i - 1)
        if first is None or view.lower(first.i - 1) in _NEGATIVE_SUBJECTS:
            continue
        at = negator.i + 1
        if view.lower(at) in SUBJECTS and _opens_question(view, first):
            at += 1
        elif _is_inverted(view, negator) and first.lower not in ("do", "does"):
            at += 1
        while view.lower(at) in _SKIPPED - {"never"}:
            at += 1
        found = view.at(at)
        after = view.at(at + 1)
        if found is None or found.lower != "never" or after is None or after.kind == "punct":
            continue
        yield Candidate(
            "negative_concord",
            (view.swap(found, "ever"),),
            f"{view.quoted(negator)} stands next to {view.quoted(found)}: one negation.",
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
        if first.lower in ("do", "does") and "never" in view.lowers[last.i : at]:
            continue  # WME has no auxiliary here: nobody ever listens
        if first.lower == "ai" and after is not None and _is_perfect(view, after):
            aux = "has"
        new = view.cased(first.text, f"{name} {aux}")
        yield Candidate(
            "negative_inversion",
            ((first.start, last.end, new),),
            f"a negated auxiliary before {view.quoted(subject)} in a statement.",
            confidence=0.85,
        )
