"""*Ain't* and invariant *don't* (S07-S10)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import PRONOUNS, Candidate, Proposal, View

__all__ = ["aint_be", "aint_did", "aint_have", "has_past_anchor", "invariant_dont"]

_NOT = frozenset({"not", "n't", "nt"})
_BE = frozenset({"am", "is", "are", "'m", "'s", "'re", "m", "re"})
_HAVE = frozenset({"have", "has", "'ve", "ve"})
_CONSTITUENT = frozenset({"only", "just", "necessarily", "simply", "merely", "until"})
_THIRD = frozenset({"he", "she", "it", "this", "that", "everyone", "everybody", "nobody"})
_ED = ("ed", "en")
_PARTICIPLES = frozenset(
    {"been", "had", "done", "gone", "seen", "got", "gotten", "found", "felt", "taken", "eaten"}
    | {"slept", "heard", "told", "made", "left", "lost", "kept", "said", "come", "thought"}
    | {"put", "let", "quit", "hurt", "cut", "hit", "met", "read", "sent", "tried", "brought"}
)


def _aint(view: View, first: Token) -> str:
    """*ain't*, spelled as the text spells its contractions."""
    negator = view.tokens[first.i + 1]
    bare = negator.lower == "nt"
    word = "aint" if bare else "ain't"
    return view.cased(first.text if first.text[:1].isalpha() else "", word)


def _negator(view: View, verb: Token) -> Token | None:
    after = view.at(verb.i + 1)
    return after if after is not None and after.lower in _NOT else None


def _common_refusal(view: View, verb: Token, negator: Token) -> str:
    after = view.lower(negator.i + 1)
    if after in _CONSTITUENT:
        return "constituent"
    if verb.text.isupper() and len(verb.text) > 1 and not view.segment.text.isupper():
        return "emphatic"
    if negator.text == "NOT" and not view.segment.text.isupper():
        return "emphatic"
    if view.lower(verb.i - 1) == "," and after in PRONOUNS:
        return "tag_question"
    if after in PRONOUNS | {"there", "this", "that"} or (verb.i == 0 and view.is_question):
        return "question_order"
    return ""


def _swap(view: View, verb: Token, negator: Token) -> tuple[int, int, str]:
    """*is not*, *isn't*, *'s not* to *ain't* with one blank before it."""
    attached = verb.i > 0 and not view.tokens[verb.i - 1].space
    lead = " " if attached and verb.lower.startswith(("'", "m", "re", "ve")) else ""
    return verb.start, negator.end, lead + _aint(view, verb)


def aint_be(view: View) -> Iterator[Proposal]:
    """S07: present *be* + *not* to *ain't*."""
    for verb in view.tokens:
        negator = _negator(view, verb)
        if negator is None or verb.lower not in _BE | {"was", "were"}:
            continue
        if verb.lower in ("was", "were"):
            yield view.refuse("aint_be", verb, "past")
            continue
        code = _common_refusal(view, verb, negator) or _is_perfect(view, verb, negator)
        if not code and view.lower(negator.i + 1) in ("", ".", "?", "!", ",", ";"):
            code = "clause_final"
        if code:
            yield view.refuse("aint_be", verb, code)
            continue
        yield Candidate(
            "aint_be",
            (_swap(view, verb, negator),),
            f"Present be with {view.quoted(negator)}, in a statement, any person.",
        )


def _is_perfect(view: View, verb: Token, negator: Token) -> str:
    """*she's not been well*: 's is has."""
    return "perfect" if verb.lower == "'s" and view.lower(negator.i + 1) in _PARTICIPLES else ""


def aint_have(view: View) -> Iterator[Proposal]:
    """S08: perfect *have* + *not* to *ain't*."""
    for verb in view.tokens:
        negator = _negator(view, verb)
        if negator is None or verb.lower not in _HAVE:
            continue
        code = _common_refusal(view, verb, negator)
        if not code and not _participle_follows(view, negator):
            code = "main_have"
        if code:
            yield view.refuse("aint_have", verb, code)
            continue
        yield Candidate(
            "aint_have",
            (_swap(view, verb, negator),),
            f"Perfect {view.quoted(verb)} with {view.quoted(negator)} before a participle.",
        )


def _participle_follows(view: View, negator: Token) -> bool:
    i = negator.i + 1
    while view.lower(i) in ("yet", "ever", "really", "even", "actually", "always", "just", "also"):
        i += 1
    token = view.at(i)
    if token is None:
        return False
    if view.is_parsed:
        return token.tag in ("VBN", "VBD") or token.lower in _PARTICIPLES
    return token.lower in _PARTICIPLES or (token.lower.endswith(_ED) and len(token.lower) > 4)


def has_past_anchor(view: View) -> bool:
    """Whether the segment says when: *yesterday*, *last year*, *ago*, *in 2019*, *when* + past."""
    low = view.lowers
    for i, word in enumerate(low):
        if word in words("past_anchors"):
            return True
        if word == "last" and view.lower(i + 1) in words("habitual_nouns") | {"year", "fall"}:
            return True
        if word == "in" and view.lower(i + 1)[:2] in ("19", "20") and len(view.lower(i + 1)) == 4:
            return True
        if word in ("when", "before", "after") and any(t.tag == "VBD" for t in view.tokens[i:]):
            did = any(low[j] == "did" for j in range(i, len(low)))
            if not did:
                return True
    return False


def aint_did(view: View) -> Iterator[Proposal]:
    """S09: *didn't* + verb to *ain't* + verb, where the sentence says when."""
    for verb in view.tokens:
        negator = _negator(view, verb)
        if negator is None or verb.lower != "did":
            continue
        code = _common_refusal(view, verb, negator)
        if not code and (not view.is_parsed or view.head(verb).tag != "VB" or verb.dep != "aux"):
            code = "no_verb"
        if not code and not has_past_anchor(view):
            code = "no_anchor"
        if code:
            yield view.refuse("aint_did", verb, code)
            continue
        yield Candidate(
            "aint_did",
            (_swap(view, verb, negator),),
            f"{view.quoted(verb)} with {view.quoted(negator)} before a base verb; "
            "a past time in the sentence keeps the tense.",
        )


def invariant_dont(view: View) -> Iterator[Proposal]:
    """S10: *doesn't* or *does not* to *don't*."""
    for verb in view.tokens:
        negator = _negator(view, verb)
        if negator is None or verb.lower not in ("does", "did"):
            continue
        if verb.lower == "did":
            yield view.refuse("invariant_dont", verb, "past")
            continue
        code = ""
        if view.is_stressed(verb) or (negator.text == "NOT" and not view.segment.text.isupper()):
            code = "emphatic"
        elif view.lower(negator.i + 1) in _CONSTITUENT:
            code = "constituent"
        elif view.is_parsed and not _third(view, verb):
            code = "not_third"
        if code:
            yield view.refuse("invariant_dont", verb, code)
            continue
        word = "dont" if negator.lower == "nt" else "don't"
        yield Candidate(
            "invariant_dont",
            ((verb.start, negator.end, view.cased(verb.text, word)),),
            f"Present {view.quoted(verb)} with {view.quoted(negator)}: don't serves all persons.",
        )


def _third(view: View, verb: Token) -> bool:
    """Whether the verb has a subject, which *does* then shows to be third person singular."""
    subject = view.subject(verb)
    return subject is not None and subject.lower not in ("i", "you", "we", "they")
