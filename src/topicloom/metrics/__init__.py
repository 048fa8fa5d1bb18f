"""How good an overlay is: support, degrees, topic diameters, relays.

- `topics`: the measures of each topic. `summary`: those of the whole overlay. `compare`: several overlays side by side.
- `traffic`: prices of links, and messages over the links of trees.
- `trees`: a tree of links for each topic.
- `support`: the support that the first links give. `soc_diameters`: topic diameters through any nodes.
- `bounds`: lower bounds on links, price and maximum degree, by `offers`, `tree_bound` and `degree_bound`.

`measure` is all of it in one call. For the rows of the topics as well, take the two steps:

    topics = topic_measures(interest, overlay)
    whole = summarise(topics, overlay.degrees)
"""

from topicloom.metrics.bounds import Argument, Bounds, bound
from topicloom.metrics.compare import Comparison, compare
from topicloom.metrics.soc_diameters import soc_diameters
from topicloom.metrics.summary import Measures, measure, summarise
from topicloom.metrics.support import support_curve
from topicloom.metrics.topics import TopicMeasures, measure_topics, topic_measures
from topicloom.metrics.traffic import PriceMeasures, TrafficMeasures, measure_prices, measure_traffic
from topicloom.model.graph import LinkGraph

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
