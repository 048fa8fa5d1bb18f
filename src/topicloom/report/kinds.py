"""All kinds of results, in the order of the page."""

from __future__ import annotations

from topicloom.report import (
    content_cost,
    content_network,
    content_trees,
    fleet,
    profile,
    reproduction,
    sweep,
    topics,
    trace,
)
from topicloom.report.kind import Form, Kind

KINDS: tuple[Kind, ...] = (
    reproduction.KIND,
    fleet.KIND,
    profile.KIND,
    topics.KIND,
    trace.KIND,
    sweep.KIND,
    content_network.KIND,
    content_cost.KIND,
    content_trees.KIND,
)

# A file has the first form that fits, so those that ask for more come first: anything may have the two columns of
# subscriptions.
FORMS: tuple[Form, ...] = tuple(
    sorted((form for kind in KINDS for form in kind.forms), key=lambda form: -len(form.columns))
)
