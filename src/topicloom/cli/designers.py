"""`topicloom designers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topicloom.cli import options, output
from topicloom.cli.options import option_name

if TYPE_CHECKING:
    from topicloom.designers import Designer, Parameter


EXAMPLES = """\b
Example:
  topicloom designers
  topicloom designers --json
"""


def command(json: options.Json = False) -> None:
    """List the designers: paper, rule, parameters, guarantee."""
    from topicloom.designers import DESIGNERS

    if json:
        output.print_json([_as_object(designer) for designer in DESIGNERS.values()])
        return
    for designer in DESIGNERS.values():
        lines = [("rule", designer.rule), ("guarantee", designer.guarantee), ("paper", designer.paper)]
        lines += [("options" if i == 0 else "", _option(p)) for i, p in enumerate(designer.parameters)]
        output.print_entry(designer.name, lines)
    output.say("--budget-ratio X may stand for a budget: that share of what minmax-oda needs.")


def _option(parameter: Parameter) -> str:
    default = "required" if parameter.required else "may be left out"
    if parameter.default is not None:
        default = f"{parameter.default} unless given"
    return f"{option_name(parameter.name)}: {parameter.meaning} ({default})"


def _as_object(designer: Designer) -> dict[str, Any]:
    return {
        "name": designer.name,
        "paper": designer.paper,
        "rule": designer.rule,
        "parameters": [
            {
                "name": parameter.name,
                "kind": parameter.kind.__name__,
                "default": parameter.default,
                "meaning": parameter.meaning,
            }
            for parameter in designer.parameters
        ],
        "guarantee": designer.guarantee,
        "random": designer.random,
    }
