"""How to log in somewhere, as a fleet file says it: the password is named, never held."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topicloom.errors import InputError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CREDENTIAL_KEYS = ("username", "password_env", "password_file")

LINE = "text of printable characters without spaces around it"


@dataclass(frozen=True)
class Credentials:
    """A name, and a variable or a file that holds the password."""

    username: str
    password_env: str | None = None
    password_file: str | None = None


def is_line(value: Any) -> bool:
    """Whether it is text that can stand at the end of a line of a configuration."""
    return isinstance(value, str) and value != "" and value.isprintable() and value == value.strip()


def read_credentials(given: Any, where: str) -> Credentials | None:
    """Credentials from a table, None where there is none; no error shows what could be a secret."""
    if given is None:
        return None
    if isinstance(given, dict) and "password" in given:
        raise InputError(f"{where}: a password does not belong here; name what holds it: password_env or password_file")
    if not isinstance(given, Mapping):
        raise InputError(f"{where} must be a table with username, and password_env or password_file")
    for key in given:
        if key not in _CREDENTIAL_KEYS:
            raise InputError(f"{where}: unknown key '{key}'; known are {', '.join(_CREDENTIAL_KEYS)}")
    if "username" not in given:
        raise InputError(f"{where}: has no username")
    for key, value in given.items():
        if not is_line(value):
            raise InputError(f"{where}: {key} must be {LINE}")
    named = Credentials(**given)
    if (named.password_env is None) == (named.password_file is None):
        raise InputError(f"{where}: needs password_env or password_file, one of them")
    if named.password_env is not None and not _VARIABLE.fullmatch(named.password_env):
        raise InputError(f"{where}: password_env is no name of a variable; name what holds the password")
    return named
