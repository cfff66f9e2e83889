"""The exhibits that compare two groups: which, by what, under which rule and test."""

from __future__ import annotations

from dataclasses import dataclass

from biasret.catalogue import Catalogue

__all__ = ["PUBLISHED_GAPS", "PublishedGaps"]


@dataclass(frozen=True)
class PublishedGaps:
    """An exhibit that compares two groups.

    Attributes
    ----------
    name
        A key of `biasret.published.EXHIBITS`.
    signal
        A key of ``SIGNALS``.
    p_quantity, test
        Which of the exhibit's p-values stands behind its stars, and what the test is called;
        None where the exhibit tests no gap.
    rules
        Names of filters by item of the exhibit; the item is empty where there is one.
    is_paired
        Whether both groups stand in every cell.
    counts
        Exhibit and item that hold the sizes of the two groups where this one has their sum.
    """

    name: str
    label: str
    signal: str
    about: str
    metric: str
    k: int | None
    minuend: str
    subtrahend: str
    p_quantity: str | None
    test: str
    rules: tuple[tuple[str, str], ...] = (("", "raw"),)
    is_paired: bool = False
    counts: tuple[str, str] | None = None


_SIGN_FLIP = ("p_signflip", "sign-flip permutation")
_WILCOXON = ("p_wilcoxon", "Wilcoxon signed-rank")
_MANN_WHITNEY = ("p_mannwhitney", "Mann-Whitney U")
_LEAN = ("lean", 10, "right", "left")
_ASKERS = ("lean", 10, "conservative", "liberal")
_RR = ("rr", None, "WME", "AAL")

PUBLISHED_GAPS: Catalogue[PublishedGaps] = Catalogue(
    "published comparison",
    [
        PublishedGaps(
            "table06",
            "Reddit, by judge",
            "lean",
            "Titles of posts by liberal and conservative askers; lean of the first ten documents, "
            "or of those among them that a judge holds relevant",
            *_ASKERS,
            *_MANN_WHITNEY,
            rules=(
                ("raw", "raw"),
                ("gpt", "judge:gpt-5-mini"),
                ("qwen", "judge:Qwen3.5-35B-A3B"),
                ("gold", "judges"),
            ),
        ),
        PublishedGaps(
            "table07",
            "AllSides, framed questions",
            "lean",
            "Left and right wordings of one news story in one media frame, generated; cells whose "
            "two lists hold a document of the same story",
            *_LEAN,
            *_SIGN_FLIP,
            rules=(("", "same-story"),),
            is_paired=True,
        ),
        PublishedGaps(
            "table08",
            "Reddit, askers' own titles",
            "lean",
            "Titles of posts by liberal and conservative askers; lean among the documents that two "
            "judges hold relevant",
            *_ASKERS,
            *_MANN_WHITNEY,
            rules=(("", "judges"),),
        ),
        PublishedGaps(
            "table11",
            "HealthCareMagic, rewritten questions",
            "dialect",
            "Patients' questions in WME and three generated AAL rewrites of each",
            *_RR,
            *_WILCOXON,
            is_paired=True,
        ),
        PublishedGaps(
            "table12",
            "HealthCareMagic, natural questions",
            "dialect",
            "Questions by different patients, labelled WME or AAL by a language model of tweets",
            *_RR,
            *_MANN_WHITNEY,
        ),
        PublishedGaps(
            "table13",
            "HealthCareMagic, translated questions",
            "dialect",
            "Natural AAL questions beside their translations to WME by a language model; the same "
            "answer counts as gold",
            "rr",
            None,
            "translated WME",
            "AAL",
            *_WILCOXON,
            is_paired=True,
        ),
        PublishedGaps(
            "table15",
            "Reddit, twenty deep",
            "lean",
            "Titles of posts by liberal and conservative askers; all of the first twenty documents",
            "lean",
            20,
            "conservative",
            "liberal",
            None,
            "none published",
        ),
        PublishedGaps(
            "fig09a",
            "AllSides, every cell",
            "lean",
            "Left and right wordings of one news story in one media frame; no cell is left out",
            *_LEAN,
            *_WILCOXON,
            is_paired=True,
        ),
        PublishedGaps(
            "fig09b",
            "Reddit, every title",
            "lean",
            "Titles of posts by liberal and conservative askers; all of the first ten documents",
            *_ASKERS,
            *_MANN_WHITNEY,
            counts=("table06", "raw"),
        ),
        PublishedGaps(
            "fig10",
            "AllSides, judged",
            "lean",
            "Left and right wordings of one news story in one media frame; lean among the "
            "documents that two judges hold relevant",
            *_LEAN,
            *_WILCOXON,
            rules=(("", "judges"),),
            is_paired=True,
        ),
        PublishedGaps(
            "fig11",
            "Reddit, titles with a relevant find",
            "lean",
            "Titles of posts by liberal and conservative askers with a relevant document among "
            "the first ten; all of the first ten documents",
            *_ASKERS,
            *_MANN_WHITNEY,
            rules=(("", "retained"),),
            counts=("table08", ""),
        ),
    ],
)
