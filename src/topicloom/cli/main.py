"""The command tree, and how a run ends.

Wrong input, and anything that the machine lacks, is one line on stderr and status 2. Only a bug shows a traceback. The
help lists all exit statuses.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import click

from topicloom._version import __version__
from topicloom.cli import output
from topicloom.cli.command import Group, usage_line
from topicloom.errors import InputError

PROGRAM = "topicloom"
# The variable that shells set to ask for completions.
COMPLETE = "_TOPICLOOM_COMPLETE"

NOTHING_DONE = 2
PIPE_CLOSED = 141

# What the loader of compiled code says if it gets no memory.
_NO_MEMORY = re.compile("failed to map segment|annot allocate memory")

SECTIONS = {
    "Fleet": (
        *("init", "collect", "lint", "import", "plan", "explain", "render", "test", "diff", "events"),
        *("check", "apply", "status", "watch"),
    ),
    "Research": (
        *("generate", "churn", "design", "measure", "compare", "bound", "improve", "maintain", "designers"),
        *("content", "reproduce"),
    ),
    "Spark": ("spark",),
    "Look": ("explore", "report"),
    "Other": ("completion", "prepare"),
}

# Commands that are still on Typer: the module and the summary of each.
ON_TYPER = {
    "generate": ("generate", "Make random subscriptions, shaped as in the papers."),
    "churn": ("churn", "Make random churn: nodes come, go and change topics."),
    "maintain": ("maintain", "Mend an overlay while nodes come, go and change topics."),
    "content": ("content", "Plan which broker each user connects to, by content."),
    "reproduce": ("reproduce", "Make the papers' figures again and check their claims."),
    "explore": ("explore", "Look at networks in a browser, and ask what if."),
    "report": ("report", "Make a page of results to look at and to print."),
    "prepare": ("prepare", "Compile and keep what first runs wait for."),
}

HELP = """Plan the links between publish/subscribe brokers.

Given which broker wants which topics, choose which brokers to connect and what to send over each link, so that every
message reaches every subscriber once, over few links.
"""

EPILOG = """\
Example:
  topicloom generate --nodes 500 --topics 50 --min-topics 5 --out subs.parquet
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom measure subs.parquet overlay.parquet

From running brokers:
  topicloom collect --fleet fleet.toml --out raw
  topicloom design raw/subscriptions.parquet --algorithm gm \\
      --out overlay.parquet

From raw logs, on Spark:
  topicloom spark ingest logs/*.csv.gz --out fleet
  topicloom design fleet --algorithm gm --out overlay.parquet

Exit status:
  0      done
  1      done, but something was found or left undone
  2      refused: the input is wrong or the machine lacks something
  128+N  stopped by signal N, such as 130 by Ctrl-C
  141    the reader of the output closed the pipe

`topicloom COMMAND --help` says more about a command.
"""


class _OnTyper(click.Command):
    """A command on Typer: a name and a summary here, everything else in its module."""

    def __init__(self, name: str) -> None:
        self._module, summary = ON_TYPER[name]
        super().__init__(name, help=summary, add_help_option=False)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave the arguments to Typer."""
        ctx.args = list(args)
        return ctx.args

    def invoke(self, ctx: click.Context) -> int:
        """Run the command."""
        from topicloom.cli import typer_commands

        return typer_commands.run(f"{PROGRAM} {self.name}", self._module, ctx.args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """What may stand in place of an incomplete word."""
        from topicloom.cli import typer_commands

        return typer_commands.completions(f"{PROGRAM} {self.name}", self._module, ctx.args, incomplete)


def _load(name: str) -> click.Command:
    if name in ON_TYPER:
        return _OnTyper(name)
    module = "import_links" if name == "import" else name
    command: click.Command = getattr(import_module(f"topicloom.cli.{module}"), module)
    return command


topicloom = click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")(
    Group(PROGRAM, SECTIONS, _load, help=HELP, epilog=EPILOG)
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; `arguments` are those of the process unless given."""
    output.be_quiet(False)
    output.see_to_streams()
    with _stopping_on_signals() as heard:
        return _run(sys.argv[1:] if arguments is None else list(arguments), heard)


@contextmanager
def _stopping_on_signals() -> Iterator[list[int]]:
    """Stop on SIGTERM and SIGHUP as on Ctrl-C, so that nothing is left behind; gives those that came."""
    heard: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    # A signal that the parent process said to ignore, as nohup does, is ignored.
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    is_main = threading.current_thread() is threading.main_thread()
    ours = [number for number, handler in before.items() if is_main and handler is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, stop)
    try:
        yield heard
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _run(arguments: list[str], heard: list[int]) -> int:
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
        return status
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        output.say(error.message)
        return 0
    except click.UsageError as error:
        return _refuse(usage_line(error, PROGRAM), NOTHING_DONE)
    except click.ClickException as error:
        return _refuse(error.message, NOTHING_DONE)
    except InputError as error:
        return _refuse(str(error), NOTHING_DONE)
    except KeyboardInterrupt as stop:
        status = _refuse(str(stop) or "stopped; nothing was written", 128 + (heard or [signal.SIGINT])[0])
        if _is_busy():
            # A kernel that does not look at its watch, or the compiler: ending under it could crash, so end at once.
            os._exit(status)
        return status
    except BrokenPipeError:
        # Python flushes stdout once more when it ends; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except MemoryError as error:
        return _refuse(f"ran out of memory; nothing was written ({error or 'no details'})", NOTHING_DONE)
    except (OSError, ImportError) as error:
        if _NO_MEMORY.search(str(error)):
            return _refuse("ran out of memory; nothing was written", NOTHING_DONE)
        if isinstance(error, ImportError):
            raise
        return _refuse(f"{error.filename or 'files'}: {error.strerror or error}", NOTHING_DONE)


def _invoke(arguments: list[str]) -> int:
    # Not `main()`, which prints errors, swallows Ctrl-C and ends the process.
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(topicloom, {}, PROGRAM, COMPLETE, instruction)
    with topicloom.make_context(PROGRAM, arguments) as context:
        return topicloom.invoke(context) or 0


def _is_busy() -> bool:
    """Whether work that was started still goes on."""
    progress = sys.modules.get("topicloom.cli.progress")
    return progress is not None and progress.is_busy()


def _refuse(message: str, status: int) -> int:
    output.complain(message)
    return status
