"""The traffic matrix: what each user sends to each other one. The Content paper, section I and figure 3.

It is users x users, so it is given a few rows at a time. No algorithm here needs it: sums by channel say the same.
"""

from __future__ import annotations

from topicloom.content.network.channels_by_user import Floats, transposed
from topicloom.content.network.network import Network
from topicloom.kernels.content.core_traffic import pair_rates


def traffic_rows(network: Network, begin: int, end: int) -> Floats:
    """The rate of messages from each of the users from `begin` up to `end` to each user; nobody sends to itself."""
    rows: Floats = pair_rates(network.rates, transposed(network.wants, network.channel_count), begin, end)
    return rows
