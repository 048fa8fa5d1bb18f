"""Mosquitto: its log, with `log_type subscribe`, `unsubscribe` and `notice`; with `debug` it tells publishers, too."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.deploy.planning.source_settings import SourceSettings
from topicloom.sources.broker_rows import BrokerRows, is_client
from topicloom.sources.log_files import read_pieces
from topicloom.sources.mosquitto_sessions import Sessions, after_lines


def read_log(source: SourceSettings, before: BrokerRows) -> Iterator[BrokerRows]:
    """What a broker's log tells, after each piece of it."""
    position = before.position
    sessions = Sessions(
        before.rows,
        frozenset(position.get("lasting", ())),
        frozenset(position.get("odd", ())),
        frozenset(position.get("bridges", ())),
        int(position.get("clock", 0)),
    )
    notes: list[str] = []
    for piece in read_pieces(source.places, position.get("log")):
        notes += [piece.note] if piece.note else []
        if piece.text:
            sessions = after_lines(
                sessions,
                piece.text,
                persistence=source.persistence,
                counts=lambda name: is_client(name, source),
            )
        told = notes if not sessions.back else [*notes, f"its clock went back by {sessions.back / 1_000_000:,.0f} s"]
        yield BrokerRows(
            sessions.rows,
            {
                "log": piece.position.as_dict(),
                "lasting": sorted(sessions.lasting),
                "odd": sorted(sessions.odd),
                "bridges": sorted(sessions.bridges),
                "clock": sessions.clock,
            },
            tuple(told),
        )
