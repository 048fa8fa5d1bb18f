"""JSON files, checked, with errors of one line that name the file and the key."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicloom.errors import InputError

JSON = ".json"

# How much of a wrong value is shown.
_SHOWN = 40


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


@dataclass(frozen=True)
class Fields:
    """The values of an object by key; `where` names it in errors."""

    values: dict[str, Any]
    where: str

    @classmethod
    def of_file(cls, file: Path) -> Fields:
        """All of a file."""
        return cls(read_object(file), str(file))

    @classmethod
    def of_kind(cls, file: Path, kind: str) -> Fields:
        """All of a file that says itself which kind it is."""
        fields = cls.of_file(file)
        if fields.text("kind") != kind:
            raise fields.wrong("kind", f"'{kind}'")
        return fields

    def wrong(self, key: str, needed: str) -> InputError:
        """The error that a value is not as it should be."""
        value = json.dumps(self.values[key])
        shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
        return InputError(f"{self.where}: '{key}' is {shown}; it should be {needed}")

    def text(self, key: str) -> str:
        """A string."""
        value = self._value(key)
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def count(self, key: str) -> int:
        """A whole number of at least 0."""
        value = self._value(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "a whole number of at least 0")
        return value

    def positive(self, key: str) -> float:
        """A finite number of at least 0."""
        value = self._value(key)
        if not _is_number(value) or value < 0:
            raise self.wrong(key, "a number of at least 0")
        return float(value)

    def number_or_none(self, key: str) -> float | None:
        """A finite number, or nothing where it is null."""
        value = self._value(key)
        if value is not None and not _is_number(value):
            raise self.wrong(key, "a number or null")
        return None if value is None else float(value)

    def truth(self, key: str) -> bool:
        """True or false."""
        value = self._value(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def truth_or_none(self, key: str) -> bool | None:
        """True or false, or nothing where it is null."""
        value = self._value(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true, false or null")
        return value

    def inside(self, key: str) -> Fields:
        """An object."""
        value = self._value(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Fields(value, f"{self.where}: '{key}'")

    def each(self, key: str) -> list[Fields]:
        """A list of objects, which errors name by their place, counted from 1."""
        value = self._value(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "a list of objects")
        return [Fields(item, f"{self.where}: '{key}', number {at}") for at, item in enumerate(value, start=1)]

    def _value(self, key: str) -> Any:
        if key not in self.values:
            raise InputError(f"{self.where}: has no '{key}'")
        return self.values[key]


def _is_number(value: Any) -> bool:
    # A whole number of hundreds of digits is no finite number.
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False
