"""Back-rules for questions, pronouns, determiners and adverbs."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import VOWELS, words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import KIN, PERSON, Candidate, View
from biasret.signals.dialect.wme.asking import (
    SUBJECTS,
    is_base,
    opens_clause,
    predicate_kind,
    third,
)

__all__ = [
    "articles",
    "coordinated",
    "dative",
    "doubled",
    "embedded",
    "existential",
    "genitive",
    "pointing",
    "questions",
    "real",
    "than_what",
    "where_at",
    "yall",
    "yn_question",
]

#: Without *when*, which opens statements of time as often as questions.
_WH = frozenset({"what", "where", "why", "how", "who"})
_MOVED = frozenset(
    {"is", "are", "was", "were", "can", "could", "should", "would", "will", "do", "does", "did"}
)
_ASKING = frozenset({"know", "ask", "wonder", "wondering", "see", "asked", "me"})


def embedded(view: View) -> Iterator[Candidate]:
    """*I want to know is it contagious* to *... if it is contagious*."""
    for aux in view.tokens:
        asking = view.at(aux.i - 1)
        if aux.lower not in _MOVED or asking is None or asking.lower not in _ASKING:
            continue
        if asking.lower == "me" and view.lower(asking.i - 1) not in ("tell", "ask"):
            continue
        last = _subject_end(view, aux.i + 1)
        if last is None or view.at(last.i + 1) is None or view.lower(last.i + 1) in ("?", "."):
            continue
        if aux.lower in ("do", "does", "did") or view.lower(last.i + 1) in _MOVED:
            continue
        yield Candidate(
            "embedded_inversion",
            ((aux.start, aux.end, "if"), (last.end, last.end, f" {aux.lower}")),
            f"{view.quoted(aux)} before its subject after {view.quoted(asking)}.",
            confidence=0.85,
        )


def _subject_end(view: View, i: int) -> Token | None:
    """The last token of a short subject that begins at an index."""
    first = view.at(i)
    if first is None:
        return None
    bare = first.lower in SUBJECTS | {"there", "anyone", "anybody", "someone", "somebody"}
    if bare or (first.lower in ("this", "that") and view.tag(i + 1)[:2] != "NN"):
        return first
    if first.tag in ("DT", "PRP$", "NN", "NNP", "NNS", "JJ"):
        end = i
        while view.tag(end)[:2] in ("DT", "PR", "JJ", "NN") and end - i < 4:
            if view.tag(end)[:2] == "NN" and view.tag(end + 1)[:2] != "NN":
                return view.tokens[end]
            end += 1
    return None


def questions(view: View) -> Iterator[Candidate]:
    """*Why my leg swelling?* to *Why is ...?*; *What you think?* to *What do you think?*."""
    if not view.is_question:
        return
    for wh in view.tokens:
        if wh.lower not in _WH or not (wh.i == 0 or opens_clause(view, wh)):
            continue
        start = wh.i + 1
        while view.tag(start) in ("JJ", "NN", "NNS", "RB") and start - wh.i < 3:
            if view.lower(start) in SUBJECTS or view.tag(start + 1) == "":
                break
            start += 1
        last = _subject_end(view, start)
        if last is None or last.i >= len(view.tokens) - 2:
            continue
        if wh.i and view.lower(wh.i - 1) in ("know", "wonder", "sure", "tell", "me"):
            continue
        yield from _question(view, wh, view.tokens[start - 1], last)


def _question(view: View, wh: Token, phrase: Token, last: Token) -> Iterator[Candidate]:
    kind = predicate_kind(view, last.i + 1)
    word = view.tokens[last.i + 1]
    he = third(view, last)
    if last.lower == "i" and kind:
        return
    if kind in ("V-ing", "adjective", "future"):
        be = "is" if he or last.lower in ("this", "that") else "are"
        confidence = 0.85
        new = be
    elif (is_base(word) and word.tag in ("VB", "VBP", "NN")) or word.lower in ("do", "have"):
        new = "does" if he or last.lower in ("this", "that") else "do"
        confidence = 0.75
    else:
        return
    yield Candidate(
        "zero_aux_wh",
        ((phrase.end, phrase.end, f" {new}"),),
        f"{view.quoted(wh)} and the subject {view.quoted(last)} before {view.quoted(word)}, "
        "without an auxiliary.",
        confidence=confidence,
    )


def yn_question(view: View) -> Iterator[Candidate]:
    """*You think it is serious?* to *Do you think it is serious?*."""
    if not view.is_question or view.lower(0) != "you":
        return
    verb = view.at(1)
    if verb is None or verb.tag not in ("VBP", "VB"):
        return
    if is_base(verb) or verb.lower in ("have", "do"):
        you = view.tokens[0]
        yield Candidate(
            "zero_aux_yn",
            ((you.start, you.end, view.cased(you.text, "do you")),),
            f"A question that opens with you and the base verb {view.quoted(verb)}.",
            confidence=0.7,
        )


def where_at(view: View) -> Iterator[Candidate]:
    """*Where the clinic at?* to *Where is the clinic?*."""
    close = view.at(len(view.tokens) - 1)
    at = view.at(len(view.tokens) - 2)
    if close is None or at is None or close.lower != "?" or at.lower != "at":
        return
    wheres = [t for t in view.tokens[: at.i] if t.lower == "where"]
    if not wheres:
        return
    where = wheres[-1]
    edits = [view.delete(at)]
    verbs = [t for t in view.tokens[where.i + 1 : at.i] if t.tag[:2] in ("VB", "MD")]
    if not verbs and view.lower(where.i + 1) not in ("'s", "is", "are"):
        be = "are" if view.tag(at.i - 1) == "NNS" else "is"
        edits.insert(0, (where.end, where.end, f" {be}"))
    yield Candidate("where_at", tuple(edits), "A where-question that ends in at.", confidence=0.8)


def pointing(view: View) -> Iterator[Candidate]:
    """*them pills* to *those pills*; *lost they insurance* to *lost their insurance*."""
    for token in view.tokens:
        before, after = view.at(token.i - 1), view.at(token.i + 1)
        if after is None:
            continue
        if token.lower == "them" and after.tag == "NNS":
            free = before is None or opens_clause(view, token)
            verb = view.at(after.i + 1)
            governed = before is not None and before.tag[:2] in ("VB", "IN", "TO")
            if free or (not governed and verb is not None):
                yield Candidate(
                    "them_demonstrative", (view.swap(token, "those"),),
                    f"them before the plural {view.quoted(after)}.", confidence=0.8,
                )  # fmt: skip
            elif governed:
                yield Candidate(
                    "them_demonstrative", (view.swap(token, "those"),),
                    f"them before the plural {view.quoted(after)}.", confidence=0.6,
                )  # fmt: skip
        if token.lower == "they" and _owns(view, token, before, after):
            yield Candidate(
                "they_possessive", (view.swap(token, "their"),),
                f"they before the noun {view.quoted(after)}, with no verb between.",
                confidence=0.8,
            )  # fmt: skip


def _owns(view: View, they: Token, before: Token | None, after: Token) -> bool:
    if after.lower == "own":
        return True
    if after.tag not in ("NN", "NNS") or is_base(after):
        return False
    verb = view.at(after.i + 1)
    if verb is not None and verb.lower in ("is", "are", "was", "were", "ai", "do", "does", "did"):
        return True
    if before is None:
        return False
    if before.tag[:2] not in ("VB", "IN") or before.lower in words("clause_openers"):
        return False
    following = view.at(after.i + 1)
    return following is None or following.tag[:2] not in ("VB", "MD")


def real(view: View) -> Iterator[Candidate]:
    """*real tired* to *really tired*."""
    for token in view.tokens:
        after = view.at(token.i + 1)
        if token.lower != "real" or after is None or view.tag(after.i + 1)[:2] == "NN":
            continue
        listed = words("adjectives") | words("adverbs")
        if after.lower in listed and view.lower(token.i - 1) not in ("a", "the", "no", "any"):
            yield Candidate(
                "degree_adv_flat", (view.swap(token, "really"),),
                f"real gives the degree of {view.quoted(after)}.", confidence=0.8,
            )  # fmt: skip


def doubled(view: View) -> Iterator[Candidate]:
    """*more worse* to *worse*."""
    for token in view.tokens:
        after = view.at(token.i + 1)
        if token.lower == "more" and after is not None and after.lower in words("comparatives"):
            yield Candidate(
                "double_comparative", ((token.start, after.start, ""),),
                f"more before {view.quoted(after)}.", confidence=0.9,
            )  # fmt: skip


def yall(view: View) -> Iterator[Candidate]:
    """*y'all* to *you all*."""
    for token in view.tokens:
        if token.lower in ("y'all", "yall"):
            yield Candidate(
                "yall", (view.swap(token, "you all"),), "y'all addresses several.", confidence=0.9
            )


def than_what(view: View) -> Iterator[Candidate]:
    """*worse than what I thought* to *worse than I thought*."""
    for token in view.tokens:
        what = view.at(token.i + 1)
        if token.lower != "than" or what is None or what.lower != "what":
            continue
        if view.lower(what.i + 1) in SUBJECTS:
            yield Candidate(
                "than_what", (view.delete(what),), "than what before a clause.", confidence=0.8
            )


def articles(view: View) -> Iterator[Candidate]:
    """*a appointment* to *an appointment*."""
    for token in view.tokens:
        after = view.at(token.i + 1)
        if token.text not in ("a", "A") or after is None or after.text.isupper():
            continue
        if after.kind != "word" or after.lower[0] not in VOWELS or not token.space:
            continue
        if after.lower.startswith(("u", "eu", "one", "once")) or len(after.lower) < 3:
            continue
        yield Candidate(
            "a_before_vowel", (view.swap(token, "an"),),
            f"a before {view.quoted(after)}.", confidence=0.9,
        )  # fmt: skip


def coordinated(view: View) -> Iterator[Candidate]:
    """*Me and my husband are* to *My husband and I are*."""
    for me in view.tokens:
        if me.lower != "me" or view.lower(me.i + 1) != "and" or not opens_clause(view, me):
            continue
        first = view.at(me.i + 2)
        if first is None:
            continue
        end = first.i
        while view.tag(end)[:2] in ("PR", "JJ") and end - first.i < 3:
            end += 1
        last = view.at(end)
        verb = view.at(end + 1)
        if last is None or verb is None or not verb.tag.startswith(("VB", "MD")):
            continue
        if last.lower not in PERSON and last.tag != "NNP":
            continue
        phrase = view.segment.text[first.start : last.end]
        new = view.cased(me.text, phrase) if me.i == 0 else phrase
        yield Candidate(
            "me_coordinate", ((me.start, last.end, f"{new} and I"),),
            f"me and {view.quoted(last)} are the subject of {view.quoted(verb)}.", confidence=0.7,
        )  # fmt: skip


def dative(view: View) -> Iterator[Candidate]:
    """*I need to get me a dentist* to *I need to get a dentist*."""
    for me in view.tokens:
        verb = view.at(me.i - 1)
        if me.lower != "me" or verb is None or view.lower(me.i + 1) not in ("a", "an", "some"):
            continue
        if verb.lower not in ("get", "buy", "find", "got", "bought", "found"):
            continue
        pronouns = [w for w in view.lowers[max(0, verb.i - 6) : verb.i] if w in SUBJECTS]
        if pronouns and pronouns[-1] == "i":
            yield Candidate(
                "personal_dative", (view.delete(me),),
                f"me after {view.quoted(verb)} with the subject I.", confidence=0.75,
            )  # fmt: skip


def genitive(view: View) -> Iterator[Candidate]:
    """*my mother doctor*: *'s* is only suggested, since a compound looks the same."""
    for owner in view.tokens:
        owned = view.at(owner.i + 1)
        if owner.lower not in KIN or owned is None or not owned.tag.startswith("NN"):
            continue
        if view.tag(owner.i - 1) in ("PRP$", "DT") and owned.lower not in KIN:
            yield Candidate(
                "possessive_s_zero", ((owner.end, owner.end, view.cased("", "'s")),),
                f"{view.quoted(owner)} before the noun {view.quoted(owned)}.", confidence=0.4,
            )  # fmt: skip


def existential(view: View) -> Iterator[Candidate]:
    """*It's a lump under my arm*: *there is* is only suggested, since *it* may refer."""
    for it in view.tokens:
        be, article = view.at(it.i + 1), view.at(it.i + 2)
        if it.lower != "it" or be is None or article is None:
            continue
        if be.lower not in ("'s", "was") or article.lower not in ("a", "an", "some", "no", "two"):
            continue
        places = [t for t in view.tokens[article.i :] if t.lower in ("in", "on", "under", "around")]
        if places:
            new = view.cased(it.text, "there's" if be.lower == "'s" else "there was")
            yield Candidate(
                "exist_it", ((it.start, be.end, new),),
                "it before an indefinite noun phrase and a place.", confidence=0.5,
            )  # fmt: skip
