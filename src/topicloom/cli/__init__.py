"""The command line, kept thin: it reads options, calls the rooms below, and prints.

- `main`: the commands put together, and how errors, Ctrl-C and closed pipes end.
- One module for each command, named like it; those of content-based networks begin with `content_`. They import what
  they need when they run, so that help and errors answer at once.
- `commands`, `options`, `content_options`: how commands and shared options are declared. `output`, `progress`: what is
  printed. `design_work`, `grid_work`, `spark_work`: steps that several commands share.
"""
