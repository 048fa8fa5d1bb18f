"""`topicloom designers`."""

from __future__ import annotations

from topicloom.cli.command import command
from topicloom.cli.options import option_name
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom designers
  topicloom designers --json
"""


@command("designers", examples=EXAMPLES)
def designers(run: Run) -> View:
    """List the designers: paper, rule, parameters, guarantee."""
    from topicloom.designers import DESIGNERS
    from topicloom.views import designs

    note = "--budget-ratio X may stand for a budget: that share of what minmax-oda needs."
    return designs.designers(DESIGNERS.values(), spelt=option_name, note=note)
