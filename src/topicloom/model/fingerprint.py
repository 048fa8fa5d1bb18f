"""One number for a set of subscriptions, the same whatever the order of its rows.

Every name is hashed, the two hashes of a subscription are mixed, and the mixed values are added up.
Sums do not depend on order, so parts of an interest can be summed apart and put together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

_TOPIC_SALT = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def name_hashes(names: Sequence[str]) -> Hashes:
    """Two 64-bit hashes for each name, one row a name."""
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=16).digest() for name in names)
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2).astype(np.uint64)


def subscriptions_sum(node_hashes: Hashes, topic_hashes: Hashes) -> Hashes:
    """Sum of the mixed hashes of subscriptions given row by row; both arrays have shape (rows, 2)."""
    mixed: Hashes = topic_hashes ^ (topic_hashes >> np.uint64(29))
    mixed *= _TOPIC_SALT
    mixed += node_hashes
    mixed ^= mixed >> np.uint64(30)
    mixed *= _MIX_1
    mixed ^= mixed >> np.uint64(27)
    mixed *= _MIX_2
    mixed ^= mixed >> np.uint64(31)
    total: Hashes = mixed.sum(axis=0, dtype=np.uint64)
    return total


def digest(total: Hashes, subscriptions: int) -> str:
    """The fingerprint as text, from the sum over all subscriptions and their number."""
    return f"{subscriptions:x}-{int(total[0]):016x}{int(total[1]):016x}"
