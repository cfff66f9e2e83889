"""The Probe page in each of its states, through Streamlit's own runner from app.py."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from test_pages import charts, monkeypatch_module, opened, store, words

from biasret.signals.dialect.scoring import COMPONENTS

__all__ = ["monkeypatch_module", "store"]

HOSTILE = {
    "script": "<script>document.title='x'</script><img src=x onerror=alert(1)>",
    "maths": "does $x$ cost $5 and $10 or $y$?",
    "emoji": "🤒👩🏾‍⚕️ fever?",
    "right to left": "ما هو علاج الصداع؟ \u202eabc",
    "markdown": "[link](http://x) **bold** ![i](http://x/y.png) :red[z] `c`",
    "long": "why does my head hurt " * 454,
    "unknown words": "zxczxc qqqqq",
    "control": "a\x00b\x07c",
}
SISTER = "My sister doesn't sleep and her hands are always cold."
ESTATE = "How does the estate tax affect family farms?"


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label.startswith(label)).click().run()
    assert not app.exception, [e.value for e in app.exception]


def on(dataset: str, **query: str) -> AppTest:
    return opened("probe", probe_dataset=dataset, **query)


def asked(text: str, dataset: str = "demo_health", **query: str) -> AppTest:
    app = on(dataset, **query)
    app.text_area(key="probe_text").set_value(text)
    press(app, "Flip and compare")
    return app


def given(a: str, b: str, dataset: str = "demo_news", **query: str) -> AppTest:
    return on(dataset, probe_a=a, probe_b=b, **query)


def text_of(app: AppTest) -> str:
    return words(app).replace("\\", "")


class TestStates:
    def test_nothing_typed(self, store):
        app = on("demo_news")
        assert "Type a question and press" in words(app)
        assert "br-list" not in words(app)

    def test_a_question_is_flipped_marked_and_asked(self, store):
        text = text_of(asked(SISTER))
        assert "A: WME wording, as typed" in text
        assert "B: AAL wording, generated" in text
        assert "not a speaker" in text
        assert "<del>are" in text
        assert '<ins title="' in text
        assert text.count('<ol class="br-list"') == 2
        assert "br-matrix" in text
        assert "8 of 10 survive" in text
        assert "lexical baseline" in text
        assert "pairs changed less" in text or "stored pairs" in text

    def test_both_sides_of_a_framed_question_are_generated(self, store):
        text = text_of(asked(ESTATE, "demo_news"))
        assert "A: left wording, generated" in text
        assert "B: right wording, generated" in text
        assert "death tax" in text
        assert "lean@10 A (left)" in text

    def test_wordings_of_the_link_take_the_engines_place(self, store):
        app = given("gun storage law protects children", "gun storage mandate burdens owners")
        text = text_of(app)
        assert "A: left wording, edited by hand" in text
        assert "wording B keeps" in text
        assert app.text_area(key="probe_a").value == "gun storage law protects children"

    def test_one_wording_edited_by_hand_keeps_the_engines_other(self, store):
        app = asked(SISTER)
        app.button(key="probe_b_edit").click().run()
        box = app.text_area(key="probe_b")
        assert box.value == "My sister doesn't sleep and her hands always be cold."
        box.set_value("My sister don't never sleep.").run()
        text = text_of(app)
        assert "B: AAL wording, edited by hand" in text
        assert "A: WME wording, as typed" in text
        app.button(key="probe_b_back").click().run()
        assert "B: AAL wording, generated" in text_of(app)

    def test_a_new_question_drops_the_wordings_of_the_last(self, store):
        app = given("gun storage law", "gun storage mandate", probe_text="gun storage")
        app.text_area(key="probe_text").set_value(ESTATE)
        press(app, "Flip and compare")
        assert "B: right wording, generated" in text_of(app)

    def test_identical(self, store):
        text = text_of(given("gun storage law", "gun storage law"))
        assert "Both wordings are the same text" in text
        assert "same order" in text

    def test_no_match(self, store):
        assert "No document matched either wording" in text_of(given("zxczxc", "qqqqq vvvv"))

    def test_one_side_without_a_match(self, store):
        text = text_of(given("gun storage law", "qqqqq vvvv"))
        assert "No document matched wording B" in text
        assert text.count('<ol class="br-list"') == 1

    def test_no_retriever_chosen(self, store):
        app = asked(SISTER)
        app.multiselect(key="probe_retrievers").set_value([]).run()
        assert "Choose at least one retriever" in words(app)

    def test_a_blank_question_is_refused_in_words(self, store):
        assert "Type a question" in text_of(asked("   "))

    def test_a_failing_retriever_is_named_and_the_page_stays(self, store, monkeypatch):
        from biasret.errors import NotInstalled
        from biasret.ui import reads

        def failing(name, dataset):
            raise NotInstalled("its weights are missing")

        monkeypatch.setattr(reads, "ready_retriever", failing)
        text = text_of(given("gun storage law here", "gun storage rule here"))
        assert "BM25 could not be asked. its weights are missing" in text
        assert "gun storage rule here" in text

    def test_an_unexpected_failure_gives_a_reference_and_no_traceback(self, store, monkeypatch):
        from biasret.ui import reads

        def failing(name, dataset):
            raise ZeroDivisionError

        monkeypatch.setattr(reads, "ready_retriever", failing)
        text = words(given("gun storage law once", "gun storage rule once"))
        assert "report reference" in text
        assert "ZeroDivisionError" not in text

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_shown_as_typed(self, store, kind):
        text = HOSTILE[kind][:10_000]
        app = on("demo_news")
        app.text_area(key="probe_text").set_value(text)
        press(app, "Flip and compare")
        assert app.text_area(key="probe_text").value == text
        shown = words(app)
        assert "<script>" not in shown
        assert "onerror=alert" not in shown.replace("&gt;", ">") or "&lt;img" in shown

    def test_one_hundred_documents(self, store):
        app = given("the law", "the law and", probe_k="100")
        assert words(app).count("<li>") == 200

    def test_a_shut_retriever_draws_nothing(self, store):
        app = asked(SISTER)
        app.session_state["probe_open_bm25"] = False
        app.run()
        assert "br-list" not in words(app).replace(".br-list", "")


class TestSwitch:
    def test_aal_is_detected_and_the_other_direction_offered(self, store):
        app = asked("He don't have no fever and my head been hurting.")
        assert "already carries AAL features" in text_of(app)
        press(app, "Flip to WME instead")
        text = text_of(app)
        assert "A: WME wording, generated" in text
        assert "B: AAL wording, as typed" in text

    def test_leaning_words_are_detected(self, store):
        text = text_of(asked("Will the death tax hurt family farms?", "demo_news"))
        assert "already leans by its words" in text
        assert "right: “death tax”" in text

    def test_either_switch_works_on_either_dataset(self, store):
        app = asked(SISTER, "demo_news", probe_switch_framing="WME to AAL")
        text = text_of(app)
        assert "B: AAL wording, generated" in text
        # The stored pairs of this dataset differ in lean, not in dialect.
        assert "No distribution of pairs is stored" in text

    def test_density_seed_and_features_reach_the_engine(self, store):
        assert "<del>doesn" not in text_of(asked(SISTER))
        assert "<del>doesn" in text_of(asked(SISTER, probe_density="1.0"))
        app = asked(SISTER)
        app.multiselect(key="probe_features").set_value(["invariant_dont"]).run()
        assert "<del>doesn" in text_of(app)
        assert "<del>are" not in text_of(app)

    def test_nothing_to_flip_is_said(self, store):
        text = text_of(asked("What is the weather today?", "demo_news"))
        assert "lexicon" in text
        assert "Both wordings are the same text" in text

    def test_mitigation_stands_on_the_same_row(self, store):
        app = asked(ESTATE, "demo_news")
        assert "With the signal taken out" not in words(app)
        app.toggle(key="probe_mitigated").set_value(True).run()
        text = text_of(app)
        assert "With the signal taken out" in text
        assert "= same lean" in text
        assert "lean@10 neutral" in text


class TestScores:
    def opened(self) -> AppTest:
        app = asked("He don't have no fever.")
        app.session_state["probe_scores"] = True
        app.run()
        assert not app.exception
        return app

    def test_features_are_counted_and_their_limits_said(self, store):
        text = text_of(self.opened())
        assert "2: invariant dont, negative concord" in text
        assert "nobody's identity can be read from it" in text
        assert "has not been imported" in text
        assert "AAL index of its words" not in text

    def test_the_word_model_is_shown_once_its_table_is_there(self, store):
        counts = pd.DataFrame({"word": ["he", "don't"]})
        for name, n in zip(COMPONENTS, (90, 5, 5, 9), strict=True):
            counts[name] = [n, n]
        path = store.resource("twitteraae")
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        counts.to_parquet(path)
        try:
            assert "AAL index of its words" in text_of(self.opened())
        finally:
            path.unlink()


class TestStored:
    def pick(self, dataset: str, find: str) -> AppTest:
        app = on(dataset)
        app.text_input(key=f"probe_find_{dataset}").set_value(find).run()
        press(app, "Use this question")
        return app

    def test_stored_wordings_come_with_their_source_left_out(self, store):
        app = self.pick("demo_news", "gun storage")
        text = text_of(app)
        assert "A: left wording, as stored" in text
        assert "its source article" in text
        assert app.text_area(key="probe_text").value

    def test_a_stored_health_question_shows_the_rank_of_its_answer(self, store):
        app = self.pick("demo_health", "blood pressure")
        text = text_of(app)
        assert "gold answer at rank" in text
        assert "reciprocal rank, AAL minus WME" in text
        assert "answer" in text

    def test_a_flip_of_a_stored_question_keeps_its_gold(self, store):
        stored = self.pick("demo_health", "blood pressure")
        question = stored.text_area(key="probe_text").value
        assert "gold answer at rank" in text_of(asked(question, probe_seed="7"))

    def test_an_edit_by_hand_may_have_another_answer(self, store):
        app = self.pick("demo_health", "blood pressure")
        app.button(key="probe_b_edit").click().run()
        app.text_area(key="probe_b").set_value("My knee been hurting.").run()
        text = text_of(app)
        assert "gold answer at rank" not in text
        assert "share only" in text

    def test_no_stored_question_found(self, store):
        app = on("demo_news")
        app.text_input(key="probe_find_demo_news").set_value("100%_'; DROP").run()
        assert "No stored question holds all of these words" in words(app)

    def test_an_example_is_one_click(self, store):
        for dataset in ("demo_news", "demo_health"):
            app = on(dataset)
            example = next(one for one in app.button if str(one.key).startswith("probe_example"))
            example.click().run()
            assert not app.exception
            assert words(app).count('<ol class="br-list"') == 2


class TestGuards:
    def test_more_than_the_signal_changed(self, store):
        text = text_of(
            given(
                "Is 200 mg of ibuprofen safe?",
                "My knee been hurting and it be swole up after I work and I cannot sleep at all",
                "demo_health",
            )
        )
        assert "differ in length" in text
        assert "numbers changed" in text


class TestSharing:
    def test_text_stays_out_of_the_link_on_request(self, store):
        app = on("demo_health")
        app.toggle(key="probe_private").set_value(True).run()
        app.text_area(key="probe_text").set_value(SISTER)
        press(app, "Flip and compare")
        assert "br-list" in words(app)
        assert not [key for key in app.query_params if key in ("probe_text", "probe_a")]

    def test_text_already_in_the_link_is_taken_out(self, store):
        app = asked(SISTER)
        app.toggle(key="probe_private").set_value(True).run()
        assert "probe_text" not in app.query_params
        assert app.text_area(key="probe_text").value == SISTER
        assert "br-list" in words(app)

    def test_earlier_probes_can_be_pinned(self, store):
        app = asked(SISTER)
        assert "Earlier probes" not in str(app.expander)
        app.text_area(key="probe_text").set_value("My brother isn't eating anything.")
        press(app, "Flip and compare")
        assert any("Earlier probes of this visit (1)" in one.label for one in app.expander)
        app.selectbox(key="probe_pinned").set_value(0).run()
        text = text_of(app)
        assert "Pinned" in text
        assert SISTER in text

    def test_every_form_of_export_holds_the_comparison(self, store, monkeypatch):
        files = {}
        import streamlit as st

        real = st.download_button

        def caught(label, data, **options):
            files[label] = data() if callable(data) else data
            return real(label, b"x", **options)

        monkeypatch.setattr(st, "download_button", caught)
        from streamlit.delta_generator import DeltaGenerator

        monkeypatch.setattr(DeltaGenerator, "download_button", caught, raising=False)
        app = asked(SISTER)
        assert "br-list" in words(app)
        document = json.loads(files["Download JSON"])
        assert document["wordings"][1]["text"].endswith("her hands always be cold.")
        (one,) = document["retrievers"]
        assert len(one["rankings"][0]) == 10
        assert one["overlap"] == 0.8
        assert b"0.8" in files["Download CSV"]
        page = files["Download report"].decode()
        assert "her hands always be cold" in page
        assert "rank-biased overlap" in page


class TestLink:
    def test_refused_numbers_and_cut_texts_are_said(self, store):
        app = on("demo_health", probe_density="7", probe_seed="x", probe_text="why " * 2_600)
        text = text_of(app)
        assert "The link asked for probe_density=7" in text
        assert "using 0.4" in text
        assert "The link asked for probe_seed=x" in text
        assert "had 10,400 characters; the first 10,000 are used" in text

    def test_what_is_taken_is_not_remarked_on(self, store):
        text = text_of(on("demo_health", probe_density="0.70", probe_seed="3", probe_text=SISTER))
        assert "The link" not in text
        assert "The text of the link" not in text


class TestPresentation:
    def test_one_sentence_two_short_lists_and_the_strip(self, store):
        app = asked(SISTER, probe_presented="true")
        text = text_of(app)
        assert "br-lead" in text
        assert "Of the 10 documents BM25 returns for WME, 8 are returned for AAL." in text
        assert text.count("<li>") == 10
        assert "The first 5 of 10 documents are shown" in text
        assert 'br-matrix"' not in text
        assert len(charts(app)) == 1
        assert "llustrative" in text

    def test_settings_survive_the_change_of_view(self, store):
        app = asked(SISTER, probe_k="20", probe_density="0.7")
        app.toggle(key="probe_presented").set_value(True).run()
        app.toggle(key="probe_presented").set_value(False).run()
        assert app.button_group(key="probe_k").value == "20"
        assert app.slider(key="probe_density").value == 0.7
        assert app.text_area(key="probe_text").value == SISTER
