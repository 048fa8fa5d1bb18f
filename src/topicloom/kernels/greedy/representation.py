"""What every representation of the topics answers to the search for links.

`topic_bits` is for interests whose nodes share much, `topic_members` for sparse ones, `topic_lists` for those of them
whose links have prices. Rules and searches are written once against these functions; numba picks the implementation by
the type of `topics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from topicloom.kernels.jit import INNER


def enter_row(topics: Any, u: Any) -> Any:
    """Get ready to evaluate links of node u; again after every merge."""


def contribution(topics: Any, u: Any, v: Any, threshold: Any) -> Any:
    """Contribution of the link (u, v), exact where it reaches the threshold, else an upper bound below it."""


def merge(topics: Any, u: Any, v: Any) -> Any:
    """Add the link (u, v): join the components of u and v in every common topic."""


def tighten(topics: Any, bounds: Any, slot: Any, u: Any, first_column: Any) -> Any:
    """Lower the 64 bounds from `slot` on by what is known of the nodes alone, where that costs nothing."""


def implements(function: Callable[..., Any], representation: type, **options: Any) -> Callable[..., Any]:
    """Register the decorated kernel as `function` for one representation of the topics, with options of numba's."""

    jit_options: Any = {**INNER, **options}

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        def choose(topics: Any, *rest: Any) -> Any:
            fits = getattr(topics, "instance_class", None) is representation
            return implementation if fits else None

        choose.__name__ = f"{function.__name__}_{representation.__name__}"
        overload(function, strict=False, jit_options=jit_options)(choose)
        return implementation

    return register
