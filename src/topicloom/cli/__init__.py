"""The command line, kept thin: it reads options, calls the packages, and prints. Nobody imports it.

- `main`: the commands put together, and how errors, Ctrl-C and closed pipes end.
- `generate`, `designers`, `design`, `measure`, `compare`, `churn`, `maintain`, `report`: one command each. They import
  what computes only when they run, so that help and mistakes answer at once.
- `plan`, `render`, `diff`, `explain`, `lint`, `live`: likewise; these are about real brokers.
- `ingest`, `sample`, `profile`, `evaluate`, `sweep`, `stream`, `reproduce`: likewise; these run on Spark.
- `content`: the group of commands on content-based networks: `content_generate`, `content_assign`, `content_cost`,
  `content_compare`, and on Spark `content_summarize`, `content_sweep`. `content_options`: what they share.
- `options`: options that several commands share. `parameters`: those that become parameters of designers.
- `working`: waiting for work in a thread, with a progress bar, so that Ctrl-C is heard.
- `designing`: running a designer that way. `sparking`: a Spark session and its jobs.
- `output`: tables, numbers and JSON. `files`: checks of files before any work.
"""
