"""Content-based broker overlays: which broker each user connects to, so that the whole costs least.

- `network`: users, brokers, channels, prices, and the folders that hold them.
- `assigning`: `random`, `packing`, `clustering`, `steiner-mixing`, `sub-channel`, `exact`. `migration`: the distributed
  algorithm.
- `assignment`: the broker of each user, and its file. `cost`: what it costs, by broker; `core_routing`: how messages
  pass between brokers. `traffic_matrix`: what each user sends to each other.
  `cost_summary`: the same in figures, and as JSON. `core_trees`: the trees between brokers, and their file.
- `registry`: all algorithms by name. `run`: running one. `base`: what one is.
"""

from topicloom.content.assignment import Assignment
from topicloom.content.core_routing import ROUTINGS
from topicloom.content.core_trees import core_trees
from topicloom.content.cost import Cost, cost, one_tree_core, relayed_core
from topicloom.content.cost_summary import CostSummary, cost_summary
from topicloom.content.network.network import Network, Traffic
from topicloom.content.network.network_folder import read_network
from topicloom.content.registry import ALGORITHMS, find_algorithm
from topicloom.content.run import AssignmentRun, assign, run, run_prepared
from topicloom.content.traffic_matrix import traffic_rows

__all__ = [
    "ALGORITHMS",
    "ROUTINGS",
    "Assignment",
    "AssignmentRun",
    "Cost",
    "CostSummary",
    "Network",
    "Traffic",
    "assign",
    "core_trees",
    "cost",
    "cost_summary",
    "find_algorithm",
    "one_tree_core",
    "read_network",
    "relayed_core",
    "run",
    "run_prepared",
    "traffic_rows",
]
