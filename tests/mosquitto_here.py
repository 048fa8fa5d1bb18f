"""Whether this machine can run Mosquitto."""

from __future__ import annotations

import pytest

from topicloom import InputError
from topicloom.deploy.proof.processes import mosquitto_path


def _missing() -> str | None:
    try:
        mosquitto_path()
    except InputError as error:
        return str(error)
    return None


MISSING = _missing()
needs_mosquitto = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
