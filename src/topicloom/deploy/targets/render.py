"""Configuration files from a plan: one for each broker, and a picture of the fleet."""

from __future__ import annotations

import os
from pathlib import Path

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.targets.fleet_drawing import picture_of
from topicloom.deploy.targets.mosquitto import bridges_of
from topicloom.deploy.targets.nats import remotes_of
from topicloom.deploy.targets.rabbitmq import definitions_of

PICTURE = "fleet.dot"
_TARGETS = {"mosquitto": (".conf", bridges_of), "rabbitmq": (".json", definitions_of), "nats": (".conf", remotes_of)}


def file_name(plan: Plan, broker: str) -> str:
    """The name of a broker's configuration file."""
    return identifier(broker) + _TARGETS[plan.target][0]


def configuration_of(plan: Plan, broker: str) -> str:
    """The configuration of one broker; passwords are looked up now."""
    return _TARGETS[plan.target][1](plan, broker)


def configurations(plan: Plan) -> dict[str, str]:
    """The configuration of each broker."""
    return {broker.name: configuration_of(plan, broker.name) for broker in plan.brokers}


def render(plan: Plan, folder: Path, *, mode: int | None = None) -> list[Path]:
    """Write the configuration of every broker, and give the files.

    Args:
        plan: what is to be configured; passwords that it names are looked up now.
        folder: must be new.
        mode: who may read the configurations; their owner alone unless given, where they hold passwords.
    """
    texts = configurations(plan)
    secret = any(broker.credentials is not None for broker in plan.brokers)
    folder.mkdir()
    written = []
    for broker, text in texts.items():
        written.append(folder / file_name(plan, broker))
        _write(written[-1], text, 0o600 if secret else 0o666)
        if mode is not None:
            written[-1].chmod(mode)
    written.append(folder / PICTURE)
    _write(written[-1], picture_of(plan), 0o666)
    return written


def _write(path: Path, text: str, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
