"""Content spaces: cells, densities and boxes.

How much of a cell several boxes cover together.

The content space: attributes cut into cells, each cell a channel.

Densities are integrated over cells to rates, boxes encoded as the cells that they touch. A box holds its lower bounds
and not its upper ones, so one that ends where a cell begins does not touch it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from topicloom.content.network import Floats, Numbers, SparseRows, rows_of
from topicloom.kernels.jit import kernel


@kernel()
def covered_shares(start, lows, highs):
    """For each group of boxes, given as shares of one cell (0 to 1 in each attribute), how much of it they cover.

    The bounds of the boxes cut the cell into pieces; a piece counts if some box holds it. For m boxes and a attributes
    that takes m (2m)^a steps.
    """
    groups = start.shape[0] - 1
    attributes = lows.shape[1]
    shares = np.empty(groups)
    place = np.empty(attributes, np.int64)
    for group in range(groups):
        begin, end = start[group], start[group + 1]
        count = end - begin
        cuts = np.empty((attributes, 2 * count))
        for attribute in range(attributes):
            cuts[attribute, :count] = lows[begin:end, attribute]
            cuts[attribute, count:] = highs[begin:end, attribute]
            cuts[attribute] = np.sort(cuts[attribute])
        covered = 0.0
        pieces = (2 * count - 1) ** attributes
        for piece in range(pieces):
            rest = piece
            volume = 1.0
            for attribute in range(attributes):
                place[attribute] = rest % (2 * count - 1)
                rest //= 2 * count - 1
                volume *= cuts[attribute, place[attribute] + 1] - cuts[attribute, place[attribute]]
            if volume <= 0.0:
                continue
            for box in range(begin, end):
                holds = True
                for attribute in range(attributes):
                    low, high = cuts[attribute, place[attribute]], cuts[attribute, place[attribute] + 1]
                    if lows[box, attribute] > low or highs[box, attribute] < high:
                        holds = False
                        break
                if holds:
                    covered += volume
                    break
        shares[group] = min(covered, 1.0)
    return shares


# Users integrated at a time, so that memory does not grow with users x cells.
_BLOCK = 2048


@dataclass(frozen=True)
class Attribute:
    """One dimension of the space, from `low` to `high`, cut into cells of one width."""

    name: str
    low: float
    high: float
    cells: int

    @property
    def edges(self) -> Floats:
        """Where cells begin and end."""
        edges: Floats = np.linspace(self.low, self.high, self.cells + 1, dtype=np.float64)
        return edges


@dataclass(frozen=True)
class Space:
    """Attributes; the cells of their grid are the channels, those of the last attribute next to each other."""

    attributes: tuple[Attribute, ...]

    @property
    def channel_count(self) -> int:
        """How many cells there are."""
        return int(np.prod([attribute.cells for attribute in self.attributes]))

    @property
    def channel_names(self) -> tuple[str, ...]:
        """`c` and the number of the cell in each attribute from 1, zero-padded: `c07`, `c07.12`."""
        numbers = [[f"{k + 1:0{len(str(a.cells))}}" for k in range(a.cells)] for a in self.attributes]
        return tuple("c" + ".".join(place) for place in product(*numbers))


def quadratic_rates(space: Space, user_count: int, users: Numbers, coefficients: Floats) -> SparseRows:
    """Rates of users whose density is, in each attribute x, the positive part of a x^2 + b x + c, and their product.

    `coefficients` has shape (entries, attributes, 3). Integrals are exact.
    """
    parts = []
    for begin in range(0, len(users), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        rates = np.ones((len(users[block]), 1))
        for number, attribute in enumerate(space.attributes):
            along = _positive_integrals(coefficients[block, number], attribute.edges)
            rates = (rates[:, :, None] * along[:, None, :]).reshape(len(rates), -1)
        entry, channel = np.nonzero(rates)
        parts.append((users[block][entry], channel, rates[entry, channel]))
    if not parts:
        return rows_of(user_count, *(np.empty(0, np.int32),) * 2, np.empty(0))
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return rows_of(user_count, joined[0], joined[1], joined[2])


def piece_rates(
    space: Space, user_count: int, users: Numbers, lows: Floats, highs: Floats, density: Floats
) -> SparseRows:
    """Rates of users whose density is constant on boxes and zero elsewhere; where boxes overlap it adds up."""
    box, channel, share = touched_cells(space, lows, highs)
    volume = np.prod([(a.high - a.low) / a.cells for a in space.attributes])
    return rows_of(
        user_count, users[box], channel, np.prod(share[:, :, 1] - share[:, :, 0], axis=1) * volume * density[box]
    )


def box_cells(space: Space, user_count: int, users: Numbers, lows: Floats, highs: Floats) -> SparseRows:
    """The cells that each user's boxes touch, each with the share of it that they cover."""
    box, channel, share = touched_cells(space, lows, highs)
    owner = users[box]
    order = np.lexsort((channel, owner))
    owner, channel, share = owner[order], channel[order], share[order]
    if not len(owner):
        return rows_of(user_count, owner, channel, np.empty(0))
    begins = np.flatnonzero(np.r_[True, (owner[1:] != owner[:-1]) | (channel[1:] != channel[:-1])])
    covered = covered_shares(
        np.append(begins, len(owner)), np.ascontiguousarray(share[:, :, 0]), np.ascontiguousarray(share[:, :, 1])
    )
    return rows_of(user_count, owner[begins], channel[begins], covered)


def touched_cells(space: Space, lows: Floats, highs: Floats) -> tuple[Numbers, Numbers, Floats]:
    """For each cell that a box touches: the box, the cell, and from where to where it covers it, as shares of it.

    Bounds have shape (boxes, attributes); the shares (rows, attributes, 2).
    """
    boxes: Numbers = np.arange(len(lows))
    channel: Numbers = np.zeros(len(lows), np.int64)
    share = np.empty((len(lows), 0, 2))
    for number, attribute in enumerate(space.attributes):
        width = (attribute.high - attribute.low) / attribute.cells
        low = (lows[boxes, number] - attribute.low) / width
        high = (highs[boxes, number] - attribute.low) / width
        first = np.clip(np.floor(low + _ROUNDING), 0, attribute.cells - 1).astype(np.int64)
        last = np.clip(np.ceil(high - _ROUNDING) - 1, first, attribute.cells - 1).astype(np.int64)
        counts = last - first + 1
        entry = np.repeat(np.arange(len(boxes)), counts)
        cell = first[entry] + np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
        bounds = np.stack([np.clip(low[entry] - cell, 0, 1), np.clip(high[entry] - cell, 0, 1)], axis=1)
        boxes, share = boxes[entry], np.concatenate([share[entry], bounds[:, None, :]], axis=1)
        channel = channel[entry] * attribute.cells + cell
    return boxes, channel, share


# A bound this close to the edge of a cell, in cells, lies on it: 0.3 of 10 cells ends cell 3, whatever rounding says.
_ROUNDING = 1e-9


def _positive_integrals(coefficients: Floats, edges: Floats) -> Floats:
    """Integral of the positive part of a x^2 + b x + c between edges that follow each other; one row a quadratic."""
    a, b, c = (coefficients[:, k, None, None] for k in range(3))
    cuts = np.empty((len(coefficients), len(edges) - 1, 4))
    cuts[:, :, 0], cuts[:, :, 3] = edges[:-1], edges[1:]
    roots = _roots(coefficients)
    for k in range(2):
        cuts[:, :, k + 1] = np.clip(roots[:, k, None], edges[:-1], edges[1:])
    middle = (cuts[:, :, 1:] + cuts[:, :, :-1]) / 2
    above = ((a * middle + b) * middle + c > 0) & (cuts[:, :, 1:] > cuts[:, :, :-1])
    whole = ((a / 3 * cuts + b / 2) * cuts + c) * cuts
    areas: Floats = np.where(above, np.maximum(whole[:, :, 1:] - whole[:, :, :-1], 0.0), 0.0).sum(axis=2)
    return areas


def _roots(coefficients: Floats) -> Floats:
    """Where each quadratic changes sign, rising; infinite where it does not."""
    a, b, c = coefficients.T
    roots = np.full((len(coefficients), 2), np.inf)
    with np.errstate(all="ignore"):
        line = (a == 0) & (b != 0)
        roots[line, 0] = -c[line] / b[line]
        root = np.sqrt(b * b - 4 * a * c)
        curved = (a != 0) & (root > 0)
        # The sum that cancels nothing; the other root follows from the product of both, c/a.
        far = -(b + np.copysign(root, b)) / 2
        pair = np.stack([far / a, np.where(far == 0, 0.0, c / far)], axis=1)
        roots[curved] = np.sort(pair[curved], axis=1)
    return roots
