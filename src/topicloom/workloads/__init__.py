"""Synthetic inputs with the shapes that the papers measure on.

- `interests`: random interests by popularity of topics and sizes of nodes.
- `churn`: nodes that join, leave and change their topics.
- `content`: random content-based networks. `latency`: prices for them from measured latencies.
- `breadth_first`: a part of a social graph, visited breadth-first.

Everything takes a seed and draws from one generator made of it.
"""

from topicloom.workloads.churn import churn_trace, drawn_newcomers
from topicloom.workloads.interests import POPULARITIES, SIZES, synthetic

__all__ = ["POPULARITIES", "SIZES", "churn_trace", "drawn_newcomers", "synthetic"]
