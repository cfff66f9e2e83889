"""Source files of the published numbers, read into the tables of `biasret.published`."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from biasret.errors import FileError
from biasret.published.exhibits import EXHIBITS, RETRIEVERS, Exhibit

__all__ = ["numbers", "probe_scores", "ranks"]

_KEY = ["exhibit", "dataset", "retriever", "item", "quantity", "source"]
_COLUMNS = [*_KEY[:-1], "value", "text", "unit", "sign", "source"]

#: Columns that name a row or describe the outcome in words, and so are no numbers; the
#: texts of dropped questions stay out as well.
_NOT_NUMBERS = {
    "encoder",
    "dataset",
    "group",
    "figure",
    "condition",
    "scheme",
    "query_group",
    "outcome_unit",
    "residual_coefficient",
    "gap_definition",
    "n_unit",
    "test",
    "where",
    "dialect",
    "source_idx",
    "query_first_30_chars",
}

#: What a source column is called here, after units and directions are cut off its name.
_QUANTITIES = {
    "delta": "gap",
    "raw_gap": "gap",
    "delta_lean_allcells": "gap_all_cells",
    "wilcoxon_p": "p_wilcoxon",
    "signflip_p": "p_signflip",
    "signflip_p_plus1": "p_signflip",
    "mwu_p": "p_mannwhitney",
    "n_cells": "n_pairs",
    "n_cells_all": "n_cells_total",
    "n_articles": "n_clusters",
    "n_WME": "n_minuend",
    "n_conservative": "n_minuend",
    "n_AAL": "n_subtrahend",
    "n_liberal": "n_subtrahend",
    "MRR_WME": "mean_minuend",
    "MRR_transWME": "mean_minuend",
    "MRR_AAL": "mean_subtrahend",
    "MRR_AAL_mean_of_3": "mean_subtrahend",
    "mean_MRR": "mean",
    "length_chars_stripped": "length",
    "cohen_kappa": "kappa",
    "rel_rate_gpt": "relevant_rate_gpt",
    "rel_rate_qwen": "relevant_rate_qwen",
    "frac_gold": "relevant_rate_both",
    "mean_lex_WME": "mean_lex_minuend",
    "mean_lex_conservative": "mean_lex_minuend",
    "mean_lex_AAL": "mean_lex_subtrahend",
    "mean_lex_liberal": "mean_lex_subtrahend",
    "beta_times_mean_lex_WME": "beta_times_mean_lex_minuend",
    "beta_times_mean_lex_con": "beta_times_mean_lex_minuend",
    "mean_lexdiff": "mean_regressor",
    "mean_asym": "mean_regressor",
    "sd_asym": "sd_regressor",
    "beta_times_mean_lexdiff": "beta_times_mean_regressor",
    "beta_times_mean_asym": "beta_times_mean_regressor",
}

_DIRECTION = re.compile(r"_(R_minus_L|con_minus_lib|(trans)?WME_minus_AAL)")
_UNIT = re.compile(
    r"_(lean(10|20)?(_gold)?|MRR|RR|per_zeta|zeta|cosine|chars|ratio|percent|count|fraction)$"
)
_ITEM = {
    "table04": "group",
    "fig03a": "query_group",
    "fig03b": "query_group",
    "fig19": "query_group",
    "fig05_means": "scheme",
    "fig05_quartiles": "scheme",
}
#: Columns of the pairing tests: what they hold, and with what a cell's own pair is compared.
_ARTICLE, _OTHER = "within_article_cross_frame", "cross_article"
_PAIRING_TESTS = {
    "wilcoxon_W_withincell_gt_withinarticle": ("wilcoxon_w", _ARTICLE),
    "wilcoxon_p_one_sided": ("p_wilcoxon_one_sided", _ARTICLE),
    "n_pairs": ("n_pairs", _ARTICLE),
    "wilcoxon_W_withincell_gt_crossarticle": ("wilcoxon_w", _OTHER),
    "wilcoxon_p_one_sided_cross": ("p_wilcoxon_one_sided", _OTHER),
    "n_pairs_cross": ("n_pairs", _OTHER),
    "median_paired_delta_cosine_wc_minus_wa": ("median_gap", _ARTICLE),
    "ci95_low_cosine": ("median_gap_ci_low", _ARTICLE),
    "ci95_high_cosine": ("median_gap_ci_high", _ARTICLE),
    "median_paired_delta_cosine_wc_minus_ca": ("median_gap", _OTHER),
}
#: Which way the gaps of Table 3 point, by dataset.
_SIGNS = {
    "allsides_synth": "right - left",
    "reddit_nat": "conservative - liberal",
    "hcmagic_synth": "WME - AAL",
    "hcmagic_nat": "WME - AAL",
}
_WORDS = {
    "AAL (mean of 3 rewrites)": "AAL",
    "paper page and repo": "page and release",
    "repo only (row missing from the paper page)": "release only",
    "p": "probability",
    "p upper bound": "probability, upper bound",
    "chars": "characters",
    "cohen_kappa": "kappa",
}
#: Digits copied wrongly into the source files, by exhibit, retriever and quantity: as found,
#: and as in the release (whose interval, unlike the copy, is estimate and 1.96 errors).
_ERRATA = {
    ("table18", "qwen3-embedding-8b", "beta_ci_low"): (
        "-0.0003861423749100258",
        "-0.0003861422749100258",
    ),
}
#: Kinds of p in a figure whose file names the test row by row.
_TESTS = {"wilcoxon_two_sided": "p_wilcoxon", "mann_whitney_two_sided": "p_mannwhitney"}
#: The release's summaries whose intercept intervals the tables leave out.
_INTERCEPTS = {
    "table15": "repo/reddit_lex_residual_summary.csv",
    "table16": "repo/reddit_lex_residual_gold_summary.csv",
    "table18": "repo/hcmagic_lex_residual_real_summary.csv",
}


def numbers(folder: Path) -> pd.DataFrame:
    """The table ``published``.

    Parameters
    ----------
    folder
        Source folder.

    Returns
    -------
    pandas.DataFrame
        In the order of `EXHIBITS`, then of the source file.

    Raises
    ------
    FileError
        A file is missing, or two numbers have the same name.
    """
    rows: list[dict[str, object]] = []
    for exhibit in EXHIBITS.values():
        if exhibit.table != "published":
            continue
        if exhibit.file.endswith(".json"):
            counts = json.loads(_read(folder / exhibit.file))
            rows += [
                _number(exhibit, quantity=name, printed=str(value), source="release")
                for name, value in counts.items()
                if not isinstance(value, str)
            ]
            continue
        for line in csv.DictReader(_read(folder / exhibit.file).splitlines()):
            if line.get("figure", exhibit.name) == exhibit.name:
                rows += _line(exhibit, line)
        if exhibit.name in _INTERCEPTS:
            rows += _intercepts(exhibit, _read(folder / _INTERCEPTS[exhibit.name]))
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    frame = frame.astype({name: "str" for name in _COLUMNS if name != "value"})
    repeated = frame.duplicated(_KEY)
    if repeated.any():
        raise FileError(f"Two numbers are both {frame.loc[repeated, _KEY].iloc[0].to_dict()}.")
    return frame


def ranks(folder: Path) -> pd.DataFrame:
    """The table ``ranks``: retrievers in the paper's order, rows in file order."""
    frames = []
    for retriever in RETRIEVERS:
        path = folder / "per_query" / f"hcmagic_nat_ranks_{retriever}.csv"
        _read(path)
        frames.append(pd.read_csv(path).assign(dataset="hcmagic_nat", retriever=retriever))
    columns = ["dataset", "query_id", "variant", "retriever", "rank"]
    frame = pd.concat(frames, ignore_index=True)[columns]
    return frame.astype(dict.fromkeys(columns[:-1], "str") | {"rank": "int64"})


def probe_scores(folder: Path) -> pd.DataFrame:
    """The table ``probe_scores``, rows in file order."""
    path = folder / "per_query" / "probe_scores.csv"
    _read(path)
    frame = pd.read_csv(path, dtype={"split": "str", "layer": "Int64"})
    return frame.rename(
        columns={"ds_name": "dataset", "source": "probe", "model": "retriever", "acc": "accuracy"}
    )


def _line(exhibit: Exhibit, line: dict[str, str]) -> Iterator[dict[str, object]]:
    """Numbers of one line of a source file."""
    dataset = line.get("dataset", "").lower() or exhibit.dataset
    item = line.get(_ITEM.get(exhibit.name, ""))
    if exhibit.name == "table10":
        item = f"hcm_{line['dialect']}_{line['source_idx']}"
    if exhibit.name in ("scalars", "judges"):
        # One number a line, named in the line itself.
        where = line.get("where")
        source = "paper" if where and not where.startswith("repo") else "release"
        yield _number(
            exhibit,
            item=where,
            quantity=_QUANTITIES.get(line["quantity"], line["quantity"]),
            printed=line["value"],
            source=source,
            unit=_WORDS.get(line["unit"], line["unit"]),
        )
        return
    for column, printed in line.items():
        if column in _NOT_NUMBERS or printed == "":
            continue
        stem, _, source = column.rpartition("_")
        if source not in ("paper", "repo"):
            stem, source = column, "paper" if exhibit.name == "table05" else "repo"
        if exhibit.name == "table06":
            stem, item = _filter_of(stem)
        quantity = _quantity(stem)
        if exhibit.name == "fig05_tests":
            quantity, item = _PAIRING_TESTS[column]
        if quantity == "p_value":
            quantity = _TESTS[line["test"]]
        yield _number(
            exhibit,
            dataset=dataset,
            retriever=line.get("encoder"),
            item=_WORDS.get(item or "", item),
            quantity=quantity,
            printed=_WORDS.get(printed, printed),
            source="release" if source == "repo" else "paper",
            unit=_unit(exhibit, stem, quantity, dataset),
        )


def _intercepts(exhibit: Exhibit, text: str) -> Iterator[dict[str, object]]:
    for line in csv.DictReader(text.splitlines()):
        for quantity in ("alpha_ci_low", "alpha_ci_high", "alpha_p"):
            yield _number(
                exhibit,
                retriever=line["encoder"],
                quantity=quantity,
                printed=line[quantity],
                source="release",
                unit=_unit(exhibit, quantity, quantity, exhibit.dataset),
            )


def _number(
    exhibit: Exhibit,
    *,
    quantity: str,
    printed: str,
    source: str,
    dataset: str | None = None,
    retriever: str | None = None,
    item: str | None = None,
    unit: str | None = None,
) -> dict[str, object]:
    wrong, right = _ERRATA.get((exhibit.name, retriever or "", quantity), ("", ""))
    printed = right if printed == wrong and source == "release" else printed
    try:
        value = float(printed)
    except ValueError:
        value = math.nan
    # The printed form tells how far a number was rounded.
    is_text = source == "paper" or math.isnan(value)
    dataset = dataset or exhibit.dataset
    sign = _SIGNS[dataset] if exhibit.name == "table03" else exhibit.sign
    return {
        "exhibit": exhibit.name,
        "dataset": dataset or None,
        "retriever": retriever,
        "item": item,
        "quantity": quantity,
        "value": value,
        "text": printed if is_text else None,
        "unit": unit or exhibit.unit,
        "sign": sign if sign and _is_signed(exhibit, quantity) else None,
        "source": source,
    }


def _is_signed(exhibit: Exhibit, quantity: str) -> bool:
    signed: tuple[str, ...] = (
        *("gap", "ci_", "residual_gap", "gamma", "mean_regressor", "median_gap"),
        "beta_times_mean_regressor",
    )
    if exhibit.name in ("table14", "table17"):
        # There it is the mean of paired differences; elsewhere the subtrahend's own level.
        signed += ("alpha",)
    return quantity.startswith(signed) and not quantity.endswith(("_p", "_se", "_over_raw"))


def _filter_of(stem: str) -> tuple[str, str]:
    """Quantity and relevance filter in a column name of Table 6."""
    found = re.search(r"raw|gpt|qwen|gold", stem)
    assert found, stem
    if stem.startswith("gap"):
        return "gap", found.group()
    if "mwu_p" in stem:
        return "mwu_p", found.group()
    return ("n_WME" if stem.startswith("n_con") else "n_AAL"), found.group()


def _quantity(stem: str) -> str:
    name = _DIRECTION.sub("", stem)
    if name not in _QUANTITIES:
        while (shorter := _UNIT.sub("", name)) != name:
            name = shorter
    name = _QUANTITIES.get(name, name).replace("ci95_", "ci_")
    name = name.replace("mean_lean_liberal", "mean_subtrahend")
    return name.replace("mean_lean_conservative", "mean_minuend").replace("delta", "gap")


def _unit(exhibit: Exhibit, stem: str, quantity: str, dataset: str) -> str:
    outcome = exhibit.unit
    if exhibit.name == "table03":
        outcome = "reciprocal rank" if dataset.startswith("hcmagic") else "lean"
    rules = (
        (r"^(beta|beta_se|beta_ci_low|beta_ci_high)$", f"{outcome} per zeta"),
        (r"^(p_.*|.*_p)$", "probability"),
        (r"^n(_|$)", "count"),
        (r"^(mean_lex_.*|mean_regressor|sd_regressor)$", "zeta"),
        (r"(stars|significance|seen_in|display_name|checkpoint)$", "text"),
        (r"^(gamma_over_raw|r_squared)$", "ratio"),
        (r"^wilcoxon_w$", "rank sum"),
        (r"kappa$", "kappa"),
        (r"^parameters_billion$", "billion"),
    )
    for pattern, unit in rules:
        if re.search(pattern, quantity):
            return unit
    return next((word for word in ("percent", "fraction") if word in stem), outcome)


def _read(path: Path) -> str:
    if not path.is_file():
        raise FileError(f"{path} is missing. Name a folder that holds every source file.")
    return path.read_text(encoding="utf-8")
