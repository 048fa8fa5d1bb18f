"""Bridge configurations for Mosquitto.

A link is a `connection` section at the broker that opens it, with a line for each topic, or filter, that goes over the
link: `both`, or `in` or `out` where all who publish are on one side. So every topic's bridges form a tree, and a
message reaches each broker once.

What the options are for:

- `try_private` tells the other broker that this is a bridge, so that it sends nothing back over the same link.
- `cleansession false` keeps what is on its way while a link is down. The other broker then keeps the subscriptions of
  that session too, also of topics that a later plan takes off the link, which would make loops. So the names of
  sessions end in a hash of the link's topics: a link with other topics begins sessions of its own, which can be made
  ready before the old ones end (`proof/bridge_sessions.py`).
- `max_inflight_messages`, where a topic has QoS 1 or 2: with its default of 20 Mosquitto 2.0.11 loses some of what a
  sender of QoS 2 has under way beyond it (of 3,000 messages, published as fast as possible at four brokers, 49 to 60
  did not arrive somewhere), and where 20 messages come for a bridge while it connects, it may keep them and all that
  follow for ever, though it says that it is up. So it is more than can wait for a link (`max_queued_messages`, 1,000).
- `notifications_local_only` says at this broker, under `$SYS/broker/connection/`, whether the link is up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Line, Plan
from topicloom.deploy.targets.mosquitto_conf import heading
from topicloom.deploy.targets.secrets import password_of

_SESSION_HASH_BYTES = 6
_INFLIGHT_MESSAGES = 2000
_SYSTEM_CERTIFICATES = "/etc/ssl/certs"


def bridges_of(plan: Plan, broker: str) -> str:
    """The bridge sections of one broker, to be put into its `conf.d`; a heading alone where others open its links."""
    lines = [
        heading(plan.broker[broker]),
        "# Made from a plan: change the plan and render again, rather than this file.",
    ]
    if any(route.qos > 0 and broker in route.neighbours for route in plan.routes):
        lines += ["", f"max_inflight_messages {_INFLIGHT_MESSAGES}"]
    for link in plan.links_of[broker]:
        if link[0] == broker:
            lines += ["", *_section(plan, link)]
    return "\n".join(lines) + "\n"


def session_name(link: Pair, lines: Sequence[Line]) -> str:
    """The name under which a bridge is known at the other broker."""
    return f"topicloom-{_connection(link)}-{_digest(lines)}"


def local_session_name(link: Pair, lines: Sequence[Line]) -> str:
    """The name under which a bridge is known at its own broker."""
    return f"topicloom-local-{_connection(link)}-{_digest(lines)}"


def _digest(lines: Sequence[Line]) -> str:
    """A few letters that change with what a link carries."""
    digest = hashlib.blake2b(digest_size=_SESSION_HASH_BYTES)
    for line in lines:
        one_way = "" if line.direction == "both" else f" {line.direction}"
        digest.update(f"{line.pattern}{one_way}\n".encode())
    return digest.hexdigest()


def _connection(link: Pair) -> str:
    return f"{identifier(link[0])}-{identifier(link[1])}"


def _section(plan: Plan, link: Pair) -> Iterator[str]:
    other, lines = plan.broker[link[1]], plan.lines_of_link[link]
    yield f"connection {_connection(link)}"
    yield f"address {other.host}:{other.port}"
    yield f"remote_clientid {session_name(link, lines)}"
    yield f"local_clientid {local_session_name(link, lines)}"
    yield "bridge_protocol_version mqttv311"
    yield "try_private true"
    yield "cleansession false"
    yield "start_type automatic"
    yield "restart_timeout 1 30"
    yield "keepalive_interval 30"
    yield "notifications true"
    yield "notifications_local_only true"
    yield from _security(other)
    for line in lines:
        yield f"topic {line.pattern} {line.direction} {line.qos}"


def _security(other: Broker) -> Iterator[str]:
    if other.credentials is not None:
        yield f"remote_username {other.credentials.username}"
        yield f"remote_password {password_of(other)}"
    if other.tls is not None:
        yield f"bridge_cafile {other.tls.ca_file}" if other.tls.ca_file else f"bridge_capath {_SYSTEM_CERTIFICATES}"
        if other.tls.cert_file is not None:
            yield f"bridge_certfile {other.tls.cert_file}"
            yield f"bridge_keyfile {other.tls.key_file}"
