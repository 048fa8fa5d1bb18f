"""Content-based broker overlays: which broker each user connects to, so that the whole costs least.

The network:

- `network`: users, brokers, channels, prices; and each user's traffic. `rows`: channels by user.
- `space`: attributes cut into cells; densities to rates, boxes to channels. `prices`: metrics.
- `folder`: reading networks. `access`: their large table. `parts`: each table. `drawn`: writing them.

Assignments:

- `assignment`: the broker of each user, and its file. `cost`: what it costs, by broker and by tree.
- `registry`: all algorithms by name. `run`: running one. `base`: what one is.
- `random_assignment`, `packing`, `clustering`, `steiner_mixing`, `migration`, `exact`: one a file.

For migration: `actors` (brokers and users), `post` (the messages between them), `told` (what brokers know).
For exact: `program` (integer programs).
"""

from topicloom.content.assignment import Assignment, Origin
from topicloom.content.cost import Cost, core_trees, cost, one_tree_core, relayed_core
from topicloom.content.folder import read_network
from topicloom.content.network import Network, Traffic
from topicloom.content.registry import ALGORITHMS, find_algorithm
from topicloom.content.run import Run, assign, run

__all__ = [
    "ALGORITHMS",
    "Assignment",
    "Cost",
    "Network",
    "Origin",
    "Run",
    "Traffic",
    "assign",
    "core_trees",
    "cost",
    "find_algorithm",
    "one_tree_core",
    "read_network",
    "relayed_core",
    "run",
]
