"""Respellings (P01-P06) and the texting layer (D01): closed lists, word by word.

Only *-ing* is a pattern, and there the verb must be in the list. Forms are those that the
count table of Blodgett, Green and O'Connor (2016) attests: share of the African American
component 0.5 or more and 500 counts or more, besides *-in*.
"""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import base_of_ing, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import Candidate, Proposal, View

__all__ = [
    "RESPELLINGS",
    "cluster_red",
    "g_drop",
    "informal_digital",
    "r_less",
    "reduction",
    "th_final",
    "th_stop",
]

RESPELLINGS: dict[str, dict[str, str]] = {
    "th_stop": {
        "that": "dat", "this": "dis", "them": "dem", "they": "dey", "then": "den",
        "there": "dere", "these": "dese", "the": "da",
    },
    "th_final": {"with": "wit", "without": "witout"},
    "r_less": {
        "never": "neva", "better": "betta", "over": "ova", "after": "afta", "other": "otha",
        "another": "anotha", "whatever": "whateva",
    },
    "cluster_red": {"just": "jus", "old": "ol"},
    "reduction": {"because": "cuz", "probably": "prolly", "about": "bout"},
    "informal_digital": {
        "you": "u", "are": "r", "your": "ur", "please": "plz", "people": "ppl",
        "because": "bc", "thanks": "thx",
    },
}  # fmt: skip

_PHRASES = {
    ("trying", "to"): "tryna",
    ("got", "to"): "gotta",
    ("let", "me"): "lemme",
    ("out", "of"): "outta",
    ("all", "right"): "aight",
}


def _compound(view: View, token: Token) -> bool:
    """Whether a hyphen or slash ties the word to another."""
    before, after = view.at(token.i - 1), view.at(token.i + 1)
    tied = ("-", "/", "_", "@", "'")
    left = before is not None and before.lower in tied and before.end == token.start
    right = after is not None and after.lower in tied and after.start == token.end
    return left or right


def g_drop(view: View) -> Iterator[Proposal]:
    """P01: unstressed *-ing* written *-in*."""
    feature = "g_drop"
    for token in view.tokens:
        if not token.lower.endswith("ing") or len(token.lower) < 5:
            continue
        listed = token.lower in words("ing_pronouns") or token.lower in base_of_ing()
        if not listed:
            yield view.refuse(feature, token, "not_listed")
            continue
        code = ""
        if _compound(view, token):
            code = "proper"
        elif token.tag in ("NNP", "NNPS") and token.i and token.text[:1].isupper():
            code = "proper"
        if code:
            yield view.refuse(feature, token, code)
            continue
        yield Candidate(
            feature,
            ((token.start, token.end, token.text[:-1]),),
            f"{view.quoted(token)} ends in unstressed -ing.",
        )


def reduction(view: View) -> Iterator[Proposal]:
    """P06: *trying to* to *tryna*, *because* to *cuz*, and the like."""
    feature = "reduction"
    for token in view.tokens:
        after = view.at(token.i + 1)
        phrase = _PHRASES.get((token.lower, after.lower if after is not None else ""))
        if phrase is not None and after is not None and token.space:
            code = _phrase_refusal(view, token, after, phrase)
            if code:
                yield view.refuse(feature, token, code)
            else:
                yield Candidate(
                    feature, (view.swap(token, phrase, after),), f"“{token.text} {after.text}”."
                )
        elif token.lower in RESPELLINGS[feature]:
            code = _word_refusal(view, token)
            if code:
                yield view.refuse(feature, token, code)
            else:
                yield _respelled(view, feature, token)


def _phrase_refusal(view: View, first: Token, last: Token, phrase: str) -> str:
    following = view.at(last.i + 1)
    if phrase in ("tryna", "gotta"):
        if following is None or following.kind != "word":
            return "no_verb"
        if view.is_parsed and following.tag not in ("VB", "RB", "VBP", "NN"):
            return "no_verb"
        verb = following.lower in words("verbs")
        if phrase == "gotta" and (not verb or view.lower(first.i - 1) in ("n't", "not")):
            return "no_verb"
        if not view.is_parsed and not verb:
            return "no_verb"
        if view.is_parsed and following.tag not in ("VB", "RB") and not verb:
            return "no_verb"
    if phrase == "outta":
        near = [*view.lowers[max(0, first.i - 1) : first.i], view.lower(last.i + 1)]
        numbers = words("number_words")
        if any(w[:1].isdigit() or w in numbers for w in near if w):
            return "measure"
    if phrase == "aight" and view.is_parsed and last.tag.startswith("NN"):
        return "noun"
    return ""


def _word_refusal(view: View, token: Token) -> str:
    if _compound(view, token):
        return "proper"
    if token.lower != "about":
        return ""
    after = view.at(token.i + 1)
    if after is None:
        return "clause_final"
    if after.kind == "number" or after.lower in words("number_words") | {"a", "an", "every"}:
        return "measure"
    if after.lower == "to":
        return "idiom"
    return "noun" if token.i == 0 else ""


def _respelled(view: View, feature: str, token: Token) -> Candidate:
    word = RESPELLINGS[feature][token.lower]
    return Candidate(
        feature, (view.swap(token, word),), f"{view.quoted(token)} is in the closed list."
    )


def _listed(feature: str, view: View) -> Iterator[Proposal]:
    for token in view.tokens:
        if token.lower not in RESPELLINGS[feature]:
            continue
        after = view.at(token.i + 1)
        attached = after is not None and after.start == token.end and after.kind == "word"
        if _compound(view, token) or attached:
            yield view.refuse(feature, token, "proper")
        elif token.lower in ("over", "after") and after is not None and after.kind == "number":
            yield view.refuse(feature, token, "measure")
        elif token.lower == "the" and after is not None and after.lower[:1] in "aeiou":
            yield view.refuse(feature, token, "not_listed")
        else:
            yield _respelled(view, feature, token)


def th_stop(view: View) -> Iterator[Proposal]:
    """P02: *the, they, that* written *da, dey, dat*."""
    return _listed("th_stop", view)


def th_final(view: View) -> Iterator[Proposal]:
    """P03: *with, without* written *wit, witout*."""
    return _listed("th_final", view)


def r_less(view: View) -> Iterator[Proposal]:
    """P04: *never, better* written *neva, betta*."""
    return _listed("r_less", view)


def cluster_red(view: View) -> Iterator[Proposal]:
    """P05: *just, old* written *jus, ol*; *years old* stays."""
    for proposal in _listed("cluster_red", view):
        if isinstance(proposal, Candidate):
            start = proposal.edits[0][0]
            i = next(t.i for t in view.tokens if t.start == start)
            near = view.tokens[max(0, i - 3) : i]
            aged = any(t.kind == "number" or t.lower in words("units") for t in near)
            if view.lower(i) == "old" and (aged or view.lower(i - 1) in ("-", "how")):
                yield view.refuse("cluster_red", view.tokens[i], "measure")
                continue
        yield proposal


def informal_digital(view: View) -> Iterator[Proposal]:
    """D01: texting spellings, which are no dialect feature."""
    return _listed("informal_digital", view)
