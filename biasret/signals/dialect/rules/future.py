"""Futures: *gon*, *I'ma*, *finna* (S15, S16)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.rules.copula import site_refusal
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import PRONOUNS, Candidate, Proposal, View

__all__ = ["finna", "future_gon"]

_BE = frozenset({"am", "is", "are", "'m", "'s", "'re", "m", "re"})
_NO_VERB_AFTER = frozenset(
    {"the", "a", "an", "my", "your", "his", "her", "our", "their", "this", "that", "work"}
    | {"school", "bed", "sleep", "hospital", "you", "me", "him", "them", "it"}
)


def _is_base(view: View, token: Token | None) -> bool:
    """Whether a token is a base verb, by tag where there is one, else by the closed list."""
    if token is None or token.lower in _NO_VERB_AFTER:
        return False
    if view.is_parsed:
        return token.tag == "VB"
    return token.lower in words("verbs")


def future_gon(view: View) -> Iterator[Proposal]:
    """S15, with S01 in one bundle: *is going to* + verb to *gon*; *I am going to* to *I'ma*."""
    for going in view.tokens:
        if going.lower == "will" and view.is_parsed:
            yield from _will(view, going)
        marker = view.at(going.i + 1)
        if going.lower not in ("going", "gon") or marker is None:
            continue
        if marker.lower not in ("to", "na"):
            continue
        if not _is_base(view, view.at(going.i + 2)):
            yield view.refuse("future_gon", going, "motion")
            continue
        if not _BE & set(view.lowers[max(0, going.i - 4) : going.i]):
            yield view.refuse("future_gon", going, "no_auxiliary")
            continue
        yield from _going(view, going, marker)


def _going(view: View, going: Token, marker: Token) -> Iterator[Proposal]:
    be = view.at(going.i - 1)
    verb = view.tokens[going.i + 2]
    why = f"Future {view.quoted(going)} before the base verb {view.quoted(verb)}."
    if be is not None and be.lower in ("am", "'m", "m") and view.lower(be.i - 1) == "i":
        subject = view.tokens[be.i - 1]
        ending = "'ma".replace("'", "’") if view.curly else "'ma"
        yield Candidate("future_gon", ((subject.end, marker.end, ending),), why)
        return
    edit = (going.start, marker.end, view.cased(going.text, "gon"))
    if be is None or be.lower not in _BE or "zero_aux_gonna" not in view.enabled:
        yield Candidate("future_gon", (edit,), why)
        return
    if not view.is_parsed or site_refusal(view, be)[0]:
        yield Candidate("future_gon", (edit,), why)
        return
    edits = (view.delete(be), edit)
    yield Candidate(
        "future_gon",
        edits,
        f"{why} Present {view.quoted(be)} may be absent before it.",
        composed=("zero_aux_gonna",),
    )


def _will(view: View, will: Token) -> Iterator[Proposal]:
    """*will* + verb at a quarter of the weight: a plain prediction only."""
    feature = "future_gon"
    verb = view.head(will)
    subject = view.subject(will)
    if will.dep != "aux" or subject is None:
        return
    code = ""
    low = view.lowers
    if view.is_question or subject.i > will.i:
        code = "question"
    elif view.is_negated(will):
        code = "negated"
    elif any(w in ("if", "when", "unless", "whether", "once", "until") for w in low):
        code = "conditional"
    elif any(w in words("habitual_adverbs") for w in low):
        code = "habit"
    elif subject.lower not in PRONOUNS - {"it"} and not view.is_person(subject):
        code = "subject_it"
    elif verb.tag != "VB" or verb.i != will.i + 1:
        code = "no_verb"
    elif subject.lower == "you" or "please" in low or verb.lower in ("help", "appreciate", "thank"):
        code = "offer"
    elif "zero_aux_gonna" not in view.enabled:
        code = "not_listed"
    if code:
        yield view.refuse(feature, will, code, subject.text if code == "subject_it" else "")
        return
    why = f"Future {view.quoted(will)} before the base verb {view.quoted(verb)}."
    if subject.lower == "i":
        ending = "’ma" if view.curly else "'ma"
        yield Candidate(feature, ((subject.end, will.end, ending),), why, weight=0.25)
    else:
        yield Candidate(feature, (view.swap(will, "gon"),), why, weight=0.25)


def finna(view: View) -> Iterator[Proposal]:
    """S16: *be about to* + verb to *finna*."""
    for about in view.tokens:
        if about.lower != "about":
            continue
        be, marker = view.at(about.i - 1), view.at(about.i + 1)
        if be is None or be.lower not in _BE | {"was", "were"}:
            continue
        if be.lower in ("was", "were"):
            yield view.refuse("finna", about, "past")
            continue
        if marker is None or marker.lower != "to":
            yield view.refuse("finna", about, "measure")
            continue
        verb = view.at(about.i + 2)
        if not _is_base(view, verb):
            yield view.refuse("finna", about, "no_verb")
            continue
        assert verb is not None
        yield _finna(view, be, about, marker, verb)


def _finna(view: View, be: Token, about: Token, marker: Token, verb: Token) -> Candidate:
    why = f"{view.quoted(be)} about to before {view.quoted(verb)}: the immediate future."
    edit = (about.start, marker.end, view.cased(about.text, "finna"))
    if be.lower == "am" and view.lower(be.i - 1) == "i":
        subject = view.tokens[be.i - 1]
        contracted = "’m" if view.curly else "'m"
        return Candidate("finna", ((subject.end, be.end, contracted), edit), why)
    licensed = view.is_parsed and be.lower not in ("am", "'m", "m")
    if licensed and "zero_aux_gonna" in view.enabled and not site_refusal(view, be)[0]:
        return Candidate("finna", (view.delete(be), edit), why, composed=("zero_aux_gonna",))
    return Candidate("finna", (edit,), why)
