"""The command line, kept thin: it reads options, calls the packages, and prints. Nobody imports it.

- `main`: the commands put together, and how errors, Ctrl-C and closed pipes end.
- `designs`, `sources`, `churn`, `brokers`, `data`, `content`, `results`: the commands, a module each, grouped as in the
  help. They import what computes only when they run, so that help and mistakes answer at once.
- `prepare`: the command that compiles and keeps what first runs wait for.
- `version`: the command that says which version this is.
- `shared`: options, output, progress, and checks of files before any work.
"""
