"""A kind of broker that another package brings along: the worked example of the docs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from other_package import BROKER_KINDS, install_example


def test_the_example_of_the_docs(tmp_path: Path) -> None:
    install_example(tmp_path, BROKER_KINDS)
    (tmp_path / "subs.csv").write_text("node,topic\noslo,a\nrome,a\n")
    (tmp_path / "fleet.toml").write_text(
        '[brokers.oslo]\nhost = "oslo.example"\n[brokers.rome]\nhost = "rome.example"\nkind = "hivemq"\n'
    )
    (tmp_path / "links.csv").write_text("source,target\nrome,oslo\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    for command in (
        "plan subs.csv links.csv --fleet fleet.toml --out plan.json --quiet",
        "render plan.json --out conf --quiet",
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "topicloom", *command.split()],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
    assert not (tmp_path / "conf" / "rome.conf").exists()
    assert "address rome.example:1883" in (tmp_path / "conf" / "oslo.conf").read_text()
