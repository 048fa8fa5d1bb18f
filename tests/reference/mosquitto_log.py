"""Mosquitto's log read line by line, as somebody would who follows it with a finger."""

from __future__ import annotations

import re
from collections.abc import Iterable

CONNECTED = re.compile(r"New (?:client|bridge) connected from \S+ as (.*) \(p\d+, c([01]), k\d+.*\)\.")
ENDED = re.compile(r"Client (.+) (?:disconnected\.|closed its connection\.|has exceeded timeout, disconnecting\.)")
PUBLISHED = re.compile(r"Received PUBLISH from (.+) \(d\d, q\d, r\d, m\d+, '(.*)', \.\.\. \(\d+ bytes\)\)")


def subscribed_after(lines: Iterable[str], *, persistence: bool) -> set[tuple[str, str, str]]:
    """Client, role and topic of all that is known after lines; ids and topics have no spaces."""
    alive: dict[str, set[str]] = {}
    lasting: set[str] = set()
    published: set[str] = set()
    for line in lines:
        said = line.partition(": ")[2]
        words = said.split(" ")
        if begun := CONNECTED.fullmatch(said):
            client, clean = begun[1], begun[2] == "1"
            if clean:
                alive.pop(client, None)
            (lasting.discard if clean else lasting.add)(client)
        elif gone := ENDED.fullmatch(said):
            if gone[1] not in lasting:
                alive.pop(gone[1], None)
        elif by := PUBLISHED.fullmatch(said):
            published |= set() if by[1].startswith("topicloom-") else {by[2]}
        elif said.startswith("mosquitto version"):
            for client in list(alive):
                if not (persistence and client in lasting):
                    del alive[client]
        elif len(words) == 3 and words[1] in "012":
            alive.setdefault(words[0], set()).add(words[2])
        elif len(words) == 2:
            alive.get(words[0], set()).discard(words[1])
    rows = {(client, "sub", topic) for client, topics in alive.items() for topic in topics}
    rows |= {("publishers", "pub", topic) for topic in published}
    return {row for row in rows if not row[0].startswith("topicloom-") and not row[2].startswith("$SYS")}
