"""The published exhibits: what each shows, in which unit, and which way its gaps point."""

from __future__ import annotations

from dataclasses import dataclass

from biasret.catalogue import Catalogue

__all__ = ["EXHIBITS", "PROBED_ROWS", "RETRIEVERS", "Exhibit"]

#: Order of every table and figure, and of the streams that run through several retrievers.
RETRIEVERS = (
    "bge-large-en-v1.5",
    "qwen3-embedding-8b",
    "llama-embed-nemotron-8b",
    "octen-embedding-8b",
    "text-embedding-3-large",
    "bm25",
)

RIGHT_LEFT = "right - left"
CON_LIB = "conservative - liberal"
WME_AAL = "WME - AAL"
TRANSLATED = "translated WME - AAL"

PAGE_AND_RELEASE = "the paper's page and the authors' release"
RELEASE = "the authors' release"


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of Tang et al.

    Parameters
    ----------
    name
        Key of its rows in the table ``published``.
    title
        As the paper numbers it.
    about
        What is shown.
    unit
        Of its outcome; single quantities may have others, named in their rows.
    sign
        What a positive gap means; empty where nothing is compared.
    source
        Where the numbers come from.
    file
        Source file, relative to the source folder.
    dataset
        Dataset of its rows; empty where the file names it row by row.
    table
        The shipped table that holds it.
    """

    name: str
    title: str
    about: str
    unit: str
    sign: str
    source: str
    file: str
    dataset: str = ""
    table: str = "published"


def _figure(name: str, title: str, about: str, sign: str, dataset: str) -> Exhibit:
    file = "fig09_10_11_relevance_robustness.csv"
    if name in ("fig03a", "fig03b", "fig19"):
        file = "fig03_fig19_group_mean_mrr.csv"
    unit = "lean" if "lean" in about else "reciprocal rank"
    return Exhibit(name, title, about, unit, sign, RELEASE, file, dataset)


EXHIBITS: Catalogue[Exhibit] = Catalogue(
    "exhibit",
    [
        Exhibit(
            "table03",
            "Table 3",
            "gap before and after lexical asymmetry is taken out",
            "lean or reciprocal rank",
            "as in each dataset's own table",
            f"{PAGE_AND_RELEASE}; Reddit columns are lean@20, AllSides columns lean@10",
            "table03_raw_vs_residual.csv",
        ),
        Exhibit(
            "table04",
            "Table 4",
            "length of the queries of each group",
            "characters",
            "",
            f"{PAGE_AND_RELEASE}; the page shows five of the eight rows",
            "table04_query_lengths.csv",
        ),
        Exhibit(
            "table05",
            "Table 5",
            "the retrievers",
            "count",
            "",
            "the paper's page",
            "table05_models.csv",
        ),
        Exhibit(
            "table06",
            "Table 6",
            "lean@10 gap by relevance filter",
            "lean",
            CON_LIB,
            f"{PAGE_AND_RELEASE}; BM25 is in the release only",
            "table06_reddit_gap_by_filter.csv",
            "reddit_nat",
        ),
        Exhibit(
            "table07",
            "Table 7, Fig. 2a",
            "paired lean@10 gap of cells whose two queries both found their story",
            "lean",
            RIGHT_LEFT,
            f"{PAGE_AND_RELEASE}, turned from left - right",
            "table07_allsides_gold_paired.csv",
            "allsides_synth",
        ),
        Exhibit(
            "table08",
            "Table 8, Fig. 2b",
            "lean gap over the documents of the top 10 that both judges call relevant",
            "lean",
            CON_LIB,
            PAGE_AND_RELEASE,
            "table08_reddit_gold_gap.csv",
            "reddit_nat",
        ),
        Exhibit(
            "table10",
            "Table 10",
            "questions dropped for having fewer than 20 characters; texts are left out",
            "characters",
            "",
            f"{RELEASE}; the page lists six of the nine",
            "table10_hcmagic_dropped.csv",
            "hcmagic_nat",
        ),
        Exhibit(
            "table11",
            "Table 11, Fig. 3a",
            "paired gap in reciprocal rank, AAL averaged over three rewrites",
            "reciprocal rank",
            WME_AAL,
            PAGE_AND_RELEASE,
            "table11_hcmagic_synth_paired.csv",
            "hcmagic_synth",
        ),
        Exhibit(
            "table12",
            "Table 12, Fig. 3b",
            "gap in mean reciprocal rank between two groups of natural questions",
            "reciprocal rank",
            WME_AAL,
            PAGE_AND_RELEASE,
            "table12_hcmagic_nat_unpaired.csv",
            "hcmagic_nat",
        ),
        Exhibit(
            "table13",
            "Table 13",
            "change in reciprocal rank when an AAL question is translated to WME",
            "reciprocal rank",
            TRANSLATED,
            PAGE_AND_RELEASE,
            "table13_translation_paired.csv",
            "hcmagic_nat",
        ),
        Exhibit(
            "table14",
            "Table 14",
            "lean@10 gap after lexical asymmetry: alpha is what remains",
            "lean",
            RIGHT_LEFT,
            f"{PAGE_AND_RELEASE}, turned from left - right",
            "table14_allsides_lex_residual.csv",
            "allsides_synth",
        ),
        Exhibit(
            "table15",
            "Table 15",
            "unfiltered lean@20 gap after lexical asymmetry: gamma is what remains",
            "lean",
            CON_LIB,
            PAGE_AND_RELEASE,
            "table15_reddit_lex_residual_k20.csv",
            "reddit_nat",
        ),
        Exhibit(
            "table16",
            "Table 16",
            "judged lean gap over the top 10 after lexical asymmetry: gamma is what remains",
            "lean",
            CON_LIB,
            PAGE_AND_RELEASE,
            "table16_reddit_lex_residual_gold_k10.csv",
            "reddit_nat",
        ),
        Exhibit(
            "table17",
            "Table 17",
            "paired gap in reciprocal rank after lexical asymmetry: alpha is what remains",
            "reciprocal rank",
            WME_AAL,
            PAGE_AND_RELEASE,
            "table17_hcmagic_synth_lex_residual.csv",
            "hcmagic_synth",
        ),
        Exhibit(
            "table18",
            "Table 18",
            "gap in reciprocal rank after lexical asymmetry: gamma is what remains",
            "reciprocal rank",
            WME_AAL,
            PAGE_AND_RELEASE,
            "table18_hcmagic_nat_lex_residual.csv",
            "hcmagic_nat",
        ),
        _figure("fig03a", "Fig. 3a", "mean reciprocal rank by group", "", "hcmagic_synth"),
        _figure("fig03b", "Fig. 3b", "mean reciprocal rank by group", "", "hcmagic_nat"),
        Exhibit(
            "fig04",
            "Fig. 4",
            "scores of probes that tell the groups apart, layer by layer",
            "fraction; nats for nce",
            "",
            f"{RELEASE}, cut to six or seven digits",
            "per_query/probe_scores.csv",
            table="probe_scores",
        ),
        Exhibit(
            "fig05_means",
            "Fig. 5",
            "mean cosine of query pairs by how they are paired",
            "cosine",
            "",
            RELEASE,
            "fig05_pairing_mean_cosine.csv",
            "allsides_synth",
        ),
        Exhibit(
            "fig05_quartiles",
            "Fig. 5",
            "quartiles of the cosine of query pairs by how they are paired",
            "cosine",
            "",
            RELEASE,
            "fig05_pairing_quartiles.csv",
            "allsides_synth",
        ),
        Exhibit(
            "fig05_tests",
            "Fig. 5",
            "tests that pairs of one cell are closer than others; p underflows to 0",
            "cosine",
            "same cell - other pairing",
            RELEASE,
            "fig05_pairing_tests.csv",
            "allsides_synth",
        ),
        Exhibit(
            "fig05_index",
            "Fig. 5",
            "how many cells and articles the pairing check could use",
            "count",
            "",
            RELEASE,
            "repo/pairing_similarity_index_meta.json",
            "allsides_synth",
        ),
        _figure("fig09a", "Fig. 9a", "unfiltered lean@10 gap", RIGHT_LEFT, "allsides_synth"),
        _figure("fig09b", "Fig. 9b", "unfiltered lean@10 gap", CON_LIB, "reddit_nat"),
        _figure("fig10", "Fig. 10", "lean gap, judged relevant", RIGHT_LEFT, "allsides_synth"),
        _figure(
            "fig11", "Fig. 11", "lean@10 gap, queries with a relevant find", CON_LIB, "reddit_nat"
        ),
        Exhibit(
            "fig17_18_19",
            "Figs. 3b, 17, 18, 19; Tables 12, 13",
            "rank of the gold answer of every natural question and translation",
            "rank",
            "",
            RELEASE,
            "per_query/hcmagic_nat_ranks_*.csv",
            "hcmagic_nat",
            "ranks",
        ),
        _figure("fig19", "Fig. 19", "mean reciprocal rank by group", "", "hcmagic_nat"),
        Exhibit(
            "judges",
            "Appendix F",
            "agreement of the two relevance judges",
            "fraction",
            "",
            RELEASE,
            "appF_reddit_judge_agreement_overall.csv",
            "reddit_nat",
        ),
        Exhibit(
            "judges_by_retriever",
            "Appendix F",
            "agreement of the two relevance judges on each retriever's top 10",
            "fraction",
            "",
            RELEASE,
            "appF_reddit_judge_agreement_per_encoder.csv",
            "reddit_nat",
        ),
        Exhibit(
            "scalars",
            "captions and notes",
            "single numbers",
            "as named in each row",
            "",
            PAGE_AND_RELEASE,
            "scalars_reported.csv",
        ),
    ],
)

#: Rows of the probes' test sets by kind of probe and retriever on hcmagic_synth, inferred:
#: the only sizes for which every accuracy of a group is a fraction of whole rows.
PROBED_ROWS = {
    ("baseline", "bge-large-en-v1.5"): 4457,
    ("baseline", "llama-embed-nemotron-8b"): 4528,
    ("baseline", "octen-embedding-8b"): 4459,
    ("baseline", "qwen3-embedding-8b"): 4493,
    ("conditional", "bge-large-en-v1.5"): 4434,
    ("conditional", "llama-embed-nemotron-8b"): 4537,
    ("conditional", "octen-embedding-8b"): 4500,
    ("conditional", "qwen3-embedding-8b"): 4522,
    ("normal", "bge-large-en-v1.5"): 4507,
    ("normal", "llama-embed-nemotron-8b"): 4487,
    ("normal", "octen-embedding-8b"): 4509,
    ("normal", "qwen3-embedding-8b"): 4446,
}
