"""What a driver is, and what it says when it fails."""

from __future__ import annotations

from typing import Protocol


class DeliveryFailed(Exception):  # noqa: N818  it says what happened
    """A file did not get to a broker, or the broker did not take it; the message says why, in one line."""


class Driver(Protocol):
    """A way to one broker. Both may be done again after they were done, or half done."""

    def put(self, text: str) -> None:
        """Give the broker its configuration, whole or not at all."""

    def reload(self) -> None:
        """Let the broker take it."""
