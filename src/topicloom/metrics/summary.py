"""The measures of a whole overlay."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike

import numpy as np
import numpy.typing as npt

from topicloom.metrics.by_topic import TopicMeasures, topic_measures
from topicloom.metrics.facts import measure_facts
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.present.html import facts_html


@dataclass(frozen=True)
class Measures:
    """How good an overlay is.

    - `components`: over all topics; between `components_connected`, the topics that have a subscriber, and
      `components_unlinked`, the subscriptions.
    - `support`: share of the possible merging that is done; 1.0 where nothing can be merged.
    - `topic_connected`: whether the subscribers of each topic are in one piece, which is support 1.0.
    - `mean_topic_diameter`, `max_topic_diameter`: over the topics that have a subscriber; None where they were
      not asked for.
    - `relays`, `unreachable`: sums over the topics; see `TopicMeasures`.
    """

    nodes: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    components: int
    components_unlinked: int
    components_connected: int
    support: float
    topic_connected: bool
    mean_topic_diameter: float | None
    max_topic_diameter: int | None
    relays: int
    unreachable: int

    def to_dict(self) -> dict[str, int | float | bool | None]:
        """The fields by name, ready for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return facts_html(measure_facts(self))


def measure(
    interest: Interest | str | PathLike[str], overlay: Overlay | str | PathLike[str], *, diameters: bool = True
) -> Measures:
    """Measure an overlay; both may be given as the files that they are in.

    Args:
        interest: who wants what; may be another than that of the overlay, with the same nodes.
        overlay: the links.
        diameters: whether to measure topic diameters; they are exact and may take most of the time.
    """
    interest = Interest.given(interest)
    overlay = Overlay.given(overlay, interest)
    return summarise(topic_measures(interest, overlay, diameters=diameters), overlay.degrees)


def summarise(topics: TopicMeasures, degrees: npt.NDArray[np.integer]) -> Measures:
    """The measures of an overlay from those of all its topics, in any order, and the degrees of all its nodes.

    All sums are of whole numbers, so topics measured apart give the same result to the last digit.
    """
    links = int(degrees.sum()) // 2
    unlinked = int(topics.subscribers.sum())
    connected = int(np.count_nonzero(topics.subscribers))
    components = int(topics.components.sum())
    diameter = topics.diameter
    return Measures(
        nodes=len(degrees),
        topics=len(topics.subscribers),
        subscriptions=unlinked,
        links=links,
        average_degree=_ratio(2 * links, len(degrees), 0.0),
        max_degree=int(degrees.max(initial=0)),
        components=components,
        components_unlinked=unlinked,
        components_connected=connected,
        support=_ratio(unlinked - components, unlinked - connected, 1.0),
        topic_connected=components == connected,
        mean_topic_diameter=None if diameter is None else _ratio(int(diameter.sum()), connected, 0.0),
        max_topic_diameter=None if diameter is None else int(diameter.max(initial=0)),
        relays=int(topics.relays.sum()),
        unreachable=int(topics.unreachable.sum()),
    )


def _ratio(part: int, whole: int, otherwise: float) -> float:
    return part / whole if whole else otherwise
