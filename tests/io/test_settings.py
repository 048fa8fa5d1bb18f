"""Settings from tables: what is right, and errors of one line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from topicloom import InputError
from topicloom.io.settings import Amount, Count, checked


@dataclass(frozen=True)
class Limits:
    seconds: Amount = 1.0
    tries: Count = 3


@dataclass(frozen=True)
class Table:
    name: str
    limits: Limits = Limits()
    paths: tuple[str, ...] = field(default=())


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


def test_a_table() -> None:
    table = {"name": "a", "limits": {"seconds": 2, "tries": 0}, "paths": ["x", "y"], "more": 1}
    assert checked(table, Table, "f") == Table("a", Limits(2.0, 0), ("x", "y"))


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({}, "has no 'name'"),
        ({"name": 3}, "'name' is 3; it should be text"),
        ({"name": date(2026, 1, 2), "limits": 1}, "'limits' is 1; it should be an object"),
        ({"name": "a", "limits": {"tries": -1}}, "'limits': 'tries' is -1; it should be at least 0"),
        ({"name": "a", "limits": {"tries": 1.5}}, "'limits': 'tries' is 1.5; it should be a whole number"),
        ({"name": "a", "limits": {"seconds": float("inf")}}, "'limits': 'seconds' is Infinity; it should be a finite"),
        ({"name": "a", "paths": ["x", 2]}, "'paths', number 2 is 2; it should be text"),
        ({"name": "a", "paths": "x"}, "'paths' is \"x\"; it should be a list"),
    ],
)
def test_what_is_wrong(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(table, Table, "fleet.toml")
    assert str(refused.value).startswith(f"fleet.toml: {problem}")


def test_unknown_keys_of_a_model_that_forbids_them() -> None:
    with pytest.raises(InputError, match=r"^f: unknown key 'nam'$"):
        checked({"name": "a", "nam": 1}, Strict, "f")
