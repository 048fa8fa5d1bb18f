"""What a page shows, taken from its Markdown: files, commands with what they print, Python.

| on the page | means |
|---|---|
| a block with `title="NAME"` | a file NAME with this content |
| a `console` block | after each `$ ` a command, then what it prints; `...` stands for anything |
| a `python` block | code that runs |
| a `pycon` block | code after `>>> `, then what it gives |
| `<!-- not run: REASON -->` | the next block is not run, only looked at |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"console", "python", "pycon", "toml", "csv", "json", "text", "conf"}

_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
_TITLE = re.compile(r'title="(.+?)"')


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    where: str
    language: str
    content: str
    file: str | None
    not_run: str | None


@dataclass(frozen=True)
class Command:
    """A command of a console block, and what the page says it prints."""

    where: str
    line: str
    prints: str

    @property
    def of_ours(self) -> str | None:
        """Which of our commands it is, if it is one."""
        words = re.sub(r"^(\w+=\S* )*", "", self.line).split()
        if words[0] != "topicloom":
            return None
        return " ".join(words[1:3]) if words[1] in ("content", "spark") else words[1]


@cache
def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    not_run = None
    for token in MarkdownIt("commonmark").disable("inline").parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            assert token.map is not None
            where = f"{page.relative_to(ROOT)}:{token.map[0] + 1}"
            language, _, attributes = token.info.partition(" ")
            title = _TITLE.search(attributes)
            found.append(Block(where, language, token.content, title and title[1], not_run))
        reason = _NOT_RUN.match(token.content) if token.type == "html_block" else None
        not_run = reason and reason[1]
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block; a line that ends in a backslash goes on in the next."""
    parts = re.split(r"^\$ ", block.content, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{block.where}: a console block begins with a command"
    found = []
    for part in parts[1:]:
        line, _, prints = re.sub(r"\\\n\s*", "", part).partition("\n")
        found.append(Command(block.where, line, prints))
    return found
