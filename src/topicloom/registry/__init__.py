"""What all algorithms have in common, whether they design, assign or maintain.

- `parameters`: names, kinds, defaults and ranges of parameters; algorithms with their parameters checked.
- `registry`: algorithms, or other values, by name, also those of other installed packages.
- `running`: progress, cancellation and timing. `program`: integer programs.
"""

from __future__ import annotations

from topicloom.registry.parameters import SEED, Algorithm, Parameter, Prepared, Value
from topicloom.registry.registry import Plugins, Registry
from topicloom.registry.running import Run, Stopped, Watch, timed

__all__ = [
    "SEED",
    "Algorithm",
    "Parameter",
    "Plugins",
    "Prepared",
    "Registry",
    "Run",
    "Stopped",
    "Value",
    "Watch",
    "timed",
]
