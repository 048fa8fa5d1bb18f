"""Commands and groups on click: help in sections, and errors that name options as a person gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from topicloom.cli.options import OPTIONS, PRINTING, SHARED_VALUES, option_name, printing
from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.views.view import View

_WIDEST_NAME = 26
_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
_ARGUMENTS = "Arguments"

LateOptions = Callable[[], Sequence[click.Option]]


def command(
    name: str, *, examples: str, late: LateOptions | None = None, formats: Sequence[str] = ()
) -> Callable[[Callable[..., View | None]], Command]:
    """Make a command of a function that takes a `Run` and its own options, and returns a view unless it printed all.

    `examples` are lines for the end of the help. `late` gives options that are only made when the command is parsed, as
    loading what they are made of takes time; those that are given come as keywords. `formats` are further ones that
    its view has.
    """

    def made(body: Callable[..., View | None]) -> Command:
        own = {parameter.name for parameter in _parameters(body)}

        def callback(**values: Any) -> int:
            from topicloom.cli.run import Run

            run = Run(click.get_current_context().meta[SHARED_VALUES])
            with run.working:
                view = body(run, **{name: value for name, value in values.items() if name in own or value is not None})
            run.show(view)
            return run.status

        return Command(
            name,
            callback=callback,
            params=[*_parameters(body), *_parameters(printing(formats)(lambda: None))],
            help=inspect.getdoc(body),
            epilog=f"Example:\n{examples.strip(chr(10))}",
            late=late,
            context_settings=_HELP_OPTIONS,
        )

    return made


def _parameters(body: Callable[..., Any]) -> list[click.Parameter]:
    return list(reversed(getattr(body, "__click_params__", [])))


class _WithSections(click.Command):
    """A command whose help has sections, with all texts in one column."""

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: arguments are a section of the options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments and options, a section for each group of them."""
        write_sections(formatter, self._sections(ctx))

    def _sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        sections: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], OPTIONS: []}
        *parameters, help_option = self.get_params(ctx)
        for each in parameters:
            heading = _ARGUMENTS if isinstance(each, click.Argument) else getattr(each, "section", OPTIONS)
            sections.setdefault(heading, []).extend(filter(None, [each.get_help_record(ctx)]))
        # What all commands have comes last.
        sections[PRINTING] = sections.pop(PRINTING, [])
        sections = {heading: rows for heading, rows in sections.items() if rows} or {OPTIONS: []}
        sections[list(sections)[-1]].extend(filter(None, [help_option.get_help_record(ctx)]))
        return sections

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the end of the help as it is."""
        if self.epilog:
            formatter.write(f"\n{self.epilog.rstrip()}\n")


class Command(_WithSections):
    """A command; errors about its input name the options that a person gave."""

    def __init__(self, *arguments: Any, late: LateOptions | None = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._late = late
        self._is_enough = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; late options are made only if there is an option that is not known without them."""
        known = {name for each in self.params for name in each.opts}
        given = {word.partition("=")[0] for word in args if word.startswith("-")}
        self._is_enough = given <= known
        try:
            return super().parse_args(ctx, args)
        finally:
            self._is_enough = False

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All arguments and options, late ones too unless they are not needed."""
        if self._late is not None and not self._is_enough:
            self.params += self._late()
            self._late = None
        return super().get_params(ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise InputError(error.spelt(partial(self._spelling, ctx))) from None

    def _spelling(self, ctx: click.Context, parameter: str) -> str:
        """What a person writes to give a parameter; its own name if the command has no option for it."""
        for each in self.get_params(ctx):
            if each.name == parameter or option_name(parameter) in each.opts:
                return each.opts[0] if isinstance(each, click.Option) else each.human_readable_name.strip("[].")
        return parameter


class Group(_WithSections, click.Group):
    """Commands in sections, each loaded when it is needed."""

    def __init__(
        self,
        name: str,
        sections: Mapping[str, Sequence[str]],
        load: Callable[[str], click.Command],
        **settings: Any,
    ) -> None:
        super().__init__(name, context_settings=_HELP_OPTIONS, **settings)
        self._names = sections
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, section by section."""
        return [name for names in self._names.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by name."""
        if cmd_name not in self.commands and any(cmd_name in names for names in self._names.values()):
            self.commands[cmd_name] = self._load(cmd_name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: commands are sections of the options."""

    def _sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        sections = super()._sections(ctx)
        for heading, names in self._names.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            sections[heading] = [(name, command.get_short_help_str(80)) for name, command in commands if command]
        return sections


def write_sections(formatter: click.HelpFormatter, sections: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write sections whose texts all begin in one column."""
    widest = max(len(name) for rows in sections.values() for name, _ in rows)
    width = min(widest, _WIDEST_NAME)
    for heading, rows in sections.items():
        with formatter.section(heading):
            formatter.write_dl([(f"{name:{width}}", text) for name, text in rows], col_max=_WIDEST_NAME)


def usage_line(error: click.ClickException, program: str) -> str:
    """A wrong command line in one line: what is wrong, what would be right, where to read more."""
    parameter: click.Parameter | None = getattr(error, "param", None)
    context: click.Context | None = getattr(error, "ctx", None)
    if parameter is None:
        message = lowered(error.format_message())
    else:
        name = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
        text = getattr(parameter, "help", None) or "a value"
        message = f"{name}: {error.message}" if error.message else f"{name} is missing: {lowered(text)}"
    return see_help(message, context.command_path if context else program)


def see_help(message: str, path: str) -> str:
    """The message, and where to read more."""
    return f"{message.rstrip('.?')}; see '{path} --help'"


def lowered(text: str) -> str:
    """The text as it goes on in a sentence, unless it begins with an abbreviation."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
