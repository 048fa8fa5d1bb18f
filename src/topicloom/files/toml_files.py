"""TOML files, with errors of one line that name the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from topicloom.errors import InputError
from topicloom.files.limits import TOML_BYTES, read_limited

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
