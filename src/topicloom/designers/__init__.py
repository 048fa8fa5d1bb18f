"""Designers: algorithms that build an overlay from an interest, one a file, named as in its paper.

- `greedy`: `gm`, `minmax-oda`, `low-oda`, `gpa`, `gpm`, `gm-fold`.
- `stars`: `cd-oda`, `cd-oda-1`, `cd-oda-2`.
- `baselines`: `ring-per-topic`, `spidercast`, `spidercast-m`, `random-a`, `random-m`.
- `optimal`: `exact`.
- `backbone`: `backbone`, for fleets too large for the others.
- `trees`: `tree`, for brokers that refuse circles.
- `registry`: all designers by name. `run`: budget, memory, compiling and time around a designer's own function.
- `base`: what a designer is. `memory`: refusing what would not fit.
- `blocked_topics`: topics that constraints leave in pieces, and what is in the way.
"""

from topicloom.algorithms import Parameter, Stopped, Watch
from topicloom.designers.base import Designer, Links
from topicloom.designers.baselines.measured_links import measured
from topicloom.designers.blocked_topics import BlockedTopics, blocked_topics
from topicloom.designers.registry import DESIGNERS, find_designer
from topicloom.designers.run import DesignRun, checked_parameters, design, run, run_prepared

__all__ = [
    "DESIGNERS",
    "BlockedTopics",
    "DesignRun",
    "Designer",
    "Links",
    "Parameter",
    "Stopped",
    "Watch",
    "blocked_topics",
    "checked_parameters",
    "design",
    "find_designer",
    "measured",
    "run",
    "run_prepared",
]
