"""Content-based broker networks: the broker of each user, so that the whole costs least.

- `network`: users, brokers, channels, rates, prices. `space`: content spaces. `tables`: their files.
- `assignment`: the broker of each user, and its file. `run`: algorithms by name, and running them.
- Algorithms: `random`, `packing`, `clustering`, `steiner_mixing` with `steiner_trees`, `sub_channel`, `exact`,
  `migration` with `move_costs`; `placing` places users one by one.
- `cost`: the cost of an assignment by broker, its summary, and the trees between brokers; `core_trees` are its loops.
- `views`: what pages show of all that.
"""

from topicloom.content.assignment import Assignment
from topicloom.content.cost import (
    ROUTINGS,
    Cost,
    CostSummary,
    core_trees,
    cost,
    cost_summary,
    one_tree_core,
    relayed_core,
    traffic_rows,
)
from topicloom.content.network import Network, Traffic
from topicloom.content.run import ALGORITHMS, AssignmentRun, assign, find_algorithm, run, run_prepared
from topicloom.content.tables import read_network

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
