"""Exhibits recomputed from an imported release.

Two oracles: the paper's own ranks, whose published tables must come out to the last digit, and
a made-up release, whose exhibits are worked out again here with loops and scipy.
"""

from __future__ import annotations

import json
import math
import shutil
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import synthetic_release
from test_datasets_release import CODES, gold_pairs, lines, lists_of, objects

from biasret import build, published
from biasret.__main__ import main
from biasret.errors import UnknownName
from biasret.precomputed import Folder
from biasret.reproduction import political, release
from biasret.reproduction.imported import imported
from biasret.reproduction.release import RECIPES, beside, check_release
from biasret.reproduction.stored import store_reproduced

BGE = "bge-large-en-v1.5"


def bring(release: Path, store: Path, name: str) -> Folder:
    """Import a release and measure it; gaps are of no use here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIASRET_STORE", str(store))
        assert main(["import", "release", str(release), "--name", name]) == 0
    folder = Folder(store)
    for dataset in folder.datasets():
        read = build.read_dataset(folder, dataset)
        for retriever in folder.given(dataset):
            build.build_retriever(folder, read, retriever)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return synthetic_release.make(tmp_path_factory.mktemp("release"), scale=0.01, seed=7)


@pytest.fixture(scope="module")
def stored(made, tmp_path_factory) -> Folder:
    return bring(made, tmp_path_factory.mktemp("store"), "r")


@pytest.fixture(scope="module")
def of_the_paper(tmp_path_factory) -> Folder:
    """The paper's ranks of the natural questions, in the release's own files."""
    folder = tmp_path_factory.mktemp("paper")
    for retriever, rows in published.load("ranks").groupby("retriever"):
        path = folder / f"hcmagic/results/{retriever}/hcmagic_real_per_query_metrics.csv"
        path.parent.mkdir(parents=True)
        frame = rows[["query_id", "variant"]].assign(mrr=1 / rows["rank"])
        for k in synthetic_release.RECALL_DEPTHS:
            frame[f"recall@{k}"] = (rows["rank"] <= k).astype(float)
        frame.to_csv(path, index=False)
    return bring(folder, tmp_path_factory.mktemp("store"), "paper")


def test_the_papers_ranks_give_the_papers_tables(of_the_paper):
    checks, numbers, missing = check_release(of_the_paper, "paper")
    assert [(one.exhibit, one.passed, one.n_cells) for one in checks] == [
        ("table12", True, 6 * 8),
        ("table13", True, 6 * 9),
        ("fig03b", True, 6 * 2 * 2),
        ("fig19", True, 6 * 2 * 2),
        ("fig17_18_19", True, 6 * 3 * 6),
    ]
    exact = numbers[~numbers["quantity"].isin(["p_wilcoxon"])]
    assert exact["difference"].abs().max() < 1e-12
    # What was not imported is said, exhibit by exhibit.
    assert any(line.startswith("table07: allsides_synth was not imported") for line in missing)
    assert len(missing) == len(RECIPES) - 5


def test_a_changed_rank_is_seen(of_the_paper):
    name = "paper_hcmagic_nat"
    frame = of_the_paper.read("gold_ranks", name, "bm25")
    changed = frame.assign(rank=frame["rank"].where(frame.index != 3, 1))
    footer = of_the_paper.footer(of_the_paper.file("gold_ranks", name, "bm25"))
    put = {"dataset": name, "retriever": "bm25", "inputs": footer["inputs"]}
    of_the_paper.write("gold_ranks", changed, **put)
    try:
        checks, numbers, _ = check_release(of_the_paper, "paper")
    finally:
        of_the_paper.write("gold_ranks", frame, **put)
    assert not any(one.passed for one in checks if one.exhibit in ("table12", "table13"))
    off = numbers[~numbers["agrees"]]
    # Streams run through all retrievers, but only the changed one's means move.
    assert set(off.loc[off["quantity"] == "gap", "retriever"]) == {"bm25"}


def cells_of(made: Path) -> list[tuple[str, str]]:
    rows = objects(made / "allsides_synth/data/generated_queries.jsonl")
    return sorted({(row["article_id"], row["frame"]) for row in rows})


def row_of(rows: list[dict], **wanted: str) -> dict:
    (row,) = [r for r in rows if all(r[name] == value for name, value in wanted.items())]
    return row


def naive_interval(values: np.ndarray, clusters: list[str]) -> tuple[float, float]:
    """The cluster bootstrap as it is described, one draw after the other."""
    rng = np.random.default_rng(42)
    unique = np.array(sorted(set(clusters)))
    of = {name: values[[c == name for c in clusters]] for name in unique}
    means = [
        np.concatenate([of[name] for name in rng.choice(unique, len(unique), replace=True)]).mean()
        for _ in range(5_000)
    ]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def test_table_7_is_what_loops_over_the_files_give(made, stored):
    data = imported(stored, "r")["allsides_synth"]
    rows = political.table07(data)
    for retriever in (BGE, "bm25"):
        listed = {
            query: sum(CODES[stance] for _, stance in of) / 10
            for query, of in lists_of(made, "allsides_synth", retriever).items()
        }
        part = "bm25/" if retriever == "bm25" else ""
        ranks = pd.read_parquet(made / f"allsides_synth/results/{part}_min_story_rank.parquet")
        ranks = ranks[(ranks["encoder"] == retriever) & (ranks["min_story_rank"] <= 10)]
        reached = set(ranks["query_id"])
        kept = [
            (article, frame)
            for article, frame in cells_of(made)
            if {f"{article}__{frame}__left", f"{article}__{frame}__right"} <= reached
        ]
        turned = np.array([listed[f"{a}__{f}__left"] - listed[f"{a}__{f}__right"] for a, f in kept])
        found = row_of(rows, retriever=retriever)
        assert found["n_pairs"] == len(kept) > 5
        assert found["n_cells_total"] == len(cells_of(made))
        assert found["gap"] == pytest.approx(-turned.mean(), abs=1e-12)
        low, high = naive_interval(turned, [article for article, _ in kept])
        assert found["ci_low"] == pytest.approx(-high, abs=1e-12)
        assert found["ci_high"] == pytest.approx(-low, abs=1e-12)
        signs = np.random.default_rng(42).choice([-1.0, 1.0], size=(50_000, len(turned)))
        hits = (np.abs((signs * turned).mean(axis=1)) >= abs(turned.mean()) - 1e-12).sum()
        assert found["p_signflip"] == pytest.approx((1 + hits) / 50_001, rel=0.02)
        expected = scipy.stats.wilcoxon(np.round(turned, 9)).pvalue
        assert found["p_wilcoxon"] == pytest.approx(expected, rel=1e-9)


def test_tables_6_and_8_are_what_loops_over_the_files_give(made, stored):
    data = imported(stored, "r")["reddit_nat"]
    graded = gold_pairs(made, "reddit_nat")
    gold = graded["gpt-5-mini"] & graded["Qwen3.5-35B-A3B"]
    label = {}
    for row in lines(made / "reddit_nat/data/reddit_nat_raw.csv"):
        label.setdefault(row["id"], row["ideology"])
    filters = {"gpt": graded["gpt-5-mini"], "qwen": graded["Qwen3.5-35B-A3B"], "gold": gold}
    rows = political.table06(data)
    for retriever in (BGE, "octen-embedding-8b"):
        listed = lists_of(made, "reddit_nat", retriever)
        for item, pairs in filters.items():
            groups = defaultdict(list)
            for query, of in listed.items():
                codes = [CODES[s] for doc, s in of[:10] if (query, doc) in pairs]
                if codes:
                    groups[label[query]].append(sum(codes) / len(codes))
            high, low = groups["conservative"], groups["liberal"]
            found = row_of(rows, retriever=retriever, item=item)
            assert (found["n_minuend"], found["n_subtrahend"]) == (len(high), len(low))
            expected = math.fsum(high) / len(high) - math.fsum(low) / len(low)
            assert found["gap"] == pytest.approx(expected, abs=1e-12)
            p = scipy.stats.mannwhitneyu(np.round(high, 9), np.round(low, 9)).pvalue
            assert found["p_mannwhitney"] == pytest.approx(p, rel=1e-9)
        of_eight = row_of(political.table08(data), retriever=retriever)
        of_six = row_of(rows, retriever=retriever, item="gold")
        for name in ("gap", "p_mannwhitney", "n_minuend", "n_subtrahend"):
            assert of_eight[name] == pytest.approx(of_six[name], abs=1e-12)
        assert of_eight["ci_low"] < of_eight["gap"] < of_eight["ci_high"]


def test_agreement_of_the_judges_is_what_counting_gives(made, stored):
    folder = made / "reddit_nat/results/judge_relevance"
    gpt = {
        (r["query_id"], r["article_id"]): r["grade"] for r in objects(folder / "judgments.jsonl")
    }
    qwen = {
        (r["query_id"], r["article_id"]): r["grade"]
        for r in objects(folder / "judgments_qwen.jsonl")
        if r["grade"] is not None
    }
    both = [(gpt[pair], qwen[pair]) for pair in gpt if pair in qwen]
    n = len(both)
    agreed = sum(a == b for a, b in both) / n
    rates = [sum(pair[at] for pair in both) / n for at in (0, 1)]
    chance = rates[0] * rates[1] + (1 - rates[0]) * (1 - rates[1])
    (found,) = political.judges(imported(stored, "r")["reddit_nat"])
    assert found["n_pairs"] == n
    assert found["n_gold"] == sum(a and b for a, b in both)
    assert found["kappa"] == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)
    assert found["recall_gpt_vs_qwen_gold"] == pytest.approx(
        found["n_gold"] / sum(b for _, b in both), abs=1e-12
    )
    by = political.judges_by_retriever(imported(stored, "r")["reddit_nat"])
    assert [row["retriever"] for row in by] == list(synthetic_release.RETRIEVERS)


def test_table_11_is_what_loops_over_the_files_give(made, stored):
    rows = next(r for r in RECIPES if r.exhibit == "table11").compute(
        imported(stored, "r")["hcmagic_synth"]
    )
    for retriever in (BGE, "bm25"):
        of = defaultdict(dict)
        path = made / f"hcmagic/results/{retriever}/hcmagic_synth_per_query_metrics.csv"
        for row in lines(path):
            of[row["query_id"]][row["variant"]] = float(row["mrr"])
        ids = sorted(of, key=lambda name: int(name.rsplit("_", 1)[1]))
        apart = np.array(
            [of[i]["wme_real"] - np.mean([of[i][f"aal_synth{n}"] for n in (1, 2, 3)]) for i in ids]
        )
        found = row_of(rows, retriever=retriever)
        assert found["gap"] == pytest.approx(apart.mean(), abs=1e-12)
        low, high = naive_interval(apart, ids)
        assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high), abs=1e-12)


def test_lengths_are_those_of_the_files(made, stored):
    numbers, _ = beside(stored, "r")
    of = numbers[(numbers["exhibit"] == "table04") & (numbers["quantity"] == "mean")]
    found = of.set_index(["dataset", "item"])["recomputed"]
    texts = [
        len(row["text"])
        for row in objects(made / "allsides_synth/data/generated_queries.jsonl")
        if row["stance"] == "left"
    ]
    assert found["allsides_synth", "left"] == pytest.approx(sum(texts) / len(texts))
    first = {}
    for row in lines(made / "reddit_nat/data/reddit_nat_raw.csv"):
        if int(row["title_n_chars"]) >= 30:
            first.setdefault(row["id"], row)
    stated = [int(r["title_n_chars"]) for r in first.values() if r["ideology"] == "liberal"]
    assert found["reddit_nat", "liberal"] == pytest.approx(sum(stated) / len(stated))


def test_every_recipe_finds_its_published_numbers(stored):
    numbers, missing = beside(stored, "r")
    assert missing == []
    for recipe in RECIPES:
        of = numbers[
            (numbers["exhibit"] == recipe.exhibit) & (numbers["dataset"] == recipe.dataset)
        ]
        assert len(of), recipe.exhibit
        if recipe.source is None:
            assert of[["published", "difference", "tolerance", "agrees"]].isna().all(axis=None)
        elif recipe.exhibit != "table10":  # which questions are dropped differs
            assert of["published"].notna().all()
    # Of another corpus than the paper's: nothing may seem to agree by accident of the code.
    checks, _, _ = check_release(stored, "r")
    assert not any(one.passed for one in checks if one.exhibit.startswith("table"))


def test_the_command_says_what_is_off(stored, monkeypatch, capsys):
    monkeypatch.setenv("BIASRET_STORE", str(stored.path))
    assert main(["published", "--check", "--release", "r", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["failed"] > 0
    assert {"recomputed", "published", "difference"} <= set(document["numbers"][0])
    assert main(["published", "--check", "--release", "r"]) == 1
    out = capsys.readouterr().out
    assert "numbers are off" in out
    assert main(["published", "--check", "--release", "nobody"]) == 2
    assert "Unknown imported release 'nobody'. Available: r." in capsys.readouterr().err


def test_an_import_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UnknownName, match="Available: none"):
        beside(Folder(tmp_path), "r")


# -- what has no summary table ------------------------------------------------------------------


def numbers_of(recipes: str, data, dataset: str) -> dict[tuple[str, str], float]:
    (one,) = [r for r in RECIPES if r.exhibit == recipes and r.dataset == dataset]
    return {
        (row.get("retriever", ""), row.get("item", "")): row for row in one.compute(data[dataset])
    }


def test_dropped_questions_are_those_of_the_file(made, stored):
    found = numbers_of("table10", imported(stored, "r"), "hcmagic_nat")
    assert found["", "hcm_aal_4"]["length"] == len("plz help")
    assert found["", ""]["n_questions"] == len(found) - 1 == 1


def test_the_papers_dropped_questions_agree(made, tmp_path):
    """Nine short questions with the lengths that Table 10 prints, and one more."""
    table = published.load()
    of = table[(table["exhibit"] == "table10") & (table["quantity"] == "length")]
    rows = [
        {"input": "x" * int(row.value) + " ", "output": "a", "dial": "aal", "idx": name}
        for row in of.itertuples()
        for name in [row.item.removeprefix("hcm_aal_")]
    ]
    rows += [{"input": "A question that is long enough.", "output": "a", "dial": "wme", "idx": 1}]

    def brought(name: str, rows: list[dict]) -> pd.DataFrame:
        path = tmp_path / name / "hcmagic/data/healthq_aal/hcmagic_aal_wme.csv"
        path.parent.mkdir(parents=True)
        pd.DataFrame(rows).to_csv(path, index=False)
        numbers, _ = beside(bring(tmp_path / name, tmp_path / f"store-{name}", "p"), "p")
        return numbers[numbers["exhibit"] == "table10"]

    same = brought("same", rows)
    assert len(same) == 10
    assert same["agrees"].all()
    more = brought("more", [*rows, {"input": "hi", "output": "a", "dial": "aal", "idx": 999}])
    off = more[~more["agrees"]].set_index("item")
    assert set(off.index) == {"", "hcm_aal_999"}
    assert off.loc["", "difference"] == 1
    assert np.isnan(off.loc["hcm_aal_999", "published"])


def test_every_probe_of_figure_4_agrees_to_the_digits_that_are_shipped(made, tmp_path):
    scores = published.load("probe_scores").rename(
        columns={"dataset": "ds_name", "probe": "source", "retriever": "model", "accuracy": "acc"}
    )
    # As released: more digits than were kept.
    scores["nce"] -= 3e-7
    path = tmp_path / "probing/results/consolidated_scores.csv"
    path.parent.mkdir(parents=True)
    scores.to_csv(path, index=False)
    (tmp_path / "allsides_synth").symlink_to(made / "allsides_synth")
    (tmp_path / "hcmagic").symlink_to(made / "hcmagic")
    checks, numbers, _ = check_release(bring(tmp_path, tmp_path / "store", "p"), "p")
    of = [one for one in checks if one.exhibit == "fig04"]
    assert [(one.passed, one.n_cells) for one in of] == [(True, 3 * 1300), (True, 3 * 768)]
    assert 0 < numbers.loc[numbers["exhibit"] == "fig04", "difference"].abs().max() < 1e-6


def test_figures_12_and_13_are_what_counting_gives(made, stored):
    data = imported(stored, "r")
    round_up = {
        row["article_id"]: row["roundup_title"].strip() or None
        for row in objects(made / "allsides_synth/data/corpus.jsonl")
    }
    for base, dataset, name in (
        ("allsides_synth", "allsides_synth", "AllSides"),
        ("reddit_nat", "reddit_nat", "Reddit"),
    ):
        graded = gold_pairs(made, base)
        gold = graded["gpt-5-mini"] & graded["Qwen3.5-35B-A3B"]
        pooled = both_judged(made, base)
        asked = {query for query, _ in pooled}
        held = [
            any((query, doc) in gold for doc, _ in of[:10])
            for retriever in synthetic_release.RETRIEVERS
            for query, of in lists_of(made, base, retriever).items()
            if query in asked
        ]
        row = numbers_of("scalars", data, dataset)["", "fig12 caption"]
        share = row[f"{name} lists with >=1 relevant doc in top-10"]
        assert share == pytest.approx(100 * sum(held) / len(held))
        if dataset == "allsides_synth":
            story = {(q, d): round_up[q.split("__")[0]] for q, d in pooled}
            same = [story[pair] is not None and story[pair] == round_up[pair[1]] for pair in pooled]
            relevant = [pair in gold for pair in pooled]
            n = len(pooled)
            agreed = sum(a == b for a, b in zip(same, relevant, strict=True)) / n
            rates = sum(same) / n, sum(relevant) / n
            chance = rates[0] * rates[1] + (1 - rates[0]) * (1 - rates[1])
            found = numbers_of("scalars", data, dataset)["", "fig13 caption"]
            assert found["judged AllSides top-10 pairs (approx.)"] == n
            kappa = found["LLM judge vs same-roundup gold agreement"]
            assert kappa == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)


def both_judged(made: Path, base: str) -> list[tuple[str, str]]:
    """Pairs that both judges graded."""
    folder = made / base / "results/judge_relevance"
    gpt, qwen = (
        {
            (row["query_id"], row["article_id"])
            for row in objects(folder / f"judgments{part}.jsonl")
            if row["grade"] is not None
        }
        for part in ("", "_qwen")
    )
    known = {
        row["query_id"] for row in objects(made / "allsides_synth/data/generated_queries.jsonl")
    }
    if base == "reddit_nat":
        known = {row["id"] for row in lines(made / "reddit_nat/data/reddit_nat_raw.csv")}
    return sorted(pair for pair in gpt & qwen if pair[0] in known)


def test_figures_14_to_16_are_means_by_depth(made, stored):
    data = imported(stored, "r")
    metrics = pd.read_csv(made / "allsides_synth/results/bias_metrics.csv")
    ranks = pd.read_parquet(made / "allsides_synth/results/_min_story_rank.parquet")
    for k in (5, 50):
        reached = set(
            ranks.loc[(ranks["encoder"] == BGE) & (ranks["min_story_rank"] <= k), "query_id"]
        )
        of = metrics[(metrics["encoder"] == BGE) & (metrics["k"] == k)].set_index("query_id")
        kept = [
            f"{article}__{frame}"
            for article, frame in cells_of(made)
            if {f"{article}__{frame}__left", f"{article}__{frame}__right"} <= reached
        ]
        expected = of.loc[[f"{cell}__left" for cell in kept], "lean_score"].mean()
        found = numbers_of("fig02a, fig14", data, "allsides_synth")[BGE, f"left, k = {k}"]
        assert (found["mean"], found["n"]) == (pytest.approx(expected), len(kept))
    listed = lists_of(made, "reddit_nat", BGE)
    label = {}
    for row in lines(made / "reddit_nat/data/reddit_nat_raw.csv"):
        label.setdefault(row["id"], row["ideology"])
    leans = [
        sum(CODES[stance] for _, stance in of[:50]) / 50
        for query, of in listed.items()
        if label[query] == "liberal"
    ]
    found = numbers_of("fig15", data, "reddit_nat")[BGE, "liberal, k = 50"]
    assert (found["mean"], found["n"]) == (pytest.approx(sum(leans) / len(leans)), len(leans))
    rows = lines(made / f"hcmagic/results/{BGE}/hcmagic_synth_per_query_metrics.csv")
    hits = [float(row["recall@20"]) for row in rows if row["variant"] != "wme_real"]
    found = numbers_of("fig16", data, "hcmagic_synth")[BGE, "AAL, k = 20"]
    assert found["recall"] == pytest.approx(sum(hits) / len(hits))


def test_token_scores_follow_from_their_counts_and_those_from_the_questions(stored):
    numbers, _ = beside(stored, "r")
    for dataset, has_counts in (
        ("allsides_synth", True),
        ("hcmagic_synth", True),
        # Scores of the natural questions were fitted before short ones were dropped.
        ("hcmagic_nat", False),
    ):
        of = numbers[(numbers["exhibit"] == "token scores") & (numbers["dataset"] == dataset)]
        assert of["agrees"].all()
        assert set(of["quantity"]) == {
            "log_odds",
            "zeta",
            *(("count_minuend", "count_subtrahend") if has_counts else ()),
        }
        tokens = stored.read(
            "given_token_scores", f"r_{dataset.replace('allsides_synth', 'allsides')}"
        )
        assert len(of) == len(tokens) * of["quantity"].nunique()


def test_counts_of_tokens_are_not_compared_where_questions_are_missing(made, tmp_path):
    """Of a part of the questions other counts follow, which says nothing about the release."""
    part = tmp_path / "part"
    shutil.copytree(made / "allsides_synth", part / "allsides_synth")
    path = part / "allsides_synth/data/generated_queries.jsonl"
    *rows, last = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert '"right"' in last
    path.write_text("".join(rows), encoding="utf-8")
    numbers, _ = beside(bring(part, tmp_path / "store", "p"), "p")
    of = numbers[numbers["exhibit"] == "token scores"]
    assert set(of["quantity"]) == {"log_odds", "zeta"}


@pytest.mark.parametrize(
    "absent",
    [
        "allsides_synth/data/corpus.jsonl",
        "allsides_synth/data/generated_queries.jsonl",
        "allsides_synth/results/bias_metrics.csv",
        "allsides_synth/results/_min_story_rank.parquet",
        "reddit_nat/data/reddit_nat_raw.csv",
        "hcmagic/data/healthq_aal/hcmagic_aal_wme.csv",
    ],
)
def test_a_folder_that_lacks_a_file_is_compared_as_far_as_it_goes(made, tmp_path, absent):
    part = tmp_path / "part"
    shutil.copytree(made, part)
    (part / absent).unlink()
    numbers, missing = beside(bring(part, tmp_path / "store", "p"), "p")
    assert len(numbers) > 1000
    assert numbers["recomputed"].notna().all()
    assert all(": " in line for line in missing)


def test_equal_numbers_agree_even_if_both_are_0(stored):
    """Some published probabilities are too small for a float."""
    (one,) = [r for r in RECIPES if r.exhibit == "table07"]
    rows = [{"retriever": BGE, "p_wilcoxon": 0.0}]
    of = pd.DataFrame(
        {"retriever": [BGE], "item": [None], "quantity": ["p_wilcoxon"], "value": [0.0]}
    )
    found = release._compared(one, rows, of)
    assert found["agrees"].all()


def test_a_build_stores_the_comparison_and_only_of_a_release(made, tmp_path):
    folder = bring(made, tmp_path / "store", "r")
    name = "r_hcmagic_nat"
    dataset = build.read_dataset(folder, name)
    assert build.build_dataset(folder, dataset, [])
    table = folder.read("reproduced", name)
    numbers, _ = beside(folder, "r")
    of = numbers[numbers["dataset"] == "hcmagic_nat"].reset_index(drop=True)
    for column in ("exhibit", "quantity", "recomputed", "published", "tolerance"):
        pd.testing.assert_series_equal(table[column], of[column], check_dtype=False)
    assert not build.build_dataset(folder, dataset, [])
    # Another rank, another number.
    ranks = folder.read("gold_ranks", name, "bm25")
    footer = folder.footer(folder.file("gold_ranks", name, "bm25"))
    changed = ranks.assign(rank=ranks["rank"] + 1, class_rank=ranks["class_rank"])
    put = {"dataset": name, "retriever": "bm25", "inputs": footer["inputs"]}
    folder.write("gold_ranks", changed, **put)
    assert build.build_dataset(folder, dataset, [])
    again = folder.read("reproduced", name)
    moved = table["recomputed"] != again["recomputed"]
    assert set(table.loc[moved, "retriever"].dropna()) >= {"bm25"}
    # A dataset that only bears such a name is none of a release.
    other = "mine_hcmagic_nat"
    record = replace(dataset.record, name=other)
    frames = {
        t: getattr(dataset, t).assign(dataset=other) for t in ("documents", "queries", "qrels")
    }
    build.save_dataset(folder, replace(dataset, record=record, **frames), inputs={})
    assert not store_reproduced(folder, other, source=lambda module: module.__name__)
    assert not folder.file("reproduced", other).exists()


# -- vocabulary held fixed ---------------------------------------------------------------------


def least_squares(columns: list[np.ndarray], outcome: np.ndarray) -> np.ndarray:
    """Coefficients by the normal equations."""
    design = np.column_stack(columns)
    return np.linalg.solve(design.T @ design, design.T @ outcome)


def recipe(exhibit: str):
    return next(one for one in RECIPES if one.exhibit == exhibit).compute


def test_table_14_is_a_regression_on_the_released_scores(made, stored):
    scores = {
        (row["article_id"], row["frame"]): float(row["lex_L"]) - float(row["lex_R"])
        for row in lines(made / "allsides_synth/results/cell_lex_asymmetry.csv")
    }
    data = imported(stored, "r")["allsides_synth"]
    listed = {
        query: sum(CODES[stance] for _, stance in of) / 10
        for query, of in lists_of(made, "allsides_synth", BGE).items()
    }
    ranks = pd.read_parquet(made / "allsides_synth/results/_min_story_rank.parquet")
    ranks = ranks[(ranks["encoder"] == BGE) & (ranks["min_story_rank"] <= 10)]
    reached = set(ranks["query_id"])
    kept = [(a, f) for a, f in cells_of(made) if {f"{a}__{f}__left", f"{a}__{f}__right"} <= reached]
    turned = np.array([listed[f"{a}__{f}__left"] - listed[f"{a}__{f}__right"] for a, f in kept])
    regressor = np.array([scores[cell] for cell in kept])
    alpha, beta = least_squares([np.ones(len(kept)), regressor], turned)
    found = row_of(recipe("table14")(data), retriever=BGE)
    assert found["alpha"] == pytest.approx(-alpha, abs=1e-12)
    assert found["beta"] == pytest.approx(beta, abs=1e-12)
    assert found["mean_regressor"] == pytest.approx(-regressor.mean(), abs=1e-12)
    assert found["gap"] == pytest.approx(
        found["alpha"] + found["beta"] * found["mean_regressor"], abs=1e-12
    )
    assert found["alpha_ci_low"] < found["alpha"] < found["alpha_ci_high"]


def test_tables_15_and_16_hold_a_titles_released_score_fixed(made, stored):
    data = imported(stored, "r")["reddit_nat"]
    rows = [
        row
        for row in lines(made / "reddit_nat/results/lex_residual_per_query.csv")
        if row["encoder"] == BGE
    ]
    score = np.array([float(row["lex"]) for row in rows])
    is_high = np.array([row["ideology"] == "conservative" for row in rows], dtype=float)
    lean = np.array([float(row["lean"]) for row in rows])
    alpha, beta, gamma = least_squares([np.ones(len(rows)), score, is_high], lean)
    found = row_of(recipe("table15")(data), retriever=BGE)
    assert (found["gamma"], found["beta"]) == pytest.approx((gamma, beta), abs=1e-12)
    residual = lean - (alpha + beta * score + gamma * is_high)
    design = np.column_stack([np.ones(len(rows)), score, is_high])
    inverse = np.linalg.inv(design.T @ design)
    meat = design.T @ (design * (residual**2)[:, None])
    hc1 = inverse @ meat @ inverse * len(rows) / (len(rows) - 3)
    assert found["gamma_se"] == pytest.approx(math.sqrt(hc1[2, 2]), rel=1e-9)
    of_gold = row_of(recipe("table16")(data), retriever=BGE)
    of_eight = row_of(political.table08(data), retriever=BGE)
    assert of_gold["gap"] == pytest.approx(of_eight["gap"], abs=1e-12)


@pytest.mark.parametrize(
    ("exhibit", "dataset", "file"),
    [
        ("table17", "hcmagic_synth", "lex_residual"),
        ("table18", "hcmagic_nat", "lex_residual_real"),
    ],
)
def test_tables_17_and_18_sum_the_released_scores_of_tokens(made, stored, exhibit, dataset, file):
    zeta = {
        row["token"]: float(row["zeta"])
        for row in lines(made / f"hcmagic/results/{file}_token_logodds.csv")
    }
    data = imported(stored, "r")[dataset]
    known = data.query_values("lexical")
    for query in data.queries.itertuples():
        if query.group == "back":
            assert query.query_id not in known.index
        else:
            expected = sum(zeta[token] for token in query.text.split())
            assert known[query.query_id] == pytest.approx(expected, abs=1e-9)
    found = row_of(recipe(exhibit)(data), retriever=BGE)
    if exhibit == "table17":
        total = found["alpha"] + found["beta"] * found["mean_regressor"]
    else:
        apart = found["mean_lex_minuend"] - found["mean_lex_subtrahend"]
        total = found["gamma"] + found["beta"] * apart
        assert found["gap"] == pytest.approx(
            found["mean_minuend"] - found["mean_subtrahend"], abs=1e-12
        )
    assert found["gap"] == pytest.approx(total, abs=1e-12)


def test_figure_5_sums_up_the_released_cosines(made, stored):
    rows = lines(made / f"allsides_synth/results/pairing_similarity/per_anchor_sims__{BGE}.csv")
    within = np.array([float(row["within_cell"]) for row in rows])
    other = [row["within_article_cross_frame"] for row in rows]
    data = imported(stored, "r")["allsides_synth"]
    means = recipe("fig05_means")(data)
    assert row_of(means, retriever=BGE, item="within_cell")["mean"] == pytest.approx(
        within.mean(), abs=1e-12
    )
    low, high = naive_interval(within, [row["article_id"] for row in rows])
    found = row_of(means, retriever=BGE, item="within_cell")
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high), abs=1e-12)
    apart = [w - float(o) for w, o in zip(within, other, strict=True) if o]
    tests = row_of(recipe("fig05_tests")(data), retriever=BGE, item="within_article_cross_frame")
    assert tests["median_gap"] == pytest.approx(np.median(apart), abs=1e-12)
    quartiles = row_of(
        recipe("fig05_quartiles")(data), retriever=BGE, item="within_article_cross_frame"
    )
    assert quartiles["n_anchor_cells"] == len(apart) < len(within)
