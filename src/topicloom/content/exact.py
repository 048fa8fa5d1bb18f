"""The least cost, by an integer program: the Content paper, section II-B, for small networks.

Rule: solve it to the end with HiGHS. The paper's program is not linear as printed; this one has the same objective.

Variables: `at[u, b]`, whether user u is at broker b (whole); `wanted[b, c]`, whether broker b has a subscriber of
channel c; and for each publisher and channel a tree between brokers: `link[d, e]`, whether it has that link, and a
flow of one from the publisher's broker to each broker that wants the channel, along links. Links end at brokers that
want the channel, so that none passes through another. Once users are placed, the rest is a minimum spanning
arborescence, whose program has whole solutions by itself; so only `at` has to be declared whole.

Cost: exponential at worst. There are brokers^3 variables for each publisher and channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.content.network import DoesNotFit, Network, transposed, users_of
from topicloom.content.placing import Assigner, Placed
from topicloom.errors import InputError
from topicloom.registry import Parameter
from topicloom.registry.program import Program

MOST_VARIABLES = 200_000


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """The assignment of least cost, or the best found in the time given."""
    brokers = network.broker_count
    flows = brokers**2 * (brokers + 1)
    size = len(network.rates.columns) * flows + (network.user_count + network.channel_count) * brokers
    if size > MOST_VARIABLES:
        raise InputError(
            f"exact is for small networks: this one would take about {size:,} variables, and "
            f"at most {MOST_VARIABLES:,} are sensible; use another algorithm"
        )
    program = Program()
    at = place_users(program, network)
    wanted = _want_channels(program, network, at)
    for user, channel, rate in zip(users_of(network.rates), *network.rates[1:], strict=True):
        _span(program, network.core * rate, at[user], wanted[:, channel])
    solved = program.solve(float(parameters["seconds"]))
    if solved is None:
        raise DoesNotFit(
            "no assignment fits: no way to give users to brokers keeps to all capacities; raise capacities"
        )
    if solved.values is None:
        seconds = parameters["seconds"]
        raise InputError(f"exact found no assignment in {seconds:g} seconds; give it more, or use another algorithm")
    placed = np.round(solved.values[at]).argmax(axis=1).astype(np.int32)
    return Placed(placed, {"optimal": solved.optimal, "lower_bound": solved.bound})


def place_users(program: Program, network: Network) -> Any:
    """Every user at one broker that it knows, no broker over its capacity."""
    demand = network.traffic.demand
    knows = network.knows
    at = program.variables(np.where(knows, network.access, 0.0) * demand[:, None], whole=True)
    for user, broker in np.argwhere(~knows):
        program.constrain([at[user, broker]], [1], 0, 0)
    for user in range(network.user_count):
        program.constrain(at[user], np.ones(network.broker_count), 1, 1)
    for broker in range(network.broker_count):
        # As shares of the capacity: tolerances of the solver are absolute.
        room = network.capacity[broker] or 1.0
        program.constrain(at[:, broker], demand / room, -np.inf, network.capacity[broker] / room)
    return at


def _want_channels(program: Program, network: Network, at: Any) -> Any:
    """A broker wants a channel exactly if one of its users does."""
    wanted = program.variables(np.zeros((network.broker_count, network.channel_count)))
    wanting = transposed(network.wants, network.channel_count)
    for channel in range(network.channel_count):
        users = wanting.columns[wanting.start[channel] : wanting.start[channel + 1]]
        for broker in range(network.broker_count):
            flag = wanted[broker, channel]
            for user in users:
                program.constrain([flag, at[user, broker]], [1, -1], 0, np.inf)
            program.constrain([flag, *at[users, broker]], [1, *[-1] * len(users)], -np.inf, 0)
    return wanted


def _span(program: Program, prices: Any, source: Any, wanted: Any) -> None:
    """A tree from the broker of one publisher over all brokers that want a channel."""
    count = len(wanted)
    link = program.variables(prices)
    for one in range(count):
        for other in range(count):
            program.constrain([link[one, other], wanted[other]], [1, -1], -np.inf, 0)
    for target in range(count):
        flow = program.variables(np.zeros((count, count)))
        supply = program.variables(np.zeros(count))
        program.constrain([*supply, wanted[target]], [*[1] * count, -1], 0, 0)
        for one in range(count):
            program.constrain([supply[one], source[one]], [1, -1], -np.inf, 0)
            for other in range(count):
                program.constrain([flow[one, other], link[one, other]], [1, -1], -np.inf, 0)
            others = [other for other in range(count) if other != one]
            columns = [supply[one], *flow[others, one], *flow[one, others]]
            signs = [1, *[1] * len(others), *[-1] * len(others)]
            if one == target:
                columns, signs = [*columns, wanted[target]], [*signs, -1]
            program.constrain(columns, signs, 0, 0)


ALGORITHM = Assigner(
    name="exact",
    paper="Content, section II-B",
    rule="the least cost, by an integer program; for small networks",
    assign=assign,
    parameters=(
        Parameter("seconds", float, "how long to search before the best found so far is given", 600, minimum=0),
    ),
)
