"""One page to look at, from the files that other commands wrote.

- `page`: finding files, what a kind of result is, what sections are made of, and the page itself.
- `overlays`: sections about fleets and their overlays. `runs`: about profiles, sweeps, traces and reproductions.
- `content`: about content-based networks. `networks`: networks to point at, which the explorer shares.

A further kind of result is a module with a `KIND`, a line in `page.kinds` and a field in `page.results`.
"""

from topicloom.report.page.found_files import find_files
from topicloom.report.page.kind import Aside, Found
from topicloom.report.page.kinds import KINDS
from topicloom.report.page.page import page_html, write_page
from topicloom.report.page.results import Results, nothing_read, read_results

__all__ = [
    "KINDS",
    "Aside",
    "Found",
    "Results",
    "find_files",
    "nothing_read",
    "page_html",
    "read_results",
    "write_page",
]
