"""The command line, kept thin: it reads options, calls the rooms below, and shows views.

- `main`: the command tree, and how errors, signals and closed pipes end a run.
- `command`: the decorator of commands, groups, help, usage errors. `options`: each shared option one decorator.
  `run`: what the body of a command works with: input, steps with progress, findings.
- One module for each command, named like it; those of content-based networks begin with `content_`. They import what
  they need when they run, so that help and errors answer at once.
- `output`, `progress`: lines and streams, checks of paths; progress on stderr.
- `typer_commands`, `typer_options`, `content_options`, `design_work`, `spark_work`: for commands that are
  still on Typer.
"""
