"""The section of core trees, as `topicloom content cost` writes them when asked for trees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.content.core_trees import TREE_COLUMNS, read_trees
from topicloom.present.html import Cell
from topicloom.present.numbers import amount, count, mean
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.ranked import ranked_figure
from topicloom.report.page.section import Section, figure, paragraph, table, tiles

TREES = Form("trees", columns=TREE_COLUMNS)

# How many links are listed.
_ROWS = 50


@dataclass(frozen=True, eq=False)
class Trees:
    """How many trees there are, and a row for each link between brokers, the dearest first.

    Its columns: `one`, `other`, `trees` that cross it, the `rate` of what does, and their `cost`.
    """

    name: str
    trees: int
    links: pa.Table


def read_all_trees(reading: Reading) -> list[Trees]:
    """Read all tables of trees."""
    return [Trees(name, *read) for name, read in reading.named(TREES, _trees)]


def _trees(path: Path) -> tuple[int, pa.Table]:
    read = read_trees(path)
    # A link is the same in both directions.
    rows = pa.table(
        {
            "one": pc.min_element_wise(read["broker"], read["other"]),
            "other": pc.max_element_wise(read["broker"], read["other"]),
            "rate": read["rate"],
            "cost": pc.multiply(read["price"], read["rate"]),
        }
    )
    # One thread, so that sums are added up in the order of the rows and are the same every time.
    links = rows.group_by(["one", "other"], use_threads=False).aggregate(
        [("rate", "count"), ("rate", "sum"), ("cost", "sum")]
    )
    links = links.select(["one", "other", "rate_count", "rate_sum", "cost_sum"])
    links = links.rename_columns(["one", "other", "trees", "rate", "cost"])
    links = links.sort_by([("cost", "descending"), ("one", "ascending"), ("other", "ascending")])
    return read.group_by(["channel", "source"]).aggregate([]).num_rows, links


def trees_section(trees: Trees) -> Section:
    """How many trees cross each link between brokers, and what that costs."""
    links = trees.links
    crossings = int(pc.sum(links["trees"]).as_py() or 0)
    facts = [
        ("trees", count(trees.trees)),
        ("links in use", count(links.num_rows)),
        ("links of a tree, mean", mean(crossings / trees.trees if trees.trees else None)),
        ("core cost", amount(float(pc.sum(links["cost"]).as_py() or 0))),
    ]
    about = (
        f"The trees on which messages pass between brokers, one for each channel and broker at which it is published, "
        f"from {trees.name}."
    )
    blocks = [paragraph(about), tiles(facts)]
    if links.num_rows:
        blocks += [_figure(trees), _links(links)]
    return Section(f"Core trees: {trees.name}", tuple(blocks))


def _figure(trees: Trees) -> Markup:
    links = trees.links.select(["one", "other"]).to_pylist()
    drawn = ranked_figure(
        [f"{link['one']} – {link['other']}" for link in links],
        {"cost": trees.links["cost"].to_numpy().astype(np.float64)},
        things="link",
        unit="cost",
    )
    return figure(drawn, f"trees {trees.name}", "Cost of links", "What crosses a link, times its price.")


def _links(links: pa.Table) -> Markup:
    rows: list[list[Cell]] = [
        [row["one"], row["other"], count(row["trees"]), amount(row["rate"]), amount(row["cost"])]
        for row in links.slice(0, _ROWS).to_pylist()
    ]
    more = f"; these are {_ROWS} of {links.num_rows:,}" if links.num_rows > _ROWS else ""
    headers = ["broker", "other broker", "trees", "rate", "cost"]
    return table("Links between brokers", headers, rows, note=f"The dearest come first{more}.")


KIND = Kind(
    name="trees",
    forms=(TREES,),
    read=read_all_trees,
    section=trees_section,
    facts=lambda trees: trees.name,
    line=lambda trees: f"core trees {trees.name}",
)
