"""What commands share: options, output, progress, checks before work.

- `algorithm_options`: Options of commands made from the parameters that algorithms declare.
- `checked_paths`: Checks of files before any work, so that an hour's result is not lost to a misspelt folder.
- `design_work`: Designers at the command line: their options, and running one while a person watches.
- `options`: Options that several commands share.
- `output`: What commands print: lines, tables, numbers, JSON.
- `parameters`: How parameters are spelt as options.
- `progress`: Waiting for work, so that a person sees it going on and can stop it.
- `spark_work`: Running work on Spark while a person watches.
"""
