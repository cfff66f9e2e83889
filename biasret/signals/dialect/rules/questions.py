"""Questions: zero auxiliary, embedded inversion, final *at* (S33-S35, S38)."""

from __future__ import annotations

from collections.abc import Iterator

from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.tokens import Token
from biasret.signals.dialect.view import Candidate, Proposal, View

__all__ = ["embedded_inversion", "where_at", "zero_aux_wh", "zero_aux_yn"]

_WH = frozenset({"what", "where", "when", "why", "how", "who", "which"})
_DISTINCT = frozenset(
    {"been", "taken", "gone", "seen", "eaten", "written", "given", "done", "broken", "fallen"}
)


def zero_aux_yn(view: View) -> Iterator[Proposal]:
    """S33: *Do you think ...?* to *You think ...?*; likewise *are you* and *have you*."""
    feature = "zero_aux_yn"
    if not view.is_question or not view.tokens:
        return
    for aux in _openers(view):
        subject = view.at(aux.i + 1)
        if subject is None:
            continue
        code = _yn_refusal(view, aux, subject)
        if code:
            yield view.refuse(feature, aux, code)
            continue
        gap = view.segment.text[aux.end : subject.start]
        edit = (aux.start, subject.end, view.cased(aux.text, subject.lower))
        if not gap:
            continue
        yield Candidate(
            feature,
            (edit,),
            f"{view.quoted(aux)} opens a yes-no question before {view.quoted(subject)}; "
            "order and question mark keep it a question.",
        )


def _openers(view: View) -> list[Token]:
    """Verbs that open the question, also after *so*, *and* or a greeting with a comma."""
    found = []
    for token in view.tokens:
        if token.lower in ("do", "are", "have", "did", "was", "were", "is", "does"):
            before = view.lower(token.i - 1)
            if token.i == 0 or (token.i <= 3 and before in (",", "so", "and", "but", "doctor")):
                found.append(token)
            break
    return found


def _yn_refusal(view: View, aux: Token, subject: Token) -> str:
    if aux.lower in ("did", "was", "were"):
        return "tense"
    if subject.lower != "you":
        return "not_you"
    after = view.at(subject.i + 1)
    if after is None or after.kind == "punct":
        return "clause_final"
    if after.lower in ("not", "never") or view.lower(aux.i + 1) in ("n't", "nt"):
        return "negated"
    if after.lower in ("all", "guys"):
        return "not_you"
    if aux.lower == "have":
        verb = view.head(aux)
        ever = "ever" in view.lowers[subject.i : verb.i]
        if verb.tag != "VBN" or not (ever or verb.lower in _DISTINCT):
            return "tense"
    if aux.lower == "do" and (view.head(aux).tag != "VB" or aux.dep != "aux"):
        return "no_verb"
    if aux.lower == "are" and aux.dep == "auxpass":
        return "passive"
    return ""


def zero_aux_wh(view: View) -> Iterator[Proposal]:
    """S34: *Why is my leg swelling?* to *Why my leg swelling?*; likewise *do* and *does*."""
    feature = "zero_aux_wh"
    for aux in view.tokens:
        if aux.lower not in ("is", "are", "am", "do", "does", "did", "was", "were") or not aux.i:
            continue
        if not view.is_question or not _follows_wh(view, aux):
            continue
        code, subject = _wh_refusal(view, aux)
        if code:
            yield view.refuse(feature, aux, code)
            continue
        assert subject is not None
        yield Candidate(
            feature,
            (view.delete(aux),),
            f"{view.quoted(aux)} between a question word and the subject {view.quoted(subject)}, "
            "with a predicate after it.",
        )


def _follows_wh(view: View, aux: Token) -> bool:
    """Whether a question phrase at the start of its clause ends right before the verb."""
    before = view.tokens[aux.i - 1]
    if before.lower in _WH:
        start = before.i
    else:
        wh = [t for t in view.tokens[max(0, aux.i - 4) : aux.i] if t.lower in _WH]
        if not wh or view.subject(aux) is None:
            return False
        start = wh[-1].i
        phrase = view.tokens[start + 1 : aux.i]
        if any(t.tag.startswith(("VB", "MD", "PRP", ",")) for t in phrase):
            return False
    lead = view.lower(start - 1)
    return start == 0 or lead in (",", "and", "so", "but", ";", ":", "-", "doctor", "for", "to")


def _wh_refusal(view: View, aux: Token) -> tuple[str, Token | None]:
    if aux.lower == "am":
        return "first_person", None
    if aux.lower in ("did", "was", "were"):
        return "tense", None
    if view.is_negated(aux):
        return "negated", None
    if view.is_stressed(aux):
        return "emphatic", None
    subject = view.subject(aux)
    if subject is None or subject.i < aux.i:
        return ("wh_subject" if subject is not None else "nothing_left"), None
    verb = view.head(aux)
    if aux.lower in ("do", "does"):
        if aux.dep != "aux" or verb.tag != "VB" or verb.i < subject.i:
            return "no_verb", None
        if subject.lower == "i" and verb.lower == "do":
            return "idiom", None
        return "", subject
    if subject.lower in ("it", "that", "this", "there", "these", "here"):
        return "subject_it", subject
    if aux.dep == "auxpass":
        return "passive", None
    if aux.dep == "aux":
        if verb.tag != "VBG" or verb.i < subject.i:
            return "no_verb", None
        return "", subject
    last = view.subtree(subject)[-1].i
    complement = [k for k in view.kids(aux, "acomp") if k.i > last]
    if complement and complement[0].i == last + 1 and complement[0].tag.startswith("JJ"):
        return "", subject
    return "nothing_left", None


def embedded_inversion(view: View) -> Iterator[Proposal]:
    """S35: *I wonder if it is a hernia* to *I wonder is it a hernia*."""
    feature = "embedded_inversion"
    for mark in view.tokens:
        if mark.lower not in ("if", "whether") or mark.dep != "mark":
            continue
        verb = view.head(mark)
        asking = view.head(verb)
        if not _asks(view, mark, verb, asking):
            yield view.refuse(feature, mark, "conditional")
            continue
        code, aux = _aux_of_question(view, verb)
        subject = view.subject(verb)
        if not code and (
            subject is None or aux is None or aux.i < subject.i or subject.dep.startswith("csubj")
        ):
            code = "no_subject"
        if not code and subject is not None and aux is not None:
            span = view.subtree(subject)
            if (
                span[0].i != mark.i + 1
                or max(t.i for t in span if t.i < aux.i) != aux.i - 1
                or len(span) > 3
            ):
                code = "heavy_subject"
        if code:
            yield view.refuse(feature, mark, code)
            continue
        assert aux is not None
        assert subject is not None
        word = _full_form(view, aux, subject)
        yield Candidate(
            feature,
            (view.swap(mark, word), view.delete(aux)),
            f"{view.quoted(asking)} takes the question; {view.quoted(aux)} moves before the "
            f"subject {view.quoted(subject)} in place of {view.quoted(mark)}.",
        )


def _asks(view: View, mark: Token, verb: Token, asking: Token) -> bool:
    """Whether the clause is the question that *know, ask, wonder, see, tell* take."""
    if verb.dep not in ("ccomp", "advcl", "xcomp") or asking.i > mark.i:
        return False
    before = view.at(mark.i - 1)
    if before is None:
        return False
    if asking.lemma == "tell" or before.lower in words("telling_objects"):
        return (
            before.lower in words("telling_objects")
            and view.at(before.i - 1) is not None
            and view.tokens[before.i - 1].lemma in ("tell", "ask", "let", "advise")
        )
    if asking.lemma not in words("indirect_question_verbs"):
        return False
    if asking.lemma == "see" and verb.dep == "advcl" and asking.tag != "VB":
        return False
    return before.i == asking.i


def _aux_of_question(view: View, verb: Token) -> tuple[str, Token | None]:
    if view.is_negated(verb):
        return "negated", None
    auxiliaries = [k for k in view.kids(verb, "aux", "auxpass") if k.lower != "to"]
    if auxiliaries:
        return "", auxiliaries[0]
    if verb.lower in ("is", "are", "was", "were", "am", "'s", "'re", "'m"):
        return "", verb
    return "no_auxiliary", None


def _full_form(view: View, aux: Token, subject: Token) -> str:
    full = {"'re": "are", "'m": "am", "'ve": "have", "'ll": "will", "m": "am", "ve": "have"}
    if aux.lower == "'s":
        nxt = view.at(aux.i + 1)
        has = nxt is not None and nxt.lower in ("been", "had", "got")
        return "has" if has else "is"
    if aux.lower == "'d":
        return "would" if view.head(aux).tag == "VB" else "had"
    return full.get(aux.lower, aux.lower)


def where_at(view: View) -> Iterator[Proposal]:
    """S38, with S34 in one bundle: *Where is the clinic?* to *Where (is) the clinic at?*."""
    feature = "where_at"
    for wh in view.tokens:
        be = view.at(wh.i + 1)
        if wh.lower != "where" or be is None or not view.is_question:
            continue
        if wh.i and view.lower(wh.i - 1) not in (",", "and", "so", "but"):
            continue
        if be.lower not in ("is", "are", "'s"):
            yield view.refuse(feature, wh, "not_static")
            continue
        subject = view.subject(be) if be.dep not in ("aux", "auxpass") else None
        close = view.at(len(view.tokens) - 1)
        if subject is None or close is None or close.lower != "?":
            yield view.refuse(feature, wh, "not_static")
            continue
        last = view.subtree(subject)[-1]
        clause = view.kids(subject, "relcl", "acl")
        if last.i != close.i - 1 or clause or last.lower == "at" or subject.i < be.i:
            yield view.refuse(feature, wh, "not_static")
            continue
        edits = [(last.end, last.end, " at")]
        composed: tuple[str, ...] = ()
        if "zero_aux_wh" in view.enabled and subject.lower not in ("it", "that", "this"):
            edits.insert(0, view.delete(be))
            composed = ("zero_aux_wh",)
        yield Candidate(
            feature,
            tuple(edits),
            f"{view.quoted(wh)} asks for the place of {view.quoted(subject)}, "
            "which closes the question.",
            composed=composed,
        )
