"""RabbitMQ: bindings, from its management interface or from a file of `rabbitmqctl export_definitions`.

What is bound to a fanout exchange wants the exchange, which is the topic, as in the definitions that we render. What is
bound to a topic or direct exchange wants the routing key. Queues and exchanges that federation makes at the upstream
broker are links, not clients. Who publishes is known from counts that only the management interface has: an exchange is
published at a broker where more came in than its federation links brought.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from topicloom.deploy.planning.source_settings import SourceSettings
from topicloom.sources.broker_rows import PUBLISHERS, BrokerRows, Heard, kept, looked_at
from topicloom.sources.http_json import LARGEST_BYTES, Asking, list_of_objects
from topicloom.sources.source_error import SourceError

_FEDERATION = "federation: "
_INTERNAL = "amq.rabbitmq."
_BY_KEY = ("topic", "direct")
# Those that every broker has are not in definitions; an exchange without a name sends to each queue by its own.
_ALWAYS = {"amq.topic": "topic", "amq.direct": "direct"}

Table = dict[str, Any]


def ask_rabbitmq(source: SourceSettings, broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a broker by its management interface."""
    asking = Asking(source, broker)
    bindings = asking.objects("api/bindings?columns=source,vhost,destination,destination_type,routing_key")
    exchanges = asking.objects("api/exchanges?columns=name,vhost,type,message_stats")
    here = list(_here(exchanges, source.vhost))
    links = _federation_links(asking, source.vhost)
    told = [*_subscribed(_here(bindings, source.vhost), here), *_published(here, _federated(links))]
    found = looked_at(before, kept(told, source), now_us)
    return BrokerRows(
        found.rows, _upstreams(link.get("upstream") for link in links), _other_hosts(bindings, source.vhost)
    )


def read_definitions(source: SourceSettings, _broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a file of definitions."""
    path = Path(source.places[0])
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise SourceError(f"{path} has more than {LARGEST_BYTES // 1_000_000} MB")
        definitions = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise SourceError(f"{path} is not JSON; give a file of rabbitmqctl export_definitions") from None
    if not isinstance(definitions, dict) or "bindings" not in definitions:
        raise SourceError(f"{path} has no bindings; give a file of rabbitmqctl export_definitions")
    bindings = list_of_objects(definitions["bindings"], f"{path}: bindings")
    exchanges = list_of_objects(definitions.get("exchanges", []), f"{path}: exchanges")
    told = _subscribed(_here(bindings, source.vhost), _here(exchanges, source.vhost))
    found = looked_at(before, kept(told, source), now_us)
    parameters = list_of_objects(definitions.get("parameters") or [], f"{path}: parameters")
    upstreams = [each for each in _here(parameters, source.vhost) if each.get("component") == "federation-upstream"]
    return BrokerRows(
        found.rows, _upstreams(each.get("name") for each in upstreams), _other_hosts(bindings, source.vhost)
    )


def _subscribed(bindings: Iterable[Table], exchanges: Iterable[Table]) -> Iterator[Heard]:
    kinds = _ALWAYS | {str(each.get("name")): str(each.get("type")) for each in exchanges}
    for each in bindings:
        exchange, queue = str(each.get("source", "")), str(each.get("destination", ""))
        if not exchange or exchange.startswith((_FEDERATION, _INTERNAL)) or queue.startswith(_FEDERATION):
            continue
        yield Heard(str(each.get("routing_key", "")) if kinds.get(exchange) in _BY_KEY else exchange, "sub", queue)


def _published(exchanges: Iterable[Table], federated: Mapping[str, int]) -> Iterator[Heard]:
    for each in exchanges:
        name = str(each.get("name", ""))
        came_in = _count(each, "message_stats", "publish_in")
        ours = each.get("type") in _BY_KEY or name.startswith((_FEDERATION, _INTERNAL)) or not name
        if came_in > federated.get(name, 0) and not ours:
            yield Heard(name, "pub", PUBLISHERS)


def _federation_links(asking: Asking, vhost: str) -> list[Table]:
    try:
        return list(_here(asking.objects("api/federation-links"), vhost))
    except SourceError:
        return []  # without the plugin there is no such list


def _federated(links: Iterable[Table]) -> Counter[str]:
    """How many messages federation has brought to each exchange."""
    brought: Counter[str] = Counter()
    for link in links:
        brought[str(link.get("exchange"))] += _count(link, "local_channel", "message_stats", "publish")
    return brought


def _upstreams(names: Iterable[Any]) -> dict[str, list[str]]:
    """A position with the bridges of a broker: the upstreams from which it federates."""
    return {"bridges": sorted({str(name) for name in names})}


def _count(table: Table, *keys: str) -> int:
    value: Any = table
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def _here(tables: Iterable[Table], vhost: str) -> Iterator[Table]:
    return (table for table in tables if table.get("vhost", vhost) == vhost)


def _other_hosts(bindings: list[Table], vhost: str) -> tuple[str, ...]:
    others = sorted({str(each["vhost"]) for each in bindings if each.get("vhost", vhost) != vhost})
    return (f"virtual hosts other than {vhost} are left out: {', '.join(others[:5])}",) if others else ()
