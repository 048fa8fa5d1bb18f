"""MQTT clients that come back when their broker does, and find what came meanwhile, as careful applications do."""

from __future__ import annotations

import selectors
from contextlib import suppress
from typing import Any

from topicloom.deploy.proof.clients import Clients


class LastingClients(Clients):
    """Clients whose sessions last; a broker that restarts is connected to again at once."""

    lasting = True

    def serve(self, seconds: float) -> None:
        """Handle what comes, and wait at most so long for it."""
        lost = {name: client for name, client in self._clients.items() if client.socket() is None}
        # All before any is connected again, which may get the number of a socket that another one had.
        for name, client in lost.items():
            self.links_up[name].clear()
            self._forget(client)
        for client in lost.values():
            with suppress(OSError):
                client.reconnect()
            # It may have lost the broker again while it said hello.
            if client.socket() is not None:
                self._selector.register(client.socket(), selectors.EVENT_READ, client)
        super().serve(seconds)

    def is_connected(self, name: str) -> bool:
        """Whether a client has its broker."""
        return bool(self._clients[name].is_connected())

    def _lose(self, client: Any) -> None:
        """It is connected to again when it is next served."""
