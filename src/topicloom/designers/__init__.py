"""Designers: algorithms that build an overlay from an interest, one a file, named as in its paper.

- `registry`: all designers by name. `run`: checks, memory, compiling and time around a designer's own function.
- `base`: what a designer is. `memory`: refusing what would not fit.
- Greedy merges: `gm`, `minmax_oda`, `low_oda`, `gpa`, `gpm`, `gm_fold`; what they share is in `merging`.
- Stars: `cd_oda`, `cd_oda_1`, `cd_oda_2`; what they share is in `stars`.
- Others: `ring_per_topic`, `spidercast`, `spidercast_m`, `random_a`, `random_m`.
- `measured`: contributions of links that were not chosen for them.
"""

from topicloom.designers.base import Designer, DesignStopped, Links, Parameter, Watch
from topicloom.designers.registry import DESIGNERS, find_designer
from topicloom.designers.run import Run, checked_parameters, design, run

__all__ = [
    "DESIGNERS",
    "DesignStopped",
    "Designer",
    "Links",
    "Parameter",
    "Run",
    "Watch",
    "checked_parameters",
    "design",
    "find_designer",
    "run",
]
