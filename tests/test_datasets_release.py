"""The authors' release: every file read, every value of the import worked out again from the files.

What is expected is computed here with `csv`, `json` and loops, and shares no code with the
package.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic_release
from conftest import PROJECT, QUICK

from biasret import audit, build
from biasret.__main__ import main
from biasret.datasets import release
from biasret.errors import FileError, InputError, TableError
from biasret.precomputed import Folder

SAMPLE = PROJECT.parent / "shared" / "paper_release_sample"
CODES = {"left": -1, "center": 0, "right": 1}
BGE = "bge-large-en-v1.5"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return synthetic_release.make(tmp_path_factory.mktemp("release"), scale=0.01)


@pytest.fixture(scope="module")
def stored(made, tmp_path_factory) -> Folder:
    """The made-up release, imported and built as the commands do it."""
    path = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIASRET_STORE", str(path))
        patch.setattr(audit, "PAPER", QUICK)
        assert main(["import", "release", str(made), "--name", "r"]) == 0
        folder = Folder(path)
        for name in folder.datasets():
            dataset = build.read_dataset(folder, name)
            assert build.build_dataset(folder, dataset, build.retrievers_of(folder, name))
    return folder


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def objects(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def values(folder: Folder, dataset: str, retriever: str, metric: str, k: int | None, rule: str):
    frame = folder.read("measurements", dataset, retriever)
    of = (frame["metric"] == metric) & (frame["filter"] == rule)
    of &= frame["k"].isna() if k is None else (frame["k"] == k).fillna(False).astype(bool)
    return frame[of].set_index("query_id")["value"].to_dict()


def lists_of(made: Path, base: str, retriever: str) -> dict[str, list[tuple[str, str]]]:
    found = defaultdict(list)
    for row in lines(made / base / "results/retrieval_candidates" / f"{retriever}.csv"):
        found[row["query_id"]].append((row["retrieved_article_id"], row["retrieved_stance"]))
    return found


def gold_pairs(made: Path, base: str) -> dict[str, set[tuple[str, str]]]:
    folder = made / base / "results/judge_relevance"
    return {
        judge: {
            (row["query_id"], row["article_id"]) for row in objects(folder / file) if row["grade"]
        }
        for judge, file in (
            ("gpt-5-mini", "judgments.jsonl"),
            ("Qwen3.5-35B-A3B", "judgments_qwen.jsonl"),
        )
    }


# -- AllSides --------------------------------------------------------------------------------


@pytest.mark.parametrize("retriever", synthetic_release.RETRIEVERS)
def test_lean_of_allsides_at_every_depth_is_the_released_one(made, stored, retriever):
    part = "bm25/" if retriever == "bm25" else ""
    expected = defaultdict(dict)
    for row in lines(made / f"allsides_synth/results/{part}bias_metrics.csv"):
        if row["encoder"] == retriever:
            expected[int(row["k"])][row["query_id"]] = float(row["lean_score"])
    assert set(expected) == {5, 10, 20, 50, 100}
    for k, leans in expected.items():
        assert values(stored, "r_allsides", retriever, "lean", k, "raw") == pytest.approx(
            leans, abs=1e-12
        )


@pytest.mark.parametrize("k", [5, 10, 20, 50, 100])
def test_the_editorial_filter_keeps_a_cell_whose_two_lists_reach_the_story(made, stored, k):
    for retriever in (BGE, "bm25"):
        part = "bm25/" if retriever == "bm25" else ""
        table = pq.read_table(made / f"allsides_synth/results/{part}_min_story_rank.parquet")
        reached = {
            row["query_id"]
            for row in table.to_pylist()
            if row["encoder"] == retriever and row["min_story_rank"] <= k
        }
        found = values(stored, "r_allsides", retriever, "lean", k, "same-story")
        assert set(found) == reached
        # Cells, and the gap over all documents of their lists.
        cells = {one.rsplit("__", 1)[0] for one in reached}
        kept = [c for c in cells if {f"{c}__left", f"{c}__right"} <= reached]
        gaps = stored.read("gaps", "r_allsides")
        (row,) = gaps[
            (gaps["retriever"] == retriever) & (gaps["k"] == k) & (gaps["filter"] == "same-story")
        ].to_dict("records")
        leans = values(stored, "r_allsides", retriever, "lean", k, "raw")
        assert row["n_pairs"] == len(kept)
        if kept:
            expected = sum(leans[f"{c}__right"] - leans[f"{c}__left"] for c in kept) / len(kept)
            assert row["estimate"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("base", ["allsides_synth", "reddit_nat"])
def test_judged_lean_is_over_the_documents_both_judges_hold_relevant(made, stored, base):
    dataset = {"allsides_synth": "r_allsides", "reddit_nat": "r_reddit"}[base]
    graded = gold_pairs(made, base)
    both = graded["gpt-5-mini"] & graded["Qwen3.5-35B-A3B"]
    for retriever in (BGE, "text-embedding-3-large"):
        listed = {q: of[:10] for q, of in lists_of(made, base, retriever).items()}
        for rule, pairs in (("judges", both), ("judge:gpt-5-mini", graded["gpt-5-mini"])):
            expected = {}
            for query, top in listed.items():
                codes = [CODES[stance] for doc, stance in top if (query, doc) in pairs]
                if codes:
                    expected[query] = sum(codes) / len(codes)
            assert len(expected) > 10
            found = values(stored, dataset, retriever, "lean", 10, rule)
            assert found == pytest.approx(expected, abs=1e-12)
        kept = {q: sum(CODES[s] for _, s in listed[q]) / 10 for q in listed}
        retained = values(stored, dataset, retriever, "lean", 10, "retained")
        assert retained == pytest.approx(
            {q: kept[q] for q in listed if any((q, d) in both for d, _ in listed[q])}, abs=1e-12
        )


def test_a_query_of_allsides_says_where_it_comes_from(made, stored):
    queries = stored.read("queries", "r_allsides").set_index("query_id")
    for row in objects(made / "allsides_synth/data/generated_queries.jsonl"):
        query = queries.loc[row["query_id"]]
        assert query["text"] == row["text"]
        assert query["group"] == row["stance"]
        assert query["cell_id"] == f"{row['article_id']}__{row['frame']}"
        assert query["cluster_id"] == row["article_id"]
        assert list(query["source_doc_ids"]) == [row["article_id"]]
    gaps = stored.read("gaps", "r_allsides")
    assert set(zip(gaps["minuend"], gaps["subtrahend"], strict=True)) == {("right", "left")}
    documents = stored.read("documents", "r_allsides")
    titles = objects(made / "allsides_synth/data/corpus.jsonl")
    stories = [row["roundup_title"].strip() or None for row in titles]
    assert (
        documents["story_id"].astype(object).where(documents["story_id"].notna(), None).tolist()
        == stories
    )


# -- Reddit ----------------------------------------------------------------------------------


def test_the_first_row_of_a_post_counts(made, stored):
    expected = {}
    for row in lines(made / "reddit_nat/data/reddit_nat_raw.csv"):
        if int(row["title_n_chars"]) >= 30 and row["id"] not in expected:
            expected[row["id"]] = row["ideology"]
    queries = stored.read("queries", "r_reddit")
    assert dict(zip(queries["query_id"], queries["group"], strict=True)) == expected
    assert set(queries["text"]) == {""}
    # The pool of the judges still holds posts of every label that were judged.
    judged = set(stored.read("qrels", "r_reddit")["query_id"])
    assert judged <= set(expected)


def test_lean_of_reddit_is_read_from_the_lists(made, stored):
    for retriever in synthetic_release.RETRIEVERS:
        listed = lists_of(made, "reddit_nat", retriever)
        for k in (5, 10, 20, 50, 100):
            expected = {
                query: sum(CODES[stance] for _, stance in of[:k]) / k
                for query, of in listed.items()
            }
            found = values(stored, "r_reddit", retriever, "lean", k, "raw")
            assert found == pytest.approx(expected, abs=1e-12)
    gaps = stored.read("gaps", "r_reddit")
    assert set(gaps["minuend"]) == {"conservative"}
    assert set(gaps["design"]) == {"unpaired"}


def test_what_is_known_of_a_withheld_title(made, stored):
    known = stored.read("query_values", "r_reddit").set_index(["quantity", "query_id"])["value"]
    for row in lines(made / "reddit_nat/results/lex_residual_per_query.csv"):
        assert known["lexical", row["query_id"]] == float(row["lex"])
        assert known["tokens", row["query_id"]] == float(row["n_tok"])
    first = lines(made / "reddit_nat/data/reddit_nat_raw.csv")[0]
    assert known["length", first["id"]] == float(first["title_n_chars"])


# -- scores of tokens and of probes ----------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "file", "columns", "sign"),
    [
        ("r_allsides", "allsides_synth/results/lexical_logodds.csv", ("count_R", "count_L"), -1),
        (
            "r_hcmagic_synth",
            "hcmagic/results/lex_residual_token_logodds.csv",
            ("count_WME", "count_AAL"),
            1,
        ),
        (
            "r_hcmagic_nat",
            "hcmagic/results/lex_residual_real_token_logodds.csv",
            ("count_WME", "count_AAL"),
            1,
        ),
    ],
)
def test_token_scores_point_to_the_minuend(made, stored, dataset, file, columns, sign):
    """Released scores of AllSides are left minus right; here gaps are right minus left."""
    found = stored.read("given_token_scores", dataset).set_index("token")
    rows = lines(made / file)
    assert len(found) == len(rows)
    for row in rows:
        of = found.loc[row["token"]]
        assert of["zeta"] == sign * float(row["zeta"])
        assert of["log_odds"] == sign * float(row["log_odds"])
        counts = (of["count_minuend"], of["count_subtrahend"])
        assert counts == tuple(int(row[name]) for name in columns)
    # Where the minuend says a word more often, relative to all it says, the score is above 0.
    share = found["count_minuend"] / found["count_minuend"].sum()
    other = found["count_subtrahend"] / found["count_subtrahend"].sum()
    apart = share - other
    is_apart = apart.abs() > 1e-9
    assert is_apart.sum() > len(found) / 2
    assert (np.sign(apart) == np.sign(found["zeta"]))[is_apart].all()


def test_probe_scores_are_those_of_the_file(made, stored):
    rows = defaultdict(list)
    for row in lines(made / "probing/results/consolidated_scores.csv"):
        rows[row["ds_name"], row["model"]].append(row)
    names = {"allsides_synth": "r_allsides", "hcmagic_synth": "r_hcmagic_synth"}
    for (dataset, model), of in rows.items():
        table = stored.read("probe_scores", names[dataset], model)
        assert table["kind"].tolist() == [row["source"] for row in of]
        assert table["split"].tolist() == [row["split"] for row in of]
        layers = [None if pd.isna(layer) else int(layer) for layer in table["layer"]]
        assert layers == [int(row["layer"]) if row["layer"] else None for row in of]
        for column, name in (("accuracy", "acc"), ("f1", "f1"), ("nce", "nce")):
            assert table[column].tolist() == [float(row[name]) for row in of]
        assert table[["n_train", "n_test", "n_shared"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("source", "wild", "source not among baseline, normal, conditional"),
        ("acc", "1.2", "acc or f1 outside 0 to 1"),
        ("nce", "0.5", "nce above 0"),
        ("layer", "", "layer though baseline, or none though not"),
        ("layer", "1.5", "layer that is no int"),
        ("f1", "high", "f1 that is no float"),
    ],
)
def test_scores_of_probes_that_cannot_be_are_refused(made, tmp_path, column, value, message):
    rows = lines(made / "probing/results/consolidated_scores.csv")
    at = next(i for i, row in enumerate(rows) if row["source"] == "normal")
    rows[at][column] = value
    folder = probed_release(made, tmp_path, rows)
    with pytest.raises(TableError, match=message) as caught:
        release.load(folder, name="r")
    assert f"line {at + 2}" in str(caught.value)


def probed_release(made, tmp_path, rows: list[dict[str, str]]) -> Path:
    folder = tmp_path / "release"
    (folder / "probing/results").mkdir(parents=True)
    (folder / "allsides_synth").symlink_to(made / "allsides_synth")
    pd.DataFrame(rows).to_csv(folder / "probing/results/consolidated_scores.csv", index=False)
    return folder


def test_probes_of_another_dataset_are_counted(made, tmp_path):
    rows = lines(made / "probing/results/consolidated_scores.csv")
    more = [{**row, "ds_name": "elsewhere"} for row in rows[:12]]
    notes = release.load(probed_release(made, tmp_path, rows + more), name="r").notes
    assert any("12 rows" in note and "of a dataset other than" in note for note in notes)


def test_probes_without_a_baseline_are_counted(made, tmp_path):
    rows = lines(made / "probing/results/consolidated_scores.csv")
    kept = [row for row in rows if row["source"] != "baseline" or row["split"] != "2"]
    n = sum(row["split"] == "2" for row in kept)
    imported = release.load(probed_release(made, tmp_path, kept), name="r")
    assert any(f"{n} rows" in note and "no baseline of" in note for note in imported.notes)
    (part,) = imported.parts
    splits = [set(one.frame["split"]) for one in part.given if one.table == "probe_scores"]
    assert splits == [{"1", "3", "4", "5"}] * 4


def test_scores_of_probes_on_questions_that_are_not_there_are_counted(made, tmp_path):
    (tmp_path / "probing").symlink_to(made / "probing")
    (tmp_path / "allsides_synth").symlink_to(made / "allsides_synth")
    notes = release.load(tmp_path, name="r").notes
    n = sum(
        row["ds_name"] == "hcmagic_synth"
        for row in lines(made / "probing/results/consolidated_scores.csv")
    )
    assert (
        f"left out: {n:,} rows, probe scores of hcmagic_synth, which is not in the folder." in notes
    )


def test_a_token_that_is_scored_twice_is_refused(made, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(made / "hcmagic", folder / "hcmagic")
    path = folder / "hcmagic/results/lex_residual_token_logodds.csv"
    first, second, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([first, second, second, *rest]), encoding="utf-8")
    with pytest.raises(TableError, match="1 rows repeat a token"):
        release.load(folder, name="r")


def test_a_dropped_question_leaves_its_length(stored):
    known = stored.read("query_values", "r_hcmagic_nat")
    dropped = known[known["quantity"] == "dropped_length"]
    assert dropped[["query_id", "value"]].values.tolist() == [["hcm_aal_4", 8.0]]
    assert "hcm_aal_4" not in set(stored.read("queries", "r_hcmagic_nat")["query_id"])


# -- HealthCareMagic -------------------------------------------------------------------------


@pytest.mark.parametrize("retriever", synthetic_release.RETRIEVERS)
def test_ranks_of_healthcaremagic_are_the_released_reciprocals(made, stored, retriever):
    for dataset, what in (("r_hcmagic_synth", "synth"), ("r_hcmagic_nat", "real")):
        rows = lines(made / f"hcmagic/results/{retriever}/hcmagic_{what}_per_query_metrics.csv")

        def name(row: dict[str, str], what: str = what) -> str:
            return f"{row['query_id']}:{row['variant']}" if what == "synth" else row["query_id"]

        rr = values(stored, dataset, retriever, "rr", None, "raw")
        assert rr == {name(row): float(row["mrr"]) for row in rows}
        for k in (1, 5, 10, 20, 50, 100):
            recall = values(stored, dataset, retriever, "recall", k, "raw")
            assert recall == {name(row): float(row[f"recall@{k}"]) for row in rows}


def test_the_gap_of_rewritten_questions_averages_three_rewrites(made, stored):
    rows = lines(made / f"hcmagic/results/{BGE}/hcmagic_synth_per_query_metrics.csv")
    of = defaultdict(dict)
    for row in rows:
        of[row["query_id"]][row["variant"]] = float(row["mrr"])
    deltas = [
        v["wme_real"] - (v["aal_synth1"] + v["aal_synth2"] + v["aal_synth3"]) / 3
        for v in of.values()
    ]
    gaps = stored.read("gaps", "r_hcmagic_synth")
    (row,) = gaps[(gaps["retriever"] == BGE) & (gaps["metric"] == "rr")].to_dict("records")
    assert row["estimate"] == pytest.approx(math.fsum(deltas) / len(deltas), abs=1e-12)
    assert (row["n_pairs"], row["design"]) == (len(deltas), "paired")


def test_natural_questions_are_two_groups_and_translations_pairs(made, stored):
    rows = lines(made / f"hcmagic/results/{BGE}/hcmagic_real_per_query_metrics.csv")
    of = {row["query_id"]: float(row["mrr"]) for row in rows}
    wme = [value for name, value in of.items() if name.startswith("hcm_wme_")]
    aal = {n.rsplit("_", 1)[1]: v for n, v in of.items() if n.startswith("hcm_aal_")}
    won = [of[f"hcm_trans_{number}"] - value for number, value in aal.items()]
    gaps = stored.read("gaps", "r_hcmagic_nat")
    gaps = gaps[(gaps["retriever"] == BGE) & (gaps["metric"] == "rr")].set_index("minuend")
    apart = math.fsum(wme) / len(wme) - math.fsum(aal.values()) / len(aal)
    assert gaps.loc["WME", "estimate"] == pytest.approx(apart, abs=1e-12)
    assert gaps.loc["WME", "design"] == "unpaired"
    assert gaps.loc["back", "estimate"] == pytest.approx(math.fsum(won) / len(won), abs=1e-12)
    assert gaps.loc["back", "n_pairs"] == len(won)


def test_a_short_question_and_its_translation_are_left_out(made, stored):
    asked = set(stored.read("queries", "r_hcmagic_nat")["query_id"])
    assert not asked & {"hcm_aal_4", "hcm_trans_4"}
    assert {"hcm_aal_3", "hcm_aal_5", "hcm_trans_3", "hcm_trans_5"} <= asked
    texts = stored.read("queries", "r_hcmagic_nat").set_index("query_id")["text"]
    assert texts["hcm_aal_3"].startswith(" "), "natural questions are kept unstripped"


def test_one_document_is_credited_as_the_paper_does(made, stored):
    qrels = stored.read("qrels", "r_hcmagic_synth")
    assert not qrels.duplicated("query_id").any()
    gold = {
        row["qid"]: row["gold_doc_id"]
        for row in objects(made / "hcmagic/data/hcmagic_100k/synth_paired.jsonl")
    }
    assert {
        q.split(":")[0]: d for q, d in zip(qrels["query_id"], qrels["doc_id"], strict=True)
    } == gold


# -- what a folder may lack, and how files may come ------------------------------------------


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    imported = release.load(folder, name="r")
    return {
        f"{part.dataset.record.name} {name}": frame
        for part in imported.parts
        for name, frame in [
            *((n, getattr(part.dataset, n)) for n in ("documents", "queries", "qrels")),
            *((f"{given.table} {given.retriever}", given.frame) for given in part.given),
        ]
    }


def test_packed_files_with_other_line_ends_hold_the_same(made, tmp_path):
    copy = shutil.copytree(made, tmp_path / "copy")
    for at, path in enumerate(sorted(copy.rglob("*.*"))):
        if path.suffix not in (".csv", ".jsonl"):
            continue
        data = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
        path.unlink()
        if at % 3 == 0:
            path.write_bytes(data)
        elif at % 3 == 1:
            Path(f"{path}.gz").write_bytes(gzip.compress(data))
        else:
            with pa.output_stream(f"{path}.zst", compression="zstd") as out:
                out.write(data)
    expected, found = tables(made), tables(copy)
    assert found.keys() == expected.keys()
    for name, frame in expected.items():
        pd.testing.assert_frame_equal(found[name], frame)


@pytest.mark.parametrize("part", ["allsides_synth", "reddit_nat", "hcmagic"])
def test_a_part_of_the_release_is_imported_alone(made, tmp_path, part):
    shutil.copytree(made / part, tmp_path / part)
    imported = release.load(tmp_path, name="r")
    names = {one.dataset.record.name for one in imported.parts}
    expected = {
        "allsides_synth": {"r_allsides"},
        "reddit_nat": {"r_reddit"},
        "hcmagic": {"r_hcmagic_synth", "r_hcmagic_nat"},
    }
    assert names == expected[part]
    assert any(note.startswith("Not in the folder: ") for note in imported.notes)
    if part == "reddit_nat":
        (loaded,) = imported.parts
        assert any("without a text" in note for note in loaded.notes)
        assert set(loaded.dataset.documents["text"]) == {""}


def test_rewritten_questions_are_read_from_their_own_columns_where_the_pairs_lack(made, tmp_path):
    shutil.copytree(made / "hcmagic", tmp_path / "hcmagic")
    (tmp_path / "hcmagic/data/hcmagic_100k/synth_paired.jsonl").unlink()
    expected = tables(made)["r_hcmagic_synth queries"]
    found = tables(tmp_path)["r_hcmagic_synth queries"]
    pd.testing.assert_frame_equal(found, expected)


def test_a_folder_without_any_of_it_is_refused(tmp_path):
    with pytest.raises(FileError, match="holds no part of the release"):
        release.load(tmp_path, name="r")
    with pytest.raises(FileError, match="no folder"):
        release.load(tmp_path / "nowhere", name="r")


def change(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            "allsides_synth/results/retrieval_candidates/bm25.csv",
            ",bm25,2,",
            ",bm25,3,",
            r"bm25.csv: 1 rows have a rank that does not follow .*line 3",
        ),
        (
            "allsides_synth/results/retrieval_candidates/bm25.csv",
            ",bm25,2,",
            ",bm25,two,",
            r"rank that is no int \(line 3: 'two'\)",
        ),
        (
            "allsides_synth/results/retrieval_candidates/bm25.csv",
            ",bm25,2,",
            ",bm25,2,2,",
            r"1 rows do not fit the header \(line 3: '6 fields where the header has 5'",
        ),
        (
            "allsides_synth/results/retrieval_candidates/bm25.csv",
            ",bm25,",
            ",bge,",
            "another retriever than bm25",
        ),
        (
            "allsides_synth/results/retrieval_candidates/bm25.csv",
            "retrieved_stance",
            "lean",
            "bm25.csv has no column 'retrieved_stance'",
        ),
        ("allsides_synth/data/corpus.jsonl", '"text": "', '"text": "x', "line 1: 'qb_000000'"),
        ("allsides_synth/results/bias_metrics.csv", ",5,", ",5,1", "lean outside -1 to 1"),
        (
            "allsides_synth/data/generated_queries.jsonl",
            "__left",
            "__lef",
            "id that is not article",
        ),
        ("reddit_nat/results/judge_relevance/judgments.jsonl", '"grade": 0', '"grade": 2', "grade"),
        (
            f"hcmagic/results/{BGE}/hcmagic_real_per_query_metrics.csv",
            "aal_real,",
            "aal_real,0.0",
            "line 2",
        ),
        ("hcmagic/data/healthq_aal/hcmagic_aal_wme.csv", ",aal,", ",xx,", "dialect label"),
        ("hcmagic/data/hcmagic_100k/qrels.json", "{", "[", "not valid JSON"),
    ],
    ids=lambda value: None,
)
def test_a_damaged_file_is_refused_by_line(made, tmp_path, name, old, new, said):
    shutil.copytree(made, tmp_path / "copy")
    change(tmp_path / "copy" / name, old, new)
    with pytest.raises(InputError, match=said):
        release.load(tmp_path / "copy", name="r")


def test_a_recall_that_contradicts_its_rank_is_refused(made, tmp_path):
    shutil.copytree(made / "hcmagic", tmp_path / "hcmagic")
    path = tmp_path / f"hcmagic/results/{BGE}/hcmagic_real_per_query_metrics.csv"
    frame = pd.read_csv(path)
    frame.loc[7, "recall@10"] = 1 - frame.loc[7, "recall@10"]
    frame.to_csv(path, index=False)
    with pytest.raises(TableError, match=r"recall@10 that contradicts the rank \(line 9"):
        release.load(tmp_path, name="r")


def test_five_faulty_rows_are_named_and_the_rest_counted(made, tmp_path):
    shutil.copytree(made / "allsides_synth", tmp_path / "allsides_synth")
    path = tmp_path / "allsides_synth/results/retrieval_candidates/bm25.csv"
    change(path, ",left", ",lefty", count=9)
    with pytest.raises(TableError) as caught:
        release.load(tmp_path, name="r")
    assert str(caught.value).count("line ") == 5
    assert "9 rows" in str(caught.value)
    assert "and 4 more" in str(caught.value)


def test_ids_that_look_like_numbers_or_addresses_stay_what_they_are(made, tmp_path):
    copy = shutil.copytree(made / "allsides_synth", tmp_path / "allsides_synth")
    names = {
        "qb_000000": "007",
        "qb_000002": "https://a.example/x?y=1&z=é",
        "qb_000004": "QB_000000",
    }
    for path in copy.rglob("*.*"):
        if path.suffix in (".csv", ".jsonl"):
            text = path.read_text(encoding="utf-8")
            for old, new in names.items():
                text = text.replace(old, new)
            path.write_text(text, encoding="utf-8")
        else:
            table = pq.read_table(path).to_pandas()
            for old, new in names.items():
                table["query_id"] = table["query_id"].str.replace(old, new)
            table.to_parquet(path)
    (loaded,) = release.load(tmp_path, name="r").parts
    assert set(names.values()) <= set(loaded.dataset.documents["doc_id"])


def test_the_same_import_again_changes_nothing(made, stored, monkeypatch, capsys):
    monkeypatch.setenv("BIASRET_STORE", str(stored.path))
    before = stored.fingerprint()
    arguments = ["import", "release", str(made), "--name", "r"]
    assert main(arguments) == 2
    assert "already there" in capsys.readouterr().err
    assert main([*arguments, "--replace"]) == 0
    assert "Nothing has changed." in capsys.readouterr().out
    assert stored.fingerprint() == before


# -- the real sample -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts():
    if not SAMPLE.is_dir():
        pytest.skip(f"The release sample is not at {SAMPLE}.")
    return {part.dataset.record.name: part for part in release.load(SAMPLE, name="s").parts}


def test_sample_every_part_is_there(parts):
    assert set(parts) == {"s_allsides", "s_reddit", "s_hcmagic_synth", "s_hcmagic_nat"}
    assert len(parts["s_allsides"].dataset.queries) == 15


def test_sample_released_lean_follows_from_the_lists(parts):
    assert "bm25: 30 of 30 released lean@k to depth 10 follow from its lists." in (
        parts["s_allsides"].notes
    )
    assert "11 texts have the length and SHA-1 that the release states." in (
        parts["s_allsides"].notes
    )


def test_sample_story_ranks_within_the_lists_are_those_worked_out_beside_the_sample(parts):
    from biasret import filters

    expected = defaultdict(dict)
    for row in lines(
        SAMPLE / "derived_not_in_index/allsides_synth/results/min_story_rank_top10.csv"
    ):
        expected[row["encoder"]][row["query_id"]] = float(row["min_story_rank_within_top10"])
    part = parts["s_allsides"]
    compared = 0
    for given in part.given:
        if given.table != "runs":
            continue
        ranks = filters.same_story_rank(
            filters.Inputs(
                queries=part.dataset.queries,
                documents=part.dataset.documents,
                runs=given.frame,
                gold_ranks=given.frame.iloc[:0],
            )
        ).dropna()
        assert ranks.to_dict() == expected[given.retriever]
        compared += len(ranks)
    assert compared == sum(map(len, expected.values())) == 65


def test_sample_a_post_whose_id_repeats_counts_once(parts):
    queries = parts["s_reddit"].dataset.queries
    assert queries["query_id"].tolist().count("1kg4lqp") == 1
    assert queries["group"].value_counts()["centrist"] == 1


def test_sample_ids_of_natural_questions_need_not_be_contiguous(parts):
    asked = set(parts["s_hcmagic_nat"].dataset.queries["query_id"])
    assert {"hcm_aal_9", "hcm_aal_645", "hcm_trans_0"} <= asked
    assert "hcm_aal_10" not in asked


def test_sample_a_table_of_token_scores_that_is_not_whole_gives_no_question_a_score(parts):
    for name in ("s_hcmagic_synth", "s_hcmagic_nat"):
        part = parts[name]
        assert any("have no released score" in note for note in part.notes)
        assert not any(given.table == "query_values" for given in part.given)
