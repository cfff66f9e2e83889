"""Determiners, pronouns, possessors (S23-S29, S39)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import VOWELS, words
from biasret.signals.dialect.protection import is_medical
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import PERSON, Candidate, Proposal, View

__all__ = [
    "a_before_vowel",
    "me_coordinate",
    "personal_dative",
    "possessive_s_zero",
    "reflexive_regular",
    "them_demonstrative",
    "they_possessive",
    "yall",
]

_AFTER_PRONOUN_THOSE = frozenset(
    {"who", "that", "which", "of", "with", "is", "are", "was", "were", "in", "on", "for", "to"}
    | {"symptoms'", "as", "has", "does", "this"}
)
_AFTER_ALL = frozenset(
    {"about", "the", "of", "my", "your", "that", "this", "these", "those", "day", "night", "in"}
    | {"over", "through", "i", "we", "it", "his", "her", "their", "along", "alone"}
)
_DATIVE = frozenset({"get", "buy", "find", "make", "fix", "got", "bought", "found", "made"})
_RESULTS = frozenset(
    {"test", "scan", "result", "results", "infection", "diagnosis", "cold", "fever", "rash", "pain"}
    | {"headache", "period", "injection", "decision", "mistake", "feeling", "lump", "bump", "shot"}
    | {"understanding", "idea", "answer", "response", "sensation", "cut", "advice", "information"}
    | {"reaction", "migraine", "cramp", "difference", "sense", "job", "sure"}
)


def possessive_s_zero(view: View) -> Iterator[Proposal]:
    """S23: *my mother's doctor* to *my mother doctor*."""
    feature = "possessive_s_zero"
    for mark in view.tokens:
        if mark.lower != "'s" or mark.i == 0 or mark.tag != "POS":
            if mark.lower == "'s" and mark.tag == "VBZ" and mark.i:
                yield view.refuse(feature, mark, "perfect")
            continue
        owner = view.tokens[mark.i - 1]
        owned = view.head(owner)
        code = ""
        if owner.lower in words("no_genitive_drop") or owner.lower not in PERSON:
            code = "not_person"
        elif owner.tag in ("NNS", "NNPS"):
            code = "not_listed"
        elif not 0 < owned.i - mark.i <= 2 or not owned.tag.startswith("NN"):
            code = "absolute"
        elif owned.i - mark.i == 2 and not view.tag(mark.i + 1).startswith(("JJ", "NN")):
            code = "absolute"
        elif view.kids(owner, "prep", "conj", "cc") or "and" in view.lowers[owner.i - 2 : owner.i]:
            code = "group_genitive"
        elif owner.dep != "poss":
            code = "absolute"
        if code:
            yield view.refuse(feature, mark, code)
            continue
        yield Candidate(
            feature,
            ((mark.start, mark.end, ""),),
            f"The person {view.quoted(owner)} owns {view.quoted(owned)}, which follows directly.",
        )


def them_demonstrative(view: View) -> Iterator[Proposal]:
    """S24: *those pills* to *them pills*."""
    feature = "them_demonstrative"
    for those in view.tokens:
        if those.lower != "those":
            continue
        noun = _plural_after(view, those)
        if noun is None:
            yield view.refuse(feature, those, "pronoun_use")
            continue
        yield Candidate(
            feature,
            (view.swap(those, "them"),),
            f"{view.quoted(those)} points at the plural {view.quoted(noun)}.",
        )


def _plural_after(view: View, those: Token) -> Token | None:
    after = view.at(those.i + 1)
    if after is None or after.lower in _AFTER_PRONOUN_THOSE:
        return None
    if view.is_parsed:
        noun = view.head(those)
        between = view.tokens[those.i + 1 : noun.i]
        near = all(t.tag[:2] in ("JJ", "NN", "VB", "CD") for t in between) and len(between) <= 2
        ok = those.dep == "det" and noun.i > those.i and noun.tag in ("NNS", "NNPS") and near
        return noun if ok else None
    return after if after.lower.endswith("s") and not after.lower.endswith("ss") else None


def they_possessive(view: View) -> Iterator[Proposal]:
    """S25: *their insurance* to *they insurance*."""
    feature = "they_possessive"
    for their in view.tokens:
        if their.lower != "their":
            continue
        noun = view.head(their)
        if their.dep != "poss" or noun.i <= their.i or not noun.tag.startswith("NN"):
            yield view.refuse(feature, their, "no_noun")
            continue
        weight = 0.5 if view.lower(their.i + 1) == "own" else 1.0
        yield Candidate(
            feature,
            (view.swap(their, "they"),),
            f"{view.quoted(their)} before the noun {view.quoted(noun)}.",
            weight=weight,
        )


def yall(view: View) -> Iterator[Proposal]:
    """S26: *you all, you guys, all of you* to *y'all*."""
    feature = "yall"
    for you in view.tokens:
        if you.lower != "you":
            continue
        after = view.at(you.i + 1)
        if view.lowers[max(0, you.i - 2) : you.i] == ["all", "of"]:
            if after is None or after.lower not in ("all", "guys"):
                first = view.tokens[you.i - 2]
                yield _yall(view, first, you)
            continue
        if after is None or after.lower not in ("all", "guys"):
            yield view.refuse(feature, you, "not_plural_you")
            continue
        follows = view.lower(after.i + 1)
        if after.lower == "all" and (follows in _AFTER_ALL):
            yield view.refuse(feature, you, "verb_phrase")
            continue
        yield _yall(view, you, after)


def _yall(view: View, first: Token, last: Token) -> Candidate:
    text = view.segment.text[first.start : last.end]
    return Candidate("yall", (view.swap(first, "y'all", last),), f"“{text}” addresses several.")


def reflexive_regular(view: View) -> Iterator[Proposal]:
    """S27: *himself* to *hisself*, *themselves* to *theyselves*."""
    forms = {"himself": "hisself", "themselves": "theyselves"}
    kept = ("herself", "myself", "yourself", "itself", "ourselves", "yourselves")
    for token in view.tokens:
        if token.lower in forms:
            yield Candidate(
                "reflexive_regular",
                (view.swap(token, forms[token.lower]),),
                f"{view.quoted(token)} takes the possessive or subject form as its base.",
            )
        elif token.lower in kept:
            yield view.refuse("reflexive_regular", token, "not_listed")


def personal_dative(view: View) -> Iterator[Proposal]:
    """S28: *I need to find a dentist* to *I need to find me a dentist*."""
    feature = "personal_dative"
    for verb in view.tokens:
        if verb.lower not in _DATIVE or not verb.tag.startswith("VB") or verb.tag == "VBN":
            continue
        noun = view.kid(verb, "dobj")
        subject = view.subject(verb) or _raised_subject(view, verb)
        code = ""
        if noun is None:
            code = "no_noun"
        elif subject is None or subject.lower != "i":
            code = "other_person"
        elif view.kids(verb, "dative", "auxpass") or _is_refused(view, verb):
            code = "has_object"
        elif view.lower(verb.i + 1) not in ("a", "an", "some"):
            code = "no_noun"
        elif noun.lower in _RESULTS or any(t.lower in _RESULTS for t in view.kids(noun)):
            code = "health_noun"
        elif is_medical(noun.lower) and noun.lower != "doctor":
            code = "health_noun"
        elif any(k.lower == "for" for k in [*view.kids(verb, "prep"), *view.kids(noun, "prep")]):
            code = "beneficiary"
        elif not _is_intended(view, verb):
            code = "no_intent"
        elif view.kids(verb, "ccomp", "xcomp", "oprd", "conj") or view.is_question:
            code = "verb_phrase"
        if code:
            yield view.refuse(feature, verb, code)
            continue
        assert noun is not None
        yield Candidate(
            feature,
            ((verb.end, verb.end, " me"),),
            f"I is the subject of {view.quoted(verb)} and gains {view.quoted(noun)}.",
        )


def _raised_subject(view: View, verb: Token) -> Token | None:
    """*I need to get*: the subject of the verb above an infinitive."""
    at = verb
    while at.dep == "xcomp" and at.head != at.i:
        at = view.head(at)
        if found := view.subject(at):
            return found
    return None


def _is_refused(view: View, verb: Token) -> bool:
    """Whether the wish itself is negated: *do not want to find*."""
    before = view.lowers[max(0, verb.i - 6) : verb.i]
    return view.is_negated(verb) or bool({"not", "n't", "nt", "never"} & set(before))


def _is_intended(view: View, verb: Token) -> bool:
    """Whether the asker sets out to do it: *need to get*, *want to find*, *bought*."""
    if verb.dep == "xcomp":
        return view.head(verb).lemma in ("want", "need", "have", "go", "try", "like", "love", "got")
    return verb.lower in ("buy", "bought")


def me_coordinate(view: View) -> Iterator[Proposal]:
    """S29: *my husband and I are* to *me and my husband are*."""
    feature = "me_coordinate"
    for me in view.tokens:
        if me.text not in ("I", "i", "me") or view.lower(me.i - 1) != "and" or me.dep != "conj":
            continue
        other = view.head(me)
        if other.dep not in ("nsubj", "nsubjpass") or me.lower == "me":
            yield view.refuse(feature, me, "object")
            continue
        phrase = [t for t in view.subtree(other) if t.i < me.i - 1]
        named = other.tag in ("NNP", "NNPS") and not is_medical(other.lower)
        if other.lower not in PERSON and not named:
            yield view.refuse(feature, me, "inanimate")
            continue
        first, last = phrase[0], phrase[-1]
        if (
            last.i != me.i - 2
            or len(phrase) > 3
            or view.kids(other, "relcl", "prep")
            or first.lower == "both"
            or other.tag == "PRP"
        ):
            yield view.refuse(feature, me, "heavy_subject")
            continue
        lower = first.text if first.tag in ("NNP", "NNPS") else first.lower
        opens = first.text[:1].isupper() and first.i == 0
        start = (first.start, first.end, ("Me and " if opens else "me and ") + lower)
        if lower == first.text:
            start = (first.start, first.start, "Me and " if opens else "me and ")
        yield Candidate(
            feature,
            (start, (last.end, me.end, "")),
            f"{view.quoted(other)} and I are a subject together.",
        )


def a_before_vowel(view: View) -> Iterator[Proposal]:
    """S39: *an appointment* to *a appointment*."""
    feature = "a_before_vowel"
    for an in view.tokens:
        if an.lower != "an":
            continue
        after = view.at(an.i + 1)
        if after is None or after.kind != "word" or after.lower[0] not in VOWELS:
            yield view.refuse(feature, an, "acronym")
        elif after.text.isupper() or is_medical(after.lower) or not an.space:
            yield view.refuse(feature, an, "acronym")
        else:
            yield Candidate(
                feature,
                (view.swap(an, "a"),),
                f"{view.quoted(an)} before {view.quoted(after)}, a plain word.",
            )
