"""The error for wrong input: what it knows, how it is spelt, and that it survives a process border."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from topicloom.churn.maintainer import EventRefused
from topicloom.errors import InputError, shortened
from topicloom.metrics.trees import BrokenTopic, BrokenTopicsError


def flag(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def test_the_message_begins_with_file_and_row() -> None:
    error = InputError("no name", file=Path("subs.csv"), row=7)
    assert str(error) == "subs.csv: row 7: no name"
    assert (error.problem, error.file, error.row, error.parameters) == ("no name", "subs.csv", 7, ())


@pytest.mark.parametrize(
    ("problem", "parameters", "spelt"),
    [
        ("max_edges must be 1 or more", ["max_edges"], "--max-edges must be 1 or more"),
        ("max_edges must be 1 or more", [], "max_edges must be 1 or more"),
        ("give k or max_edges, not k_2", ["max_edges", "k"], "give --k or --max-edges, not k_2"),
        ("random of random-m must be 1", ["random"], "--random of random-m must be 1"),
        ("where 'where = 1': is no condition", ["where"], "--where 'where = 1': is no condition"),
        ('where "x where": Spark\'s where is other', ["where"], '--where "x where": Spark\'s --where is other'),
    ],
)
def test_only_the_named_parameters_are_spelt_otherwise(problem: str, parameters: list[str], spelt: str) -> None:
    assert InputError(problem, *parameters).spelt(flag) == spelt
    assert InputError(problem, *parameters, file="k").spelt(flag) == f"k: {spelt}"


@pytest.mark.parametrize(
    "error",
    [
        InputError("k must be 1", "k", file="a.csv", row=3),
        EventRefused("no such node"),
        BrokenTopicsError("1 topic is in pieces", (BrokenTopic("t", (("a",), ("b",))),)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_keep_their_fields_between_processes(error: InputError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
    assert again.spelt(flag) == error.spelt(flag)


def test_long_values_are_cut() -> None:
    assert (
        str(InputError(f"unknown '{'x' * 500}'; give 'a'", file="y" * 90))
        == f"{'y' * 90}: unknown '{'x' * 80}…'; give 'a'"
    )
    assert (
        str(InputError(f"{'9' * 5000} is too much, and {'z' * 100} is not"))
        == f"{'9' * 80}… is too much, and {'z' * 100} is not"
    )
    assert str(InputError("host 'amqp://user:secret@oslo/x' is no name")) == "host 'amqp://…@oslo/x' is no name"
    assert shortened(shortened(f"'{'x' * 500}'")) == shortened(f"'{'x' * 500}'")
