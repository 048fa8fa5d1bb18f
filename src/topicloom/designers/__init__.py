"""Designers: algorithms that build an overlay from an interest, one a file, named as in its paper.

- Greedy: `gm`, `gpa`, `gm_fold`, `low_oda`, `minmax_oda`, `gpm`; `greedy` is what they share.
- Stars: `cd_oda`, `cd_oda_1`, `cd_oda_2`; `stars` is what they share.
- Others: `ring_per_topic`, `spidercast`, `spidercast_m`, `random_a`, `random_m`, `exact`.
- `backbone` with `backbone_hosts` and `backbone_repair`: for fleets too large for the others.
- `search`, from any of these; `local_search` is its engine, which `churn.improve` uses too.
- `tree` and `forest`: one tree for all topics, for brokers that refuse cycles.
- `contract`: what a designer is. `registry`: all designers by name. `run`: budget, memory, compiling and time around a
  designer's own function; `memory` refuses what would not fit.
- `blocked_topics`: topics that constraints leave in components, and the constraints in the way.
"""

from topicloom.designers.blocked_topics import BlockedTopics, blocked_topics
from topicloom.designers.contract import BEGIN, CONSTRAINTS, PRICES, RATES, Designer, DesignProblem, Links
from topicloom.designers.registry import DESIGNERS
from topicloom.designers.run import DesignRun, design, run
from topicloom.registry import Parameter, Stopped, Watch

__all__ = [
    "BEGIN",
    "CONSTRAINTS",
    "DESIGNERS",
    "PRICES",
    "RATES",
    "BlockedTopics",
    "DesignProblem",
    "DesignRun",
    "Designer",
    "Links",
    "Parameter",
    "Stopped",
    "Watch",
    "blocked_topics",
    "design",
    "run",
]
