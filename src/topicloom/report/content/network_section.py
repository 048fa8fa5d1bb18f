"""The section of a content-based network and the assignments of its users to brokers."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from topicloom.content.network.channels_by_user import Floats, Ids
from topicloom.content.network.network_folder import NetworkOutline
from topicloom.present.figures import COLOURS, DASHES, add_legend, count_axis, new_figure, styled
from topicloom.present.html import Cell
from topicloom.present.numbers import Number, amount, count, percent
from topicloom.report.content.network_results import ASSIGNMENT, NETWORK, ShownNetwork, made_by, read_networks
from topicloom.report.page.curves import thinned
from topicloom.report.page.kind import Kind
from topicloom.report.page.ranked import ranked_figure
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles

_COSTS = (
    "Load and cost are not in these files: topicloom content cost NETWORK ASSIGNMENT --json > cost.json "
    "works them out, and the page shows that file too."
)

_COSTS_BELOW = "Load and cost are in files of their own, which have their sections below."


def network_section(network: ShownNetwork) -> Section:
    """Sizes of the network, its assignments side by side, and each of them inside."""
    known = network.outline
    facts = [
        ("users", count(len(known.user_names))),
        ("brokers", count(len(known.broker_names))),
        ("channels", count(len(known.channel_names))),
        ("capacity of all brokers", amount(float(known.capacity.sum()))),
        ("access price, mean", amount(float(known.access.mean()))),
        ("cheapest access price, mean", amount(float(known.access.min(axis=1).mean()))),
    ]
    blocks = [paragraph("Users that publish and subscribe by content, and brokers that carry it."), tiles(facts)]
    compared = {name: _facts(known, assigned.brokers) for name, assigned in network.assignments.items()}
    if len(compared) > 1:
        headers = ["assignment", *(title for title, _ in next(iter(compared.values())))]
        rows: list[list[Cell]] = [[name, *(number for _, number in facts)] for name, facts in compared.items()]
        blocks.append(table("All assignments", headers, rows))
    inside = tuple(Section(name, _assigned(network, name)) for name in network.assignments)
    costs = _COSTS_BELOW if network.has_costs else _COSTS
    return Section(f"Network: {network.name}", (*blocks, paragraph(costs)), inside)


def _facts(known: NetworkOutline, brokers: Ids) -> list[tuple[str, Number]]:
    users = np.bincount(brokers, minlength=len(known.broker_names))
    paid, least = _paid(known, brokers), known.access.min(axis=1)
    return [
        ("brokers in use", count(int(np.count_nonzero(users)))),
        ("most users of a broker", count(int(users.max()))),
        ("access price, mean", amount(float(paid.mean()))),
        ("access price, highest", amount(float(paid.max()))),
        ("users at their cheapest broker", percent(float(np.mean(paid == least)))),
    ]


def _paid(known: NetworkOutline, brokers: Ids) -> Floats:
    """What each user pays for a unit of traffic."""
    paid: Floats = known.access[np.arange(len(brokers)), brokers]
    return paid


def _assigned(network: ShownNetwork, name: str) -> tuple[Markup, ...]:
    brokers, provenance, _ = network.assignments[name]
    made = f"made by {made_by(provenance)}." if provenance else "which does not say who made it."
    figures = f"assignment {network.name} {name}"
    return (
        paragraph(f"Which broker each user connects to, from {name}, {made}"),
        tiles(_facts(network.outline, brokers)),
        beside([_users(network.outline, brokers, figures), _prices(network.outline, brokers, figures)]),
    )


def _users(known: NetworkOutline, brokers: Ids, name: str) -> Markup:
    users = np.bincount(brokers, minlength=len(known.broker_names)).astype(np.float64)
    drawn = ranked_figure(known.broker_names, {"users": users}, things="broker", unit="users")
    note = f"On average {users.mean():,.1f} users. Users differ in traffic, so this is not yet their load."
    return figure(drawn, f"{name} users", "Users of brokers", note)


def _prices(known: NetworkOutline, brokers: Ids, name: str) -> Markup:
    paid, least = (np.sort(prices)[::-1] for prices in (_paid(known, brokers), known.access.min(axis=1)))
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.4)
        for order, prices in enumerate((paid, least)):
            at, shown = thinned(prices)
            axes.plot(at + 1, shown, color=COLOURS[order], linestyle=DASHES[order])
        axes.set(xlabel="users, by falling price", ylabel="price of a unit of traffic", ylim=(0, None))
        count_axis(axes, "x")
        add_legend(axes, ["to its broker", "to the cheapest broker"])
    note = "What a unit of traffic costs between users and their brokers; nothing can be below the lower line."
    return figure(drawn, f"{name} prices", "Access prices", note)


KIND = Kind(
    name="networks",
    forms=(NETWORK, ASSIGNMENT),
    read=read_networks,
    section=network_section,
    facts=lambda network: {"name": network.name, "assignments": list(network.assignments)},
    line=lambda network: f"network {network.name}: {', '.join(network.assignments) or 'no assignments'}",
)
