"""JSON files, checked, with errors that name the file and the key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from topicloom.model.errors import InputError

JSON = ".json"


def read_object(file: Path) -> dict[str, Any]:
    """The object that a JSON file holds."""
    if not file.is_file():
        raise InputError(f"{file.parent}: has no {file.name}")
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as JSON ({' '.join(str(error).split())})") from None
    if not isinstance(read, dict):
        raise InputError(f"{file}: holds no JSON object")
    return read
