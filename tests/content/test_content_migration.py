"""Migration as a simulation: costs that never rise, messages that arrive exactly once, users that decline."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np
import pytest

from effort import times
from reference import content as slow
from reference.content import make_network, random_network
from topicloom import InputError
from topicloom.content import Assignment, assign, cost, run
from topicloom.content.migration import Migration, Move, Told, record, summarized

LONGEST_DELAY = 3.0


def start_of(network, seed: int):
    return assign(network, "random", seed=seed).brokers


def uneven_delays(seed: int):
    """Every link has its own delay, up to the longest, and none is alike both ways."""
    rng = np.random.default_rng(seed)
    delays: dict = {}
    return lambda sender, receiver: delays.setdefault((sender, receiver), LONGEST_DELAY * rng.random())


@pytest.mark.parametrize("seed", range(times(20)))
def test_every_accepted_move_lowers_the_cost_by_what_was_expected(seed: int) -> None:
    network = random_network(seed, 20, 5, 4, room=1.5, density=0.3)
    start = start_of(network, seed)
    costs = [cost(Assignment(network, start.copy())).total]

    def check(move: Move) -> None:
        costs.append(cost(Assignment(network, simulated.assigned)).total)
        assert costs[-1] < costs[-2]
        assert costs[-1] - costs[-2] == pytest.approx(move.change, abs=1e-9)

    simulated = Migration(network, start, watch=check)
    simulated.run()
    assert len(costs) == len(simulated.moves) + 1 > 1
    assert (Assignment(network, simulated.assigned).load <= network.capacity * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(times(25)))
def test_brokers_that_decide_at_once_move_as_their_twin(seed: int) -> None:
    network = random_network(seed, 6 + seed % 8, 2 + seed % 3, 1 + seed % 3, room=2, density=0.5)
    expected, periods = slow.migrated_at_once(network, start_of(network, seed), 12)
    found = run(network, "migration", seed=seed, start="random", decide="at-once", periods=12)
    assert found.assignment.brokers.tolist() == expected
    assert found.facts["rounds"] == periods
    assert (found.assignment.load <= network.capacity * (1 + 1e-9)).all()


def test_deciding_at_once_may_go_on_for_ever_and_cost_more() -> None:
    """What a user gains others may lose, and two that follow each other may swap places in every period."""
    whole, ends = [], []
    for seed in range(times(40)):
        network = random_network(seed, 10, 3, 2, room=2, density=0.5)
        start = cost(Assignment(network, start_of(network, seed).copy())).total
        found = run(network, "migration", seed=seed, start="random", decide="at-once", periods=60)
        whole.append(cost(found.assignment).total / start)
        ends.append(found.facts["rounds"] < 60)
        in_turn = run(network, "migration", seed=seed, start="random")
        assert cost(in_turn.assignment).total <= start
    assert np.mean(whole) < 1
    assert any(ends)


def test_rates_from_history_are_counted_and_right_in_the_long_run() -> None:
    network = random_network(4, 12, 3, 3, room=3)
    long = summarized(network, 1e7, np.random.default_rng(1))
    assert long.rates.values == pytest.approx(network.rates.values, rel=0.01)
    short = summarized(network, 2.0, np.random.default_rng(1))
    assert set((short.rates.values * 2).tolist()) <= set(range(50))
    assert short.rates.values.tolist() != network.rates.values.tolist()
    assert summarized(network, 0, np.random.default_rng(1)) is network
    right, counted = (run(network, "migration", seed=1, start="random", history=time) for time in (0, 1e7))
    assert counted.assignment.brokers.tolist() == right.assignment.brokers.tolist()
    assert counted.facts["messages"]["register"] == 12


@pytest.mark.parametrize("seed", range(times(10)))
def test_in_the_end_no_single_move_improves(seed: int) -> None:
    network = random_network(seed, 8, 3, 3, room=2)
    assignment = assign(network, "migration", seed=seed, start="random")
    least = sum(slow.followed_cost(network, assignment.brokers))
    load, demand = assignment.load, network.traffic.demand
    for user in range(network.user_count):
        for broker in range(network.broker_count):
            if slow.fits(load[broker], demand[user], network.capacity[broker]):
                other = assignment.brokers.copy()
                other[user] = broker
                assert sum(slow.followed_cost(network, other)) >= least - 1e-9


def published(simulated: Migration, network, seed: int, count: int, until: float) -> dict[int, tuple[int, int]]:
    """Let random users publish in channels of their own at random times; gives user and channel of each message."""
    rng = np.random.default_rng(seed)
    rates = slow.full_rates(network)
    messages = {}
    for message in range(count):
        user, channel = (int(rng.choice(ids)) for ids in (np.flatnonzero(rates.any(axis=1)), np.arange(rates.shape[1])))
        simulated.publish_at(float(rng.uniform(0, until)), message, user, channel)
        messages[message] = (user, channel)
    return messages


def mistakes(simulated: Migration, network, messages: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many deliveries are missing, and how many are one too many."""
    wants = slow.full_wants(network)
    missing = extra = 0
    for user in simulated.users:
        number = user.address[1]
        expected = Counter(m for m, (by, channel) in messages.items() if by != number and wants[number, channel])
        got = Counter(user.delivered)
        missing += sum((expected - got).values())
        extra += sum((got - expected).values())
    return missing, extra


@pytest.mark.parametrize("seed", range(times(12)))
@pytest.mark.parametrize("delay", ["even", "uneven"])
def test_messages_published_during_moves_arrive_exactly_once(seed: int, delay: str) -> None:
    network = random_network(seed, 16, 5, 3, room=2, density=0.4)
    options = {} if delay == "even" else {"delay": uneven_delays(seed), "ttl": 2 * LONGEST_DELAY + 0.01}
    simulated = Migration(network, start_of(network, seed), **options)
    messages = published(simulated, network, seed, 600, until=300.0)
    simulated.run()
    ended = simulated.post.now
    simulated.finish()
    assert len(simulated.moves) > 2
    assert ended > 20  # so that many messages were published while users moved
    assert mistakes(simulated, network, messages) == (0, 0)
    assert simulated.post.sent["redirect"] > 0


def test_a_time_to_live_that_is_too_short_loses_messages() -> None:
    lost = 0
    for seed in range(times(12)):
        network = random_network(seed, 16, 5, 3, room=2, density=0.4)
        simulated = Migration(network, start_of(network, seed), delay=uneven_delays(seed), ttl=0.0)
        messages = published(simulated, network, seed, 600, until=100.0)
        simulated.run()
        simulated.finish()
        lost += mistakes(simulated, network, messages)[0]
    assert lost > 0


def test_users_may_decline() -> None:
    network = random_network(3, 20, 4, 3, room=2)
    start = start_of(network, 3)
    stubborn = Migration(network, start, sticking=frozenset(range(20)))
    stubborn.run()
    assert stubborn.assigned.tolist() == start.tolist()
    assert stubborn.moves == []
    assert stubborn.declined == stubborn.post.sent["decline"] == stubborn.post.sent["request_to_move"] > 0
    assert stubborn.post.sent["accept"] == 0
    free = run(network, "migration", seed=3, start="random")
    half = run(network, "migration", seed=3, start="random", decline=0.5)
    assert 0 < half.facts["declined"] <= 20
    assert cost(free.assignment).total < cost(half.assignment).total < cost(Assignment(network, start.copy())).total


def test_users_that_declined_are_not_asked_again() -> None:
    asked = 0
    for seed in range(6):
        network = random_network(seed, 20, 4, 3, room=2)
        simulated = Migration(network, start_of(network, seed), sticking=frozenset(range(10)))
        simulated.run()
        assert simulated.rounds > 1
        assert simulated.declined <= 10
        asked += simulated.declined
    assert asked > 20


def test_messages_are_held_until_a_user_has_connected() -> None:
    network = random_network(1, 6, 2, 1, density=0.9)
    simulated = Migration(network, np.zeros(6, np.int32))
    home, foreign = simulated.brokers
    foreign.replicate(home.records[0], simulated.users[0], deque(), home)
    for message in (7, 8, 7):
        foreign.redirect(0, message)
    assert simulated.post.sent["deliver"] == 0
    foreign.connect(0)
    assert simulated.post.sent["deliver"] == 2
    foreign.redirect(0, 9)
    assert simulated.post.sent["deliver"] == 3


@pytest.mark.parametrize("seed", range(times(10)))
def test_brokers_know_the_demand_of_users_from_what_they_were_told(seed: int) -> None:
    network = random_network(seed, 8, 3, 6, density=0.15)
    told = Told(network, start_of(network, seed))
    demand = [told.demand(record(network, user)) for user in range(8)]
    assert demand == network.traffic.demand.tolist()


def test_calls_are_counted_and_fit_together() -> None:
    network = random_network(5, 20, 4, 3, room=2)
    facts = run(network, "migration", seed=5, start="random").facts
    sent, moves = facts["messages"], facts["moves"]
    assert moves > 0
    for call in ("request_to_move", "accept", "replicate", "replicated", "moved", "connect"):
        assert sent[call] == moves
    assert sent["register"] == sent["summarize"] == 20
    assert sent["announce"] >= 4 * 3 + moves * 3
    assert facts["rounds"] >= 2
    assert facts["declined"] == facts["relief_moves"] == 0


def test_interests_may_change_between_rounds() -> None:
    drawn = [random_network(seed, 16, 4, 4, density=0.25) for seed in (1, 2)]
    # Dear core links, so that where users belong depends on what they want.
    first, second = (
        make_network(
            slow.full_rates(network), slow.full_wants(network), drawn[0].access, drawn[0].core * 9, np.full(4, 200.0)
        )
        for network in drawn
    )
    simulated = Migration(first, start_of(first, 1))
    simulated.run(most_rounds=1)
    assert simulated.rounds == 1
    simulated.change(second)
    before = len(simulated.moves)
    messages = published(simulated, second, 1, 300, until=200.0)
    simulated.run()
    simulated.finish()
    assert len(simulated.moves) > before
    assert mistakes(simulated, second, messages) == (0, 0)
    again, _ = slow.migrated(second, simulated.assigned)
    assert again == simulated.assigned.tolist()  # nothing improves any more, on what users want now


def test_a_broker_over_its_capacity_is_relieved() -> None:
    network = random_network(2, 12, 3, 2, room=1.4)
    parts = (slow.full_rates(network), slow.full_wants(network), network.access, network.core)
    generous = make_network(*parts, np.full(3, network.traffic.demand.sum()))
    simulated = Migration(generous, np.zeros(12, np.int32))
    simulated.change(network)
    simulated.run()
    assert any(move.relief for move in simulated.moves)
    assert (Assignment(network, simulated.assigned).load <= network.capacity * (1 + 1e-9)).all()
    assert all(move.change < 0 for move in simulated.moves if not move.relief)
    assert simulated.overloaded == []


def test_a_change_that_nobody_can_follow_is_an_error() -> None:
    """All users decline, and the broker that all are at has room for half of them."""
    network = random_network(2, 12, 3, 2, room=1.4)
    parts = (slow.full_rates(network), slow.full_wants(network))
    near, core = np.tile([0.0, 5.0, 5.0], (12, 1)), network.core
    roomy = make_network(*parts, near, core, np.full(3, 1e6))
    tight = make_network(*parts, near, core, network.capacity)
    with pytest.raises(InputError) as error:
        run(roomy, "migration", then=[tight], decline=1)
    assert str(error.value) == (
        "no assignment found that fits: broker 'b00' is over its capacity and no user there can move; raise capacities"
    )
