"""Plans publish/subscribe networks: which links to build so that every topic is connected.

>>> import topicloom
>>> interest = topicloom.Interest.from_pairs([("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")])
>>> overlay = topicloom.design(interest, "gm")
>>> overlay.to_pandas().to_string(index=False)
'source target  contribution\\n    b1     b2             1\\n    b2     b3             1'
>>> topicloom.measure(interest, overlay).topic_connected
True

Packages, from the ground up; each may import those before it, never those after it:

- `model`: interests and overlays, and their files.
- `kernels`: compiled loops on plain arrays.
- `metrics`: how good an overlay is.
- `designers`: the algorithms that build overlays, and their registry.
- `workloads`: synthetic interests.
- `cli`: the command line.
"""

from topicloom._version import __version__
from topicloom.designers import DESIGNERS, design
from topicloom.metrics import measure
from topicloom.model import InputError, Interest, Overlay, Provenance
from topicloom.workloads import synthetic

__all__ = [
    "DESIGNERS",
    "InputError",
    "Interest",
    "Overlay",
    "Provenance",
    "__version__",
    "design",
    "measure",
    "synthetic",
]
