"""The fleet as a picture for Graphviz."""

from __future__ import annotations

import math

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.plan import Plan


def picture_of(plan: Plan) -> str:
    """Brokers and links in the DOT language; a link says how many topics it carries, and points to who accepts it."""
    lines = [
        "digraph fleet {",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10, arrowsize=0.6];',
    ]
    relayed: dict[str, int] = {}
    wanted: dict[str, int] = {}
    for route in plan.routes:
        for name in route.subscribers:
            wanted[name] = wanted.get(name, 0) + 1
        for name in route.relays:
            relayed[name] = relayed.get(name, 0) + 1
    for broker in plan.brokers:
        topics = f"wants {wanted.get(broker.name, 0)}"
        relays = f", relays {relayed[broker.name]}" if broker.name in relayed else ""
        lines.append(f"  {_id(broker.name)} [label={_quoted(broker.name, f'{topics}{relays}')}];")
    for link in plan.links:
        carried = len(plan.routes_of_link[link])
        width = f"{1 + math.log2(carried):.1f}"
        lines.append(f"  {_id(link[0])} -> {_id(link[1])} [label={carried}, penwidth={width}];")
    return "\n".join([*lines, "}"]) + "\n"


def _id(name: str) -> str:
    return f'"{identifier(name)}"'


def _quoted(*rows: str) -> str:
    r"""Text in DOT's quotes, rows apart; nothing in it is taken for an escape such as \n, or for an HTML entity."""
    shown = [
        "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in row)
        .replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("&", "&amp;")
        for row in rows
    ]
    return '"' + "\\n".join(shown) + '"'
