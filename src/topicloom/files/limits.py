"""How much of what there may be, kept before work begins; docs/limits.md lists it."""

from __future__ import annotations

import os
from pathlib import Path

from topicloom.errors import InputError

# Ids of nodes and topics, and rows of a table that is held in memory, are numbers of 32 bits.
NODES = TOPICS = 100_000_000
SUBSCRIPTIONS = LINKS = 2**31 - 1
# The longest topic of MQTT.
NAME_BYTES = 65_535
USERS, BROKERS, CHANNELS = 100_000_000, 20_000, 10_000_000
# Prices between users and brokers, which are held as one table.
ACCESS_PRICES = 2**31 - 1
EVENTS = 100_000_000
BOUND_ROUNDS = 100_000
PLAN_BYTES = 1 << 30
TOML_BYTES = 64 << 20


def require_at_most(number: int, most: int, what: str, *parameters: str, file: str | None = None) -> None:
    """Refuse more of something than there may be."""
    if number > most:
        raise InputError(f"{number:,} {what} are too many; the most are {most:,}", *parameters, file=file)


def read_limited(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """What a file holds; one that is too large or cannot be read is an `InputError`."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > most_bytes:
            raise InputError(f"has {size:,} bytes; the most are {most_bytes:,}", file=file)
        return file.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=file) from None
    except IsADirectoryError:
        raise InputError("is a folder; give a file", file=file) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file) from None
