"""The commands that are still on Typer, each as one command of click's; to be deleted with the last of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import click
import typer
from click.shell_completion import CompletionItem
from typer._completion_classes import BashComplete
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from topicloom.cli.command import lowered, see_help
from topicloom.cli.options import option_name
from topicloom.cli.typer_options import with_shared_options
from topicloom.errors import InputError

# Types of click's, which typer brings along under a private name.
_Context = Any
_Formatter = Any
_Parameter = Any

_WIDEST_NAME = 26
_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


def new_app(**settings: Any) -> typer.Typer:
    """A group of commands, still empty."""
    return typer.Typer(cls=Group, rich_markup_mode=None, context_settings=_HELP_OPTIONS, **settings)


def add_commands(app: typer.Typer, heading: str | None, modules: Mapping[str, ModuleType]) -> None:
    """Add commands by their names, each from its module: the function `command`, and `EXAMPLES` below its help."""
    for name, module in modules.items():
        kind = LateCommand if hasattr(module.command, "late_options") else Command
        adding = app.command(name, cls=kind, epilog=module.EXAMPLES, rich_help_panel=heading)
        adding(with_shared_options(module.command))


def run(path: str, module: str, arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; `path` is what comes before the arguments."""
    command = _command(path.split()[-1], module)
    try:
        with command.make_context(path, list(arguments)) as context:
            context.command.invoke(context)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.TyperException as error:
        raise click.ClickException(_usage(error, path)) from None
    return 0


def completions(path: str, module: str, arguments: Sequence[str], incomplete: str) -> list[CompletionItem]:
    """What may stand in place of an incomplete word."""
    found = BashComplete(_command(path.split()[-1], module), {}, path, "").get_completions(list(arguments), incomplete)
    return [CompletionItem(each.value, each.type, each.help) for each in found]


@cache
def _command(name: str, module_name: str) -> Any:
    module = import_module(f"topicloom.cli.{module_name}")
    if hasattr(module, "app"):
        return typer.main.get_command(module.app)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=_HELP_OPTIONS)
    add_commands(app, None, {name: module})
    return typer.main.get_command(app)


def _usage(error: typer.TyperException, path: str) -> str:
    """A wrong command line in one line: what is wrong, what would be right, where to read more."""
    option: Any = getattr(error, "param", None)
    context: Any = getattr(error, "ctx", None)
    if option is None:
        message = lowered(error.format_message())
    else:
        name = option.opts[0] if option.param_type_name == "option" else option.metavar
        wrong = _wrong_value(error)
        message = f"{name}: {wrong}" if wrong else f"{name} is missing: {lowered(option.help)}"
    return see_help(message, context.command_path if context else path)


def _wrong_value(error: typer.TyperException) -> str:
    """What is wrong with an option's value; empty where it is missing."""
    details: Any = error.__cause__
    if isinstance(details, ValueError) and hasattr(details, "errors"):
        detail = details.errors()[0]
        for kind, expected in (("int", "a whole number"), ("float", "a number")):
            if detail["type"].startswith(kind):
                return f"'{detail['input']}' is not {expected}"
    return error.message.removeprefix("Value error, ")


class Command(TyperCommand):
    """A command whose help groups its options, and whose errors name them as a person must give them."""

    def invoke(self, ctx: _Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise InputError(error.spelt(self._spelling)) from None

    def _spelling(self, parameter: str) -> str:
        """What a person writes to give a parameter; its own name where the command has no option for it."""
        for each in self.params:
            if each.name == parameter or option_name(parameter) in each.opts:
                return str(each.opts[0] if isinstance(each, TyperOption) else each.metavar)
        return parameter

    def collect_usage_pieces(self, ctx: _Context) -> list[str]:
        """What follows the command's name in its usage."""
        names = [_name(each) for each in self.params if isinstance(each, TyperArgument)]
        return [self.options_metavar or "", *names]

    def format_options(self, ctx: _Context, formatter: _Formatter) -> None:
        """Write what the command takes, a section for each group."""
        sections: dict[str, list[tuple[str, str]]] = {}
        *options, help_option = self.get_params(ctx)
        for each in options:
            if isinstance(each, TyperArgument):
                sections.setdefault("Arguments", []).append((_name(each), each.help or ""))
            elif record := each.get_help_record(ctx):
                heading = getattr(each, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append(record)
        last = list(sections)[-1] if sections else "Options"
        sections.setdefault(last, []).extend(filter(None, [help_option.get_help_record(ctx)]))
        _write_sections(formatter, sections)


class LateCommand(Command):
    """A command that gets its options of algorithms when it is parsed, as loading algorithms takes time."""

    def make_context(self, info_name: str | None, args: list[str], parent: _Context = None, **extra: Any) -> _Context:
        """Parse the arguments, with all options."""
        assert self.callback is not None
        function: Any = inspect.unwrap(self.callback)
        app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=_HELP_OPTIONS)
        app.command(self.name, cls=Command, epilog=self.epilog)(with_shared_options(function, function.late_options()))
        return typer.main.get_command(app).make_context(info_name, args, parent, **extra)


class Group(TyperGroup):
    """Commands whose help tells them in groups."""

    def format_commands(self, ctx: _Context, formatter: _Formatter) -> None:
        """Write a section for each group."""
        commands = [command for command in self.commands.values() if not command.hidden]
        width = formatter.width - 6 - max(len(command.name or "") for command in commands)
        sections: dict[str, list[tuple[str, str]]] = {}
        for command in commands:
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            row = (command.name or "", command.get_short_help_str(width))
            sections.setdefault(heading, []).append(row)
        _write_sections(formatter, sections)


def _name(argument: _Parameter) -> str:
    """An argument as usage and help show it."""
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _write_sections(formatter: _Formatter, sections: dict[str, list[tuple[str, str]]]) -> None:
    # All texts begin in one column.
    widest = max(len(name) for rows in sections.values() for name, _ in rows)
    width = min(widest, _WIDEST_NAME)
    for heading, rows in sections.items():
        with formatter.section(heading):
            formatter.write_dl([(f"{name:{width}}", text) for name, text in rows], col_max=_WIDEST_NAME)
