"""Process settings that must stand before numeric libraries load.

Spinning OpenMP threads made a single MiniLM query thirteen times slower on a machine
with one busy core, and two thread pools that each take every core slow each other; both
are read from the environment once, when the libraries load.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cpu_count", "prepare"]


def cpu_count() -> int:
    """Processors this process may use: affinity, and a container's quota where there is one."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = available or 1
    quota = Path("/sys/fs/cgroup/cpu.max")
    if quota.exists():
        allowed, _, period = quota.read_text(encoding="ascii").strip().partition(" ")
        if allowed != "max" and period.isdigit():
            count = min(count, max(1, round(int(allowed) / int(period))))
    return count


def prepare() -> None:
    """Set thread and hub variables, unless the environment already does. Cheap; repeatable.

    Model hubs are off unless ``HF_HUB_OFFLINE=0`` asks for them: a dashboard should not
    wait for a network to learn that a local model is local.
    """
    threads = str(cpu_count())
    for name, value in {
        "OMP_WAIT_POLICY": "PASSIVE",
        "OMP_NUM_THREADS": threads,
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }.items():
        os.environ.setdefault(name, value)
