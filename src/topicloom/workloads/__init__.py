"""Made-up inputs with the shapes that the papers measure on.

- `synthetic_interest`: random interests from a topic popularity and a distribution of sizes.
- `popularity`: how often each topic is chosen: uniform, Zipf, exponential, steeply exponential.
- `sizes`: how many topics each node wants: fixed, uniform, power law, shifted Zipf, by chance.
- `breadth_first`: a part of a social graph, visited breadth-first.
- `churn_trace`: nodes that join, leave and change their topics.
- `content_networks`: random content-based networks. `latency`: prices for them from measured latencies.
- `whole_numbers`: how much is to be made up, checked.

Everything takes a seed and draws from one generator made of it.
"""

from topicloom.workloads.churn_trace import churn_trace, drawn_newcomers
from topicloom.workloads.popularity import POPULARITIES
from topicloom.workloads.sizes import SIZES
from topicloom.workloads.synthetic_interest import synthetic

__all__ = ["POPULARITIES", "SIZES", "churn_trace", "drawn_newcomers", "synthetic"]
