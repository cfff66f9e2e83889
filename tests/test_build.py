"""A build redoes what is out of date and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from conftest import QUICK, TOY_SCORES, HandScored, WordEncoder, record_of, toy_dataset

from biasret import audit, build, metrics, runs
from biasret.build import measuring, retrieving, steps
from biasret.datasets.base import Dataset
from biasret.errors import NothingStored
from biasret.precomputed import Folder
from biasret.residuals import fits
from biasret.retrievers.dense import Dense
from biasret.tables import TABLES

PER_RETRIEVER = ("embeddings", "runs", "gold_ranks", "measurements", "levels")


class Bench:
    """A folder, the fake retrievers by name, and every text their encoder was given."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.encoder = WordEncoder()
        self.records = {
            "words": record_of("words", dimension=4, max_tokens=3),
            "by-hand": record_of("by-hand"),
        }

    def load(self, name: str, *, models: object = None) -> Dense | HandScored:
        if name == "words":
            return Dense(self.records[name], lambda: self.encoder)
        return HandScored(TOY_SCORES, record=self.records[name])

    def build(self, dataset: Dataset, *names: str, **options: object) -> bool:
        build.save_dataset(self.folder, dataset, inputs={})
        return build.build_dataset(self.folder, dataset, names or ("words",), **options)

    def times(self) -> dict[str, int]:
        """When each file of results was written; the dataset's own tables are not results."""
        own = ("documents", "queries", "qrels", "datasets")
        return {
            f"{table}/{path.name}": path.stat().st_mtime_ns
            for table in TABLES
            if table not in own
            for path in self.folder.files(table)
        }


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(Folder(tmp_path))
    monkeypatch.setattr(retrieving, "load", made.load)
    monkeypatch.setattr(audit, "PAPER", QUICK)
    return made


def changed(dataset: Dataset, table: str, **columns: object) -> Dataset:
    return replace(dataset, **{table: getattr(dataset, table).assign(**columns)})


def test_a_build_makes_every_table(bench):
    assert bench.build(toy_dataset(), "words", "by-hand")
    for table in PER_RETRIEVER:
        expected = ["words"] if table == "embeddings" else ["by-hand", "words"]
        assert bench.folder.retrievers(table, "toy") == expected
    gaps = bench.folder.read("gaps", "toy")
    assert set(gaps["retriever"]) == {"by-hand", "words"}
    assert set(gaps["metric"]) == {"lean"}
    # A lexical gap and a dense one stand side by side at every depth.
    assert (gaps.groupby(["k", "filter"])["retriever"].nunique() == 2).all()


def test_building_again_writes_nothing(bench):
    bench.build(toy_dataset(), "words", "by-hand")
    before, seen = bench.times(), len(bench.encoder.seen)
    assert not bench.build(toy_dataset(), "words", "by-hand")
    assert bench.times() == before
    assert len(bench.encoder.seen) == seen


def rewritten(bench: Bench, before: dict[str, int]) -> set[str]:
    """Tables of which a file was written since."""
    return {name.split("/")[0] for name, at in bench.times().items() if before.get(name) != at}


VOCABULARY = {"token_scores", "residuals"}
PAIRING = {"pairing", "pairing_summary"}
EVERYTHING = {
    *("embeddings", "runs", "gold_ranks", "measurements", "levels", "gaps"),
    *VOCABULARY,
    *PAIRING,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # Tokens are scored in queries, whatever there is to be found.
        (
            lambda d: changed(d, "documents", text=d.documents["text"] + " tax"),
            EVERYTHING - {"token_scores"},
        ),
        (lambda d: changed(d, "queries", text=d.queries["text"] + " tax"), EVERYTHING),
        # Judgements change ranks of gold, not vectors.
        (
            lambda d: replace(d, qrels=d.qrels.iloc[1:]),
            EVERYTHING - {"embeddings", "token_scores"} - PAIRING,
        ),
        # A record that compares other groups changes what follows from the values.
        (
            lambda d: replace(d, record=replace(d.record, minuend="left", subtrahend="right")),
            {"gaps", "levels", *VOCABULARY, *PAIRING},
        ),
        # Of a dataset that is no longer paired, no pairs are kept.
        (
            lambda d: replace(d, record=replace(d.record, is_paired=False)),
            {"gaps", "levels", "residuals"},
        ),
        (lambda d: replace(d, record=replace(d.record, label="Other words")), set()),
    ],
    ids=["documents", "queries", "qrels", "groups", "design", "label"],
)
def test_what_depends_on_a_change_is_redone(bench, change, expected):
    toy = toy_dataset()
    bench.build(toy)
    before = bench.times()
    assert bench.build(change(toy)) == bool(expected)
    found = rewritten(bench, before)
    assert found == expected
    assert not bench.build(change(toy))


def test_a_text_already_known_is_not_encoded_again(bench):
    toy = toy_dataset()
    bench.build(toy)
    first = list(bench.encoder.seen)
    assert len(first) == len(set(first))
    one_more = changed(toy, "documents", text=["new text", *toy.documents["text"][1:]])
    bench.build(one_more)
    assert bench.encoder.seen[len(first) :] == ["new text"]
    # Nor when everything is forced: vectors are kept by the text they are of.
    bench.build(one_more, force=True)
    assert len(bench.encoder.seen) == len(first) + 1


def test_stored_vectors_serve_where_the_cache_is_gone(bench):
    """As on a fresh clone, which has the shipped vectors and no cache."""
    toy = toy_dataset()
    bench.build(toy)
    shutil.rmtree(bench.folder.path / "vectors")
    n = len(bench.encoder.seen)
    before = bench.folder.vectors("toy", "words", "document")
    one_more = changed(toy, "documents", text=["new text", *toy.documents["text"][1:]])
    bench.build(one_more)
    assert bench.encoder.seen[n:] == ["new text"]
    after = bench.folder.vectors("toy", "words", "document")
    assert (after.matrix[1:] == before.matrix[1:]).all()
    fresh = bench.load("words").encode(["new text"], prefix="")
    assert (after.matrix[0] == fresh[0]).all()


def test_stored_vectors_of_another_revision_and_forced_builds_encode_again(bench):
    bench.build(toy_dataset())
    n = len(bench.encoder.seen)
    for what in ({"force": True}, {}):
        shutil.rmtree(bench.folder.path / "vectors")
        if not what:
            bench.records["words"] = replace(bench.records["words"], revision="2")
        seen = len(bench.encoder.seen)
        assert bench.build(toy_dataset(), **what)
        assert len(bench.encoder.seen) == seen + n


def test_another_revision_of_a_model_is_another_model(bench):
    bench.build(toy_dataset())
    n, before = len(bench.encoder.seen), bench.times()
    bench.records["words"] = replace(bench.records["words"], revision="2")
    assert bench.build(toy_dataset())
    assert len(bench.encoder.seen) == 2 * n
    assert rewritten(bench, before) >= {"embeddings", "runs", "gold_ranks"}


def test_force_redoes_everything(bench, monkeypatch):
    bench.build(toy_dataset(), "words", "by-hand")
    before = bench.times()
    done = []
    steps = (
        *((runs, "retrieve"), (metrics, "measure"), (audit, "gaps")),
        *((fits, "vocabulary"), (fits, "residuals")),
    )
    for module, name in steps:
        original = getattr(module, name)

        def noted(*args, _original=original, _name=name, **options):
            done.append(_name)
            return _original(*args, **options)

        monkeypatch.setattr(module, name, noted)
    assert bench.build(toy_dataset(), "words", "by-hand", force=True)
    assert sorted(done) == [
        *("gaps", "measure", "measure", "residuals", "retrieve", "retrieve", "vocabulary")
    ]
    # The same came out, so no reader need notice.
    assert bench.times() == before


def test_changed_settings_change_what_follows_from_the_values_alone(bench, monkeypatch):
    bench.build(toy_dataset())
    before = bench.times()
    monkeypatch.setattr(audit, "PAPER", replace(QUICK, seed=7))
    assert bench.build(toy_dataset())
    # Residuals stand beside the gap's own interval, so they are made anew with it.
    assert rewritten(bench, before) == {"gaps", "levels", "residuals"}


def test_a_changed_metric_is_measured_anew(bench, monkeypatch):
    bench.build(toy_dataset())
    before = bench.times()
    monkeypatch.setattr(measuring, "source", lambda m: f"changed {m.__name__}")
    assert bench.build(toy_dataset())
    # The values came out the same, so that nothing after them was redone.
    assert rewritten(bench, before) == {"measurements"}


@pytest.mark.parametrize(
    ("written", "is_same"),
    [
        ("def f(x):\n    return x + 1\n", True),
        (
            '"""About."""\n\n\ndef f(x):\n    """Adds."""\n    # 1\n    return (x\n        + 1)\n',
            True,
        ),
        ("def f(x):\n    return x + 2\n", False),
        ("def g(x):\n    return x + 1\n", False),
        ('def f(x):\n    "Adds."\n    return "Adds."\n', False),
    ],
)
def test_only_what_code_does_makes_results_anew(written, is_same):
    first = steps.digest('def f(x):\n    """Add one."""\n    return x + 1\n')
    assert (steps.digest(written) == first) == is_same


# Nothing is mitigated in the ten documents.
@pytest.mark.parametrize("step", [step for step in build.STEPS if step != "mitigations"])
def test_a_raised_step_number_redoes_the_step(bench, monkeypatch, step):
    bench.build(toy_dataset())
    before = bench.times()
    monkeypatch.setitem(build.STEPS, step, build.STEPS[step] + 1)
    assert bench.build(toy_dataset())
    assert step in rewritten(bench, before)


def test_gaps_cover_retrievers_built_at_another_time(bench):
    bench.build(toy_dataset(), "words")
    assert set(bench.folder.read("gaps", "toy")["retriever"]) == {"words"}
    bench.build(toy_dataset(), "by-hand")
    assert set(bench.folder.read("gaps", "toy")["retriever"]) == {"words", "by-hand"}
    runs_before = bench.times()["runs/toy--words.parquet"]
    bench.build(toy_dataset(), "words")
    assert bench.times()["runs/toy--words.parquet"] == runs_before


def test_stored_vectors_rank_as_fresh_ones_do(bench):
    toy = toy_dataset()
    # Documents in another order than their ids, as files have them.
    shuffled = replace(toy, documents=toy.documents.sample(frac=1, random_state=1))
    bench.build(shuffled)
    stored = bench.folder.read("runs", "toy", "words")
    fresh = bench.load("words")
    fresh.index(toy.documents)
    for _, query in toy.queries.iterrows():
        ranking = fresh.search([query["text"]], k=100, exclude=[query["source_doc_ids"]])[0]
        mine = stored[stored["query_id"] == query["query_id"]]
        assert mine["doc_id"].tolist() == ranking.doc_ids
        assert mine["score"].to_numpy() == pytest.approx(ranking.scores, abs=1e-7)


def test_cut_texts_are_marked(bench):
    bench.build(toy_dataset())
    documents = bench.folder.vectors("toy", "words", "document")
    # The fake reads three tokens; d10 has four.
    assert [i for i, cut in zip(documents.ids, documents.truncated, strict=True) if cut] == ["d10"]


def test_a_query_nothing_matches_has_no_rows_and_a_lean_of_none(bench):
    bench.build(toy_dataset(), "by-hand")
    runs = bench.folder.read("runs", "toy", "by-hand")
    assert "c2/neutral" not in set(runs["query_id"])
    measured = bench.folder.read("measurements", "toy", "by-hand")
    lean = measured[measured["query_id"] == "c2/neutral"]
    assert (lean["value"] == 0).all()


def test_a_corpus_in_which_nothing_matches_is_built_all_the_same(bench, monkeypatch):
    monkeypatch.setattr(bench, "load", lambda name, models=None: HandScored({}))
    monkeypatch.setattr(retrieving, "load", bench.load)
    assert bench.build(toy_dataset(), "by-hand")
    assert len(bench.folder.read("runs", "toy", "by-hand")) == 0
    gaps = bench.folder.read("gaps", "toy")
    assert (gaps.loc[gaps["filter"] == "raw", "estimate"] == 0).all()
    assert gaps["note"].notna().all()


def test_a_dataset_without_groups_has_levels_and_no_gaps(bench):
    toy = toy_dataset()
    ungrouped = replace(
        changed(toy, "queries", group=None),
        record=replace(toy.record, minuend=None, subtrahend=None, is_paired=False),
    )
    assert bench.build(ungrouped)
    assert len(bench.folder.read("gaps", "toy")) == 0
    with pytest.raises(NothingStored):
        bench.folder.read("residuals", "toy")
    assert set(bench.folder.read("levels", "toy", "words")["group"]) == {"all"}
    assert not bench.build(ungrouped)


def test_no_retrievers_make_nothing(bench):
    build.save_dataset(bench.folder, toy_dataset(), inputs={})
    assert not build.build_dataset(bench.folder, toy_dataset(), [])
    assert bench.times() == {}
    with pytest.raises(NothingStored):
        bench.folder.read("gaps", "toy")


def test_a_dataset_is_there_when_its_record_is(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    order = []
    write = folder.write
    monkeypatch.setattr(
        folder, "write", lambda table, *a, **k: order.append(table) or write(table, *a, **k)
    )
    build.save_dataset(folder, toy_dataset(), inputs={"from": "here"})
    assert order[-1] == "datasets"
    assert set(order) == {"documents", "queries", "qrels", "datasets"}
    assert folder.is_current("queries", "toy", inputs={"from": "here"})
    with pytest.raises(NothingStored):
        build.read_dataset(folder, "other")


def test_progress_counts_every_item_once(bench):
    counted: dict[str, list[int]] = {}

    @contextmanager
    def progress(title: str, total: int) -> Iterator[object]:
        counted[title] = [total, 0]

        def advance(n: int) -> None:
            counted[title][1] += n

        yield advance

    toy = toy_dataset()
    bench.build(toy, "words", "by-hand", progress=progress)
    # Two kinds of vectors, two rankings, the gaps, what remains of them, the pairing check,
    # the overlaps.
    assert len(counted) == 8
    assert all(total == done for total, done in counted.values())
    assert sorted(total for total, _ in counted.values()) == [1, 1, 2, 3, 9, 9, 9, 10]
    assert all(title.startswith("toy: ") for title in counted)


def test_results_depend_on_nothing_but_the_inputs(tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "PAPER", QUICK)
    contents = []
    for name, order in (("a", ("words", "by-hand")), ("b", ("by-hand", "words"))):
        bench = Bench(Folder(tmp_path / name))
        monkeypatch.setattr(retrieving, "load", bench.load)
        bench.build(toy_dataset(), *order)
        contents.append(
            {
                (table, retriever): bench.folder.content(table, "toy", retriever)
                for table in PER_RETRIEVER
                for retriever in bench.folder.retrievers(table, "toy")
            }
            | {(table, None): bench.folder.content(table, "toy") for table in ("gaps", *VOCABULARY)}
        )
    assert contents[0] == contents[1]


def test_results_of_what_a_dataset_was_before_do_not_stand_beside_new_ones(bench):
    bench.build(toy_dataset(), "words", "by-hand")
    other = changed(toy_dataset(), "documents", text=toy_dataset().documents["text"] + " tax")
    bench.build(other, "words")
    gaps = bench.folder.read("gaps", other.record.name)
    assert set(gaps["retriever"]) == {"words"}
    assert bench.folder.retrievers("runs", other.record.name) == ["words"]
