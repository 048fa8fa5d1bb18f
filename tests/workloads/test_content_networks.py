"""Generated content-based networks: the same for a seed, and of the shape that was asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from real_data import DATA, needs_data
from topicloom import InputError
from topicloom.content import Assignment, cost
from topicloom.content.network import require_metric
from topicloom.workloads.content import content_network
from topicloom.workloads.latency import read_latency


def mean_core(network) -> float:
    count = network.broker_count
    return float(network.core.sum() / (count * (count - 1)))


def test_the_same_seed_gives_the_same_network() -> None:
    one, other, third = (content_network(50, 5, 8, seed=seed).network.fingerprint for seed in (1, 1, 2))
    assert one == other != third


@pytest.mark.parametrize("prices", ["plane", "independent"])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 8.0])
def test_prices(prices: str, ratio: float) -> None:
    network = content_network(200, 12, 5, prices=prices, access_to_core=ratio, seed=1).network
    require_metric(network.core, network.broker_names, "core")
    assert network.access.mean() / mean_core(network) == pytest.approx(ratio)
    assert (network.core == network.core.T).all()


@pytest.mark.parametrize("prices", ["plane", "independent"])
def test_the_average_core_price(prices: str) -> None:
    plain, scaled = (content_network(80, 12, 5, prices=prices, core_price=price, seed=1).network for price in (None, 7))
    assert mean_core(scaled) == pytest.approx(7)
    factor = 7 / mean_core(plain)
    assert scaled.core == pytest.approx(plain.core * factor)
    assert scaled.access == pytest.approx(plain.access * factor)
    assert content_network(5, 1, 5, core_price=2.0).network.core.tolist() == [[0]]


def test_capacities_are_equal_and_sum_to_twice_the_demand() -> None:
    network = content_network(100, 4, 10, seed=1).network
    assert set(network.capacity.tolist()) == {network.traffic.demand.sum() / 2}


def test_width_sets_how_many_channels_users_want() -> None:
    narrow = content_network(300, 4, 100, width=0.02, seed=1).network
    assert set(np.diff(narrow.wants.start).tolist()) <= {2, 3}
    random = content_network(3000, 4, 100, seed=1).network
    assert np.diff(random.wants.start).mean() == pytest.approx(100 / 3 + 1, rel=0.03)  # one is cut
    whole = content_network(10, 4, 100, width=1, seed=1).network
    assert (np.diff(whole.wants.start) == 100).all()


def test_with_wide_subscriptions_the_core_cost_hardly_depends_on_who_sits_where() -> None:
    """And with narrow ones it does: all users at random brokers, or those with like interests together."""
    differences = {}
    for width in (0.01, 0.95):
        network = content_network(600, 6, 50, width=width, seed=1).network
        alike = np.lexsort((network.wants.columns[network.wants.start[:-1]],))
        together = np.empty(600, np.int32)
        together[alike] = np.arange(600) // 100
        apart = np.random.default_rng(1).permutation(np.arange(600, dtype=np.int32) % 6).astype(np.int32)
        costs = [cost(Assignment(network, brokers)).core for brokers in (together, apart)]
        differences[width] = costs[1] / costs[0]
    assert differences[0.01] > 2
    assert differences[0.95] < 1.02


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"users": 0}, "users is 0; give a whole number of at least 1"),
        ({"brokers": 1.5}, "brokers is 1.5; give a whole number of at least 1"),
        ({"attributes": 0}, "attributes is 0; give a whole number of at least 1"),
        ({"width": 0.0}, "width is 0.0; give a number above 0 and at most 1"),
        ({"width": 1.1}, "width is 1.1; give a number above 0 and at most 1"),
        ({"access_to_core": -1.0}, "access_to_core is -1.0; give a number above 0"),
        ({"core_price": 0.0}, "core_price is 0.0; give a number above 0"),
        ({"known_brokers": 0}, "known_brokers is 0; give a whole number of at least 1"),
        ({"known_brokers": 99}, "known_brokers is 99; give at most the number of brokers, 4"),
        ({"prices": "flat"}, "prices 'flat' is unknown; known are plane, independent"),
        ({"seed": -1}, "seed is -1; give a whole number of at least 0"),
        ({"latency": np.ones((3, 3))}, "brokers is 4 and there are latencies of 3 sites; give at most as many"),
    ],
)
def test_wrong_parameters_of_networks(wrong: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        content_network(**{"users": 10, "brokers": 4, "channels": 5, **wrong})
    assert str(error.value) == message


def test_latencies_as_pairs_and_as_a_square(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("src,dst,ms\na,b,2\nb,a,4\na,c,5\nc,b,7\na,a,0.5\n")
    (tmp_path / "square.tsv").write_text("0\t2\n4\t0\n")
    assert read_latency(tmp_path / "pairs.csv").tolist() == [[0.5, 3, 5], [3, 0, 7], [5, 7, 0]]
    assert read_latency(tmp_path / "square.tsv").tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.csv", "src,dst,ms\na,b,1\nc,c,0\n", "no latency between 'a' and 'c'; every pair of sites needs one"),
        ("l.csv", "src,dst,hops\na,b,1\n", "no column of latencies; it needs one of avg_ms, ms, latency, price"),
        ("l.csv", "src,dst,ms\na,b\n", "line 2: has 2 columns and the header 3"),
        ("l.csv", "0,1\n1,x\n", "line 2: 'x' is no latency; give a number of at least 0"),
        ("l.csv", "0,-1\n1,0\n", "line 1: '-1' is no latency; give a number of at least 0"),
        ("l.tsv", "0\t1\n1\n", "line 2: has 1 columns and the file 2 rows; give a square"),
        ("l.csv", "", "is empty; expected latencies between sites"),
    ],
)
def test_wrong_latencies(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read_latency(tmp_path / name)
    assert str(error.value) == f"{tmp_path / name}: {message}"


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("file", "sites"), [("aws_regions.csv", 19), ("planetlab_490.tsv.gz", 490)])
def test_measured_latencies(file: str, sites: int) -> None:
    latency = read_latency(DATA / "latency" / file)
    assert latency.shape == (sites, sites)
    network = content_network(300, 15, 10, latency=latency, seed=1).network
    require_metric(network.core, network.broker_names, "core")
    # Unscaled: users are at sites too, so that their prices are latencies of the file.
    assert np.isin(network.access, latency).all()
