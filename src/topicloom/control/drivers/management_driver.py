"""RabbitMQ's management interface: definitions are set and cleared live, without a file or a restart."""

from __future__ import annotations

from collections.abc import Mapping

from topicloom.control.drivers.base import DeliveryFailed
from topicloom.deploy.planning.delivery import Delivery
from topicloom.deploy.targets.rabbitmq_management import ManagementFailed, RabbitManagement
from topicloom.deploy.targets.secrets import secret_of


class ManagementDriver:
    """Sets and clears definitions of one broker."""

    def __init__(self, delivery: Delivery, broker: str) -> None:
        assert delivery.url is not None
        self._delivery = delivery
        self._where = f"broker '{broker}': the password of its management interface"
        self._management = RabbitManagement(delivery.url, self._login, delivery.seconds)
        self._text: str | None = None

    def get(self) -> Mapping[str, str]:
        """Fail: cycles of federation links are not looked for."""
        raise DeliveryFailed("federation of RabbitMQ is not followed")

    def put(self, text: str) -> None:
        """Make the broker's definitions those of a plan."""
        try:
            self._management.take(text)
        except ManagementFailed as failure:
            raise DeliveryFailed(str(failure)) from None
        self._text = text

    def reload(self) -> None:
        """Nothing: what is set holds at once."""

    def require_links(self) -> None:
        """An error where a link that the definitions ask for does not run; none where the broker cannot tell."""
        assert self._text is not None
        try:
            down = self._management.links_down(self._text)
        except ManagementFailed as failure:
            raise DeliveryFailed(str(failure)) from None
        if down:
            more = f" and {len(down) - 1} more" if len(down) > 1 else ""
            raise DeliveryFailed(f"its links are not up: {down[0]}{more}")

    def _login(self) -> tuple[str, str] | None:
        login = self._delivery.credentials
        return None if login is None else (login.username, secret_of(login, self._where))
