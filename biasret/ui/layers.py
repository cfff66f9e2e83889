"""What a model's layers know of the signal: measured here, and published."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from biasret import probes, published, reproduction
from biasret.charts.layers import decodability, information, layer_f1, layer_information, layers_alt
from biasret.datasets.base import DatasetRecord
from biasret.sentences import retriever_label
from biasret.ui import reads
from biasret.ui.pages import markdown_safe, pick, show
from biasret.ui.paper import notes

__all__ = ["layers", "published_layers"]

#: What decodability is, and is not, evidence of.
_MEANING = (
    "A high F1 shows that the wordings of the two groups lie on two sides of a plane in a layer. "
    "It does not show that the retriever uses that to rank, nor that what lies there is identity: "
    "words and length that go with a group are enough. V-information is what a layer tells beyond "
    "the input embeddings, which see words without their context; below zero, its columns cost "
    "the probe more than they tell, as happens where questions are few."
)

#: The published questions, and which two groups the probes tell apart.
_PUBLISHED = {
    "hcmagic_synth": ("HealthCareMagic, rewritten", "WME", "AAL"),
    "allsides_synth": ("AllSides, written", "right", "left"),
}


def layers(record: DatasetRecord, *, key: str) -> None:
    """The curves of every model probed here on a dataset.

    Parameters
    ----------
    key
        Prefix of the page's choices in the link.
    """
    st.subheader("What do the layers know?")
    if record.minuend is None or record.subtrahend is None:
        st.info(
            "This dataset labels no groups that a probe could tell apart.", icon=":material/info:"
        )
        return
    scores = reads.rows("probe_scores", record.name)
    if scores.empty:
        st.info(
            "No model has been probed on this dataset yet. Run "
            f"`python -m biasret layers --dataset '{record.name}'`.",
            icon=":material/hourglass_empty:",
        )
        return
    present = set(scores["split_rule"])
    rules = {name: rule.label for name, rule in probes.SPLIT_RULES.items() if name in present}
    rule = pick(
        "How questions are divided",
        f"{key}_splits",
        rules,
        help=" ".join(f"{r.label}: {r.about}." for r in probes.SPLIT_RULES.values()),
    )
    of_rule = scores[scores["split_rule"] == rule]
    curves = reads.in_order(probes.curves(of_rule))
    _draw(
        curves,
        minuend=record.minuend,
        subtrahend=record.subtrahend,
        name=f"{key}-layers",
        about={
            "dataset": record.name,
            "world": _world(record, of_rule),
            "splits": probes.SPLIT_RULES[rule].about,
        },
    )
    st.caption(markdown_safe(_design(of_rule)))
    st.caption(_MEANING)


def _world(record: DatasetRecord, scores: pd.DataFrame) -> str:
    if scores["n_test"].isna().all():
        return "imported: scores as they were released"
    here = "measured here" + (" on illustrative data" if record.is_illustrative else "")
    return f"{here}; of some models imported" if scores["n_test"].isna().any() else here


def _design(scores: pd.DataFrame) -> str:
    n_splits = scores["split"].nunique()
    base = scores[scores["kind"] == probes.BASELINE]
    counted = base.dropna(subset="n_test")
    told = (
        f"Logistic regression on mean hidden states, scaled on the training part; {n_splits} splits"
    )
    if not counted.empty:
        first = counted[counted["retriever"] == counted["retriever"].iloc[0]]
        train, test = _range(first["n_train"]), _range(first["n_test"])
        told += f" with {train} questions to train and {test} to test"
    told += (
        ". Bands: mean and 1.96 standard errors over splits, a spread and no confidence interval, "
        "since splits share questions. No test is made, so nothing is corrected."
    )
    if len(counted) < len(base):
        names = base.loc[base["n_test"].isna(), "retriever"].unique()
        whose = (
            "The scores" if counted.empty else f"Scores of {', '.join(map(retriever_label, names))}"
        )
        told += (
            f" {whose} were imported; they came without counts of questions, and nothing says how "
            "many of a split's test questions have one of the same source in training."
        )
    if counted.empty:
        return told
    n_test, n_shared = int(first["n_test"].sum()), int(first["n_shared"].sum())
    if n_shared:
        told += (
            f" {n_shared / n_test:.0%} of test questions have one of the same source in training, "
            "often their own counterpart of the other group: nearly the same vector under the "
            "other label, which can push scores down as well as up."
        )
    else:
        told += " No source is on both sides."
    return f"{told} A coin toss scores 0.5 where groups are of one size."


def _range(counts: pd.Series) -> str:
    low, high = f"{counts.min():,}", f"{counts.max():,}"
    return low if low == high else f"{low} to {high}"


def published_layers(*, key: str) -> None:
    """The curves of Fig. 4, recomputed from the released scores, with what is odd about them."""
    st.subheader("What do the layers know?")
    name = pick(
        "Questions", f"{key}_questions", {name: words[0] for name, words in _PUBLISHED.items()}
    )
    _, minuend, subtrahend = _PUBLISHED[name]
    curves = reproduction.probe_curves(published.load("probe_scores"))
    _draw(
        curves[curves["dataset"] == name].reset_index(drop=True),
        minuend=minuend,
        subtrahend=subtrahend,
        name=f"{key}-layers-published",
        about={
            "dataset": name,
            "world": "published (Tang et al. 2026), curves computed from the released scores",
            "exhibit": "Fig. 4",
        },
    )
    splits = (
        "five folds over 7,446 questions, drawn one by one"
        if name == "allsides_synth"
        else "one split for each of three rewrites"
    )
    st.caption(
        "Published by Tang et al. (2026), Fig. 4; the curves are computed here from the released "
        f"score of every probe: {splits}. Questions of one source can be on both sides of a "
        "split. Bands: mean and 1.96 standard errors over splits; the release gives no interval "
        "of V-information and no test."
    )
    st.caption(_MEANING)
    notes("fig04")


def _draw(
    curves: pd.DataFrame, *, minuend: str, subtrahend: str, name: str, about: dict[str, str]
) -> None:
    sentence = decodability(curves, minuend=minuend, subtrahend=subtrahend)
    show(
        layer_f1(curves),
        curves,
        name=f"{name}-f1",
        sentence=sentence,
        alt=layers_alt(curves, sentence, "f1"),
        about={**about, "shown": f"F1 of {subtrahend}, mean over splits, by layer"},
    )
    sentence = information(curves)
    show(
        layer_information(curves),
        curves,
        name=f"{name}-information",
        sentence=sentence,
        alt=layers_alt(curves, sentence, "v_information"),
        about={**about, "shown": "V-information beyond the input embeddings in nats, by layer"},
    )
