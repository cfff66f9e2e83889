"""AAL to WME, the scorer, the query set, the pairs report, the model path."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret.errors import FileError, InputError, TableError
from biasret.llm import ChatClient, Endpoint
from biasret.signals.dialect import CountTable, score, to_aal, to_wme, to_wme_many
from biasret.signals.dialect.contract import violation
from biasret.signals.dialect.model_rewrite import rewrite_with_model
from biasret.signals.dialect.queries import ORIGIN, dialect_queries
from biasret.signals.dialect.report import report_on_pairs, translation_on_pairs
from biasret.signals.dialect.scoring import COMPONENTS, LIMITS, posterior
from biasret.tables import check

pytest.importorskip("spacy", reason="the parser is not installed: pip install spacy")

SHARED = Path(os.environ.get("BIASRET_SHARED", Path(__file__).parents[2] / "shared"))

MORE = [
    ("He ain't got no insurance.", "He doesn't have any insurance."),
    ("They ain't sleeping.", "They aren't sleeping."),
    ("She ain't stopped it.", "She hasn't stopped it."),
    ("He ain't never fell before.", "He hasn't ever fallen before."),
    ("She ain't never been sick.", "She hasn't ever been sick."),
    ("I ain't took none.", "I haven't taken any."),
    ("We ain't never seen no doctor.", "We haven't ever seen any doctor."),
    ("I ain't never sick.", "I'm not ever sick."),
    ("It don't never stop.", "It doesn't ever stop."),
    ("I ain't never used no needles.", "I haven't ever used any needles."),
    ("I ain't used to it.", "I'm not used to it."),
    ("They ain't told me nothing.", "They haven't told me anything."),
    ("My knee ain't came back right.", "My knee hasn't come back right."),
    ("It ain't got better.", "It hasn't gotten better."),
    ("He ain't got bad knees.", "He doesn't have bad knees."),
    (
        "I'm healthy, and ain't nobody never tested me.",
        "I'm healthy, and nobody has ever tested me.",
    ),
    ("She tryna sleep.", "She is trying to sleep."),
    ("They was late.", "They were late."),
    ("It hurt when I walk.", "It hurts when I walk."),
    ("You think it is serious?", "Do you think it is serious?"),
    ("What you taking for it?", "What are you taking for it?"),
    ("Where the clinic at?", "Where is the clinic?"),
    ("I'ma call the clinic.", "I'm going to call the clinic."),
    ("He finna start chemo.", "He is about to start chemo."),
    ("The itching is more worse.", "The itching is worse."),
    ("I am real tired.", "I am really tired."),
    ("Do y'all take Medicaid?", "Do you all take Medicaid?"),
    ("I need a appointment.", "I need an appointment."),
    ("Me and my husband are trying.", "My husband and I are trying."),
    ("I need to get me a second opinion.", "I need to get a second opinion."),
    ("I have took two doses.", "I have taken two doses."),
    ("It's worse than what I thought.", "It's worse than I thought."),
    ("My chest be hurting every morning.", "My chest is hurting every morning."),
    ("Do this medicine cause hair loss?", "Does this medicine cause hair loss?"),
    ("It ain't hurt last week.", "It didn't hurt last week."),
    ("Is it a pill that don't cause gas?", "Is it a pill that doesn't cause gas?"),
    ("They insurance was late.", "Their insurance was late."),
    ("It hurts every time he walk.", "It hurts every time he walks."),
    ("Cuz my feet always be swollen.", "Because my feet are always swollen."),
    ("I keep wakin' up and sweatin'.", "I keep waking up and sweating."),
]


@pytest.mark.parametrize(("text", "expected"), MORE)
def test_more_of_the_way_back(text: str, expected: str) -> None:
    assert to_wme(text).target == expected


KEPT = [
    "Could it be a rash?",
    "Can this be treated?",
    "I have been coughing.",
    "Have you been sick?",
    "I would take it if she was here.",
    "Did she take it yesterday?",
    "It makes you dizzy.",
    "I saw her crying.",
    "Are they open?",
    "Why are you taking it?",
    "He let her sleep.",
    "My insulin, aspirin, vitamin and skin cream are in the cabin.",
    "I had a bout of flu.",
    "Nothing helps.",
    "There is no cure.",
    "She did take it in 2019.",
    "What does he need to do?",
    "He wants me to be careful.",
    "My 15 year old has cramps.",
    "Stay in bed and be careful.",
    "The wolf's den was cold.",
    "I don't know why I never sleep.",
    "I don't think he never came.",
    "I never said it.",
    "It is not okay to never drink water.",
    "I do not want to never walk again.",
    "Not only have I never slept, I hurt.",
    "Doctors do not recommend never sleeping.",
    "You should not go your whole life never seeing a doctor.",
    "I don't smoke, never have.",
    "I didn't say never.",
    "Nobody ain't never told me.",
    "Don't nobody never listen.",
    "He ain't used to work here.",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_has_no_other_reading_stays(text: str) -> None:
    assert to_wme(text).target == text


def test_confidence_is_a_threshold_and_suggestions_are_listed() -> None:
    text = "It's a lump under my arm."
    low = to_wme(text, confidence=0.5)
    assert low.target == "There's a lump under my arm."
    kept = to_wme(text)
    suggestion = next(s for s in kept.skipped if s.feature == "exist_it")
    assert (suggestion.code, suggestion.suggestion, suggestion.confidence) == (
        "suggestion", "There's", 0.5,
    )  # fmt: skip
    genitive = to_wme("My mama house cold.")
    assert "possessive_s_zero" in {s.feature for s in genitive.skipped}
    assert to_wme("He don't itch.", confidence=0.96).target == "He don't itch."
    with pytest.raises(InputError, match="confidence"):
        to_wme("x", confidence=2)


def test_protected_text_stays_on_the_way_back() -> None:
    text = "He said \"she don't know\" and [she ain't] at https://x.org/takin."
    assert to_wme(text).target == text


def test_spans_of_the_way_back_are_exact() -> None:
    text = "She takin 5 mg an' they ain't got no relief, dis rash neva go away."
    rewrite = to_wme(text)
    for edit in rewrite.edits:
        assert text[edit.start : edit.end] == edit.original
        assert rewrite.target[edit.target_start : edit.target_end] == edit.replacement
        assert edit.p is None
        assert edit.confidence >= 0.7
    assert "5 mg" in rewrite.target
    assert rewrite.edits[0].feature == "zero_aux_prog"


def test_many_is_one_by_one() -> None:
    texts = [text for text, _ in MORE]
    assert [r.target for r in to_wme_many(texts)] == [to_wme(t).target for t in texts]


def test_without_the_parser_only_spellings_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASRET_SPACY_MODEL", "no_such_model_package")
    rewrite = to_wme("She takin it and he don't.")
    assert rewrite.target == "She taking it and he don't."
    assert rewrite.config["notices"]


# -- score ----------------------------------------------------------------------------------


def small_table() -> CountTable:
    counts = np.array([[900.0, 50, 5, 10], [100, 300, 200, 800], [0, 0, 1, 0], [50, 50, 50, 50]])
    return CountTable(["finna", "doctor", "lisinopril", "the"], counts)


def test_features_are_found_with_their_spans() -> None:
    text = "He don't want no pills. I am fine."
    found = score(text)
    assert [(f.text, f.feature) for f in found.features] == [
        ("do", "invariant_dont"), ("no", "negative_concord"),
    ]  # fmt: skip
    assert found.n_clauses == 2
    assert found.per_clause == 1.0
    assert found.share is None
    assert found.share_note is not None
    assert "import twitteraae" in found.share_note
    assert found.limits == LIMITS
    assert score("").per_clause is None


def test_the_share_by_hand() -> None:
    table = small_table()
    result = score("x", table=table, tokens=["finna"]).share
    assert result is not None
    totals = np.array([1050.0, 400, 256, 860])
    start = (np.array([900.0, 50, 5, 10]) + 1) / totals
    # One token: every sweep takes its own share out and puts it back over a zero total.
    expected = start / start.sum()
    np.testing.assert_allclose(result.shares, expected, atol=1e-12)
    assert result.index == pytest.approx(expected[0] / (expected[0] + expected[3]))
    assert result.label == "african_american"
    assert result.is_weak
    assert result.contributions[0][0] == "finna"


def test_shares_sum_to_one_and_do_not_touch_their_input() -> None:
    likelihoods = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
    before = likelihoods.copy()
    shares, rows = posterior(likelihoods)
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    np.testing.assert_array_equal(likelihoods, before)
    assert shares[0] == pytest.approx(shares[3], abs=0.02)


def test_too_few_known_words_give_no_share() -> None:
    table = small_table()
    assert "None of the 2" in str(score("zzz yyy", table=table).share_note)
    assert "Only 1 of 6" in str(score("the a b c d e", table=table).share_note)
    rare = score("lisinopril the", table=table).share
    assert rare is not None
    assert rare.robust_index != rare.index
    split = score("doctor, the", table=table, tokens="split").share
    assert split is not None
    assert split.n_known == 1
    with pytest.raises(InputError, match="Tokens are"):
        score("the", table=table, tokens="words")


def test_tables_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="shape"):
        CountTable(["a"], np.ones((1, 3)))
    with pytest.raises(InputError, match="finite"):
        CountTable(["a"], np.array([[1, -1, 1, 1]]))
    with pytest.raises(InputError, match="at least one count"):
        CountTable(["a"], np.array([[1, 0, 1, 1]]))
    with pytest.raises(FileError, match="cannot be read"):
        CountTable.read(tmp_path / "none.parquet")
    (tmp_path / "x.csv").write_text("word,white\na,1\n")
    with pytest.raises(FileError, match="lacks the column 'african_american'"):
        CountTable.read(tmp_path / "x.csv")
    frame = pd.DataFrame({"word": ["null", "the"], **{name: [1.0, 2.0] for name in COMPONENTS}})
    frame.to_csv(tmp_path / "y.csv", index=False)
    assert len(CountTable.read(tmp_path / "y.csv")) == 2


def test_the_published_examples_come_out() -> None:
    path = SHARED / "data" / "dialect" / "twitteraae_counts.parquet"
    if not path.exists():
        pytest.skip(f"no count table: {path} is absent; set BIASRET_SHARED")
    table = CountTable.read(path)
    hello = score("x", table=table, tokens=["hello", "there"]).share
    af = score("x", table=table, tokens=["af", "af", "af"]).share
    assert hello is not None
    assert af is not None
    np.testing.assert_allclose(
        hello.shares, (0.16603718, 0.27450171, 0.22886004, 0.33060107), atol=1e-8
    )
    np.testing.assert_allclose(
        af.shares, (0.842944382, 0.132149345, 0.000111905398, 0.0247943681), rtol=1e-7
    )
    # Each AAL output of the table against its WME input.
    with (Path(__file__).parent / "data" / "dialect_cases.csv").open(encoding="utf-8") as file:
        cases = [c for c in csv.DictReader(file) if c["direction"] == "wme_to_aal"]
    rises = []
    for case in cases:
        if case["input"] != case["expected"]:
            before, after = (score(case[k], table=table).share for k in ("input", "expected"))
            assert before is not None
            assert after is not None
            rises.append(after.shares[0] > before.shares[0])
    assert sum(rises) / len(rises) > 0.9


# -- query sets and reports -----------------------------------------------------------------

QUESTIONS = pd.DataFrame(
    {
        "question_id": ["q1", "q2", "q3"],
        "text": [
            "She is taking it and he doesn't want any help. Why is her leg swelling?",
            "He doesn't itch.",
            "Pain.",
        ],
    }
)


def test_the_query_set_is_a_queries_table() -> None:
    table = dialect_queries(QUESTIONS, densities=(0.4, 1.0), seeds=(0, 1, 2))
    pd.testing.assert_frame_equal(table, check(table, "queries"), check_like=False)
    original = table[table["variant"] == "original"]
    assert original["text"].tolist() == QUESTIONS["text"].tolist()
    assert set(original["group"]) == {"WME"}
    assert set(original["origin"]) == {"found"}
    aal = table[table["group"] == "AAL"]
    assert set(aal["origin"]) == {ORIGIN}
    assert ORIGIN.startswith("generated (dialect ")
    assert (aal["cell_id"] == "q1").sum() >= 2
    assert not (aal["cell_id"] == "q3").any()
    full = aal[(aal["cell_id"] == "q1") & (aal["variant"] == "aal d1 s0")]["text"].item()
    assert full == to_aal(QUESTIONS["text"][0], density=1).target
    back = table[table["group"] == "back"]
    assert len(back) == len(aal)
    assert "He doesn't itch." in set(back["text"])
    assert table.attrs["n_unchanged"] >= 1
    assert table.attrs["n_duplicates"] == 2


def test_the_query_set_keeps_clusters_and_can_leave_back_out() -> None:
    frame = QUESTIONS.assign(cluster_id="c", dataset="mine", origin="written")
    table = dialect_queries(frame, back=False)
    assert set(table["cluster_id"]) == {"c"}
    assert set(table["dataset"]) == {"mine"}
    assert set(table["group"]) == {"WME", "AAL"}


def test_query_sets_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(TableError, match="'text'"):
        dialect_queries(QUESTIONS[["question_id"]])
    for densities, seeds in (((), (0,)), ((0.0,), (0,)), ((0.5,), ())):
        with pytest.raises(InputError, match="Densities"):
            dialect_queries(QUESTIONS, densities=densities, seeds=seeds)


def test_the_report_tells_used_kept_and_reworded_apart() -> None:
    pairs = pd.DataFrame(
        {
            "wme": ["She is weak today.", "She is weak today.", "She is weak today."],
            "aal": ["She weak today.", "She is weak today.", "Girl got no strength."],
        }
    )
    row = report_on_pairs(pairs).set_index("feature").loc["zero_copula_adj"]
    assert row["n_sites"] == 3
    assert (row["n_used"], row["n_kept"], row["n_reworded"]) == (1, 1, 1)
    assert row["share_used"] == 0.5
    assert row["n_elsewhere"] == 1
    assert row["n_in_wme"] == 0
    with pytest.raises(TableError, match="'aal'"):
        report_on_pairs(pairs[["wme"]])


def test_translation_brings_the_text_nearer() -> None:
    pairs = pd.DataFrame(
        {"source": ["a", "a"], "wme": ["He doesn't itch.", "Fine."],
         "aal": ["He don't itch.", "Fine."]}
    )  # fmt: skip
    row = translation_on_pairs(pairs).iloc[0]
    assert row["n"] == 2
    assert row["before"] < row["after"] == 1
    assert (row["share_nearer"], row["share_farther"]) == (0.5, 0)


def test_speakers_pairs_give_figures() -> None:
    path = SHARED / "data" / "dialect" / "pairs.parquet"
    if not path.exists():
        pytest.skip(f"no pairs: {path} is absent; set BIASRET_SHARED")
    pairs = pd.read_parquet(path)
    speakers = pairs[pairs["source"] == "redial_logic"].head(150)
    report = report_on_pairs(speakers).set_index("feature")
    assert report.loc["zero_copula_adj", "share_used"] > 0.8
    assert report.loc["th_stop", "share_used"] < 0.05
    template = pairs[pairs["source"] == "hofmann_habitual"].head(100)
    row = translation_on_pairs(template).iloc[0]
    assert row["share_nearer"] > 0.95


# -- the model path -------------------------------------------------------------------------


def model(rewrite: object, edits: object = ()) -> ChatClient:
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")

    def serve(request: object) -> object:
        content = json.dumps({"rewrite": rewrite, "edits": list(edits)})  # type: ignore[call-overload]
        return httpx.Response(200, json={"choices": [{"message": {"content": content}}]})

    endpoint = Endpoint("http://models.test/v1", "small", retries=0)
    return ChatClient(endpoint, transport=httpx.MockTransport(serve), sleep=lambda _: None)


def test_a_rewrite_that_keeps_the_contract_is_taken_with_our_own_spans() -> None:
    text = "She is taking 5 mg and doesn't sleep."
    named = [{"original": "doesn't", "replacement": "don't", "feature": "invariant_dont"}]
    result = rewrite_with_model(
        text, to="AAL", client=model("She taking 5 mg and don't sleep.", named)
    )
    assert result.config["rewriter"] == "small"
    for edit in result.edits:
        assert text[edit.start : edit.end] == edit.original
        assert result.target[edit.target_start : edit.target_end] == edit.replacement
    assert [e.replacement.strip() for e in result.edits if e.feature == "other"] == ["", "do"]


@pytest.mark.parametrize(
    "rewrite",
    ["She taking 50 mg and don't sleep.", "He taking 5 mg and don't sleep.", "Take a nap.", 7, ""],
)
def test_a_rewrite_that_breaks_it_gives_way_to_the_rules(rewrite: object) -> None:
    text = "She is taking 5 mg and doesn't sleep."
    result = rewrite_with_model(text, to="AAL", client=model(rewrite))
    assert result.config["rewriter"] == "rules"
    assert result.target == to_aal(text).target
    notices = result.config["notices"]
    assert isinstance(notices, list)
    assert len(notices) == 1


def test_the_model_path_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InputError, match="'AAL' or 'WME'"):
        rewrite_with_model("x", to="left", client=model("x"))
    with pytest.raises(InputError, match="4,000"):
        rewrite_with_model("x" * 4001, to="AAL", client=model("x"))
    back = rewrite_with_model("He don't itch.", to="WME", client=model("He doesn't itch."))
    assert back.config["rewriter"] == "small"


def test_never_beside_another_negator_is_one_negation_and_alone_it_stays() -> None:
    """*Ever* keeps a clause negative only where something else negates it."""
    both = violation("She can't never eat.", "She can't ever eat.", features=["negative_concord"])
    assert both is None
    alone = violation("She never eats.", "She ever eats.", features=["negative_concord"])
    assert alone == "a clausal negator came or went"
    other = violation("She can't never eat.", "She can't ever eat.", features=["aint_be"])
    assert other == "a clausal negator came or went"
    gained = violation("She can't ever eat.", "She can't never eat.", features=["negative_concord"])
    assert gained is None
    far = violation(
        "It is not okay to never eat.", "It is not okay to ever eat.", features=["negative_concord"]
    )
    assert far == "a clausal negator came or went"
