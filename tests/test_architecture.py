"""Import directions, light import, public names and docstrings."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import topicloom

ROOT = Path(topicloom.__file__).parent

# What each room may import of ours besides itself, from the ground up.
MAY_IMPORT: dict[str, set[str]] = {
    "io": set(),
    "kernels": {"io"},
    "model": {"io", "kernels"},
    "registry": set(),
    "metrics": {"io", "model", "kernels", "registry"},
    "designers": {"model", "kernels", "registry", "metrics"},
    "churn": {"io", "model", "kernels", "registry", "metrics", "designers"},
    "content": {"io", "model", "kernels", "registry"},
    "workloads": {"io", "model", "content"},
    "brokers": {"io", "model", "kernels", "registry", "metrics", "designers", "churn"},
}
# The upper rooms may import all that lie below them.
for upper in ("spark", "experiments", "views", "cli"):
    MAY_IMPORT[upper] = set(MAY_IMPORT)
# Modules of views that lower rooms still import, until what they show has moved to views.
SHOWN_BELOW = {
    "model": {"figures", "html", "numbers", "overlay_picture"},
    "metrics": {"figures", "html", "numbers"},
    "content": {"curves", "drawing", "figures", "html", "interactive", "network", "numbers", "section"},
    "brokers": {"html", "numbers", "web_reply"},
    "spark": {"figures"},
    "experiments": {"figures", "numbers"},
}
FOR_EVERYBODY = {"_version", "errors"}

# Libraries that only these packages may import.
ONLY_IN = {
    "pyspark": {"spark"},
    "numba": {"kernels", "content"},
    "click": {"cli"},
    "typer": {"cli"},
    "rich": {"cli", "views"},
    "tornado": {"views"},
}

NAMES = (
    *("gm", "minmax-oda", "low-oda", "gpa", "gpm", "cd-oda", "cd-oda-1", "cd-oda-2", "ring-per-topic"),
    *("spidercast", "spidercast-m", "random-a", "random-m", "gm-fold", "exact", "backbone", "tree", "search"),
)

MODULES = sorted(ROOT.rglob("*.py"))


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file: Path) -> Iterator[str]:
    """Full names of what a module imports, in functions too."""
    for statement in ast.walk(parsed(file)):
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, f"{file}: a relative import"
            assert statement.module is not None
            yield from (f"{statement.module}.{name.name}" for name in statement.names)


def package_of(file: Path) -> str:
    """The package that a module is in; its own name where it lies beside them."""
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def test_imports_point_one_way() -> None:
    for file in MODULES:
        package = package_of(file)
        if package in ("__init__", "__main__"):
            continue
        for name in imports(file):
            top, *rest = name.split(".")
            if top == "topicloom":
                assert rest, f"{file} imports the whole of topicloom, which imports {package}"
                allowed = {package} | MAY_IMPORT.get(package, set()) | FOR_EVERYBODY
                if rest[0] == "views" and rest[1] in SHOWN_BELOW.get(package, set()):
                    continue
                assert rest[0] in allowed, f"{file}: {package} may not import {name}"
            assert package in ONLY_IN.get(top, {package}), f"{file}: only {ONLY_IN.get(top)} may import {top}"
            if top == "rich" and package == "views":
                assert file.name == "terminal.py", f"{file}: of views only the terminal may import rich"


def test_every_package_has_its_place() -> None:
    present = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert present <= set(MAY_IMPORT)


def test_the_order_has_no_circle() -> None:
    order = list(MAY_IMPORT)
    for package, allowed in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(package) for other in allowed), package


def test_nobody_imports_the_command_line() -> None:
    for file in MODULES:
        if package_of(file) not in ("cli", "__main__"):
            assert not [name for name in imports(file) if name.startswith("topicloom.cli")], file


def test_importing_topicloom_is_light() -> None:
    """Packages are there after it, and load what they need only then."""
    heavy = (
        "pyspark",
        "click",
        "typer",
        "rich",
        "pandas",
        "networkx",
        "jinja2",
        "pydantic",
        "bokeh",
        "igraph",
        "tornado",
    )
    used = "; ".join(f"topicloom.{name}" for name in ("brokers", "churn", "content", "spark"))
    code = (
        f"import sys, topicloom; print([name for name in {heavy!r} if name in sys.modules]); "
        f"{used}; print('pyspark' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\nFalse\n"


def test_what_is_listed_is_what_is_for_users() -> None:
    listed = dir(topicloom)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"cli", "io", "registry"}
    assert set(listed) == {*topicloom.__all__, *packages}
    assert all(getattr(topicloom, name) is not None for name in listed)


def test_public_names_exist_and_are_documented() -> None:
    assert sorted(topicloom.__all__) == sorted(set(topicloom.__all__))
    for name in topicloom.__all__:
        value = getattr(topicloom, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), f"{name} has no docstring"


def test_modules_say_what_they_are() -> None:
    assert [file for file in MODULES if not (ast.get_docstring(parsed(file)) or "").strip()] == []


# Literals outside the command line that may name a flag, and why.
FLAGS = {
    "--pdeathsig": "an option of setpriv, which runs brokers",
    "topicloom content cost NETWORK ASSIGNMENT --json > cost.json": "a page tells the command that makes its file",
}


def test_only_the_command_line_names_its_flags() -> None:
    """Whoever calls the library from Python gives parameters, not flags; the command line spells them as flags."""
    for file in MODULES:
        if package_of(file) == "cli":
            continue
        for literal in ast.walk(parsed(file)):
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                flags = re.findall(r"(?<![\w-])--[a-z][\w-]*", literal.value)
                allowed = any(known in literal.value for known in FLAGS)
                assert allowed or not flags, f"{file}, line {literal.lineno}, names {', '.join(flags)}"


def test_the_registry_has_the_designers_of_the_papers() -> None:
    assert tuple(topicloom.DESIGNERS) == NAMES
    for name, designer in topicloom.DESIGNERS.items():
        assert designer.name == name
        assert designer.paper
        assert designer.rule
        assert designer.guarantee
