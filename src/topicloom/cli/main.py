"""The commands put together, and how a run ends.

Whatever is wrong with what a person gave is one line on stderr and status 2. Ctrl-C is one line and status 130, a
closed pipe is silent, and only a bug shows a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from topicloom._version import __version__
from topicloom.cli.brokers import diff, explain, lint, live, plan, render
from topicloom.cli.churn import churn, maintain, stream
from topicloom.cli.content import group as content
from topicloom.cli.data import evaluate, ingest, profile, sample, sweep
from topicloom.cli.designs import bound, compare, design, designers, generate, measure
from topicloom.cli.results import report, reproduce
from topicloom.cli.shared import output, progress
from topicloom.cli.shared.algorithm_options import LateOptions
from topicloom.cli.shared.parameters import option_name

PROGRAM = "topicloom"

WRONG_INPUT = 2
STOPPED = 130
PIPE_CLOSED = 141

app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(
    invoke_without_command=True,
    epilog="""\b
Example:
  topicloom generate --nodes 500 --topics 50 --min-topics 5 --out subs.parquet
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom measure subs.parquet overlay.parquet

\b
From raw logs, on Spark:
  topicloom ingest logs/*.csv.gz --out fleet
  topicloom design fleet --algorithm gm --out overlay.parquet

`topicloom COMMAND --help` says more about each command.
""",
)
def topicloom(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Plan publish/subscribe networks.

    Tell it which node wants which topic; it answers which links to build, so that the nodes of every topic are
    connected among themselves, with few links per node.
    """
    if version:
        output.say(f"{PROGRAM} {__version__}")
    elif context.invoked_subcommand is None:
        output.say(context.get_help())
    else:
        return
    raise typer.Exit


app.command("generate", epilog=generate.EXAMPLES)(generate.command)
app.command("designers", epilog=designers.EXAMPLES)(designers.command)
app.command("design", cls=LateOptions, epilog=design.EXAMPLES)(design.command)
app.command("measure", epilog=measure.EXAMPLES)(measure.command)
app.command("bound", epilog=bound.EXAMPLES)(bound.command)
app.command("compare", cls=LateOptions, epilog=compare.EXAMPLES)(compare.command)
app.command("churn", epilog=churn.EXAMPLES)(churn.command)
app.command("maintain", cls=LateOptions, epilog=maintain.EXAMPLES)(maintain.command)
app.command("plan", epilog=plan.EXAMPLES)(plan.command)
app.command("render", epilog=render.EXAMPLES)(render.command)
app.command("diff", epilog=diff.EXAMPLES)(diff.command)
app.command("explain", epilog=explain.EXAMPLES)(explain.command)
app.command("lint", epilog=lint.EXAMPLES)(lint.command)
app.command("live", epilog=live.EXAMPLES)(live.command)
app.command("report", epilog=report.EXAMPLES)(report.command)
app.command("reproduce", epilog=reproduce.EXAMPLES)(reproduce.command)
app.command("ingest", epilog=ingest.EXAMPLES)(ingest.command)
app.command("sample", epilog=sample.EXAMPLES)(sample.command)
app.command("profile", epilog=profile.EXAMPLES)(profile.command)
app.command("evaluate", epilog=evaluate.EXAMPLES)(evaluate.command)
app.command("stream", cls=LateOptions, epilog=stream.EXAMPLES)(stream.command)
app.command("sweep", epilog=sweep.EXAMPLES)(sweep.command)
app.add_typer(content.app, name="content")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status; `arguments` are those of the process unless given."""
    try:
        _invoke(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.TyperException as error:
        return _refuse(_usage(error), WRONG_INPUT)
    except ValueError as error:
        from topicloom.errors import InputError  # here, as it brings Arrow along

        if not isinstance(error, InputError):
            raise
        return _refuse(error.spelt(option_name), WRONG_INPUT)
    except KeyboardInterrupt as stop:
        status = _refuse(str(stop) or "stopped; nothing was written", STOPPED)
        if progress.is_busy():
            # A kernel that does not look at its watch, or the compiler: ending under it could crash, so end at once.
            os._exit(status)
        return status
    except BrokenPipeError:
        # Python flushes stdout once more when it ends; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except MemoryError as error:
        return _refuse(f"ran out of memory; nothing was written ({error or 'no details'})", 1)
    except OSError as error:
        return _refuse(f"{error.filename or 'files'}: {error.strerror or error}", 1)
    return 0


def _invoke(arguments: list[str]) -> None:
    # Not `app()`, which would print errors, swallow Ctrl-C and end the process by itself.
    command = typer.main.get_command(app)
    with command.make_context(PROGRAM, arguments) as context:
        command.invoke(context)


def _refuse(message: str, status: int) -> int:
    print(f"{PROGRAM}: {output.one_line(message)}", file=sys.stderr)
    return status


def _usage(error: typer.TyperException) -> str:
    """A wrong command line in one line: what is wrong, what would be right, where to read more."""
    option: Any = getattr(error, "param", None)
    context: Any = getattr(error, "ctx", None)
    if option is None:
        message = _lower(error.format_message())
    else:
        name = option.opts[0] if option.param_type_name == "option" else option.metavar
        wrong = _wrong_value(error)
        message = f"{name}: {wrong}" if wrong else f"{name} is missing: {_lower(option.help)}"
    return f"{message.rstrip('.?')}; see '{context.command_path if context else PROGRAM} --help'"


def _wrong_value(error: typer.TyperException) -> str:
    """What is wrong with an option's value; empty where it is missing."""
    details: Any = error.__cause__
    if isinstance(details, ValueError) and hasattr(details, "errors"):
        detail = details.errors()[0]
        for kind, expected in (("int", "a whole number"), ("float", "a number")):
            if detail["type"].startswith(kind):
                return f"'{detail['input']}' is not {expected}"
    return error.message.removeprefix("Value error, ")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
