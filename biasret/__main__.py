"""``python -m biasret``: argument parsing, progress and exit codes.

Exit 0: done. 1: a check failed or something could not be done. 2: the input was wrong.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from biasret import __version__
from biasret.commands import ask, check, data, exchange, judge, numbers, residuals
from biasret.commands import doctor as checkup
from biasret.commands import layers as layers_command
from biasret.errors import BiasretError, InputError
from biasret.kinds import KINDS, Option, options

DEFAULT_RETRIEVERS_HELP = (
    "a retriever's name, or st:PATH or m2v:PATH for a model of your own; may be given several "
    "times (default: those that work here without a network)"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its code instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return int(arguments.run(arguments) or 0)
    except BiasretError as error:
        print(f"biasret: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        print("biasret: stopped; what was finished is kept.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; closing stderr keeps Python from saying so twice.
        sys.stderr.close()
        return 1
    except OSError as error:
        # A folder that may not be written, a full disk: the system's own words say enough.
        print(f"biasret: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m biasret",
        description="How much search changes when only the person in the question changes.",
    )
    parser.add_argument("--version", action="version", version=f"biasret {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    build = _command(commands, "build", data.build, "make what the pages show")
    build.add_argument("--dataset", action="append", metavar="D", help="default: every dataset")
    build.add_argument("--retriever", action="append", metavar="R", help=DEFAULT_RETRIEVERS_HELP)
    build.add_argument("--force", action="store_true", help="make it again, changed or not")

    bring = _command(commands, "import", data.bring_in, "bring in documents, queries and qrels")
    kinds = "; ".join(f"{kind.name}: {kind.about} (PATH: {kind.path})" for kind in KINDS.values())
    bring.add_argument("kind", choices=list(KINDS), help=kinds)
    bring.add_argument("path", type=Path, metavar="PATH", help="where the source is")
    bring.add_argument("--name", metavar="D", help="what the dataset is called here")
    for option in options().values():
        _kind_option(bring, option)
    bring.add_argument(
        "--vectors",
        action="append",
        default=[],
        metavar="R=FILE.npy",
        help="vectors of the documents by a retriever, row for row of the documents file",
    )
    bring.add_argument("--replace", action="store_true", help="replace a dataset of this name")

    export = _command(commands, "export", exchange.export, "write TREC runs and qrels")
    export.add_argument("--dataset", required=True, metavar="D")
    export.add_argument(
        "--retriever", action="append", metavar="R", help="default: all with results"
    )
    export.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="where to")
    export.add_argument("--escape", action="store_true", help="write ids percent-encoded")
    export.add_argument(
        "--break-ties",
        action="store_true",
        help="lower tied scores by the least step, so that every tool keeps the order",
    )

    derive = _command(commands, "derive", data.derive, "make a dataset of generated wordings")
    derive.add_argument(
        "--dataset", required=True, metavar="D", help="whose documents are searched"
    )
    derive.add_argument("--name", required=True, help="what the new dataset is called")
    _flip_arguments(derive)
    derive.add_argument("--texts", choices=["queries", "titles"], default="queries")
    derive.add_argument("--strict", action="store_true", help="only texts that both sides word")
    derive.add_argument("--neutralised", action="store_true", help="neutralise each wording")

    _model_commands(commands)

    search = _command(commands, "search", ask.search, "ask one retriever one question")
    search.add_argument("query")
    search.add_argument("--dataset", required=True, metavar="D")
    search.add_argument("--retriever", required=True, metavar="R")
    search.add_argument("-k", type=int, default=10, help="documents to show (default 10)")
    search.add_argument(
        "--index",
        choices=["flat", "hnsw", "ivfpq"],
        default="flat",
        help="kind of vector index: flat is exact, the others are measured against it",
    )

    variant = _command(commands, "variant", ask.variant, "write a counterpart of a question")
    variant.add_argument("text")
    _flip_arguments(variant)
    variant.add_argument("--to", required=True, choices=["AAL", "WME", "left", "neutral", "right"])

    score = _command(commands, "score", exchange.score, "rate how much a text resembles AAL")
    score.add_argument("text")

    probe = _command(commands, "probe", ask.probe_text, "flip a question and see what moves")
    probe.add_argument("text")
    probe.add_argument("--dataset", required=True, metavar="D")
    probe.add_argument("--retriever", action="append", metavar="R", help=DEFAULT_RETRIEVERS_HELP)
    probe.add_argument("-k", type=int, default=10, help="documents compared (default 10)")
    _flip_arguments(probe)
    probe.add_argument(
        "--to", choices=["AAL", "WME"], help="of dialect: what the text is not yet (default AAL)"
    )
    probe.add_argument(
        "--mitigate", action="store_true", help="ask once more with the signal taken out"
    )

    for name, run, about in (
        ("gaps", numbers.gaps, "print measured gaps"),
        ("residuals", residuals.residuals, "print what remains of gaps beyond vocabulary"),
    ):
        printed = _command(commands, name, run, about)
        printed.add_argument("--dataset", metavar="D")
        printed.add_argument("--metric", metavar="M")
        printed.add_argument("--k", type=int, metavar="K")
        printed.add_argument("--filter", metavar="F")

    layers = _command(commands, "layers", layers_command.layers, "probe a model layer by layer")
    layers.add_argument("--dataset", required=True, metavar="D", help="with two groups")
    layers.add_argument(
        "--retriever",
        action="append",
        metavar="R",
        help="a transformer whose layers can be read; may be given several times (default: all "
        "that are installed and light)",
    )
    layers.add_argument(
        "--splits",
        action="append",
        choices=["grouped", "paper"],
        help="keep sources whole, or draw questions one by one as the paper does (default: both)",
    )
    layers.add_argument("--final", action="store_true", help="probe the last layer's output too")
    layers.add_argument("--force", action="store_true", help="make it again, changed or not")

    audit = _command(
        commands, "audit", check.audit, "measure runs made elsewhere, and fail on a condition"
    )
    audit.add_argument("--dataset", required=True, metavar="D")
    audit.add_argument(
        "--run",
        dest="run_file",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a TREC run, or a table (csv, tsv, jsonl, parquet) of query_id, doc_id and rank or "
        "score; may be given several times",
    )
    audit.add_argument(
        "--retriever",
        action="append",
        metavar="R",
        help="stored results (default: all, or none where a run is given)",
    )
    audit.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="EXPR",
        help="exit with 1 where it holds for a run or cannot be decided: "
        "'abs(gap.lean@10) > 0.05 and p_holm.lean@10 < 0.05'",
    )
    audit.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report: .html, .json or .csv"
    )
    audit.add_argument("--escaped", action="store_true", help="ids of runs are percent-encoded")
    audit.add_argument("--encoding", help="of text files, if not UTF-8")

    paper = _command(commands, "published", numbers.published, "check the paper's own numbers")
    paper.add_argument(
        "--check",
        action="store_true",
        required=True,
        help="recompute what the per-query numbers allow, and test the rest for consistency",
    )
    paper.add_argument(
        "--release",
        metavar="NAME",
        help="recompute the exhibits from the release imported under this name instead",
    )

    bench = _command(commands, "bench", numbers.bench, "measure speed, as ratios within one run")
    bench.add_argument("what", choices=list(numbers.BENCHES))

    about = "say what is installed, stored and missing"
    doctor = _command(commands, "doctor", checkup.doctor, about)
    doctor.add_argument(
        "--speed", action="store_true", help="load every model that is here, and time it"
    )
    return parser


def _kind_option(parser: argparse.ArgumentParser, option: Option) -> None:
    takers = [kind.name for kind in KINDS.values() if option in kind.options]
    about = f"{option.about} (of {', '.join(takers)})"
    if option.is_switch:
        parser.add_argument(option.flag, action="store_true", help=about)
        return
    parser.add_argument(
        option.flag,
        action="append" if option.is_repeated else "store",
        default=[] if option.is_repeated else None,
        choices=option.choices or None,
        metavar=option.metavar,
        type=option.type,
        help=about,
    )


def _model_commands(commands: Any) -> None:
    """Commands that ask a chat model."""
    grade = _command(commands, "judge", judge.judge, "grade the pooled top 10 of every list")
    grade.add_argument("--dataset", required=True, metavar="D")
    grade.add_argument("--judge", required=True, metavar="NAME", help="what the judge is called")
    grade.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="bring in grades (CSV, JSON Lines, Parquet) instead of asking a model",
    )
    grade.add_argument("--replace", action="store_true", help="with --from: replace this judge's")
    grade.add_argument(
        "--rubric",
        choices=["story", "question"],
        help="same news story, or on topic and informative (default: what fits the dataset)",
    )
    _model_arguments(grade, max_tokens=64)

    frames = _command(commands, "frames", judge.frames, "name the media frames of each article")
    frames.add_argument("--dataset", required=True, metavar="D", help="whose documents are read")
    frames.add_argument("--stance", choices=["left", "center", "right"], help="only such articles")
    frames.add_argument("--out", required=True, type=Path, metavar="FILE.jsonl")
    _model_arguments(frames, max_tokens=1024)

    queries = _command(commands, "queries", judge.queries, "write framed queries about articles")
    queries.add_argument("--dataset", required=True, metavar="D", help="whose documents are read")
    queries.add_argument(
        "--frames", required=True, type=Path, metavar="FILE", help="as the command frames writes it"
    )
    queries.add_argument(
        "--salience", type=float, default=0.0, help="pass over less salient frames (default 0)"
    )
    queries.add_argument("--out", required=True, type=Path, metavar="FILE.jsonl")
    _model_arguments(queries, max_tokens=512)

    ideology = _command(commands, "ideology", judge.ideology, "label the views a post suggests")
    ideology.add_argument("path", type=Path, metavar="PATH", help="posts: id and text")
    ideology.add_argument("--out", required=True, type=Path, metavar="FILE.jsonl")
    _model_arguments(ideology, max_tokens=32)


def _model_arguments(parser: argparse.ArgumentParser, *, max_tokens: int) -> None:
    parser.add_argument("--model", metavar="M", help="default: BIASRET_LLM_MODEL")
    parser.add_argument(
        "--endpoint",
        metavar="URL",
        help="an OpenAI-compatible address before /chat/completions (default: BIASRET_LLM_URL); "
        "a key is read from BIASRET_LLM_KEY alone",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="ask no more than N now")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="requests at a time")
    parser.add_argument("--per-minute", type=float, metavar="N", help="most requests in a minute")
    parser.add_argument("--max-tokens", type=int, default=max_tokens, metavar="N")
    parser.add_argument(
        "--price",
        type=float,
        nargs=2,
        metavar=("IN", "OUT"),
        help="price of a million prompt and completion tokens, to tell the cost",
    )


def _flip_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--signal", required=True, choices=["dialect", "framing"])
    parser.add_argument("--density", type=float, help="of AAL features, above 0 to 1 (default 0.4)")
    parser.add_argument("--seed", type=int, help="another draw (default 0)")
    parser.add_argument("--mode", choices=["lexical", "tail", "framed"], help="of framing")
    parser.add_argument("--intensity", type=int, choices=[1, 2], help="2: loaded words too")


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int | None], about: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="print one JSON document, no more")
    parser.set_defaults(run=run)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
