"""What this machine has of what tests need beside Python; `./dev setup` installs it where it may.

A test says what it needs by a marker: `spark`, `browser`, `openssl`, or `broker` with the broker's name. A test whose
program is missing is skipped, and the end of the run names what was not tested.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest

from topicloom import InputError
from topicloom.brokers.kinds.rabbitmq_nodes import rabbitmq_path
from topicloom.brokers.local import mosquitto_path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None
)
NATS = shutil.which("nats-server", path=f"{os.environ['PATH']}:/usr/sbin")


def _installed(path: Callable[[], str]) -> str | None:
    try:
        return path()
    except InputError:
        return None


# By marker, or by name of the broker: what it is called, what is missing, and whether it is here.
_PARTS = {
    "spark": ("Spark", "java", shutil.which("java")),
    "browser": ("pages in a browser", "chromium", CHROMIUM),
    "mosquitto": ("Mosquitto", "mosquitto", _installed(mosquitto_path)),
    "rabbitmq": ("RabbitMQ", "rabbitmq-server", _installed(rabbitmq_path)),
    "nats": ("NATS", "nats-server", NATS),
    "openssl": ("TLS", "openssl", shutil.which("openssl")),
}
# Set in the process of tests whose session is one of Spark Connect.
ON_CONNECT = "TOPICLOOM_TESTS_ON_CONNECT"
NOT_HERE = "not tested here: "
# Fixtures that start Spark.
_SPARK = {"spark", "on_one_session"}


def set_up(item: pytest.Item) -> None:
    """Mark a test by its fixtures, and skip it where something is missing."""
    if not _SPARK.isdisjoint(getattr(item, "fixturenames", ())):
        item.add_marker("spark")
    needed = [mark.args[0] for mark in item.iter_markers("broker")]
    needed += [name for name in ("spark", "browser", "openssl") if item.get_closest_marker(name)]
    for tested, program, found in map(_PARTS.__getitem__, needed):
        if found is None:
            item.add_marker(pytest.mark.skip(reason=f"{NOT_HERE}{tested} (no {program})"))
