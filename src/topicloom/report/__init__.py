"""One page to look at, from the files that other commands wrote.

- `files`: which of the given files and folders hold what. `json_files`: reading JSON.
- `kind`: what a kind of result is. `kinds`: all of them. `results`: all results of a page, read and measured.
- `fleet_files`: subscriptions and overlays. `fleet`, `design`, `comparison`: their sections.
- `trace_file`, `trace`: churn. `topics`: measures of topics. `profile`: profiles, with `svg_files` for their pictures.
- `sweep_file`, `sweep`, `sweep_pictures`: results of sweeps.
- `content_network_files`, `content_network`: content-based networks and assignments. `content_cost_files`,
  `content_cost`: what these cost. `content_trees`: the trees between brokers.
- `reproduction_files`, `reproduction`: the papers' figures and claims.
- `topic_measures`: the worst topics and their diameters. `ranked`: values of things, the largest first.
- `curves`: lines over links and events, thinned to what a page can show.
- `sizes`: how many things have which size.
- `carriers`: the nodes that carry most.
- `section`: what a section is made of: text, tables, figures.
- `page`: sections put together into one HTML file that needs nothing else; its look and its script lie beside it.

A further kind of result is a module with a `KIND`, a line in `kinds` and a field in `Results`.
"""

from topicloom.report.files import find_files
from topicloom.report.kind import Aside, Found
from topicloom.report.kinds import KINDS
from topicloom.report.page import page_html, write_page
from topicloom.report.results import Results, read_results

__all__ = ["KINDS", "Aside", "Found", "Results", "find_files", "page_html", "read_results", "write_page"]
