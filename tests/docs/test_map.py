"""docs/architecture.md names files, functions and algorithms that there are, and all algorithms that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest
from shown import ROOT

from test_architecture import MAY_IMPORT
from topicloom.churn import BACKUPS, METHODS
from topicloom.content import ALGORITHMS
from topicloom.designers import DESIGNERS

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCES = ROOT / "src" / "topicloom"
PLACES = (SOURCES, ROOT, ROOT / "tests" / "reference")

# `folder/file.py`, `file.py:name` or `folder/`, in backticks.
NAMED = sorted(set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.py(?::[\w.]+)?|(?:[\w-]+/)+)`", PAGE)))


def section(title: str) -> str:
    return re.split(r"^#{2,3} ", PAGE.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(title: str) -> list[list[str]]:
    """The rows of a section's table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name
            yield from definitions(node, f"{prefix}{node.name}.")


@pytest.mark.parametrize("named", NAMED)
def test_what_is_named_is_there(named: str) -> None:
    path, _, name = named.partition(":")
    found = [place / path for place in PLACES if (place / path).exists()]
    assert found, f"there is no {path}"
    if name:
        assert name in set(definitions(ast.parse(found[0].read_text(encoding="utf-8")))), f"no {name} in {path}"


def test_floors_are_those_that_are_guarded() -> None:
    floors = {row[0].strip("`"): row[2] for row in rows("Floors")}
    assert list(floors) == list(MAY_IMPORT)
    for package, imports in floors.items():
        above = set(list(MAY_IMPORT)[: list(MAY_IMPORT).index(package)])
        assert (above if imports == "all above" else set(re.findall(r"`(\w+)`", imports))) == MAY_IMPORT[package], (
            package
        )


def test_every_algorithm_is_in_its_table() -> None:
    functions: dict[str, dict[str, Any]] = {
        "Designers": {name: designer.build for name, designer in DESIGNERS.items()},
        "Assignment of users to brokers": {name: algorithm.assign for name, algorithm in ALGORITHMS.items()},
    }
    for title, known in functions.items():
        table = {row[0].strip("`"): row[1].strip("`") for row in rows(title)}
        assert set(table) == set(known)
        for name, file in table.items():
            # Variants of one rule share its function.
            source = known[name].__code__.co_filename
            assert file.rpartition("/")[0] in source, f"{name} is in {source}"
    maintainers = " ".join(row[0] for row in rows("Maintainers"))
    assert {*METHODS, *BACKUPS} == set(re.findall(r"`([\w-]+)`", maintainers))


def test_the_way_of_a_line_is_counted() -> None:
    way = section("From a line of a log to a bridge")
    functions = set(re.findall(r"`([\w/]+\.py):([\w.]+)`", way))
    files = {file for file, _ in functions}
    assert f"{len(functions)} functions in {len(files)} files" in way
