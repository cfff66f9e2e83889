"""What can be imported: one record a kind of source.

A kind is added here and in its loader's module, nowhere else: the command line reads the
records, and writes whatever a loader returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasret.catalogue import Catalogue
from biasret.errors import InputError
from biasret.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

    from biasret.datasets.base import Dataset, Imported

__all__ = ["KINDS", "Kind", "Option", "Request", "options"]


@dataclass(frozen=True)
class Option:
    """One option of a kind, as the command line takes it.

    Attributes
    ----------
    flag
        With its hyphens: ``--mapping``. Kinds may share an option; it is then one record.
    is_repeated
        Whether it may be given several times; its value is then a list.
    is_switch
        Whether it stands alone, without a value.
    """

    flag: str
    about: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    type: Callable[[str], Any] = str
    is_repeated: bool = False
    is_switch: bool = False

    @property
    def name(self) -> str:
        """The key of its value in `Request.options`."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Request:
    """What somebody asked to import.

    Attributes
    ----------
    name
        Of the dataset; the first part of all their names where a source holds several.
    options
        By `Option.name`, those that were given.
    into
        The dataset called `name`, for kinds that add to one.
    runs
        Its ``runs`` tables that were imported as TREC runs, by retriever.
    replace
        Whether what is there under the same name may be replaced.
    """

    path: Path
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress = silent
    into: Dataset | None = None
    runs: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    replace: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of source.

    Attributes
    ----------
    path
        What PATH is.
    load
        Reads everything before anything is written: whole, or an error.
    adds_to
        Whether it brings results for a dataset that is there already, rather than a dataset.
    endings
        What follows the name that was asked for, for each dataset the source may hold; none
        for a kind that makes no dataset and so takes no name.
    """

    name: str
    about: str
    path: str
    load: Callable[[Request], Imported]
    options: tuple[Option, ...] = ()
    adds_to: bool = False
    endings: tuple[str, ...] = ("",)

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The options that were given, all of which the kind must take.

        Raises
        ------
        InputError
            One of them is of another kind.
        """
        found = {  # a seed of 0 equals False and was given all the same
            name: value
            for name, value in values.items()
            if value is not None and value is not False and value != []
        }
        taken = {option.name: option.flag for option in self.options}
        for name in found:
            if name not in taken:
                flag = "--" + name.replace("_", "-")
                raise InputError(
                    f"Importing {self.name} takes no {flag}; it takes "
                    f"{', '.join(taken.values()) or 'no options'}."
                )
        return found


MAPPING = Option("--mapping", "a mapping file (TOML)", metavar="FILE", type=Path)
COLUMN = Option("--column", "the column of a field", metavar="TABLE.FIELD=COLUMN", is_repeated=True)
FOLDER = Option("--folder", "where the files of the mapping are", type=Path)
QUERIES = Option("--queries", "how many are asked at most, of each group", type=int, metavar="N")
SEED = Option("--seed", "of what is drawn at random (default 42)", type=int, metavar="N")
BALANCED = Option(
    "--balanced",
    "keep as many left as right articles of each round-up, drawn at random",
    is_switch=True,
)
LABELS = Option(
    "--dialect-labels",
    "label questions by the twitteraae model: paper, or known-words to leave out those with too "
    "few known words",
    choices=("paper", "known-words"),
)
SPLIT = Option("--split", "which qrels (default test, or the only one)")
TAG = Option("--tag", "what the run's retriever is called instead")
JUDGE = Option("--judge", "who judged (default: the file's name)")
ESCAPED = Option("--escaped", "ids are percent-encoded, as export --escape does", is_switch=True)
SIGNAL = Option("--signal", "what the queries signal", choices=("lean", "dialect"))
ENCODING = Option("--encoding", "of text files, if not UTF-8")


def _articles(request: Request) -> Imported:
    from biasret.datasets import articles
    from biasret.datasets.base import Imported

    options = {name.replace("column", "columns"): v for name, v in request.options.items()}
    return Imported((articles.load(request.path, name=request.name, **options),))


def _release(request: Request) -> Imported:
    from biasret.datasets import release

    return release.load(request.path, name=request.name, progress=request.progress)


def _one_dataset(module: str) -> Callable[[Request], Imported]:
    """The loader of a module of `biasret.datasets`, which takes options by their names."""

    def load(request: Request) -> Imported:
        from biasret.datasets.base import Imported

        loader = import_module(f"biasret.datasets.{module}")
        loaded = loader.load(
            request.path, name=request.name, progress=request.progress, **request.options
        )
        return Imported((loaded,))

    return load


def _healthcaremagic(request: Request) -> Imported:
    from biasret.datasets import healthcaremagic
    from biasret.datasets.base import Imported
    from biasret.precomputed import Folder
    from biasret.signals.dialect.scoring import CountTable

    table = None
    if "dialect_labels" in request.options:
        path = Folder().resource("twitteraae")
        table = CountTable.read(path) if path.exists() else None
    loaded = healthcaremagic.load(
        request.path,
        name=request.name,
        table=table,
        progress=request.progress,
        **request.options,
    )
    return Imported((loaded,))


def _twitteraae(request: Request) -> Imported:
    from biasret.datasets.base import Imported
    from biasret.datasets.twitteraae import read_counts

    found = read_counts(request.path)
    note = f"The table holds {len(found):,} words; `score` and --dialect-labels use it from now on."
    return Imported((), notes=(note,), resources={"twitteraae": found})


def _trec_run(request: Request) -> Imported:
    from biasret.datasets import given_runs
    from biasret.datasets.base import Imported

    assert request.into is not None
    loaded = given_runs.load(
        request.path,
        name=request.name,
        into=request.into,
        progress=request.progress,
        **request.options,
    )
    return Imported((loaded,))


def _trec_qrels(request: Request) -> Imported:
    from biasret.datasets import given_qrels
    from biasret.datasets.base import Imported

    assert request.into is not None
    loaded = given_qrels.load(
        request.path,
        name=request.name,
        into=request.into,
        runs=request.runs,
        replace=request.replace,
        progress=request.progress,
        **request.options,
    )
    return Imported((loaded,))


KINDS: Catalogue[Kind] = Catalogue(
    "kind of source",
    [
        Kind(
            "articles",
            "documents, queries and judgements of your own: CSV, TSV, JSON Lines or Parquet",
            "a folder or a mapping file",
            _articles,
            options=(MAPPING, COLUMN, FOLDER, SIGNAL, ENCODING),
        ),
        Kind(
            "release",
            "the public release of Tang et al. 2026, or what there is of it: rankings, judgments "
            "and ranks of the paper's six retrievers",
            "the folder that holds allsides_synth, reddit_nat and hcmagic",
            _release,
            endings=("_allsides", "_reddit", "_hcmagic_synth", "_hcmagic_nat"),
        ),
        Kind(
            "beir",
            "a collection in BEIR's form",
            "the folder with corpus.jsonl, queries.jsonl and qrels",
            _one_dataset("beir"),
            options=(SPLIT, MAPPING, COLUMN, SIGNAL, ENCODING),
        ),
        Kind(
            "qbias",
            "articles of AllSides round-ups; their headings are the queries",
            "allsides_balanced_news_headlines-texts.csv",
            _one_dataset("qbias"),
            options=(BALANCED, SEED, ENCODING),
        ),
        Kind(
            "article-bias",
            "articles rated by outlet (Baly et al. 2020); their headings are the queries",
            "the folder of JSON files, one an article",
            _one_dataset("article_bias"),
            options=(QUERIES, SEED),
        ),
        Kind(
            "healthcaremagic",
            "HealthCareMagic-100k: patients' questions and clinicians' answers",
            "the JSON file",
            _healthcaremagic,
            options=(QUERIES, LABELS, SEED, ENCODING),
        ),
        Kind(
            "medquad",
            "MedQuAD: questions and answers of NIH health sites",
            "the folder of XML files",
            _one_dataset("medquad"),
        ),
        Kind(
            "trec-run",
            "a ranking made elsewhere, for a dataset that is there",
            "the run file",
            _trec_run,
            options=(TAG, ESCAPED, ENCODING),
            adds_to=True,
        ),
        Kind(
            "trec-qrels",
            "judgements made elsewhere, for a dataset that is there",
            "the qrels file",
            _trec_qrels,
            options=(JUDGE, ESCAPED, ENCODING),
            adds_to=True,
        ),
        Kind(
            "twitteraae",
            "the count table by which texts are scored; makes no dataset and takes no --name",
            "the model's folder, or one CSV or Parquet table",
            _twitteraae,
            endings=(),
        ),
    ],
)


def options() -> dict[str, Option]:
    """Every option of every kind, by flag."""
    return {option.flag: option for kind in KINDS.values() for option in kind.options}
