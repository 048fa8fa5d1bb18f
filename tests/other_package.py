"""Packages with designers or kinds of brokers as an installer leaves them behind, without an installer."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


DESIGNERS = "topicloom.designers"
BROKER_KINDS = "topicloom.broker_kinds"


def install(
    folder: Path, name: str, module: str, code: str | None, points: dict[str, str], group: str = DESIGNERS
) -> None:
    """What an installer leaves behind: the module, and a folder with the package's name and entry points."""
    if code is not None:
        (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = "".join(f"{key} = {value}\n" for key, value in points.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}", encoding="utf-8")


def install_example(folder: Path, group: str = DESIGNERS) -> None:
    """The package of docs/extending.md with entry points of a group."""
    page = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
    projects, codes = (
        re.findall(rf'```{kind} title="[^\n]*\n(.*?)```', page, re.DOTALL) for kind in ("toml", "python")
    )
    for project, code in zip(projects, codes, strict=True):
        described = tomllib.loads(project)["project"]
        points = described["entry-points"].get(group)
        if points is not None:
            (module,) = {value.split(":")[0] for value in points.values()}
            install(folder, described["name"], module, code, points, group)
