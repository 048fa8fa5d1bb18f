"""Settings from JSON and TOML, checked by pydantic, with errors of one line that name the file and the key."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from annotated_types import Ge

from topicloom.errors import InputError
from topicloom.io.tables import TOML_BYTES, read_limited

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pydantic import TypeAdapter


JSON = ".json"

# Annotations of fields of dataclasses that settings are read into.
Count = Annotated[int, Ge(0)]
Amount = Annotated[float, Ge(0)]

# What would be right, by the type of the error in pydantic.
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "finite_number": "a finite number",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "dataclass_type": "an object",
    "model_type": "an object",
}

# How much of a wrong value is shown.
_SHOWN = 40

T = TypeVar("T")


def read_json(file: Path, kind: type[T]) -> T:
    """Read a JSON file into a dataclass or model, whose annotations say what is right."""
    if not file.is_file():
        raise InputError(f"{file.parent}: has no {file.name}")
    try:
        return parsed_json(file.read_bytes(), kind, str(file))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None


def parsed_json(text: bytes, kind: type[T], where: str) -> T:
    """Read JSON into a dataclass or model; `where` names it in errors."""
    from pydantic import ValidationError

    annotation: Any = kind
    try:
        read: T | None = _adapter(annotation).validate_json(text)
    except ValidationError as error:
        raise InputError(f"{where}: {problem_of(error)}") from None
    if read is None:
        raise InputError(f"{where}: holds no JSON object")
    return read


def checked(table: Mapping[str, Any], kind: type[T], where: str) -> T:
    """Read a table, such as one of TOML, into a dataclass or model, with the errors of `parsed_json`."""
    return parsed_json(json.dumps(table, default=str).encode(), kind, where)


@lru_cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    # Imported here, as it takes half as long as all of topicloom. A dataclass alone would take no configuration; one
    # that may be null does.
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(annotation | None, config=ConfigDict(strict=True, allow_inf_nan=False))


def problem_of(error: Any) -> str:
    """Return the first problem of a ValidationError of pydantic, as one line in the words of this package."""
    return _problem(error.errors(include_url=False)[0])


def _problem(error: Any) -> str:
    if error["type"] == "json_invalid":
        return f"cannot be read as JSON ({error['msg'].removeprefix('Invalid JSON: ')})"
    if not error["loc"]:
        return "holds no JSON object"
    *above, last = error["loc"]
    before = "".join(f"{part}: " for part in [_place(above)] if part)
    if error["type"] == "missing":
        return f"{before}has no {_place([last])}"
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{before}unknown key {_place([last])}"
    place = _place(error["loc"]) if isinstance(last, int) else f"{before}{_place([last])}"
    expected = _EXPECTED.get(error["type"], error["msg"].removeprefix("Input should be "))
    return f"{place} is {_shown(error)}; it should be {expected.format(**error.get('ctx', {}))}"


def _place(keys: Sequence[str | int]) -> str:
    """Return keys in quotes, and places in lists, counted from 1."""
    text = ""
    for key in keys:
        text += f", number {key + 1}" if isinstance(key, int) else f"{': ' if text else ''}'{key}'"
    return text.removeprefix(", ")


def _shown(error: Any) -> str:
    value = json.dumps(error["input"])
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a file, and its tables."""
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
