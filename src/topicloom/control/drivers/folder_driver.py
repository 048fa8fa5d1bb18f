"""A file on this machine, written beside its place and renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from topicloom.control.drivers.base import DeliveryFailed
from topicloom.control.drivers.timed_commands import run_command, words_of
from topicloom.control.durable_log import sync_folder
from topicloom.deploy.planning.delivery import Delivery, filled


class FolderDriver:
    """Writes to a path, and runs a command."""

    def __init__(self, delivery: Delivery, values: Mapping[str, str]) -> None:
        assert delivery.path is not None
        self._delivery = delivery
        self._values = values
        self._path = Path(filled(delivery.path, values))

    def get(self) -> Mapping[str, str]:
        """Read the other `.conf` files of the folder; Mosquitto passes over those that begin with a dot."""
        folder = self._path.parent
        if not folder.is_dir():
            return {}
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix == ".conf" and path.is_file())
            others = [path for path in files if path.name != self._path.name and not path.name.startswith(".")]
            return {str(path): path.read_text(encoding="utf-8", errors="replace") for path in others}
        except OSError as error:
            raise DeliveryFailed(f"{error.filename}: cannot be read ({error.strerror})") from None

    def put(self, text: str) -> None:
        """Write the file; what a killed run left beside it is written over."""
        part = part_of(self._path)
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            part.chmod(self._delivery.mode)
            if self._delivery.owner is not None:
                user, _, group = self._delivery.owner.partition(":")
                shutil.chown(part, user, group or None)
            part.replace(self._path)
            sync_folder(self._path.parent)
        except LookupError:
            raise DeliveryFailed(f"there is no user {self._delivery.owner} on this machine") from None
        except OSError as error:
            part.unlink(missing_ok=True)
            raise DeliveryFailed(f"{self._path}: cannot be written ({error.strerror})") from None

    def reload(self) -> None:
        """Run the command, where there is one."""
        if self._delivery.reload is not None:
            run_command(words_of(self._delivery.reload, self._values), self._delivery.seconds)


def part_of(path: Path) -> Path:
    """Where a file is written before it gets its name; no broker reads a file of such a name."""
    return path.with_name(f".{path.name}.topicloom.part")
