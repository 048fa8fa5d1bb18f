"""Designs with every representation of topics and order of nodes, whichever an interest would get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from reference.greedy import Step, steps
from topicloom.designers import design
from topicloom.designers.greedy import Greedy, Representation
from topicloom.model import Interest

REPRESENTATIONS = {
    "bitsets": Representation(bitsets=True),
    "bitsets in order": Representation(bitsets=True, in_order=True),
    "sparse": Representation(bitsets=False),
    "sparse, many centres": Representation(bitsets=False, centres=1),
}


@contextmanager
def represented(representation: Representation) -> Iterator[None]:
    """Let greedy designers use a representation."""
    with patch.object(Greedy, "of", partial(Greedy.of, representation=representation)):
        yield


def designed(interest: Interest, name: str, **given: Any) -> list[Step]:
    """The links of a design, which are the same with every representation."""
    found = {}
    for kind, representation in REPRESENTATIONS.items():
        with represented(representation):
            found[kind] = steps(design(interest, name, **given))
    first = found["bitsets"]
    assert found == dict.fromkeys(REPRESENTATIONS, first)
    return first
