"""Leafnode remotes for NATS servers.

NATS passes interest on by itself, so a subject crosses a link where somebody behind it subscribes; and it refuses
circles, so a plan's links are one tree, or one for each island, for all topics. A link is a remote of the server that
opens it. What the plan does not send over a link is denied there, in each direction, so that a client that subscribes
where the plan knows of no interest does not pull a topic through the fleet.

The file is for the inside of the server's block `leafnodes`, by `include`; where the server listens for leafnodes, and
who may log in, stays with the server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.targets.secrets import password_of

# The line that begins what we write for a server.
HEADING = re.compile(r"^# Topicloom: leafnode remotes of broker (\S+) at (\S+):(\d+)$", re.MULTILINE)


def remotes_of(plan: Plan, broker: str) -> str:
    """The leafnode remotes of one server."""
    opened = [link for link in plan.links_of[broker] if link[0] == broker]
    own = plan.broker[broker]
    lines = [
        f"# Topicloom: leafnode remotes of broker {identifier(broker)} at {own.host}:{own.port}",
        "# Made from a plan: change the plan and render again, rather than this file.",
        "remotes: [",
    ]
    for link in opened:
        lines += [f"  {line}" for line in _remote(plan, link)]
    return "\n".join([*lines, "]"]) + "\n"


def denied(plan: Plan, link: Pair) -> tuple[list[str], list[str]]:
    """The plan's topics that a link, as (who opens it, who accepts it), takes in not, and those it gives out not."""
    lines = plan.lines_of_link[link]
    comes = {line.pattern for line in lines if line.direction != "out"}
    goes = {line.pattern for line in lines if line.direction != "in"}
    return sorted(plan.route.keys() - comes), sorted(plan.route.keys() - goes)


def _remote(plan: Plan, link: Pair) -> Iterator[str]:
    other = plan.broker[link[1]]
    imports, exports = denied(plan, link)
    yield "{"
    yield f"  # to broker {identifier(other.name)}"
    yield f"  urls: [{json.dumps(_url(other))}]"
    yield from (f"  {line}" for line in _tls(other))
    yield f"  deny_imports: {_subjects(imports)}"
    yield f"  deny_exports: {_subjects(exports)}"
    yield "}"


def _subjects(subjects: list[str]) -> str:
    return "[" + ", ".join(json.dumps(subject, ensure_ascii=False) for subject in subjects) + "]"


def _url(other: Broker) -> str:
    login = ""
    if other.credentials is not None:
        login = f"{quote(other.credentials.username, safe='')}:{quote(password_of(other), safe='')}@"
    host = f"[{other.host}]" if ":" in other.host else other.host
    return f"{'tls' if other.tls else 'nats-leaf'}://{login}{host}:{other.port}"


def _tls(other: Broker) -> Iterator[str]:
    if other.tls is not None and other.tls.ca_file is not None:
        yield "tls: {"
        for key, value in vars(other.tls).items():
            if value is not None:
                yield f"  {key}: {json.dumps(value)}"
        yield "}"
