"""RabbitMQ's management interface, which takes definitions live: no file, no restart.

Parameters and policies whose names begin as ours do and that a plan no longer has are cleared, and only then others are
set. Exchanges stay, as queues of others may be bound to them.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

from topicloom.deploy.targets.rabbitmq import PREFIX, VHOST

_SET, _UPSTREAM = "federation-upstream-set", "federation-upstream"
_NOT_FOUND = 404


class ManagementFailed(Exception):  # noqa: N818  it says what happened
    """The interface does not answer, or refuses; the message says which, in one line."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RabbitManagement:
    """The interface of one broker at a URL; `login` gives a user and a password, None where there is none."""

    def __init__(self, url: str, login: Callable[[], tuple[str, str] | None], seconds: float) -> None:
        self._url = url.rstrip("/")
        self._login = login
        self._seconds = seconds

    def take(self, text: str) -> None:
        """Make the broker's definitions those of a plan, in their virtual host."""
        wanted = json.loads(text)
        (host,) = (row["name"] for row in wanted["vhosts"])
        vhost = quote(host, safe="")
        if host != VHOST:
            self.ask("PUT", f"vhosts/{vhost}", {})
        parameters = {(row["component"], row["name"]): row for row in wanted.get("parameters", [])}
        policies = {row["name"]: row for row in wanted.get("policies", [])}
        for row in self.ask("GET", f"policies/{vhost}"):
            if row["name"].startswith(PREFIX) and row["name"] not in policies:
                self.ask("DELETE", f"policies/{vhost}/{quote(row['name'], safe='')}")
        for component in (_SET, _UPSTREAM):
            for row in self.ask("GET", f"parameters/{component}/{vhost}"):
                if row["name"].startswith(PREFIX) and (component, row["name"]) not in parameters:
                    self.ask("DELETE", f"parameters/{component}/{vhost}/{quote(row['name'], safe='')}")
        for row in wanted.get("exchanges", []):
            fields = {key: row[key] for key in ("type", "durable", "auto_delete", "internal", "arguments")}
            self.ask("PUT", f"exchanges/{vhost}/{quote(row['name'], safe='')}", fields)
        # Upstreams before the sets that name them, and those before the policies that use them.
        for (component, name), row in sorted(parameters.items(), key=lambda item: item[0][0] == _SET):
            self.ask("PUT", f"parameters/{component}/{vhost}/{quote(name, safe='')}", {"value": row["value"]})
        for name, row in policies.items():
            fields = {key: row[key] for key in ("pattern", "apply-to", "priority", "definition")}
            self.ask("PUT", f"policies/{vhost}/{quote(name, safe='')}", fields)

    def links_down(self, text: str) -> list[str] | None:
        """Of the links that definitions ask for those that do not run, as exchange and upstream.

        None where the broker cannot tell, as its plugin rabbitmq_federation_management is not enabled.
        """
        wanted = json.loads(text)
        (host,) = (row["name"] for row in wanted["vhosts"])
        try:
            rows = self.ask("GET", f"federation-links/{quote(host, safe='')}")
        except ManagementFailed as failure:
            if failure.status == _NOT_FOUND:
                return None
            raise
        running = {(row.get("exchange"), row.get("upstream")) for row in rows if row.get("status") == "running"}
        expected = [
            (each["exchange"], each["upstream"])
            for row in wanted.get("parameters", [])
            if row["component"] == _SET
            for each in row["value"]
        ]
        return [f"{exchange} from {upstream}" for exchange, upstream in expected if (exchange, upstream) not in running]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the interface; an error where it does not answer or refuses."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}/api/{path}", data, method=method)
        request.add_header("Content-Type", "application/json")
        login = self._login()
        if login is not None:
            request.add_header("Authorization", "Basic " + base64.b64encode(":".join(login).encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=self._seconds) as answer:
                text = answer.read()
            return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            said = f"{self._url} answered {method} {path} with {error.code} {error.reason}"
            raise ManagementFailed(said, error.code) from None
        except (OSError, HTTPException) as error:
            raise ManagementFailed(f"{self._url} does not answer ({getattr(error, 'reason', error)})") from None
        except ValueError:
            raise ManagementFailed(f"{self._url} answered {method} {path} with something else than JSON") from None
