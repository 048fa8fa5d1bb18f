"""Plan publish/subscribe networks: which links to build so that every topic is connected.

>>> import topicloom
>>> interest = topicloom.Interest.from_pairs([("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")])
>>> overlay = topicloom.design(interest, "gm")
>>> overlay.to_pandas().to_string(index=False)
'source target  contribution\\n    b1     b2             1\\n    b2     b3             1'
>>> topicloom.measure(interest, overlay).topic_connected
True

Rooms, from the ground up; each may import those before it:

- `errors`: the one exception for input that is wrong.
- `io`: files written whole or not at all, tables, settings.
- `kernels`: compiled loops on plain arrays.
- `model`: interests, filters, overlays, constraints, prices, events.
- `registry`: algorithms by name, with their parameters.
- `metrics`: measures of an overlay, trees of topics, lower bounds.
- `designers`: algorithms that build overlays, one a file.
- `churn`: maintainers, which repair overlays as nodes come and go.
- `content`: content-based networks: the broker of each user at the lowest cost.
- `workloads`: synthetic interests, networks and events.
- `brokers`: fleets: plan, diff, lint, collect, apply, watch; one module for each kind of broker.
- `spark`: raw data, large data and many runs on Spark.
- `views`: pages, the explorer, pictures.
- `experiments`: the papers' figures and claims, reproduced.
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
    *("brokers", "churn", "content", "experiments", "kernels", "spark", "views"),
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
