"""What a driver is, and what it says when it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class DeliveryFailed(Exception):  # noqa: N818  it says what happened
    """A file did not get to a broker, or the broker did not take it; the message says why, in one line."""


class Driver(Protocol):
    """A way to one broker. All of it may be done again after it was done, or half done."""

    def get(self) -> Mapping[str, str]:
        """Texts of the configuration files that the broker reads beside ours, by their places."""

    def put(self, text: str) -> None:
        """Give the broker its configuration, whole or not at all."""

    def reload(self) -> None:
        """Let the broker take it."""
