"""Token scores by hand, from the release's own counts, and as properties."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares

from biasret.lexical import PRIOR, log_odds, query_scores, token_scores
from biasret.tokens import tokenise


def queries(*rows: tuple[str, str | None]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dataset": "toy",
            "query_id": [f"q{i}" for i in range(len(rows))],
            "group": pd.Series([group for group, _ in rows], dtype="str"),
            "text": [text for _, text in rows],
        }
    )


THREE = queries(
    ("right", "Tax, tax: the border!"),
    ("left", "the schools' tax"),
    ("neutral", "court court court"),
)


def scored(frame: pd.DataFrame) -> pd.DataFrame:
    return token_scores(frame, minuend="right", subtrahend="left")


def zeta_by_hand(a: int, b: int, n_a: int, n_b: int) -> float:
    """The paper's formula, written out with Python's own floats."""
    prior = 0.01 * (a + b) / (n_a + n_b)
    first, second = a + prior, b + prior
    odds = math.log(first / (n_a + 0.01 - first)) - math.log(second / (n_b + 0.01 - second))
    return odds / math.sqrt(1 / first + 1 / second)


def test_scores_by_hand():
    found = scored(THREE).set_index("token")
    # right: tax 2, the 1, border 1 (4 in all); left: the 1, schools 1, tax 1 (3 in all).
    assert found["count_minuend"].to_dict() == {"tax": 2, "border": 1, "the": 1, "schools": 0}
    assert found["count_subtrahend"].to_dict() == {"tax": 1, "border": 0, "the": 1, "schools": 1}
    for token, (a, b) in {"tax": (2, 1), "the": (1, 1), "border": (1, 0)}.items():
        assert found.loc[token, "zeta"] == pytest.approx(zeta_by_hand(a, b, 4, 3), abs=1e-12)
    # Neutral wordings are scored, but not counted.
    assert "court" not in found.index


def test_a_token_of_one_group_alone_scores_near_nothing():
    found = scored(THREE).set_index("token")["zeta"]
    assert abs(found["border"]) < abs(found["tax"])
    assert 0 < found["border"] < 0.5


def test_scores_are_sorted_and_equal_ones_stand_by_token():
    rows = queries(("right", "b a c x"), ("left", "x y z w"))
    found = scored(rows)
    assert found["zeta"].is_monotonic_decreasing
    assert found["token"].tolist() == ["a", "b", "c", "x", "w", "y", "z"]


def test_query_scores_count_repeats_and_know_nothing_of_unknown_tokens():
    zeta = scored(THREE).set_index("token")["zeta"]
    found = query_scores(THREE, scored(THREE)).set_index("query_id")["score"]
    assert found["q0"] == pytest.approx(2 * zeta["tax"] + zeta["the"] + zeta["border"])
    assert found["q2"] == 0.0


@pytest.mark.parametrize(
    "rows",
    [
        queries(("right", "tax tax"), ("left", "tax")),
        queries(("right", "!!! ???"), ("left", "税 学校")),
        queries(("right", "tax"), ("left", "")),
        queries(("right", ""), ("left", "tax school")),
        queries(("neutral", "tax")),
        queries((None, "tax")),
        queries(),
    ],
    ids=["one token", "no token", "one side blank", "other side blank", "neutral", "none", "empty"],
)
def test_degenerate_text_gives_finite_scores(rows):
    found = scored(rows)
    assert np.isfinite(found[["log_odds", "zeta"]].to_numpy(dtype=float)).all()
    scores = query_scores(rows, found)["score"].to_numpy(dtype=float)
    # Only a blank text has no score.
    assert np.isfinite(scores).tolist() == [text.strip() != "" for text in rows["text"]]


def test_hostile_text_is_counted_and_no_more():
    rows = queries(("right", "=cmd|' /C calc'!A0 <script>x</script>"), ("left", "x\x00y $z$"))
    assert set(scored(rows)["token"]) == {"cmd", "c", "calc", "a0", "script", "x", "y", "z"}


word = st.sampled_from(["tax", "school", "the", "border", "ain't", "x2"])
rows_of_text = st.tuples(st.sampled_from(["left", "right"]), st.lists(word, max_size=6))
texts = st.lists(rows_of_text, max_size=8)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_swapping_groups_negates_every_score(rows):
    frame = queries(*((group, " ".join(words)) for group, words in rows))
    there = scored(frame).set_index("token")["zeta"]
    back = token_scores(frame, minuend="left", subtrahend="right").set_index("token")["zeta"]
    assert set(there.index) == set(back.index)
    np.testing.assert_allclose(there, -back.reindex(there.index), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(texts, st.randoms())
def test_the_order_of_queries_and_of_words_changes_nothing(rows, random):
    frame = queries(*((group, " ".join(words)) for group, words in rows))
    mixed = [(group, random.sample(words, len(words))) for group, words in rows]
    random.shuffle(mixed)
    other = queries(*((group, " ".join(words)) for group, words in mixed))
    pd.testing.assert_frame_equal(scored(frame), scored(other))
    zeta = scored(frame)
    before = query_scores(frame, zeta)["score"].dropna().sort_values().tolist()
    assert before == query_scores(other, zeta)["score"].dropna().sort_values().tolist()


def test_the_prior_hardly_matters_for_common_tokens():
    counts = np.array([400, 300, 300]), np.array([300, 400, 300])
    _, zeta = log_odds(*counts)
    plain = [
        (math.log(a / (1000 - a)) - math.log(b / (1000 - b))) / math.sqrt(1 / a + 1 / b)
        for a, b in zip(*counts, strict=True)
    ]
    assert PRIOR == 0.01
    assert zeta == pytest.approx(plain, rel=1e-5)


# --- against the authors' release ---------------------------------------------------------------

#: File, and the columns of the group that scores positive and of the other.
RELEASED = {
    "allsides": ("allsides_synth/results/lexical_logodds.csv", "count_L", "count_R"),
    "synth": ("hcmagic/results/lex_residual_token_logodds.csv", "count_WME", "count_AAL"),
    "natural": ("hcmagic/results/lex_residual_real_token_logodds.csv", "count_WME", "count_AAL"),
}


def predicted(rows: pd.DataFrame, first: str, second: str, totals: np.ndarray) -> np.ndarray:
    """Scores of a few of a vocabulary's tokens, the rest of it being one token of its own."""
    counts = (rows[first].to_numpy(), rows[second].to_numpy())
    rest = [np.append(seen, n - seen.sum()) for seen, n in zip(counts, totals, strict=True)]
    return np.stack(log_odds(*rest))[:, :-1]


@pytest.mark.parametrize("name", RELEASED)
def test_the_releases_scores_follow_from_its_counts(shared, name):
    """How many tokens there are in all is in no row, but two numbers explain all fifteen."""
    path, first, second = RELEASED[name]
    rows = pd.read_csv(shared / "paper_release_sample" / path)
    known = rows[["log_odds", "zeta"]].to_numpy().T
    seen = np.array([rows[first].sum(), rows[second].sum()])
    fitted = least_squares(
        lambda logs: (predicted(rows, first, second, np.exp(logs)) - known)[0],
        np.log(seen * 10.0),
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    totals = np.exp(fitted.x)
    # Both come out as whole numbers, which nothing in the fit asks for.
    assert totals == pytest.approx(np.round(totals), rel=0, abs=0.01)
    found = predicted(rows, first, second, np.round(totals))
    assert found == pytest.approx(known, abs=1e-10)


def test_the_release_subtracts_right_from_left_in_each_cell(shared):
    folder = shared / "paper_release_sample" / "allsides_synth" / "results"
    cells = pd.read_csv(folder / "cell_lex_asymmetry.csv")
    found = (cells["lex_L"] - cells["lex_R"]).tolist()
    assert found == pytest.approx(cells["lex_diff_lr"].tolist(), abs=1e-12)


def test_a_released_query_scores_the_sum_of_its_known_tokens(shared):
    """The sample has scores of a few tokens only: those tokens' share of a query's score."""
    folder = shared / "paper_release_sample" / "allsides_synth"
    zeta = pd.read_csv(folder / "results" / "lexical_logodds.csv")
    asked = pd.read_json(folder / "data" / "generated_queries.jsonl", lines=True)
    found = query_scores(asked, zeta)["score"]
    by_token = dict(zip(zeta["token"], zeta["zeta"], strict=True))
    for text, score in zip(asked["text"], found, strict=True):
        assert score == pytest.approx(sum(by_token.get(t, 0.0) for t in tokenise(text)), abs=1e-12)
    assert (found != 0).any()
