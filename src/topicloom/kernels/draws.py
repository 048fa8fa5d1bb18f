"""Random numbers of one generator, drawn inside kernels: SplitMix64, whose state is one word.

Numbers that must not depend on the order in which they are asked for are hashes of what they are for.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import inlined

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
# Makes a fraction of the upper 53 bits of a word.
_FRACTION = 2.0**-53


@inlined()
def mixed(z):
    """A word with its bits mixed: the end of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@inlined()
def draw(state):
    """The next word of the generator."""
    state[0] += _STEP
    return mixed(state[0])


@inlined()
def below(word, count):
    """A number from 0 to count - 1, from the upper half of a random word; `count` is below 2^31."""
    return np.int64(((word >> _HALF) * np.uint64(count)) >> _HALF)


@inlined()
def fraction(word):
    """A number above 0 and at most 1, from a random word."""
    return (np.float64(word >> np.uint64(11)) + 1.0) * _FRACTION


@inlined()
def hash_of(salt, a, b):
    """A hash of two numbers, in this order, under a salt."""
    return mixed(mixed(salt ^ (np.uint64(a) * _STEP)) ^ (np.uint64(b) * _SECOND))
