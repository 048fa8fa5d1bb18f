"""Fingerprints of configurations: 64 bits of a broker's file, without rendering it.

They are equal exactly if the files are, but for headings and passwords. Each kind of broker sums up what its files say
from the parts below. Sums wrap around, so that parts may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from xxhash import xxh64_intdigest

from topicloom.model.fingerprint import name_hashes
from topicloom.model.fleet import Broker

if TYPE_CHECKING:
    from topicloom.brokers.plan import Plan

Hashes: TypeAlias = npt.NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B185EBCA87)
_SHIFT = np.uint64(29)


def mixed(first: Hashes, second: npt.NDArray[np.integer | np.bool_]) -> Hashes:
    """Return one hash for each two."""
    both: Hashes = (first ^ (first >> _SHIFT)) * _FACTOR + second.astype(np.uint64)
    both = (both ^ (both >> _SHIFT)) * _FACTOR
    return both ^ (both >> _SHIFT)


def hashes_of(values: Iterable[object]) -> Hashes:
    """Return the hash of each value, by its representation."""
    return np.fromiter((xxh64_intdigest(repr(value).encode()) for value in values), np.uint64)


def address_hashes(plan: Plan) -> Hashes:
    """Return a hash of how others connect to each broker."""

    def address(broker: Broker) -> tuple[object, ...]:
        return broker.name, broker.host, broker.port, broker.tls, broker.credentials, broker.vhost

    return hashes_of(map(address, plan.brokers))


def topic_hashes(plan: Plan) -> Hashes:
    """Return a hash of each topic's name."""
    return name_hashes(plan.interest.topic_names)


def link_hashes(plan: Plan, *, qos: bool) -> Hashes:
    """Return a hash of what each link carries, and of its quality of service if that is asked for."""
    if not plan.carries_topics:
        lines = plan.lines_of_link.values()
        sums = [hashes_of(line if qos else line[:2] for line in each).sum(dtype=np.uint64) for each in lines]
        return np.array(sums, np.uint64)
    of_topics = topic_hashes(plan)
    of_topics = mixed(of_topics, plan.qos) if qos else mixed(of_topics, np.zeros(len(of_topics), np.uint8))
    start, rows = plan.rows_of_links
    return np.add.reduceat(of_topics[plan.topic_of_row[rows]], start[:-1]) if len(start) > 1 else np.empty(0, np.uint64)


def opened_hashes(plan: Plan, *, qos: bool) -> Hashes:
    """Return for each broker a hash of the links that it opens; 0 if it opens none."""
    found = np.zeros(len(plan.brokers), np.uint64)
    np.add.at(found, plan.opener, mixed(link_hashes(plan, qos=qos), address_hashes(plan)[plan.acceptor]))
    return found
