"""Logins: usernames with what holds their passwords, and the passwords looked up.

Passwords are never held. They are looked up when they are sent, or written into a configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topicloom.brokers.names import quoted
from topicloom.errors import InputError
from topicloom.model.fleet import Broker, Credentials

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CREDENTIAL_KEYS = ("username", "password_env", "password_file")

LINE = "text of printable characters without spaces around it"


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


def password_of(broker: Broker) -> str:
    """The password by which others log in at a broker that has credentials."""
    assert broker.credentials is not None
    return secret_of(broker.credentials, f"broker {quoted(broker.name)}: the password")


def secret_of(credentials: Credentials, where: str) -> str:
    """The password that credentials name; `where` says in errors what it is for."""
    if credentials.password_env is not None:
        source = f"the variable {credentials.password_env}"
        password = os.environ.get(credentials.password_env)
        if password is None:
            raise InputError(f"{where} should be in {source}, which is not set")
    else:
        assert credentials.password_file is not None
        source = f"the file {credentials.password_file}"
        try:
            password = Path(credentials.password_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError(f"{where} should be in {source}, which cannot be read ({reason})") from None
        password = password.removesuffix("\n").removesuffix("\r")
    if not password or not password.isprintable() or password != password.strip():
        raise InputError(f"{where} in {source} must be one line of printable characters without spaces around it")
    return password
