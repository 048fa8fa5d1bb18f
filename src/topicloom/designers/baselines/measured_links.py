"""Links of designers that do not choose by contribution, with the contribution of each worked out afterwards."""

from __future__ import annotations

from topicloom.designers.base import Links
from topicloom.kernels.graphs.components import merge_links
from topicloom.model.interest import Ids, Interest


def measured(interest: Interest, source: Ids, target: Ids) -> Links:
    """The links in the order given, each with the number of components that it merged."""
    contribution, _ = merge_links(interest.node_start, interest.node_topics, source, target)
    return Links(source, target, contribution)


def measuring_bytes(interest: Interest, links: int) -> int:
    """Bytes that `measured` takes, with the links themselves."""
    return 12 * interest.subscription_count + 12 * links
