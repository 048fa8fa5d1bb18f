"""The available memory, and refusal of work that would need more."""

from __future__ import annotations

import os
from pathlib import Path

from topicloom.errors import InputError


def available_bytes() -> int:
    """Memory that this process could still take: the machine's, or its control group's where that is less."""
    return min(_machine_bytes(), _control_group_bytes())


def require(name: str, needed: int) -> None:
    """Refuse work that needs more memory than there is."""
    available = available_bytes()
    if needed > available:
        raise InputError(
            f"{name} would take about {_gigabytes(needed)} of memory for these subscriptions, "
            f"and {_gigabytes(available)} are available; use a machine with more, or fewer nodes or topics"
        )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


def _machine_bytes() -> int:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _control_group_bytes() -> int:
    for limit_file, used_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            limit = Path(limit_file).read_text().strip()
            if limit != "max":
                return int(limit) - int(Path(used_file).read_text())
        except (OSError, ValueError):
            continue
    return 1 << 62
