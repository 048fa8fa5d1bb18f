"""Content-based broker overlays: which broker each user connects to, so that the whole costs least.

- `network`: users, brokers, channels, prices, and the folders that hold them.
- `assigning`: `random`, `packing`, `clustering`, `steiner-mixing`, `exact`. `migration`: the distributed algorithm.
- `assignment`: the broker of each user, and its file. `cost`: what it costs, by broker and by tree.
- `registry`: all algorithms by name. `run`: running one. `base`: what one is.
"""

from topicloom.content.assignment import Assignment, Origin
from topicloom.content.cost import Cost, core_trees, cost, one_tree_core, relayed_core
from topicloom.content.network.network import Network, Traffic
from topicloom.content.network.network_folder import read_network
from topicloom.content.registry import ALGORITHMS, find_algorithm
from topicloom.content.run import AssignmentRun, assign, run, run_prepared

__all__ = [
    "ALGORITHMS",
    "Assignment",
    "AssignmentRun",
    "Cost",
    "Network",
    "Origin",
    "Traffic",
    "assign",
    "core_trees",
    "cost",
    "find_algorithm",
    "one_tree_core",
    "read_network",
    "relayed_core",
    "run",
    "run_prepared",
]
