"""The engine on real headings and health questions, which are not part of the project."""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret.signals.framing import detect, neutralise, variants

SHARED = Path(os.environ.get("BIASRET_SHARED", Path(__file__).parents[2] / "shared"))


def table(name):
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"{name} is not here; set BIASRET_SHARED to the folder that holds data/{name}.")
    return pd.read_parquet(path)


@pytest.fixture(scope="module")
def headings():
    articles = table("news/articles.parquet")
    detections = [detect(text) for text in articles["heading"]]
    return articles.assign(detection=detections, lean=[detection.lean for detection in detections])


def test_leaning_words_differ_by_outlet_in_the_expected_direction(headings):
    counts = headings.assign(
        left=[d.lean is not None and d.lean < 0 for d in headings["detection"]],
        right=[d.lean is not None and d.lean > 0 for d in headings["detection"]],
    )
    rates = counts.groupby("stance")[["left", "right"]].mean()
    assert rates.loc["left", "left"] > 1.2 * rates.loc["right", "left"]
    assert rates.loc["right", "right"] > 1.5 * rates.loc["left", "right"]
    assert rates.loc["left", "left"] > rates.loc["center", "left"]
    assert rates.loc["right", "right"] > rates.loc["center", "right"]


def test_lean_agrees_with_the_outlet_more_often_than_the_larger_side(headings):
    told = headings[headings["lean"].notna() & (headings["lean"] != 0)]
    told = told[told["stance"] != "center"]
    agrees = (told["lean"] > 0) == (told["stance"] == "right")
    base = (told["stance"] == "right").mean()
    assert len(told) > 500
    assert agrees.mean() > base
    by_side = agrees.groupby(told["stance"]).mean()
    assert by_side.mean() > 0.7  # 0.5 is what guessing one side always would reach


def test_headings_there_and_back(headings):
    """Every seventh heading with a hit: exact edits, both sides to one neutral sentence."""
    texts = [d.text for d in headings["detection"] if d.hits][::7]
    changed = same = crossed = 0
    for text in texts:
        triple = variants(text)
        if not triple.is_changed:
            continue
        changed += 1
        left, right = triple.left.text, triple.right.text
        same += neutralise(left).text == neutralise(right).text
        crossed += detect(left).n_right > 0 or detect(right).n_left > 0
    assert changed > 100
    assert same >= 0.95 * changed
    assert crossed <= 0.01 * changed


def test_neutralising_headings_twice_is_once(headings):
    for text in headings["heading"].iloc[::25]:
        plain = neutralise(text)
        assert neutralise(plain.text).text == plain.text
        assert plain.lean_after is None or plain.skips


def test_hardly_any_health_question_is_touched():
    questions = table("health/questions.parquet")["text"].astype("str").str[:3_000]
    for mode in ("lexical", "auto"):
        touched = 0
        for text in questions:
            triple = variants(text, mode=mode, intensity=2)
            touched += triple.is_changed or triple.neutral.text != text
        assert touched < 0.01 * len(questions)


def test_a_query_takes_under_two_milliseconds(headings):
    texts = headings["heading"].iloc[:1_000].tolist()
    for function in (detect, neutralise, variants):
        for text in texts:
            function(text)
        # The thread's own time: a busy machine must not decide.
        taken = []
        for text in texts:
            started = time.thread_time()
            function(text)
            taken.append(time.thread_time() - started)
        assert np.quantile(taken, 0.95) < 0.002
