"""Circles among leafnode connections of NATS servers, which refuse them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import networkx

from topicloom.deploy.linting.lint import Finding, LintReport, connect, unread
from topicloom.deploy.targets.mosquitto_conf import Configured
from topicloom.errors import InputError


def lint_leafnodes(servers: Sequence[Configured], unreadable: Iterable[InputError] = ()) -> LintReport:
    """Look for cycles; each remote that closes one is a finding, with its path, and so is what could not be read."""
    wires, outside = connect(servers)
    graph = networkx.Graph()
    graph.add_nodes_from(server.name for server in servers)
    where: dict[frozenset[str], str] = {}
    findings = []
    for wire in wires:
        ends = frozenset((wire.local, wire.remote))
        if graph.has_node(wire.remote) and networkx.has_path(graph, wire.local, wire.remote):
            way = networkx.shortest_path(graph, wire.remote, wire.local)
            text = f"{' -> '.join([wire.local, *way])} is a circle of leafnodes, which NATS breaks again and again"
            places = [where[frozenset(pair)] for pair in pairwise(way)]
            findings.append(Finding("loop", ">", text, tuple(dict.fromkeys([wire.bridge.where, *places]))))
        else:
            graph.add_edge(wire.local, wire.remote)
            where[ends] = wire.bridge.where
    links = graph.number_of_nodes() - networkx.number_connected_components(graph)
    return LintReport(len(servers), len(wires), links, (*findings, *map(unread, unreadable), *outside))
