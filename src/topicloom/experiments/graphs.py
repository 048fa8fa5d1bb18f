"""Social graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from topicloom.model import InputError, Interest


class Graphs:
    """Placeholder until graphs are there."""

    def __init__(self, data: Path | None, folder: Path) -> None:
        self._data = data

    def fingerprint(self, graph: str) -> str:
        """The edge list's."""
        raise InputError("no graphs yet")

    def prepare(self, spark: Any, parameters: Mapping[str, Any], progress: Callable[[str], None]) -> None:
        """Make the sample."""

    def interest(self, parameters: Mapping[str, Any]) -> Interest:
        """Read the sample."""
        raise InputError("no graphs yet")
