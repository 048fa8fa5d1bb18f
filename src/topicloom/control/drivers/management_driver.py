"""RabbitMQ's management interface, which takes definitions live: no file, no restart.

Parameters and policies whose names begin as ours do and that a plan no longer has are cleared, and only then others are
set. Exchanges stay, as queues of others may be bound to them.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

from topicloom.control.drivers.base import DeliveryFailed
from topicloom.deploy.planning.delivery import Delivery
from topicloom.deploy.targets.rabbitmq import PREFIX, VHOST
from topicloom.deploy.targets.secrets import secret_of

_VHOST = quote(VHOST, safe="")
_SET, _UPSTREAM = "federation-upstream-set", "federation-upstream"


class ManagementDriver:
    """Sets and clears definitions of one broker."""

    def __init__(self, delivery: Delivery, broker: str) -> None:
        assert delivery.url is not None
        self._delivery = delivery
        self._url = delivery.url.rstrip("/")
        self._where = f"broker '{broker}': the password of its management interface"

    def put(self, text: str) -> None:
        """Make the broker's definitions those of a plan."""
        wanted = json.loads(text)
        parameters = {(row["component"], row["name"]): row for row in wanted.get("parameters", [])}
        policies = {row["name"]: row for row in wanted.get("policies", [])}
        for row in self.ask("GET", f"policies/{_VHOST}"):
            if row["name"].startswith(PREFIX) and row["name"] not in policies:
                self.ask("DELETE", f"policies/{_VHOST}/{quote(row['name'], safe='')}")
        for component in (_SET, _UPSTREAM):
            for row in self.ask("GET", f"parameters/{component}/{_VHOST}"):
                if row["name"].startswith(PREFIX) and (component, row["name"]) not in parameters:
                    self.ask("DELETE", f"parameters/{component}/{_VHOST}/{quote(row['name'], safe='')}")
        for row in wanted.get("exchanges", []):
            fields = {key: row[key] for key in ("type", "durable", "auto_delete", "internal", "arguments")}
            self.ask("PUT", f"exchanges/{_VHOST}/{quote(row['name'], safe='')}", fields)
        # Upstreams before the sets that name them, and those before the policies that use them.
        for (component, name), row in sorted(parameters.items(), key=lambda item: item[0][0] == _SET):
            self.ask("PUT", f"parameters/{component}/{_VHOST}/{quote(name, safe='')}", {"value": row["value"]})
        for name, row in policies.items():
            fields = {key: row[key] for key in ("pattern", "apply-to", "priority", "definition")}
            self.ask("PUT", f"policies/{_VHOST}/{quote(name, safe='')}", fields)

    def reload(self) -> None:
        """Nothing: what is set holds at once."""

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the interface; an error where it does not answer or refuses."""
        request = urllib.request.Request(
            f"{self._url}/api/{path}", None if body is None else json.dumps(body).encode(), method=method
        )
        request.add_header("Content-Type", "application/json")
        login = self._delivery.credentials
        if login is not None:
            both = f"{login.username}:{secret_of(login, self._where)}"
            request.add_header("Authorization", "Basic " + base64.b64encode(both.encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=self._delivery.seconds) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise DeliveryFailed(f"{self._url} answered {method} {path} with {error.code} {error.reason}") from None
        except OSError as error:
            raise DeliveryFailed(f"{self._url} does not answer ({getattr(error, 'reason', error)})") from None
        return json.loads(text) if text else None
