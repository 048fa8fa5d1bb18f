"""Deliver configurations to brokers, and check that they took them.

Drivers: `FolderDriver` for a file on this machine, `SshDriver` for one on another machine by the ssh of the system, and
`CommandDriver` for any commands. Kinds of brokers may have their own. Commands end in time, and with this process.
`put_and_wait` is one delivery; `probe` sends messages to see that they come through.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from topicloom.brokers.fleet_file import COMMAND, FOLDER, SSH, filled
from topicloom.brokers.kind import DeliveryFailed, Driver, LinkState
from topicloom.brokers.kinds import KINDS, kind_of
from topicloom.brokers.live import DeliveryTally
from topicloom.brokers.local import Clients, ending_with_owner
from topicloom.brokers.moves import ASIDE
from topicloom.brokers.names import identifier, quoted
from topicloom.brokers.plan import Plan
from topicloom.errors import InputError
from topicloom.io.whole import replacing
from topicloom.model.fleet import LINKS, NOTHING, Broker, Delivery

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
        raise DeliveryFailed(f"command {words[0]} not found on this machine")
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
                raise DeliveryFailed(f"{words[0]} did not end within {round(seconds, 1):g} s") from None
            raise
        said.seek(0)
        printed = said.read()
        if status != 0:
            wrong.seek(0)
            text = " ".join((printed + b" " + wrong.read()).decode(errors="replace").split())
            raise DeliveryFailed(f"{words[0]} ended with status {status}: {text[-_SAID:] or 'it said nothing'}")
    return printed


class CommandDriver:
    """Hands a file that its owner alone can read to a command, and removes it afterwards.

    `folder` holds that file meanwhile; what a killed run left in it goes with the next one.
    """

    def __init__(self, delivery: Delivery, values: Mapping[str, str], folder: Path) -> None:
        assert delivery.put is not None
        self._delivery = delivery
        self._values = values
        self._folder = folder

    @property
    def place(self) -> str:
        """The only place."""
        return f"what {self._values['broker']} has"

    def get(self) -> Mapping[str, str]:
        """Run the command that prints our file, if there is one; others are not read."""
        if self._delivery.get is None:
            raise DeliveryFailed("command has no way to read files")
        text = run_command(words_of(self._delivery.get, self._values), self._delivery.seconds)
        return {self.place: text.decode(errors="replace")} if text else {}

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

    def set_aside(self, places: Iterable[str]) -> None:
        """Nothing: files of others are not read."""

    def bring_back(self) -> None:
        """Nothing was set aside."""

    def ready(self) -> Iterator[tuple[str, str | None]]:
        """Look for the programs of the commands."""
        for key in ("put", "get", "reload"):
            if (command := getattr(self._delivery, key)) is not None:
                yield key, _missing(words_of(command, {**self._values, "file": ""})[0])

    def reload(self) -> None:
        """Run the other command, where there is one."""
        if self._delivery.reload is not None:
            run_command(words_of(self._delivery.reload, self._values), self._delivery.seconds)


def _missing(program: str) -> str | None:
    return None if shutil.which(program) else f"command {program} not found on this machine"


def clear_private(folder: Path) -> None:
    """Remove a folder of ours, where it is there."""
    if folder.is_symlink() or (folder.exists() and folder.stat().st_uid != os.getuid()):
        raise DeliveryFailed(f"{folder}: belongs to somebody else")
    shutil.rmtree(folder, ignore_errors=True)


class FolderDriver:
    """Writes to a path, and runs a command."""

    def __init__(self, delivery: Delivery, values: Mapping[str, str]) -> None:
        assert delivery.path is not None
        self._delivery = delivery
        self._values = values
        self._path = Path(filled(delivery.path, values))

    @property
    def place(self) -> str:
        """Its path."""
        return str(self._path)

    def get(self) -> Mapping[str, str]:
        """Read our file and the other `.conf` files of the folder.

        Mosquitto passes over those that begin with a dot.
        """
        folder = self._path.parent
        if not folder.is_dir():
            return {}
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix == ".conf" and path.is_file())
            others = [path for path in files if path != self._path and not path.name.startswith(".")]
            ours = [self._path] if self._path.is_file() else []
            return {str(path): path.read_text(encoding="utf-8", errors="replace") for path in [*ours, *others]}
        except OSError as error:
            raise DeliveryFailed(f"{error.filename}: cannot be read ({error.strerror})") from None

    def set_aside(self, places: Iterable[str]) -> None:
        """Rename files, so that Mosquitto passes over them."""
        for place in places:
            try:
                Path(place).rename(place + ASIDE)
            except OSError as error:
                raise DeliveryFailed(f"{place}: cannot be renamed ({error.strerror})") from None

    def bring_back(self) -> None:
        """Give files that were set aside their names again."""
        for path in sorted(self._path.parent.glob(f"*{ASIDE}")):
            try:
                path.rename(str(path).removesuffix(ASIDE))
            except OSError as error:
                raise DeliveryFailed(f"{path}: cannot be renamed ({error.strerror})") from None

    def ready(self) -> Iterator[tuple[str, str | None]]:
        """Try to write beside our file, and look for its owner and the program of the command."""
        problem = None
        try:
            tempfile.TemporaryFile(dir=self._path.parent).close()
            if self._delivery.owner is not None:
                for word, database in zip(self._delivery.owner.split(":"), (pwd.getpwnam, grp.getgrnam), strict=False):
                    database(word)
        except OSError as error:
            problem = f"{self._path.parent}: cannot be written to ({error.strerror})"
        except KeyError:
            problem = f"user {self._delivery.owner} not found on this machine"
        yield "folder", problem
        if self._delivery.reload is not None:
            yield "reload", _missing(words_of(self._delivery.reload, self._values)[0])

    def put(self, text: str) -> None:
        """Write the file."""
        try:
            with replacing(self._path, mode=self._delivery.mode, sync=True) as part:
                part.write_text(text, encoding="utf-8")
                if self._delivery.owner is not None:
                    user, _, group = self._delivery.owner.partition(":")
                    shutil.chown(part, user, group or None)
        except LookupError:
            raise DeliveryFailed(f"user {self._delivery.owner} not found on this machine") from None
        except InputError as error:
            raise DeliveryFailed(str(error)) from None
        except OSError as error:
            raise DeliveryFailed(f"{self._path}: cannot be written ({error.strerror})") from None

    def reload(self) -> None:
        """Run the command, where there is one."""
        if self._delivery.reload is not None:
            run_command(words_of(self._delivery.reload, self._values), self._delivery.seconds)


def part_of(path: Path) -> Path:
    """Where a file is written before it gets its name; no broker reads a file of such a name."""
    return path.with_name(f".{path.name}.topicloom.part")


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

    @property
    def place(self) -> str:
        """Its machine and path."""
        return f"{self._destination}:{self._path}"

    def get(self) -> Mapping[str, str]:
        """Read our file and the other `.conf` files of the folder.

        The size of each goes before it, so that any text is whole.
        """
        read = 'size=$(wc -c < "$file") && printf "%d %s\\n" "$size" "$file" && cat < "$file" || exit 1'
        ours = "" if self._path.suffix == ".conf" else shlex.quote(self._path.name)
        each = f'for file in *.conf {ours}; do if [ -f "$file" ]; then {read}; fi; done'
        said = self._run(f"cd {shlex.quote(str(self._path.parent))} && {each}")
        found = {}
        while said:
            line, _, rest = said.partition(b"\n")
            size, _, name = line.decode(errors="replace").partition(" ")
            if not size.isdecimal():
                raise DeliveryFailed(f"{self._destination}: the files of {self._path.parent} cannot be told apart")
            text, said = rest[: int(size)], rest[int(size) :]
            found[f"{self._destination}:{self._path.parent / name}"] = text.decode(errors="replace")
        return found

    def set_aside(self, places: Iterable[str]) -> None:
        """Rename files, so that Mosquitto passes over them."""
        paths = [shlex.quote(place.removeprefix(f"{self._destination}:")) for place in places]
        if paths:
            self._run(" && ".join(f"mv {path} {path}{ASIDE}" for path in paths))

    def bring_back(self) -> None:
        """Give files that were set aside their names again."""
        folder = shlex.quote(str(self._path.parent))
        each = f'if [ -f "$file" ]; then mv "$file" "${{file%{ASIDE}}}" || exit 1; fi'
        self._run(f"cd {folder} && for file in *{ASIDE}; do {each}; done")

    def ready(self) -> Iterator[tuple[str, str | None]]:
        """Look at the folder there, and for the program of the command."""
        folder = shlex.quote(str(self._path.parent))
        yield "folder", self._problem(f"cd {folder} && test -w .", f"{self._path.parent}: cannot be written to")
        if self._delivery.reload is not None:
            program = filled(self._delivery.reload, self._values).split()[0]
            yield "reload", self._problem(f"command -v {program}", f"command {program} not found there")

    def _problem(self, command: str, meaning: str) -> str | None:
        try:
            self._run(command)
        except DeliveryFailed as failure:
            return f"{meaning} ({failure})"
        return None

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


def driver_of(broker: Broker, delivery: Delivery, state: Path) -> Driver:
    """The driver of a broker, for the fleet whose state is in a folder."""
    values = values_of(broker)
    if delivery.via == FOLDER:
        return FolderDriver(delivery, values)
    if delivery.via == SSH:
        return SshDriver(delivery, values)
    if delivery.via == COMMAND:
        return CommandDriver(delivery, values, private_folder(state))
    return next(kind for kind in KINDS.values() if delivery.via in kind.ways).driver(broker, delivery)


def values_of(broker: Broker) -> dict[str, str]:
    """What placeholders stand for; {broker} is an identifier, which cannot leave a folder or be taken for an option."""
    return {"broker": identifier(broker.name), "host": broker.host, "port": str(broker.port)}


def private_folder(state: Path) -> Path:
    """Where files with passwords are while a command takes them: not in the state, and the same for the next run."""
    digest = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"topicloom-{os.getuid()}-{digest}"


_LOOK_SECONDS = 0.1
_ROUND_SECONDS = 1.0
_CONNECT_SECONDS = 5.0
# How long duplicates of probes are waited for: on loopback they come within milliseconds of the first.
_DUPLICATE_SECONDS = 0.5


def put_and_wait(plan: Plan, broker: Broker, delivery: Delivery, text: str, state: Path) -> LinkState | None:
    """Give a broker its configuration, and wait until it took it; all of it within the seconds of its delivery.

    Args:
        plan: says which links must be up.
        broker: with its port.
        delivery: says how the text gets there, and what is looked at.
        text: the configuration.
        state: the folder of the fleet's state.

    Returns:
        Which links are up, None if they are not looked at.

    Raises:
        DeliveryFailed: the text did not get there in time, or the broker did not take it.
    """
    deadline = time.monotonic() + delivery.seconds
    driver_of(broker, delivery, state).put(text)
    driver_of(broker, _left(delivery, deadline), state).reload()
    return wait_until_taken(plan, broker, delivery, deadline)


def wait_until_taken(plan: Plan, broker: Broker, delivery: Delivery, deadline: float | None = None) -> LinkState | None:
    """Wait until a broker answers and, if that is asked for, all links that it opens by a plan are up.

    The time is over at a deadline of the monotonic clock, else after the seconds of the delivery.
    """
    if delivery.check == NOTHING:
        return None
    deadline = time.monotonic() + delivery.seconds if deadline is None else deadline
    while True:
        try:
            if delivery.url is None:
                _require_listening(broker)
            if delivery.check != LINKS:
                return None
            return kind_of(broker).links(plan, broker, _left(delivery, deadline))
        except (DeliveryFailed, InputError, OSError) as error:
            if time.monotonic() > deadline:
                reason = getattr(error, "strerror", None) or error
                raise DeliveryFailed(f"{reason}, after {delivery.seconds:g} s") from None
            time.sleep(_LOOK_SECONDS)


def _left(delivery: Delivery, deadline: float) -> Delivery:
    """A delivery with the seconds until a deadline; with one after it, so that there is one more look."""
    return replace(delivery, seconds=max(1.0, deadline - time.monotonic()))


def _require_listening(broker: Broker) -> None:
    try:
        socket.create_connection((broker.host, broker.port or 0), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise DeliveryFailed(f"{broker.host}:{broker.port} does not answer ({error.strerror or error})") from None


def probe(plan: Plan, topics: Iterable[str], seconds: float) -> int:
    """Publish a message from every publisher of some topics, and wait until it has come to every subscriber.

    Gives how many messages were published; an error if some do not arrive in time, or arrive more than once.
    """
    wanted = set(topics)
    part = plan.only(wanted & plan.route.keys())
    names = sorted({name for route in part.routes for name in (*route.subscribers, *route.publishers)})
    tally = DeliveryTally(part, b"", 0)

    def arrive(broker: str, _topic: str, payload: bytes, now: float) -> None:
        tally.arrive(broker, payload, now)

    deadline = time.monotonic() + seconds
    with Clients(plan.broker, arrive, f"probe-{os.getpid()}") as clients:
        for name in names:
            heard = [(one.name, route.qos) for route in part.routes for one in route.messages if name in one.wanting]
            try:
                clients.open(name, heard)
            except OSError as error:
                raise DeliveryFailed(f"{quoted(name)} cannot be asked ({error.strerror or error})") from None
        clients.wait_until_subscribed()
        for round_ in range(1_000_000):
            tally = DeliveryTally(part, b"topicloom-probe-%d-%d" % (os.getpid(), round_), 0)
            while (message := tally.next_message()) is not None:
                broker, name, qos, payload = message
                clients.publish(broker, name, payload, qos)
            until = time.monotonic() + _ROUND_SECONDS
            while not tally.complete and time.monotonic() < until:
                clients.serve(_LOOK_SECONDS)
            if tally.complete:
                _require_once(tally, clients)
                break
            if time.monotonic() > deadline:
                counts = tally.counts()
                raise DeliveryFailed(f"{counts.lost} of {counts.expected} probes did not arrive, after {seconds:g} s")
    return tally.messages


def _require_once(tally: DeliveryTally, clients: Clients) -> None:
    """An error if a probe arrives again within a short time."""
    until = time.monotonic() + _DUPLICATE_SECONDS
    while time.monotonic() < until:
        clients.serve(_LOOK_SECONDS)
    repeated = tally.repeated()
    if repeated:
        (topic, source, broker), times = repeated[0]
        often = "twice" if times == 2 else f"at least {times} times"
        more = f" (and {len(repeated) - 1} more)" if len(repeated) > 1 else ""
        raise DeliveryFailed(
            f"{quoted(topic)} published at {quoted(source)} arrived {often} at {quoted(broker)}{more}; "
            "look for bridges that are not of the plan"
        )
