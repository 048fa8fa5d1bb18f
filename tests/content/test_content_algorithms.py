"""Each assignment algorithm against its slow twin, and what all of them must keep to."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest

from effort import times
from reference import content as slow
from reference.content import make_network, random_network
from topicloom import InputError
from topicloom.cli.content_options import random_cost
from topicloom.content import ALGORITHMS, Assignment, assign, cost, run
from topicloom.content.network import DoesNotFit, closed
from topicloom.content.steiner_mixing import link_weights

FAST = [name for name in ALGORITHMS if name not in ("exact", "sub-channel")]
SEEDS = range(times(40))


def network_of(seed: int):
    return random_network(seed, 4 + seed % 11, 1 + seed % 5, 1 + seed % 4, room=1.5 + seed % 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_packing_is_algorithm_1(seed: int) -> None:
    network = network_of(seed)
    expected = slow.packing(network)
    if -1 not in expected:
        assert assign(network, "packing").brokers.tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_clustering_is_algorithm_2(seed: int) -> None:
    network = random_network(seed, 4 + seed % 13, 1 + seed % 5, 1 + seed % 4, room=3, density=0.2 + 0.1 * (seed % 5))
    assert assign(network, "clustering").brokers.tolist() == slow.clustering(network)
    expected = slow.clustering(network, end_to_end=True)
    assert assign(network, "clustering", price="end-to-end").brokers.tolist() == expected


@pytest.mark.parametrize("seed", range(times(80)))
def test_steiner_mixing_is_algorithm_3(seed: int) -> None:
    network = random_network(seed, 4 + seed % 13, 2 + seed % 6, 1 + seed % 3, room=3, density=0.3 + 0.1 * (seed % 5))
    weights = slow.mixed_weights(network)
    assert link_weights(network).tolist() == weights.tolist()
    assert np.allclose(weights.sum(axis=1), network.traffic.demand)
    expected = slow.drawn(network, weights, np.random.default_rng(seed))
    assert assign(network, "steiner-mixing", seed=seed).brokers.tolist() == expected


@pytest.mark.parametrize("seed", range(times(40)))
def test_steiner_mixing_with_a_tree_for_each_channel(seed: int) -> None:
    network = random_network(seed, 4 + seed % 13, 2 + seed % 6, 1 + seed % 3, room=3, density=0.3 + 0.1 * (seed % 5))
    dear = make_network(
        slow.full_rates(network), slow.full_wants(network), network.access, network.core / 4, network.capacity
    )
    for one in (network, dear):
        assert link_weights(one, "channel").tolist() == slow.channel_weights(one, closure=False).tolist()
        assert np.allclose(link_weights(one, "channel").sum(axis=1), one.traffic.demand)
        assert link_weights(one, "closure").tolist() == slow.channel_weights(one, closure=True).tolist()


@pytest.mark.parametrize("seed", range(times(12)))
def test_the_sub_channel_program(seed: int) -> None:
    network = random_network(seed, 5, 3, 2, room=1.4)
    demand = network.traffic.demand
    whole = run(network, "sub-channel", whole=True)
    least = min(
        sum(network.access[user, broker] * demand[user] for user, broker in enumerate(brokers))
        for brokers in itertools.product(range(3), repeat=5)
        if (np.bincount(brokers, demand, 3) <= network.capacity * slow.SLACK).all()
    )
    assert cost(whole.assignment).access == pytest.approx(least)
    assert whole.facts["least_access"] == pytest.approx(least)
    relaxed = run(network, "sub-channel")
    assert relaxed.facts["least_access"] <= least * slow.SLACK
    assert relaxed.facts["least_access"] <= cost(relaxed.assignment).access * slow.SLACK
    assert relaxed.facts["divided_users"] <= 3
    tree = slow.spanning_links(network.core, {0, 1, 2})
    assert relaxed.facts["tree_weight"] == sum(network.core[link] for link in tree)


def test_the_sub_channel_program_rounds_nothing_where_all_fits() -> None:
    network = random_network(3, 30, 4, 2, room=50)
    found = run(network, "sub-channel")
    assert found.facts["divided_users"] == 0
    least = cost(assign(network, "packing")).access
    assert cost(found.assignment).access == pytest.approx(least)
    assert found.facts["least_access"] == pytest.approx(least)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("seed", range(times(4)))
def test_nobody_is_at_a_broker_that_it_does_not_know(name: str, seed: int) -> None:
    users, brokers = (6, 3) if name == "exact" else (30, 5)
    network = random_network(seed, users, brokers, 2, room=4)
    rng = np.random.default_rng(seed)
    known = rng.random((users, brokers)).argsort(axis=1) < 2
    access = np.where(known, network.access, np.inf)
    some = make_network(slow.full_rates(network), slow.full_wants(network), access, network.core, network.capacity)
    assignment = assign(some, name, seed=seed)
    assert some.knows[np.arange(users), assignment.brokers].all()
    assert np.isfinite(cost(assignment).total)


def test_steiner_mixing_opens_brokers_on_the_way() -> None:
    """Access prices far above core prices: otherwise every tree is a star, and the twin shows little."""
    opened = 0
    for seed in range(20):
        network = random_network(seed, 12, 6, 2)
        dear = make_network(
            slow.full_rates(network), slow.full_wants(network), network.access, network.core / 4, network.capacity
        )
        weights = link_weights(dear)
        assert weights.tolist() == slow.mixed_weights(dear).tolist()
        opened += int(((weights > 0).sum(axis=1) > 1).sum())
    assert opened > 20


@pytest.mark.parametrize("ratio", [1.003, 1.05, 2.0])
@pytest.mark.parametrize("whole_prices", [False, True])
def test_steiner_mixing_among_many_brokers(ratio: float, whole_prices: bool) -> None:
    """More brokers than are looked at together, most of them opened on the way; and the same with many ties."""
    rng = np.random.default_rng(int(1000 * ratio))
    users, brokers = rng.random((80, 2)), rng.random((50, 2))
    access, core = (np.hypot(*(some[:, None, k] - brokers[None, :, k] for k in range(2))) for some in (users, brokers))
    access *= ratio
    if whole_prices:
        access, core = np.round(8 * access), closed(np.round(8 * core))
    access[rng.random(access.shape) < 0.1] = np.inf
    rate = rng.integers(1, 5, (80, 2)) * (rng.random((80, 2)) < 0.04)
    network = make_network(rate.astype(float), rng.random((80, 2)) < 0.7, access, core, np.full(50, np.inf))
    expected = slow.mixed_weights(network)
    assert link_weights(network).tolist() == expected.tolist()
    assert (expected.sum(axis=0) > 0).sum() > 16


@pytest.mark.parametrize("seed", range(times(15)))
def test_migration_moves_as_its_twin(seed: int) -> None:
    network = random_network(seed, 5 + seed % 4, 2 + seed % 3, 1 + seed % 3, room=2, density=0.5)
    start = assign(network, "random", seed=seed)
    expected, costs = slow.migrated(network, start.brokers)
    found = run(network, "migration", seed=seed, start="random")
    assert found.assignment.brokers.tolist() == expected
    assert found.facts["moves"] == len(costs) - 1
    assert cost(found.assignment).total == costs[-1]


@pytest.mark.parametrize("seed", range(times(12)))
def test_exact_is_the_least_of_all_assignments(seed: int) -> None:
    network = random_network(seed, 3 + seed % 3, 2 + seed % 2, 1 + seed % 2, room=1.6, density=0.5)
    least = slow.least_cost(network)
    found = run(network, "exact")
    assert cost(found.assignment).total == pytest.approx(least, rel=1e-9)
    assert found.facts["optimal"]
    assert found.facts["lower_bound"] == pytest.approx(least, rel=1e-6)
    for name in FAST:
        assert cost(assign(network, name, seed=seed)).total >= least * (1 - 1e-9)


def test_exact_sees_that_a_relay_is_no_subscriber() -> None:
    """Its trees pass only through brokers that want the channel, as the cost has it, though a relay is cheaper."""
    core = np.full((4, 4), 2.0)
    core[3, :] = core[:, 3] = 1.0
    np.fill_diagonal(core, 0.0)
    access = np.full((3, 4), 100.0)
    access[range(3), range(3)] = 1.0
    network = make_network(
        np.array([[1.0], [0], [0]]), np.array([[False], [True], [True]]), access, core, np.ones(4) * 9
    )
    found = run(network, "exact")
    assert cost(found.assignment).total == 3 + 4
    assert found.facts["lower_bound"] == pytest.approx(7)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("seed", range(times(8)))
def test_every_user_at_one_broker_and_none_over_capacity(name: str, seed: int) -> None:
    users, brokers = (5, 2) if name == "exact" else (30, 4)
    network = random_network(seed, users, brokers, 2, room=1.3)
    assignment = assign(network, name, seed=seed)
    assert assignment.brokers.shape == (users,)
    assert set(assignment.brokers.tolist()) <= set(range(brokers))
    assert (assignment.load <= network.capacity * (1 + 1e-9)).all()
    again = assign(network, name, seed=seed)
    assert again.brokers.tolist() == assignment.brokers.tolist()


@pytest.mark.parametrize("seed", range(times(10)))
def test_with_free_core_links_packing_is_the_best(seed: int) -> None:
    network = random_network(seed, 5, 3, 2)
    free = make_network(
        slow.full_rates(network), slow.full_wants(network), network.access, network.core * 0, np.full(3, 1e9)
    )
    assert cost(assign(free, "packing")).total == pytest.approx(slow.least_cost(free))


@pytest.mark.parametrize("name", FAST)
def test_a_single_broker_takes_all(name: str) -> None:
    network = random_network(3, 6, 1, 2)
    assignment = assign(network, name)
    assert assignment.brokers.tolist() == [0] * 6
    assert cost(assignment).core == 0


@pytest.mark.parametrize("name", FAST)
def test_users_without_any_traffic_are_placed(name: str) -> None:
    network = make_network(np.zeros((4, 2)), np.zeros((4, 2), bool), np.ones((4, 2)), 1 - np.eye(2), np.zeros(2))
    assert cost(assign(network, name)).total == 0


def test_the_largest_first_where_the_order_of_ids_does_not_fit() -> None:
    """Two small users go to their cheapest broker and leave too little room there; placed last, they fit elsewhere."""
    wants = np.array([[True, False, False]] * 2 + [[True, True, True]] * 2 + [[False, False, False]])
    rates = np.zeros((5, 3))
    rates[4] = 1.0
    access = np.array([[1.0, 0.0, 2.0]] * 2 + [[0.0, 1.0, 2.0]] * 3)
    network = make_network(rates, wants, access, 1 - np.eye(3), [5.0, 3.0, 3.0])
    assert network.traffic.demand.tolist() == [1, 1, 3, 3, 3]
    assert -1 in slow.packing(network)
    assert assign(network, "packing").brokers.tolist() == [0, 0, 0, 1, 2]


def test_what_cannot_fit_is_said() -> None:
    network = random_network(1, 6, 2, 2)
    demand = network.traffic.demand
    parts = (slow.full_rates(network), slow.full_wants(network), network.access, network.core)
    with pytest.raises(
        DoesNotFit, match=r"no assignment fits: users need .* in all and brokers have 2; raise capacities"
    ):
        assign(make_network(*parts, np.ones(2)), "packing")
    largest = int(demand.argmax())
    with pytest.raises(DoesNotFit, match=f"no assignment fits: user 'u{largest:03}' needs"):
        assign(make_network(*parts[:2], np.ones((6, 99)), 1 - np.eye(99), np.full(99, demand.max() - 0.5)), "packing")
    even = make_network(
        np.array([[0.0], [0], [0], [1]]), np.array([[True]] * 3 + [[False]]), np.ones((4, 2)), 1 - np.eye(2), [1.5, 2.5]
    )
    assert even.traffic.demand.tolist() == [1, 1, 1, 1]
    for name in FAST:
        with pytest.raises(
            DoesNotFit, match=r"no assignment found that fits: user .* needs 1 and no broker has more than 0\.5"
        ):
            assign(even, name)
    with pytest.raises(DoesNotFit, match="no assignment fits: no way to give users to brokers keeps to all capacities"):
        assign(even, "exact")


def test_costs_are_compared_with_random_ones_unless_none_fits() -> None:
    """Only what does not fit is left out; anything else that is wrong is said."""
    network = random_network(1, 6, 2, 2)
    assert random_cost(network, 0).total == cost(assign(network, "random", seed=0)).total
    assert random_cost(replace(network, capacity=np.full(2, 0.5)), 0) is None
    with pytest.raises(InputError, match="routing 'nearest' is unknown"):
        random_cost(network, 0, "nearest")


def test_exact_refuses_large_networks() -> None:
    with pytest.raises(InputError, match="exact is for small networks: this one would take about"):
        assign(random_network(1, 200, 12, 5), "exact")


@pytest.mark.parametrize(
    ("algorithm", "parameters", "message"),
    [
        (
            "nearest",
            {},
            (
                "unknown algorithm 'nearest'; known are random, packing, clustering, steiner-mixing, migration, "
                "sub-channel, exact"
            ),
        ),
        ("packing", {"start": "random"}, "packing does not take start; it takes none"),
        (
            "migration",
            {"start": "exact"},
            "start of migration must be packing, random, clustering or steiner-mixing, not 'exact'",
        ),
        ("migration", {"decline": 2}, "decline of migration must be a number from 0 to 1, not 2"),
        ("random", {"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
    ],
)
def test_wrong_parameters(algorithm: str, parameters: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        assign(random_network(1, 4, 2, 2), algorithm, **parameters)
    assert str(error.value) == message


def test_an_assignment_is_read_as_it_was_written(tmp_path) -> None:
    network = random_network(5, 8, 3, 2)
    written = assign(network, "random", seed=4)
    written.write(tmp_path / "a.parquet")
    read = Assignment.read(tmp_path / "a.parquet", network)
    assert read.brokers.tolist() == written.brokers.tolist()
    assert read.provenance == written.provenance
    with pytest.raises(InputError, match="was made for another network"):
        Assignment.read(tmp_path / "a.parquet", random_network(6, 8, 3, 2))
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet").replace_schema_metadata({b"\xff": b"\xfe"})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert Assignment.read(tmp_path / "a.parquet", network).provenance is None
