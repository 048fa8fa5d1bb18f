"""All kinds of results, in the order of the page."""

from __future__ import annotations

from topicloom.report.content import cost_section, network_section, trees_section
from topicloom.report.overlays import fleet_section, plan_section, topics_section
from topicloom.report.page.kind import Form, Kind
from topicloom.report.runs import profile_section, reproduction_section, sweep_section, trace_section

KINDS: tuple[Kind, ...] = (
    reproduction_section.KIND,
    fleet_section.KIND,
    plan_section.KIND,
    profile_section.KIND,
    topics_section.KIND,
    trace_section.KIND,
    sweep_section.KIND,
    network_section.KIND,
    cost_section.KIND,
    trees_section.KIND,
)

# A file has the first form that fits, so those that ask for more come first: anything may have the two columns of
# subscriptions.
FORMS: tuple[Form, ...] = tuple(
    sorted((form for kind in KINDS for form in kind.forms), key=lambda form: -len(form.columns))
)
