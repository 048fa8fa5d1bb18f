"""What tests of pages share: a folder of results, and names that try to break out."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from topicloom import Interest, Overlay, design, synthetic
from topicloom.churn.trace import SCHEMA
from topicloom.views.page import find_files, page_html, read_results

NASTY = (
    "<script>document.title = 'broken out'</script>",
    "\" onmouseover=\"document.title = 'broken out'",
    "'; document.title = 'broken out'; '",
    "</svg></figure></main><img src=x onerror=\"document.title = 'broken out'\">",
    "$x^{2}$ & <b>bold</b> 100% \\alpha",
    "line\nbreak\ttab\u202eturned",
    "broker 🚀 Göteborg 東京",
    "long " * 60,
    "{braces} {0} %s",
    "=cmd|' /C calc'!A0",
)
# Of pages that have another title than usual.
TITLES = {"nasty": NASTY[0]}


def nasty_interest() -> Interest:
    """Nodes and topics by nasty names, each node wanting half of the topics."""
    return Interest.from_pairs([(a, b) for i, a in enumerate(NASTY) for k, b in enumerate(NASTY) if (i + k) % 2])


def write_trace(path: Path, events: int, *, node: str = "b1", refused: int = 0, support: float = 1.0) -> Path:
    """A trace with made-up numbers, the last events refused."""
    rows = [
        {
            "event": number,
            "kind": ("join", "leave", "change")[number % 3],
            "node": node,
            "error": f"leave of '{node}', which is not there" if number > events - refused else None,
            "seconds": 0.001 * (1 + number % 7),
            "upkeep_seconds": 0.0,
            "links_added": number % 4,
            "links_removed": number % 3,
            "repair_ratio": 0.01 * (number % 5),
            "shadow": number % 9,
            "nodes": 40,
            "links": 60 + number % 4,
            "average_degree": 3.0,
            "max_degree": 9,
            "support": support,
        }
        for number in range(1, events + 1)
    ]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    return path


def write_results(folder: Path) -> Path:
    """A folder with two fleets, three overlays over the first and one over the second, and a trace."""
    folder.mkdir()
    first = synthetic(30, 12, sizes="uniform", min_topics=2, max_topics=5, seed=1)
    first.write(folder / "subs.parquet")
    design(first, "gm").write(folder / "gm.parquet")
    design(first, "ring-per-topic").write(folder / "rings.parquet")
    design(first, "gpm", max_degree=1).write(folder / "gpm.parquet")
    second = synthetic(90, 20, sizes="uniform", min_topics=2, max_topics=5, seed=2)
    second.write(folder / "large.parquet")
    design(second, "minmax-oda").write(folder / "minmax.parquet")
    write_trace(folder / "trace.parquet", 400, refused=3)
    return folder


def write_nasty(folder: Path) -> Path:
    """A folder in which all names are nasty, those of the files too."""
    folder.mkdir()
    interest = nasty_interest()
    interest.write(folder / "<b>subs<b>.parquet")
    design(interest, "gm").write(folder / "<script>alert(1)<!--.parquet")
    design(interest, "gpm", max_degree=1).write(folder / "$a$ & 'b'.parquet")
    Overlay.from_links(interest, []).write(folder / "_none.parquet")
    write_trace(folder / "trace & <i>.parquet", 5, node=NASTY[0], refused=2)
    return folder


def page_of(*paths: Path, title: str = "Topicloom report") -> str:
    """The page of these files and folders."""
    return page_html(read_results(find_files(paths)), title=title)


def without_scripts(page: str) -> str:
    """The page without what runs in it and what that reads."""
    return re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)


class Reader(HTMLParser):
    """Elements of a page: their attributes by name, ids, text, and whether they close in order."""

    VOID = ("meta", "link", "br", "img", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def count(self, tag: str) -> int:
        return sum(each == tag for each, _ in self.elements)
