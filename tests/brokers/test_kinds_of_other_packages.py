"""A kind of broker that another package brings along: the worked example of the docs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from other_package import BROKER_KINDS, install, install_example
from topicloom import InputError
from topicloom.brokers import Broker
from topicloom.brokers.kind import BrokerKind, SourceForm
from topicloom.brokers.rows import BrokerRows
from topicloom.model.filters import MQTT
from topicloom.model.fleet import Delivery, Source


def topicloom(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder whose packages count as installed."""
    return subprocess.run(
        [sys.executable, "-m", "topicloom", *command.split()],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_of_the_docs(tmp_path: Path) -> None:
    install_example(tmp_path, BROKER_KINDS)
    (tmp_path / "subs.csv").write_text("node,topic\noslo,a\nrome,a\n")
    (tmp_path / "fleet.toml").write_text(
        '[brokers.oslo]\nhost = "oslo.example"\n[brokers.rome]\nhost = "rome.example"\nkind = "hivemq"\n'
    )
    (tmp_path / "links.csv").write_text("source,target\nrome,oslo\n")
    for command in (
        "plan subs.csv links.csv --fleet fleet.toml --out plan.json --quiet",
        "render plan.json --out conf --quiet",
    ):
        ended = topicloom(tmp_path, command)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert not (tmp_path / "conf" / "rome.conf").exists()
    assert "address rome.example:1883" in (tmp_path / "conf" / "oslo.conf").read_text()


PASSIVE = {
    "name": "made",
    "title": "Made",
    "ports": (1, 2),
    "name_problem": lambda _self, _name: None,
}


def nothing(*_: object) -> None:
    """Stand for a method."""


@pytest.mark.parametrize(
    ("promised", "line"),
    [
        ({"ending": ".x"}, "Made has ending, but does not define render, parse and fingerprints"),
        ({"ending": ".x", "render": nothing, "parse": nothing}, "Made has ending, but does not define fingerprints"),
        ({"lints": True}, "Made has lints, but does not define parse"),
        ({"sources": {"log": SourceForm(MQTT)}}, "Made has sources, but does not define collect"),
        ({"ways": {"made": ((), ())}}, "Made has ways, but does not define driver"),
    ],
)
def test_a_kind_defines_what_it_promises(promised: dict[str, object], line: str) -> None:
    with pytest.raises(TypeError, match=f"^{line}$"):
        type("Made", (BrokerKind,), PASSIVE | promised)


def test_a_promise_may_be_kept_by_a_base() -> None:
    methods = dict.fromkeys(("render", "parse", "fingerprints"), nothing)
    base = type("Base", (BrokerKind,), PASSIVE | methods)
    assert type("Made", (base,), {"ending": ".x"})().name == "made"


def test_a_passive_kind_refuses_in_a_line_what_it_does_not_do() -> None:
    kind = type("Made", (BrokerKind,), PASSIVE)()
    broker, source = Broker("a", "a.example"), Source("log", ("x",))
    for refused, line in (
        (lambda: kind.render(None, "a", nothing), "brokers of the kind made have no configuration to write"),
        (lambda: kind.parse("a", "", "a"), "brokers of the kind made have no configuration to read"),
        (lambda: kind.collect(source, "a", BrokerRows(()), 0), "brokers of the kind made do not tell who subscribes"),
        (lambda: kind.driver(broker, Delivery("made")), "brokers of the kind made have no delivery of their own"),
    ):
        with pytest.raises(InputError, match=f"^{line}$"):
            refused()


def test_a_kind_that_breaks_its_promise_is_refused_in_a_line(tmp_path: Path) -> None:
    code = (
        "from topicloom.brokers.kind import BrokerKind\n\n"
        "class Half(BrokerKind):\n    name, title, ports, ending = 'half', 'Half', (1, 2), '.half'\n"
    )
    install(tmp_path, "half-kind", "half_kind", code, {"half": "half_kind:Half"}, BROKER_KINDS)
    (tmp_path / "subs.csv").write_text("node,topic\noslo,a\n")
    (tmp_path / "fleet.toml").write_text('[brokers.oslo]\nhost = "oslo.example"\nkind = "half"\n')
    ended = topicloom(tmp_path, "plan subs.csv --fleet fleet.toml --out plan.json")
    assert ended.returncode == 2
    why = "TypeError: Half has ending, but does not define render, parse and fingerprints"
    assert f"kind 'half' of the package half-kind 1.0 cannot be used: {why}" in ended.stderr
    assert "Traceback" not in ended.stderr
