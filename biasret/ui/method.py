"""The Method page: definitions, limits and sources, with every number read from its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from biasret import __version__, audit
from biasret.charts.base import FEW
from biasret.datasets import SHIPPED
from biasret.datasets.base import SIGNALS
from biasret.filters import FILTERS, filter_named
from biasret.metrics import METRICS
from biasret.mitigation import MITIGATIONS
from biasret.published import EXHIBITS
from biasret.reproduction import DISAGREEMENTS
from biasret.retrievers import RETRIEVERS
from biasret.retrievers.base import SCORE_DECIMALS
from biasret.runs import DEPTH
from biasret.sentences import ALPHA
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, save
from biasret.ui.paper import every_number

__all__ = ["SECTIONS", "method"]

_TERMS = {
    "query": "a text that someone asks. **Variant**: one wording of it.",
    "cell": "the content that several wordings share: one news story in one media frame, or one "
    "patient's question. Two groups are compared inside a cell where both were asked there.",
    "cluster": "what is drawn together in a resample, because it is not independent: all cells "
    "of one source article, or one question.",
    "group": "the identity that a wording signals, as a dataset labels it. Nothing here guesses "
    "who a person is.",
    "gold": "the documents that count as relevant: an answer written for the question, or what "
    "a judge graded 1.",
    "ranking, run": "one query's ordered documents, rank from 1; all rankings of one retriever.",
    "gap": "one group's mean minus another's. Each chart says which minus which.",
}


def _definitions() -> None:
    st.markdown("\n".join(f"- **{term}**: {meaning}" for term, meaning in _TERMS.items()))
    st.markdown("**Measures**")
    rows = [
        {
            "measure": one.label if one.ks == (None,) else f"{one.label}@k",
            "meaning": one.about,
            "unit": one.unit,
            "range": f"{one.low:g} to {one.high:g}",
            "k": "none" if one.ks == (None,) else ", ".join(map(str, one.ks)),
            "source": one.source,
        }
        for one in METRICS.values()
    ]
    _listed(rows, "measures")
    st.markdown("**Which way a gap points**")
    st.markdown(
        "\n".join(
            f"- {one.label}: {one.minuend} minus {one.subtrahend}; positive means that "
            f"{one.positive}."
            for one in SIGNALS.values()
        )
    )
    st.markdown("**Which queries count**")
    known = [*FILTERS.values(), *(filter_named(name) for name in ("judges", "retained"))]
    st.markdown(
        "\n".join(f"- {one.label}: {one.about.lower()}." for one in known)
        + "\n- relevant to one judge: the same for a single judge, by name."
    )


def _statistics() -> None:
    paper = audit.PAPER
    st.markdown(
        f"""
- **Rankings.** Scores are rounded to {SCORE_DECIMALS} decimals and ties are broken by document
  id, so that a ranking does not depend on the machine. {DEPTH} documents of each list are kept;
  gold ranks come from the full ranking. The article that a news question was made from is left
  out of its list, as in the paper.
- **Interval.** {paper.level:.0%} percentile bootstrap: whole clusters are drawn with replacement
  {paper.resamples:,} times, seed {paper.seed}. Two groups of different people are each resampled.
- **Tests.** Paired: Wilcoxon signed-rank on the cells' differences, and beside it a sign-flip test.
  Its p is computed over all ways to flip signs, so it can be as small as it is; the paper draws
  50,000 of them, which cannot show a p below 2.0e-05. Where computing would take too long, signs
  are drawn here, too, and the gap's note says so. Unpaired: Mann-Whitney U.
- **Correction.** Stars and filled markers of measured results stand for p after a Holm correction
  over the retrievers that share dataset, metric, depth, filter and groups; both p-values are in
  the table. Choosing among many depths and filters is not corrected for.
- **Found.** A gap is called found when its corrected p lies below {ALPHA}. Otherwise it is said
  that it cannot be told from chance, which is not evidence that there is none.
- **Smallest gap detectable.** From the interval's width: the true gap that a two-sided test at
  0.05 would find in four of five repetitions. A gap much smaller than that cannot be ruled out.
- **Few.** A group of fewer than {FEW} is drawn pale and called few, never hidden.
- **Dropped.** Cells that lack a value of one group are left out, counted, and the reason is in the
  column `dropped_why`.
"""
    )


def _mitigation() -> None:
    st.markdown(
        "A gap before and after is compared in the same cells; so is how well the replaced "
        "wordings find their answer. What no number here shows:"
    )
    st.markdown("\n".join(f"- {one.label}: {one.caution}." for one in MITIGATIONS.values()))


def _demo() -> None:
    st.markdown(
        "Four datasets ship with the project. Everything in them was written for it: stories, "
        "outlets, people, places, questions and answers are invented. They show how the "
        "measurement works, and that it runs."
    )
    rows = []
    for one in SHIPPED.values():
        stored = one.name in reads.datasets()
        counts = reads.counts(one.name) if stored else {}
        rows.append({"dataset": one.record.label, "about": one.record.about, **counts})
    _listed(rows, "demo")
    st.markdown(
        """
What they cannot show:

- They are **not evidence** about any real retriever's users: their writers knew what is measured,
  and wording, topics and difficulty are those of a few hands.
- They are small. A gap of one hundredth can go unseen; the column `detectable` says how small a
  gap could have been found.
- Rewrites are **synthetic**: features of AAL laid over WME sentences by rule, not a speaker's
  words. Questions written by hand in AAL stand in datasets of their own.
- One gold answer a question: another document that would help as well counts as a miss.

More is in `docs/demo_data.md` and in the files themselves, which are plain JSON.
"""
    )


def _engines() -> None:
    from biasret.signals.dialect.records import ENGINE_VERSION
    from biasret.signals.framing.records import ENGINE, LEXICON_DATE

    st.markdown(
        f"""
**Dialect engine {ENGINE_VERSION}** (`docs/dialect.md`). Rules with stated licensing conditions
put features of AAL into a WME question, and translate back. Each edit is explained. It has none of
AAL's vocabulary, discourse or prosody and little of its aspect system; features are optional for
speakers, so density 1.0 is a stress test. Translation leaves what it does not recognise.

**Framing engine, {ENGINE}** (`docs/framing.md`). A word list, vocabulary as of {LEXICON_DATE}, and
templates for media frames. It rates wording, never who typed it. US English, two sides by design;
"neutral" means the most descriptive wording found, and several entries are contested. A question
whose leaning words it does not know passes through unchanged.
"""
    )


def _limits() -> None:
    st.markdown(
        """
- **A gap is not yet harm.** Results that lean as the question leans may be what an asker wants, or
  may narrow what they get to see. The number says that lists differ, not whether they should.
- **lean@k** takes an outlet's label for an article's stance, and a center document for nothing.
- **Wordings differ in more than identity.** Length, rare words and facts asked for change too;
  *Beyond vocabulary* takes out what single words explain, not word order or style.
- **Labels are inferred** in the natural sets: ideology by language models, dialect by a model of
  tweets that calls text without known words AAL. Askers of different groups also ask about
  different things, so an unpaired gap mixes wording with content.
- **Relevance is judged by models** where no answer was written, and the judges agree moderately.
- **A retriever is one part.** What a person sees depends on rerankers, models and pages after it.
- **Near-ties** may fall differently on another processor; shipped rankings are the reference.
"""
    )


def _respect() -> None:
    st.markdown(
        """
African American Language is a complete, rule-governed variety of English. A retriever that serves
it worse falls short; the speaker does not. Say *gap*, *assess*, *mitigate*. Groups are labels of a
dataset: do not use the scorers on people, and do not infer a person's race, dialect or politics
from what they type. Show generated wordings as generated. Reddit posts are identified by id alone
here; their texts are not shipped, and should not be looked up to name their writers. Health
questions can be personal: the Probe can leave typed text out of the link.
"""
    )


def _release() -> None:
    st.markdown(
        "Published numbers come from the paper's page, as printed, and from the authors' release "
        "at full precision. Where the two differ, the release is drawn and both are listed:"
    )
    for one in DISAGREEMENTS:
        titles = ", ".join(dict.fromkeys(EXHIBITS[name].title for name in one.exhibits))
        st.markdown(f"- **{markdown_safe(titles)}.** {markdown_safe(one.what)}")
    every_number("scalars", key="method")


def _licences() -> None:
    st.markdown("**Retrievers**")
    rows = [
        {
            "retriever": one.label,
            "checkpoint": one.checkpoint,
            "revision": one.revision,
            "size": one.parameters,
            "licence": one.licence,
            "tokens read": "all" if one.max_tokens is None else f"{one.max_tokens:,}",
            "works offline": "yes" if one.is_offline else "no",
            "how to get it": one.install,
        }
        for one in RETRIEVERS.values()
        if not one.is_teaching_example
    ]
    _listed(rows, "retrievers")
    st.markdown("**Data in this store**")
    rows = [
        {
            "dataset": one.label,
            "name": one.name,
            "source": one.source or "not stated",
            "licence": one.licence or "not stated",
        }
        for one in reads.datasets().values()
    ]
    if rows:
        _listed(rows, "licences")
    else:
        st.caption("The store holds no dataset yet.")
    st.markdown(
        "Published numbers are cited facts; no text of the paper's datasets ships with this "
        "project."
    )


def _citation() -> None:
    st.markdown("The method and the published numbers:")
    st.code(
        """@article{tang2026retrieval,
  title  = {Retrieval Sensitivity to Identity Signals in Queries},
  author = {Tang and Deas and McKeown and Misra},
  year   = {2026}
}""",
        language="bibtex",
    )
    st.markdown("This software, an independent implementation of it:")
    st.code(
        f"""@software{{biasret,
  title   = {{biasret: how much search changes with the asker}},
  version = {{{__version__}}},
  year    = {{2026}},
  license = {{Apache-2.0}}
}}""",
        language="bibtex",
    )


def _listed(rows: Sequence[Mapping[str, object]], name: str) -> None:
    table = pd.DataFrame(rows)
    st.dataframe(table, hide_index=True, placeholder="—", key=f"method-{name}")
    save(table, name=f"method-{name}", about={"dataset": "method", "shows": name})


#: Headings of the page and what stands under each.
SECTIONS = {
    "Definitions": _definitions,
    "Intervals, tests and corrections": _statistics,
    "Mitigation": _mitigation,
    "The demo data": _demo,
    "The engines": _engines,
    "Limits": _limits,
    "Respectful use": _respect,
    "Where the paper's page and the release differ": _release,
    "Licences": _licences,
    "Citation": _citation,
}


def method() -> None:
    """Every section, under a heading that a link can name."""
    st.markdown(" · ".join(f"[{title}](#{_anchor(title)})" for title in SECTIONS))
    for title, write in SECTIONS.items():
        st.header(title, anchor=_anchor(title))
        write()


def _anchor(title: str) -> str:
    return "-".join(title.lower().replace("'", "").replace(",", "").split())
