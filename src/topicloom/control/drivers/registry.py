"""The driver that a fleet file asks for."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from topicloom.control.drivers.base import Driver
from topicloom.control.drivers.command_driver import CommandDriver
from topicloom.control.drivers.folder_driver import FolderDriver
from topicloom.control.drivers.management_driver import ManagementDriver
from topicloom.control.drivers.ssh_driver import SshDriver
from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.delivery import COMMAND, FOLDER, SSH, Delivery
from topicloom.deploy.planning.fleet_file import Broker


def driver_of(broker: Broker, delivery: Delivery, state: Path) -> Driver:
    """The driver of a broker, for the fleet whose state is in a folder."""
    values = values_of(broker)
    if delivery.via == FOLDER:
        return FolderDriver(delivery, values)
    if delivery.via == SSH:
        return SshDriver(delivery, values)
    if delivery.via == COMMAND:
        return CommandDriver(delivery, values, private_folder(state))
    return ManagementDriver(delivery, broker.name)


def values_of(broker: Broker) -> dict[str, str]:
    """What placeholders stand for; {broker} is an identifier, which cannot leave a folder or be taken for an option."""
    return {"broker": identifier(broker.name), "host": broker.host, "port": str(broker.port)}


def private_folder(state: Path) -> Path:
    """Where files with passwords are while a command takes them: not in the state, and the same for the next run."""
    digest = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"topicloom-{os.getuid()}-{digest}"
