"""Certified lower bounds: what no topic-connected overlay of an interest can be below.

- `lower_bounds`: the bounds and the arguments that prove them; the place to begin.
- `offers`: links counted by what nodes could pay for them, the strongest argument.
- `neighbours_needed`: nodes counted by the neighbours that cover their topics.
- `compared_topics`: the part of an interest that pairs of nodes are compared over.
"""

from topicloom.metrics.bounds.lower_bounds import Argument, Bounds, bound

__all__ = ["Argument", "Bounds", "bound"]
