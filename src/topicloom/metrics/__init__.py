"""How good an overlay is: support, degrees, topic diameters, relays.

- `link_prices`: what an overlay costs by the prices of its links.
- `traffic`: messages over the links of trees. `traffic_trees`: trees by traffic times price.
- `neighbour_rows`: the overlay's links as rows of neighbours, the form that the kernels search.
- `by_topic`: the measures of every topic, one row each; topics are independent, so groups of them can be
  measured apart.
- `summary`: the measures of the whole overlay, from those of its topics and the degrees of its nodes.
- `comparison`: several overlays side by side.
- `soc_diameters`: topic diameters through any nodes.
- `support_curve`: the support that the first links of an overlay give.
- `bounds`: what no overlay can be below, proved.
- `facts`: measures in words and numbers.

`measure` is all of it in one call. To have the rows of the topics as well, take the two steps:

    topics = topic_measures(interest, overlay)
    whole = summarise(topics, overlay.degrees)
"""

from topicloom.metrics.bounds import Argument, Bounds, bound
from topicloom.metrics.by_topic import TopicMeasures, measure_topics, topic_measures
from topicloom.metrics.comparison import Comparison, compare
from topicloom.metrics.link_prices import PriceMeasures, measure_prices
from topicloom.metrics.neighbour_rows import LinkGraph
from topicloom.metrics.soc_diameters import soc_diameters
from topicloom.metrics.summary import Measures, measure, summarise
from topicloom.metrics.support_curve import support_curve
from topicloom.metrics.traffic import TrafficMeasures
from topicloom.metrics.traffic_trees import measure_traffic

__all__ = [
    "Argument",
    "Bounds",
    "Comparison",
    "LinkGraph",
    "Measures",
    "PriceMeasures",
    "TopicMeasures",
    "TrafficMeasures",
    "bound",
    "compare",
    "measure",
    "measure_prices",
    "measure_topics",
    "measure_traffic",
    "soc_diameters",
    "summarise",
    "support_curve",
    "topic_measures",
]
