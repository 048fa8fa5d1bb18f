"""Designs in every way in which topics are kept and nodes ordered, whichever an interest would get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from reference.greedy import Step, steps
from topicloom.designers import design, greedy
from topicloom.kernels.row_search import new_row_search
from topicloom.model import Interest

REPRESENTATIONS = ("bitsets", "bitsets in order", "sparse", "sparse, many centres")


@contextmanager
def represented(way: str) -> Iterator[None]:
    equal_links = 0 if way.endswith("in order") else greedy._EQUAL_LINKS
    centres = {"centres": 1} if way.endswith("many centres") else {}
    with (
        patch.object(greedy, "prefers_bitsets", lambda interest: way.startswith("bitsets")),
        patch.object(greedy, "new_row_search", partial(new_row_search, **centres)),
        patch.object(greedy, "_EQUAL_LINKS", equal_links),
    ):
        yield


def designed(interest: Interest, name: str, **given: Any) -> list[Step]:
    """The links of a design, which are the same in every way."""
    found = {}
    for way in REPRESENTATIONS:
        with represented(way):
            found[way] = steps(design(interest, name, **given))
    first = found[REPRESENTATIONS[0]]
    assert found == dict.fromkeys(REPRESENTATIONS, first)
    return first
