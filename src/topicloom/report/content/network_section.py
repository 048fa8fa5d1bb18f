"""The section of a content-based network and the assignments of its users to brokers."""

from __future__ import annotations

import numpy as np

from topicloom.present.figures import COLOURS, DASHES, add_legend, count_axis, new_figure, styled
from topicloom.present.html import Cell
from topicloom.present.numbers import Number, amount, count, percent
from topicloom.report.content.network_results import ASSIGNMENT, NETWORK, Assigned, Network, read_networks
from topicloom.report.page.curves import thinned
from topicloom.report.page.kind import Kind
from topicloom.report.page.ranked import ranked_figure
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles

_COSTS = (
    "Load and cost are not in these files: topicloom content cost NETWORK ASSIGNMENT --json > cost.json "
    "works them out, and the page shows that file too."
)


def network_section(network: Network) -> Section:
    """Sizes of the network, its assignments side by side, and each of them inside."""
    facts = [
        ("users", count(len(network.user_names))),
        ("brokers", count(len(network.broker_names))),
        ("channels", count(network.channels)),
        ("capacity of all brokers", amount(float(network.capacity.sum()))),
        ("access price, mean", amount(float(network.prices.mean()))),
        ("cheapest access price, mean", amount(float(network.prices.min(axis=1).mean()))),
    ]
    blocks = [paragraph("Users that publish and subscribe by content, and brokers that carry it."), tiles(facts)]
    if len(network.assignments) > 1:
        rows: list[list[Cell]] = [
            [assigned.name, *(number for _, number in _facts(network, assigned))] for assigned in network.assignments
        ]
        headers = ["assignment", *(name for name, _ in _facts(network, network.assignments[0]))]
        blocks.append(table("All assignments", headers, rows))
    inside = tuple(Section(assigned.name, _assigned(network, assigned)) for assigned in network.assignments)
    return Section(f"Network: {network.name}", (*blocks, paragraph(_COSTS)), inside)


def _facts(network: Network, assigned: Assigned) -> list[tuple[str, Number]]:
    users = np.bincount(assigned.brokers, minlength=len(network.broker_names))
    paid, least = network.prices[np.arange(len(assigned.brokers)), assigned.brokers], network.prices.min(axis=1)
    return [
        ("brokers in use", count(int(np.count_nonzero(users)))),
        ("most users of a broker", count(int(users.max()))),
        ("access price, mean", amount(float(paid.mean()))),
        ("access price, highest", amount(float(paid.max()))),
        ("users at their cheapest broker", percent(float(np.mean(paid == least)))),
    ]


def _assigned(network: Network, assigned: Assigned) -> tuple[str, ...]:
    made = f"made by {assigned.made_by}." if assigned.made_by else "which does not say who made it."
    return (
        paragraph(f"Which broker each user connects to, from {assigned.name}, {made}"),
        tiles(_facts(network, assigned)),
        beside([_users(network, assigned), _prices(network, assigned)]),
    )


def _users(network: Network, assigned: Assigned) -> str:
    users = np.bincount(assigned.brokers, minlength=len(network.broker_names)).astype(np.float64)
    drawn = ranked_figure(network.broker_names, {"users": users}, things="broker", unit="users")
    note = f"On average {users.mean():,.1f} users. Users differ in traffic, so this is not yet their load."
    return figure(drawn, f"assignment {network.name} {assigned.name} users", "Users of brokers", note)


def _prices(network: Network, assigned: Assigned) -> str:
    paid = np.sort(network.prices[np.arange(len(assigned.brokers)), assigned.brokers])[::-1]
    least = np.sort(network.prices.min(axis=1))[::-1]
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.4)
        for order, prices in enumerate((paid, least)):
            at, shown = thinned(prices)
            axes.plot(at + 1, shown, color=COLOURS[order], linestyle=DASHES[order])
        axes.set(xlabel="users, by falling price", ylabel="price of a unit of traffic", ylim=(0, None))
        count_axis(axes, "x")
        add_legend(axes, ["to its broker", "to the cheapest broker"])
    note = "What a unit of traffic costs between users and their brokers; nothing can be below the lower line."
    return figure(drawn, f"assignment {network.name} {assigned.name} prices", "Access prices", note)


def _names(network: Network) -> list[str]:
    return [assigned.name for assigned in network.assignments]


KIND = Kind(
    name="networks",
    forms=(NETWORK, ASSIGNMENT),
    read=read_networks,
    section=network_section,
    facts=lambda network: {"name": network.name, "assignments": _names(network)},
    line=lambda network: f"network {network.name}: {', '.join(_names(network)) or 'no assignments'}",
)
