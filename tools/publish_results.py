"""Put what a full reproduction wrote into docs/: results.md with its pictures, and claims.json.

What there is to say about it is written by hand in docs/results/remarks.md, and becomes a part of results.md.

topicloom reproduce all --out full --data ../shared/data
python tools/publish_results.py full
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
PICTURES = "results"


def machine() -> str:
    """What this runs on, in a sentence."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pyspark"))
    return (
        f"Made on a machine with {os.cpu_count()} cores ({processor[1] if processor else platform.machine()}) and "
        f"{memory:.0f} GB of memory, Python {platform.python_version()}, {libraries}, topicloom {version('topicloom')}."
    )


def publish(folder: Path) -> None:
    """Replace the results in docs/ by those of a folder."""
    figures = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))
    if figures["quick"]:
        sys.exit(f"{folder}: is a quick reproduction; docs/ hold a full one")
    pictures = DOCS / PICTURES
    for old in pictures.glob("*.svg"):
        old.unlink()
    for figure in figures["figures"]:
        shutil.copyfile(folder / figure["picture"], pictures / figure["picture"])
    shutil.copyfile(folder / "claims.json", DOCS / "claims.json")
    remarks = (pictures / "remarks.md").read_text(encoding="utf-8").strip()
    page = (folder / "results.md").read_text(encoding="utf-8").replace("](", f"]({PICTURES}/")
    page = page.replace("\n## Claims", f"\n{machine()}\n\n{remarks}\n\n## Claims", 1)
    (DOCS / "results.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    publish(Path(sys.argv[1]))
