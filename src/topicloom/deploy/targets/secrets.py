"""Passwords, looked up where a fleet file says they are, at the moment a configuration is written."""

from __future__ import annotations

import os
from pathlib import Path

from topicloom.deploy.planning.broker_names import quoted
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.planning.logins import Credentials
from topicloom.errors import InputError


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
