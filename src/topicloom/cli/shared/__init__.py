"""What commands share: options, output, progress, checks before work.

- `algorithm_options`: Options of commands made from the parameters that algorithms declare.
- `checked_paths`: Checks of files before any work, so that an hour's result is not lost to a misspelt folder.
- `commands`: Commands as typer knows them: help in sections, and errors in the words of the command line.
- `design_work`: Designers at the command line: their options, and running one while a person watches.
- `grid_work`: Running a grid on Spark while a person watches.
- `options`: Options that several commands share.
- `output`: What commands print: lines, tables, JSON.
- `parameters`: How parameters are spelt as options.
- `progress`: Waiting for work, so that a person sees it going on and can stop it.
- `shared_options`: Options that several commands take, declared once and handed over as one object.
- `spark_work`: Running work on Spark while a person watches.
"""
