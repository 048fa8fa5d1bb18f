"""The leaves of a backbone: all nodes that are no hosts, hung onto hosts block by block.

Leaves are dealt to blocks by their ids, and how many blocks there are follows from the subscriptions alone. Every
block is attached by itself: it knows the links that hosts have among themselves and its own, and has a fixed share of
every host's room. So blocks can be attached in any order, at once, on any machine and twice, with the same links.
What a block could not cover with its share is settled at the end, with the room that all blocks left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.designers.backbone.fleet_rows import Rows
from topicloom.designers.backbone.trunk import Grown, Trunk, links_of, newcomers
from topicloom.designers.base import Links
from topicloom.kernels.backbone.covers import attach, new_attached, new_bench, new_hosting
from topicloom.model.interest import Ids

# A block of this many subscriptions takes about a second, and 10 MB besides the trunk.
_BLOCK_SUBSCRIPTIONS = 1 << 18


class Hung(NamedTuple):
    """Links of leaves with hosts, as ids, in the order they were made, and subscriptions that none of them connects."""

    leaf: Ids
    host: Ids
    gain: Ids
    unmet_leaf: Ids
    unmet_topic: Ids


def count_blocks(subscriptions: int) -> int:
    """How many blocks leaves of so many subscriptions are dealt to."""
    return max(1, -(-subscriptions // _BLOCK_SUBSCRIPTIONS))


def hang_block(trunk: Trunk, leaves: Rows, block: int, blocks: int, ticks: npt.NDArray[np.int64]) -> Hung:
    """Attach the leaves of one block: those whose id leaves the remainder `block` when divided by `blocks`."""
    room = (trunk.max_degree - trunk.degree).clip(0)
    share = _share(room, block, blocks)
    most = np.full(len(leaves.nodes), trunk.max_degree, np.int64)
    # The other blocks do about the same at the same time, so a link here stands for one in each of them.
    return _hang(trunk, leaves, trunk.degree, share, most, blocks, ticks)


def joined(hung: Sequence[Hung]) -> Hung:
    """Blocks one after the other."""
    return Hung(*(np.concatenate(columns) for columns in zip(*hung, strict=True)))


class Whole(NamedTuple):
    """All links of a backbone, and topics in which a node is not connected by what they were made for."""

    links: Links
    unmet: Ids


def all_links(grown: Grown, hung: Hung, nodes: int, ticks: npt.NDArray[np.int64]) -> Whole:
    """Links of the trunk, of all blocks in their order, and of what is settled at the end."""
    settled = _settle(grown.trunk, hung, nodes, ticks)
    parts = [grown.links, *(links_of(part.leaf, part.host, part.gain) for part in (hung, settled))]
    return Whole(Links.joined(parts), np.concatenate([grown.unmet, settled.unmet_topic]))


def _settle(trunk: Trunk, hung: Hung, nodes: int, ticks: npt.NDArray[np.int64]) -> Hung:
    """Attach what the blocks could not, with all the room that there is."""
    degree = trunk.degree + np.bincount(hung.host, minlength=nodes)[trunk.hosts]
    order = np.lexsort((hung.unmet_topic, hung.unmet_leaf))
    leaves, first = np.unique(hung.unmet_leaf[order], return_index=True)
    start = np.append(first, len(order)).astype(np.int64)
    rows = Rows(leaves.astype(np.int32), start, hung.unmet_topic[order])
    most = trunk.max_degree - np.bincount(hung.leaf, minlength=nodes)[rows.nodes]
    return _hang(trunk, rows, degree, trunk.max_degree - degree, most, 1, ticks)


def _share(room: npt.NDArray[np.int64], block: int, blocks: int) -> npt.NDArray[np.int64]:
    """What a block may take of every host's room; the shares of all blocks add up to it."""
    turn = np.arange(len(room)) % blocks
    share: npt.NDArray[np.int64] = (room * (block + 1) + turn) // blocks - (room * block + turn) // blocks
    return share


def _hang(
    trunk: Trunk,
    leaves: Rows,
    degree: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    most: npt.NDArray[np.int64],
    step: int,
    ticks: npt.NDArray[np.int64],
) -> Hung:
    attached = new_attached(len(leaves.topics))
    links, unmet = attach(
        trunk.rows,
        new_hosting(degree, room, np.ones(len(degree), np.bool_), trunk.host_prices),
        leaves.start,
        leaves.topics,
        newcomers(leaves.nodes, np.full(len(leaves.nodes), -1, np.int32), most, trunk.prices),
        step,
        new_bench(len(degree), int(np.diff(leaves.start).max(initial=0))),
        attached,
        ticks,
    )
    return Hung(
        leaves.nodes[attached.node[:links]],
        trunk.hosts[attached.host[:links]],
        attached.gain[:links].copy(),
        leaves.nodes[attached.unmet_node[:unmet]],
        attached.unmet_topic[:unmet].copy(),
    )
