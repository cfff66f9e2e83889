"""The command that asks what a model's layers know of the signal."""

from __future__ import annotations

import argparse
from typing import Any

from biasret.commands.shared import emit, known_dataset, open_store, progress_bar, records_of, say

__all__ = ["layers"]

#: Probed when no retriever is named: they are installed with the offline set, show their
#: layers, and take seconds.
LIGHT = ("minilm-l6", "paraphrase-l3")


def layers(arguments: argparse.Namespace) -> int:
    """``layers``: how decodable the signal is, layer by layer."""
    from biasret.build import read_dataset
    from biasret.errors import InputError
    from biasret.precomputed import Folder
    from biasret.probes import SPLIT_RULES, curves, measure_layers
    from biasret.retrievers import available, record_for
    from biasret.store import make_database

    folder = Folder()
    name = known_dataset(open_store(), arguments.dataset)
    rules = list(dict.fromkeys(arguments.splits or SPLIT_RULES))
    retrievers = arguments.retriever or [r for r in LIGHT if available(record_for(r)).is_available]
    if not retrievers:
        raise InputError(
            f"None of {', '.join(LIGHT)} is installed here; name a transformer with --retriever."
        )
    records = [record_for(r, models=folder.path / "models") for r in retrievers]
    changed = {}
    with folder.lock():
        dataset = read_dataset(folder, name)
        for record, retriever in zip(records, retrievers, strict=True):
            changed[record.name] = measure_layers(
                folder,
                dataset,
                retriever,
                rules=rules,
                is_final_included=arguments.final,
                force=arguments.force,
                progress=progress_bar,
            )
        folder.write_manifest(command="python -m biasret build")
        make_database(folder)
    found = []
    for record in records:
        scores = folder.read("probe_scores", name, record.name)
        lines = curves(scores[scores["split_rule"].isin(rules)])
        found += records_of(lines)
        say(arguments, f"{record.label} ({'made' if changed[record.name] else 'up to date'})")
        for line in lines.to_dict("records"):
            say(arguments, _line(line))
    emit(arguments, {"dataset": name, "changed": changed, "curves": found}, f"store: {folder.path}")
    return 0


def _line(row: dict[str, Any]) -> str:
    import pandas as pd

    spread = "" if pd.isna(row["f1_low"]) else f" [{row['f1_low']:.3f}, {row['f1_high']:.3f}]"
    return (
        f"  {row['split_rule']:<8} layer {row['layer']:>2}  F1 {row['f1']:.3f}{spread}  "
        f"V-information beyond the input {row['v_information']:+.4f} nats"
    )
