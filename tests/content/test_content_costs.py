"""What assignments cost, against an evaluator that follows every message over every link."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import times
from reference import content as slow
from reference.content import make_network, random_network
from topicloom import InputError
from topicloom.content import ROUTINGS, Assignment, core_trees, cost, one_tree_core, relayed_core, traffic_rows
from topicloom.content.core_trees import spanning_tree, tree_with, weights_with
from topicloom.content.cost import core_tables, fitted_tree, least_tree, random_tree
from topicloom.content.network import closed

SEEDS = range(times(60))


def some_assignment(network, seed: int) -> Assignment:
    rng = np.random.default_rng(seed)
    return Assignment(network, rng.integers(network.broker_count, size=network.user_count, dtype=np.int32))


@pytest.mark.parametrize("seed", SEEDS)
def test_cost_is_that_of_every_message_followed(seed: int) -> None:
    network = random_network(seed, 3 + seed % 9, 1 + seed % 5, 1 + seed % 4, density=0.15 + 0.1 * (seed % 7))
    assignment = some_assignment(network, seed)
    priced = cost(assignment)
    access, core = slow.followed_cost(network, assignment.brokers)
    assert (priced.access, priced.core) == pytest.approx((access, core), rel=1e-12)
    out, into = slow.traffic(network)
    assert network.traffic.out.tolist() == out.tolist()
    assert network.traffic.into.tolist() == into.tolist()
    assert priced.load.sum() == out.sum() + into.sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_one_tree_for_all(seed: int) -> None:
    network = random_network(seed, 3 + seed % 9, 1 + seed % 7, 1 + seed % 4, density=0.15 + 0.1 * (seed % 7))
    assignment = some_assignment(network, seed)
    # Where prices are equal there are several trees of the same weight: follow messages on the one that was taken.
    order, parent, price = spanning_tree(network.core, np.arange(network.broker_count, dtype=np.int32))
    links = [(int(order[parent[k]]), int(order[k])) for k in range(1, len(order))]
    lightest = slow.spanning_links(network.core, set(range(network.broker_count)))
    assert price.sum() == sum(network.core[link] for link in links) == sum(network.core[link] for link in lightest)
    assert one_tree_core(assignment) == slow.one_tree_cost(network, assignment.brokers, links)


@pytest.mark.parametrize("seed", SEEDS)
def test_flows_one_by_one(seed: int) -> None:
    network = random_network(seed, 3 + seed % 9, 1 + seed % 5, 1 + seed % 4)
    assignment = some_assignment(network, seed)
    assert cost(assignment, routing="unicast").core == slow.flow_cost(network, assignment.brokers)
    assert cost(assignment, routing="unicast").access == cost(assignment).access


@pytest.mark.parametrize("seed", SEEDS)
def test_all_brokers_on_a_random_tree(seed: int) -> None:
    network = random_network(seed, 3 + seed % 9, 1 + seed % 7, 1 + seed % 4)
    assignment = some_assignment(network, seed)
    links = random_tree(network, seed).links
    assert len(links) == network.broker_count - 1
    expected = slow.one_tree_cost(network, assignment.brokers, links)
    assert cost(assignment, routing="random-tree", seed=seed).core == pytest.approx(expected, rel=1e-12)


def test_random_trees_differ_by_seed() -> None:
    network = random_network(1, 4, 8, 1)
    assert len({tuple(sorted(map(sorted, random_tree(network, seed).links))[0]) for seed in range(20)}) > 1
    assert random_tree(network, 3).links == random_tree(network, 3).links


@pytest.mark.parametrize("seed", range(times(12)))
def test_no_link_moved_makes_the_fitted_tree_cheaper(seed: int) -> None:
    network = random_network(seed, 8, 2 + seed % 4, 2)
    assignment = some_assignment(network, seed)
    tree = fitted_tree(network, core_tables(network, assignment.brokers))
    found = cost(assignment, routing="best-tree").core
    assert found == pytest.approx(slow.one_tree_cost(network, assignment.brokers, tree.links), rel=1e-12)
    assert found <= one_tree_core(assignment) * (1 + 1e-12)
    costs = {
        tuple(links): slow.one_tree_cost(network, assignment.brokers, links)
        for links in slow.all_trees(network.broker_count)
    }
    assert min(costs.values()) <= found * (1 + 1e-12)
    mine = {frozenset(link) for link in tree.links}
    root = int(tree.order[0])
    for links, other in costs.items():
        theirs = {frozenset(link) for link in links}
        moved, onto = mine - theirs, theirs - mine
        # One link moved, at the same lower end, seen from the root.
        if len(moved) == 1 and len(onto) == 1:
            (before,), (after,) = moved, onto
            lower = max(before, key=lambda broker: nx.shortest_path_length(nx.Graph(tree.links), root, broker))
            assert lower not in after or other >= found * (1 - 1e-9)


def test_a_tree_is_fitted_to_traffic() -> None:
    """One broker talks with three others, at a price of 3. They are nearer to each other: the lightest is no star."""
    core = np.array([[0.0, 3, 3, 3], [3, 0, 2, 2], [3, 2, 0, 2], [3, 2, 2, 0]])
    rate = np.array([[1.0, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    want = np.vstack([np.zeros((1, 3), bool), np.eye(3, dtype=bool)])
    network = make_network(rate, want, np.ones((4, 4)), core, np.full(4, 99.0))
    assignment = Assignment(network, np.arange(4, dtype=np.int32))
    assert least_tree(network).price.sum() == 3 + 2 + 2
    assert (one_tree_core(assignment), cost(assignment, routing="best-tree").core) == (3 + 5 + 5, 9)


@pytest.mark.parametrize("seed", range(times(10)))
def test_the_traffic_matrix(seed: int) -> None:
    network = random_network(seed, 9, 2, 3)
    expected = np.zeros((9, 9))
    for user, _, rate, others in slow.flows(network):
        expected[user, others] += rate
    assert traffic_rows(network, 0, 9).tolist() == expected.tolist()
    assert traffic_rows(network, 3, 5).tolist() == expected[3:5].tolist()


def test_an_unknown_routing() -> None:
    with pytest.raises(InputError) as error:
        cost(some_assignment(random_network(1, 4, 2, 2), 1), routing="best")
    assert str(error.value) == f"routing 'best' is unknown; known are {', '.join(ROUTINGS)}"


def test_a_worked_example() -> None:
    """The one of docs/content.md."""
    # Users ann, bob, cid; brokers x, y, z on a line, a price of 1 from one to the next; channels p and q.
    rate = np.array([[2.0, 1.0], [0.0, 3.0], [0.0, 0.0]])
    want = np.array([[True, False], [True, False], [True, True]])
    access = np.array([[1.0, 4.0, 4.0], [4.0, 1.0, 4.0], [4.0, 4.0, 2.0]])
    core = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    network = make_network(rate, want, access, core, np.full(3, 10.0))
    assert network.traffic.out.tolist() == [3, 3, 0]
    assert network.traffic.into.tolist() == [0, 2, 6]
    priced = cost(Assignment(network, np.array([0, 1, 2], np.int32)))
    assert priced.access_by_broker.tolist() == [3, 5, 12]
    # From x, p to y and z costs 2 x 2 and q to z 1 x 2; from y, q to z costs 3 x 1.
    assert priced.core_by_broker.tolist() == [6, 3, 0]
    assert priced.total == 29
    together = cost(Assignment(network, np.array([1, 1, 1], np.int32)))
    assert (together.access, together.core) == (12 + 5 + 24, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_add_up_to_the_core_cost(seed: int) -> None:
    network = random_network(seed, 10, 5, 3)
    assignment = some_assignment(network, seed)
    trees = core_trees(assignment).to_pandas()
    assert (trees.price * trees.rate).sum() == pytest.approx(cost(assignment).core, rel=1e-12)
    for (_, source), links in trees.groupby(["channel", "source"]):
        reached = {source}
        for broker, other in zip(links.broker, links.other, strict=True):  # each link goes on from where one has been
            assert broker in reached
            assert other not in reached
            reached.add(other)


@pytest.mark.parametrize("seed", SEEDS)
def test_relays_never_cost_more_and_never_less_than_steiner_trees(seed: int) -> None:
    network = random_network(seed, 5, 7, 2)
    assignment = some_assignment(network, seed)
    least = 0.0
    for user, _, rate, others in slow.flows(network):
        least += rate * slow.steiner_weight(network.core, sorted({int(assignment.brokers[v]) for v in (user, *others)}))
    assert least <= relayed_core(assignment) * (1 + 1e-12)
    assert relayed_core(assignment) <= cost(assignment).core * (1 + 1e-12)


def test_a_relay_beats_the_spanning_tree_that_the_paper_takes_for_best() -> None:
    """Three brokers around a fourth: 2 from each to each, 1 to the one in the middle. A metric."""
    core = np.full((4, 4), 2.0)
    core[3, :] = core[:, 3] = 1.0
    np.fill_diagonal(core, 0.0)
    network = make_network(
        np.array([[1.0], [0], [0]]), np.array([[False], [True], [True]]), np.ones((3, 4)), core, np.ones(4) * 9
    )
    assignment = Assignment(network, np.array([0, 1, 2], np.int32))
    assert (cost(assignment).core, relayed_core(assignment)) == (4, 3)
    assert slow.steiner_weight(core, [0, 1, 2]) == 3


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_inserting_a_broker_weighs_as_a_new_tree(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.integers(0, 20, (count + 1, count + 1)), 1).astype(float)
    prices = closed(half + half.T)
    members = np.sort(rng.choice(count + 1, count, replace=False)).astype(np.int32)
    (new,) = set(range(count + 1)) - set(members.tolist())
    tree = spanning_tree(prices, members)
    whole = spanning_tree(prices, np.arange(count + 1, dtype=np.int32))[2].sum()
    assert weights_with(np.ascontiguousarray(prices[:, [new, new]]), *tree).tolist() == [whole, whole]
    order, parent, price = tree_with(prices, *tree, new)
    assert sorted(order.tolist()) == list(range(count + 1))
    assert order[0] == new
    assert (parent[0], price[0]) == (-1, 0)
    assert (parent[1:] < np.arange(1, count + 1)).all()
    assert price[1:].tolist() == [prices[order[parent[k]], order[k]] for k in range(1, count + 1)]
    assert price.sum() == whole


@given(st.integers(0, 10**6), st.sampled_from([0.25, 2.0, 8.0]))
def test_scaling_prices_scales_the_cost(seed: int, factor: float) -> None:
    network = random_network(seed, 8, 3, 3)
    scaled = make_network(
        slow.full_rates(network),
        slow.full_wants(network),
        network.access * factor,
        network.core * factor,
        network.capacity,
    )
    one, other = (cost(some_assignment(n, seed)) for n in (network, scaled))
    assert other.total == pytest.approx(factor * one.total, rel=1e-12)


@given(st.integers(0, 10**6))
def test_a_user_that_nobody_hears_and_that_hears_nobody_costs_nothing(seed: int) -> None:
    network = random_network(seed, 6, 3, 3)
    rates, wants = slow.full_rates(network), slow.full_wants(network)
    # The first user alone wants and publishes a new channel, and nothing else.
    rates, wants = np.pad(rates, ((0, 0), (0, 1))), np.pad(wants, ((0, 0), (0, 1)))
    rates[0], wants[0] = 0, False
    silent = make_network(rates, wants, network.access, network.core, network.capacity)
    rates[0, -1], wants[0, -1] = 5.0, True
    alone = make_network(rates, wants, network.access, network.core, network.capacity)
    for broker in range(3):
        brokers = some_assignment(network, seed).brokers.copy()
        brokers[0] = broker
        priced = cost(Assignment(alone, brokers))
        assert priced.total == cost(Assignment(silent, brokers)).total
        assert alone.traffic.demand[0] == 0
