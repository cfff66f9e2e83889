"""What a rule sees of a segment, and what it proposes or refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from biasret.signals.dialect.lexicon import words
from biasret.signals.dialect.tokens import Segment, Token

__all__ = ["REASONS", "Candidate", "Proposal", "Refusal", "Rule", "View"]

#: Why a rule holds back, by code. `{}` takes a detail from the text.
REASONS: dict[str, str] = {
    "first_person": "am is never dropped",
    "past": "the verb is past",
    "negated": "the clause is negated",
    "emphatic": "the verb is stressed",
    "no_subject": "no subject stands before the verb",
    "question_order": "the verb stands before its subject",
    "subject_it": "the subject {} keeps its verb",
    "wh_subject": "the subject is a question word or relative pronoun",
    "clause_final": "nothing of the predicate follows the verb",
    "passive": "a passive: the change would turn patient into doer",
    "perfect": "a perfect: 's or is stands for has",
    "clausal": "a whole clause follows",
    "definite": "the predicate is not a/an + noun",
    "noun_phrase_reading": "the result would read as a noun phrase",
    "heavy_subject": "the subject is too long to be followed at once by its predicate",
    "inanimate": "the subject is neither a pronoun nor a person",
    "tag_question": "a tag question answers to this verb",
    "motion": "going to names a place, not the future",
    "measure": "a number or amount follows",
    "no_verb": "no base verb follows",
    "no_habit": "no adverbial of habit in the clause",
    "current": "the clause speaks of now",
    "permanent": "a lasting trait, not a habit",
    "stative": "a verb of state",
    "change": "a change under way, not a habit",
    "constituent": "the negator belongs to one word, not to the clause",
    "until": "not ... until",
    "main_have": "have is the main verb",
    "no_anchor": "no past time in the clause to carry the tense",
    "present_anchor": "no present time in the clause; the form would read as past",
    "not_third": "the subject is not third person singular",
    "finite_clause": "the word stands in another finite clause",
    "free_choice": "any means no matter which here",
    "comparison": "part of a comparison (any more, any longer)",
    "has_negative": "the clause has a negative word already",
    "idiom": "a set phrase",
    "no_auxiliary": "no auxiliary",
    "embedded": "not a main clause that opens the sentence",
    "question": "a question",
    "no_negator": "no negator stands before it",
    "conditional": "a condition",
    "offer": "an offer or request",
    "habit": "a habit, not the future",
    "locative": "there names a place",
    "no_adverb": "no already, just or finally",
    "duration": "a duration goes with the perfect",
    "no_duration": "no duration in the clause; it could read as remote past",
    "not_telic": "the verb names no completed event",
    "not_listed": "the form is not in the closed list",
    "homograph": "could be a plural noun",
    "not_plural": "the subject is neither you, we, they nor plural",
    "subjunctive": "an unreal condition or wish",
    "not_person": "the possessor is neither kin nor a person",
    "absolute": "no possessed noun follows directly",
    "group_genitive": "the possessor is a longer phrase",
    "pronoun_use": "those stands alone",
    "no_comparative": "no comparative stands before than",
    "no_noun": "no noun follows",
    "verb_phrase": "all goes with what follows",
    "has_object": "a person is named as receiver already",
    "health_noun": "the noun is a condition, a result or nothing one can own",
    "no_intent": "nothing says that the asker sets out to do it",
    "beneficiary": "someone else is named as the one who gains",
    "other_person": "the subject is not I",
    "object": "the pair is no subject",
    "modified": "the comparative is modified already",
    "attributive": "the word stands before a noun",
    "sentence_adverb": "really goes with the verb or the sentence",
    "not_final": "the adverb does not close the clause",
    "tense": "the tense would be lost",
    "not_you": "the subject is not you",
    "not_plural_you": "nothing shows that several are addressed",
    "nothing_left": "nothing but a noun phrase would be left",
    "no_clause": "no finite clause follows than",
    "not_static": "no place is asked for",
    "acronym": "read letter by letter, or a protected word",
    "matrix": "the main verb is not have, know, got or there is",
    "noun": "the word is a noun",
    "proper": "a name or part of a compound",
    "not_sure": "the parser is needed to tell",
}


@dataclass(frozen=True)
class Candidate:
    """Edits of one bundle that a rule proposes; offsets count from the segment's start."""

    feature: str
    edits: tuple[tuple[int, int, str], ...]
    why: str
    weight: float = 1.0
    min_density: float = 0.0
    order: int | None = None
    composed: tuple[str, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True)
class Refusal:
    """A place a rule looked at and left alone."""

    feature: str
    start: int
    end: int
    code: str
    detail: str = ""

    @property
    def reason(self) -> str:
        """The code as a sentence."""
        return REASONS[self.code].format(repr(self.detail)) if self.detail else REASONS[self.code]


Proposal = Candidate | Refusal
Rule = Callable[["View"], Iterator[Proposal]]

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl", "csubj", "csubjpass"})
PERSON = words("kin_female") | words("kin_male") | words("kin_other") | words("human")
KIN = words("kin_female") | words("kin_male") | words("kin_other")
PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they"})


class View:
    """A segment with what is turned on, and the questions that rules ask of a parse."""

    def __init__(self, segment: Segment, *, enabled: frozenset[str]) -> None:
        self.segment = segment
        self.tokens = segment.tokens
        self.enabled = enabled
        self.curly = "’" in segment.text and "'" not in segment.text
        self.is_question = segment.is_question
        self.is_parsed = segment.is_parsed
        self.lowers = [t.lower for t in self.tokens]

    # -- proposals ------------------------------------------------------------------------

    def refuse(self, feature: str, token: Token, code: str, detail: str = "") -> Refusal:
        """A refusal at a token."""
        assert code in REASONS, code
        return Refusal(feature, token.start, token.end, code, detail)

    def delete(self, first: Token, last: Token | None = None) -> tuple[int, int, str]:
        """The edit that takes out tokens with the one blank after (or before) them."""
        last = last or first
        start, end = first.start, last.end
        if not first.i or not self.tokens[first.i - 1].space:
            if last.space:
                end += 1
            if first.i and not self.tokens[first.i - 1].space:
                end = last.end
        else:
            start -= 1
        return start, end, ""

    def swap(
        self, first: Token, replacement: str, last: Token | None = None
    ) -> tuple[int, int, str]:
        """The edit that puts a word for tokens, with the first one's capitals."""
        last = last or first
        return first.start, last.end, self.cased(first.text, replacement)

    def cased(self, model: str, word: str) -> str:
        """A word with the capitals of another, and the text's kind of apostrophe."""
        if model.isupper() and len(model) > 1 and self.segment.text.isupper():
            word = word.upper()
        elif model[:1].isupper():
            word = word[:1].upper() + word[1:]
        return word.replace("'", "’") if self.curly else word

    # -- neighbours -----------------------------------------------------------------------

    def at(self, i: int) -> Token | None:
        """The token at an index, or None outside the segment."""
        return self.tokens[i] if 0 <= i < len(self.tokens) else None

    def lower(self, i: int) -> str:
        """The lower-case text at an index, or the empty string outside the segment."""
        return self.lowers[i] if 0 <= i < len(self.lowers) else ""

    def tag(self, i: int) -> str:
        """The tag at an index, or the empty string."""
        return self.tokens[i].tag if 0 <= i < len(self.tokens) else ""

    def quoted(self, token: Token) -> str:
        """The token's text for a sentence shown to people."""
        return f"“{token.text}”"

    def is_stressed(self, token: Token) -> bool:
        """Whether capitals, asterisks or underscores stress the token."""
        shouting = self.segment.text.isupper()
        around = {self.lower(token.i - 1), self.lower(token.i + 1)}
        marked = self.lower(token.i - 1) in ("*", "_") and bool(around & {"*", "_"})
        return marked or (len(token.text) > 1 and token.text.isupper() and not shouting)

    # -- the parse ------------------------------------------------------------------------

    def head(self, token: Token) -> Token:
        """The token that this one depends on; the root depends on itself."""
        return self.tokens[token.head]

    def kids(self, token: Token, *deps: str) -> list[Token]:
        """Dependents, of the named kinds where any are named."""
        found = (self.tokens[i] for i in token.children)
        return [t for t in found if not deps or t.dep in deps]

    def kid(self, token: Token, *deps: str) -> Token | None:
        """The first dependent of the named kinds, or None."""
        return next(iter(self.kids(token, *deps)), None)

    def subject(self, verb: Token) -> Token | None:
        """The overt subject of a verb, which an auxiliary shares with its verb."""
        for holder in (verb, self.head(verb)) if verb.dep.startswith("aux") else (verb,):
            found = self.kids(holder, *_SUBJECTS)
            if found:
                return found[0]
        return None

    def subtree(self, token: Token) -> list[Token]:
        """The token and all that depends on it, in order."""
        found, stack = [], [token.i]
        while stack:
            i = stack.pop()
            found.append(i)
            stack.extend(self.tokens[i].children)
        return [self.tokens[i] for i in sorted(found)]

    def clause_words(self, verb: Token) -> list[Token]:
        """The words of a verb's clause without the finite clauses inside it."""
        found, stack = [], [verb.i]
        while stack:
            i = stack.pop()
            found.append(i)
            for j in self.tokens[i].children:
                kid = self.tokens[j]
                if kid.dep in ("ccomp", "relcl", "parataxis") and self.subject(kid):
                    continue
                if kid.dep == "conj" and kid.tag.startswith("VB"):
                    continue
                stack.append(j)
        return [self.tokens[i] for i in sorted(found)]

    def is_finite(self, verb: Token) -> bool:
        """Whether a verb's clause has tense."""
        if verb.tag in ("VBD", "VBZ", "VBP", "MD"):
            return True
        return any(k.tag in ("VBD", "VBZ", "VBP", "MD") for k in self.kids(verb, "aux", "auxpass"))

    def is_negated(self, verb: Token) -> bool:
        """Whether a negator belongs to the verb or to what it helps."""
        holders = [verb, self.head(verb)] if verb.dep.startswith("aux") else [verb]
        if any(self.kids(holder, "neg") for holder in holders):
            return True
        return self.lower(verb.i + 1) in ("not", "n't", "nt", "never")

    def is_person(self, token: Token) -> bool:
        """Whether a noun names kin or a person."""
        return token.lower in PERSON

    def is_inverted(self, verb: Token, subject: Token) -> bool:
        """Whether the verb stands before its subject."""
        return verb.i < subject.i

    def has_tag_question(self, verb: Token) -> bool:
        """Whether a tag such as *isn't she?* closes the sentence after a verb."""
        low = self.lowers
        for i in range(verb.i + 1, len(low) - 2):
            if low[i] == "," and low[i + 1] in words("tag_verbs"):
                rest = [w for w in low[i + 2 :] if w not in ("n't", "nt", "not", "?", ".")]
                if len(rest) == 1 and rest[0] in PRONOUNS | {"there"}:
                    return True
        return False
