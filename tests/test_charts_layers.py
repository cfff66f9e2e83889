"""Charts of layers, pairs and overlaps: what is drawn, what is said, and what is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_charts import leaves, shown, spec

from biasret import probes, published, reproduction
from biasret.charts.layers import (
    decodability,
    information,
    layer_f1,
    layer_information,
    layers_alt,
)
from biasret.charts.overlap import overlap_alt, overlap_finding, overlap_map
from biasret.charts.pairing import pairing_alt, pairing_boxes, pairing_finding


def curves(names: tuple[str, ...] = ("minilm-l6", "a<b>"), n_splits: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": "toy",
            "retriever": name,
            "split_rule": "grouped",
            "kind": kind,
            "layer": layer,
            "split": str(split),
            "f1": 0.6 + 0.05 * (layer or 0) + 0.01 * rng.random(),
            "nce": -0.7 + (0.1 * (layer or 0) if kind == "conditional" else 0),
        }
        for name in names
        for kind in ("normal", "conditional", "baseline")
        for layer in ((None,) if kind == "baseline" else range(4))
        for split in range(n_splits)
    ]
    return probes.curves(pd.DataFrame(rows).astype({"layer": "Int64"}))


class TestLayers:
    def test_lines_bands_and_depth(self):
        found = curves()
        document = spec(layer_f1(found))
        lines = [t for t in document["data"] if t["mode"] == "lines+markers"]
        bands = [t for t in document["data"] if t.get("fill") == "toself"]
        assert [line["x"] for line in lines] == [[0, 0.25, 0.5, 0.75]] * 2
        assert lines[0]["y"] == found[found["retriever"] == "minilm-l6"]["f1"].tolist()
        assert len(bands) == 2
        assert bands[0]["y"][:4] == found["f1_high"].tolist()[:4]
        # Neither colour nor shape nor dash is shared.
        for cue in ("color", "dash"):
            assert len({line["line"][cue] for line in lines}) == 2
        assert len({line["marker"]["symbol"] for line in lines}) == 2

    def test_a_coin_toss_is_shown_where_it_is_near(self):
        assert len(spec(layer_f1(curves()))["layout"]["shapes"]) == 1
        far = curves()
        far["f1"] += 0.3
        assert not spec(layer_f1(far))["layout"].get("shapes")

    def test_information_has_a_line_at_zero_and_no_band_from_one_split(self):
        document = spec(layer_information(curves(n_splits=1)))
        assert document["layout"]["shapes"][0]["y0"] == 0
        assert [t["mode"] for t in document["data"]] == ["lines+markers"] * 2

    def test_missing_layers_are_left_out(self):
        found = curves()
        found.loc[0, "v_information"] = np.nan
        document = spec(layer_information(found))
        assert 0 not in document["data"][1]["customdata"]
        assert all(np.isfinite(v) for v in leaves(document["data"]) if isinstance(v, float))

    def test_names_are_no_markup(self):
        texts = shown(spec(layer_f1(curves())))
        assert not [text for text in texts if "<b>" in text]
        assert "<b>" not in layers_alt(curves(), "x", "f1")

    def test_sentences_say_what_was_found(self):
        found = curves(("minilm-l6",))
        first, best = found["f1"].iloc[0], found["f1"].max()
        told = decodability(found, minuend="right", subtrahend="left")
        assert told == (
            f"A linear probe tells left from right questions with F1 {first:.2f} on the input "
            f"embeddings alone, and {best:.2f} at the best layer."
        )
        assert "MiniLM-L6 +0.300 at layer 3" in information(found)
        assert "All 2 models add" in information(curves())
        none = found.assign(v_information=-0.1)
        assert information(none).startswith("No layer tells a linear probe more")

    def test_alt_text_names_first_best_and_last_layer(self):
        alt = layers_alt(curves(("minilm-l6",)), "Finding.", "v_information")
        assert alt == (
            "Finding. MiniLM-L6: 0.000 at layer 0, 0.300 at its best, layer 3, and 0.300 at "
            "layer 3."
        )

    def test_the_published_curves_are_drawn_at_their_values(self):
        found = reproduction.probe_curves(published.load("probe_scores"))
        part = found[found["dataset"] == "allsides_synth"]
        document = spec(layer_f1(part))
        lines = [t for t in document["data"] if t["mode"] == "lines+markers"]
        assert len(lines) == 4
        assert sum(len(line["x"]) for line in lines) == 128
        assert {t["name"] for t in lines} >= {"BGE-large", "Qwen3-Embedding-8B"}


class TestPairing:
    def summary(self) -> pd.DataFrame:
        return reproduction.published_pairing()

    def test_published_quartiles_are_those_of_the_release(self, shared):
        source = pd.read_csv(shared / "paper" / "repo" / "pairing_similarity_summary.csv")
        rows = self.summary().set_index(["retriever", "scheme"])
        assert len(rows) == 15
        for line in source.itertuples():
            for scheme, stem in (
                ("within_cell", "wc"),
                ("cross_frame", "wa"),
                ("cross_article", "ca"),
            ):
                row = rows.loc[(line.encoder, scheme)]
                for name in ("mean", "median", "q1", "q3"):
                    found = getattr(line, f"{stem}_{name}")
                    assert row[name] == pytest.approx(found, abs=1e-6)
            row = rows.loc[(line.encoder, "cross_frame")]
            assert row["median_gap"] == line.median_delta_wc_minus_wa
            assert row["gap_low"] == line.median_delta_wc_minus_wa_lo95
            assert row["statistic"] == line.wilcoxon_W_wc_vs_wa
            assert (row["n"], row["n_clusters"]) == (3_697, 973)
            assert row["p_holm"] == 0

    def test_boxes_from_quartile_to_quartile_with_a_shape_each(self):
        summary = self.summary()
        document = spec(pairing_boxes(summary))
        boxes = [t for t in document["data"] if t["type"] == "box"]
        marks = [t for t in document["data"] if t["type"] == "scatter"]
        assert len(boxes) == len(marks) == 3
        within = summary[summary["scheme"] == "within_cell"]
        assert boxes[0]["q1"] == boxes[0]["lowerfence"] == within["q1"].tolist()
        assert marks[0]["x"] == within["median"].tolist()
        assert len({t["marker"]["symbol"] for t in marks}) == 3
        # Boxes of one retriever stand beside each other.
        positions = [y for t in boxes for y in t["y"]]
        assert len(set(positions)) == 15

    def test_a_scheme_without_cells_has_no_box(self):
        summary = self.summary()
        summary.loc[summary["scheme"] == "cross_frame", ["median", "median_gap"]] = np.nan
        document = spec(pairing_boxes(summary))
        assert len(document["data"]) == 4
        assert "same source" not in pairing_finding(summary)
        assert "another cell" not in pairing_alt(summary, "")

    def test_the_sentence_counts_retrievers(self):
        assert pairing_finding(self.summary()) == (
            "The two wordings of a cell are closer to each other than to other questions of the "
            "same source for all 5 retrievers (median difference in cosine +0.075 to +0.139), and "
            "than to questions of other sources for all 5 retrievers (median difference in cosine "
            "+0.220 to +0.524)."
        )
        weak = self.summary()
        weak.loc[weak["retriever"] == "qwen3-embedding-8b", "p_holm"] = 0.2
        assert "for 4 of 5 retrievers" in pairing_finding(weak)


class TestOverlap:
    def rows(self) -> pd.DataFrame:
        pairs = (("bm25", "minilm-l6", 0.25), ("bm25", "own<i>", 0.5), ("minilm-l6", "own<i>", 1.0))
        return pd.DataFrame(
            [
                {"retriever": a, "other": b, "k": 10, "n": 8, "overlap": share}
                for a, b, share in pairs
            ]
        )

    def test_each_pair_once_with_its_number(self):
        heat = spec(overlap_map(self.rows()))["data"][0]
        # In the catalogue's order MiniLM stands before BM25; unknown ones come last.
        assert heat["x"] == ["MiniLM-L6", "BM25"]
        assert heat["y"] == ["BM25", "own‹i›"]
        assert heat["z"] == [[0.25, None], [1.0, 0.5]]
        assert heat["text"] == [["0.25", ""], ["1.00", "0.50"]]

    def test_sentence_and_alt(self):
        told = overlap_finding(self.rows())
        assert "on average 58% of their first 10 documents" in told
        assert "most alike are MiniLM-L6 and own<i>, 100%" in told
        assert "least alike BM25 and MiniLM-L6, 25%" in told
        assert "<i>" not in overlap_alt(self.rows(), told)
        one = overlap_finding(self.rows().iloc[:1])
        assert one.endswith("BM25 and MiniLM-L6, 25%.")

    def test_nothing_in_common_to_compare(self):
        rows = self.rows().assign(overlap=np.nan)
        assert "No two retrievers" in overlap_finding(rows)
        assert spec(overlap_map(rows))["data"][0]["z"] == [[None, None], [None, None]]
