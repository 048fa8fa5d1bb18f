"""One page to look at, from the files that other commands wrote.

- `files`: which of the given files and folders hold what, by their columns.
- `results`: what is in them, read and measured.
- `fleet`, `design`, `comparison`, `trace`: the section of each kind of result.
- `curves`: lines over links and events, thinned to what a page can show.
- `sizes`: how many things have which size.
- `carriers`: the nodes that carry most.
- `section`: what a section is made of: text, tables, figures.
- `page`: sections put together into one HTML file that needs nothing else; its look and its script lie beside it.

A further kind of result takes three things: its columns in `files`, its reading in `results`, and a module that makes
its section, named in `page`.
"""

from topicloom.report.files import Aside, Found, find_files
from topicloom.report.page import page_html, write_page
from topicloom.report.results import Results, read_results

__all__ = ["Aside", "Found", "Results", "find_files", "page_html", "read_results", "write_page"]
