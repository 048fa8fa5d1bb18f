"""Any commands: one that puts a file, one that makes the broker take it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from topicloom.control.drivers.base import DeliveryFailed
from topicloom.control.drivers.timed_commands import run_command, words_of
from topicloom.deploy.planning.delivery import Delivery


class CommandDriver:
    """Hands a file that its owner alone can read to a command, and removes it afterwards.

    `folder` holds that file meanwhile; what a killed run left in it goes with the next one.
    """

    def __init__(self, delivery: Delivery, values: Mapping[str, str], folder: Path) -> None:
        assert delivery.put is not None
        self._delivery = delivery
        self._values = values
        self._folder = folder

    def get(self) -> Mapping[str, str]:
        """Fail: commands only put files."""
        raise DeliveryFailed("command has no way to read files")

    def put(self, text: str) -> None:
        """Run the command that puts the file."""
        assert self._delivery.put is not None
        clear_private(self._folder)
        try:
            self._folder.mkdir(mode=0o700)
            file = self._folder / self._values["broker"]
            with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
                opened.write(text)
            words = words_of(self._delivery.put, {**self._values, "file": str(file)})
            run_command(words, self._delivery.seconds)
        except OSError as error:
            raise DeliveryFailed(f"{self._folder}: cannot be written ({error.strerror})") from None
        finally:
            clear_private(self._folder)

    def reload(self) -> None:
        """Run the other command, where there is one."""
        if self._delivery.reload is not None:
            run_command(words_of(self._delivery.reload, self._values), self._delivery.seconds)


def clear_private(folder: Path) -> None:
    """Remove a folder of ours, where it is there."""
    if folder.is_symlink() or (folder.exists() and folder.stat().st_uid != os.getuid()):
        raise DeliveryFailed(f"{folder}: belongs to somebody else")
    shutil.rmtree(folder, ignore_errors=True)
