"""Comparatives, adverbs, relatives, doubled subjects (S30-S32, S36, S37, S40)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import pairs, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import KIN, PRONOUNS, Candidate, Proposal, View

__all__ = [
    "degree_adv_flat",
    "double_comparative",
    "manner_adv_flat",
    "subject_doubling",
    "than_what",
    "zero_subj_relative",
]

_MODIFIERS = frozenset(
    {"much", "far", "even", "any", "no", "more", "lot", "bit", "little", "way", "slightly", "so"}
    | {"significantly", "a", "the", "or", "for"}
)


def double_comparative(view: View) -> Iterator[Proposal]:
    """S30: *is worse* to *is more worse*."""
    feature = "double_comparative"
    for token in view.tokens:
        if token.lower not in words("comparatives"):
            continue
        before = view.lower(token.i - 1)
        after = view.at(token.i + 1)
        code = ""
        if before in _MODIFIERS:
            code = "modified"
        elif before == "-" or (after is not None and after.lower == "-"):
            code = "proper"
        elif token.dep in ("amod", "compound") or view.tag(token.i + 1).startswith("NN"):
            code = "attributive"
        elif token.dep not in ("acomp", "advmod", "attr", "conj", "oprd") or token.i == 0:
            code = "attributive"
        elif token.dep == "advmod" and not view.head(token).i < token.i:
            code = "attributive"
        elif not view.tag(token.i - 1).startswith(("VB", "RB", "PRP", "JJ", "CC")):
            code = "attributive"
        elif before in ("or", "and", "get", "feel") and token.lower == "better":
            code = "idiom"
        if code:
            yield view.refuse(feature, token, code)
            continue
        yield Candidate(
            feature,
            ((token.start, token.start, "more "),),
            f"{view.quoted(token)} follows its verb and has no modifier.",
        )


def degree_adv_flat(view: View) -> Iterator[Proposal]:
    """S31: *really tired* to *real tired*."""
    feature = "degree_adv_flat"
    for really in view.tokens:
        if really.lower != "really":
            continue
        after = view.at(really.i + 1)
        if after is None or view.lower(really.i - 1) in ("not", "n't", "nt"):
            yield view.refuse(feature, really, "sentence_adverb")
            continue
        listed = after.lower in words("adjectives") | words("adverbs")
        fits = listed and (not view.is_parsed or after.tag[:2] in ("JJ", "RB", "VB"))
        verbal = after.tag in ("VB", "VBP", "VBZ", "VBD") or (after.tag == "VBN" and not listed)
        if not fits or verbal:
            yield view.refuse(feature, really, "sentence_adverb")
            continue
        yield Candidate(
            feature,
            (view.swap(really, "real"),),
            f"{view.quoted(really)} gives the degree of {view.quoted(after)}.",
        )


def manner_adv_flat(view: View) -> Iterator[Proposal]:
    """S32: *healed slowly* to *healed slow*."""
    feature = "manner_adv_flat"
    flat = pairs("flat_adverbs")
    for adverb in view.tokens:
        if adverb.lower not in flat:
            continue
        after = view.at(adverb.i + 1)
        verb = view.head(adverb)
        closes = after is None or after.lower in (".", "!", "?", ",", ";", "and", "but", "when")
        if not closes:
            yield view.refuse(feature, adverb, "not_final")
        elif adverb.dep != "advmod" or not verb.tag.startswith("VB") or verb.i > adverb.i:
            yield view.refuse(feature, adverb, "attributive")
        else:
            yield Candidate(
                feature,
                (view.swap(adverb, flat[adverb.lower]),),
                f"{view.quoted(adverb)} closes the clause of {view.quoted(verb)}.",
            )


def zero_subj_relative(view: View) -> Iterator[Proposal]:
    """S36: *I have an aunt who had a stroke* to *I have an aunt had a stroke*."""
    feature = "zero_subj_relative"
    for who in view.tokens:
        if who.lower not in ("who", "that") or who.dep not in ("nsubj", "nsubjpass"):
            continue
        verb = view.head(who)
        if verb.dep != "relcl":
            continue
        noun = view.head(verb)
        matrix = view.head(noun)
        existential = bool(view.kids(matrix, "expl")) and noun.dep == "attr"
        owning = noun.dep == "dobj" and matrix.lemma in ("have", "know", "get")
        finite = view.is_finite(verb) and verb.tag != "VBG"
        if not (existential or owning) or who.i != noun.i + 1 or not finite:
            yield view.refuse(feature, who, "matrix")
            continue
        yield Candidate(
            feature,
            (view.delete(who),),
            f"{view.quoted(who)} is the subject in a clause about {view.quoted(noun)}, which "
            f"{view.quoted(matrix)} introduces.",
        )


def than_what(view: View) -> Iterator[Proposal]:
    """S37: *worse than I thought* to *worse than what I thought*."""
    feature = "than_what"
    for than in view.tokens:
        if than.lower != "than":
            continue
        subject, verb = view.at(than.i + 1), view.at(than.i + 2)
        if subject is None or subject.lower not in PRONOUNS or not _is_verb(view, verb):
            yield view.refuse(feature, than, "no_clause")
            continue
        if not any(_compares(word) for word in view.lowers[max(0, than.i - 6) : than.i]):
            yield view.refuse(feature, than, "no_comparative")
            continue
        yield Candidate(
            feature,
            ((than.end, than.end, " what"),),
            f"{view.quoted(than)} before a clause with the subject {view.quoted(subject)}.",
        )


def _compares(word: str) -> bool:
    listed = {"more", "less", "worse", "better", "other", "rather", "fewer"}
    return word in listed or (word.endswith("er") and len(word) > 4)


_VERBS = frozenset({"is", "are", "was", "were", "am", "do", "does", "did", "have", "has", "had"})


def _is_verb(view: View, token: Token | None) -> bool:
    if token is None:
        return False
    if view.is_parsed:
        return token.tag.startswith(("VB", "MD")) or token.lower in _VERBS
    return token.lower in _VERBS | words("verbs") | {"thought", "said", "expected", "wanted"}


def subject_doubling(view: View) -> Iterator[Proposal]:
    """S40: *My aunt has gout* to *My aunt she has gout*."""
    feature = "subject_doubling"
    for noun in view.tokens:
        if noun.lower not in KIN or noun.dep != "nsubj":
            continue
        verb = view.head(noun)
        first = view.at(noun.i - 1)
        code = ""
        if view.is_question:
            code = "question"
        elif first is None or first.lower not in ("my", "our") or first.i != 0:
            code = "embedded"
        elif verb.dep != "ROOT" or view.at(noun.i + 1) is None:
            code = "embedded"
        elif not view.tag(noun.i + 1).startswith(("VB", "MD")):
            code = "heavy_subject"
        elif view.lower(noun.i + 1).startswith("'"):
            code = "heavy_subject"
        pronoun = _pronoun(noun)
        if not code and pronoun is None:
            code = "not_listed"
        if code:
            yield view.refuse(feature, noun, code)
            continue
        yield Candidate(
            feature,
            ((noun.end, noun.end, f" {pronoun}"),),
            f"The kin term {view.quoted(noun)} is the subject of a main clause.",
        )


def _pronoun(noun: Token) -> str | None:
    """The pronoun of a kin term that shows gender or number; none where it shows neither."""
    if noun.tag == "NNS":
        return "they"
    if noun.lower in words("kin_female"):
        return "she"
    return "he" if noun.lower in words("kin_male") else None
