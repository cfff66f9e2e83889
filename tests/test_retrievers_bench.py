"""The embedding benchmark compares like with like."""

from importlib.util import find_spec

import numpy as np
import pytest
from conftest import HandScored, word_retriever

from biasret.bench_embed import _agreement, made_texts, run, speed
from biasret.errors import UnknownName
from biasret.retrievers import RETRIEVERS, available


def test_build_and_loop_give_the_same_vectors_with_less_padding() -> None:
    state = available(RETRIEVERS["minilm-l6"])
    if not state.is_available:
        pytest.skip(state.reason)
    found = run(n=64, repeats=1)
    assert found["min_cosine"] >= 0.999
    # The share of padding depends on the texts alone, not on how busy the machine is.
    assert found["padding_loop"] > 0.4
    assert found["padding_build"] < 0.15
    seconds = {name: 64 / rate for name, rate in found["texts_per_second"].items()}
    assert found["ratio"] == pytest.approx(seconds["loop"] / seconds["build"], rel=0.02)
    engines = {name for name in ("onnx", "int8") if found[name] is not None}
    assert set(seconds) == {"loop", "one_call", "build", *engines}
    assert bool(engines) == (find_spec("onnx") is not None and find_spec("onnxruntime") is not None)
    if engines:
        # The promise under which vectors of both engines share a cache.
        assert found["onnx"]["min_cosine"] >= 0.999
        assert found["onnx"]["overlap@10"] >= 0.995
        # Why 8 bits are not offered.
        assert found["int8"]["overlap@10"] < 0.995


def test_agreement_by_hand() -> None:
    corners = np.eye(3, dtype=np.float32)
    assert _agreement(corners, corners) == {"min_cosine": 1.0, "overlap@10": 1.0}
    turned = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.float32)
    assert _agreement(corners, turned)["min_cosine"] == 0.0


def test_speed_is_that_of_one_batch_and_one_question() -> None:
    found = speed(word_retriever(), n=4)
    assert found is not None
    assert found.n == 4
    assert found.texts_per_second > 0
    assert found.milliseconds > 0
    assert speed(HandScored({})) is None


def test_texts_are_the_same_everywhere() -> None:
    texts = made_texts(2_000)
    lengths = [len(text) for text in texts]
    assert 550 < sum(lengths) / 2_000 < 650
    assert min(lengths) < 150
    assert max(lengths) > 3_000
    assert made_texts(5) == texts[:5]
    assert made_texts(5, seed=8) != texts[:5]


def test_an_unknown_retriever_is_told() -> None:
    with pytest.raises(UnknownName):
        run(retriever="minilm")
