"""What algorithms take: one check for all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from topicloom.errors import InputError
from topicloom.registry import SEED, Algorithm, Parameter

WHOLE = Parameter("n", int, "a number")
RATIO = Parameter("r", float, "a ratio", minimum=0, exclusive=True)
SHARE = Parameter("s", float, "a share", minimum=0, maximum=1)
BETWEEN = Parameter("b", float, "a share", minimum=0, maximum=1, exclusive=True)
FLAG = Parameter("f", bool, "a flag", False)
WORD = Parameter("w", str, "a word", "red", choices=("red", "green", "blue"))
FREE = Parameter("t", str, "any word")


@pytest.mark.parametrize(
    ("parameter", "given", "expected"),
    [
        (WHOLE, 1, 1),
        (WHOLE, 2.0, 2),
        (WHOLE, np.int64(7), 7),
        (WHOLE, 10**400, 10**400),
        (RATIO, 1, 1.0),
        (RATIO, np.float32(0.5), 0.5),
        (SHARE, 0, 0.0),
        (SHARE, 1, 1.0),
        (BETWEEN, 0.5, 0.5),
        (FLAG, np.True_, True),
        (WORD, "blue", "blue"),
        (FREE, "anything", "anything"),
        (SEED, 0, 0),
    ],
)
def test_values_that_are_taken(parameter: Parameter, given: Any, expected: Any) -> None:
    checked = parameter.checked(given)
    assert checked == expected
    assert type(checked) is parameter.kind


@pytest.mark.parametrize(
    ("parameter", "given", "message"),
    [
        (WHOLE, 0, "n must be a whole number, 1 or more, not 0"),
        (WHOLE, 1.5, "n must be a whole number, 1 or more, not 1.5"),
        (WHOLE, True, "n must be a whole number, 1 or more, not True"),
        (WHOLE, "1", "n must be a whole number, 1 or more, not '1'"),
        (WHOLE, math.inf, "n must be a whole number, 1 or more, not inf"),
        (RATIO, 0, "r must be a number above 0, not 0"),
        (RATIO, math.nan, "r must be a number above 0, not nan"),
        (SHARE, 1.1, "s must be a number from 0 to 1, not 1.1"),
        (SHARE, -1, "s must be a number from 0 to 1, not -1"),
        (BETWEEN, 1, "b must be a number above 0 and below 1, not 1"),
        (FLAG, 1, "f must be True or False, not 1"),
        (WORD, "pink", "w must be red, green or blue, not 'pink'"),
        (FREE, 3, "t must be a word, not 3"),
        (SEED, -1, "seed must be a whole number, 0 or more, not -1"),
    ],
)
def test_values_that_are_refused(parameter: Parameter, given: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parameter.checked(given)
    assert str(caught.value) == message
    assert caught.value.parameters == (parameter.name,)
    with pytest.raises(InputError, match=f"^{parameter.name} of mine must be"):
        parameter.checked(given, "mine")


MINE = Algorithm(
    name="mine",
    paper="ours",
    rule="none",
    parameters=(WHOLE, Parameter("m", int, "another", optional=True), FLAG, WORD),
)


def test_defaults_are_filled_in_and_optional_ones_left_out() -> None:
    assert MINE.checked({"n": 3}) == {"n": 3, "f": False, "w": "red"}
    assert MINE.checked({"n": 3, "m": None, "f": True}) == {"n": 3, "f": True, "w": "red"}
    assert [parameter.required for parameter in MINE.parameters] == [True, False, False, False]


def test_what_is_missing_or_not_taken_is_named() -> None:
    with pytest.raises(InputError) as caught:
        MINE.checked({})
    assert (str(caught.value), caught.value.parameters) == ("mine needs n, a number", ("n",))
    with pytest.raises(InputError) as caught:
        MINE.checked({"n": 1, "colour": 2})
    assert str(caught.value) == "mine does not take colour; it takes n, m, f, w"
    assert caught.value.spelt(str.upper) == "mine does not take COLOUR; it takes N, M, F, W"


def test_what_is_given_to_several_algorithms_is_shared_out() -> None:
    assert MINE.own({"n": 1, "k": 2, "m": 3}) == {"n": 1, "m": 3}
