"""The embedding benchmark compares like with like."""

import pytest

from biasret.bench_embed import made_texts, run
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
    assert set(seconds) == {"loop", "one_call", "build"}


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
