"""The commands put together, and how a run ends.

Whatever is wrong with what a person gave, and what the machine lacks, is one line on stderr and status 2. Ctrl-C is one
line and status 130, a closed pipe is silent, and only a bug shows a traceback. Status 1 is for what commands found.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Annotated, Any

import typer
from typer.completion import shell_complete

from topicloom.cli import (
    apply,
    bound,
    churn,
    collect,
    compare,
    content,
    design,
    designers,
    diff,
    evaluate,
    events,
    explain,
    explore,
    generate,
    import_links,
    improve,
    ingest,
    lint,
    live,
    maintain,
    measure,
    output,
    plan,
    prepare,
    profile,
    progress,
    render,
    report,
    reproduce,
    sample,
    stream,
    sweep,
    watch,
)
from topicloom.cli import version as version_command
from topicloom.cli.commands import ABOUT, add_commands, new_app
from topicloom.errors import InputError

PROGRAM = "topicloom"
# What shells set to ask for completions.
COMPLETE = "_TOPICLOOM_COMPLETE"

NOTHING_DONE = 2
PIPE_CLOSED = 141

# What the loader of compiled code says where it gets no memory.
_NO_MEMORY = re.compile("failed to map segment|annot allocate memory")

app = new_app()


@app.callback(
    invoke_without_command=True,
    epilog="""\b
Example:
  topicloom generate --nodes 500 --topics 50 --min-topics 5 --out subs.parquet
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom measure subs.parquet overlay.parquet

\b
From running brokers:
  topicloom collect fleet.toml --out raw
  topicloom design raw/subscriptions.parquet --algorithm gm \\
      --out overlay.parquet

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
        version_command.command()
    elif context.invoked_subcommand is None:
        output.say(context.get_help())
    else:
        return
    raise typer.Exit


add_commands(
    app,
    "Design overlays",
    {
        "generate": generate,
        "designers": designers,
        "design": design,
        "measure": measure,
        "compare": compare,
        "bound": bound,
        "improve": improve,
    },
)
add_commands(app, "Find out what is there", {"collect": collect, "import": import_links, "events": events})
add_commands(app, "Keep them while nodes come and go", {"churn": churn, "maintain": maintain, "stream": stream})
add_commands(
    app,
    "Take them to brokers",
    {
        "plan": plan,
        "render": render,
        "diff": diff,
        "explain": explain,
        "lint": lint,
        "live": live,
        "apply": apply,
        "watch": watch,
    },
)
add_commands(
    app,
    "Work on large data, on Spark",
    {"ingest": ingest, "sample": sample, "profile": profile, "evaluate": evaluate, "sweep": sweep},
)
app.add_typer(content.app, name="content", rich_help_panel="Plan by content")
add_commands(app, "Look at results", {"explore": explore, "report": report, "reproduce": reproduce})
add_commands(app, ABOUT, {"prepare": prepare, "version": version_command})


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status; `arguments` are those of the process unless given."""
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

    # What whoever started us said to ignore, as nohup does, is ignored.
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
        _invoke(arguments)
        sys.stdout.flush()
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.TyperException as error:
        return _refuse(_usage(error), NOTHING_DONE)
    except InputError as error:
        return _refuse(str(error), NOTHING_DONE)
    except KeyboardInterrupt as stop:
        status = _refuse(str(stop) or "stopped; nothing was written", 128 + (heard or [signal.SIGINT])[0])
        if progress.is_busy():
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
    return 0


@cache
def _command() -> Any:
    """All commands; putting them together takes a tenth of a second, which counts where many run in one process."""
    return typer.main.get_command(app)


def _invoke(arguments: list[str]) -> None:
    # Not `app()`, which would print errors, swallow Ctrl-C and end the process by itself.
    command = _command()
    if os.environ.get(COMPLETE):
        raise typer.Exit(shell_complete(command, {}, PROGRAM, COMPLETE, os.environ[COMPLETE]))
    with command.make_context(PROGRAM, arguments) as context:
        command.invoke(context)


def _refuse(message: str, status: int) -> int:
    output.complain(message)
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
    """The text as it goes on in a sentence, unless it begins with an abbreviation."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
