"""Probes of layers: splits, scores with known answers, resume, and the published curves."""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, TOY, record_of

from biasret import probes, published
from biasret.datasets.base import Dataset, DatasetRecord
from biasret.errors import InputError
from biasret.precomputed import Folder
from biasret.probes import BASELINE, CONDITIONAL, NORMAL
from biasret.retrievers import RETRIEVERS, available, load
from biasret.retrievers.dense import Dense
from biasret.retrievers.layers import layer_states
from biasret.statistics import stable_seed

DIALECT = DatasetRecord(
    name="rewritten",
    label="Rewritten",
    about="Made for tests",
    signal="dialect",
    is_paired=True,
    is_illustrative=True,
    minuend="WME",
    subtrahend="AAL",
)


def lean_queries(n_cells: int = 30, *, a_cluster: int = 3) -> pd.DataFrame:
    """Cells of left, neutral and right wordings, three cells an article."""
    return pd.DataFrame(
        [
            {
                "query_id": f"c{i:02d}/{group}",
                "text": f"{group} wording of cell {i}",
                "group": group,
                "variant": group,
                "cell_id": f"c{i:02d}",
                "cluster_id": f"s{i // a_cluster:02d}",
                "origin": "written",
            }
            for i in range(n_cells)
            for group in ("left", "neutral", "right")
        ]
    )


def dialect_queries(n_cells: int = 20) -> pd.DataFrame:
    """Cells of one WME wording and three AAL rewrites; the third is missing from cell 0."""
    return pd.DataFrame(
        [
            {
                "query_id": f"c{i:02d}/{variant}",
                "text": f"{variant} wording of cell {i}",
                "group": variant.split()[0],
                "variant": variant,
                "cell_id": f"c{i:02d}",
                "cluster_id": f"c{i:02d}",
                "origin": "written",
            }
            for i in range(n_cells)
            for variant in ("WME", "AAL 1", "AAL 2", "AAL 3")
            if not (i == 0 and variant == "AAL 3")
        ]
    )


def lean_rows() -> pd.DataFrame:
    return probes.probed(lean_queries(), TOY)


class TestRows:
    def test_neutral_wordings_are_left_out_and_the_order_is_kept(self):
        rows = lean_rows()
        assert len(rows) == 60
        assert set(rows["group"]) == {"left", "right"}
        assert rows["query_id"].tolist()[:3] == ["c00/left", "c00/right", "c01/left"]

    @pytest.mark.parametrize(
        ("groups", "words"), [((None, None), "labels none"), (("up", "left"), "'up'")]
    )
    def test_a_dataset_without_two_groups_is_refused(self, groups, words):
        record = DatasetRecord("d", "D", "", "lean", True, True, *groups)
        with pytest.raises(InputError, match=words):
            probes.probed(lean_queries(), record)


class TestSplits:
    def test_the_papers_folds_are_those_of_kfold_over_rows(self):
        from sklearn.model_selection import KFold

        rows = lean_rows()
        found = probes.splits(rows, TOY, rule="paper")
        expected = KFold(5, shuffle=True, random_state=42).split(np.zeros(len(rows)))
        for split, (train, test) in zip(found, expected, strict=True):
            assert split.train.tolist() == train.tolist()
            assert split.test.tolist() == test.tolist()
        assert [split.name for split in found] == list("12345")

    def test_the_papers_rewrites_are_stacked_on_the_originals_and_shuffled(self):
        rows = probes.probed(dialect_queries(), DIALECT)
        first, _, third = probes.splits(rows, DIALECT, rule="paper")
        assert (first.name, third.name) == ("AAL 1", "AAL 3")
        stacked = [f"c{i:02d}/{variant}" for variant in ("AAL 1", "WME") for i in range(20)]
        seed = stable_seed("rewritten", "AAL 1", base=42)
        order = np.random.default_rng(seed).permutation(40)
        expected = [stacked[i] for i in order]
        assert rows["query_id"].iloc[first.train].tolist() == expected[:32]
        assert rows["query_id"].iloc[first.test].tolist() == expected[32:]
        # Cell 0 has no third rewrite, so neither wording of it is in the third split.
        used = rows["cell_id"].iloc[np.concatenate([third.train, third.test])]
        assert len(used) == 38
        assert "c00" not in set(used)

    @pytest.mark.parametrize("kind", ["lean", "dialect"])
    def test_sources_kept_whole_are_never_on_both_sides(self, kind):
        record = TOY if kind == "lean" else DIALECT
        queries = lean_queries() if kind == "lean" else dialect_queries()
        rows = probes.probed(queries, record)
        tested: list[int] = []
        for split in probes.splits(rows, record, rule="grouped"):
            sides = [set(rows["cluster_id"].iloc[at]) for at in (split.train, split.test)]
            assert not sides[0] & sides[1]
            assert not set(split.train) & set(split.test)
            tested += split.test.tolist()
        if kind == "lean":
            assert sorted(tested) == list(range(60))

    def test_the_papers_splits_do_straddle(self):
        rows = lean_rows()
        split = probes.splits(rows, TOY, rule="paper")[0]
        assert set(rows["cluster_id"].iloc[split.train]) & set(rows["cluster_id"].iloc[split.test])

    def test_sources_kept_whole_do_not_depend_on_the_order_of_rows(self):
        rows = lean_rows()
        mixed = rows.sample(frac=1, random_state=1).reset_index(drop=True)
        for one, other in zip(
            probes.splits(rows, TOY, rule="grouped"),
            probes.splits(mixed, TOY, rule="grouped"),
            strict=True,
        ):
            assert set(rows["query_id"].iloc[one.test]) == set(mixed["query_id"].iloc[other.test])

    @pytest.mark.parametrize("rule", list(probes.SPLIT_RULES))
    def test_too_few_questions_are_refused(self, rule):
        rows = probes.probed(lean_queries(2, a_cluster=1), TOY)
        with pytest.raises(InputError, match="5 folds need at least 5"):
            probes.splits(rows, TOY, rule=rule)

    def test_a_part_without_one_group_is_refused(self):
        rows = lean_rows()
        rows.loc[1:, "group"] = "right"
        with pytest.raises(InputError, match="too few to be split"):
            probes.splits(rows, TOY, rule="paper")


class TestFit:
    rng = np.random.default_rng(7)

    def test_separable_groups_score_one(self):
        labels = np.arange(200) % 2
        states = self.rng.normal(size=(200, 5))
        states[:, 2] += 20 * labels
        found = probes.fit(states[:150], labels[:150], states[150:], labels[150:])
        assert (found.accuracy, found.f1) == (1.0, 1.0)
        assert -0.05 < found.nce <= 0

    def test_shuffled_labels_score_chance(self):
        rng = np.random.default_rng(3)
        labels = rng.integers(0, 2, 4_000)
        states = rng.normal(size=(4_000, 5))
        found = probes.fit(states[:2_000], labels[:2_000], states[2_000:], labels[2_000:])
        # Standard error of an accuracy of one half over 2,000 rows: 0.011.
        assert found.accuracy == pytest.approx(0.5, abs=0.045)
        assert found.nce == pytest.approx(-np.log(2), abs=0.01)

    def test_scores_by_hand(self):
        """A constant column is no evidence: the probe gives the train part's share."""
        train, test = np.zeros((4, 1)), np.zeros((5, 1))
        found = probes.fit(train, np.array([1, 1, 1, 0]), test, np.array([1, 1, 0, 0, 0]))
        # Every row gets chance 3/4 and is called positive.
        assert found.accuracy == pytest.approx(2 / 5)
        assert found.f1 == pytest.approx(2 * (2 / 5) * 1 / (2 / 5 + 1))
        assert found.nce == pytest.approx((2 * np.log(3 / 4) + 3 * np.log(1 / 4)) / 5, abs=1e-3)

    def test_scale_of_a_column_does_not_matter(self):
        labels = np.arange(120) % 2
        states = self.rng.normal(size=(120, 3)) + labels[:, None]
        parts = (states[:80], labels[:80], states[80:], labels[80:])
        scaled = (parts[0] * [1, 1e4, 1e-4], parts[1], parts[2] * [1, 1e4, 1e-4], parts[3])
        one, other = probes.fit(*parts), probes.fit(*scaled)
        assert (one.accuracy, one.f1) == (other.accuracy, other.f1)
        assert one.nce == pytest.approx(other.nce, abs=1e-6)

    def test_f1_is_missing_where_nothing_is_positive(self):
        states = np.array([[0.0], [0.1], [9.0], [9.1]])
        found = probes.fit(states, np.array([0, 0, 1, 1]), states[:2], np.array([0, 0]))
        assert np.isnan(found.f1)
        assert found.accuracy == 1.0


def toy_scores(**options: object) -> pd.DataFrame:
    """Layer 0 knows nothing, layer 1 half of the answer, layer 2 the other half."""
    rows = lean_rows()
    label = (rows["group"] == "left").to_numpy()
    rng = np.random.default_rng(0)
    half = rng.random(len(rows)) < 0.5
    noise = rng.normal(size=(3, len(rows), 2)) * 0.01
    known = [np.zeros(len(rows)), label * half * 1.0, label * 1.0]
    states = [noise[i] + known[i][:, None] for i in range(3)]
    settings = {"retriever": "toy", "layers": range(3), "rules": ["grouped"], **options}
    return probes.probe_scores(lambda layer: states[layer], rows, TOY, **settings)


class TestScores:
    def test_one_row_for_each_probe_and_split(self):
        found = toy_scores()
        assert len(found) == 5 * (1 + 2 * 3)
        assert found.loc[found["kind"] == BASELINE, "layer"].isna().all()
        assert (found["n_train"] + found["n_test"] == 60).all()
        assert (found["n_shared"] == 0).all()
        assert (toy_scores(rules=["paper"])["n_shared"] > 0).all()

    def test_the_baseline_is_the_probe_of_the_input(self):
        found = toy_scores()
        first = found[(found["kind"] == NORMAL) & (found["layer"] == 0)]
        baseline = found[found["kind"] == BASELINE]
        assert first["nce"].tolist() == baseline["nce"].tolist()

    def test_a_layer_that_knows_more_has_more_information(self):
        lines = probes.curves(toy_scores()).set_index("layer")
        assert lines["f1"].is_monotonic_increasing
        assert lines.loc[2, "f1"] == 1.0
        assert lines["v_information"].is_monotonic_increasing
        assert abs(lines.loc[0, "v_information"]) < 0.02
        assert lines.loc[2, "v_information"] > 0.5
        assert lines["depth"].tolist() == pytest.approx([0, 1 / 3, 2 / 3])

    def test_the_conditional_probe_sees_layer_and_input(self):
        """The label is the layer minus the input: either block alone hides it."""
        rows = probes.probed(lean_queries(300), TOY)
        label = (rows["group"] == "left").to_numpy(dtype=float)
        shift = np.random.default_rng(1).normal(size=len(rows)) * 2
        states = {0: shift[:, None], 1: (label + shift)[:, None]}
        found = probes.probe_scores(
            states.__getitem__, rows, TOY, retriever="toy", layers=[1], rules=["grouped"]
        )
        mean = found.groupby("kind")["accuracy"].mean()
        assert mean[CONDITIONAL] > 0.97
        assert mean[NORMAL] < 0.7
        assert mean[BASELINE] < 0.7

    def test_naming_the_other_group_positive_changes_no_accuracy(self):
        swapped = DatasetRecord("toy", "T", "", "lean", True, True, "left", "right")
        rows = lean_rows()
        states = np.random.default_rng(2).normal(size=(60, 4))
        states += 0.5 * (rows["group"] == "left").to_numpy()[:, None]
        settings = {"retriever": "toy", "layers": [0], "rules": ["grouped"]}
        one = probes.probe_scores(lambda _: states, rows, TOY, **settings)
        other = probes.probe_scores(lambda _: states, rows, swapped, **settings)
        assert one["accuracy"].tolist() == other["accuracy"].tolist()
        assert one["nce"].tolist() == pytest.approx(other["nce"].tolist(), abs=1e-6)

    def test_fits_known_before_are_not_made_again(self):
        kept: dict = {}
        whole = toy_scores(keep=kept.__setitem__)
        half = dict(list(kept.items())[:17])
        again: list = []
        found = toy_scores(known=half, keep=lambda key, _: again.append(key))
        pd.testing.assert_frame_equal(found, whole)
        assert set(again) == set(kept) - set(half)

    def test_one_split_has_no_band(self):
        lines = probes.curves(toy_scores().query("split == '1'"))
        assert lines[["f1_low", "f1_high", "v_low", "v_high"]].isna().all(axis=None)


class TestPublished:
    def test_curves_are_the_means_of_the_released_scores(self):
        scores = published.load("probe_scores")
        named = scores.rename(columns={"probe": "kind"}).assign(split_rule="paper")
        lines = probes.curves(named)
        assert len(lines) == 2 * (24 + 36 + 32 + 36)
        for row in lines.sample(40, random_state=0).itertuples():
            part = scores[
                (scores["dataset"] == row.dataset) & (scores["retriever"] == row.retriever)
            ]
            at = part[part["layer"] == row.layer]
            normal = at.loc[at["probe"] == "normal", "f1"]
            assert row.f1 == pytest.approx(normal.mean(), abs=1e-12)
            half = 1.96 * normal.std(ddof=1) / np.sqrt(len(normal))
            assert row.f1_high - row.f1 == pytest.approx(half, abs=1e-12)
            seen = at.loc[at["probe"] == "conditional", "nce"].mean()
            base = part.loc[part["probe"] == "baseline", "nce"].mean()
            assert row.v_information == pytest.approx(seen - base, abs=1e-12, nan_ok=True)

    def test_they_are_the_means_of_the_source_file(self, shared):
        source = pd.read_csv(shared / "paper" / "per_query" / "probe_scores.csv")
        lines = probes.curves(
            published.load("probe_scores")
            .rename(columns={"probe": "kind"})
            .assign(split_rule="paper")
        )
        expected = source[source["source"] == "normal"].groupby(["ds_name", "model", "layer"])["f1"]
        found = lines.set_index(["dataset", "retriever", "layer"])["f1"]
        for key, mean in expected.mean().items():
            assert found[key] == pytest.approx(mean, abs=1e-12)


class LayeredWords:
    """An encoder of three layers that can be told to fail after so many batches."""

    def __init__(self, batches: int | None = None) -> None:
        self.left = batches

    def encode(self, texts, *, prefix=""):
        return np.ones((len(texts), 4), dtype=np.float32)

    def count_tokens(self, texts, *, prefix=""):
        return np.array([len(text.split()) for text in texts], dtype=np.int64)

    def prompts(self):
        return {}

    def layers(self, texts, *, prefix):
        if self.left == 0:
            raise KeyboardInterrupt
        if self.left is not None:
            self.left -= 1
        rows = [[len(t), "left" in t, t.count("1"), sum(map(ord, t)) % 7] for t in texts]
        first = np.array(rows, dtype=np.float32)
        return np.stack([first * (layer + 1) for layer in range(4)])


def words(batches: int | None = None) -> Dense:
    return Dense(record_of("layered", dimension=4, batch=2), lambda: LayeredWords(batches))


class TestStates:
    texts = tuple(f"text {'x' * (i % 7)} {i}" for i in range(45))

    def test_each_text_keeps_its_place(self, tmp_path):
        states = layer_states(words(), self.texts, prefix="", root=tmp_path)
        assert states.n_layers == 3
        assert states.read(0)[:, 0].tolist() == [len(text) for text in self.texts]
        assert states.read(2)[:, 0].tolist() == [3 * len(text) for text in self.texts]
        assert states.read(1).dtype == np.float64

    def test_a_killed_run_goes_on_and_gives_the_same(self, tmp_path):
        whole = layer_states(words(), self.texts, prefix="", root=tmp_path / "whole")
        with pytest.raises(KeyboardInterrupt):
            layer_states(words(11), self.texts, prefix="", root=tmp_path / "cut")
        done: list[int] = []
        # 45 texts are 23 batches, of which 8 were marked as done.
        rest = layer_states(
            words(15), self.texts, prefix="", root=tmp_path / "cut", progress=done.append
        )
        assert done[0] == 16
        assert sum(done) == 45
        for layer in range(4):
            assert (rest.read(layer) == whole.read(layer)).all()
        layer_states(words(0), self.texts, prefix="", root=tmp_path / "cut")

    def test_other_texts_or_prefixes_have_their_own_folder(self, tmp_path):
        made = [
            layer_states(words(), texts, prefix=prefix, root=tmp_path).folder
            for texts, prefix in ((self.texts, ""), (self.texts[:9], ""), (self.texts, "q: "))
        ]
        assert len(set(made)) == 3

    def test_what_float16_cannot_hold_reads_as_zero(self, tmp_path):
        class Huge(LayeredWords):
            def layers(self, texts, *, prefix):
                states = np.ones((2, len(texts), 2), dtype=np.float32)
                states[1, :, 0] = 1e9
                states[1, :, 1] = np.nan
                return states

        huge = Dense(record_of("huge", dimension=4), Huge)
        states = layer_states(huge, self.texts, prefix="", root=tmp_path)
        assert (states.read(1) == 0).all()
        assert (states.read(0) == 1).all()

    def test_a_model_without_layers_says_so(self, tmp_path):
        from conftest import WordEncoder

        flat = Dense(record_of("flat", dimension=4), WordEncoder)
        with pytest.raises(InputError, match="shows no hidden states"):
            layer_states(flat, self.texts, prefix="", root=tmp_path)


def weights(name: str) -> Dense:
    if not available(RETRIEVERS[name]).is_available:
        pytest.skip(f"The weights of {name} are not installed; see requirements.txt.")
    models = PROJECT / "precomputed" / "models"
    retriever = load(name, models=models)
    assert isinstance(retriever, Dense)
    return retriever


@pytest.mark.parametrize(("name", "n_layers"), [("minilm-l6", 6), ("paraphrase-l3", 3)])
class TestModels:
    texts = ("How do taxes work?", "hi", "one two three " * 60)

    def test_the_last_states_are_what_the_model_pools(self, name, n_layers):
        retriever = weights(name)
        states = retriever.layers(self.texts, prefix="")
        assert states.shape == (n_layers + 1, 3, 384)
        assert states.dtype == np.float32
        last = states[-1] / np.linalg.norm(states[-1], axis=1, keepdims=True)
        cosines = (last * retriever.encode(self.texts, prefix="")).sum(axis=1)
        assert cosines == pytest.approx([1, 1, 1], abs=1e-5)

    def test_neighbours_in_a_batch_do_not_matter(self, name, n_layers):
        retriever = weights(name)
        together = retriever.layers(self.texts, prefix="")
        alone = retriever.layers(self.texts[1:2], prefix="")
        assert np.abs(together[:, 1] - alone[:, 0]).max() < 1e-5

    def test_the_input_layer_reads_no_context(self, name, n_layers):
        retriever = weights(name)
        one, other = retriever.layers(["dog bites man", "man bites dog"], prefix="").swapaxes(0, 1)
        # Order moves the input by position alone, a later layer by meaning as well.
        change = np.linalg.norm(one - other, axis=1) / np.linalg.norm(one, axis=1)
        assert change[0] < change[-1]


@contextmanager
def counted(title, total):
    TITLES.append((title, total))
    yield lambda _: None


TITLES: list = []


class TestMeasure:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        folder = Folder(tmp_path)
        dataset = Dataset.checked(
            TOY,
            documents=pd.DataFrame({"doc_id": ["d"], "text": ["x"]}),
            queries=lean_queries(),
            qrels=pd.DataFrame({"query_id": [], "doc_id": [], "judge": [], "grade": []}),
        )
        from biasret.build import save_dataset

        save_dataset(folder, dataset, inputs={})
        self.batches = None
        monkeypatch.setattr(probes.measure, "load", lambda name, models: words(self.batches))
        return folder, dataset

    def run(self, made, **options):
        folder, dataset = made
        settings = {"rules": ["grouped", "paper"], "progress": counted, **options}
        return probes.measure_layers(folder, dataset, "layered", **settings)

    def read(self, made):
        return made[0].read("probe_scores", "toy", "layered")

    def test_scores_are_put_in_place_once(self, folder):
        assert self.run(folder)
        found = self.read(folder)
        assert set(found["layer"].dropna()) == {0, 1, 2}
        assert len(found) == 2 * 5 * 7
        assert not self.run(folder)

    def test_wordings_that_are_not_probed_may_change(self, folder):
        made, dataset = folder
        self.run(folder)
        from dataclasses import replace

        from biasret.build import save_dataset

        is_neutral = dataset.queries["group"] == "neutral"
        others = replace(dataset, queries=dataset.queries[~is_neutral].reset_index(drop=True))
        save_dataset(made, others, inputs={})
        assert not self.run((made, others))
        texts = dataset.queries["text"].mask(~is_neutral, "left again")
        again = replace(dataset, queries=dataset.queries.assign(text=texts))
        save_dataset(made, again, inputs={})
        assert self.run((made, again))

    def test_a_rule_asked_for_later_joins_those_in_place(self, folder):
        self.run(folder, rules=["paper"])
        first = self.read(folder)
        assert self.run(folder)
        both = self.read(folder)
        pd.testing.assert_frame_equal(both[both["split_rule"] == "paper"], first)
        assert set(both["split_rule"]) == {"grouped", "paper"}

    def test_the_final_layer_is_probed_on_request(self, folder):
        self.run(folder)
        assert self.run(folder, is_final_included=True)
        assert self.read(folder)["layer"].max() == 3

    def test_a_killed_run_goes_on_and_gives_the_same_table(self, folder, monkeypatch):
        self.run(folder)
        whole = self.read(folder)
        made, _ = folder
        made.file("probe_scores", "toy", "layered").unlink()
        (journal,) = made.path.glob("states/*/fits-*.jsonl")
        lines = journal.read_text().splitlines()
        torn = [*lines[1:20], lines[20][:12]]
        journal.write_text("\n" + "\n".join(torn))
        fitted: list = []
        real = probes.fit
        monkeypatch.setattr(probes.fits, "fit", lambda *parts: fitted.append(1) or real(*parts))
        assert self.run(folder)
        pd.testing.assert_frame_equal(self.read(folder), whole)
        assert len(fitted) == 70 - 19
        assert json.loads(journal.read_text().splitlines()[-1])

    def test_a_lexical_retriever_is_refused(self, folder, monkeypatch):
        from biasret.retrievers import load as real

        monkeypatch.setattr(probes.measure, "load", lambda name, models: real("bm25"))
        with pytest.raises(InputError, match="has no layers"):
            self.run(folder)


class TestCommand:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch, capsys):
        from biasret import __main__ as cli
        from biasret.build import save_dataset

        queries = pd.DataFrame({"query_id": [], "doc_id": [], "judge": [], "grade": []})
        dataset = Dataset.checked(
            TOY,
            documents=pd.DataFrame({"doc_id": ["d"], "text": ["x"]}),
            queries=lean_queries(12, a_cluster=2),
            qrels=queries,
        )
        save_dataset(Folder(tmp_path), dataset, inputs={})
        monkeypatch.setenv("BIASRET_STORE", str(tmp_path))

        def command(*arguments: str) -> tuple[int, str, str]:
            code = cli.main(["layers", *arguments])
            return code, *capsys.readouterr()

        return command

    def test_it_probes_a_real_model_and_prints_one_document(self, run):
        weights("paraphrase-l3")
        arguments = ("--dataset", "toy", "--retriever", "paraphrase-l3", "--json")
        code, out, _ = run(*arguments)
        found = json.loads(out)
        assert code == 0
        assert found["changed"] == {"paraphrase-l3": True}
        assert [row["layer"] for row in found["curves"] if row["split_rule"] == "grouped"] == [
            0,
            1,
            2,
        ]
        # The words "left" and "right" stand in the texts themselves.
        assert min(row["f1"] for row in found["curves"]) > 0.9
        assert json.loads(run(*arguments)[1])["changed"] == {"paraphrase-l3": False}

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--dataset", "nowhere"), "Unknown dataset 'nowhere'"),
            (("--dataset", "toy", "--retriever", "bm25"), "no neural model"),
            (("--dataset", "toy", "--retriever", "minilm-l7"), "Did you mean 'minilm-l6'"),
        ],
    )
    def test_wrong_input_is_one_sentence_and_exit_code_2(self, run, arguments, words):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert "Traceback" not in err
