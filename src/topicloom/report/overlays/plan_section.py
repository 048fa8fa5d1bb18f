"""The section of a plan: who connects to whom, and which topics go over each link."""

from __future__ import annotations

from dataclasses import dataclass

from topicloom.deploy import Plan, read_plan
from topicloom.present.html import Cell
from topicloom.present.numbers import count
from topicloom.report.networks.network_answers import network_of
from topicloom.report.networks.planned_overlay import seen_plan
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.section import Section, paragraph, table, tiles

PLAN = Form("plan", keys=("format", "target", "made", "brokers", "links", "topics"))

# How many rows the tables have at most.
_ROWS = 200


@dataclass(frozen=True, eq=False)
class ShownPlan:
    """A plan by the name of its file."""

    name: str
    plan: Plan


def read_plans(reading: Reading) -> list[ShownPlan]:
    """Read all plans."""
    return [ShownPlan(name, plan) for name, plan in reading.named(PLAN, read_plan)]


def plan_section(shown: ShownPlan) -> Section:
    """How large the plan is, what each link carries, and how each topic goes."""
    plan = shown.plan
    most = max((len(links) for links in plan.links_of.values()), default=0)
    facts = [
        ("brokers", count(len(plan.brokers))),
        ("links", count(len(plan.links))),
        ("most links of a broker", count(most)),
        ("topics", count(len(plan.routes))),
        ("topics with relays", count(sum(bool(route.relays) for route in plan.routes))),
        ("longest way (links)", count(max((route.diameter for route in plan.routes), default=0))),
    ]
    carried = sorted(plan.routes_of_link.items(), key=lambda each: (-len(each[1]), each[0]))
    links: list[list[Cell]] = [[first, second, count(len(routes))] for (first, second), routes in carried[:_ROWS]]
    longest = sorted(plan.routes, key=lambda route: (-route.diameter, route.topic))
    topics: list[list[Cell]] = [
        [
            route.topic,
            count(len(route.subscribers)),
            count(len(route.publishers)),
            count(len(route.relays)),
            count(len(route.links)),
            count(route.diameter),
            route.root,
        ]
        for route in longest[:_ROWS]
    ]
    about = f"A tree for each topic over links between {plan.target} brokers, from {shown.name}."
    return Section(
        f"Plan: {shown.name}",
        (
            paragraph(about),
            tiles(facts),
            network_of(seen_plan(plan), "Click or find a topic to see its tree."),
            table("Links", ["opened by", "to", "topics"], links, note=_first(len(links), len(plan.links))),
            table(
                "Topics",
                ["topic", "subscribers", "publishers", "relays", "links", "longest way (links)", "root"],
                topics,
                note=_first(len(topics), len(plan.routes)),
            ),
        ),
    )


def _first(shown: int, known: int) -> str:
    return f"These are the first {shown:,} of {known:,}." if shown < known else ""


KIND = Kind(
    name="plans",
    forms=(PLAN,),
    read=read_plans,
    section=plan_section,
    facts=lambda shown: shown.name,
    line=lambda shown: f"plan {shown.name}: {len(shown.plan.brokers):,} brokers, {len(shown.plan.links):,} links",
)
