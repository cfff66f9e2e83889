"""The Audit page: a run that is brought, good and bad, its gaps, gate and report."""

from __future__ import annotations

import pytest
from test_pages import charts, monkeypatch_module, opened, store, words
from test_pages_numbers import files

from biasret.ui import auditing

__all__ = ["files", "monkeypatch_module", "store"]


def page(**link: str):
    return opened("audit", audit_dataset="demo_news", **link)


def pasted(text: str, **link: str):
    app = page(audit_way="pasted text", **link)
    app.text_area(key="audit_text").set_value(text).run()
    assert not app.exception, [e.value for e in app.exception]
    return app


def lines(store, n: int = 20, tag: str = "mine") -> str:
    run = store.read("runs", "demo_news", "bm25")
    rows = run[run["rank"] <= n]
    return "\n".join(
        f"{r.query_id} Q0 {r.doc_id} {r.rank} {r.score!r} {tag}" for r in rows.itertuples()
    )


def test_nothing_brought_is_no_error(store):
    app = page()
    assert not app.error
    assert not charts(app)
    assert "Your corpus, your model" in words(app)


def test_the_sample_gives_the_stored_retrievers_gap(store):
    app = page(audit_way="the sample")
    assert not app.error, [e.value for e in app.error]
    stored = store.read("gaps", "demo_news")
    want = stored[(stored["k"] == 10) & (stored["filter"] == "raw")].iloc[0]
    shown = app.dataframe[0].value.iloc[0]
    assert shown["retriever"] == "sample"
    for column in ("estimate", "ci_low", "ci_high", "p_value"):
        assert shown[column] == want[column]
    assert "to depth 20" in words(app)


def test_depths_beyond_the_run_are_not_offered(store):
    app = page(audit_way="the sample")
    assert app.button_group(key="audit_k").options == ["5", "10", "20"]


def test_a_pasted_run_and_an_uploaded_one_are_the_same(store):
    text = lines(store)
    first = pasted(text).dataframe[0].value
    app = page()
    app.get("file_uploader")[0].upload("../../etc/passwd.run", text.encode(), "text/plain")
    app.run()
    assert not app.error
    second = app.dataframe[0].value
    assert first.drop(columns="retriever").equals(second.drop(columns="retriever"))


def test_a_table_is_read_too(store):
    run = store.read("runs", "demo_news", "bm25").query("rank <= 20")
    text = run[["query_id", "doc_id", "rank"]].to_csv(index=False)
    app = pasted(text)
    assert not app.error, [e.value for e in app.error]
    assert len(app.dataframe) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one two three", "line 1"),
        ("q Q0 d 1 x tag", "line 1"),
        ("query_id,doc_id,rank\nx,y,best", "line 2"),
        ("query_id,doc_id\nx,y", "rank"),
        ("q1 Q0 d1 1 1.0 tag", "none of the queries"),
        ("<script>alert(1)</script> $x$", "line 1"),
    ],
)
def test_a_bad_run_gets_one_sentence_and_loses_nothing(store, text, said):
    app = pasted(text)
    (error,) = app.error
    assert said in error.value.replace("\\", "")
    assert "Traceback" not in error.value
    assert app.text_area(key="audit_text").value == text


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("abs(gap.lean@10) > 0.00001", "Fails: the condition holds"),
        ("gap.lean@10 < -1", "Passes"),
        ("gap.lean@100 > 0.5", "cannot be decided"),
        ("gap.lean@10 >", "condition"),
        ("__import__('os')", "condition"),
    ],
)
def test_the_gate_says_what_it_found(store, gate, said):
    app = page(audit_way="the sample", audit_gate=gate)
    assert not app.exception
    assert said in words(app).replace("\\", "")


def test_the_report_holds_gap_and_verdict(store, files):
    page(audit_way="the sample", audit_gate="gap.lean@10 < -1")
    html = files["audit-report"].decode()
    assert html.startswith("<!doctype html>")
    assert "Passes: the condition does not hold" in html
    assert "Audit of sample on Demo news" in html
    assert files["audit-sample"].count(b"\n") > 1000


def test_nothing_is_stored(store):
    before = store.fingerprint()
    page(audit_way="the sample")
    assert store.fingerprint() == before


def test_ids_with_blanks_survive_the_sample(store, monkeypatch):
    rows = store.read("runs", "demo_news", "bm25").query("rank <= 2").head(4)
    rows = rows.assign(query_id=rows["query_id"] + " x%")
    monkeypatch.setattr(auditing.reads, "rows", lambda *a, **k: rows)
    assert auditing._has_blanks(rows)
    text = auditing._sample("demo_news", "bm25")
    assert b"%20x%25" in text


def test_an_empty_store_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("BIASRET_STORE", str(tmp_path / "nothing"))
    assert "The store holds no dataset" in words(opened("audit"))
