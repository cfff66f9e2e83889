"""Subject and verb: zero *-s*, *was* leveling, *was* in conditions (S20-S22)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import base_of_s, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import KIN, PRONOUNS, Candidate, Proposal, View

__all__ = ["cond_was", "third_sg_zero", "was_leveling"]

_THIRD = frozenset({"he", "she", "it", "this", "that", "everyone", "everybody", "someone"})
_PLURAL = frozenset({"you", "we", "they"})
_WH = frozenset({"who", "what", "which", "that", "whoever", "whatever"})
_UNREAL = frozenset({"if", "wish", "wished", "though", "unless", "suppose", "as"})


def third_sg_zero(view: View) -> Iterator[Proposal]:
    """S20: *takes* to *take*, *has* to *have*, *does* to *do*."""
    feature = "third_sg_zero"
    for verb in view.tokens:
        base = base_of_s().get(verb.lower)
        if base is None:
            continue
        if verb.tag != "VBZ":
            if verb.lower in words("noun_homographs"):
                yield view.refuse(feature, verb, "homograph")
            continue
        subject = _subject(view, verb)
        code = _third_refusal(view, verb, base, subject)
        if code:
            yield view.refuse(feature, verb, code)
            continue
        assert subject is not None
        yield Candidate(
            feature,
            (view.swap(verb, base),),
            f"Present {view.quoted(verb)} with the third person singular subject "
            f"{view.quoted(subject)}.",
        )


def _subject(view: View, verb: Token) -> Token | None:
    """The subject, which a second verb joined by *and* shares with the first."""
    found = view.subject(verb)
    at = verb
    for _ in range(3):
        if found is not None or at.dep != "conj":
            break
        at = view.head(at)
        found = view.subject(at) if at.tag in ("VBZ", "VB") else None
    return found


def _third_refusal(view: View, verb: Token, base: str, subject: Token | None) -> str:
    if view.is_stressed(verb):
        return "emphatic"
    after = view.lower(verb.i + 1)
    if verb.lower == "does" and after in ("not", "n't", "nt"):
        return "negated"
    if verb.lower == "has" and after in ("not", "n't", "nt"):
        return "negated"
    if subject is None:
        return "no_subject"
    if subject.lower in _WH - {"that"} or subject.dep.startswith("csubj") or subject.tag == "WDT":
        return "wh_subject"
    if subject.tag in ("NNS", "NNPS") or subject.lower in PRONOUNS - _THIRD:
        return "not_third"
    if view.kids(subject, "cc"):
        return "not_third"
    if not _is_singular(view, subject):
        return "not_third"
    if verb.lower in words("noun_homographs") and not _is_clear(view, verb, subject):
        return "homograph"
    if base in words("past_like_base") and not _is_present(view, verb):
        return "present_anchor"
    return ""


def _is_singular(view: View, subject: Token) -> bool:
    return subject.lower in _THIRD or subject.tag in ("NN", "NNP", "PRP", "DT", "VBG", "CD")


def _is_clear(view: View, verb: Token, subject: Token) -> bool:
    """Whether a form that could be a plural noun is sure to be a verb here."""
    if subject.lower in _THIRD or subject.lower in KIN:
        return True
    # "Does this cause", "the medicine helps me": an object or an adverb makes it a verb.
    determined = any(k.lower not in ("no",) for k in view.kids(subject, "det", "poss"))
    complement = view.kids(verb, "dobj", "xcomp", "ccomp", "advcl", "prt", "advmod")
    return determined and subject.i == verb.i - 1 and bool(complement)


def _is_present(view: View, verb: Token) -> bool:
    low = view.lowers
    for token in view.clause_words(verb):
        if token.lower in words("present_anchors"):
            return True
        if token.lower in words("habitual_nouns") and low[token.i - 1] in ("every", "each"):
            return True
        if token.lower == "all" and view.lower(token.i + 2) == "time":
            return True
        if token.lower in ("when", "whenever", "if") and token.dep in ("advmod", "mark"):
            return _has_present(view, view.head(token))
    return False


def _has_present(view: View, verb: Token) -> bool:
    present = ("VBP", "VBZ")
    return verb.tag in present or any(k.tag in present for k in view.kids(verb, "aux", "auxpass"))


# -- was and were -----------------------------------------------------------------------------


def was_leveling(view: View) -> Iterator[Proposal]:
    """S21: *were* to *was* with *you, we, they* or a plural noun."""
    feature = "was_leveling"
    for verb in view.tokens:
        if verb.lower not in ("were",):
            continue
        code, subject = _was_refusal(view, verb)
        if code:
            yield view.refuse(feature, verb, code)
            continue
        assert subject is not None
        negator = view.at(verb.i + 1)
        edit = view.swap(verb, "was")
        if negator is not None and negator.lower in ("n't", "nt"):
            edit = (verb.start, negator.end, view.cased(verb.text, "was" + negator.lower))
        yield Candidate(
            feature,
            (edit,),
            f"Past {view.quoted(verb)} with the subject {view.quoted(subject)}, not a condition.",
        )


def _was_refusal(view: View, verb: Token) -> tuple[str, Token | None]:
    if view.is_stressed(verb):
        return "emphatic", None
    before, after = view.at(verb.i - 1), view.at(verb.i + 1)
    subject: Token | None
    if view.is_parsed:
        subject = view.subject(verb)
    else:
        subject = next(
            (t for t in (before, after) if t is not None and t.lower in _PLURAL | {"there"}), None
        )
    if subject is None:
        return "no_subject", None
    if subject.lower == "there" or subject.dep == "expl":
        return "locative", subject
    if subject.lower not in _PLURAL and subject.tag not in ("NNS", "NNPS"):
        conjoined = bool(view.kids(subject, "cc"))
        if not conjoined or subject.lower in ("i", "he", "she", "it"):
            return "not_plural", subject
    if _is_unreal(view, verb):
        return "subjunctive", subject
    return "", subject


def _is_unreal(view: View, verb: Token) -> bool:
    """Whether *if, wish, as though* stands before the verb in the same clause."""
    for i in range(verb.i - 1, max(-1, verb.i - 7), -1):
        word = view.lower(i)
        if word in (",", ";", "."):
            return False
        if word in _UNREAL:
            return word != "as" or view.lower(i + 1) in ("if", "though")
    return False


def cond_was(view: View) -> Iterator[Proposal]:
    """S22: *if I were* to *if I was*."""
    for verb in view.tokens:
        if verb.lower != "were":
            continue
        subject = view.at(verb.i - 1)
        mark = view.lower(verb.i - 2)
        if subject is None or subject.lower not in ("i", "he", "she", "it"):
            if subject is not None and mark in ("if", "wish"):
                yield view.refuse("cond_was", verb, "not_third")
            continue
        if mark not in ("if", "wish", "though"):
            yield view.refuse("cond_was", verb, "no_clause")
            continue
        yield Candidate(
            "cond_was",
            (view.swap(verb, "was"),),
            f"Unreal {view.quoted(view.tokens[verb.i - 2])} with {view.quoted(subject)} "
            f"{view.quoted(verb)}.",
        )
