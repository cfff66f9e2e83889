"""Where the paper's page and the authors' release do not say the same."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DISAGREEMENTS", "Disagreement", "disagreements"]


@dataclass(frozen=True)
class Disagreement:
    """One difference between page and release.

    Attributes
    ----------
    exhibits
        Keys of `biasret.published.EXHIBITS` that it concerns.
    what
        The difference, and which side this project follows.
    """

    exhibits: tuple[str, ...]
    what: str


DISAGREEMENTS = (
    Disagreement(
        ("table07", "table13"),
        "Sign-flip p-values: the page prints hits over permutations (2.8e-4 for Nemotron in "
        "Table 7; 2.0e-4 for BGE and 3.8e-4 for BM25 in Table 13), the release counts the observed "
        "value as one more (3.0e-4, 2.2e-4, 4.0e-4). The release's are shown.",
    ),
    Disagreement(
        ("table06", "table08"),
        "Octen under both judges: Table 6 on the page prints 0.104 with p 0.002; Table 8 and the "
        "release have 0.1035 with p 1.46e-3.",
    ),
    Disagreement(
        ("table06",),
        "The caption of Table 6 says that tighter filters give larger gaps. Two cells do not: "
        "Octen under gpt-5-mini alone (0.043) lies below its unfiltered gap (0.048), and Qwen "
        "under both judges (0.069) below Qwen under the second judge alone (0.080).",
    ),
    Disagreement(
        ("table04",),
        "Table 4 on the page has five rows; the release has eight.",
    ),
    Disagreement(
        ("table05",),
        "Table 5 names one BM25 implementation; the release uses an Okapi variant for the "
        "political sets and a Lucene variant for HealthCareMagic.",
    ),
    Disagreement(
        ("judges", "judges_by_retriever"),
        "Fig. 8 states temperature 0 for both judges; the requests to gpt-5-mini set none.",
    ),
    Disagreement(
        ("fig10",),
        "The caption of Fig. 10 says p below 1e-10 for all six retrievers; the release has "
        "1.6e-10 for BGE and 5.3e-10 for BM25.",
    ),
    Disagreement(
        ("table10",),
        "Table 10 on the page lists six of the nine questions that were dropped.",
    ),
    Disagreement(
        ("table03", "table15"),
        "Table 3 mixes depths: its Reddit columns are unfiltered lean@20, its AllSides columns "
        "lean@10 of cells that find their story.",
    ),
    Disagreement(
        ("fig04",),
        "The released probe scores of HealthCareMagic come from test sets of 4,434 to 4,537 rows "
        "that differ by model and kind of probe, not from the 2,000 rows that the described split "
        "would give; scores of different models are not on one test set.",
    ),
    Disagreement(
        ("table12", "fig03b"),
        "The abstract says that every retriever does worse on AAL; the gap of BGE on natural "
        "questions is not significant (p 0.098).",
    ),
    Disagreement(
        ("table13",),
        "Wilcoxon p-values recomputed from the exact ranks differ from the release's by up to "
        "0.6%: the release ranks differences that are equal as fractions but not as floating-point "
        "numbers.",
    ),
)


def disagreements(*exhibits: str) -> list[str]:
    """What is to be said beside these exhibits, each once, in order."""
    return [one.what for one in DISAGREEMENTS if set(one.exhibits) & set(exhibits)]
