"""What stands in the way of a fleet: addresses, ports, TLS, protocols, logins, and ways to deliver files.

Everything is tried as links and `apply` do it, from this machine. Nothing is changed.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.brokers.deliver import driver_of
from topicloom.brokers.dial import Refusal, left, reached, tls_context
from topicloom.brokers.kind import BrokerKind, DeliveryFailed
from topicloom.brokers.kinds import DEFAULT, kind_of, placed
from topicloom.brokers.logins import password_of
from topicloom.brokers.names import quoted
from topicloom.brokers.plan import Plan
from topicloom.errors import InputError
from topicloom.model.fleet import LINKS, NOTHING, Broker, Delivery, Fleet

RIGHT, WRONG, UNKNOWN = "right", "wrong", "not looked at"
_UP_TO_PORT = ("name", "address", "port")
_CONNECTION = (*_UP_TO_PORT, "TLS", "protocol", "login")
_AT_ONCE = 64
_SECONDS = 5.0
# How long the alert of a refused certificate is waited for.
_ALERT_SECONDS = 1.0


@dataclass(frozen=True)
class Checked:
    """One thing that was checked at a broker.

    `check` is `name`, `address`, `port`, `TLS`, `protocol`, `login`, or what a delivery needs, such as `folder` or
    `reload`. `state` is `right`, `wrong` or `not looked at`; `why` is the reason, as the broker gives it.
    """

    broker: str
    check: str
    state: str
    why: str = ""


def check_fleet(
    fleet: Fleet, target: str = DEFAULT, *, only: Collection[str] | None = None, seconds: float = _SECONDS
) -> list[Checked]:
    """Return what was checked, in the order of the brokers' names.

    Args:
        fleet: the fleet. target: the kind of brokers that name none.
        only: the brokers that are checked; all unless given.
        seconds: the deadline of each broker's connection, and of each command.
    """
    brokers = [placed(fleet.brokers[name], target) for name in sorted(fleet.brokers) if only is None or name in only]
    with ThreadPoolExecutor(_AT_ONCE) as checking:
        links = list(checking.map(lambda broker: _Connection(fleet, broker, seconds), brokers))
        deliveries = list(checking.map(lambda broker: _delivery(fleet, broker, seconds), brokers))
    known: dict[tuple[str, int, str | None], str] = {}
    found = []
    for broker, link, delivery in zip(brokers, links, deliveries, strict=True):
        found += link.found
        for address in link.addresses:
            other = known.setdefault((address, broker.port or 0, broker.vhost), broker.name)
            if other != broker.name:
                why = f"is at the same address as {quoted(other)}: {address}:{broker.port}"
                found.append(Checked(broker.name, "address", WRONG, why))
                break
        found += delivery
    return found


def require_ready(fleet: Fleet, plan: Plan, touched: Collection[str], silent: Collection[str]) -> None:
    """Raise InputError if brokers cannot get their files, or those that they open links to refuse a login from here.

    Args:
        fleet: the fleet. plan: what it is to get.
        touched: brokers that get files.
        silent: brokers that are known not to answer, which are not asked.
    """
    ends = {*touched} | {link[1] for link in plan.links if link[0] in touched}
    wrong = [
        one
        for one in check_fleet(fleet, plan.target, only=ends - {*silent})
        if one.state == WRONG and _is_needed(fleet.deliveries.get(one.broker), one.check, one.broker in touched)
    ]
    if wrong:
        more = f" (and {len(wrong) - 1} more; see 'topicloom check')" if wrong[1:] else ""
        raise InputError(f"broker {quoted(wrong[0].broker)}: {wrong[0].check}: {wrong[0].why}{more}")


def _is_needed(delivery: Delivery | None, check: str, touched: bool) -> bool:
    """Whether `apply` needs what is checked; with its management interface it does not connect to a broker."""
    if check not in _CONNECTION:
        return touched
    return delivery is None or (delivery.url is None and (delivery.check == LINKS or check in _UP_TO_PORT))


def login_refusal(broker: Broker) -> str | None:
    """Return why a broker refuses a login from here, None if it takes it or cannot be looked at."""
    return next(
        (f"{quoted(broker.name)} {one.why}" for one in _Connection(None, broker).found if one.state == WRONG), None
    )


class _Connection:
    """What was found on the way to a broker's login: `found`, and the `addresses` of its host."""

    def __init__(self, fleet: Fleet | None, broker: Broker, seconds: float = _SECONDS) -> None:
        self.found: list[Checked] = []
        self.addresses: tuple[str, ...] = ()
        self._broker = broker
        self._now = "name"
        if fleet is not None and not fleet.looks_at(broker.name):
            why = f'check = "{NOTHING}"' if broker.accepts else "it accepts no connections"
            self.found.append(Checked(broker.name, "port", UNKNOWN, why))
            return
        deadline = time.monotonic() + seconds
        try:
            self._go(kind_of(broker), deadline)
        except Refusal as refusal:
            says = f"refuses the login: {refusal}" if refusal.what == "login" else str(refusal)
            self._end(refusal.what, WRONG, says)
        except ssl.SSLCertVerificationError as error:
            self._end("TLS", WRONG, f"has a certificate that is not trusted here: {error.verify_message}")
        except (EOFError, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
            self._end(self._now, WRONG, "closes the connection without an answer")
        except ssl.SSLError as error:
            self._end("TLS", WRONG, f"refuses TLS: {(error.reason or str(error)).lower().replace('_', ' ')}")
        except InputError as error:
            self._end("login", UNKNOWN, str(error))
        except TimeoutError:
            self._end(self._now, WRONG, f"does not answer within {seconds:g} s")
        except OSError as error:
            self._end(self._now, WRONG, f"does not answer: {error.strerror or error}")

    def _go(self, kind: BrokerKind, deadline: float) -> None:
        broker = self._broker
        self.addresses = _resolved(broker, deadline)
        self._right("port")
        with reached(broker.host, broker.port or 0, deadline) as line:
            self._right("TLS" if broker.tls is not None else "protocol")
            kind.greet(line, broker)
            if broker.tls is not None:
                for file in filter(None, (broker.tls.ca_file, broker.tls.cert_file, broker.tls.key_file)):
                    problem = _unreadable(file)
                    if problem is not None:
                        # The files of TLS are those of the machines that open links.
                        self._end("TLS", UNKNOWN, f"{file} cannot be read here ({problem})")
                        return
                line.secure(tls_context(broker.tls), broker.host)
                # A refused certificate of ours shows after the handshake, and is lost if something is sent before.
                if not kind.greets_first and line.heard(min(_ALERT_SECONDS, left(deadline))):
                    raise EOFError
                self._right("protocol")
            login = None
            if broker.credentials is not None:
                login = broker.credentials.username, password_of(broker)
            kind.log_in(line, broker, login)
            self._right("login")
            self._right("")

    def _right(self, next_check: str) -> None:
        self.found.append(Checked(self._broker.name, self._now, RIGHT))
        self._now = next_check

    def _end(self, check: str, state: str, why: str) -> None:
        if check == "login" and self._now == "protocol":
            self._right("login")
        # An alert may come when TLS seemed right.
        self.found = [one for one in self.found if one.check != check]
        self.found.append(Checked(self._broker.name, check, state, why))


def _resolved(broker: Broker, deadline: float) -> tuple[str, ...]:
    """Return the addresses of a broker's host before a deadline, which the system's resolver does not have."""
    found: list[tuple[str, ...] | OSError] = []

    def resolve() -> None:
        try:
            rows = socket.getaddrinfo(broker.host, broker.port, type=socket.SOCK_STREAM)
            found.append(tuple(dict.fromkeys(str(row[4][0]) for row in rows)))
        except OSError as error:
            found.append(error)
        except UnicodeError:
            found.append(OSError(0, "no name of a host"))

    resolving = threading.Thread(target=resolve, daemon=True)
    resolving.start()
    resolving.join(left(deadline))
    if not found:
        raise TimeoutError
    if isinstance(found[0], OSError):
        raise Refusal("name", f"{broker.host} cannot be resolved: {found[0].strerror}")
    return found[0]


def _unreadable(file: str) -> str | None:
    try:
        with Path(file).open("rb"):
            return None
    except OSError as error:
        return error.strerror


def _delivery(fleet: Fleet, broker: Broker, seconds: float) -> Sequence[Checked]:
    """Whether a file can be taken to a broker."""
    delivery = fleet.deliveries.get(broker.name)
    if delivery is None:
        if not fleet.deliveries:
            return []
        return [Checked(broker.name, "delivery", UNKNOWN, f"{fleet.where} does not say how to get there")]
    driver = driver_of(broker, replace(delivery, seconds=min(seconds, delivery.seconds)), Path())
    found = []
    try:
        for check, problem in driver.ready():
            found.append(Checked(broker.name, check, RIGHT if problem is None else WRONG, problem or ""))
    except (DeliveryFailed, InputError) as failure:
        found.append(Checked(broker.name, "delivery", WRONG, str(failure)))
    return found
