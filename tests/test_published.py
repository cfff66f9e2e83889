"""The shipped published numbers: contents, checks, Tables 12 and 13, and their sources."""

from __future__ import annotations

import csv
import hashlib
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasret import published, reproduction
from biasret.errors import FileError, UnknownName
from biasret.published import sources
from biasret.published.exhibits import RETRIEVERS
from biasret.reproduction import checks as rules
from biasret.reproduction import recomputed

PROJECT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("BIASRET_SHARED", PROJECT.parent / "shared"))

#: Rows of each exhibit, and the first digits of the SHA-256 of its rows as CSV.
CONTENTS = {
    "table03": (117, "5a2ce6da7ca0cc56"),
    "table04": (65, "7ade863f880fe382"),
    "table05": (21, "fcbccbba05cfc7c1"),
    "table06": (121, "b9c82368909439e1"),
    "table07": (90, "69528a4aeb56c07b"),
    "table08": (96, "be77f005cb089ebf"),
    "table10": (18, "a6d377e9cc0c96c0"),
    "table11": (90, "611ef93553b7a575"),
    "table12": (72, "f46188340b811253"),
    "table13": (84, "594dc242cd9b728a"),
    "table14": (114, "65f78805718c7081"),
    "table15": (167, "35be17bda9be31f6"),
    "table16": (174, "3f7e7cae419d3c3d"),
    "table17": (138, "304135a1f4f14dd0"),
    "table18": (180, "ff879be55bf08c65"),
    "fig03a": (24, "bc96659f34f26b08"),
    "fig03b": (24, "fec5a72566074c7e"),
    "fig04": (2068, "8f4e4012ec4fd562"),
    "fig05_means": (60, "555cc3149c28e972"),
    "fig05_quartiles": (75, "961d9a2782572b28"),
    "fig05_tests": (50, "695de44ef2de84e6"),
    "fig05_index": (9, "6f1e05d1eb822ef5"),
    "fig09a": (18, "b8c725834f009f9d"),
    "fig09b": (18, "4dd88183c761d530"),
    "fig10": (18, "773280b28fac7957"),
    "fig11": (18, "03a8aa2fbeb8dc7f"),
    "fig17_18_19": (11718, "c9de8b0313d37686"),
    "fig19": (24, "cb573997a9e7b261"),
    "judges": (12, "25a6f3330b557811"),
    "judges_by_retriever": (36, "9e8fae3937198b6f"),
    "scalars": (25, "c0e09e6e7c587ae1"),
}


def fingerprint(frame):
    text = frame.to_csv(
        index=False, lineterminator="\n", float_format=lambda value: repr(float(value))
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def numbers():
    return published.load()


@pytest.fixture(scope="module")
def ranks():
    return published.load("ranks")


@pytest.fixture(scope="module")
def probe_scores():
    return published.load("probe_scores")


@pytest.fixture(scope="module")
def checks():
    start = time.perf_counter()
    made = reproduction.check()
    return made, time.perf_counter() - start


@pytest.fixture(scope="module")
def source():
    folder = SHARED / "paper"
    if not folder.is_dir():
        pytest.skip(f"There are no source files at {folder}; set BIASRET_SHARED to compare them.")
    return folder


def release(numbers, exhibit):
    rows = numbers[(numbers["exhibit"] == exhibit) & (numbers["source"] == "release")]
    return rows.pivot(index="retriever", columns="quantity", values="value").loc[list(RETRIEVERS)]


class TestContents:
    def test_every_exhibit_is_as_shipped(self, numbers, ranks, probe_scores):
        tables = {"ranks": ranks, "probe_scores": probe_scores}
        found = {}
        for name, exhibit in published.EXHIBITS.items():
            rows = tables.get(exhibit.table, numbers[numbers["exhibit"] == name])
            found[name] = (len(rows), fingerprint(rows))
        assert found == CONTENTS

    def test_columns(self, numbers, ranks, probe_scores):
        names = ["exhibit", "dataset", "retriever", "item", "quantity"]
        assert list(numbers) == [*names, "value", "text", "unit", "sign", "source"]
        assert list(ranks) == ["dataset", "query_id", "variant", "retriever", "rank"]
        assert list(probe_scores)[:3] == ["dataset", "probe", "retriever"]
        assert (numbers.dtypes.drop("value") == "str").all()
        assert (numbers["value"].dtype, ranks["rank"].dtype) == ("float64", "int64")

    def test_each_number_has_value_or_text(self, numbers):
        assert (numbers["value"].notna() | numbers["text"].notna()).all()
        assert set(numbers["source"]) == {"paper", "release"}
        assert numbers.loc[numbers["source"] == "paper", "text"].notna().all()
        assert set(numbers["retriever"].dropna()) == set(RETRIEVERS)
        assert numbers["unit"].notna().all()

    def test_printed_form_is_kept(self, numbers):
        row = numbers.query(
            "exhibit == 'table11' and retriever == 'bge-large-en-v1.5'"
            " and quantity == 'p_signflip' and source == 'paper'"
        ).iloc[0]
        assert row["text"] == "<2e-5"
        assert math.isnan(row["value"])

    def test_signs(self, numbers):
        gaps = numbers[(numbers["quantity"] == "gap") & (numbers["source"] == "release")]
        signs = gaps.groupby("exhibit")["sign"].unique().map(list).to_dict()
        assert signs["table07"] == signs["table14"] == signs["fig10"] == ["right - left"]
        assert signs["table08"] == signs["table15"] == signs["fig11"] == ["conservative - liberal"]
        assert signs["table12"] == ["WME - AAL"]
        assert signs["table13"] == ["translated WME - AAL"]
        # Each headline gap of the paper is positive in these directions.
        headline = gaps[gaps["exhibit"].isin(["table07", "table08", "table11", "table12"])]
        assert len(headline) == 24
        assert (headline["value"] > 0).all()
        assert numbers.loc[numbers["quantity"].str.endswith("_p"), "sign"].isna().all()

    def test_no_text_of_a_question_is_shipped(self, numbers):
        words = {"zzxczxc", "lipoprint", "nothing", "aesthema", "i wana pregnent"}
        shipped = numbers.select_dtypes("str").stack()
        assert not set(shipped) & words

    def test_ranks(self, ranks):
        counts = ranks.groupby(["retriever", "variant"]).size()
        assert counts.unstack().loc["bm25"].to_dict() == {
            "aal_real": 647,
            "trans_aal": 647,
            "wme_real": 659,
        }
        assert counts.groupby("variant").nunique().eq(1).all()
        assert ranks["rank"].between(1, 112_165).all()
        assert not ranks.duplicated(["query_id", "variant", "retriever"]).any()

    def test_small_enough_to_ship(self):
        assert sum(path.stat().st_size for path in published.FOLDER.glob("*.parquet")) < 200_000

    def test_records_speak_for_themselves(self):
        for exhibit in published.EXHIBITS.values():
            assert exhibit.title
            assert exhibit.about
            assert exhibit.unit
            assert exhibit.source
            assert exhibit.table in published.TABLES

    def test_importing_is_cheap(self):
        code = (
            "import sys; import biasret.published;"
            " sys.exit(any(m in sys.modules for m in ('pandas', 'scipy', 'numpy')))"
        )
        found = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False)
        assert found.returncode == 0


class TestReleasesTables:
    """Streams and tests against the release, to 1e-12."""

    def test_table_12(self, numbers, ranks):
        found = recomputed.natural_gaps(ranks).set_index("retriever")
        expected = release(numbers, "table12")[list(found)]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

    def test_table_13(self, numbers, ranks):
        found = recomputed.translation_gaps(ranks).set_index("retriever")
        expected = release(numbers, "table13")[list(found)]
        exact = [name for name in found if name != "p_wilcoxon"]
        np.testing.assert_allclose(found[exact], expected[exact], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found["p_wilcoxon"], expected["p_wilcoxon"], rtol=0.01)

    def test_recall_by_hand(self):
        ranks = pd.DataFrame(
            {"retriever": "r", "variant": "v", "rank": [1, 3, 6, 200], "dataset": "d"}
        )
        found = recomputed.recall(ranks).set_index("k")["mean"]
        assert found.to_dict() == {1: 0.25, 5: 0.5, 10: 0.75, 20: 0.75, 50: 0.75, 100: 0.75}

    def test_probe_curves_by_hand(self, probe_scores):
        def score(probe, layer, split, f1, nce):
            return ("d", probe, "r", "fold", split, layer, 0.5, f1, nce)

        scores = pd.DataFrame(
            [
                score("baseline", None, "1", 0.5, -0.6),
                score("baseline", None, "2", 0.5, -0.8),
                score("normal", 0, "1", 0.4, -0.7),
                score("normal", 0, "2", 0.6, -0.7),
                score("normal", 1, "1", 0.8, -0.2),
                score("normal", 1, "2", 0.8, -0.2),
                score("conditional", 1, "1", 0.9, -0.1),
                score("conditional", 1, "2", 0.9, -0.3),
            ],
            columns=list(probe_scores),
        )
        first, second = recomputed.probe_curves(scores).to_dict("records")
        # sd 0.1414 over root 2 is 0.1, times 1.96.
        assert (first["f1"], first["f1_low"]) == pytest.approx((0.5, 0.5 - 0.196))
        assert (first["depth"], second["depth"]) == (0.0, 0.5)
        assert math.isnan(first["v_information"])
        assert second["v_information"] == pytest.approx(0.5)

    def test_the_published_finding_is_in_the_curves(self, probe_scores):
        curves = recomputed.probe_curves(probe_scores)
        assert len(curves) == 256
        best = curves.groupby("dataset")["f1"].max()
        assert (best > 0.7).all()


class TestCheck:
    def test_all_pass(self, checks):
        made, _ = checks
        assert [f"{c.exhibit}: {c.what}: {c.worst}" for c in made if not c.passed] == []

    def test_every_exhibit_but_the_retrievers_is_checked(self, checks):
        made, _ = checks
        assert set(published.EXHIBITS) - {check.exhibit for check in made} == {"table05"}
        assert len({(c.exhibit, c.what) for c in made}) == len(made)
        assert sum(check.n_cells for check in made) > 4000

    def test_quick(self, checks):
        assert checks[1] < 10

    def test_known_differences_are_named(self, checks):
        notes = {c.exhibit: c.note for c in checks[0] if c.what.startswith("printed") and c.note}
        assert set(notes) == {"table06", "table07", "table13"}
        assert notes["table13"].count("page b/B") == 2

    def test_known_page_values_leave_out_the_observed_one(self, numbers):
        # Printed b / B, released (b + 1) / (B + 1).
        for exhibit, retriever, printed in (
            ("table07", "llama-embed-nemotron-8b", "2.8e-4"),
            ("table13", "bge-large-en-v1.5", "2.0e-4"),
            ("table13", "bm25", "3.8e-4"),
        ):
            p_value = release(numbers, exhibit).loc[retriever, "p_signflip"]
            hits = p_value * 50_001 - 1
            assert float(printed) == pytest.approx(hits / 50_000, rel=1e-9)

    @pytest.mark.parametrize(
        ("exhibit", "quantity"),
        [
            ("table07", "gap"),
            ("table08", "mean_minuend"),
            ("table11", "ci_low"),
            ("table12", "ci_high"),
            ("table13", "p_signflip"),
            ("table14", "beta"),
            ("table15", "gamma_ci_low"),
            ("table16", "gamma_se"),
            ("table17", "alpha"),
            ("table18", "beta_ci_low"),
            ("fig19", "mean"),
            ("judges", "kappa"),
            ("table06", "p_mannwhitney"),
        ],
    )
    def test_one_wrong_number_is_found(self, numbers, exhibit, quantity):
        wrong = numbers.copy()
        at = wrong.query(
            "exhibit == @exhibit and quantity == @quantity and source == 'release'"
        ).index[-1]
        wrong.loc[at, "value"] += 0.02 if quantity == "ci_low" else 1e-3
        assert not all(made.passed for made in rules.internal(wrong))

    @pytest.mark.parametrize(
        ("printed", "value", "steps"),
        [
            ("0.050", 0.0503, 0),
            ("0.050", 0.0506, 1),
            ("-0.000", -0.00003, 0),
            ("4.4e-6", 4.4147e-6, 0),
            ("4.4e-6", 4.46e-6, 1),
            ("<2e-5", 1.99996e-5, 0),
            ("<2e-5", 2.1e-5, 1),
            ("NS", 0.2, 0),
            ("NS", 0.02, 1),
            ("~0", 2e-5, 0),
            ("1327", 1327.0, 0),
        ],
    )
    def test_rounding(self, printed, value, steps):
        assert rules._steps_off(printed, value) == steps


class TestSources:
    def test_shipped_tables_equal_what_the_sources_give(self, source, tmp_path):
        counts = published.build(source, tmp_path)
        for name in published.TABLES:
            built, shipped = (published.load(name, folder=f) for f in (tmp_path, published.FOLDER))
            pd.testing.assert_frame_equal(built, shipped, check_exact=True)
            assert counts[name] == len(shipped)

    def test_every_number_of_the_tables_is_there(self, source, numbers):
        """A second reading, by content alone: each cell's number, in its exhibit."""
        corrected = dict(sources._ERRATA.values())
        for name, exhibit in published.EXHIBITS.items():
            if exhibit.table != "published" or not exhibit.file.endswith(".csv"):
                continue
            rows = numbers[numbers["exhibit"] == name]
            shipped = set(rows["value"].dropna())
            with (source / exhibit.file).open(encoding="utf-8") as lines:
                for line in csv.DictReader(lines):
                    if line.get("figure", name) != name:
                        continue
                    for column, cell in line.items():
                        try:
                            known = float(corrected.get(cell, cell))
                        except ValueError:
                            continue
                        assert known in shipped or column == "source_idx", (name, column, cell)

    def test_left_minus_right_files_are_turned(self, source, numbers):
        for file, exhibit, turned, swapped, kept in (
            (
                "gold_filtered_paired_test_k10.csv",
                "table07",
                {"mean_delta": "gap"},
                {"ci_low": "ci_high", "ci_high": "ci_low"},
                {"perm_p": "p_signflip", "wilcoxon_p": "p_wilcoxon"},
            ),
            (
                "lex_regression_per_encoder_gold_filtered.csv",
                "table14",
                {
                    "raw_delta_gold": "gap",
                    "alpha": "alpha",
                    "lex_mean_in_gold": "mean_regressor",
                    "lex_contrib_at_mean": "beta_times_mean_regressor",
                },
                {"alpha_ci_low": "alpha_ci_high", "alpha_ci_high": "alpha_ci_low"},
                {"beta": "beta", "beta_p": "beta_p", "intercept_p": "alpha_p"},
            ),
        ):
            raw = pd.read_csv(source / "repo" / file).set_index("encoder").loc[list(RETRIEVERS)]
            ours = release(numbers, exhibit)
            for columns, factor in ((turned | swapped, -1), (kept, 1)):
                for theirs, name in columns.items():
                    assert (ours[name] == factor * raw[theirs]).all(), (file, theirs)

    def test_missing_folder(self, tmp_path):
        with pytest.raises(FileError, match="is missing"):
            published.build(tmp_path, tmp_path)


class TestLoad:
    def test_unknown_table(self):
        with pytest.raises(UnknownName, match="Did you mean 'ranks'"):
            published.load("rank")

    def test_missing_file(self, tmp_path):
        with pytest.raises(FileError, match="Restore precomputed/published"):
            published.load(folder=tmp_path)
