"""Zero copula and auxiliary *be*, and habitual *be* (S01-S06).

Licence after Labov (1972), Rickford (1999) and Green (2002): present *is* and *are* may be
absent where WME can contract them, never *am*, never at the end of a clause, never in the
past; the rate falls from *gonna* over V-ing, adjective and place to noun phrase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from biasret.signals.dialect.lexicon import base_of_s, ing_form, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import KIN, PRONOUNS, Candidate, Proposal, View

__all__ = ["gonna_verb", "habitual_be", "site_refusal", "zero_be"]

_PRESENT = frozenset({"is", "are", "'s", "'re", "re"})
_KEEPS_BE = frozenset({"it", "that", "this", "these", "here", "there"})
_WH = frozenset({"what", "who", "which", "whoever", "whatever", "that"})
_STRESSING = frozenset({"so", "too", "really", "indeed"})
#: Verbs of change: "getting worse every day" is one growing state, not a habit.
_INCHOATIVE = frozenset(
    {"getting", "becoming", "growing", "increasing", "worsening", "turning", "losing", "gaining"}
)
_STRESS_FINAL = frozenset({".", "!", "?", ",", ";"})


@dataclass(frozen=True)
class _Predicate:
    """What follows *be*: the feature it belongs to, and its first word."""

    feature: str
    first: Token
    kind: str


def zero_be(view: View) -> Iterator[Proposal]:
    """S01-S05: present *is* or *are* left out before its predicate."""
    for be in view.tokens:
        if be.lower in ("am", "'m", "m") and _is_be(view, be):
            found = _predicate(view, be)
            yield view.refuse(found.feature if found else "zero_copula_adj", be, "first_person")
        elif be.lower in ("was", "were") and be.tag in ("VBD", "VBZ", "VBP"):
            found = _predicate(view, be)
            if found:
                yield view.refuse(found.feature, be, "past")
        elif be.lower in _PRESENT and _is_be(view, be):
            yield from _at(view, be)


def _is_be(view: View, be: Token) -> bool:
    if be.tag not in ("VBZ", "VBP", "VB") or be.tag == "POS":
        return False
    if be.lower in ("m", "re", "'m", "'re", "'s") and be.i and view.tokens[be.i - 1].space:
        return False
    return be.dep != "case"


def _at(view: View, be: Token) -> Iterator[Proposal]:
    predicate = _predicate(view, be)
    feature = predicate.feature if predicate else "zero_copula_adj"
    code, detail = site_refusal(view, be)
    if code:
        yield view.refuse(feature, be, code, detail)
        return
    if predicate is None:
        yield view.refuse(feature, be, "clause_final")
        return
    subject = view.subject(be)
    assert subject is not None
    code = _predicate_refusal(view, be, subject, predicate)
    if code:
        yield view.refuse(feature, be, code)
        return
    weight = 1.15 if be.lower in ("are", "'re", "re") else 1.0
    if subject.lower not in PRONOUNS:
        weight *= 0.6
    yield Candidate(
        feature,
        (view.delete(be),),
        f"Present {view.quoted(be)} before {predicate.kind} {view.quoted(predicate.first)}; "
        f"the subject {view.quoted(subject)} stands before it and is not I; "
        "the verb does not close its clause.",
        weight=weight,
    )


def site_refusal(view: View, be: Token) -> tuple[str, str]:
    """Why *be* must stay here whatever follows it, and a detail; two empty texts if it may go."""
    subject = view.subject(be)
    if view.is_negated(be):
        return "negated", ""
    if view.is_stressed(be) or _closes_stressed(view, be):
        return "emphatic", ""
    if subject is None or subject.dep.startswith("csubj"):
        return "no_subject", ""
    if view.is_inverted(be, subject):
        return "question_order", ""
    if subject.lower in _WH:
        return "wh_subject", ""
    if subject.lower in _KEEPS_BE or subject.dep == "expl" or subject.tag in ("DT", "EX", "VBG"):
        return "subject_it", subject.text
    if subject.lower == "i":
        return "first_person", ""
    if view.has_tag_question(be):
        return "tag_question", ""
    heads = [t for t in view.subtree(subject) if t.i < be.i]
    if len(heads) > 4 or (heads[-1].i != be.i - 1 and not _only_adverbs(view, heads[-1].i, be.i)):
        return "heavy_subject", ""
    return "", ""


def _only_adverbs(view: View, start: int, end: int) -> bool:
    return all(view.tag(i) == "RB" for i in range(start + 1, end))


def _closes_stressed(view: View, be: Token) -> bool:
    """*so/too/really/indeed* next to a verb that ends its clause."""
    after = view.lower(be.i + 1)
    return view.lower(be.i - 1) in _STRESSING and (after in _STRESS_FINAL or not after)


def _predicate(view: View, be: Token) -> _Predicate | None:
    if be.dep in ("aux", "auxpass"):
        return _verbal(view, be, view.head(be))
    after = [t for t in view.kids(be) if t.i > be.i]
    # The tagger takes some comparatives for nouns ("She is sicker"): trust the list first.
    following = view.at(be.i + 1)
    if following and following.lower in words("adjectives") and following.lower.endswith("er"):
        return _Predicate("zero_copula_adj", following, "the adjective")
    for kid in after:
        if kid.dep == "acomp":
            return _Predicate("zero_copula_adj", kid, "the adjective")
        if kid.dep == "attr":
            return _Predicate("zero_copula_np", kid, "the noun")
        if kid.dep == "prep" and kid.lower in words("place_prepositions"):
            return _Predicate("zero_copula_loc", kid, "the phrase of place")
        if kid.dep == "advmod" and kid.lower in words("place_words"):
            return _Predicate("zero_copula_loc", kid, "the place")
        if kid.dep in ("ccomp", "xcomp", "advcl"):
            return _Predicate("zero_copula_np", kid, "the clause")
    return None


def _verbal(view: View, be: Token, verb: Token) -> _Predicate | None:
    if verb.i < be.i:
        return None
    if gonna_verb(view, verb):
        return _Predicate("zero_aux_gonna", verb, "the future")
    if verb.tag == "VBG":
        return _Predicate("zero_aux_prog", verb, "the verb")
    return _Predicate("zero_copula_adj", verb, "the participle")


def gonna_verb(view: View, going: Token) -> Token | None:
    """The base verb of *going to* + verb or *gonna* + verb, or None (*going to the clinic*)."""
    if going.lower not in ("going", "gon") or view.lower(going.i + 1) not in ("to", "na"):
        return None
    i = going.i + 2
    while view.tag(i) == "RB" or view.lower(i) in ("just", "always", "probably"):
        i += 1
    verb = view.at(i)
    return verb if verb is not None and verb.tag == "VB" else None


def _predicate_refusal(view: View, be: Token, subject: Token, predicate: _Predicate) -> str:
    """Why this predicate cannot stand without *be*; the empty text if it can."""
    first = predicate.first
    if predicate.kind == "the clause":
        return "clausal"
    if predicate.feature == "zero_copula_adj" and view.lower(be.i + 1) == "the":
        return "definite"
    if view.kids(subject, "prep") and predicate.feature == "zero_copula_loc":
        return "heavy_subject"
    if subject.lower not in PRONOUNS and any(
        k.lower in ("a", "an", "any", "some", "no") for k in view.kids(subject, "det")
    ):
        return "noun_phrase_reading"
    if predicate.kind == "the participle":
        if first.lower not in words("adjectival_participles"):
            return "perfect" if first.tag == "VBN" and be.lower == "'s" else "passive"
        if any(k.lower == "by" for k in view.kids(first, "agent", "prep")):
            return "passive"
    if predicate.feature == "zero_copula_adj" and first.tag == "VBN":
        listed = words("adjectival_participles") | words("adjectives")
        if first.lower not in listed:
            return "passive"
    pronoun = subject.lower in PRONOUNS
    person = pronoun or view.is_person(subject)
    if predicate.feature == "zero_copula_np":
        if not person:
            return "inanimate"
        determiner = view.kid(first, "det")
        if determiner is None or determiner.lower not in ("a", "an") or first.lower == "lot":
            return "definite"
    if predicate.feature == "zero_copula_loc" and not person:
        return "noun_phrase_reading"
    if predicate.feature == "zero_copula_adj" and not pronoun and not _is_headed(view, subject):
        return "noun_phrase_reading"
    if predicate.feature == "zero_aux_prog" and not person and _reads_as_noun(view, be, subject):
        return "noun_phrase_reading"
    return ""


def _is_headed(view: View, subject: Token) -> bool:
    """Whether a noun subject has a word before it that marks it as one (my, the, both)."""
    return bool(view.kids(subject, "det", "poss")) or subject.tag in ("NNP", "PRP")


def _reads_as_noun(view: View, be: Token, subject: Token) -> bool:
    """*The fever getting worse* and *cramps coming*: a noun phrase without a verb."""
    if not _is_headed(view, subject):
        return True
    verb = view.head(be)
    edge = view.subtree(subject)[0].i
    opens = edge == 0 or view.tag(edge - 1) in (".", ":", "CC", ",")
    adverbs = [k for k in view.kids(verb, "advmod", "npadvmod") if k.i > verb.i]
    return opens and not adverbs


# -- habitual be ------------------------------------------------------------------------------


def habitual_be(view: View) -> Iterator[Proposal]:
    """S06: present *be* becomes invariant *be* where the clause itself states a habit."""
    for be in view.tokens:
        if be.lower in _PRESENT | {"am", "'m", "m"} and _is_be(view, be):
            yield from _habitual_at(view, be)
    if "habitual_be" in view.enabled:
        yield from _habitual_lexical(view)


def _habit(view: View, verb: Token) -> Token | None:
    """The word that states the habit in a verb's clause, or None."""
    holder = view.head(verb) if verb.dep.startswith("aux") else verb
    for token in view.clause_words(holder):
        if token.lower in words("habitual_adverbs") and token.tag == "RB":
            # "more often" compares and "as always" refers back; neither states a habit.
            if view.lower(token.i - 1) not in ("more", "less", "as", "so", "how", "most"):
                return token
            continue
        before, after = view.lower(token.i - 1), view.lower(token.i + 1)
        if token.lower in words("habitual_nouns") and before in ("every", "each"):
            return token
        if token.lower == "whenever" and token.head != holder.i:
            return token
        if (token.lower == "time" and before == "every") or (
            token.lower == "most" and after in ("days", "nights")
        ):
            return token
        if token.lower == "all" and [after, view.lower(token.i + 2)] == ["the", "time"]:
            return token
        if token.lower in ("weekends", "weekdays") and before in ("on", "the"):
            return token
    return None


def _habitual_at(view: View, be: Token) -> Iterator[Proposal]:
    feature = "habitual_be"
    habit = _habit(view, be)
    subject = view.subject(be)
    predicate = _predicate(view, be)
    if habit is None:
        if subject is not None and predicate is not None:
            yield view.refuse(feature, be, "no_habit")
        return
    code = _habitual_refusal(view, be, subject, predicate)
    if code:
        yield view.refuse(feature, be, code)
        return
    assert subject is not None
    assert predicate is not None
    why = (
        f"{view.quoted(habit)} states a habit; {view.quoted(be)} before {predicate.kind} "
        f"{view.quoted(predicate.first)} recurs with it."
    )
    yield Candidate(feature, tuple(_be_edits(view, be)), why)


def _be_edits(view: View, be: Token) -> list[tuple[int, int, str]]:
    """*is always tired* to *always be tired*: the adverb comes first."""
    adverb = view.at(be.i + 1)
    lead = " " if be.i and not view.tokens[be.i - 1].space else ""
    if adverb is not None and adverb.lower in words("habitual_adverbs"):
        gone = view.delete(be) if lead else (be.start, adverb.start, "")
        return [gone, (adverb.end, adverb.end, " be")]
    return [(be.start, be.end, lead + "be")]


def _habitual_refusal(
    view: View, be: Token, subject: Token | None, predicate: _Predicate | None
) -> str:
    if view.is_negated(be):
        return "negated"
    if view.is_stressed(be):
        return "emphatic"
    if subject is None:
        return "no_subject"
    if view.is_inverted(be, subject):
        return "question_order"
    if subject.dep == "expl" or subject.lower in ("there", "that", "this", "what", "who", "which"):
        return "subject_it"
    if predicate is None:
        return "clause_final"
    if predicate.kind == "the clause":
        return "clausal"
    if predicate.feature == "zero_aux_gonna":
        return "no_habit"
    if predicate.first.lower in _INCHOATIVE:
        return "change"
    if predicate.kind == "the participle":
        if be.lower == "'s":
            return "perfect"
        if predicate.first.lower not in words("adjectival_participles"):
            return "passive"
    holder = view.head(be) if be.dep.startswith("aux") else be
    clause = view.clause_words(holder)
    if any(t.lower in words("current_words") for t in clause) or "right now" in " ".join(
        t.lower for t in clause
    ):
        return "current"
    inside = [t for t in view.subtree(predicate.first) if t.i >= predicate.first.i]
    if any(t.lower in words("permanent") for t in inside) or predicate.feature == "zero_copula_np":
        return "permanent"
    return ""


def _habitual_lexical(view: View) -> Iterator[Proposal]:
    """*My chest hurts every morning* to *My chest be hurting every morning*, from 0.7 on."""
    for verb in view.tokens:
        if verb.tag not in ("VBZ", "VBP") or verb.dep.startswith("aux"):
            continue
        base = base_of_s().get(verb.lower) or verb.lower
        if base not in words("verbs"):
            continue
        subject = view.subject(verb)
        habit = _habit(view, verb)
        if habit is None or subject is None:
            continue
        if base in ("become", "get", "grow", "increase", "worsen", "turn", "continue", "keep"):
            yield view.refuse("habitual_be", verb, "change")
        elif base in words("stative"):
            yield view.refuse("habitual_be", verb, "stative")
        elif view.kids(verb, "aux", "auxpass", "neg") or view.is_negated(verb):
            yield view.refuse("habitual_be", verb, "negated")
        elif view.is_inverted(verb, subject) or subject.lower in ("what", "who", "which", "that"):
            yield view.refuse("habitual_be", verb, "wh_subject")
        elif verb.tag == "VBP" and subject.lower not in PRONOUNS and subject.lower not in KIN:
            yield view.refuse("habitual_be", verb, "homograph")
        else:
            yield Candidate(
                "habitual_be",
                (view.swap(verb, "be " + ing_form(base)),),
                f"{view.quoted(habit)} states a habit; {view.quoted(verb)} recurs with it.",
                min_density=0.7,
            )
