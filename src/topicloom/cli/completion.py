"""`topicloom completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import Fact, Note, On, View

EXAMPLES = """
  topicloom completion bash >> ~/.bashrc
  topicloom completion fish > ~/.config/fish/completions/topicloom.fish
"""


@command("completion", examples=EXAMPLES)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]), help="bash, zsh or fish.")
def completion(run: Run, shell: str) -> View:
    """Print a script that completes commands and options.

    Let your shell read it when it starts.
    """
    from topicloom.cli.main import COMPLETE, PROGRAM, topicloom

    found = get_completion_class(shell)
    assert found is not None
    script = found(topicloom, {}, PROGRAM, COMPLETE).source()
    return View("completion", "Completion", (Fact("script", script, on=On.DATA), Note(script)))
