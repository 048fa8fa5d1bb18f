"""Random content-based networks: the Content paper, section VI-A.

Every user publishes by a random quadratic density, cut off at zero, and subscribes to a random box. Prices come from
points in a plane, from nothing at all, or from measured latencies. All brokers have the same capacity.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topicloom.content.network import Floats, closed
from topicloom.content.space import Attribute, Space
from topicloom.content.tables import Drawn
from topicloom.io.tables import ACCESS_PRICES, BROKERS, CHANNELS, USERS, require_at_most
from topicloom.model import InputError
from topicloom.workloads.interests import whole

PRICES = ("plane", "independent")

# The paper's: the capacities of all brokers sum to twice the demand of all users.
CAPACITY_TO_DEMAND = 2.0


def content_network(
    users: int,
    brokers: int,
    channels: int,
    *,
    attributes: int = 1,
    width: float | None = None,
    prices: str = "plane",
    latency: Floats | None = None,
    access_to_core: float | None = None,
    core_price: float | None = None,
    known_brokers: int | None = None,
    seed: int = 0,
) -> Drawn:
    """Draw a network.

    Args:
        users: How many users.
        brokers: How many brokers.
        channels: How many cells each attribute is cut into.
        attributes: How many attributes the content space has, each from 0 to 1.
        width: How wide subscriptions are in each attribute, above 0 and at most 1. Unless given, they go from one
            random number to another, so that they are a third wide on average.
        prices: `plane`: users and brokers are random points of a square, prices their distances. `independent`: access
            prices are random numbers that have nothing to do with each other, core prices too but for being closed.
        latency: Prices between sites, square and even both ways, instead. Brokers are at different random sites, users
            at any; core prices are closed.
        access_to_core: The average access price divided by the average core price; access prices are scaled to it.
            Unless given it is 1, and latencies are left as they are.
        core_price: The average core price, to which core prices are scaled. Unless given they are left as they are, and
            independent ones are the cheaper the more brokers there are, as more ways lead around a dear link.
        known_brokers: How many random brokers each user knows and may connect to; all unless given.
        seed: The same seed gives the same network.
    """
    users, brokers, channels, attributes = (
        whole(name, value, 1, most)
        for name, value, most in (
            ("users", users, USERS),
            ("brokers", brokers, BROKERS),
            ("channels", channels, CHANNELS),
            ("attributes", attributes, CHANNELS.bit_length()),
        )
    )
    require_at_most(channels**attributes, CHANNELS, "channels", "attributes")
    require_at_most(users * brokers, ACCESS_PRICES, "prices between users and brokers")
    if width is not None and not 0 < width <= 1:
        raise InputError(f"width is {width}; give a number above 0 and at most 1", "width")
    for name, given in (("access_to_core", access_to_core), ("core_price", core_price)):
        if given is not None and not 0 < given < np.inf:
            raise InputError(f"{name} is {given}; give a number above 0", name)
    if known_brokers is not None and not 1 <= whole("known_brokers", known_brokers, 1) <= brokers:
        raise InputError(
            f"known_brokers is {known_brokers}; give at most the number of brokers, {brokers}", "known_brokers"
        )
    if prices not in _PRICES:
        raise InputError(f"prices '{prices}' is unknown; known are {', '.join(PRICES)}", "prices")
    rng = np.random.default_rng(whole("seed", seed, 0))
    if latency is None:
        access, core = _PRICES[prices](rng, users, brokers)
    else:
        access, core = _from_latency(rng, latency, users, brokers)
    if core_price is not None:
        core = _scaled(core, core_price / (_average(core) or 1.0))
    if latency is None or access_to_core is not None:
        access = _scaled(access, (access_to_core or 1.0) * _average(core) / (access.mean() or 1.0))
    space = Space(tuple(Attribute(f"a{k + 1}", 0.0, 1.0, channels) for k in range(attributes)))
    coefficients = rng.uniform(-1.0, 1.0, (users, attributes, 3))
    lows, highs = _boxes(rng, (users, attributes), width)
    if known_brokers is not None:
        access = np.where(rng.random(access.shape).argsort(axis=1).argsort(axis=1) < known_brokers, access, np.inf)
    return Drawn(space, coefficients, lows, highs, access, core, CAPACITY_TO_DEMAND)


def _boxes(rng: np.random.Generator, shape: tuple[int, int], width: float | None) -> tuple[Floats, Floats]:
    if width is None:
        ends = np.sort(rng.random((*shape, 2)), axis=2)
        return ends[:, :, 0], np.maximum(ends[:, :, 1], np.nextafter(ends[:, :, 0], 2))
    lows = rng.random(shape) * (1 - width)
    return lows, np.minimum(lows + width, 1.0)


def _plane(rng: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    user_points, broker_points = rng.random((users, 2)), rng.random((brokers, 2))
    access = np.hypot(*(user_points[:, None, k] - broker_points[None, :, k] for k in range(2)))
    core = np.hypot(*(broker_points[:, None, k] - broker_points[None, :, k] for k in range(2)))
    return access, core


def _independent(rng: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    access, core = rng.random((users, brokers)), rng.random((brokers, brokers))
    core = np.triu(core, 1)
    return access, closed(core + core.T)


def _from_latency(rng: np.random.Generator, latency: Floats, users: int, brokers: int) -> tuple[Floats, Floats]:
    sites = len(latency)
    if brokers > sites:
        raise InputError(
            f"brokers is {brokers} and there are latencies of {sites} sites; give at most as many", "brokers"
        )
    at = rng.choice(sites, brokers, replace=False)
    core = latency[np.ix_(at, at)].copy()
    np.fill_diagonal(core, 0.0)
    return latency[np.ix_(rng.integers(sites, size=users), at)], closed(core)


def _average(core: Floats) -> float:
    """The average price between two brokers; 0 where there is only one."""
    return float(core.sum() / max(1, len(core) * (len(core) - 1)))


def _scaled(prices: Floats, factor: float) -> Floats:
    """Prices times a factor; as they are where it is 0, as nothing can be scaled by what there is not."""
    return prices * factor if factor else prices


_PRICES: dict[str, Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]] = {
    "plane": _plane,
    "independent": _independent,
}
