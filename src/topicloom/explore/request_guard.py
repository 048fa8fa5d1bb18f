"""Which requests are answered: with the token in the address, to this host, from nowhere else.

A page of another site could make a browser ask a server on loopback, under a name of its own that leads there. It
knows no token, its name is not ours, and the browser says where it comes from.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

# More than any question has. Addresses hold a name or two, which may be long.
MOST_BODY_BYTES = 256 * 1024
MOST_HEADER_BYTES = 64 * 1024

_OURS = ("same-origin", "none")


@dataclass(frozen=True)
class Guard:
    """Knows the token and the port."""

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser may call this server."""
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    def refusal(self, token: str, headers: Mapping[str, str]) -> str | None:
        """Why a request is not answered; None where it is."""
        if headers.get("Host", "").lower() not in self.hosts:
            return "give the address that topicloom explore printed"
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return "the address lacks its token; give the one that topicloom explore printed"
        origin = headers.get("Origin")
        if origin is not None and origin.lower() not in [f"http://{host}" for host in self.hosts]:
            return "another site asks"
        if headers.get("Sec-Fetch-Site", "none").lower() not in _OURS:
            return "another site asks"
        return None
