"""The sub-channel program: the Content paper, section IV-A, equations 6 to 8, relaxed and rounded.

Rule: place users so that what they send and are delivered costs least on their links, no broker over its capacity
(equations 6, 4 and 5); join all brokers by the spanning tree of least weight (7 and 8). As printed the tree does not
depend on users, so both parts are solved by themselves. The relaxed program lets a user be at several brokers; then it
is given to the one where most of it is, those that are whole first. "We can relax the ILP ... to a linear programming
(LP) problem, and get the result using rounding" (III).

Guarantee: no assignment has a lower access cost than the relaxed program. Of its best solutions that HiGHS finds, at
most as many users as brokers are not whole, and rounding concerns these alone.

Cost: that of a linear program of users x brokers variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.content.cost import least_tree
from topicloom.content.exact import place_users
from topicloom.content.network import DoesNotFit, Floats, Ids, Network
from topicloom.content.placing import Assigner, Placed, cheapest_with_room, fits, in_some_order
from topicloom.errors import InputError
from topicloom.registry import Parameter
from topicloom.registry.program import Program

MOST_VARIABLES = 2_000_000


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Each user where the program has most of it."""
    size = network.user_count * network.broker_count
    if size > MOST_VARIABLES:
        raise InputError(
            f"sub-channel would take {size:,} variables, and at most {MOST_VARIABLES:,} are sensible; "
            "use another algorithm"
        )
    program = Program()
    at = place_users(program, network)
    solved = program.solve(float(parameters["seconds"]), relaxed=not parameters["whole"])
    if solved is None:
        raise DoesNotFit("no assignment fits: even users cut into parts pass the capacities; raise capacities")
    if solved.values is None:
        seconds = parameters["seconds"]
        raise InputError(f"sub-channel found nothing in {seconds:g} seconds; give it more, or use another algorithm")
    shares = solved.values[at]
    facts = {
        "optimal": solved.optimal,
        "least_access": solved.bound,
        "tree_weight": float(least_tree(network).price.sum()),
        "divided_users": int((shares.max(axis=1) < 1 - 1e-6).sum()),
    }
    return Placed(in_some_order(network, lambda order: rounded(network, shares, order)), facts)


def rounded(network: Network, shares: Floats, order: Ids) -> Ids:
    """Each user at the broker of its largest share that has room, else the cheapest that has; whole users first."""
    demand, capacity = network.traffic.demand, network.capacity
    brokers = np.full(network.user_count, -1, np.int32)
    load = np.zeros(network.broker_count)
    for user in sorted(order.tolist(), key=lambda user: shares[user].max() < 1 - 1e-6):
        wanted = [b for b in np.argsort(-shares[user], kind="stable").tolist() if shares[user, b] > 1e-6]
        having_room = [b for b in wanted if fits(load[b], demand[user], capacity[b])]
        broker = (
            having_room[0] if having_room else cheapest_with_room(network.access[user], demand[user], load, capacity)
        )
        if broker < 0:
            break
        brokers[user] = broker
        load[broker] += demand[user]
    return brokers


ALGORITHM = Assigner(
    name="sub-channel",
    paper="Content, section IV-A",
    rule="the least access cost by a linear program, rounded",
    assign=assign,
    parameters=(
        Parameter("whole", bool, "solve the program in whole users, instead of rounding parts of them", False),
        Parameter("seconds", float, "how long to search before the best found so far is given", 600, minimum=0),
    ),
)
