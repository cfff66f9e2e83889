"""Back-rules for the verb: zero and habitual *be*, *been*, *done*, *-s*, *was*."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import pairs, s_form, words
from biasret.signals.dialect.rules.aint import has_past_anchor
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import Candidate, View
from biasret.signals.dialect.wme.asking import (
    SUBJECTS,
    has_left,
    is_base,
    is_participle,
    opens_clause,
    participle_of,
    phrase_start,
    predicate_kind,
    present_be,
    subject_before,
    third,
)

__all__ = ["been", "done", "habitual", "leveled", "third_person", "was", "zero_be"]

_AUX = frozenset(
    {"do", "does", "did", "can", "could", "will", "would", "should", "may", "might", "must", "ca"}
    | {"wo", "'ll", "'d", "to", "let", "make", "makes", "made", "help", "helps", "let's", "n't"}
    | {"shall", "please", "saw", "see", "hear", "heard", "watch", "cannot", "not"}
)
_HAVE = frozenset({"have", "has", "had", "'ve", "'d", "having", "ve", "'s"})
_BE = frozenset({"am", "is", "are", "was", "were", "'m", "'s", "'re", "be", "been", "being"})
_FEATURES = {
    "future": "zero_aux_gonna", "V-ing": "zero_aux_prog", "adjective": "zero_copula_adj",
    "place": "zero_copula_loc", "noun": "zero_copula_np",
}  # fmt: skip
_CONFIDENCE = {"pronoun": 0.85, "kin": 0.7, "owned": 0.7, "other": 0.5}


def zero_be(view: View) -> Iterator[Candidate]:
    """*She taking* to *She is taking*: a subject directly before a predicate without a verb."""
    seen: set[int] = set()
    for token in view.tokens:
        kind = predicate_kind(view, token.i)
        found = subject_before(view, token.i) if kind else None
        if found is None or token.i in seen:
            continue
        subject, subject_kind = found
        confidence = _zero_confidence(view, subject, subject_kind, token, kind)
        if confidence is None:
            continue
        seen.add(token.i)
        if _is_yn_question(view, subject):
            edit = (subject.start, subject.end, view.cased(subject.text, f"are {subject.lower}"))
            feature = "zero_aux_yn"
            confidence = 0.7
        else:
            be = present_be(view, subject)
            edit = (subject.end, subject.end, f" {be}" if be != "am" else view.cased("", "'m"))
            feature = _FEATURES[kind]
        yield Candidate(
            feature,
            (edit,),
            f"The subject {view.quoted(subject)} stands before {view.quoted(token)} without be.",
            confidence=confidence,
        )


def _zero_confidence(
    view: View, subject: Token, subject_kind: str, predicate: Token, kind: str
) -> float | None:
    if subject.lower == "i" and kind != "future":
        return 0.5 if kind == "V-ing" else None
    if subject.lower == "it" and kind in ("noun", "place"):
        return None
    opener = view.lower(phrase_start(view, subject).i - 1)
    if opener in ("than", "as") or has_left(view, subject, _AUX | _BE, within=2):
        return None
    if opener in ("where", "why", "what", "how", "when", "who") and view.is_question:
        return None
    if subject_kind != "pronoun" and _has_finite_verb(view, subject, predicate):
        return None
    if kind == "place" and subject_kind != "pronoun" and not _closes_without_verb(view, predicate):
        return None
    return _CONFIDENCE[subject_kind]


def _has_finite_verb(view: View, subject: Token, predicate: Token) -> bool:
    """Whether the noun has a verb of its own later on: *my son taking it is fine*."""
    verb = view.head(subject)
    if verb.i > predicate.i and verb.tag in ("VBZ", "VBP", "VBD", "MD"):
        return True
    return any(
        t.tag in ("VBZ", "VBD", "MD") and not view.kids(t, "nsubj", "nsubjpass", "expl")
        and view.head(t).i <= t.i
        for t in view.tokens[predicate.i + 1 : predicate.i + 8]
        if "," not in view.lowers[predicate.i : t.i]
    )  # fmt: skip


def _closes_without_verb(view: View, predicate: Token) -> bool:
    rest = view.tokens[predicate.i + 1 :]
    return not any(t.tag in ("VBZ", "VBP", "VBD", "MD") for t in rest[:8])


def _is_yn_question(view: View, subject: Token) -> bool:
    return view.is_question and subject.lower == "you" and subject.i == 0


def habitual(view: View) -> Iterator[Candidate]:
    """Finite *be* to *am/is/are*, with its adverb, or with *usually* where there is none."""
    for be in view.tokens:
        if be.lower != "be" or be.i == 0 or has_left(view, be, _AUX | _BE, within=7):
            continue
        adverb = view.at(be.i - 1)
        at = be.i
        habit = words("habitual_adverbs")
        if adverb is not None and adverb.lower in habit and be.i > 1:
            at = be.i - 1
        found = subject_before(view, at)
        if found is None or view.at(be.i + 1) is None:
            continue
        subject, _ = found
        if view.is_question and not opens_clause(view, subject):
            continue
        form = present_be(view, subject)
        why = f"finite be after the subject {view.quoted(subject)}."
        if at != be.i and adverb is not None:
            edit = (adverb.start, be.end, f"{form} {adverb.lower}")
            yield Candidate("habitual_be", (edit,), why, confidence=0.9)
            continue
        stated = _states_habit(view)
        new = form if stated else f"{form} usually"
        edit = (be.start, be.end, new)
        yield Candidate("habitual_be", (edit,), why, confidence=0.9 if stated else 0.75)


def _states_habit(view: View) -> bool:
    low = view.lowers
    marks = {"every", "whenever", "each"} | words("habitual_adverbs")
    if any(word in marks for word in low):
        return True
    joined = " ".join(low)
    return any(phrase in joined for phrase in ("all the time", "most days", "on weekends"))


def been(view: View) -> Iterator[Candidate]:
    """*I been having* to *I have been having*."""
    for token in view.tokens:
        if token.lower != "been" or token.i == 0:
            continue
        found = subject_before(view, token.i)
        if found is None:
            continue
        subject, kind = found
        before = view.lower(subject.i - 1)
        if before in _HAVE | _AUX | {"as", "than"} or (
            kind != "pronoun" and has_left(view, token, _HAVE)
        ):
            continue
        after = view.at(token.i + 1)
        if after is None or after.kind == "punct":
            continue
        have = "has" if third(view, subject) else "have"
        stressed = token.text == "BEEN" or after.tag == "VBD"
        yield Candidate(
            "remote_been" if stressed else "been_perfect",
            ((subject.end, subject.end, f" {have}"),),
            f"been after the subject {view.quoted(subject)} without have.",
            confidence=0.4 if stressed else 0.9,
        )


def done(view: View) -> Iterator[Candidate]:
    """*I done took* to *I have taken*."""
    for token in view.tokens:
        if token.lower != "done" or token.i == 0:
            continue
        found = subject_before(view, token.i)
        if found is None or view.lower(token.i - 1) in _HAVE | _BE:
            continue
        subject, _ = found
        verb = view.at(token.i + 1)
        while verb is not None and verb.lower in ("already", "just", "finally"):
            verb = view.at(verb.i + 1)
        if verb is None or verb.tag not in ("VBD", "VBN", "VB", "VBP") or verb.kind != "word":
            continue
        sure = is_participle(verb) or verb.lower in pairs("past_to_participle")
        if not sure and verb.tag not in ("VBD", "VBN"):
            continue
        edits = [view.swap(token, "has" if third(view, subject) else "have")]
        if participle_of(verb.lower) != verb.lower:
            edits.append(view.swap(verb, participle_of(verb.lower)))
        yield Candidate(
            "completive_done",
            tuple(edits),
            f"done after {view.quoted(subject)} before {view.quoted(verb)}.",
            confidence=0.85,
        )


def leveled(view: View) -> Iterator[Candidate]:
    """*have took* to *have taken*."""
    for verb in view.tokens:
        participle = pairs("past_to_participle").get(verb.lower)
        if participle is None:
            continue
        at = verb.i - 1
        while view.lower(at) in ("already", "just", "never", "not", "n't", "also", "ever"):
            at -= 1
        if view.lower(at) in ("have", "has", "'ve", "had", "having"):
            yield Candidate(
                "participle_leveling",
                (view.swap(verb, participle),),
                f"{view.quoted(verb)} after {view.quoted(view.tokens[at])}.",
                confidence=0.85,
            )


def third_person(view: View) -> Iterator[Candidate]:
    """*She sleep* to *She sleeps*; *Do this cause* to *Does this cause*."""
    past = has_past_anchor(view)
    for verb in view.tokens:
        if verb.lower == "do" and (verb.i == 0 or view.lower(verb.i - 1) in _WH):
            found = _question_subject(view, verb)
            if found is not None:
                yield _ending(view, verb, found)
            continue
        if not (is_base(verb) or verb.lower in ("have", "do")):
            continue
        if verb.tag not in ("VB", "VBP") and not _is_present_past(view, verb):
            continue
        if past or not _is_clear_base(view, verb):
            continue
        found_before = subject_before(view, verb.i)
        if found_before is None:
            continue
        subject, kind = found_before
        if not third(view, subject) or has_left(view, subject, _AUX | _BE, within=4):
            continue
        if kind != "pronoun" and (subject.tag not in ("NN", "NNP") or subject.head != verb.i):
            continue
        if view.lower(verb.i + 1) in ("n't", "nt", "not"):
            continue
        yield _ending(view, verb, subject)


_WH = frozenset({"why", "how", "when", "where", "what", "and", ","})


def _ending(view: View, verb: Token, subject: Token) -> Candidate:
    return Candidate(
        "third_sg_zero",
        (view.swap(verb, s_form(verb.lower)),),
        f"{view.quoted(verb)} with the third person singular subject {view.quoted(subject)}.",
        confidence=0.8,
    )


def _is_clear_base(view: View, verb: Token) -> bool:
    """A form that equals its past needs a present time in the clause."""
    if verb.lower not in words("past_like_base"):
        return True
    low = view.lowers
    return "when" in low or "every" in low or any(w in words("present_anchors") for w in low)


def _is_present_past(view: View, verb: Token) -> bool:
    """*hurt when I walk*: tagged past, but no other verb of the segment is."""
    others = [t for t in view.tokens if t.tag == "VBD" and t.i != verb.i]
    return verb.tag == "VBD" and verb.lower in words("past_like_base") and not others


def _question_subject(view: View, do: Token) -> Token | None:
    """The singular subject of a question that *do* opens, or None."""
    if not view.is_question:
        return None
    first = view.at(do.i + 1)
    if first is None:
        return None
    if first.lower in ("he", "she", "it"):
        return first
    if first.lower in ("this", "that") and view.tag(do.i + 2)[:2] == "VB":
        return first
    subject = view.subject(do)
    if subject is None or subject.tag != "NN" or subject.i <= do.i or subject.i - do.i > 4:
        return None
    if any(view.lower(i) in ("and", "or") for i in range(do.i, subject.i + 2)):
        return None
    return subject if subject.lower not in SUBJECTS else None


def was(view: View) -> Iterator[Candidate]:
    """*They was* to *They were*."""
    for verb in view.tokens:
        if verb.lower != "was":
            continue
        before, after = view.at(verb.i - 1), view.at(verb.i + 1)
        negated = after is not None and after.lower in ("n't", "nt")
        plural = {"you", "we", "they"}
        subject = None
        if before is not None and before.lower in plural:
            subject = before
        elif verb.i == 0 and after is not None and after.lower in plural:
            subject = after
        elif before is not None and before.tag == "NNS":
            found = view.subject(verb)
            subject = before if found is not None and found.i == before.i else None
        if subject is None or view.lower(subject.i - 1) in ("of", "if", "and"):
            continue
        end = after.end if negated and after is not None else verb.end
        new = "weren't" if negated else "were"
        yield Candidate(
            "was_leveling",
            ((verb.start, end, view.cased(verb.text, new)),),
            f"was with the subject {view.quoted(subject)}.",
            confidence=0.9,
        )
