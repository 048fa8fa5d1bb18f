"""Many runs, each a Spark task, whose results are kept as soon as they are there.

- `content_sweep`: Many generated content-based networks, each a Spark task: figures 9 and 10 of the Content paper.
- `jobs`: Cells of work, each a Spark job of one task, whose results the driver keeps as soon as they are there.
- `sweep`: Sweeps: a grid of workloads, designers, parameters and seeds, each cell one Spark task.
- `sweep_cells`: One cell of a sweep: running it, and keeping what came out.
- `sweep_plan`: What is left to do of a sweep: its cells, less those that are kept from earlier runs.
- `sweep_spec`: What a sweep runs: reading its TOML file into cells.
- `sweep_table`: The results of a sweep as one table: a row for each cell, in the order of the spec.
- `sweep_watch`: Seeing how far a sweep is, and stopping it.
"""
