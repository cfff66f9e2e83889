"""What a page says about a retriever, ready to print."""

from __future__ import annotations

from dataclasses import dataclass

from biasret.retrievers.availability import available
from biasret.retrievers.base import RetrieverRecord

__all__ = ["Facts", "facts"]

_KINDS = {
    "bm25": "word matching",
    "distilled-minilm": "static word vectors",
    "m2v-folder": "static word vectors",
    "openai": "embeddings service",
    "packaged-use": "averaging network",
}


@dataclass(frozen=True)
class Facts:
    """One retriever in words; empty where a thing does not apply.

    Attributes
    ----------
    reads
        How much of a text it reads.
    prefixes
        What is put before queries and documents.
    state
        "ready", or why not and what to do.
    """

    name: str
    label: str
    kind: str
    about: str
    parameters: str
    dimension: str
    reads: str
    prefixes: str
    weights: str
    licence: str
    works_offline: str
    state: str


def facts(record: RetrieverRecord) -> Facts:
    """The facts of one retriever; loads nothing.

    Examples
    --------
    >>> from biasret.retrievers import RETRIEVERS
    >>> shown = facts(RETRIEVERS["minilm-l6"])
    >>> shown.kind, shown.parameters, shown.dimension, shown.reads
    ('transformer', '22.7 million', '384 numbers', 'the first 256 tokens')
    """
    state = available(record)
    megabytes = record.weights_mb
    return Facts(
        name=record.name,
        label=record.label,
        kind=_KINDS.get(record.kind, "transformer"),
        about=record.about,
        parameters=record.parameters,
        dimension=f"{record.dimension:,} numbers" if record.dimension else "",
        reads=f"the first {record.max_tokens:,} tokens" if record.max_tokens else "the whole text",
        prefixes=_prefixes(record),
        weights=f"{megabytes:,.0f} MB" if megabytes else "",
        licence=record.licence,
        works_offline="yes" if record.is_offline else "no",
        state="ready" if state.is_available else state.reason,
    )


def _prefixes(record: RetrieverRecord) -> str:
    sides = []
    for side, literal, prompt in (
        ("queries", record.query_prefix, record.query_prompt),
        ("documents", record.document_prefix, record.document_prompt),
    ):
        if prompt:
            sides.append(f"{side}: the model's own prompt “{prompt}”")
        elif literal:
            sides.append(f"{side}: “{literal}”".replace("\n", " ⏎ "))
    return "; ".join(sides)
