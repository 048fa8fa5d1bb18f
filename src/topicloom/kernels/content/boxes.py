"""How much of a cell several boxes cover together."""

from __future__ import annotations

import numpy as np

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
