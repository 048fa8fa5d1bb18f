"""Commands as typer knows them: help in sections, and errors in the words of the command line."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from topicloom.cli.options import option_name, with_shared_options
from topicloom.errors import InputError

# Types of click's, which typer brings along under a private name.
_Context = Any
_Formatter = Any
_Parameter = Any

# The last heading in the help of all commands.
ABOUT = "About the program"

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
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
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
        _write_sections(formatter, dict(sorted(sections.items(), key=lambda section: section[0] == ABOUT)))


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
