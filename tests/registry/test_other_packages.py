"""Designers that other packages bring along: the worked example of the docs, and packages that are broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from other_package import install, install_example
from topicloom import DESIGNERS, Interest, design, measure
from topicloom.designers import Designer
from topicloom.errors import InputError
from topicloom.registry import Algorithm, Parameter, Registry

INTEREST = Interest.from_pairs([(node, topic) for topic in "xy" for node in "abcde"])
LINE = "designer '{}' of the package other-overlays 1.0 cannot be used: {}"

Install = Callable[..., Registry[Designer]]


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Designers of ours and those of a package `other-overlays`, whose module holds this code."""
    assert "chains" not in DESIGNERS  # which has looked at other packages now, so that none of these stays
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(code: str | None = "", **points: str) -> Registry[Designer]:
        if points:
            install(tmp_path, "other-overlays", f"other_{tmp_path.name}", code, points)
        return Registry(Designer, (DESIGNERS[name] for name in ("gm", "low-oda")), "topicloom.designers")

    return make


def designer(name: str, parameters: str = "") -> str:
    """Code of a designer that gives no links."""
    return (
        "from topicloom.designers import Designer, Parameter\n"
        f"DESIGNER = Designer(name={name!r}, paper='p', rule='r', guarantee='g', build=None, "
        f"parameters=({parameters}))\n"
    )


def test_the_example_of_the_docs(tmp_path: Path, registry: Install) -> None:
    install_example(tmp_path)
    found = registry()
    assert list(found) == ["gm", "low-oda", "chains"]
    assert found.prepare("chains", 0, {}).parameters == {"reach": 1}
    with pytest.raises(InputError, match=r"^reach of chains must be a whole number, 1 or more, not 0$"):
        found.prepare("chains", 0, {"reach": 0})


def test_what_the_example_designs(tmp_path: Path, registry: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install_example(tmp_path)
    monkeypatch.setitem(DESIGNERS._own, "chains", registry()["chains"])
    overlay = design(INTEREST, "chains", reach=2)
    assert [f"{source}{target}" for source, target in overlay.to_pandas()[["source", "target"]].to_numpy()] == [
        *("ab", "ac", "bc", "bd", "cd", "ce", "de")
    ]
    assert overlay.provenance is not None
    assert (overlay.provenance.algorithm, dict(overlay.provenance.parameters)) == ("chains", {"reach": 2})
    assert measure(INTEREST, overlay).topic_connected


@pytest.mark.parametrize(
    ("code", "name", "reason"),
    [
        (None, "theirs", "ModuleNotFoundError: No module named 'MODULE'"),
        ("import nothing_like_it\n", "theirs", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("raise ValueError('two\\nlines')\n", "theirs", "ValueError: two lines"),
        ("other = 1\n", "theirs", "AttributeError: module 'MODULE' has no attribute 'DESIGNER'"),
        ("DESIGNER = 3\n", "theirs", "MODULE:DESIGNER is no Designer"),
        (designer("mine"), "theirs", "MODULE:DESIGNER calls itself 'mine'"),
        (designer("gm"), "gm", "topicloom itself has a designer of that name"),
        (designer("theirs", "Parameter('seed', int, 'm'),"), "theirs", "no parameter can be called 'seed'"),
        (designer("theirs", "Parameter('a-b', int, 'm'),"), "theirs", "no parameter can be called 'a-b'"),
        (
            designer("theirs", "Parameter('k', int, 'm'),"),
            "theirs",
            "its parameter 'k' is no float, as that of low-oda is",
        ),
    ],
)
def test_one_that_cannot_be_used_is_told_and_left_out(
    tmp_path: Path, registry: Install, caplog: pytest.LogCaptureFixture, code: str | None, name: str, reason: str
) -> None:
    module = f"other_{tmp_path.name}"
    found = registry(code, **{name: f"{module}:DESIGNER"})
    line = LINE.format(name, reason.replace("MODULE", module))
    assert found.find("gm") is DESIGNERS["gm"]
    assert caplog.messages == [], "ours are found without looking at other packages"
    assert list(found) == ["gm", "low-oda"]
    assert list(found) == ["gm", "low-oda"]
    assert caplog.messages == [f"topicloom: {line}"]
    if name != "gm":
        with pytest.raises(InputError) as caught:
            found.find(name)
        assert str(caught.value) == line


def test_two_packages_cannot_share_a_name(tmp_path: Path, registry: Install, caplog: pytest.LogCaptureFixture) -> None:
    install_example(tmp_path)
    found = registry(designer("chains"), chains=f"other_{tmp_path.name}:DESIGNER")
    assert found["chains"].rule != "r"
    assert caplog.messages == [f"topicloom: {LINE.format('chains', 'another package has a designer of that name')}"]


def test_a_registry_without_a_group_looks_nowhere() -> None:
    found = Registry(Algorithm, [Algorithm(name="a", paper="p", rule="r", parameters=(Parameter("n", int, "m"),))])
    assert list(found) == ["a"]
    with pytest.raises(InputError, match=r"^unknown algorithm 'b'; known are a$"):
        found.find("b")
