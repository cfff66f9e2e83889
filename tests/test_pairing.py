"""The pairing check: cosines by hand, the draws of the release, and its summary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, TOY

from biasret import pairing
from biasret.datasets.base import DatasetRecord
from biasret.precomputed import Vectors
from biasret.statistics import cluster_bootstrap_median, wilcoxon_greater

SEED = 42


def queries(clusters: list[str], *, groups: tuple[str, ...] = ("left", "right")) -> pd.DataFrame:
    """One cell a cluster name given, in this order."""
    return pd.DataFrame(
        [
            {"query_id": f"c{i}/{g}", "group": g, "cell_id": f"c{i}", "cluster_id": cluster}
            for i, cluster in enumerate(clusters)
            for g in groups
        ]
    )


def vectors(asked: pd.DataFrame, seed: int = 0, width: int = 4) -> Vectors:
    matrix = np.random.default_rng(seed).normal(size=(len(asked), width))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return stored(asked["query_id"].tolist(), matrix)


def stored(ids: list[str], matrix: np.ndarray) -> Vectors:
    n = len(ids)
    return Vectors(ids, np.asarray(matrix, dtype=np.float32), [""] * n, np.zeros(n, dtype=bool))


def made(asked: pd.DataFrame, found: Vectors, record: DatasetRecord = TOY) -> pd.DataFrame:
    return pairing.pairing(asked, record, found, retriever="words")


class TestByHand:
    """Two cells of article s, one of article t; unit vectors in the plane.

    c0: left (1, 0), right (0.6, 0.8); c1: left (0, 1), right (1, 0); c2: left (0.8, 0.6),
    right (0, 1).
    """

    asked = queries(["s", "s", "t"])
    matrix = ((1, 0), (0.6, 0.8), (0, 1), (1, 0), (0.8, 0.6), (0, 1))

    def table(self) -> pd.DataFrame:
        return made(self.asked, stored(self.asked["query_id"].tolist(), np.array(self.matrix)))

    def test_own_pair(self):
        # left times right: 0.6; 0; 0.6.
        assert self.table()["within_cell"].tolist() == pytest.approx([0.6, 0.0, 0.6])

    def test_same_article(self):
        found = self.table()
        # c0 left times c1 right: 1; c1 left times c0 right: 0.8; c2 has no sibling.
        assert found["cross_frame"].tolist()[:2] == pytest.approx([1.0, 0.8])
        assert np.isnan(found["cross_frame"][2])
        assert found["has_sibling"].tolist() == [True, True, False]

    def test_other_article(self):
        # c0 and c1 have c2 alone: 0 and 1; c2 has both others: mean of 0.8 * 0.6 + 0.6 * 0.8
        # = 0.96 and 0.8.
        assert self.table()["cross_article"].tolist() == pytest.approx([0.0, 1.0, 0.88])

    def test_several_wordings_count_with_their_mean(self):
        extra = pd.DataFrame(
            [{"query_id": "c0/left2", "group": "left", "cell_id": "c0", "cluster_id": "s"}]
        )
        asked = pd.concat([self.asked, extra], ignore_index=True)
        found = made(asked, stored(asked["query_id"].tolist(), np.array([*self.matrix, (0, 1)])))
        # c0's own: mean of 0.6 and 0.8; with c1's right (1, 0): mean of 1 and 0.
        assert found["within_cell"][0] == pytest.approx(0.7)
        assert found["cross_frame"][0] == pytest.approx(0.5)


class TestDraws:
    def test_they_are_the_releases_draw_for_draw(self):
        """Written a second time, plainly: all draws of scheme 2 come before those of 3."""
        clusters = ["s0"] * 8 + ["s1"] * 3 + ["s2"] + [f"t{i // 2}" for i in range(30)]
        asked = queries(clusters)
        found = vectors(asked)
        left, right = found.matrix[0::2].astype(float), found.matrix[1::2].astype(float)
        names = np.array(clusters)
        rng = np.random.default_rng(SEED)
        second, third = [], []
        for at in range(len(clusters)):
            siblings = [i for i in range(len(clusters)) if names[i] == names[at] and i != at]
            if not siblings:
                second.append(np.nan)
                continue
            size = min(5, len(siblings))
            drawn = rng.choice(siblings, size=size, replace=len(siblings) < 5)
            second.append(np.mean([left[at] @ right[i] for i in drawn]))
        for at in range(len(clusters)):
            drawn = rng.choice(len(clusters), size=20, replace=False)
            kept = [i for i in drawn if names[i] != names[at]][:5]
            assert len(kept) == 5
            third.append(np.mean([left[at] @ right[i] for i in kept]))
        table = made(asked, found)
        np.testing.assert_allclose(table["cross_frame"], second, atol=1e-12)
        np.testing.assert_allclose(table["cross_article"], third, atol=1e-12)

    def test_five_are_drawn_again_where_fewer_remain(self):
        clusters = ["big"] * 60 + [f"t{i}" for i in range(6)]
        asked = queries(clusters)
        found = vectors(asked)
        elsewhere = found.matrix[1::2][60:].astype(float)
        table = made(asked, found)
        left = found.matrix[0::2].astype(float)
        for at in range(60):
            of_each = left[at] @ elsewhere.T
            # The mean of five of six: all but one.
            options = (of_each.sum() - of_each) / 5
            assert np.abs(options - table["cross_article"][at]).min() < 1e-12

    def test_one_cluster_has_no_other(self):
        table = made(queries(["s"] * 6), vectors(queries(["s"] * 6)))
        assert table["cross_article"].isna().all()
        assert table["cross_frame"].notna().all()

    def test_it_is_the_same_each_time_and_ids_do_not_matter(self):
        asked = queries(["s", "s", "t", "t", "u"])
        one = made(asked, vectors(asked))
        pd.testing.assert_frame_equal(one, made(asked, vectors(asked)))
        renamed = asked.assign(query_id="x" + asked["query_id"], cell_id="z" + asked["cell_id"])
        other = made(renamed, vectors(renamed))
        columns = ["within_cell", "cross_frame", "cross_article"]
        pd.testing.assert_frame_equal(one[columns], other[columns])

    def test_order_of_vectors_does_not_matter(self):
        asked = queries(["s", "s", "t", "t", "u"])
        found = vectors(asked)
        order = np.random.default_rng(1).permutation(len(asked))
        mixed = stored([found.ids[i] for i in order], found.matrix[order])
        pd.testing.assert_frame_equal(made(asked, found), made(asked, mixed))

    def test_cells_with_one_group_are_left_out(self):
        asked = queries(["s", "s", "t"]).query("query_id != 'c1/right'").reset_index(drop=True)
        table = made(asked, vectors(asked))
        assert table["cell_id"].tolist() == ["c0", "c2"]
        assert not table["has_sibling"].any()


class TestSummary:
    asked = queries([f"s{i // 3}" for i in range(30)])

    def cosines(self) -> pd.DataFrame:
        table = made(self.asked, vectors(self.asked))
        rng = np.random.default_rng(5)
        return table.assign(
            within_cell=0.8 + 0.01 * rng.normal(size=30),
            cross_frame=0.6 + 0.01 * rng.normal(size=30),
        )

    def test_numbers_are_those_of_the_statistics(self):
        cosines = self.cosines()
        rows = pairing.pairing_summary(cosines, self.asked, settings=QUICK).set_index("scheme")
        assert list(rows.index) == list(pairing.SCHEMES)
        row = rows.loc["cross_frame"]
        gaps = cosines["within_cell"] - cosines["cross_frame"]
        assert row["median_gap"] == pytest.approx(np.median(gaps))
        clusters = [f"s{i // 3}" for i in range(30)]
        interval = cluster_bootstrap_median(gaps, clusters=clusters, resamples=200, rng=43)
        assert (row["gap_low"], row["gap_high"]) == (interval.low, interval.high)
        test = wilcoxon_greater(gaps)
        assert (row["statistic"], row["p_value"]) == (test.statistic, test.p_value)
        assert row["statistic"] == 30 * 31 / 2
        assert (row["q1"], row["median"], row["q3"]) == pytest.approx(
            tuple(np.percentile(cosines["cross_frame"], [25, 50, 75]))
        )
        assert (row["n"], row["n_clusters"]) == (30, 10)
        assert np.isnan(rows.loc["within_cell", "p_value"])
        assert rows["p_holm"].max() >= rows["p_value"].max()

    def test_the_other_way_round_is_no_evidence(self):
        swapped = self.cosines().rename(
            columns={"within_cell": "cross_frame", "cross_frame": "within_cell"}
        )
        rows = pairing.pairing_summary(swapped, self.asked, settings=QUICK).set_index("scheme")
        assert rows.loc["cross_frame", "p_value"] == 1.0
        assert rows.loc["cross_frame", "median_gap"] < -0.15

    def test_a_scheme_without_cells_keeps_its_row(self):
        asked = queries([f"s{i}" for i in range(8)])
        rows = pairing.pairing_summary(made(asked, vectors(asked)), asked, settings=QUICK)
        row = rows.set_index("scheme").loc["cross_frame"]
        assert row["n"] == 0
        assert row[["mean", "median", "median_gap", "p_value"]].isna().all()
        assert row["note"] == "no values"


def test_the_published_statistic_counts_every_rank():
    """W of Fig. 5 is the rank sum of positive differences: all 3,723 are positive there."""
    from biasret import published

    numbers = published.load().query("exhibit == 'fig05_tests' and item == 'cross_article'")
    w = numbers.loc[numbers["quantity"] == "wilcoxon_w", "value"]
    assert (w == 3_723 * 3_724 / 2).all()
    assert wilcoxon_greater(np.arange(1.0, 3_724)).statistic == w.iloc[0]


class TestBuild:
    def test_it_is_made_once_and_again_when_forced(self, stored):
        from biasret.build import read_dataset

        folder = stored.folder
        toy = read_dataset(folder, "toy")
        # Vectors whose texts are not known to be the present ones are not used.
        assert not pairing.build_pairing(folder, toy)
        kinds = {"query": folder.vectors("toy", "words", "query")}
        inputs = {"queries": folder.content("queries", "toy")}
        folder.write_vectors(kinds, dataset="toy", retriever="words", inputs=inputs)
        assert pairing.build_pairing(folder, toy)
        table = folder.read("pairing", "toy", "words")
        # tax school against tax border: one word of two shared.
        assert table["within_cell"].tolist() == pytest.approx([0.5, 0.5, 0.0])
        assert not pairing.build_pairing(folder, toy)
        assert pairing.build_pairing(folder, toy, force=True)
        summary = folder.read("pairing_summary", "toy")
        assert summary.loc[summary["scheme"] == "cross_frame", "n"].tolist() == [0]

    def test_unpaired_datasets_have_none(self, stored):
        from dataclasses import replace

        from biasret.build import read_dataset

        folder = stored.folder
        toy = read_dataset(folder, "toy")
        kinds = {"query": folder.vectors("toy", "words", "query")}
        inputs = {"queries": folder.content("queries", "toy")}
        folder.write_vectors(kinds, dataset="toy", retriever="words", inputs=inputs)
        assert pairing.build_pairing(folder, toy)
        unpaired = replace(toy, record=replace(toy.record, is_paired=False))
        assert not pairing.build_pairing(folder, unpaired)
        # What was made while the dataset was paired is gone.
        assert not folder.files("pairing_summary")
        assert not folder.files("pairing")
