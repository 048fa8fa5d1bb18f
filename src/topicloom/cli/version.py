"""`topicloom version`."""

from __future__ import annotations

from topicloom._version import __version__
from topicloom.cli import output

EXAMPLES = """\b
Example:
  topicloom version
"""


def command() -> None:
    """Print the version."""
    output.say(f"topicloom {__version__}")
