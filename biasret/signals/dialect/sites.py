"""Every licensed place in a text, for the report on pairs."""

from __future__ import annotations

from collections.abc import Iterable

from biasret.signals.dialect.engine import contract_fault, proposals, protected
from biasret.signals.dialect.features import enabled_features
from biasret.signals.dialect.parsing import read_segments, shared_parser
from biasret.signals.dialect.protection import Shield
from biasret.signals.dialect.records import checked_text
from biasret.signals.dialect.tokens import Segment
from biasret.signals.dialect.view import Candidate

__all__ = ["sites"]


def sites(
    texts: Iterable[str], *, features: Iterable[str], protect: str = "standard"
) -> list[list[tuple[Segment, Candidate]]]:
    """Every licensed place in each text, before rivals are weighed against each other.

    Needs the parser; the parameters are those of `to_aal`.
    """
    enabled = enabled_features(features, "custom")
    sources = [checked_text(text) for text in texts]
    found = []
    read = read_segments(sources, parser=shared_parser())
    for source, segments in zip(sources, read, strict=True):
        shield = Shield(source, segments=segments, level=protect)
        found.append(
            [
                (segment, proposal)
                for segment in segments
                for proposal in proposals(segment, enabled)
                if isinstance(proposal, Candidate)
                and protected(segment, proposal, shield) is None
                and contract_fault(segment, proposal) is None
            ]
        )
    return found
