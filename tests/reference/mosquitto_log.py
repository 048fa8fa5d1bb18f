"""Mosquitto's log read line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable

CONNECTED = re.compile(r"New client connected from \S+ as (.*) \(p\d+, c([01]), k\d+.*\)\.")
BRIDGED = re.compile(r"New bridge connected from \S+ as (.*) \(p\d+, c[01], k\d+.*\)\.")
# Only a bridge that the broker opens itself is answered by another broker.
OPENED = re.compile(r"Received CONNACK on connection (.*)\.")
ENDED = re.compile(r"Client (.+) (?:disconnected\.|closed its connection\.|has exceeded timeout, disconnecting\.)")
PUBLISHED = re.compile(r"Received PUBLISH from (.+) \(d\d, q\d, r\d, m\d+, '(.*)', \.\.\. \(\d+ bytes\)\)")


def known_after(lines: Iterable[str], *, persistence: bool) -> tuple[set[tuple[str, str, str]], set[str]]:
    """Client, role and topic of every row after lines, and the connected bridges; ids and topics have no spaces."""
    alive: dict[str, set[str]] = {}
    lasting: set[str] = set()
    bridges: set[str] = set()
    published: set[str] = set()
    for line in lines:
        said = line.partition(": ")[2]
        words = said.split(" ")
        if begun := CONNECTED.fullmatch(said):
            client, clean = begun[1], begun[2] == "1"
            bridges.discard(client)
            if clean:
                alive.pop(client, None)
            (lasting.discard if clean else lasting.add)(client)
        elif bridge := BRIDGED.fullmatch(said) or OPENED.fullmatch(said):
            bridges.add(bridge[1])
            lasting.discard(bridge[1])
            alive.pop(bridge[1], None)
        elif gone := ENDED.fullmatch(said):
            bridges.discard(gone[1])
            if gone[1] not in lasting:
                alive.pop(gone[1], None)
        elif by := PUBLISHED.fullmatch(said):
            published |= set() if by[1] in bridges or by[1].startswith("topicloom-") else {by[2]}
        elif said.startswith("mosquitto version"):
            bridges.clear()
            for client in list(alive):
                if not (persistence and client in lasting):
                    del alive[client]
        elif len(words) == 3 and words[1] in "012":
            if words[0] in bridges:
                continue
            alive.setdefault(words[0], set()).add(words[2])
        elif len(words) == 2:
            alive.get(words[0], set()).discard(words[1])
    rows = {(client, "sub", topic) for client, topics in alive.items() for topic in topics}
    rows |= {("publishers", "pub", topic) for topic in published}
    rows = {row for row in rows if not row[0].startswith("topicloom-") and not row[2].startswith("$SYS")}
    return rows, bridges
