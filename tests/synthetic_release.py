"""A release like the authors', of any size, with random words and random ranks.

Everything that the importer reads is written, in the released formats, from lists that are
known here; `python tests/synthetic_release.py FOLDER [SCALE]` makes one of full size.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

RETRIEVERS = (
    "bge-large-en-v1.5",
    "qwen3-embedding-8b",
    "llama-embed-nemotron-8b",
    "octen-embedding-8b",
    "text-embedding-3-large",
    "bm25",
)
FRAMES = ("economic", "morality", "political", "public_sentiment", "health_and_safety")
STANCES = ("left", "center", "right")
CODES = {"left": -1, "center": 0, "right": 1}
LEAN_DEPTHS = (5, 10, 20, 50, 100)
RECALL_DEPTHS = (1, 5, 10, 20, 50, 100)
WORDS = np.array([f"{a}{b}" for a in "bdfgklmnprst" for b in ("ata", "elo", "imo", "oru", "usa")])


class Maker:
    """Writes the files of one release."""

    def __init__(self, folder: Path, scale: float, seed: int) -> None:
        self.folder = folder
        self.scale = scale
        self.rng = np.random.default_rng(seed)

    def size(self, full: int, least: int) -> int:
        return max(least, round(full * self.scale))

    def text(self, n: int) -> str:
        return " ".join(WORDS[self.rng.integers(0, len(WORDS), n)])

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def csv(self, name: str, frame: pd.DataFrame) -> None:
        frame.to_csv(self.path(name), index=False, lineterminator="\n")

    def jsonl(self, name: str, rows: list[dict]) -> None:
        lines = [json.dumps(row) + "\n" for row in rows]
        self.path(name).write_text("".join(lines), encoding="utf-8")

    def lists(self, n_documents: int, sought: list[np.ndarray], depth: int) -> np.ndarray:
        """A list of distinct documents for each query, with one it seeks more often than not."""
        rows = []
        # Steps that share no factor with the number of documents reach all of them.
        steps = [1, *(prime for prime in (7, 11, 13, 17, 19) if n_documents % prime)]
        for wanted in sought:
            start, step = self.rng.integers(0, n_documents), self.rng.choice(steps)
            row = np.unique((start + step * np.arange(2 * depth)) % n_documents)
            row = self.rng.permutation(row[~np.isin(row, wanted)])[:depth]
            assert len(row) == depth, "too few documents for lists of this depth"
            if len(wanted) > 1 and self.rng.random() < 0.8:
                at = min(depth - 1, self.rng.geometric(0.12) - 1)
                # The first of those sought is the source itself, which is masked.
                row[at] = wanted[1 + self.rng.integers(0, len(wanted) - 1)]
            rows.append(row)
        return np.array(rows)

    # -- politics ----------------------------------------------------------------------

    def politics(self) -> None:
        n = self.size(17_996, 300) // 3 * 3
        ids = np.array([f"qb_{2 * at:06d}" for at in range(n)])
        stances = np.array(STANCES)[np.arange(n) % 3]
        corpus = []
        for at in range(n):
            heading = self.text(6)
            text = f"{heading}\n\n{self.text(90)}"
            corpus.append(
                {
                    "article_id": ids[at],
                    "stance": stances[at],
                    "text": text,
                    "text_full_len": len(text),
                    "truncated": False,
                    "sha1_prefix": hashlib.sha1(text.encode()).hexdigest()[:12],
                    "heading": heading,
                    "source": f"Gazette {at % 7}",
                    # Some articles belong to no round-up.
                    "roundup_title": "" if at // 3 % 11 == 10 else f" Story {at // 3} ",
                }
            )
        self.jsonl("allsides_synth/data/corpus.jsonl", corpus)
        self.allsides(n, ids, stances)
        self.reddit(n, ids, stances)

    def allsides(self, n: int, ids: np.ndarray, stances: np.ndarray) -> None:
        sources = 3 * self.rng.permutation(n // 3)[: self.size(999, 12)] + 1
        cells = []
        frames = []
        for at, source in enumerate(sources):
            own = FRAMES[: 1 + (at * 7) % 5] if self.scale < 1 else FRAMES[: 3 + at % 3]
            cells += [(int(source), frame) for frame in own]
            found = [{"key": frame, "salience": 0.9 - 0.1 * i} for i, frame in enumerate(own)]
            frames.append({"article_id": ids[source], "frames": found})
        cells = cells[: self.size(3_723, 40)]
        self.jsonl("allsides_synth/data/extracted_frames.jsonl", frames)
        queries = pd.DataFrame(
            [
                {
                    "query_id": f"{ids[source]}__{frame}__{group}",
                    "article_id": ids[source],
                    "frame": frame,
                    "stance": group,
                    "text": self.text(16),
                }
                for source, frame in cells
                for group in ("neutral", "left", "right")
            ]
        )
        self.jsonl("allsides_synth/data/generated_queries.jsonl", queries.to_dict("records"))
        place = {name: at for at, name in enumerate(ids)}
        asked = queries["article_id"].map(place).to_numpy()
        sought = []
        for source in asked:
            story = source // 3 * 3
            has_story = source // 3 % 11 != 10
            sought.append(
                np.array([source, *(d for d in range(story, story + 3) if d != source)])
                if has_story
                else np.array([source])
            )
        metrics = {"": [], "bm25/": []}
        stories = {"": [], "bm25/": []}
        pools = []
        for retriever in RETRIEVERS:
            part = "bm25/" if retriever == "bm25" else ""
            found = self.lists(n, sought, 100)
            top = self.candidates(queries["query_id"], found[:, :10], ids, stances, retriever)
            self.csv(f"allsides_synth/results/retrieval_candidates/{retriever}.csv", top)
            pools.append(top[["query_id", "retrieved_article_id"]])
            codes = np.vectorize(CODES.get)(stances[found])
            named = queries[["query_id", "article_id", "frame", "stance"]]
            metrics[part] += [
                named.assign(encoder=retriever, k=k, lean_score=codes[:, :k].sum(axis=1) / k)
                for k in LEAN_DEPTHS
            ]
            is_same = np.array(
                [np.isin(row, of[1:]) for row, of in zip(found, sought, strict=True)]
            )
            has = is_same.any(axis=1)
            stories[part].append(
                pd.DataFrame(
                    {
                        "query_id": queries["query_id"][has],
                        "encoder": retriever,
                        "min_story_rank": is_same[has].argmax(axis=1) + 1,
                    }
                )
            )
        for part in metrics:
            frame = pd.concat(metrics[part]).sort_values(["query_id", "encoder", "k"])
            self.csv(f"allsides_synth/results/{part}bias_metrics.csv", frame)
            pd.concat(stories[part]).to_parquet(
                self.path(f"allsides_synth/results/{part}_min_story_rank.parquet")
            )
        pool = pd.concat(pools)
        pool = pool[~pool["query_id"].str.endswith("__neutral")]
        self.judgments("allsides_synth", pool)
        self.allsides_lexical(queries)

    def allsides_lexical(self, queries: pd.DataFrame) -> None:
        cells = queries[["article_id", "frame"]].drop_duplicates()
        cells = cells.sort_values(["article_id", "frame"])
        lex = self.rng.normal(size=(len(cells), 3)).round(6)
        self.csv(
            "allsides_synth/results/cell_lex_asymmetry.csv",
            cells.assign(
                lex_L=lex[:, 0],
                lex_N=lex[:, 1],
                lex_R=lex[:, 2],
                lex_diff_lr=lex[:, 0] - lex[:, 2],
            ),
        )
        texts = {side: queries.loc[queries["stance"] == side, "text"] for side in ("left", "right")}
        self.tokens(
            "allsides_synth/results/lexical_logodds.csv",
            ("count_L", texts["left"]),
            ("count_R", texts["right"]),
            positive="count_L",
        )
        folder = "allsides_synth/results/pairing_similarity"
        for retriever in RETRIEVERS[:-1]:
            cosines = self.rng.uniform(0.2, 0.9, size=(len(cells), 3)).round(7)
            has_sibling = cells["article_id"].duplicated(keep=False).to_numpy()
            self.csv(
                f"{folder}/per_anchor_sims__{retriever}.csv",
                cells.assign(
                    cell_key=cells["article_id"] + "__" + cells["frame"],
                    within_cell=cosines[:, 0],
                    within_article_cross_frame=np.where(has_sibling, cosines[:, 1], np.nan),
                    cross_article=cosines[:, 2],
                    has_sibling=has_sibling,
                ),
            )

    def candidates(
        self,
        queries: pd.Series,
        found: np.ndarray,
        ids: np.ndarray,
        stances: np.ndarray,
        retriever: str,
    ) -> pd.DataFrame:
        n, depth = found.shape
        flat = found.ravel()
        return pd.DataFrame(
            {
                "query_id": np.repeat(queries.to_numpy(dtype=object), depth),
                "encoder": retriever,
                "rank": np.tile(np.arange(1, depth + 1), n),
                "retrieved_article_id": ids[flat],
                "retrieved_stance": stances[flat],
            }
        )

    def judgments(self, base: str, pool: pd.DataFrame) -> None:
        pairs = pool.drop_duplicates().rename(columns={"retrieved_article_id": "article_id"})
        gpt = self.rng.random(len(pairs)) < 0.25
        qwen = np.where(self.rng.random(len(pairs)) < 0.8, gpt, ~gpt)
        rows = pairs.assign(grade=gpt.astype(int)).to_dict("records")
        self.jsonl(f"{base}/results/judge_relevance/judgments.jsonl", rows)
        graded = pairs.assign(grade=qwen.astype(int), raw=None).astype(object).to_dict("records")
        graded[3] = {**graded[3], "grade": None, "raw": "no idea"}
        self.jsonl(f"{base}/results/judge_relevance/judgments_qwen.jsonl", graded)

    def reddit(self, n: int, ids: np.ndarray, stances: np.ndarray) -> None:
        n_posts = self.size(3_340, 60)
        labels = np.array(["liberal", "conservative", "centrist"])
        label = labels[np.searchsorted([0.4, 0.76, 1.0], self.rng.random(n_posts))]
        posts = pd.DataFrame(
            {
                "id": [f"1k{at:05x}" for at in range(n_posts)],
                "subreddit": np.where(np.arange(n_posts) % 2, "AskALiberal", "AskConservatives"),
                "ideology": label,
                "title_n_chars": self.rng.integers(90, 300, n_posts),
                "selftext_n_chars": self.rng.integers(0, 2000, n_posts),
            }
        )
        posts["title_sha256"] = [hashlib.sha256(one.encode()).hexdigest() for one in posts["id"]]
        n_again = self.size(129, 8)
        again = posts.iloc[:n_again].copy()
        again.loc[again.index[:3], "ideology"] = "centrist"
        short = posts.iloc[[0]].assign(id="tooshort", title_n_chars=29)
        raw = pd.concat([posts, again, short], ignore_index=True)
        self.csv("reddit_nat/data/reddit_nat_raw.csv", raw)
        pools, lexical = [], []
        lex = self.rng.normal(size=n_posts).round(6)
        is_evaluated = posts["ideology"] != "centrist"
        nothing = [np.array([], dtype=int)] * n_posts
        for retriever in RETRIEVERS:
            found = self.lists(n, nothing, 100)
            frame = self.candidates(posts["id"], found, ids, stances, retriever)
            frame = frame.merge(
                posts[["id", "ideology", "subreddit"]], left_on="query_id", right_on="id"
            )
            frame["score"] = 1 / frame["rank"]
            names = ["query_id", "ideology", "subreddit", "encoder", "rank"]
            frame = frame[[*names, "retrieved_article_id", "retrieved_stance", "score"]]
            self.csv(f"reddit_nat/results/retrieval_candidates/{retriever}.csv", frame)
            pool = frame.loc[frame["rank"] <= 10, ["query_id", "retrieved_article_id"]]
            pools.append(pool[pool["query_id"].isin(posts.loc[is_evaluated, "id"])])
            codes = np.vectorize(CODES.get)(stances[found[:, :20]])
            rows = posts[["id", "ideology", "subreddit"]].rename(columns={"id": "query_id"})
            rows.insert(0, "encoder", retriever)
            rows = rows.assign(n_tok=30, lex=lex, lean=codes.sum(axis=1) / 20)
            lexical.append(rows[is_evaluated])
        self.judgments("reddit_nat", pd.concat(pools))
        self.csv("reddit_nat/results/lex_residual_per_query.csv", pd.concat(lexical))

    # -- health ------------------------------------------------------------------------

    def health(self) -> None:
        n = self.size(112_165, 400)
        answers = [self.text(60) for _ in range(n)]
        answers[7] = answers[3]
        self.jsonl(
            "hcmagic/data/hcmagic_100k/corpus.jsonl",
            [{"doc_id": f"hcm100k_{at}", "answer": text} for at, text in enumerate(answers)],
        )
        qrels: dict[str, dict[str, int]] = {}
        self.rewritten(n, answers, qrels)
        self.natural(n, answers, qrels)
        self.path("hcmagic/data/hcmagic_100k/qrels.json").write_text(json.dumps(qrels))

    def twins(self, row: int) -> dict[str, int]:
        return dict.fromkeys([f"hcm100k_{at}" for at in ((3, 7) if row in (3, 7) else (row,))], 1)

    def rewritten(self, n: int, answers: list[str], qrels: dict) -> None:
        rows = self.rng.permutation(n)[: self.size(5_000, 30)]
        rows = np.concatenate([[3], rows[rows != 3]])
        wordings = [[self.text(20) for _ in range(4)] for _ in rows]
        wordings[2][1] = ""  # the transform failed
        table = pd.DataFrame(
            {
                "Unnamed: 0": rows,
                "instruction": "If you are a doctor, answer.",
                "input": [of[0] for of in wordings],
                "output": [answers[row] for row in rows],
                **dict.fromkeys(["AA", "H", "A"], 0.1),
                "W": 0.7,
                "aa_max": False,
                "w_max": True,
                "aal_messages": [str(of[1:]) for of in wordings],
                **{f"aal_message{i}": [of[i] for of in wordings] for i in (1, 2, 3)},
            }
        )
        self.csv("hcmagic/data/healthq_aal/hcmagic_wme_synth.csv", table)
        kept = [at for at in range(len(rows)) if at != 2]
        paired = [
            {
                "qid": f"hcsynth_q_{new}",
                "row_idx": new,
                "gold_doc_id": f"hcm100k_{rows[old]}",
                "wme_real": wordings[old][0],
                **{f"aal_synth{i}": wordings[old][i] for i in (1, 2, 3)},
            }
            for new, old in enumerate(kept)
        ]
        self.jsonl("hcmagic/data/hcmagic_100k/synth_paired.jsonl", paired)
        self.tokens(
            "hcmagic/results/lex_residual_token_logodds.csv",
            ("count_WME", [row["wme_real"] for row in paired]),
            ("count_AAL", [row[f"aal_synth{i}"] for row in paired for i in (1, 2, 3)]),
            positive="count_WME",
        )
        qrels |= {f"hcsynth_q_{new}": self.twins(int(rows[old])) for new, old in enumerate(kept)}
        ids = [row["qid"] for row in paired]
        dense = ["aal_synth1", "aal_synth2", "aal_synth3", "wme_real"]
        for retriever in RETRIEVERS:
            order = [dense[-1], *dense[:-1]] if retriever == "bm25" else dense
            self.metrics(retriever, "synth", [(i, v) for v in order for i in ids], n)

    def natural(self, n: int, answers: list[str], qrels: dict) -> None:
        n_aal, n_wme = self.size(656, 20), self.size(659, 20)
        rows = self.rng.permutation(n)[: n_aal + n_wme]
        texts = [" " + self.text(20) for _ in rows]
        texts[4] = "plz help"
        table = pd.DataFrame(
            {
                "instruction": "If you are a doctor, answer.",
                "input": texts,
                "output": [answers[row] for row in rows],
                **dict.fromkeys(["AA", "H", "A", "W"], 0.25),
                "dial": ["aal"] * n_aal + ["wme"] * n_wme,
                "idx": [*range(n_aal), *rows[n_aal:]],
            }
        )
        self.csv("hcmagic/data/healthq_aal/hcmagic_aal_wme.csv", table)
        translated = [{"row_id": str(at + 1), "trans_aal": self.text(20)} for at in range(n_aal)]
        self.jsonl("hcmagic/data/healthq_aal/hcmagic_aal_translated.jsonl", translated)
        kept = [at for at in range(n_aal) if at != 4]
        self.tokens(
            "hcmagic/results/lex_residual_real_token_logodds.csv",
            # Fitted before short questions are dropped.
            ("count_AAL", texts[:n_aal]),
            ("count_WME", texts[n_aal:]),
            positive="count_WME",
        )
        aal = [f"hcm_aal_{at}" for at in kept]
        trans = [f"hcm_trans_{at}" for at in kept]
        wme = [f"hcm_wme_{row}" for row in rows[n_aal:]]
        qrels |= {one: self.twins(int(rows[at])) for one, at in zip(aal, kept, strict=True)}
        qrels |= {one: self.twins(int(row)) for one, row in zip(wme, rows[n_aal:], strict=True)}
        qrels |= {one: self.twins(int(rows[at])) for one, at in zip(trans, kept, strict=True)}
        for retriever in RETRIEVERS:
            asked = [
                *((one, "aal_real") for one in aal),
                *((one, "trans_aal") for one in trans),
                *((one, "wme_real") for one in wme),
            ]
            self.metrics(retriever, "real", asked, n)

    def tokens(self, name: str, *groups: tuple[str, Iterable[str]], positive: str) -> None:
        """Log-odds of every token by the formula of the paper, one token after the other."""
        (first, _), (second, _) = groups
        a, b = (Counter(word for text in texts for word in text.split()) for _, texts in groups)
        n_a, n_b, rows = a.total(), b.total(), []
        for word in a.keys() | b.keys():
            prior = 0.01 * (a[word] + b[word]) / (n_a + n_b)
            x, y = a[word] + prior, b[word] + prior
            odds = math.log(x / (n_a + 0.01 - x)) - math.log(y / (n_b + 0.01 - y))
            odds = odds if positive == first else -odds
            zeta = odds / math.sqrt(1 / x + 1 / y)
            rows.append((word, a[word], b[word], odds, zeta))
        frame = pd.DataFrame(rows, columns=["token", first, second, "log_odds", "zeta"])
        self.csv(name, frame.sort_values(["zeta", "token"], ascending=False))

    def metrics(self, retriever: str, what: str, asked: list[tuple[str, str]], n: int) -> None:
        ranks = np.minimum(n, 1 + (n ** self.rng.random(len(asked))).astype(int))
        frame = pd.DataFrame(asked, columns=["query_id", "variant"]).assign(mrr=1 / ranks)
        for k in RECALL_DEPTHS:
            frame[f"recall@{k}"] = (ranks <= k).astype(float)
        self.csv(f"hcmagic/results/{retriever}/hcmagic_{what}_per_query_metrics.csv", frame)

    def probing(self) -> None:
        full = {
            "bge-large-en-v1.5": 24,
            "llama-embed-nemotron-8b": 32,
            "octen-embedding-8b": 36,
            "qwen3-embedding-8b": 36,
        }
        splits = {
            "allsides_synth": ("fold", [str(n) for n in range(1, 6)], 0),
            # The release has no conditional probe on layer 0 of these questions.
            "hcmagic_synth": ("aal_col", [f"aal_message{n}" for n in (1, 2, 3)], 1),
        }
        rows = [
            (dataset, kind, model, how, split, layer)
            for dataset, (how, names, first) in splits.items()
            for kind in ("baseline", "conditional", "normal")
            for model, n_layers in full.items()
            for layer in (
                [None]
                if kind == "baseline"
                else range(first if kind == "conditional" else 0, self.size(n_layers, 3))
            )
            for split in names
        ]
        columns = ["ds_name", "source", "model", "split_type", "split", "layer"]
        frame = pd.DataFrame(rows, columns=columns).astype({"layer": "Int64"})
        scores = self.rng.uniform(0.6, 0.9, size=(3, len(frame)))
        frame = frame.assign(acc=scores[0], f1=scores[1], nce=-scores[2])
        self.csv("probing/results/consolidated_scores.csv", frame)


def make(folder: Path, *, scale: float = 0.01, seed: int = 0) -> Path:
    """Write a release into a folder; `scale` 1 has the sizes of the real one."""
    maker = Maker(Path(folder), scale, seed)
    maker.politics()
    maker.health()
    maker.probing()
    return Path(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), scale=float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
