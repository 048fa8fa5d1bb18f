"""Prices of links: latency or money, by pair of nodes or by pair of regions."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.io.tables import text_rows
from topicloom.model.interest import Ids, Interest

_ENDS = (("source", "target"), ("src", "dst"))
_PRICES = ("price", "avg_ms", "ms", "latency")
# Prices are compared as whole numbers of this many to one, so that which link is better is exact.
MILLIONTHS = 1_000_000
_HIGHEST = 1e7
# Stands for all pairs that are not given.
ANY = ("*", "*")


class LinkPrices(NamedTuple):
    """Prices by the ids of an interest, in millionths and above 0: `price[group[u], group[v]]`."""

    group: Ids
    price: npt.NDArray[np.int64]

    def of(self, source: Ids, target: Ids) -> npt.NDArray[np.int64]:
        """The prices of links, in millionths."""
        return self.price[self.group[source], self.group[target]]


@dataclass(frozen=True)
class Prices:
    """The price of a link between two nodes, in either order.

    Args:
        between: the price of pairs of names, in one order or both; if these differ, their mean counts. That of
            `("*", "*")` counts for all others.
        regions: the region of each node by name, if pairs are of regions; None if they are of nodes.
        where: names the prices in errors.
    """

    between: Mapping[tuple[str, str], float]
    regions: Mapping[str, str] | None = None
    where: str = "prices"

    def __post_init__(self) -> None:
        for (a, b), price in self.between.items():
            if not 0 <= price <= _HIGHEST:
                raise InputError(f"{self.where}: price of '{a}' - '{b}' must be a number from 0 to 1e7, not '{price}'")

    @classmethod
    def read(cls, path: str | os.PathLike[str], regions: Mapping[str, str] | None = None) -> Prices:
        """From a .csv or .tsv file, plain or .gz, with columns `source`, `target` and `price`; `*,*` is all others.

        Latencies may have the columns `src`, `dst` and `avg_ms`. With `regions`, names are those of regions.
        """
        file = Path(path)
        header, *rows = _rows(file)
        ends = next((pair for pair in _ENDS if set(pair) <= set(header)), None)
        price = next((name for name in _PRICES if name in header), None)
        if ends is None or price is None:
            raise InputError("needs the columns source, target and price", file=file)
        places = [header.index(name) for name in (*ends, price)]
        between: dict[tuple[str, str], float] = {}
        for number, row in enumerate(rows, start=1):
            if len(row) != len(header):
                raise InputError(f"has {len(row)} columns and the header {len(header)}", file=file, row=number)
            a, b, text = (row[place] for place in places)
            one = _price(text, file, number)
            if between.setdefault((a, b), one) != one:
                raise InputError(
                    f"repeats '{a}' - '{b}' with another price; give each pair once", file=file, row=number
                )
        return cls(between, regions, str(file))

    @property
    def text(self) -> str:
        """A text that is the same for equal prices; `from_text` reads it."""
        between = sorted([*pair, price] for pair, price in self.between.items())
        return json.dumps([between, None if self.regions is None else sorted(self.regions.items())])

    @classmethod
    def from_text(cls, text: str) -> Prices:
        """Prices from their `text`."""
        between, regions = json.loads(text)
        return cls({(a, b): price for a, b, price in between}, None if regions is None else dict(regions))

    @property
    def names(self) -> frozenset[str]:
        """All names with prices."""
        return frozenset(name for pair in self.between if pair != ANY for name in pair)

    def over(self, interest: Interest) -> LinkPrices:
        """The same by the ids of an interest; a missing price is an error."""
        nodes = interest.node_names
        if self.regions is None:
            groups = nodes
            group: Ids = np.arange(len(nodes), dtype=np.int32)
        else:
            for name in nodes:
                if name not in self.regions and ANY not in self.between:
                    raise InputError(f"{self.where}: has prices by region, and node '{name}' has none")
            region = [self.regions.get(name, "") for name in nodes]
            groups = tuple(sorted(set(region)))
            ids = {name: number for number, name in enumerate(groups)}
            group = np.array([ids[name] for name in region], np.int32)
        several = np.bincount(group, minlength=len(groups)) > 1
        return LinkPrices(group, self._matrix(groups, several, self.between.get(ANY)))

    @cached_property
    def groups(self) -> PriceGroups:
        """Groups of nodes that have the same prices, for nodes that come and go."""
        names = (*sorted(self.names - {""}), "")
        return PriceGroups(
            self, names, self._matrix(names, np.ones(len(names), np.bool_), self.between.get(ANY, _HIGHEST))
        )

    def _matrix(
        self, groups: tuple[str, ...], several: npt.NDArray[np.bool_], others: float | None
    ) -> npt.NDArray[np.int64]:
        """Prices in millionths of links between groups; inside a group only where it has several nodes.

        `others` is the price of pairs that are not given; if it is None, these are an error.
        """
        ids = {name: number for number, name in enumerate(groups)}
        total = np.zeros((len(groups), len(groups)))
        given = np.zeros(total.shape, np.int8)
        for (a, b), price in self.between.items():
            if a in ids and b in ids:
                for i, j in {(ids[a], ids[b]), (ids[b], ids[a])}:
                    total[i, j] += price
                    given[i, j] += 1
        missing = given == 0
        np.fill_diagonal(missing, missing.diagonal() & several)
        if missing.any() and others is None:
            a, b = (groups[number] for number in np.argwhere(missing)[0])
            raise InputError(
                f"{self.where}: has no price of a link between '{a}' and '{b}'; give it, or a row *,* for all others"
            )
        total[missing] = others or 0.0
        parts: npt.NDArray[np.int64] = np.rint(total / np.maximum(given, 1) * MILLIONTHS).astype(np.int64).clip(1)
        alone = np.flatnonzero(~several)
        parts[alone, alone] = parts.max(initial=1)
        return parts


class PriceGroups:
    """Groups of nodes, for nodes that come and go: `price[group, group]`, in millionths.

    A pair without a price counts as the dearest.
    """

    def __init__(self, prices: Prices, names: tuple[str, ...], price: npt.NDArray[np.int64]) -> None:
        self._regions = prices.regions
        self._ids = {name: number for number, name in enumerate(names)}
        self.price = price

    def number(self, node: str) -> int:
        """The group of a node."""
        name = node if self._regions is None else self._regions.get(node, "")
        return self._ids.get(name, self._ids[""])


def _rows(file: Path) -> list[list[str]]:
    if not file.is_file():
        raise InputError("is a folder; give one file" if file.is_dir() else "no such file", file=file)
    rows = text_rows(file)
    if not rows:
        raise InputError("is empty; expected the columns source, target and price", file=file)
    return rows


def _price(text: str, file: Path, row: int) -> float:
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if not 0 <= price <= _HIGHEST:
        raise InputError(f"price must be a number from 0 to 1e7, not '{text}'", file=file, row=row)
    return price
