"""Existentials and perfects: *it's*, *done*, *been*, leveled participles (S13, S14, S17-S19)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import pairs, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import PRONOUNS, Candidate, Proposal, View

__all__ = ["been_perfect", "completive_done", "exist_it", "exist_theres", "participle_leveling"]

_EXISTS = {"is": "it's", "'s": "it's", "are": "it's", "was": "it was", "were": "it was"}
_OPENERS = frozenset({"a", "an", "no", "some", "any", "something", "nothing", "lots", "many"})
_HAVE = frozenset({"have", "has", "'ve", "ve", "'s"})
_CLAUSE_OPENERS = frozenset({",", ";", ":", "and", "but", "so", "because", "that", "or", "-", "if"})
_DURATION = frozenset({"for", "since", "lately", "recently", "all", "over", "past", "now", "still"})


def exist_it(view: View) -> Iterator[Proposal]:
    """S13: existential *there is/are/was/were* to *it's/it was*."""
    feature = "exist_it"
    for there in view.tokens:
        if there.lower != "there":
            continue
        be = view.at(there.i + 1)
        if be is None or be.lower not in _EXISTS:
            inverted = view.lower(there.i - 1) in ("is", "are", "was", "were")
            yield view.refuse(feature, there, "question" if inverted else "locative")
            continue
        after = view.lower(be.i + 1)
        code = ""
        if after in ("", ".", "?", "!"):
            code = "clause_final"
        elif view.is_parsed and (there.tag != "EX" or not _names_something(view, be)):
            code = "locative"
        elif not view.is_parsed and not _opens_existential(view, there, be):
            code = "not_sure"
        elif after in ("not", "n't", "nt", "never"):
            code = "negated"
        elif after in ("", ".", "?", "!", ",", "going", "gon", "supposed", "been", "about"):
            code = "clause_final"
        elif view.lower(there.i - 1) in ("what", "how", "more", "as", "where", "than"):
            code = "clause_final"
        elif view.is_stressed(be):
            code = "emphatic"
        elif view.has_tag_question(be):
            code = "tag_question"
        if code:
            yield view.refuse(feature, there, code)
            continue
        yield Candidate(
            feature,
            (view.swap(there, _EXISTS[be.lower], be),),
            f"Existential {view.quoted(there)} with {view.quoted(be)} and a noun phrase.",
        )


def _names_something(view: View, be: Token) -> bool:
    """Whether a noun phrase follows existential *be*."""
    found = view.kids(be, "attr", "nsubj")
    return be.dep not in ("aux", "auxpass") and any(
        k.i > be.i and not k.tag.startswith("JJ") for k in found
    )


def _opens_existential(view: View, there: Token, be: Token) -> bool:
    opens = there.i == 0 or view.lower(there.i - 1) in _CLAUSE_OPENERS
    after = view.tokens[be.i + 1] if be.i + 1 < len(view.tokens) else None
    return opens and after is not None and (after.lower in _OPENERS or after.kind == "number")


def exist_theres(view: View) -> Iterator[Proposal]:
    """S14: *there are* + plural to *there's*."""
    for there in view.tokens:
        be = view.at(there.i + 1)
        if there.lower != "there" or be is None or be.lower not in ("are", "were"):
            continue
        if there.tag != "EX" or not _names_something(view, be):
            yield view.refuse("exist_theres", there, "locative")
        elif view.is_negated(be):
            yield view.refuse("exist_theres", there, "negated")
        else:
            short = view.cased("", "'s")
            edit = (there.end, be.end, short) if be.lower == "are" else view.swap(be, "was")
            yield Candidate(
                "exist_theres", (edit,), f"Existential {view.quoted(there)} with a plural."
            )


# -- perfects ---------------------------------------------------------------------------------


def _perfect(view: View, have: Token) -> Token | None:
    """The participle that a perfect auxiliary goes with, or None."""
    if have.lower not in _HAVE | {"had"} or not have.dep.startswith("aux"):
        return None
    verb = view.head(have)
    if verb.tag != "VBN" and not (verb.tag == "VBG" and _been(view, have)):
        return None
    if have.lower == "'s" and view.kids(verb, "auxpass") and not _been(view, have):
        return None
    return verb


def _been(view: View, have: Token) -> Token | None:
    i = have.i + 1
    while view.tag(i) == "RB" and view.lower(i) not in ("not", "n't", "never"):
        i += 1
    token = view.at(i)
    return token if token is not None and token.lower == "been" else None


def _have_refusal(view: View, have: Token, verb: Token) -> str:
    """What perfects share: affirmative, not a question, subject before the verb."""
    if view.is_negated(have) or view.kids(verb, "neg"):
        return "negated"
    if view.is_stressed(have):
        return "emphatic"
    if any(k.tag == "MD" or k.lower == "to" for k in view.kids(verb, "aux") if k.i < have.i):
        return "no_subject"
    subject = view.subject(have)
    if subject is None:
        return "no_subject"
    if view.is_inverted(have, subject):
        return "question_order"
    if subject.lower in ("who", "which", "what", "that"):
        return "wh_subject"
    return ""


def _drop(view: View, have: Token) -> tuple[int, int, str]:
    return view.delete(have)


def completive_done(view: View) -> Iterator[Proposal]:
    """S17, with S19 in one bundle: *have already taken* to *done already took*."""
    feature = "completive_done"
    for have in view.tokens:
        verb = _perfect(view, have)
        if verb is None or have.lower == "had":
            continue
        adverbs = [t for t in view.tokens[have.i + 1 : verb.i] if t.tag == "RB"]
        if verb.lower in ("been", "had") or _been(view, have):
            yield view.refuse(feature, have, "duration")
            continue
        code = _have_refusal(view, have, verb)
        if code:
            yield view.refuse(feature, have, code)
        elif not any(t.lower in ("already", "just", "finally") for t in adverbs):
            yield view.refuse(feature, have, "no_adverb")
        elif any(k.lower in ("for", "since") for k in view.kids(verb, "prep")):
            yield view.refuse(feature, have, "duration")
        elif verb.lemma not in words("telic"):
            yield view.refuse(feature, have, "not_telic")
        else:
            yield _done(view, have, verb)


def _done(view: View, have: Token, verb: Token) -> Candidate:
    attached = have.i > 0 and not view.tokens[have.i - 1].space
    edits = [(have.start, have.end, " done" if attached else view.cased(have.text, "done"))]
    composed: tuple[str, ...] = ()
    past = pairs("participle_to_past").get(verb.lower)
    if past and "participle_leveling" in view.enabled:
        edits.append(view.swap(verb, past))
        composed = ("participle_leveling",)
    return Candidate(
        "completive_done",
        tuple(edits),
        f"{view.quoted(have)} with an adverb of completion before {view.quoted(verb)}, "
        "which names a completed event.",
        composed=composed,
    )


def been_perfect(view: View) -> Iterator[Proposal]:
    """S18: *have been* + predicate to *been*."""
    feature = "been_perfect"
    for have in view.tokens:
        been = _been_after(view, have)
        if been is None:
            continue
        if have.lower == "had":
            yield view.refuse(feature, have, "past")
            continue
        code = _been_refusal(view, have, been)
        if code:
            yield view.refuse(feature, have, code)
            continue
        after = view.tokens[been.i + 1]
        yield Candidate(
            feature,
            (_drop(view, have),),
            f"{view.quoted(have)} been before {view.quoted(after)}, affirmative; "
            "been alone carries the perfect.",
        )


def _been_after(view: View, have: Token) -> Token | None:
    if have.lower not in _HAVE | {"had"}:
        return None
    i = have.i + 1
    while view.lower(i) in ("always", "just", "also", "already", "only", "not", "n't", "never"):
        i += 1
    token = view.at(i)
    return token if token is not None and token.lower == "been" else None


def _been_refusal(view: View, have: Token, been: Token) -> str:
    between = view.lowers[have.i + 1 : been.i]
    if any(word in ("not", "n't", "never") for word in between):
        return "negated"
    after = view.at(been.i + 1)
    if after is None or after.kind == "punct":
        return "clause_final"
    if after.kind == "number" or after.lower in ("a", "an", "the", "about", "over", "to", "one"):
        return "measure"
    before = view.lower(have.i - 1)
    if not view.is_parsed:
        if before not in PRONOUNS:
            return "not_sure"
        if before == "it" and have.lower == "'s":
            return "not_sure"
        return "" if after.lower.endswith("ing") or _lasting(view, been.i) else "no_duration"
    holder = been if been.dep not in ("aux", "auxpass") else view.head(been)
    code = _have_refusal(view, have, holder)
    if code:
        return code
    subject = view.subject(have)
    assert subject is not None
    if view.kids(holder, "attr") and after.tag in ("NN", "NNS", "CD", "DT"):
        return "measure"
    if have.i - 1 != subject.i and not _adjacent(view, subject, have):
        return "heavy_subject"
    if holder.tag == "VBG" or after.tag == "VBG":
        return ""
    return "" if _lasting(view, been.i) else "no_duration"


def _lasting(view: View, start: int) -> bool:
    """Whether a duration or the present follows: *for days*, *since Monday*, *lately*."""
    return any(word in _DURATION for word in view.lowers[start:])


def _adjacent(view: View, subject: Token, have: Token) -> bool:
    return all(view.tag(i) == "RB" for i in range(subject.i + 1, have.i))


def participle_leveling(view: View) -> Iterator[Proposal]:
    """S19: *have taken* to *have took*, for a closed list of verbs."""
    feature = "participle_leveling"
    for verb in view.tokens:
        past = pairs("participle_to_past").get(verb.lower)
        if past is None:
            continue
        have = next(
            (k for k in view.kids(verb, "aux") if k.lower in _HAVE | {"had"} and k.i < verb.i), None
        )
        code = ""
        if view.kids(verb, "auxpass") or _been_between(view, verb):
            code = "passive"
        elif verb.tag != "VBN" or have is None or verb.dep in ("amod", "acomp", "acl"):
            code = "main_have"
        if code:
            yield view.refuse(feature, verb, code)
            continue
        assert have is not None
        yield Candidate(
            feature,
            (view.swap(verb, past),),
            f"Perfect {view.quoted(have)} before {view.quoted(verb)}, active.",
        )


def _been_between(view: View, verb: Token) -> bool:
    return "been" in view.lowers[max(0, verb.i - 3) : verb.i]
