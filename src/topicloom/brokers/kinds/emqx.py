"""EMQX, which others bridge to: the pages of `/api/v5/subscriptions`.

Written from its documentation and tried with an answer recorded from there, not with a running server. An API key is
given as credentials: the key as the username, its secret as the password.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from topicloom.brokers.kind import BrokerKind, SourceForm, mqtt_problem, one_name
from topicloom.brokers.rows import BrokerRows, Heard, SourceError, asked, client_of, kept, looked_at
from topicloom.io.http import list_of_objects
from topicloom.model.filters import MQTT
from topicloom.model.fleet import Source

_PAGE = 1000
_MOST_PAGES = 100_000


def ask_emqx(source: Source, broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a broker, or at a cluster of them, which counts as one."""
    client = client_of(source, broker)
    told = []
    for page in range(1, _MOST_PAGES):
        answer = client.object(f"api/v5/subscriptions?page={page}&limit={_PAGE}")
        meta = answer.get("meta")
        rows = list_of_objects(answer.get("data"), "data of api/v5/subscriptions")
        for row in rows:
            told.append(Heard(str(row.get("topic", "")), "sub", str(row.get("clientid", ""))))
        if not isinstance(meta, dict):
            raise SourceError("api/v5/subscriptions does not answer with pages: it has no meta")
        more = meta.get("hasnext", page * _PAGE < int(meta.get("count", 0)))
        if not more or not rows:
            break
    return looked_at(before, kept(told, source), now_us)


class Emqx(BrokerKind):
    """EMQX, which is given no file: brokers of other kinds open the links to it."""

    name = "emqx"
    title = "EMQX"
    ports = (1883, 8883)
    wildcards = MQTT
    speaks = frozenset({"mqtt"})
    sources = MappingProxyType({"emqx": SourceForm(MQTT, over_http=True)})

    def name_problem(self, name: str) -> str | None:
        """Return why no MQTT message can have this name, None if one can."""
        return mqtt_problem(name)

    def pattern_problem(self, pattern: str) -> str | None:
        """Return why it cannot carry a filter: that of a name as long as the filter."""
        return mqtt_problem(one_name(pattern))

    def collect(self, source: Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]:
        """Yield what its interface tells."""
        yield asked(ask_emqx, source, broker, before, now_us)


KIND = Emqx()
