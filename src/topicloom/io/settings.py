"""Read settings from TOML and JSON files, with one-line errors.

JSON files, checked by pydantic, with errors of one line that name the file and the key.

TOML files, with errors of one line that name the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from annotated_types import Ge

from topicloom.errors import InputError
from topicloom.io.tables import TOML_BYTES, read_limited

if TYPE_CHECKING:
    from pydantic import TypeAdapter


JSON = ".json"

# What the fields of dataclasses that JSON is read into may be annotated with.
Count = Annotated[int, Ge(0)]
Amount = Annotated[float, Ge(0)]

# What would be right, by what pydantic calls the error.
_NEEDED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "tuple_type": "a list",
    "dict_type": "an object",
    "dataclass_type": "an object",
}

# How much of a wrong value is shown.
_SHOWN = 40

T = TypeVar("T")


def read_json(file: Path, kind: type[T]) -> T:
    """What a JSON file holds, as a dataclass; its annotations say what is right, and other keys do not matter."""
    if not file.is_file():
        raise InputError(f"{file.parent}: has no {file.name}")
    try:
        return parsed_json(file.read_bytes(), kind, str(file))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None


def parsed_json(text: bytes, kind: type[T], where: str) -> T:
    """What JSON holds, as a dataclass; `where` names it in errors."""
    from pydantic import ValidationError

    annotation: Any = kind
    try:
        read: T | None = _adapter(annotation).validate_json(text)
    except ValidationError as error:
        raise InputError(f"{where}: {_problem(error.errors(include_url=False)[0])}") from None
    if read is None:
        raise InputError(f"{where}: holds no JSON object")
    return read


@lru_cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    # Imported where it is needed, as it takes half as long as all of topicloom. A dataclass alone would take no
    # configuration; one that may be null does.
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(annotation | None, config=ConfigDict(strict=True, allow_inf_nan=False))


def _problem(error: Any) -> str:
    """What pydantic found first, in our words."""
    if error["type"] == "json_invalid":
        return f"cannot be read as JSON ({error['msg'].removeprefix('Invalid JSON: ')})"
    if not error["loc"]:
        return "holds no JSON object"
    *above, last = error["loc"]
    before = "".join(f"{part}: " for part in [_place(above)] if part)
    if error["type"] == "missing":
        return f"{before}has no {_place([last])}"
    place = _place(error["loc"]) if isinstance(last, int) else f"{before}{_place([last])}"
    needed = _NEEDED.get(error["type"], error["msg"].removeprefix("Input should be ")).format(**error.get("ctx", {}))
    return f"{place} is {_shown(error)}; it should be {needed}"


def _place(keys: Sequence[str | int]) -> str:
    """Keys in quotes, and places in lists, counted from 1."""
    text = ""
    for key in keys:
        text += f", number {key + 1}" if isinstance(key, int) else f"{': ' if text else ''}'{key}'"
    return text.removeprefix(", ")


def _shown(error: Any) -> str:
    value = json.dumps(error["input"])
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file, and its tables."""
    try:
        text = read_limited(path, TOML_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text; give a TOML file", file=path) from None
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = " ".join(str(error).split())
        raise InputError(f"is not TOML: {message[:1].lower()}{message[1:]}", file=path) from None
    except RecursionError:
        raise InputError("is not TOML that can be read: it is nested too deep", file=path) from None
    except ValueError:
        # Python reads no number of more than 4,300 digits.
        raise InputError("is not TOML that can be read: a number has too many digits", file=path) from None
