"""`topicloom measure`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.metrics import Bounds, Measures

EXAMPLES = """\b
Example:
  topicloom measure subs.parquet overlay.parquet
  topicloom measure subs.parquet overlay.parquet --json \\
      --topics topics.parquet
"""


def command(
    subscriptions: options.Subscriptions,
    overlay: options.OverlayFile,
    topics: options.TopicsOut = None,
    no_diameters: options.NoDiameters = False,
    bound: options.Bound = False,
    node_column: options.NodeColumn = "node",
    topic_column: options.TopicColumn = "topic",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how good an overlay is.

    Components, support, degrees, topic diameters, and the relays that topics in pieces need.
    """
    from topicloom.metrics import bound as prove
    from topicloom.metrics import summarise, topic_measures
    from topicloom.model import Interest, Overlay

    if topics is not None:
        checked_paths.require_writable(topics, subscriptions, overlay)
    with Working(quiet=quiet) as working:
        interest = working.do(
            f"reading {subscriptions.name}",
            lambda: Interest.read(subscriptions, node_column=node_column, topic_column=topic_column),
        )
        links = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        rows = working.do("measuring", lambda: topic_measures(interest, links, diameters=not no_diameters))
        bounds = working.do("proving bounds", lambda: prove(interest)) if bound else None
    if topics is not None:
        rows.write(topics)
    whole = summarise(rows, links.degrees)
    if json:
        output.print_json(whole.to_dict() | bound_facts(bounds))
        return
    print_measures(whole)
    if bounds is not None:
        output.print_facts(
            [
                ("links of any overlay, at least", output.count(bounds.links)),
                ("max degree of any overlay, at least", output.count(bounds.max_degree)),
            ]
        )
    if topics is not None:
        output.say(f"topics written to {output.one_line(str(topics))}")


def print_measures(measures: Measures) -> None:
    """Print all measures, one a line."""
    facts = [
        ("nodes", output.count(measures.nodes)),
        ("topics", output.count(measures.topics)),
        ("subscriptions", output.count(measures.subscriptions)),
        ("links", output.count(measures.edges)),
        ("average degree", output.degree(measures.average_degree)),
        ("max degree", output.count(measures.max_degree)),
        ("components", output.count(measures.components)),
        ("components without links", output.count(measures.components_unlinked)),
        ("components at best", output.count(measures.components_connected)),
        ("support", output.share(measures.support)),
        ("topic-connected", "yes" if measures.topic_connected else "no"),
    ]
    if measures.mean_topic_diameter is not None and measures.max_topic_diameter is not None:
        facts += [
            ("mean topic diameter", output.degree(measures.mean_topic_diameter)),
            ("max topic diameter", output.count(measures.max_topic_diameter)),
        ]
    facts += [("relays", output.count(measures.relays)), ("unreachable", output.count(measures.unreachable))]
    output.print_facts(facts)


def bound_facts(bounds: Bounds | None) -> dict[str, Any]:
    """Bounds beside the measures of an overlay; nothing where none were asked for."""
    return {} if bounds is None else {"links_bound": bounds.links, "max_degree_bound": bounds.max_degree}
