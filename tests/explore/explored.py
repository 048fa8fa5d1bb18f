"""What tests of the explorer look at."""

from __future__ import annotations

from pathlib import Path

from topicloom import Interest, design, synthetic
from topicloom.explore.collection import collect
from topicloom.explore.explorer import Explorer
from topicloom.report import find_files, read_results

NASTY = (
    "<script>document.title = 'broken out'</script>",
    "\" onmouseover=\"document.title = 'broken out'",
    "</script><img src=x onerror=\"document.title = 'broken out'\">",
    "שלום עולם",
    "$$x^2$$ {{ braces }} @name{safe}",
    "line\nbreak\ttab\u202eturned",
    "long " * 2000,
    "'; document.title = 'broken out'; '",
)


def write_demo(folder: Path) -> Path:
    """Subscriptions of 30 nodes and two overlays over them, one in pieces; and subscriptions by nasty names."""
    folder.mkdir()
    fleet = synthetic(30, 12, sizes="uniform", min_topics=2, max_topics=5, seed=1)
    fleet.write(folder / "subs.parquet")
    design(fleet, "gm").write(folder / "gm.parquet")
    design(fleet, "gpm", max_degree=1).write(folder / "gpm.parquet")
    nasty = Interest.from_pairs([(a, b) for i, a in enumerate(NASTY) for k, b in enumerate(NASTY) if (i + k) % 3])
    nasty.write(folder / "with nasty <b>names.parquet")
    return folder


def explorer_of(*paths: Path) -> Explorer:
    """An explorer of these files, as the command makes it."""
    found = find_files(paths)
    return Explorer(collect(read_results(found, diameters=False), found), lambda question, named: ["topicloom design"])
