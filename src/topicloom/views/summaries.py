"""The view of message histories that became rates."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from topicloom.views.designs import written
from topicloom.views.numbers import amount, count
from topicloom.views.view import Fact, On, View

if TYPE_CHECKING:
    from topicloom.spark.summarize import Summary


def facts(found: Summary) -> dict[str, Any]:
    """The numbers of a summary."""
    names = ("messages", "bad", "bad_by_reason", "users", "channels", "seconds")
    return {name: getattr(found, name) for name in names}


def summary(found: Summary, out: str | PathLike[str]) -> View:
    """Numbers of a log, and the folder of its rates."""
    return View(
        "summary",
        "Summary",
        (
            Fact("messages", found.messages, count),
            Fact("bad", found.bad, count, "set aside"),
            Fact("bad_by_reason", found.bad_by_reason, on=On.DATA),
            Fact("users", found.users, count),
            Fact("channels", found.channels, count),
            Fact("seconds", found.seconds, amount, "seconds in the log"),
            Fact("out", str(out), on=On.DATA),
            *written(out),
        ),
    )
