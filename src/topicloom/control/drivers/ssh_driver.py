"""A file on another machine, by the system's ssh, with the keys, hosts and options of its configuration."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from topicloom.control.drivers.base import DeliveryFailed
from topicloom.control.drivers.folder_driver import part_of
from topicloom.control.drivers.timed_commands import run_command
from topicloom.deploy.planning.delivery import Delivery, filled

# Nobody is there to be asked for a password.
_SSH = ("ssh", "-o", "BatchMode=yes")


class SshDriver:
    """Writes to a path on another machine, and runs a command there.

    The file goes in by standard input, so that no other program is needed there and nothing shows among the arguments
    of processes; it is renamed when it is whole.
    """

    def __init__(self, delivery: Delivery, values: Mapping[str, str]) -> None:
        assert delivery.path is not None
        self._delivery = delivery
        # For a shell: what a name or a path may hold means nothing to it.
        self._values = {key: shlex.quote(value) for key, value in values.items()}
        self._path = Path(filled(delivery.path, values))
        self._destination = delivery.destination or values["host"]

    def get(self) -> Mapping[str, str]:
        """Read the other `.conf` files of the folder; the size of each goes before it, so that any text is whole."""
        read = 'size=$(wc -c < "$file") && printf "%d %s\\n" "$size" "$file" && cat < "$file" || exit 1'
        each = f'for file in *.conf; do if [ -f "$file" ]; then {read}; fi; done'
        said = self._run(f"cd {shlex.quote(str(self._path.parent))} && {each}")
        found = {}
        while said:
            line, _, rest = said.partition(b"\n")
            size, _, name = line.decode(errors="replace").partition(" ")
            if not size.isdecimal():
                raise DeliveryFailed(f"{self._destination}: the files of {self._path.parent} cannot be told apart")
            text, said = rest[: int(size)], rest[int(size) :]
            if name != self._path.name:
                found[f"{self._destination}:{self._path.parent / name}"] = text.decode(errors="replace")
        return found

    def put(self, text: str) -> None:
        """Write the file."""
        part, path = shlex.quote(str(part_of(self._path))), shlex.quote(str(self._path))
        parts = ["umask 077", f"cat > {part}", f"chmod {self._delivery.mode:o} {part}"]
        if self._delivery.owner is not None:
            parts.append(f"chown {shlex.quote(self._delivery.owner)} {part}")
        parts += [f"sync {part}", f"mv {part} {path}"]
        self._run(" && ".join(parts), text.encode())

    def reload(self) -> None:
        """Run the command there, where there is one."""
        if self._delivery.reload is not None:
            self._run(filled(self._delivery.reload, self._values))

    def _run(self, command: str, given: bytes = b"") -> bytes:
        return run_command([*_SSH, "--", self._destination, command], self._delivery.seconds, given=given)
