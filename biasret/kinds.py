"""What can be imported: one record a kind of source.

A kind is added here and in its loader's module, nowhere else: the command line reads the
records, and writes whatever a loader returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasret.catalogue import Catalogue
from biasret.errors import InputError
from biasret.progress import Progress, silent

if TYPE_CHECKING:
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
    """

    path: Path
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress = silent
    into: Dataset | None = None


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
        What follows the name that was asked for, for each dataset the source may hold.
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
        found = {name: value for name, value in values.items() if value not in (None, [], False)}
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
    ],
)


def options() -> dict[str, Option]:
    """Every option of every kind, by flag."""
    return {option.flag: option for kind in KINDS.values() for option in kind.options}
