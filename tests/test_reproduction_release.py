"""Exhibits recomputed from an imported release.

Two oracles: the paper's own ranks, whose published tables must come out to the last digit, and
a made-up release, whose exhibits are worked out again here with loops and scipy.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
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
from biasret.reproduction import political
from biasret.reproduction.imported import imported
from biasret.reproduction.release import RECIPES, beside, check_release

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
    assert [(one.exhibit, one.passed) for one in checks] == [
        ("table12", True),
        ("table13", True),
        ("fig03b", True),
        ("fig19", True),
    ]
    assert {one.n_cells for one in checks} == {6 * 8, 6 * 9, 6 * 2 * 2}
    exact = numbers[~numbers["quantity"].isin(["p_wilcoxon"])]
    assert exact["difference"].abs().max() < 1e-12
    # What was not imported is said, exhibit by exhibit.
    assert any(line.startswith("table07: allsides_synth was not imported") for line in missing)
    assert len(missing) == len(RECIPES) - 4


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
