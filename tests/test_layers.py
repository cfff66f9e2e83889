"""Who may import whom, read from the code itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "biasret"

#: A module imports only from names before its own. Names on one line import nothing from
#: each other.
ORDER = (
    ("errors",),
    ("catalogue",),
    ("runtime",),
    ("progress",),
    ("tokens",),
    ("tables",),
    ("precomputed",),
    ("llm",),
    ("asking",),
    ("signals",),
    ("prompts",),
    ("flip",),
    ("datasets",),
    ("kinds",),
    ("derive",),
    ("inventory",),
    ("judging", "llm_tasks"),
    ("published",),
    ("store", "retrievers"),
    ("runs",),
    ("filters",),
    ("metrics",),
    ("agreement",),
    ("lexical",),
    ("statistics",),
    ("contrasts",),
    ("audit",),
    ("gates",),
    ("probes", "pairing"),
    ("mitigation",),
    ("residuals",),
    ("reproduction",),
    ("probe",),
    ("overlap",),
    ("build",),
    ("sentences",),
    ("sentences_published", "sentences_vocabulary"),
    ("charts",),
    ("exports",),
    ("markup",),
    ("report",),
    ("bench_*",),
    ("ui", "commands"),
    ("__main__",),
)

FILES = sorted(path for path in PACKAGE.rglob("*.py"))


def place(name: str) -> int:
    """Where a top-level name stands."""
    for position, row in enumerate(ORDER):
        for pattern in row:
            if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
                return position
    raise AssertionError(f"biasret/{name} has no place in the import order; give it one")


def top(path: Path) -> str:
    """The name directly under the package that a file belongs to; empty for ``__init__``."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a file imports, inside functions too."""
    package = ["biasret", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "import_module"
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node.lineno, str(node.args[0].value)


def own(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level name of what a file imports from the package."""
    for line, name in imports(path):
        parts = name.split(".")
        if parts[0] == "biasret" and len(parts) > 1 and parts[1] != "__version__":
            yield line, parts[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_earlier_names(path):
    name = top(path)
    if not name:
        assert {imported for _, imported in own(path)} <= {"runtime"}
        return
    position = place(name)
    for line, imported in own(path):
        if imported != name:
            assert place(imported) < position, f"line {line}: {name} imports {imported}"


def test_the_reader_of_imports_sees_every_form(tmp_path, monkeypatch):
    """The other tests of this file are worth as much as this reader."""
    path = tmp_path / "sub" / "some.py"
    path.parent.mkdir()
    path.write_text(
        "import biasret.a\n"
        "from biasret import b as z\n"
        "from biasret.c.deep import name\n"
        "from .. import d\n"
        "from ..e import name\n"
        "def f():\n    from biasret.g import name\n"
        "if False:\n    import importlib\n    importlib.import_module('biasret.h.i')\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert sorted(name for _, name in own(path)) == ["a", "b", "c", "d", "e", "g", "h"]


def importers(package: str) -> set[str]:
    """Top-level names whose files import `package`, in whatever form."""
    return {
        top(path)
        for path in FILES
        for _, name in imports(path)
        if name == package or name.startswith(f"{package}.")
    }


def test_only_the_pages_import_streamlit():
    assert importers("streamlit") == {"ui"}


def test_only_pages_and_commands_open_the_store():
    users = {top(path) for path in FILES for _, name in own(path) if name == "store"} - {"store"}
    # What measures the store's own speed opens it too.
    assert {"ui", "commands"} <= users
    assert {name for name in users if not name.startswith("bench_")} == {"ui", "commands"}


def test_store_and_retrievers_import_nothing_from_each_other():
    for name, other in (("store", "retrievers"), ("retrievers", "store")):
        files = [path for path in FILES if top(path) == name]
        assert files
        assert not [path for path in files for _, found in own(path) if found == other]


def test_sql_is_in_the_store_alone():
    found = importers("duckdb")
    assert "store" in found
    assert {name for name in found if not name.startswith("bench_")} == {"store"}


def test_pages_import_streamlit_and_the_package_only():
    for path in [PROJECT / "app.py", *(PROJECT / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] in ("streamlit", "biasret", "__future__"), (path, name)


def loaded(code: str) -> set[str]:
    """Top-level modules in a fresh Python after `code`."""
    script = f"{code}\nimport sys\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


HEAVY = {"torch", "transformers", "sentence_transformers", "model2vec", "faiss"}


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import biasret", HEAVY | {"streamlit", "scipy", "numpy", "pandas", "duckdb", "plotly"}),
        ("import biasret.__main__", HEAVY | {"streamlit", "scipy", "numpy", "pandas", "duckdb"}),
        (
            "import biasret.store, biasret.metrics, biasret.audit",
            HEAVY | {"streamlit", "plotly"},
        ),
        (
            "import biasret.build, biasret.probe, biasret.charts, biasret.sentences",
            HEAVY | {"streamlit"},
        ),
        # What a results page needs (C69).
        ("import biasret.ui", HEAVY),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_imports_are_cheap(code, absent):
    modules = loaded(code)
    assert "biasret" in modules
    assert not modules & absent
