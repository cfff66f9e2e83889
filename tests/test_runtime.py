"""Process settings that stand before numeric libraries load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from biasret import runtime

PROJECT = Path(__file__).parents[1]
NAMES = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "HF_HUB_OFFLINE", "TOKENIZERS_PARALLELISM")


def fresh(code: str, **environment: str) -> str:
    """What a new Python prints, in an environment with no more than the path and these."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SHOW = f"import biasret, os; print(*(os.environ[n] for n in {NAMES}))"


def test_importing_the_package_sets_them_even_in_an_empty_environment():
    # C18: an unset optional setting must not matter.
    policy, threads, offline, parallel = fresh(SHOW).split()
    assert (policy, offline, parallel) == ("PASSIVE", "1", "false")
    assert int(threads) == runtime.cpu_count()


def test_what_the_environment_says_goes_first():
    given = {
        "OMP_WAIT_POLICY": "ACTIVE",
        "OMP_NUM_THREADS": "7",
        "HF_HUB_OFFLINE": "0",
        "TOKENIZERS_PARALLELISM": "true",
    }
    assert fresh(SHOW, **given).split() == [given[name] for name in NAMES]


def test_preparing_twice_changes_nothing(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    runtime.prepare()
    first = {name: os.environ[name] for name in NAMES}
    os.environ["OMP_NUM_THREADS"] = "3"
    runtime.prepare()
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert set(first) == set(NAMES)


class Quota(type(Path())):
    """Stands in for the kernel's file of a container's quota."""

    text = ""

    def exists(self, **_: object) -> bool:
        return bool(self.text)

    def read_text(self, *_: object, **__: object) -> str:
        return self.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 8),  # no such file: affinity alone
        ("max 100000\n", 8),
        ("400000 100000\n", 4),
        ("150000 100000\n", 2),
        ("10000 100000\n", 1),  # a tenth of a processor is still one thread
        ("9900000 100000\n", 8),  # more than there are
    ],
)
def test_a_containers_quota_counts(monkeypatch, text, expected):
    monkeypatch.setattr(runtime.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(Quota, "text", text)
    monkeypatch.setattr(runtime, "Path", Quota)
    assert runtime.cpu_count() == expected


def test_without_affinity_all_processors_count(monkeypatch):
    monkeypatch.delattr(runtime.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(runtime.os, "cpu_count", lambda: None)
    monkeypatch.setattr(Quota, "text", "")
    monkeypatch.setattr(runtime, "Path", Quota)
    assert runtime.cpu_count() == 1
