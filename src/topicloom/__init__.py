"""Plans publish/subscribe networks: which links to build so that every topic is connected.

>>> import topicloom
>>> interest = topicloom.Interest.from_pairs([("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")])
>>> overlay = topicloom.design(interest, "gm")
>>> overlay.to_pandas().to_string(index=False)
'source target  contribution\\n    b1     b2             1\\n    b2     b3             1'
>>> topicloom.measure(interest, overlay).topic_connected
True

Packages, from the ground up; each may import those before it, never those after it:

- `errors`: the one exception that means "your input, not our bug".
- `files`: files written whole or not at all, and read with errors that name the file and the row.
- `present`: how results look: numbers, HTML, pictures.
- `model`: interests and overlays.
- `kernels`: compiled loops on plain arrays.
- `algorithms`: what all algorithms have in common: parameters, registries, watching, timing.
- `metrics`: how good an overlay is.
- `designers`: the algorithms that build overlays, and their registry.
- `churn`: overlays that are mended while nodes come and go.
- `content`: content-based networks: which broker each user connects to, at the least cost.
- `workloads`: synthetic interests and networks, and churn.
- `deploy`: plans for real brokers, their configurations, and a live proof.
- `control`: running fleets brought from plan to plan, and followed.
- `sources`: running brokers asked who subscribes and publishes what.
- `pipeline`: all of it on Spark, for raw data, big data and many runs.
- `experiments`: the papers' figures and tables, made again.
- `report`: pages of results.
- `explore`: the same in a browser, to point at and to ask.
- `cli`: the command line.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topicloom._version import __version__

if TYPE_CHECKING:
    from topicloom.designers import DESIGNERS, design
    from topicloom.metrics import Bounds, bound, compare, measure
    from topicloom.model import Constraints, InputError, Interest, NodeRule, Overlay, Prices, Provenance, Rates
    from topicloom.workloads import synthetic

__all__ = [
    "DESIGNERS",
    "Bounds",
    "Constraints",
    "InputError",
    "Interest",
    "NodeRule",
    "Overlay",
    "Prices",
    "Provenance",
    "Rates",
    "__version__",
    "bound",
    "compare",
    "design",
    "measure",
    "synthetic",
]

# Importing on first use keeps `topicloom --help` quick: numba and Arrow take most of half a second.
_HOMES = {
    "Bounds": "metrics",
    "DESIGNERS": "designers",
    "Constraints": "model",
    "InputError": "model",
    "Interest": "model",
    "NodeRule": "model",
    "Overlay": "model",
    "Prices": "model",
    "Provenance": "model",
    "Rates": "model",
    "bound": "metrics",
    "compare": "metrics",
    "design": "designers",
    "measure": "metrics",
    "synthetic": "workloads",
}
_PACKAGES = {
    *_HOMES.values(),
    *("churn", "content", "control", "deploy", "experiments", "explore", "kernels", "pipeline", "report", "sources"),
}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"topicloom.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'topicloom' has no attribute '{name}'")
    value = getattr(import_module(f"topicloom.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
