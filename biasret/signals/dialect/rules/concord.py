"""Negative concord and negative inversion (S11, S12).

Scope after Labov (1972) and Green (2002): the negator must command the word inside its
clause, or in a clause without tense that depends on it. All or none of the words in one
scope change, so that the sentence keeps one reading: one negation.
"""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import Candidate, Proposal, View

__all__ = ["INDEFINITES", "negative_concord", "negative_inversion", "scope_of"]

INDEFINITES = {
    "any": "no",
    "anything": "nothing",
    "anybody": "nobody",
    "anyone": "nobody",
    "anywhere": "nowhere",
}
_NEGATORS = frozenset({"n't", "nt", "not", "never"})
_NEGATIVE = frozenset({"no", "nothing", "nobody", "nowhere", "none", "neither", "nor"})
_COMPARING = frozenset({"more", "longer", "better", "worse", "further", "less", "other", "sooner"})
_QUANTITIES = frozenset(
    {"lot", "little", "few", "bit", "couple", "number", "while", "thing", "clue", "idea", "way"}
    | {"day", "week", "month", "year", "time", "great", "good", "dozen", "doubt", "huge", "big"}
)
_CONSTITUENT = frozenset({"only", "just", "necessarily", "long", "simply", "uncommon", "unusual"})
_BARRIERS = frozenset({"ccomp", "advcl", "relcl", "acl", "csubj", "parataxis", "conj"})
_WINDOW = 6
_BOUNDARIES = frozenset(
    {",", ";", ":", ".", "?", "!", "if", "whether", "that", "because", "unless", "until", "when"}
    | {"and", "but", "so", "than", "who", "which", "while", "since", "before", "after", "or"}
)
_NOT_SUBJECT = frozenset({"nsubj", "nsubjpass"})


def negative_concord(view: View) -> Iterator[Proposal]:
    """S11: *any*-words in the scope of a clausal negator take the negative form."""
    taken: set[int] = set()
    for negator in view.tokens:
        if negator.lower in _NEGATORS:
            yield from _in_scope(view, negator, taken)
        elif negator.lower == "without" and view.is_parsed:
            yield from _after_without(view, negator, taken)
    for token in view.tokens:
        if token.lower in INDEFINITES and token.i not in taken:
            yield view.refuse("negative_concord", token, _outside(view, token))


def _outside(view: View, token: Token) -> str:
    """Why an *any*-word that no negator reached stays as it is."""
    if view.lower(token.i + 1) in _COMPARING and token.lower == "any":
        return "comparison"
    if view.lower(token.i - 1) == "just":
        return "free_choice"
    if token.lower == "any" and view.is_parsed and not _modifies(view, token):
        return "no_noun"
    before = [t for t in view.tokens[: token.i] if t.lower in _NEGATORS]
    if not before:
        return "free_choice" if any(t.lower in _NEGATORS for t in view.tokens) else "no_negator"
    negator = before[-1]
    if _is_constituent(view, negator):
        return "constituent"
    return "finite_clause"


def _is_constituent(view: View, negator: Token) -> bool:
    if view.lower(negator.i + 1) in _CONSTITUENT:
        return True
    if not view.is_parsed:
        return negator.lower == "not" and view.lower(negator.i - 1) not in _FINITE_BEFORE_NOT
    holder = view.head(negator)
    return negator.dep not in ("neg", "advmod") or not holder.tag.startswith(("VB", "MD"))


_FINITE_BEFORE_NOT = frozenset(
    {"do", "does", "did", "is", "are", "am", "was", "were", "have", "has", "had", "can", "could"}
    | {"will", "would", "should", "may", "might", "must", "'m", "'s", "'re", "'ve", "'d", "'ll"}
)


def _in_scope(view: View, negator: Token, taken: set[int]) -> Iterator[Proposal]:
    feature = "negative_concord"
    if _is_constituent(view, negator):
        return
    scope = list(scope_of(view, negator))
    found = [t for t in scope if t.lower in INDEFINITES and _is_target(view, t)]
    if not found:
        yield from _article(view, negator, scope)
        return
    taken.update(t.i for t in found)
    if any(t.lower in _NEGATIVE for t in scope):
        for token in found:
            yield view.refuse(feature, token, "has_negative")
        return
    if any(t.lower == "until" for t in scope):
        for token in found:
            yield view.refuse(feature, token, "until")
        return
    yield Candidate(
        feature,
        tuple(_negative_form(view, token) for token in found),
        f"{view.quoted(negator)} commands {', '.join(map(view.quoted, found))} in its clause; "
        "together they are one negation.",
    )


def _negative_form(view: View, token: Token) -> tuple[int, int, str]:
    word = INDEFINITES[token.lower]
    if token.lower == "any" and view.lower(token.i + 1) == "of":
        word = "none"
    return view.swap(token, word)


def _is_target(view: View, token: Token) -> bool:
    after = view.lower(token.i + 1)
    if token.lower == "any" and after in _COMPARING - {"other"}:
        return False
    if token.lower == "any" and after == "other":
        return True
    if view.lower(token.i - 1) == "just" or (token.lower == "any" and after in ("given", "one")):
        return False
    if token.lower != "any":
        # "anything but", "anyone who": a free choice or a description of its own
        return after not in ("but", "else's", "who", "that")
    if not view.is_parsed:
        return after not in ("", ".", ",", "?", "!")
    return _modifies(view, token)


def _modifies(view: View, token: Token) -> bool:
    """Whether *any* belongs to a noun, a time adverb aside (*didn't want any today*)."""
    after = view.lower(token.i + 1)
    timed = after in words("current_words") | {"yesterday", "tomorrow", "yet", "either"}
    return (token.dep == "det" and not timed) or after == "of"


def scope_of(view: View, negator: Token) -> Iterator[Token]:
    """Tokens after a negator that its clause holds."""
    if not view.is_parsed:
        for token in view.tokens[negator.i + 1 : negator.i + 1 + _WINDOW]:
            if token.lower in _BOUNDARIES:
                return
            yield token
        return
    verb = view.head(negator)
    if verb.dep.startswith("aux"):
        verb = view.head(verb)
    for token in view.tokens[negator.i + 1 :]:
        if token.lower in ("if", "whether", "unless", "because", "?"):
            return
        if _reaches(view, token, verb):
            yield token


def _reaches(view: View, token: Token, verb: Token) -> bool:
    """Whether the way up from a token to the verb crosses no clause of its own."""
    at = token
    for _ in range(len(view.tokens)):
        if at.i == verb.i:
            return True
        if at.dep in _BARRIERS and at.tag.startswith(("VB", "MD")) and _is_barrier(view, at, verb):
            return False
        if at.dep in _NOT_SUBJECT and at.head == verb.i:
            return False
        if at.lower in ("without", "than", "except", "besides", "unlike", "like"):
            return False
        if at.head == at.i:
            return False
        at = view.head(at)
    return False


def _is_barrier(view: View, clause: Token, verb: Token) -> bool:
    if clause.dep == "conj":
        joined = [view.lower(k.i) for k in view.kids(view.head(clause), "cc")]
        own = view.kids(clause, "nsubj", "nsubjpass", "neg", "expl")
        return bool(own) or "or" not in joined
    if clause.dep in ("relcl", "csubj", "parataxis"):
        return True
    if any(view.kids(clause, "mark")) and not any(
        k.lower == "to" for k in view.kids(clause, "aux", "mark")
    ):
        return True
    return view.is_finite(clause) or bool(view.kids(clause, "nsubj") and clause.dep == "ccomp")


def _article(view: View, negator: Token, scope: list[Token]) -> Iterator[Proposal]:
    """*don't have a fever* to *don't have no fever*, at half the weight."""
    if not view.is_parsed or negator.lower == "never" or view.is_question:
        return
    verb = view.head(negator)
    verb = view.head(verb) if verb.dep.startswith("aux") else verb
    for token in scope:
        if token.lower not in ("a", "an") or token.dep != "det":
            continue
        noun = view.head(token)
        if noun.dep != "dobj" or noun.head != verb.i:
            continue
        after = view.lower(token.i + 1)
        if after in _QUANTITIES or noun.lower in _QUANTITIES or noun.tag != "NN":
            yield view.refuse("negative_concord", token, "idiom")
        elif view.kids(noun, "relcl", "nummod") or any(t.lower in _NEGATIVE for t in scope):
            yield view.refuse("negative_concord", token, "has_negative")
        else:
            yield Candidate(
                "negative_concord",
                (view.swap(token, "no"),),
                f"{view.quoted(negator)} commands the object {view.quoted(noun)}; "
                "together they are one negation.",
                weight=0.5,
            )
            return


def _after_without(view: View, without: Token, taken: set[int]) -> Iterator[Proposal]:
    found = [
        t
        for t in view.subtree(without)
        if t.i > without.i and t.lower in INDEFINITES and _is_target(view, t)
        and t.i - without.i <= 3
    ]  # fmt: skip
    if not found:
        return
    taken.update(t.i for t in found)
    yield Candidate(
        "negative_concord",
        tuple(_negative_form(view, token) for token in found),
        f"{view.quoted(without)} commands {', '.join(map(view.quoted, found))}.",
        weight=0.5,
    )


_NEGATED_AUX = {
    "can": "can't", "could": "couldn't", "will": "won't", "would": "wouldn't", "did": "didn't",
    "does": "don't", "has": "ain't", "have": "ain't", "is": "ain't",
}  # fmt: skip


def negative_inversion(view: View) -> Iterator[Proposal]:
    """S12: *Nobody can tell me* to *Can't nobody tell me*."""
    for subject in view.tokens:
        opens = subject.lower == "no" and view.lower(subject.i + 1) == "one"
        if subject.lower not in ("nobody", "nothing") and not opens:
            continue
        last = view.tokens[subject.i + 1] if opens else subject
        aux = view.at(last.i + 1)
        if view.is_question:
            yield view.refuse("negative_inversion", subject, "question")
        elif subject.i != 0:
            yield view.refuse("negative_inversion", subject, "embedded")
        elif aux is None or aux.lower not in _NEGATED_AUX or not _is_aux(view, aux):
            yield view.refuse("negative_inversion", subject, "no_auxiliary")
        else:
            name = "no one" if opens else subject.lower
            inverted = view.cased(subject.text, f"{_NEGATED_AUX[aux.lower]} {name}")
            yield Candidate(
                "negative_inversion",
                ((subject.start, aux.end, inverted),),
                f"{view.quoted(subject)} opens a statement with the auxiliary {view.quoted(aux)}.",
            )


def _is_aux(view: View, aux: Token) -> bool:
    if aux.dep in ("aux", "auxpass"):
        return True
    return aux.lower == "is" and aux.dep == "ROOT"
