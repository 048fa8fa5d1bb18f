"""Commands that end in time, and with this process."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from topicloom.control.drivers.base import DeliveryFailed
from topicloom.deploy.planning.delivery import filled
from topicloom.deploy.proof.processes import ending_with_owner

# How much is shown of what a command said before it failed.
_SAID = 300


def words_of(command: str, values: Mapping[str, str]) -> list[str]:
    """The words of a command with its placeholders replaced in each word, so that no value can become two words."""
    return [filled(word, values) for word in shlex.split(command)]


def run_command(words: Sequence[str], seconds: float, *, given: bytes = b"") -> bytes:
    """Run a command without a shell, and give its output; an error if it fails or takes longer.

    What it prints goes to a file: a broker that it starts may hold a pipe open for ever.
    """
    if shutil.which(words[0]) is None:
        raise DeliveryFailed(f"there is no command {words[0]} on this machine")
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as wrong, tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            [*ending_with_owner(), *words], stdin=stdin, stdout=said, stderr=wrong, start_new_session=True
        )
        try:
            status = process.wait(seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise DeliveryFailed(f"{words[0]} did not end within {seconds:g} s") from None
            raise
        said.seek(0)
        printed = said.read()
        if status != 0:
            wrong.seek(0)
            text = " ".join((printed + b" " + wrong.read()).decode(errors="replace").split())
            raise DeliveryFailed(f"{words[0]} ended with status {status}: {text[-_SAID:] or 'it said nothing'}")
    return printed
