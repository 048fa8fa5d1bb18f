"""Rows of bits for topics with many nodes, lists for the others.

A topic has a row of bits if at least as many nodes want it as the row has words. So rows take at most 8 bytes a
subscription, and counting a topic costs at most a step for each word.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from topicloom.kernels.components import position_of
from topicloom.kernels.coverage import row_words
from topicloom.kernels.jit import kernel, tight_kernel
from topicloom.kernels.live_graph import GrowingRows


class HostRows(NamedTuple):
    """Hosts by topic. Hosts are numbered in the order in which they were placed."""

    host_count: int
    topic_start: npt.NDArray[np.int64]
    topic_hosts: npt.NDArray[np.int32]  # rising in each topic
    bitset: npt.NDArray[np.int32]  # by topic: row of its bitset, -1 where it has none
    bits: npt.NDArray[np.uint64]  # rows of words


def new_host_rows(host_start: npt.NDArray[np.int64], host_topics: npt.NDArray[np.int32], topic_count: int) -> HostRows:
    """From rows of topics by host."""
    hosts = len(host_start) - 1
    words = max(1, -(-hosts // 64))
    sizes = np.bincount(host_topics, minlength=topic_count)
    topic_start = np.zeros(topic_count + 1, np.int64)
    np.cumsum(sizes, out=topic_start[1:])
    by_topic = np.argsort(host_topics, kind="stable")
    topic_hosts = np.repeat(np.arange(hosts, dtype=np.int32), np.diff(host_start))[by_topic]
    often = sizes >= words
    bitset = np.where(often, np.cumsum(often) - 1, -1).astype(np.int32)
    bits = np.zeros((int(often.sum()), words), np.uint64)
    fill_bitsets(topic_start, topic_hosts, bitset, bits)
    return HostRows(hosts, topic_start, topic_hosts, bitset, bits)


def host_rows_bytes(hosts: int, subscriptions: int, topic_count: int) -> int:
    """Memory of `new_host_rows`, with what it takes on the way."""
    return subscriptions * 28 + topic_count * 20 + hosts * 8


@tight_kernel()
def fill_bitsets(topic_start, topic_hosts, bitset, bits):
    """Set the bits of every topic that has a bitset."""
    one = np.uint64(1)
    for topic in range(bitset.shape[0]):
        row = bitset[topic]
        if row >= 0:
            for at in range(topic_start[topic], topic_start[topic + 1]):
                host = topic_hosts[at]
                bits[row, host >> 6] |= one << np.uint64(host & 63)


@tight_kernel()
def wants(rows, host, topic):
    """Whether a host wants a topic."""
    row = rows.bitset[topic]
    if row >= 0:
        return (rows.bits[row, host >> 6] >> np.uint64(host & 63)) & np.uint64(1) != 0
    end = rows.topic_start[topic + 1]
    at = position_of(rows.topic_hosts, rows.topic_start[topic], end, host)
    return at < end and rows.topic_hosts[at] == host


# There are rows if one node in so many wants a topic, on average. Choosing backups by bits takes 0.4 to 0.5 of the time
# that it takes by members where that is one in 8, and 0.3 to 1 where it is one in 67; rows take 8 bytes a subscription.
NODES_A_MEMBER = 64


class BitRoom(TypedDict):
    """Room to work in by bits."""

    weight: npt.NDArray[np.int32]
    owed: npt.NDArray[np.uint64]
    candidates: npt.NDArray[np.uint64]


def wanting_rows(topics_of_nodes: GrowingRows, nodes: int, topics: int) -> npt.NDArray[np.uint64]:
    """A row for each of so many topics, with a bit for each of so many nodes; no rows where topics are small."""
    large = int(topics_of_nodes.used[1]) * NODES_A_MEMBER >= nodes * topics
    wanting = np.zeros((topics if large else 0, row_words(nodes)), np.uint64)
    if large:
        write_rows(topics_of_nodes, wanting)
    return wanting


@kernel()
def write_rows(topics, wanting):
    """Set the bits of all nodes in the rows of their topics, which are empty."""
    for u in range(topics.start.shape[0]):
        for k in range(topics.start[u], topics.start[u] + topics.length[u]):
            wanting[topics.items[k], u >> 6] |= np.uint64(1) << np.uint64(u & 63)


def room_for_bits(nodes: int) -> BitRoom:
    """Room for what so many nodes bear: at most links with all others, and standing in for all of them."""
    words = row_words(nodes)
    return {
        "weight": np.zeros(64 * words, np.int32),
        "owed": np.zeros((2, (2 * nodes).bit_length() + 1, words), np.uint64),
        "candidates": np.zeros((3, words), np.uint64),
    }
