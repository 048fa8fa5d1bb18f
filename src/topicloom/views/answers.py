"""What is told of a topic, a node, a link or a group of nodes when it is clicked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from topicloom.brokers.explain import Split, explain_broker, explain_link
from topicloom.brokers.plan import Route
from topicloom.errors import InputError, printable
from topicloom.metrics.trees import pieces_of
from topicloom.views.drawing import Drawing, SeenOverlay
from topicloom.views.html import macro
from topicloom.views.interactive import Answer, Carried, network_block
from topicloom.views.network import network_figure, require_explorer

# How many names a list shows.
_SHOWN = 30
# Without a server, answers for more nodes than these would make a page heavy.
_CARRIED_NODES = 400
_CARRIED_TOPICS = 500


class Named(NamedTuple):
    """A name that can be clicked: what it is, its number, and which part it has."""

    kind: str
    number: int
    name: str
    part: str = ""


class NameList(NamedTuple):
    """A title with names below it, the first of so many."""

    title: str
    names: Sequence[Named]
    known: int
    note: str = ""


def answer(drawing: Drawing, kind: str, number: int) -> Answer:
    """What is told of a topic by its id, or of a node, link or group by its row."""
    interest, drawn = drawing.seen.overlay.interest, drawing.drawn
    known = {"topic": interest.topic_count, "node": len(drawn.names), "link": len(drawn.source)}
    if kind not in known or not 0 <= number < known[kind]:
        raise InputError(f"there is no {kind} {number} in this picture")
    if kind == "topic":
        return _topic(drawing, number)
    if drawing.grouped:
        return _group(drawing, number) if kind == "node" else _between(drawing, number)
    return _node(drawing, int(drawing.nodes[number])) if kind == "node" else _link(drawing, number)


def carried(drawing: Drawing, *, nodes: bool = True) -> Carried:
    """All answers that a page without a server can give about a drawing; of nodes and links too, if asked for."""
    interest = drawing.seen.overlay.interest
    sizes = np.diff(interest.topic_start)
    topics = np.argsort(-sizes, kind="stable")[:_CARRIED_TOPICS].tolist()
    answers = {f"topic/{number}": answer(drawing, "topic", number) for number in topics}
    if nodes and len(drawing.drawn.names) <= _CARRIED_NODES:
        for kind, count in (("node", len(drawing.drawn.names)), ("link", len(drawing.drawn.source))):
            answers |= {f"{kind}/{row}": answer(drawing, kind, row) for row in range(count)}
    names: dict[str, Sequence[tuple[int, str]]] = {
        "topic": [(number, printable(interest.topic_names[number])) for number in sorted(topics)]
    }
    if nodes:
        names["node"] = [(row, printable(name)) for row, name in enumerate(drawing.drawn.names)]
    return {"answers": answers, "names": names}


def network_of(seen: SeenOverlay, beside: str) -> Markup:
    """A network with the trees of its topics, for a page; nothing where the libraries that draw it are missing."""
    try:
        require_explorer()
    except InputError:
        return Markup()
    drawing, things = seen.whole, "groups of nodes" if seen.whole.grouped else "nodes"
    drawn = drawing.drawn
    if not drawn.names:
        return Markup()
    about = f"The network: {len(drawn.names):,} {things} and {len(drawn.source):,} links between them."
    told = macro("answers.html", "beside", [about, beside])
    figure = network_figure(drawn, "network")
    return network_block(figure, about, list(drawn.colourings), carried=carried(drawing, nodes=False), beside=told)


def find(drawing: Drawing, text: str, most: int) -> list[tuple[str, int, str]]:
    """Nodes and topics with a text in their names, the shortest first: kind, number and name."""
    wanted = text.strip().lower()
    if not wanted:
        return []
    interest = drawing.seen.overlay.interest
    hits = [
        ("node", int(row), name)
        for name, row in zip(interest.node_names, drawing.row.tolist(), strict=True)
        if row >= 0 and wanted in name.lower()
    ]
    hits += [("topic", number, name) for number, name in enumerate(interest.topic_names) if wanted in name.lower()]
    shortest = sorted(hits, key=lambda hit: (len(hit[2]), hit[2], hit[0]))[:most]
    return [(kind, number, printable(name)) for kind, number, name in shortest]


def _topic(drawing: Drawing, topic: int) -> Answer:
    seen, interest = drawing.seen, drawing.seen.overlay.interest
    wants, publishes = interest.patterns_of(topic)
    name = interest.topic_names[topic]
    route = seen.plan.route.get(name)
    members = set(interest.nodes_of(topic).tolist())
    # Of groups a row stands for many nodes: it is a subscriber's as soon as one of them is.
    parts: dict[int, str] = {}
    relays = [interest.node_ids[each] for each in route.relays] if route else []
    for nodes, part in ((relays, "relay"), (publishes, "pub"), (wants, "sub")):
        for node in nodes:
            if drawing.row[node] >= 0:
                parts[int(drawing.row[node])] = part
    lists = [_nodes(drawing, "Subscribers", wants, "sub")]
    if interest.roles is not None:
        lists.append(_nodes(drawing, "Publishers", publishes, "pub"))
    facts = [f"{len(wants):,} subscribe, {len(publishes):,} publish"]
    links: list[int] = []
    if route is None:
        pieces = pieces_of(seen.overlay, topic).pieces
        facts.append(f"It is in {len(pieces):,} pieces, and no relays can join them.")
        lists += [
            NameList(f"Piece {at}", _named_nodes(drawing, piece), len(piece))
            for at, piece in enumerate(pieces[:6], start=1)
        ]
    else:
        facts.append(_tree(route))
        if relays:
            pieces = pieces_of(seen.overlay, topic).pieces
            facts.append(f"Its own nodes are in {len(pieces):,} pieces; relays join them.")
            lists.append(_nodes(drawing, "Relays", relays, "relay", "they carry it and do not want it"))
        ids = interest.node_ids
        numbers = seen.rows_of_links([(ids[upper], ids[lower]) for upper, lower in route.links])
        links = [drawing.link_row[number] for number in numbers if number in drawing.link_row]
    if drawing.grouped:
        facts.append(f"They are in {len(parts):,} of the {len(drawing.drawn.names):,} groups.")
    more = {"part": f"topic-{topic}", "nodes": len(members)} if drawing.grouped else None
    return {"html": _told(f"Topic {name}", facts, lists, more), "nodes": parts, "links": links}


def _tree(route: Route) -> str:
    if not route.links:
        return "It needs no links."
    return (
        f"Its tree has {len(route.links):,} links from {route.root} on; "
        f"the longest way takes {route.diameter:,} of them."
    )


def _node(drawing: Drawing, node: int) -> Answer:
    seen, overlay = drawing.seen, drawing.seen.overlay
    interest, name = overlay.interest, overlay.interest.node_names[node]
    reasons = explain_broker(seen.plan, name)
    ids = interest.node_ids
    at = np.flatnonzero((overlay.source == node) | (overlay.target == node))
    others = np.where(overlay.source[at] == node, overlay.target[at], overlay.source[at])
    rows = [drawing.link_row[number] for number in at.tolist() if number in drawing.link_row]
    wanted = len(interest.topics_of(node))
    carried_over = f"{int(seen.load[node]):,} topics carried over its links"
    facts = [f"{len(at):,} links, {wanted:,} topics it has to do with, {carried_over}"]
    if seen.regions and seen.regions.get(name):
        facts.append(f"In {seen.regions[name]}.")
    splits = _splits(drawing, reasons.splits)
    topics = interest.topic_ids
    lists = [
        _nodes(drawing, "Linked with", others.tolist(), ""),
        _topics(drawing, "Wants", [topics[each] for each in reasons.wants if each in topics]),
        _topics(drawing, "Carries without wanting", [topics[each] for each in reasons.relays if each in topics]),
        splits,
    ]
    parts = {int(drawing.row[other]): "sub" for other in others.tolist() if drawing.row[other] >= 0}
    parts[int(drawing.row[ids[name]])] = "chosen"
    return {"html": _told(f"Node {name}", facts, lists), "nodes": parts, "links": rows}


def _link(drawing: Drawing, row: int) -> Answer:
    seen, overlay = drawing.seen, drawing.seen.overlay
    number = int(drawing.links[row])
    ends = [int(overlay.source[number]), int(overlay.target[number])]
    first, second = (overlay.interest.node_names[end] for end in ends)
    parts = {int(drawing.row[end]): "chosen" for end in ends}
    facts = []
    if overlay.contribution is not None:
        facts.append(
            f"Link {number + 1:,} of {len(overlay):,}; it merged {int(overlay.contribution[number]):,} pieces."
        )
    lists = [_nodes(drawing, "Between", ends, "chosen")]
    try:
        reasons = explain_link(seen.plan, first, second)
    except InputError:
        facts.append("No topic's tree goes over it.")
    else:
        facts.append(f"It carries {len(reasons.splits):,} topics.")
        lists.append(_splits(drawing, reasons.splits, "What it is for: without it these topics fall apart"))
    return {"html": _told(f"Link {first} – {second}", facts, lists), "nodes": parts, "links": [row]}


def _splits(drawing: Drawing, splits: Sequence[Split], title: str = "Would take down") -> NameList:
    ids = drawing.seen.overlay.interest.topic_ids
    names = [
        Named("topic", ids[split.topic], f"{split.topic} ({' | '.join(f'{len(group):,}' for group in split.groups)})")
        for split in splits[:_SHOWN]
        if split.topic in ids
    ]
    note = "in brackets: how many would still reach each other" if names else "nothing"
    return NameList(title, names, len(splits), note)


def _group(drawing: Drawing, row: int) -> Answer:
    members, overlay = drawing.members(row), drawing.seen.overlay
    hubs = members[np.argsort(-overlay.degrees[members], kind="stable")][:_SHOWN]
    told = drawing.drawn.told
    facts = [f"{len(members):,} nodes, {int(told['links among them'][row]):,} links among them"]
    lists = [NameList("Most links", [Named("", 0, overlay.interest.node_names[hub]) for hub in hubs], len(members))]
    more = {"part": f"group-{row}", "nodes": len(members)}
    return {"html": _told(f"Nodes {drawing.drawn.names[row]}", facts, lists, more), "nodes": {row: "chosen"}}


def _between(drawing: Drawing, row: int) -> Answer:
    drawn = drawing.drawn
    first, second = int(drawn.source[row]), int(drawn.target[row])
    facts = [f"{int(drawn.link_told['links'][row]):,} links"]
    title = f"Between {drawn.names[first]} and {drawn.names[second]}"
    return {"html": _told(title, facts, []), "nodes": {first: "chosen", second: "chosen"}, "links": [row]}


def _nodes(drawing: Drawing, title: str, nodes: Iterable[int], part: str, note: str = "") -> NameList:
    listed = sorted(nodes)
    names = drawing.seen.overlay.interest.node_names
    shown = [_clickable(drawing, node, names[node], part) for node in listed[:_SHOWN]]
    return NameList(title, shown, len(listed), note)


def _named_nodes(drawing: Drawing, names: Sequence[str]) -> list[Named]:
    ids = drawing.seen.overlay.interest.node_ids
    return [_clickable(drawing, ids[name], name, "") for name in names[:_SHOWN]]


def _clickable(drawing: Drawing, node: int, name: str, part: str) -> Named:
    row = int(drawing.row[node])
    return Named("node" if row >= 0 else "", row, name, part)


def _topics(drawing: Drawing, title: str, topics: Sequence[int]) -> NameList:
    names = drawing.seen.overlay.interest.topic_names
    return NameList(title, [Named("topic", topic, names[topic]) for topic in topics[:_SHOWN]], len(topics))


def _told(title: str, facts: Sequence[str], lists: Sequence[NameList], more: dict[str, object] | None = None) -> Markup:
    return macro("answers.html", "told", title, facts, lists, more)
