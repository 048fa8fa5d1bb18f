"""What all algorithms have in common, whether they design, assign or maintain.

- `parameter`: what an algorithm takes: names, kinds, defaults, ranges, and the check of given values.
- `algorithm`: what an algorithm says about itself, and one that is ready to run: parameters checked, seed chosen.
- `registry`: algorithms by name, those of other installed packages too.
- `integer_program`: programs for those that search for the best there is.
- `watch`: seeing how far a run is, and stopping it. `timing`: how long it took.
"""

from topicloom.algorithms.algorithm import Algorithm, Prepared
from topicloom.algorithms.parameter import SEED, Parameter, Value
from topicloom.algorithms.registry import Registry
from topicloom.algorithms.timing import Run, timed
from topicloom.algorithms.watch import Stopped, Watch

__all__ = ["SEED", "Algorithm", "Parameter", "Prepared", "Registry", "Run", "Stopped", "Value", "Watch", "timed"]
